"""The master of column generation, and compact Pyomo models for comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from colgen import InputError, Rows, Sense
from colgen.core.lazy_imports import LazyModule
from colgen.problems.colouring.instance import ColouringInstance
from colgen.solvers.graphs.colouring import dsatur

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")


def master(vertices: Sequence[int], *, once: bool = False) -> Rows:
    """Return the rows of the stable set formulation, with artificial variables ``uncoloured``.

    ``once``: each vertex is covered exactly once.
    """
    rows = Rows(Sense.MINIMIZE, objective="colours")
    uncoloured = rows.add_variables("uncoloured", vertices, artificial=True)
    rows.add_entries(rows.add_rows("vertex", vertices, lower=1.0, upper=1.0 if once else math.inf), uncoloured, 1.0)
    return rows


def full(instance: ColouringInstance, formulation: str = "assignment", colours: int | None = None) -> pyo.ConcreteModel:
    """Return a compact model of the problem.

    Parameters
    ----------
    formulation
        ``"assignment"``: a variable for each vertex and colour.  ``"representatives"`` (Campêlo, Corrêa and Frota,
        2004): each colour is named after its first vertex, which removes the symmetry of colours.
    colours
        Number of colours of ``"assignment"``; by default that of DSATUR.
    """
    if formulation == "assignment":
        return assignment(instance, colours)
    if formulation == "representatives":
        return representatives(instance)
    raise InputError(f"formulation must be 'assignment' or 'representatives', not {formulation!r}")


def assignment(instance: ColouringInstance, colours: int | None = None) -> pyo.ConcreteModel:
    """Return the model with ``has[v, c]`` (vertex v has colour c) and ``used[c]``, nonincreasing in c."""
    if colours is None:
        colours = int(dsatur(instance.adjacency).max()) + 1
    m = pyo.ConcreteModel()
    m.v, m.c = pyo.RangeSet(0, instance.num_vertices - 1), pyo.RangeSet(0, colours - 1)
    m.edge = pyo.Set(initialize=instance.edges, dimen=2)
    m.has = pyo.Var(m.v, m.c, domain=pyo.Binary)
    m.used = pyo.Var(m.c, domain=pyo.Binary)
    m.coloured = pyo.Constraint(m.v, rule=lambda m, v: pyo.quicksum(m.has[v, c] for c in m.c) == 1)
    m.proper = pyo.Constraint(m.edge, m.c, rule=lambda m, u, v, c: m.has[u, c] + m.has[v, c] <= m.used[c])
    m.uses = pyo.Constraint(m.v, m.c, rule=lambda m, v, c: m.has[v, c] <= m.used[c])
    m.first = pyo.Constraint(m.c, rule=lambda m, c: m.used[c] <= m.used[c - 1] if c else pyo.Constraint.Skip)
    m.colours = pyo.Objective(expr=pyo.quicksum(m.used[c] for c in m.c), sense=pyo.minimize)
    return m


def representatives(instance: ColouringInstance) -> pyo.ConcreteModel:
    """Return the model with ``of[u, v]`` (v has the colour named after u ≤ v); ``of[u, u]`` means that u names one."""
    n, near = instance.num_vertices, instance.adjacency
    pairs = [(u, v) for u in range(n) for v in range(u, n) if not near[u, v]]
    held = set(pairs)
    m = pyo.ConcreteModel()
    m.v = pyo.RangeSet(0, n - 1)
    m.pair = pyo.Set(initialize=pairs, dimen=2)
    m.of = pyo.Var(m.pair, domain=pyo.Binary)
    m.coloured = pyo.Constraint(
        m.v, rule=lambda m, v: pyo.quicksum(m.of[u, v] for u in range(v + 1) if (u, v) in held) == 1
    )
    m.named = pyo.Constraint(m.pair, rule=lambda m, u, v: m.of[u, v] <= m.of[u, u] if u < v else pyo.Constraint.Skip)
    clashes = [(u, v, w) for u in range(n) for v, w in instance.edges if (u, v) in held and (u, w) in held]
    m.clash = pyo.Set(initialize=clashes, dimen=3)
    m.proper = pyo.Constraint(m.clash, rule=lambda m, u, v, w: m.of[u, v] + m.of[u, w] <= m.of[u, u])
    m.colours = pyo.Objective(expr=pyo.quicksum(m.of[u, u] for u in m.v), sense=pyo.minimize)
    return m
