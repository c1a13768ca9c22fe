"""Heuristic search for integer solutions of two-sided rows over many columns, by exchanges of single columns.

    find x integer, 0 ≤ x ≤ u, with L ≤ A x ≤ U and c x ≤ t.

The target t is lowered after each solution.  Columns leave while the costs are above the target.  Then a violated row
is drawn, and the column that repairs it best enters.  Rows that stay violated gain weight, so that the search leaves
local optima.  A column that has just moved stays for a few steps.  A step costs the entries of the columns that share a
row: some hundred thousand steps per second.

Source: the two-stage exchange with row weights of S. Cai, K. Su, C. Luo, A. Sattar, *NuMVC: an efficient local search
algorithm for minimum vertex cover*, Journal of Artificial Intelligence Research 46 (2013), here with sides, costs and
multiplicities.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.graphs.bits import draw, seeded
from colgen.solvers.kernels import folded, int64, kernel, overwrite
from colgen.solvers.stopping import Expired, never
from colgen.solvers.work import add_work

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CHUNK = 1 << 20
"""Steps between two checks of the clock, times the mean number of entries of a row: about 0.2 s."""

_WORK = 120
"""Work of a step per entry of a row: it compares the columns of one row."""

_FORGET = 1 << 10
"""Number of steps after which the weights of rows move towards their initial values."""

_SLACK = 2.0**-30
"""Tolerance of a row, relative to its size."""

_ROUNDING = 1e-9
"""Bound on the rounding error of the costs, relative to the least cost of a column."""

_COSTS, _TARGET = range(2)
_STEP, _USED, _SOLUTIONS = range(3)
"""Indices into the sums and the counts of a search."""


class IntegerProgram(NamedTuple):
    """Rows with two sides, and columns used an integer number of times."""

    # starts, rows, values: columns in compressed form
    starts: Ints
    rows: Ints
    values: Floats
    # costs, most: cost and maximum number of uses of each column
    costs: Floats
    most: Floats
    # lower, upper: sides of the rows, possibly infinite
    lower: Floats
    upper: Floats


class _Entries(NamedTuple):
    """The rows of a program."""

    # starts, columns, values: the entries of row i are ``starts[i]:starts[i + 1]``
    starts: Ints
    columns: Ints
    values: Floats
    slack: Floats  # tolerance of each row
    weights: Floats  # initial weight of a unit of violation


class _Walk(NamedTuple):
    """State of a search."""

    # amounts, activity: number of uses of each column, and the row activities
    amounts: Ints
    activity: Floats
    best: Ints  # amounts of the best solution
    sums: Floats  # costs and target
    counts: Ints  # number of the step, of used columns, and of solutions
    weights: Floats  # current weight of a unit of violation of each row
    until: Ints  # step until which each column must not enter (first row) and must not leave (second row)
    # columns, used, places: all columns, the used ones, and the position of each among these, or -1
    columns: Ints
    used: Ints
    places: Ints
    state: Ints  # state of the random numbers


class _Move(NamedTuple):
    """A column (-1 for none) that enters (1) or leaves (-1), its gain, and the number of ties."""

    column: int
    way: float
    gain: float
    ties: int


def exchange(
    program: IntegerProgram,
    start: Ints,
    *,
    target: float,
    step: float,
    bound: float = -math.inf,
    steps: int = 200_000,
    seed: int = 0,
    expired: Expired = never,
) -> Ints | None:
    """Return the cheapest integer solution found, or None.

    ``start`` is the initial number of uses of each column.  A solution costs at most ``target``, and at least ``step``
    less than the one before.  The search ends once the next target is below ``bound``, a lower bound on the cost.  It
    also ends after ``steps`` steps, or once ``expired``, checked several times per second, returns True.
    """
    entries = _entries(program)
    walk = _begin(program, start, entries.weights, target, seed)
    margin = float(np.min(program.costs, where=program.costs > 0.0, initial=math.inf)) * (1.0 - _ROUNDING)
    length = max(len(program.values) / max(len(program.lower), 1), 1.0)
    done = 0
    while done < steps and not expired():
        some = min(max(int(_CHUNK / length), 1), steps - done)
        ended = _advance(program, entries, walk, margin, step, bound, some)
        done += some
        add_work(_WORK * some * length)
        if ended:
            break
    return walk.best if walk.counts[_SOLUTIONS] else None


def _entries(program: IntegerProgram) -> _Entries:
    """Return the program row by row."""
    num_rows = len(program.lower)
    size = np.ones(num_rows)
    for side in (program.lower, program.upper):
        finite = np.isfinite(side)
        size[finite] = np.maximum(size[finite], np.abs(side[finite]))
    largest = np.zeros(num_rows)
    np.maximum.at(largest, program.rows, np.abs(program.values))
    order = np.argsort(program.rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(program.rows, minlength=num_rows))]).astype(np.int64)
    return _Entries(
        starts,
        _entry_columns(program)[order],
        program.values[order],
        size * _SLACK,
        1.0 / np.where(largest > 0.0, largest, 1.0),
    )


def _entry_columns(program: IntegerProgram) -> Ints:
    return np.repeat(np.arange(len(program.costs)), np.diff(program.starts))


def _begin(program: IntegerProgram, start: Ints, weights: Floats, target: float, seed: int) -> _Walk:
    count, num_rows = len(program.costs), len(program.lower)
    amounts = start.astype(np.int64).copy()
    sums = np.bincount(program.rows, program.values * amounts[_entry_columns(program)], minlength=num_rows)
    return _Walk(
        amounts,
        sums.astype(np.float64),
        np.zeros(count, dtype=np.int64),
        np.array([float(program.costs @ amounts), target]),
        np.zeros(3, dtype=np.int64),
        weights.copy(),
        np.zeros((2, count), dtype=np.int64),
        np.arange(count),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        seeded(seed),
    )


@kernel
def _advance(
    program: IntegerProgram, entries: _Entries, walk: _Walk, margin: float, step: float, bound: float, steps: int
) -> bool:
    """Take up to ``steps`` steps.  Return whether a solution was found after which no target is within the bound.

    ``margin`` is the distance below the target required before a column enters: the least positive cost, or infinite.
    """
    sums, counts = walk.sums, walk.counts
    _list_used(walk)
    for _ in range(steps):
        counts[_STEP] += 1
        _remove_columns(program, walk, margin)
        row = _draw_violated(program, entries, walk)
        violated = False
        if row >= 0 or sums[_COSTS] > sums[_TARGET]:
            if row >= 0:
                move = _best_repair(program, entries, walk, row)
            else:  # all rows hold, and a column with negative cost is needed
                move = _best_saving(program, walk, walk.columns, len(walk.columns), 1.0)
            if move.column >= 0:
                _carry_out(program, walk, move.column, move.way)
            elif row < 0:
                continue
            violated = _weigh_violated(program, entries, walk)
        if not violated and sums[_COSTS] <= sums[_TARGET]:
            overwrite(walk.best, walk.amounts)
            counts[_SOLUTIONS] += 1
            sums[_TARGET] = sums[_COSTS] - step
            if sums[_TARGET] < bound:
                return True
        if counts[_STEP] % _FORGET == 0:
            for i in range(len(walk.weights)):
                walk.weights[i] = entries.weights[i] + 0.7 * (walk.weights[i] - entries.weights[i])
    return False


@folded
def _list_used(walk: _Walk) -> None:
    """List the used columns in ascending order."""
    walk.counts[_USED] = 0
    for j in range(len(walk.amounts)):
        walk.places[j] = -1
        if walk.amounts[j] > 0:
            _list(walk, j)


@folded
def _remove_columns(program: IntegerProgram, walk: _Walk, margin: float) -> None:
    """Remove columns until one more fits below the target, those first that violate least per unit of saved cost."""
    while walk.sums[_COSTS] > walk.sums[_TARGET] - margin and margin < np.inf:
        move = _best_saving(program, walk, walk.used, walk.counts[_USED], -1.0)
        if move.column < 0:
            break
        _carry_out(program, walk, move.column, move.way)


@folded
def _best_saving(program: IntegerProgram, walk: _Walk, columns: Ints, count: int, way: float) -> _Move:
    """Return the move among the first ``count`` columns that gains most per unit of saved cost."""
    best = _Move(int64(-1), way, -np.inf, int64(0))
    for k in range(count):
        j = columns[k]
        saved = -way * program.costs[j]
        if saved > 0.0 and _is_free(program, walk, j, way):
            best = _better(best, j, way, _gain(program, walk, j, way) / saved, walk.state)
    return best


@folded
def _best_repair(program: IntegerProgram, entries: _Entries, walk: _Walk, row: int) -> _Move:
    """Return the move that gains most per unit of cost among those that repair a violated row."""
    wanted = 1.0 if walk.activity[row] < program.lower[row] else -1.0
    best = _Move(int64(-1), 1.0, -np.inf, int64(0))
    for e in range(entries.starts[row], entries.starts[row + 1]):
        j = entries.columns[e]
        way = wanted if entries.values[e] > 0.0 else -wanted
        if _is_free(program, walk, j, way):
            gain = _gain(program, walk, j, way)
            price = max(way * program.costs[j], 0.0)
            if price > 0.0:
                gain = gain / price if gain > 0.0 else gain * price
            best = _better(best, j, way, gain, walk.state)
    return best


@folded
def _better(best: _Move, j: int, way: float, gain: float, state: Ints) -> _Move:
    """Return the better of the best move so far and another.  Ties are broken uniformly at random."""
    if gain > best.gain:
        return _Move(j, way, gain, int64(1))
    if gain == best.gain:
        ties = best.ties + 1
        if draw(state, ties) == 0:
            return _Move(j, way, gain, ties)
        return _Move(best.column, best.way, gain, ties)
    return best


@folded
def _is_free(program: IntegerProgram, walk: _Walk, j: int, way: float) -> bool:
    """Return whether a column may enter (1) or leave (-1)."""
    now = walk.counts[_STEP]
    if way > 0.0:
        return bool(walk.until[0, j] <= now and walk.amounts[j] + 1.0 <= program.most[j])
    return bool(walk.amounts[j] > 0 and walk.until[1, j] <= now)


@folded
def _gain(program: IntegerProgram, walk: _Walk, j: int, way: float) -> float:
    """Return the decrease of the weighted violation if a column enters (1) or leaves (-1)."""
    total = 0.0
    for e in range(program.starts[j], program.starts[j + 1]):
        i = program.rows[e]
        before = walk.activity[i]
        after = before + way * program.values[e]
        low, high = program.lower[i], program.upper[i]
        change = max(low - after, 0.0) + max(after - high, 0.0) - max(low - before, 0.0) - max(before - high, 0.0)
        total += walk.weights[i] * change
    return -total


@folded
def _carry_out(program: IntegerProgram, walk: _Walk, j: int, way: float) -> None:
    """Let a column enter (1) or leave (-1), and block the reverse move for some steps."""
    now = walk.counts[_STEP]
    walk.amounts[j] += int(way)
    walk.sums[_COSTS] += way * program.costs[j]
    for e in range(program.starts[j], program.starts[j + 1]):
        walk.activity[program.rows[e]] += way * program.values[e]
    if way > 0.0:
        walk.until[1, j] = now + 2 + draw(walk.state, int64(8))
        if walk.amounts[j] == 1:
            _list(walk, j)
    else:
        walk.until[0, j] = now + 2 + draw(walk.state, int64(3))
        if walk.amounts[j] == 0:
            _unlist(walk, j)


@folded
def _list(walk: _Walk, j: int) -> None:
    walk.used[walk.counts[_USED]], walk.places[j] = j, walk.counts[_USED]
    walk.counts[_USED] += 1


@folded
def _unlist(walk: _Walk, j: int) -> None:
    """Remove a column from the used ones; the last one takes its place."""
    walk.counts[_USED] -= 1
    last = walk.used[walk.counts[_USED]]
    walk.used[walk.places[j]], walk.places[last] = last, walk.places[j]
    walk.places[j] = -1


@folded
def _is_violated(program: IntegerProgram, entries: _Entries, walk: _Walk, i: int) -> bool:
    activity, slack = walk.activity[i], entries.slack[i]
    return bool(activity < program.lower[i] - slack or activity > program.upper[i] + slack)


@folded
def _draw_violated(program: IntegerProgram, entries: _Entries, walk: _Walk) -> int:
    """Return a violated row, drawn uniformly, or -1."""
    row, violated = int64(-1), 0
    for i in range(len(program.lower)):
        if _is_violated(program, entries, walk, i):
            violated += 1
            if draw(walk.state, violated) == 0:
                row = i
    return row


@folded
def _weigh_violated(program: IntegerProgram, entries: _Entries, walk: _Walk) -> bool:
    """Increase the weight of each violated row.  Return whether there is one."""
    found = False
    for i in range(len(program.lower)):
        if _is_violated(program, entries, walk, i):
            found = True
            walk.weights[i] += entries.weights[i]
    return found
