"""Rank-1 cuts over packing rows: separation, and the memory that they need.

Let ``Σ_j a_ij x_j ≤ b_i`` be rows with integer a, b ≥ 0 and integer x ≥ 0.  Weights w_i / q imply the row
``Σ_j ⌊Σ_i w_i a_ij / q⌋ x_j ≤ ⌊Σ_i w_i b_i / q⌋`` (Chvátal-Gomory rounding).  For rows with b_i = 1 the undominated
weight vectors are known for up to five rows: one for three rows, one for four and seven for five, listed below.
Triples are enumerated; cuts over four and five rows are found by local search.

Sources: M. Jepsen, B. Petersen, S. Spoorendonk, D. Pisinger, *Subset-row inequalities applied to the vehicle-routing
problem with time windows*, Operations Research 56 (2008).  D. Pecin, A. Pessoa, M. Poggi, E. Uchoa, H. Santos, *Limited
memory rank-1 cuts for vehicle routing problems*, Operations Research Letters 45 (2017), for the vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_float, as_floats, as_integer, as_integers, as_offsets
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import int64, overwrite

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
"""Weights and divisor of the separated cuts."""

_SWEEPS = 20
"""Maximum number of sweeps of a local search."""


class RankOneCuts(NamedTuple):
    """Violated cuts, most violated first."""

    # members, weights: (cuts, 5) arrays: rows and their weights, padded with -1 and 0
    members: Ints
    weights: Ints
    # divisors, sides, violations: divisor, upper side and violation of each cut
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
    """Return rank-1 cuts violated by a solution.

    Parameters
    ----------
    starts : offsets of the columns in ``rows`` and ``amounts``
    rows : row numbers of their entries
    amounts : integer coefficients of at least 1
    values : values of the columns, at least 0
    sides : upper sides b_i of the rows, integers of at least 0
    sizes : numbers of rows per cut
        Triples are enumerated; four and five rows are found by a local search from each row.
    least : smallest violation of interest
    limit : maximum number of cuts per weight vector
    """
    sides = as_integers(sides, "sides", shape=("rows",), low=0)
    values = as_floats(values, "values", shape=("columns",), low=0.0)
    starts = as_integers(starts, "starts", shape=(len(values) + 1,), low=0)
    rows = as_integers(rows, "rows", shape=("entries",), low=0, high=len(sides) - 1)
    amounts = as_integers(amounts, "amounts", shape=rows.shape, low=1)
    if starts[0] != 0 or starts[-1] != len(rows) or (np.diff(starts) < 0).any():
        raise ArrayError(f"starts: expected offsets that rise from 0 to {len(rows)}, the number of entries")
    least, limit = as_float(least, "least", low=0.0), as_integer(limit, "limit", low=0)
    if not set(sizes) <= {3, 4, 5}:
        raise ArrayError(f"sizes: expected some of 3, 4 and 5, got {sizes}")
    columns = np.repeat(np.arange(len(values)), np.diff(starts))
    table = np.zeros((len(values), len(sides)), dtype=np.int64)
    np.add.at(table, (columns, rows), amounts)
    entries = _entries(table, values, sides)
    found: list[tuple[Ints, tuple[int, ...], int, int, float]] = []
    for weights, divisor in VECTORS:
        size = len(weights)
        if size not in sizes or size > len(sides):
            continue
        if size == 3:
            members, violations = _triples(table, values, sides, least)
        else:
            vector = np.array(weights, dtype=np.int64)
            workspace = _workspace(len(values), len(sides), size)
            members, violations = _search(entries, workspace, vector, divisor, least, _SWEEPS)
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
    """Return all violated cuts of three rows with weights one half."""
    columns, rows = table.shape
    # Σ_j x_j ⌊(a_ij + a_kj) / 2⌋ of each pair: the sum over the three pairs of a triple is at least its activity.
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
    most, tightest = np.zeros(rows), sides.min()
    near, begins = np.empty(rows * rows, dtype=np.int64), np.zeros(rows + 1, dtype=np.int64)
    for a in range(rows):
        begins[a + 1] = begins[a]
        for b in range(rows):
            if pairs[a, b] > 0.0:
                most[a] = max(most[a], pairs[a, b])
                near[begins[a + 1]] = b
                begins[a + 1] += 1
    thirds = np.empty(rows, dtype=np.int64)
    members, violations = np.empty((64, 3), dtype=np.int64), np.empty(64)
    count = 0
    for a in range(rows):
        for b in range(a + 1, rows):
            found, enough = 0, (sides[a] + sides[b] + tightest) // 2 + least
            if pairs[a, b] == 0.0 and most[a] <= enough and most[b] <= enough:
                # No pair is sufficient alone, so the third row must form pairs with both.
                for at in range(begins[a], begins[a + 1]):
                    if near[at] > b and pairs[b, near[at]] > 0.0:
                        thirds[found] = near[at]
                        found += 1
            else:
                for c in range(b + 1, rows):
                    thirds[found] = c
                    found += 1
            for k in range(found):
                c = thirds[k]
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


class _Entries(NamedTuple):
    """Entries of the columns by row and by column."""

    values: Floats
    sides: Ints
    # by_row, users, counts: offsets of the rows, their columns in ascending order, and amounts
    by_row: Ints
    users: Ints
    counts: Ints
    # by_column, rows, amounts: offsets of the columns, their rows in ascending order, and amounts
    by_column: Ints
    rows: Ints
    amounts: Ints
    # tightest, levels: rows by ascending side, and offsets of the groups of equal sides
    tightest: Ints
    levels: Ints
    # heaviest, largest: rows by largest amount, descending, and these amounts
    heaviest: Ints
    largest: Ints


def _entries(table: Ints, values: Floats, sides: Ints) -> _Entries:
    columns, rows = np.nonzero(table)
    amounts = table[columns, rows]
    order = np.argsort(rows, kind="stable")
    by_row, by_column = np.zeros(len(sides) + 1, dtype=np.int64), np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(sides)), out=by_row[1:])
    np.cumsum(np.bincount(columns, minlength=len(values)), out=by_column[1:])
    tightest = np.argsort(sides, kind="stable")
    levels = np.append(np.flatnonzero(np.diff(sides[tightest], prepend=-1)), len(sides))
    largest = table.max(axis=0, initial=0)
    heaviest = np.argsort(-largest, kind="stable")
    return _Entries(
        values,
        sides,
        by_row,
        columns[order],
        amounts[order],
        by_column,
        rows,
        amounts,
        tightest,
        levels,
        heaviest,
        largest[heaviest],
    )


class _Workspace(NamedTuple):
    """Work arrays of a local search; between two evaluations of rows all gains are zero."""

    sums: Ints  # for each column: weights of the chosen rows times its amounts in them
    used: NDArray[np.bool_]  # whether a row is chosen
    # touched, heads, ends: columns with entries in the chosen rows, ascending; the unmerged part of each of these rows
    touched: Ints
    heads: Ints
    ends: Ints
    # gains, near: increase of the activity by each row, and the rows with an increase
    gains: Floats
    near: Ints


def _workspace(columns: int, rows: int, size: int) -> _Workspace:
    sums, touched, near = (np.zeros(count, dtype=np.int64) for count in (columns, columns, rows))
    heads, ends = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    return _Workspace(sums, np.zeros(rows, dtype=np.bool_), touched, heads, ends, np.zeros(rows), near)


@njit(cache=True, no_cpython_wrapper=True)
def _merge_columns(entries: _Entries, workspace: _Workspace, members: Ints) -> int:
    """Merge the columns of the chosen rows.  Return their number."""
    users, heads, ends = entries.users, workspace.heads, workspace.ends
    none, size, count = len(workspace.sums), 0, 0
    for row in members:
        if row >= 0 and workspace.used[row] and entries.by_row[row] < entries.by_row[row + 1]:
            heads[size], ends[size] = entries.by_row[row], entries.by_row[row + 1]
            size += 1
    while size:
        first = none
        for k in range(size):
            first = min(first, users[heads[k]])
        for k in range(size - 1, -1, -1):
            if users[heads[k]] == first:
                heads[k] += 1
                if heads[k] == ends[k]:
                    size -= 1
                    heads[k], ends[k] = heads[size], ends[size]
        workspace.touched[count] = first
        count += 1
    return count


@njit(cache=True, no_cpython_wrapper=True)
def _gain(entries: _Entries, sums: Ints, row: int, weight: int, divisor: int) -> float:
    """Return the increase of the activity when a row joins."""
    gain = 0.0
    for at in range(entries.by_row[row], entries.by_row[row + 1]):
        j = entries.users[at]
        gain += entries.values[j] * ((sums[j] + weight * entries.counts[at]) // divisor - sums[j] // divisor)
    return gain


@njit(cache=True, no_cpython_wrapper=True)
def _best_row(
    entries: _Entries, workspace: _Workspace, members: Ints, leaving: int, weight: int, divisor: int, rest: int
) -> tuple[int, float, float]:
    """Return the row of largest gain in violation with this weight, the gain, and the gain of the leaving row.

    A row increases the activity where it completes a column that others have begun, or if its amount is sufficient
    alone.  All other rows differ only by their sides, so the first row of each side represents them.  Sums run in the
    order of the columns, so that a row's gain does not depend on how it is computed.  Ties go to the first row.
    """
    by_column, rows, amounts = entries.by_column, entries.rows, entries.amounts
    sides, sums, gains, near, used = entries.sides, workspace.sums, workspace.gains, workspace.near, workspace.used
    before, found = rest // divisor, 0
    for k in range(_merge_columns(entries, workspace, members)):
        j = workspace.touched[k]
        left, value = sums[j] % divisor, entries.values[j]
        for at in range(by_column[j], by_column[j + 1]):
            filled = left + weight * amounts[at]
            if filled >= divisor and value > 0.0:
                row = rows[at]
                if gains[row] == 0.0:
                    near[found] = row
                    found += 1
                gains[row] += value * (filled // divisor)
    best, most, stay = -1, -np.inf, gains[leaving] if leaving >= 0 else 0.0
    for k in range(found):
        row = near[k]
        gain = gains[row] - ((rest + weight * sides[row]) // divisor - before)
        gains[row] = 0.0
        if not used[row] and (gain > most or (gain == most and row < best)):
            best, most = row, gain
    for k in range(len(sides)):
        if weight * entries.largest[k] < divisor:
            break
        row = entries.heaviest[k]
        if used[row]:
            continue
        gain = _gain(entries, sums, row, weight, divisor)
        if row == leaving:
            stay = gain
        gain -= (rest + weight * sides[row]) // divisor - before
        if gain > most or (gain == most and row < best):
            best, most = row, gain
    for level in range(len(entries.levels) - 1):
        at, end = entries.levels[level], entries.levels[level + 1]
        gain = -float((rest + weight * sides[entries.tightest[at]]) // divisor - before)
        if gain < most:
            break
        while at < end and used[entries.tightest[at]]:
            at += 1
        if at < end and (gain > most or entries.tightest[at] < best):
            best, most = entries.tightest[at], gain
    if leaving >= 0:
        stay -= (rest + weight * sides[leaving]) // divisor - before
    return best, most, stay


@njit(cache=True, no_cpython_wrapper=True)
def _move(entries: _Entries, workspace: _Workspace, row: int, weight: int) -> None:
    """Add a row with a weight, or remove it with a negative weight."""
    workspace.used[row] = weight > 0
    for at in range(entries.by_row[row], entries.by_row[row + 1]):
        workspace.sums[entries.users[at]] += weight * entries.counts[at]


@njit(cache=True, nogil=True)
def _search(
    entries: _Entries, workspace: _Workspace, weights: Ints, divisor: int, least: float, sweeps: int
) -> tuple[Ints, Floats]:
    """Return violated cuts with these weights: from each row, rows join greedily and are exchanged one by one.

    They join by descending weights, and again by ascending ones.
    """
    sides, sums = entries.sides, workspace.sums
    rows, size = len(sides), len(weights)
    members, violations = np.empty((2 * rows, size), dtype=np.int64), np.empty(2 * rows)
    mine, count = np.empty(size, dtype=np.int64), 0
    for start in range(2 * rows):
        first, falling = start // 2, start % 2 == 0
        if entries.by_row[first] == entries.by_row[first + 1]:
            continue
        mine.fill(-1)
        rest = int64(0)
        for step in range(size):
            row, at = first, step if falling else size - 1 - step
            if step:
                row, _, _ = _best_row(entries, workspace, mine, int64(-1), weights[at], divisor, rest)
            mine[at] = row
            _move(entries, workspace, row, weights[at])
            rest += weights[at] * sides[row]
        for _ in range(sweeps):
            improved = False
            for at in range(size):
                row, weight = mine[at], weights[at]
                _move(entries, workspace, row, -weight)
                rest -= weight * sides[row]
                other, most, stay = _best_row(entries, workspace, mine, row, weight, divisor, rest)
                if most > stay + least * 1e-3:
                    row, improved = other, True
                mine[at] = row
                _move(entries, workspace, row, weight)
                rest += weight * sides[row]
            if not improved:
                break
        violation = -float(rest // divisor)
        for k in range(_merge_columns(entries, workspace, mine)):
            j = workspace.touched[k]
            violation += entries.values[j] * (sums[j] // divisor)
        for at in range(size):
            _move(entries, workspace, mine[at], -weights[at])
        if violation <= least:
            continue
        # Order rows of equal weight by number, so that duplicate cuts are detected.
        for at in range(1, size):
            back = at
            while back > 0 and weights[back - 1] == weights[back] and mine[back - 1] > mine[back]:
                mine[back - 1], mine[back] = mine[back], mine[back - 1]
                back -= 1
        known = False
        for k in range(count):
            at = 0
            while at < size and members[k, at] == mine[at]:
                at += 1
            known |= at == size
        if not known:
            overwrite(members[count], mine)
            violations[count] = violation
            count += 1
    return members[:count], violations[:count]


def memories_needed(starts: ArrayLike, visits: ArrayLike, weights: ArrayLike, divisors: ArrayLike) -> NDArray[np.bool_]:
    """Return the smallest memory with which each cut has the same coefficients on these routes as with full memory.

    Shape (cuts, vertices); vertices with a weight are always included.  Routes and divisors are given as for
    :func:`colgen.solvers.paths.counting.counts_along`; ``weights`` has shape (cuts, vertices), 0 for no weight.
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
