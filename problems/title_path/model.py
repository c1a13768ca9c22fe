r"""Paths of k vertices as integer linear programs, in Pyomo and as arrays.

I_ij says whether the path takes the arc from i to j; s is the source, t the sink, V the vertices between them.

    max  Σ w_ij I_ij
    subject to  Σ_j I_sj = 1,   Σ_i I_it = 1                        source and sink                  (2), (3)
                Σ I_ij = k + 1                                      length                           (4)
                Σ_i I_iv = Σ_j I_vj            for each v in V      balance                          (5)
                Σ_{i in Z} Σ_j I_ij ≤ 1        for each class Z     redundancy                       (6)
                I_ij ∈ {0, 1}.

A solution is a path and any number of cycles beside it.  The formulation ``"flow"`` forbids these by a second set of
variables, which counts the arcs down from k + 1 to 1 along the path:

                0 ≤ f_ij ≤ (k + 1) I_ij                                                              (7)
                Σ_i f_iv - Σ_j f_vj = Σ_i I_iv  for each v in V                                      (8) to (11)
                Σ_j f_sj = k + 1,   Σ_i f_it = 1                                                     (12), (13)

``"lazy"`` leaves f out; it is complete only together with rows that are separated as they are violated
(:mod:`colgen.problems.title_path.lazy`).

The numbers are those of the source, from which two statements differ here.  It has the balance (5) for the source and
the sink as well, which would contradict (2) and (3).  And it says that (5) lets no vertex be entered twice; that is so
only by (6), for which every vertex must be in a class, if need be alone.  The auxiliary a, b, d of (8) to (10) are
substituted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from colgen import Formulation, InputError, Sense
from colgen.core.columns import Key
from colgen.core.lazy_imports import Late
from colgen.model.formulation import Block
from colgen.problems.title_path.instance import Floats, Ints, PathInstance

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = Late("pyomo.environ")

Arc: TypeAlias = tuple[Hashable, Hashable]
"""Tail and head: numbers of vertices, ``"s"`` and ``"t"``."""

SOURCE, SINK = "s", "t"

FORMULATIONS = ("flow", "lazy")


def full(instance: PathInstance, formulation: str = "flow") -> pyo.ConcreteModel:
    """The program in Pyomo, for any solver that Pyomo knows.

    Parameters
    ----------
    formulation
        ``"flow"``, or ``"lazy"`` without what forbids cycles.

    Raises
    ------
    InputError
        If no arc leaves the source, or none enters the sink.
    """
    if formulation not in FORMULATIONS:
        raise ValueError(f"formulation must be 'flow' or 'lazy', not {formulation!r}")
    tails, heads, weights = arcs(instance)
    names = arc_names(instance, tails, heads)
    if not {SOURCE, SINK} <= {end for arc in names for end in arc}:  # Pyomo takes no row without a variable
        raise InputError("expected arcs that leave the source and arcs that enter the sink: there is no path otherwise")
    weight = dict(zip(names, weights.tolist(), strict=True))
    leaving: dict[Hashable, list[Arc]] = {}
    entering: dict[Hashable, list[Arc]] = {}
    for arc in names:
        leaving.setdefault(arc[0], []).append(arc)
        entering.setdefault(arc[1], []).append(arc)
    touched = [v for v in range(instance.num_vertices) if v in leaving or v in entering]
    members: dict[int, list[int]] = {}
    for v in touched:
        members.setdefault(int(instance.class_numbers[v]), []).append(v)

    m = pyo.ConcreteModel()
    m.arc = pyo.Set(initialize=names, dimen=2)
    m.I = pyo.Var(m.arc, domain=pyo.Binary)

    def total(variable: Any, chosen: Sequence[Arc]) -> Any:
        return pyo.quicksum(variable[arc] for arc in chosen)

    m.source = pyo.Constraint(expr=total(m.I, leaving[SOURCE]) == 1)
    m.sink = pyo.Constraint(expr=total(m.I, entering[SINK]) == 1)
    m.length = pyo.Constraint(expr=total(m.I, names) == instance.length + 1)
    m.balance = pyo.Constraint(
        touched, rule=lambda m, v: total(m.I, entering.get(v, ())) - total(m.I, leaving.get(v, ())) == 0
    )

    def once(m: Any, z: int) -> Any:
        out = [arc for v in members[z] for arc in leaving.get(v, ())]
        return total(m.I, out) <= 1 if out else pyo.Constraint.Skip

    m.once = pyo.Constraint(sorted(members), rule=once)
    m.weight = pyo.Objective(expr=pyo.quicksum(w * m.I[arc] for arc, w in weight.items()), sense=pyo.maximize)
    if formulation == "flow":
        k = instance.length
        m.f = pyo.Var(m.arc, domain=pyo.NonNegativeReals)
        m.capacity = pyo.Constraint(m.arc, rule=lambda m, *arc: m.f[arc] - (k + 1) * m.I[arc] <= 0)
        m.demand = pyo.Constraint(
            touched,
            rule=lambda m, v: (
                total(m.f, entering.get(v, ())) - total(m.f, leaving.get(v, ())) - total(m.I, entering.get(v, ())) == 0
            ),
        )
        m.supply = pyo.Constraint(expr=total(m.f, leaving[SOURCE]) == k + 1)
        m.rest = pyo.Constraint(expr=total(m.f, entering[SINK]) == 1)
    return m


def arcs(instance: PathInstance) -> tuple[Ints, Ints, Floats]:
    """Tails, heads and weights of the arcs that a path can take; the source is number n, the sink n + 1."""
    n, graph = instance.num_vertices, instance.graph
    firsts, lasts = np.flatnonzero(graph.first > -np.inf), np.flatnonzero(graph.last > -np.inf)
    tails, heads = np.nonzero(graph.weights > -np.inf)
    return (
        np.concatenate((np.full(len(firsts), n), tails, lasts)),
        np.concatenate((firsts, heads, np.full(len(lasts), n + 1))),
        np.concatenate((graph.first[firsts], graph.weights[tails, heads], graph.last[lasts])),
    )


def arc_names(instance: PathInstance, tails: Ints, heads: Ints) -> list[Arc]:
    """The arcs as pairs, in order."""
    n = instance.num_vertices
    named: list[Hashable] = [*range(n), SOURCE, SINK]
    return [(named[u], named[v]) for u, v in zip(tails.tolist(), heads.tolist(), strict=True)]


def arrays(instance: PathInstance, formulation: str = "flow") -> Formulation:
    """What compiling the model of :func:`full` gives, without Pyomo, which takes longer than many a solve.

    Parameters
    ----------
    formulation
        As in :func:`full`.
    """
    n, k = instance.num_vertices, instance.length
    tails, heads, weights = arcs(instance)
    m = len(tails)
    names = arc_names(instance, tails, heads)
    each = np.arange(m)
    inner, outer = heads < n, tails < n  # arcs that enter, or leave, a vertex of V
    touched = np.unique(np.concatenate((heads[inner], tails[outer])))
    place = np.full(n, -1)
    place[touched] = np.arange(len(touched))
    of_class = instance.class_numbers[tails[outer]]
    present, row_of_class = np.unique(of_class, return_inverse=True)
    rows = _Rows()
    rows.add("source", [None], np.zeros((tails == n).sum(), int), each[tails == n], 1.0, (1.0, 1.0))
    rows.add("sink", [None], np.zeros((heads == n + 1).sum(), int), each[heads == n + 1], 1.0, (1.0, 1.0))
    rows.add("length", [None], np.zeros(m, int), each, 1.0, (k + 1.0, k + 1.0))
    through = np.concatenate((place[heads[inner]], place[tails[outer]]))
    signs = np.concatenate((np.ones(inner.sum()), -np.ones(outer.sum())))
    along = np.concatenate((each[inner], each[outer]))
    rows.add("balance", touched.tolist(), through, along, signs, (0.0, 0.0))
    rows.add("once", present.tolist(), row_of_class, each[outer], 1.0, (-np.inf, 1.0))
    columns = m
    if formulation == "flow":
        columns = 2 * m
        both, values = np.concatenate((each, each)), np.concatenate((np.ones(m), np.full(m, -(k + 1.0))))
        rows.add("capacity", names, both, np.concatenate((m + each, each)), values, (-np.inf, 0.0))
        rows.add(
            "demand",
            touched.tolist(),
            np.concatenate((through, place[heads[inner]])),
            np.concatenate((m + along, each[inner])),
            np.concatenate((signs, -np.ones(inner.sum()))),
            (0.0, 0.0),
        )
        rows.add("supply", [None], np.zeros((tails == n).sum(), int), m + each[tails == n], 1.0, (k + 1.0, k + 1.0))
        rows.add("rest", [None], np.zeros((heads == n + 1).sum(), int), m + each[heads == n + 1], 1.0, (1.0, 1.0))
    elif formulation != "lazy":
        raise ValueError(f"formulation must be 'flow' or 'lazy', not {formulation!r}")
    blocks = {"I": Block("I", tuple(names), each)}
    keys: list[Key] = [("I", arc) for arc in names]
    if formulation == "flow":
        blocks["f"] = Block("f", tuple(names), m + each)
        keys += [("f", arc) for arc in names]
    whole = np.arange(columns) < m
    return Formulation(
        sense=Sense.MAXIMIZE,
        matrix=rows.matrix(columns),
        costs=np.concatenate((weights, np.zeros(columns - m))),
        lower=np.zeros(columns),
        upper=np.where(whole, 1.0, np.inf),
        integer=whole,
        artificial=np.zeros(columns, dtype=bool),
        row_lower=np.array(rows.lower),
        row_upper=np.array(rows.upper),
        offset=0.0,
        column_keys=tuple(keys),
        row_keys=tuple(rows.keys),
        row_blocks=rows.blocks,
        column_blocks=blocks,
    )


def centred(f: Formulation, instance: PathInstance) -> Formulation:
    """The same program with what all paths have in common in its offset, where no tolerance is relative to it."""
    tails, heads, weights = arcs(instance)
    n, (first, last, inner) = instance.num_vertices, instance.scaled.parts
    common = np.where(tails == n, first, np.where(heads == n + 1, last, inner))
    costs = f.costs.copy()
    costs[: len(weights)] = weights - common
    return dataclasses.replace(f, costs=costs, offset=instance.scaled.offset)


class _Rows:
    """Rows of a formulation, block by block."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.blocks: dict[str, Block] = {}
        self._entries: list[tuple[Ints, Ints, Floats]] = []

    def add(
        self,
        name: str,
        indices: Sequence[Hashable],
        rows: Ints,
        columns: Ints,
        values: Floats | float,
        sides: tuple[float, float],
    ) -> None:
        """A block: its entries by row within the block, and the sides of all of its rows."""
        begin = len(self.keys)
        self.keys += [(name, index) for index in indices]
        self.lower += [sides[0]] * len(indices)
        self.upper += [sides[1]] * len(indices)
        self.blocks[name] = Block(name, tuple(indices), np.arange(begin, len(self.keys)))
        self._entries.append((begin + rows, columns, np.broadcast_to(np.asarray(values, float), rows.shape)))

    def matrix(self, num_columns: int) -> sparse.csc_array:
        rows, columns, values = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        return sparse.csc_array((values, (rows, columns)), shape=(len(self.keys), num_columns))
