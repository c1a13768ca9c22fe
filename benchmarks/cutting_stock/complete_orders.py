"""Complete Pyomo models with several roll widths, conflicts or few patterns, for comparison."""

from __future__ import annotations

import math

import pyomo.environ as pyo

from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.model import reached_arcs
from colgen.problems.cutting_stock.piece_pricing import Pieces
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.mip import MIPSolution


def full(instance: CuttingStockInstance) -> pyo.ConcreteModel:
    """Return a complete model: by patterns, by representatives of rolls, or by arc flows."""
    if instance.patterns is not None:
        return by_patterns(instance)
    return by_representatives(instance) if instance.conflicts else by_arcs(instance)


def by_arcs(instance: CuttingStockInstance) -> pyo.ConcreteModel:
    """Return the arc-flow model, whose relaxation is as strong as that of patterns (Valério de Carvalho, 2002).

    Rolls are paths whose arcs are pieces: ``y[q, r]`` counts the rolls with a piece from q to r, and ``end[q, k]`` the
    rolls of kind k whose last piece ends at q.
    """
    stock = instance.rolls
    arcs = sorted(reached_arcs(instance))
    positions = sorted({q for arc in arcs for q in arc})
    leaving: dict[int, list[tuple[int, int]]] = {q: [] for q in positions}
    entering: dict[int, list[tuple[int, int]]] = {q: [] for q in positions}
    by_width: dict[int, list[tuple[int, int]]] = {}
    for q, r in arcs:
        leaving[q].append((q, r))
        entering[r].append((q, r))
        by_width.setdefault(r - q, []).append((q, r))
    demand: dict[int, int] = {}
    for width, wanted in zip(instance.widths, instance.demands, strict=True):
        demand[width] = demand.get(width, 0) + wanted
    kinds = range(len(stock.widths))
    m = pyo.ConcreteModel()
    m.arc = pyo.Set(initialize=arcs, dimen=2)
    m.ends = pyo.Set(initialize=[(q, k) for q in positions if q for k in kinds if q <= stock.widths[k]], dimen=2)
    m.y = pyo.Var(m.arc, domain=pyo.NonNegativeIntegers)
    m.end = pyo.Var(m.ends, domain=pyo.NonNegativeIntegers)
    m.demand = pyo.ConstraintList()
    for width, wanted in demand.items():
        m.demand.add(pyo.quicksum(m.y[arc] for arc in by_width[width]) >= wanted)
    m.flow = pyo.ConstraintList()
    for q in positions[1:]:
        ended = pyo.quicksum(m.end[q, k] for k in kinds if q <= stock.widths[k])
        m.flow.add(
            pyo.quicksum(m.y[arc] for arc in entering[q]) == pyo.quicksum(m.y[arc] for arc in leaving[q]) + ended
        )
    used = {k: pyo.quicksum(m.end[q, k] for q in positions[1:] if q <= stock.widths[k]) + 0.0 for k in kinds}
    m.supply = pyo.ConstraintList()
    for k, limit in enumerate(stock.limits):
        if not math.isinf(limit) and any(q <= stock.widths[k] for q in positions[1:]):
            m.supply.add(used[k] <= limit)
    m.cost = pyo.Objective(expr=pyo.quicksum(stock.costs[k] * used[k] for k in kinds), sense=pyo.minimize)
    return m


