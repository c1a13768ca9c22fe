"""Compact formulations of cutting stock as Pyomo models, for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from colgen import InputError, Rows, Sense
from colgen.core.lazy_imports import LazyModule
from colgen.problems.cutting_stock.exchanges import Exchange
from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.plans import first_fit_decreasing

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")


def master(instance: CuttingStockInstance, exchanges: Sequence[Exchange] = ()) -> Rows:
    """Return the rows of the pattern formulation without patterns.

    ``unmet`` are artificial variables.  ``cut_down[k]`` counts pieces that exchange k replaces by smaller ones; it is
    zero in every feasible solution.
    """
    items = range(instance.num_items)
    rows = Rows(Sense.MINIMIZE, objective="rolls")
    unmet = rows.add_variables("unmet", items, artificial=True)
    demand = rows.add_rows("demand", items, lower=instance.demands)
    rows.add_entries(demand, unmet, 1.0)
    if exchanges:
        cut_down = rows.add_variables("cut_down", range(len(exchanges)), exchange=True)
        rows.add_entries(demand[[item for item, _ in exchanges]], cut_down, -1.0)
        pieces = [part for _, parts in exchanges for part in parts]
        rows.add_entries(demand[pieces], np.repeat(cut_down, [len(parts) for _, parts in exchanges]), 1.0)
    return rows


def full(instance: CuttingStockInstance, formulation: str = "arc_flow", rolls: int | None = None) -> pyo.ConcreteModel:
    """Return a complete model for any solver that Pyomo supports.

    Parameters
    ----------
    formulation
        ``"arc_flow"`` (Valério de Carvalho, 1999), as strong as the pattern formulation; or ``"assignment"``
        (Kantorovich, 1939), one set of variables per roll, weak and symmetric.
    rolls
        Number of rolls for ``"assignment"``; by default that of first-fit decreasing.
    """
    if not instance.is_plain:
        raise InputError("complete formulations need rolls of one width, without conflicts or a limit on patterns")
    if formulation == "arc_flow":
        return arc_flow(instance)
    if formulation == "assignment":
        return assignment(instance, rolls)
    raise ValueError(f"formulation must be 'arc_flow' or 'assignment', not {formulation!r}")


def arc_flow(instance: CuttingStockInstance) -> pyo.ConcreteModel:
    """Return the arc-flow model: each roll is a path from 0 to C whose arcs are pieces.

    Pieces are laid out widest first, and only reachable positions have arcs (Valério de Carvalho's reductions).
    ``y[q, r]`` counts the rolls with a piece from q to r, ``waste[q]`` those whose last piece ends at q.
    """
    arcs = sorted(reached_arcs(instance))
    by_width: dict[int, list[tuple[int, int]]] = {}
    leaving: dict[int, list[tuple[int, int]]] = {}
    entering: dict[int, list[tuple[int, int]]] = {}
    for q, r in arcs:
        by_width.setdefault(r - q, []).append((q, r))
        leaving.setdefault(q, []).append((q, r))
        entering.setdefault(r, []).append((q, r))
    demand: dict[int, int] = {}
    for w, d in zip(instance.widths, instance.demands, strict=True):
        demand[w] = demand.get(w, 0) + d

    m = pyo.ConcreteModel()
    m.arc = pyo.Set(initialize=arcs, dimen=2)
    m.end = pyo.Set(initialize=sorted(entering))
    m.y = pyo.Var(m.arc, domain=pyo.NonNegativeIntegers)
    m.waste = pyo.Var(m.end, domain=pyo.NonNegativeIntegers)
    m.width = pyo.Set(initialize=sorted(demand))
    m.demand = pyo.Constraint(m.width, rule=lambda m, w: pyo.quicksum(m.y[a] for a in by_width[w]) >= demand[w])
    m.flow = pyo.Constraint(
        m.end,
        rule=lambda m, q: (
            pyo.quicksum(m.y[a] for a in entering[q]) == pyo.quicksum(m.y[a] for a in leaving.get(q, ())) + m.waste[q]
        ),
    )
    m.rolls = pyo.Objective(expr=pyo.quicksum(m.y[a] for a in leaving[0]), sense=pyo.minimize)
    return m


def reached_arcs(instance: CuttingStockInstance) -> set[tuple[int, int]]:
    """Return the arcs ``(from, to)`` of pieces in patterns laid out widest first, with at most the demanded copies."""
    reached = {0}
    arcs: set[tuple[int, int]] = set()
    merged: dict[int, int] = {}
    for w, d in zip(instance.widths, instance.demands, strict=True):
        merged[w] = merged.get(w, 0) + d
    for width in sorted(merged, reverse=True):
        frontier = set(reached)
        for _ in range(min(merged[width], instance.roll // width)):
            fresh = {(q, q + width) for q in frontier if q + width <= instance.roll}
            arcs |= fresh
            frontier = {r for _, r in fresh} - reached
            reached |= frontier
            if not frontier:
                break
    return arcs


def assignment(instance: CuttingStockInstance, rolls: int | None = None) -> pyo.ConcreteModel:
    """Return the assignment model: ``cut[i, r]`` pieces of item i from roll r, and whether a roll is used."""
    if rolls is None:
        rolls = sum(number for _, number in first_fit_decreasing(instance))
    m = pyo.ConcreteModel()
    m.item = pyo.RangeSet(0, instance.num_items - 1)
    m.roll = pyo.RangeSet(0, rolls - 1)
    m.cut = pyo.Var(m.item, m.roll, domain=pyo.NonNegativeIntegers)
    m.used = pyo.Var(m.roll, domain=pyo.Binary)
    m.demand = pyo.Constraint(
        m.item, rule=lambda m, i: pyo.quicksum(m.cut[i, r] for r in m.roll) >= instance.demands[i]
    )
    m.capacity = pyo.Constraint(
        m.roll,
        rule=lambda m, r: pyo.quicksum(instance.widths[i] * m.cut[i, r] for i in m.item) <= instance.roll * m.used[r],
    )
    m.rolls = pyo.Objective(expr=pyo.quicksum(m.used[r] for r in m.roll), sense=pyo.minimize)
    return m
