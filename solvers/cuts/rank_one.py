"""Rank-1 cuts over packing rows: which of them a fractional solution violates, and how much memory they need.

Rows ``Σ_j a_ij x_j ≤ b_i`` with whole a, b ≥ 0 and whole x ≥ 0 imply, for weights w_i / q, the row
``Σ_j ⌊Σ_i w_i a_ij / q⌋ x_j ≤ ⌊Σ_i w_i b_i / q⌋`` (Chvátal and Gomory's rounding).  For rows at most 1 the vectors of
weights that are worth looking at are known up to five rows: those of one triple, of one vector over four and of seven
over five rows, given below.  Triples are enumerated; four and five rows are found by local search.

Sources: M. Jepsen, B. Petersen, S. Spoorendonk, D. Pisinger, *Subset-row inequalities applied to the vehicle-routing
problem with time windows*, Operations Research 56 (2008); D. Pecin, A. Pessoa, M. Poggi, E. Uchoa, H. Santos, *Limited
memory rank-1 cuts for vehicle routing problems*, Operations Research Letters 45 (2017), for the vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solvers.arrays import ArrayError, as_float, as_floats, as_integer, as_integers, as_offsets
from solvers.copying import overwrite
from solvers.kernel_cache import njit
from solvers.literals import whole

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

VECTORS: tuple[tuple[tuple[int, ...], int], ...] = (
    ((1, 1, 1), 2),
    ((2, 1, 1, 1), 3),
    ((1, 1, 1, 1, 1), 2),
    ((1, 1, 1, 1, 1), 3),
    ((2, 2, 1, 1, 1), 3),
    ((2, 2, 1, 1, 1), 4),
    ((3, 1, 1, 1, 1), 4),
    ((3, 3, 2, 2, 1), 4),
    ((3, 2, 2, 1, 1), 5),
)
"""Weights and divisor of the cuts that are looked for."""

_SWEEPS = 20
"""A local search ends after so many sweeps, improving or not."""


class RankOneCuts(NamedTuple):
    """Violated cuts, those that are violated most first.

    Attributes
    ----------
    members, weights
        Shape (cuts, 5): rows and their weights; -1 and 0 where a cut has fewer.
    divisors, sides, violations
        One a cut: its divisor, its upper side, and by how much it is violated.
    """

    members: Ints
    weights: Ints
    divisors: Ints
    sides: Ints
    violations: Floats


def violated_rank_one(
    starts: ArrayLike,
    rows: ArrayLike,
    amounts: ArrayLike,
    values: ArrayLike,
    sides: ArrayLike,
    *,
    sizes: Sequence[int] = (3, 4, 5),
    least: float = 0.02,
    limit: int = 100,
) -> RankOneCuts:
    """Rank-1 cuts that a solution violates.

    Parameters
    ----------
    starts, rows, amounts
        The columns' entries: one more start than there are columns; row numbers; whole numbers from 1.
    values
        Of the columns, from 0.
    sides
        Upper sides b_i of the rows, whole numbers from 0.
    sizes
        Over how many rows: all triples are looked at; of four and five rows, what a local search from each row finds.
    least
        The least violation that counts.
    limit
        So many of each vector of weights at most.
    """
    sides = as_integers(sides, "sides", shape=("rows",), low=0)
    values = as_floats(values, "values", shape=("columns",), low=0.0)
    starts = as_integers(starts, "starts", shape=(len(values) + 1,), low=0)
    rows = as_integers(rows, "rows", shape=("entries",), low=0, high=len(sides) - 1)
    amounts = as_integers(amounts, "amounts", shape=rows.shape, low=1)
    if starts[0] != 0 or starts[-1] != len(rows) or (np.diff(starts) < 0).any():
        raise ArrayError(f"starts: expected numbers that rise from 0 to the {len(rows)} entries")
    least, limit = as_float(least, "least", low=0.0), as_integer(limit, "limit", low=0)
    if not set(sizes) <= {3, 4, 5}:
        raise ArrayError(f"sizes: expected some of 3, 4 and 5, not {sizes}")
    columns = np.repeat(np.arange(len(values)), np.diff(starts))
    table = np.zeros((len(values), len(sides)), dtype=np.int64)
    np.add.at(table, (columns, rows), amounts)
    order = np.argsort(rows, kind="stable")
    by_row = np.zeros(len(sides) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(sides)), out=by_row[1:])
    users = columns[order]
    found: list[tuple[Ints, tuple[int, ...], int, int, float]] = []
    for weights, divisor in VECTORS:
        size = len(weights)
        if size not in sizes or size > len(sides):
            continue
        if size == 3:
            members, violations = _triples(table, values, sides, least)
        else:
            vector = np.array(weights, dtype=np.int64)
            members, violations = _search(table, values, sides, by_row, users, vector, divisor, least, _SWEEPS)
        for k in np.argsort(-violations, kind="stable")[:limit].tolist():
            side = int(np.dot(weights, sides[members[k]])) // divisor
            found.append((members[k], weights, divisor, side, float(violations[k])))
    return _as_arrays(found)


def _as_arrays(found: list[tuple[Ints, tuple[int, ...], int, int, float]]) -> RankOneCuts:
    found.sort(key=lambda cut: -cut[-1])
    members = np.full((len(found), 5), -1, dtype=np.int64)
    weights = np.zeros((len(found), 5), dtype=np.int64)
    for k, (mine, vector, *_) in enumerate(found):
        members[k, : len(vector)], weights[k, : len(vector)] = mine, vector
    divisors, sides = (np.array([cut[k] for cut in found], dtype=np.int64) for k in (2, 3))
    return RankOneCuts(members, weights, divisors, sides, np.array([cut[4] for cut in found], dtype=np.float64))


@njit(cache=True, nogil=True)
def _triples(table: Ints, values: Floats, sides: Ints, least: float) -> tuple[Ints, Floats]:
    """All violated cuts of three rows with weights one half."""
    columns, rows = table.shape
    # Σ_j x_j ⌊(a_ij + a_kj) / 2⌋ of each pair: the three of a triple sum up to no less than its activity.
    pairs = np.zeros((rows, rows))
    for j in range(columns):
        for i in range(rows):
            if table[j, i] == 0:
                continue
            for k in range(rows):
                if k != i and (k > i or table[j, k] == 0):  # each pair once
                    pair = values[j] * ((table[j, i] + table[j, k]) // 2)
                    pairs[i, k] += pair
                    pairs[k, i] += pair
    members, violations = np.empty((64, 3), dtype=np.int64), np.empty(64)
    count = 0
    for a in range(rows):
        for b in range(a + 1, rows):
            for c in range(b + 1, rows):
                side = (sides[a] + sides[b] + sides[c]) // 2
                if pairs[a, b] + pairs[a, c] + pairs[b, c] <= side + least:
                    continue
                activity = 0.0
                for j in range(columns):
                    activity += values[j] * ((table[j, a] + table[j, b] + table[j, c]) // 2)
                if activity <= side + least:
                    continue
                if count == len(violations):
                    more = np.empty((2 * count, 3), dtype=np.int64)
                    for row in range(count):
                        overwrite(more[row], members[row])
                    members = more
                    violations = np.append(violations, np.empty(count))
                members[count, 0], members[count, 1], members[count, 2] = a, b, c
                violations[count] = activity - side
                count += 1
    return members[:count], violations[:count]


@njit(cache=True, nogil=True)
def _gain(
    table: Ints, values: Floats, by_row: Ints, users: Ints, sums: Ints, row: int, weight: int, divisor: int
) -> float:
    """What the activity grows by when a row joins."""
    gain = 0.0
    for at in range(by_row[row], by_row[row + 1]):
        j = users[at]
        gain += values[j] * ((sums[j] + weight * table[j, row]) // divisor - sums[j] // divisor)
    return gain


@njit(cache=True, nogil=True)
def _best_row(
    table: Ints,
    values: Floats,
    sides: Ints,
    by_row: Ints,
    users: Ints,
    sums: Ints,
    used: NDArray[np.bool_],
    weight: int,
    divisor: int,
    rest: int,
) -> tuple[int, float]:
    """The row that violates the cut most with this weight, and by how much it changes the violation."""
    best, most = -1, -np.inf
    for row in range(len(sides)):
        if used[row]:
            continue
        gain = _gain(table, values, by_row, users, sums, row, weight, divisor)
        gain -= (rest + weight * sides[row]) // divisor - rest // divisor
        if gain > most:
            best, most = row, gain
    return best, most


@njit(cache=True, nogil=True)
def _move(table: Ints, by_row: Ints, users: Ints, sums: Ints, row: int, weight: int) -> None:
    """Count a row with a weight, which is negative for a row that leaves."""
    for at in range(by_row[row], by_row[row + 1]):
        sums[users[at]] += weight * table[users[at], row]


@njit(cache=True, nogil=True)
def _search(
    table: Ints,
    values: Floats,
    sides: Ints,
    by_row: Ints,
    users: Ints,
    weights: Ints,
    divisor: int,
    least: float,
    sweeps: int,
) -> tuple[Ints, Floats]:
    """Violated cuts with these weights: from each row, rows join greedily and are exchanged one by one.

    They join by falling weights, and once more by rising ones.
    """
    columns, rows = table.shape
    size = len(weights)
    members, violations = np.empty((2 * rows, size), dtype=np.int64), np.empty(2 * rows)
    count = 0
    for start in range(2 * rows):
        first, falling = start // 2, start % 2 == 0
        if by_row[first] == by_row[first + 1]:
            continue
        sums = np.zeros(columns, dtype=np.int64)
        used = np.zeros(rows, dtype=np.bool_)
        mine = np.empty(size, dtype=np.int64)
        rest, violation = whole(0), 0.0
        for step in range(size):
            row, at = first, step if falling else size - 1 - step
            if step:
                row, _ = _best_row(table, values, sides, by_row, users, sums, used, weights[at], divisor, rest)
            mine[at], used[row] = row, True
            _move(table, by_row, users, sums, row, weights[at])
            rest += weights[at] * sides[row]
        for _ in range(sweeps):
            improved = False
            for at in range(size):
                row, weight = mine[at], weights[at]
                _move(table, by_row, users, sums, row, -weight)
                rest -= weight * sides[row]
                used[row] = False
                stay = _gain(table, values, by_row, users, sums, row, weight, divisor)
                stay -= (rest + weight * sides[row]) // divisor - rest // divisor
                other, most = _best_row(table, values, sides, by_row, users, sums, used, weight, divisor, rest)
                if most > stay + least * 1e-3:
                    row, improved = other, True
                mine[at], used[row] = row, True
                _move(table, by_row, users, sums, row, weight)
                rest += weight * sides[row]
            if not improved:
                break
        violation = -float(rest // divisor)
        for j in range(columns):
            violation += values[j] * (sums[j] // divisor)
        if violation <= least:
            continue
        # Rows of one weight by number, so that a cut that is found twice is seen to be one.
        for at in range(1, size):
            back = at
            while back > 0 and weights[back - 1] == weights[back] and mine[back - 1] > mine[back]:
                mine[back - 1], mine[back] = mine[back], mine[back - 1]
                back -= 1
        known = False
        for k in range(count):
            same = True
            for at in range(size):
                same &= members[k, at] == mine[at]
            known |= same
        if not known:
            members[count], violations[count] = mine, violation
            count += 1
    return members[:count], violations[:count]


def memories_needed(starts: ArrayLike, visits: ArrayLike, weights: ArrayLike, divisors: ArrayLike) -> NDArray[np.bool_]:
    """The least memory with which each cut counts these routes as often as without forgetting.

    Parameters
    ----------
    starts, visits
        Where each route begins among ``visits``, and the vertices in the order of their visits; -1 for one that is no
        component, and in nobody's memory.
    weights
        Of each vertex in each cut, shape (cuts, vertices), 0 where it does not count.
    divisors
        Of the cuts.

    Returns
    -------
    ndarray
        Shape (cuts, vertices): who is in the memory; the cut's own vertices always are.
    """
    weights = as_integers(weights, "weights", shape=("cuts", "vertices"), low=0)
    divisors = as_integers(divisors, "divisors", shape=weights.shape[:1], low=2)
    visits = as_integers(visits, "visits", shape=("visits",), low=-1, high=weights.shape[1] - 1)
    starts = as_offsets(starts, "starts", total=len(visits))
    return _memories(starts, visits, weights, divisors)


@njit(cache=True, nogil=True)
def _memories(starts: Ints, visits: Ints, weights: Ints, divisors: Ints) -> NDArray[np.bool_]:
    cuts = len(divisors)
    needed = weights > 0
    for k in range(cuts):
        for r in range(len(starts) - 1):
            state, since = 0, -1
            for at in range(starts[r], starts[r + 1]):
                v = visits[at]
                if v < 0:
                    state, since = 0, -1
                    continue
                if not weights[k, v]:
                    continue
                if state == 0:
                    since = at
                state += weights[k, v]
                if state >= divisors[k]:
                    state -= divisors[k]
                    for between in range(since, at):
                        needed[k, visits[between]] = True
                    since = at
    return needed
