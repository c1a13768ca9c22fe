"""Solve complete programs without column generation: by enumeration, or by HiGHS."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse
from scipy.sparse import csgraph

from tests.fuzz.engine.pools import Program

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MANY = 40_000
"""Maximum number of partial solutions in the enumeration."""


class Arrays(NamedTuple):
    """An unscaled program: columns before variables, rows before rows added by columns."""

    costs: Ints
    matrix: Ints
    lower: Floats
    upper: Floats
    row_lower: Floats
    row_upper: Floats
    integer: NDArray[np.bool_]


@dataclass(frozen=True)
class Truth:
    """The true results of a program.

    Attributes
    ----------
    status
        ``optimal``, ``infeasible`` or ``unbounded``, of the integer program.
    objective
        Unscaled optimum, offset included.
    answer
        An optimal solution.
    exact
        Whether it is found by enumeration in integer arithmetic.
    relaxation
        Status of the relaxation.
    relaxed
        Objective of the relaxation.
    """

    status: str
    objective: float
    answer: tuple[float, ...]
    exact: bool
    relaxation: str
    relaxed: float


def arrays(program: Program) -> Arrays:
    """Return a program as arrays."""
    parts = program.parts
    links = [(j, column.link) for j, column in enumerate(program.columns) if column.link is not None]
    m, n = len(program.rows), len(parts)
    matrix = np.zeros((m + len(links), n), dtype=np.int64)
    for j, part in enumerate(parts):
        for i, entry in part.entries.items():
            matrix[i, j] = entry
    for k, (j, variable) in enumerate(links):
        matrix[m + k, j] = 1
        matrix[m + k, len(program.columns) + variable] = -3
    return Arrays(
        np.array([part.cost for part in parts], dtype=np.int64),
        matrix,
        np.array([*(0.0 for _ in program.columns), *(_low(v.lower) for v in program.variables)]),
        np.array([_high(part.upper) for part in parts], dtype=float),
        np.array([*(_low(row.lower) for row in program.rows), *(-math.inf for _ in links)]),
        np.array([*(_high(row.upper) for row in program.rows), *(0.0 for _ in links)]),
        np.array([part.integer for part in parts], dtype=bool),
    )


def solve_complete(program: Program) -> Truth | None:
    """Return the truth, or None if it is uncertain.

    Independent components are solved separately, because their costs may differ by more than a solver's precision.
    """
    a = arrays(program)
    number, component = csgraph.connected_components(_links(a), directed=False)
    if number < 2:
        return _solve_connected(program, a)
    m, n = a.matrix.shape
    rows, parts = component[:m], component[m:]
    components: list[tuple[NDArray[np.bool_], Truth]] = []
    for c in range(number):
        mine, own = parts == c, rows == c
        sides = (a.lower[mine], a.upper[mine], a.row_lower[own], a.row_upper[own])
        small = Arrays(a.costs[mine], a.matrix[own][:, mine], *sides, a.integer[mine])
        truth = _solve_connected(program, small)
        if truth is None:
            return None
        components.append((mine, truth))
    return _join(components, n, program.offset)


def _links(a: Arrays) -> sparse.csr_array:
    """Return the bipartite graph of rows (first) and parts."""
    entries = sparse.csr_array(a.matrix != 0)
    return sparse.csr_array(sparse.block_array([[None, entries], [entries.T, None]]))


def _join(components: list[tuple[NDArray[np.bool_], Truth]], count: int, offset: int) -> Truth:
    """Combine the truths of components."""
    statuses, relaxations = {t.status for _, t in components}, {t.relaxation for _, t in components}

    def worst(values: set[str]) -> str:
        return next(value for value in ("infeasible", "unbounded", "optimal") if value in values)

    def total(values: list[float], status: str) -> float:
        return math.fsum(values) - (len(values) - 1) * offset if status == "optimal" else math.nan

    status, relaxation = worst(statuses), worst(relaxations)
    answer = np.zeros(count)
    if status == "optimal":
        for mine, truth in components:
            answer[mine] = truth.answer
    return Truth(
        status,
        total([t.objective for _, t in components], status),
        tuple(answer.tolist()) if status == "optimal" else (),
        all(t.exact for _, t in components),
        relaxation,
        total([t.relaxed for _, t in components], relaxation),
    )


def _solve_connected(program: Program, given: Arrays) -> Truth | None:
    """Return the truth about a connected component, offset included; None if it is uncertain."""
    unit = int(np.gcd.reduce(given.costs, initial=0)) or 1
    a = given._replace(costs=given.costs // unit)
    relaxation = _highs(program, a, np.zeros_like(a.integer))
    if relaxation is None:
        return None
    status, relaxed = relaxation[0], unit * relaxation[1] + program.offset
    listed = _list(program, a)
    if listed is not None:
        costs, answer = listed
        if answer is None:
            return Truth("infeasible", math.nan, (), True, status, relaxed)
        return Truth("optimal", unit * costs + program.offset, answer, True, status, relaxed)
    largest = np.abs(a.costs).max(initial=0)
    if largest > 10**8:  # beyond the precision of a solver
        return None
    first, again = (_highs(program, a, a.integer, backwards) for backwards in (False, True))
    if first is None or again is None or first[0] != again[0]:
        return None
    outcome, objective, values = first
    if outcome == "optimal" and abs(objective - again[1]) > 1e-9 * max(abs(objective), abs(again[1])):
        return None
    return Truth(outcome, unit * objective + program.offset, tuple(values.tolist()), False, status, relaxed)


def _highs(
    program: Program, a: Arrays, integer: NDArray[np.bool_], backwards: bool = False
) -> tuple[str, float, Floats] | None:
    """Solve the program by scipy, which shares only HiGHS with the engine; return None if undecided.

    Presolve is off, because it has reported feasible programs as infeasible and ignored time limits.  Callers verify
    the result by a second run with rows and columns in reverse order.
    """
    if not len(a.costs):
        feasible = (a.row_lower <= 0).all() and (a.row_upper >= 0).all()
        return ("optimal", 0.0, np.empty(0)) if feasible else ("infeasible", math.nan, np.empty(0))
    sign = -1.0 if program.maximize else 1.0
    way = slice(None, None, -1 if backwards else 1)
    rows = sparse.csr_array(a.matrix[way, way].astype(float))
    solved = optimize.milp(
        sign * a.costs[way],
        constraints=optimize.LinearConstraint(rows, a.row_lower[way], a.row_upper[way]),
        bounds=optimize.Bounds(a.lower[way], a.upper[way]),
        integrality=integer[way].astype(int),
        options={"mip_rel_gap": 0.0, "time_limit": 5.0, "presolve": False},
    )
    if solved.status in (2, 3):
        return {2: "infeasible", 3: "unbounded"}[solved.status], math.nan, np.empty(0)
    if solved.status != 0:
        return None
    values = solved.x[way]
    values = np.where(integer, np.round(values), values)
    return "optimal", float(a.costs @ values), values


def _list(program: Program, a: Arrays) -> tuple[int, tuple[float, ...] | None] | None:
    """Return the best cost and solution by enumeration column by column; None if there are too many."""
    tops = _tops(program, a)
    if tops is None or not a.integer.all():
        return None
    # Range of what columns j, j + 1, ... can add to each row.
    reach = a.matrix * tops
    low = np.minimum(reach, a.matrix * a.lower)[:, ::-1].cumsum(axis=1)[:, ::-1]
    high = np.maximum(reach, a.matrix * a.lower)[:, ::-1].cumsum(axis=1)[:, ::-1]
    low, high = np.pad(low, ((0, 0), (0, 1))), np.pad(high, ((0, 0), (0, 1)))
    activity = np.zeros((1, len(a.row_lower)), dtype=np.int64)
    cost = np.zeros(1, dtype=np.int64)
    if not ((low[:, 0] <= a.row_upper) & (high[:, 0] >= a.row_lower)).all():
        return 0, None
    chosen: list[tuple[Ints, Ints]] = []
    for j in range(len(tops)):
        amounts = np.arange(int(a.lower[j]), int(tops[j]) + 1)
        if len(amounts) * len(cost) > _MANY:
            return None
        parents = np.repeat(np.arange(len(cost)), len(amounts))
        values = np.tile(amounts, len(cost))
        activity = activity[parents] + values[:, None] * a.matrix[:, j]
        cost = cost[parents] + values * a.costs[j]
        keep = (activity + low[:, j + 1] <= a.row_upper).all(axis=1)
        keep &= (activity + high[:, j + 1] >= a.row_lower).all(axis=1)
        activity, cost = activity[keep], cost[keep]
        chosen.append((parents[keep], values[keep]))
    if not len(cost):
        return 0, None
    best = int(np.argmax(cost) if program.maximize else np.argmin(cost))
    objective, answer = int(cost[best]), []
    for parents, values in reversed(chosen):
        answer.append(float(values[best]))
        best = int(parents[best])
    return objective, tuple(answer[::-1])


def _tops(program: Program, a: Arrays) -> Floats | None:
    """Return upper bounds of all parts in some optimal solution; None if one is unbounded."""
    tops = a.upper.copy()
    if not np.isfinite(a.lower).all():
        return None
    positive = bool((a.lower >= 0).all())
    covering = positive and bool((a.matrix >= 0).all() and np.isposinf(a.row_upper).all())
    covering = covering and bool(((-1 if program.maximize else 1) * a.costs >= 0).all())
    for j in np.flatnonzero(np.isinf(tops)):
        limits = [
            a.row_upper[i] // a.matrix[i, j]
            for i in np.flatnonzero(a.matrix[:, j] > 0)
            if positive and (a.matrix[i] >= 0).all() and math.isfinite(a.row_upper[i])
        ]
        if covering:
            limits.append(max([0.0, *(-(-low // e) for low, e in zip(a.row_lower, a.matrix[:, j], strict=True) if e)]))
        if not limits:
            return None
        tops[j] = max(min(limits), 0.0)
    return tops


def _low(side: int | None) -> float:
    return -math.inf if side is None else float(side)


def _high(side: int | None) -> float:
    return math.inf if side is None else float(side)