def by_representatives(instance: CuttingStockInstance) -> pyo.ConcreteModel:
    """Return the model of asymmetric representatives, which removes symmetry between rolls.

    The first piece of a roll represents it: ``with_[r, i]`` is 1 if piece i is on the roll of piece r, and
    ``kind[r, k]`` is 1 if that roll is of kind k.
    """
    pieces, stock = Pieces.of(instance), instance.rolls
    n, kinds = len(pieces.items), range(len(stock.widths))
    possible = [(r, i) for r in range(n) for i in range(r, n) if not pieces.conflicts[r, i]]
    on: dict[int, list[int]] = {r: [] for r in range(n)}
    for r, i in possible:
        on[r].append(i)
    m = pyo.ConcreteModel()
    m.pairs = pyo.Set(initialize=possible, dimen=2)
    m.with_ = pyo.Var(m.pairs, domain=pyo.Binary)
    m.kind = pyo.Var(range(n), kinds, domain=pyo.Binary)
    m.once = pyo.ConstraintList()
    represented: dict[int, list[int]] = {i: [] for i in range(n)}
    for r, i in possible:
        represented[i].append(r)
    for i in range(n):
        m.once.add(pyo.quicksum(m.with_[r, i] for r in represented[i]) == 1)
    m.rows = pyo.ConstraintList()
    for r in range(n):
        m.rows.add(pyo.quicksum(m.kind[r, k] for k in kinds) == m.with_[r, r])
        m.rows.add(
            pyo.quicksum(int(pieces.widths[i]) * m.with_[r, i] for i in on[r])
            <= pyo.quicksum(stock.widths[k] * m.kind[r, k] for k in kinds)
        )
        for a, i in enumerate(on[r][1:], 1):
            m.rows.add(m.with_[r, i] <= m.with_[r, r])
            for j in on[r][a + 1 :]:
                if pieces.conflicts[i, j]:
                    m.rows.add(m.with_[r, i] + m.with_[r, j] <= m.with_[r, r])
    for k, limit in enumerate(stock.limits):
        if not math.isinf(limit):
            m.rows.add(pyo.quicksum(m.kind[r, k] for r in range(n)) <= limit)
    m.cost = pyo.Objective(
        expr=pyo.quicksum(stock.costs[k] * m.kind[r, k] for r in range(n) for k in kinds), sense=pyo.minimize
    )
    return m


def by_patterns(instance: CuttingStockInstance) -> pyo.ConcreteModel:
    """Return a model with a limited number of patterns, sorted by their rolls to reduce symmetry.

    ``has[p, i, c]`` is 1 if pattern p has at least c copies of item i; ``made[p, i, c]`` counts the pieces of the c-th.
    """
    if instance.patterns is None:
        raise ValueError("expected an instance with a limit on patterns, got none")
    most = max(instance.demands)
    copies = [
        (p, i, c)
        for p in range(instance.patterns)
        for i in range(instance.num_items)
        for c in range(1, min(instance.demands[i], instance.roll // instance.widths[i]) + 1)
    ]
    patterns = range(instance.patterns)
    m = pyo.ConcreteModel()
    m.copy = pyo.Set(initialize=copies, dimen=3)
    m.rolls = pyo.Var(patterns, domain=pyo.NonNegativeIntegers, bounds=(0, most))
    m.has = pyo.Var(m.copy, domain=pyo.Binary)
    m.made = pyo.Var(m.copy, bounds=lambda m, p, i, c: (0, instance.demands[i]))
    m.rows = pyo.ConstraintList()
    for p, i, c in copies:
        m.rows.add(m.made[p, i, c] <= m.rolls[p])
        m.rows.add(m.made[p, i, c] <= instance.demands[i] * m.has[p, i, c])
        if c > 1:
            m.rows.add(m.has[p, i, c] <= m.has[p, i, c - 1])
    for i, demand in enumerate(instance.demands):
        m.rows.add(pyo.quicksum(m.made[key] for key in copies if key[1] == i) >= demand)
    for p in patterns:
        m.rows.add(pyo.quicksum(instance.widths[key[1]] * m.has[key] for key in copies if key[0] == p) <= instance.roll)
        if p:
            m.rows.add(m.rolls[p] <= m.rolls[p - 1])
    m.cost = pyo.Objective(expr=pyo.quicksum(m.rolls[p] for p in patterns), sense=pyo.minimize)
    return m


def solve_full(instance: CuttingStockInstance, time_limit: float = math.inf) -> MIPSolution:
    """Solve the complete model of an instance with HiGHS, with presolve."""
    return solve_complete(full(instance), time_limit)
