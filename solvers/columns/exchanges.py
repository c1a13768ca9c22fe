"""Whole solutions of rows with two sides, from many columns, by exchanging one column at a time.

    find x whole, 0 ≤ x ≤ u, with L ≤ A x ≤ U and c x ≤ t; each time it is found, lower t.

A column leaves as long as the costs are above the target; then a violated row is drawn, and the column that mends most
of it enters.  Rows that stay violated weigh more and more, so that the search leaves local optima, and a column that
has just moved stays where it is for a few steps.  A step costs the entries of the columns that share a row, so that a
second sees some hundred thousand.

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
from colgen.solvers.kernels import folded, kernel, overwrite, whole
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CHUNK = 1 << 14
"""Steps between two looks at the clock."""

_FORGET = 1 << 10
"""Every so many steps the weights of rows come nearer to their first values."""

_SLACK = 2.0**-30
"""A row holds to within this, relative to its size."""

_ROUNDING = 1e-9
"""What rounding leaves of the costs at most, relative to the least cost of a column."""

_COSTS, _TARGET = range(2)
_STEP, _USED, _SOLUTIONS = range(3)
"""Places in the sums and the counts of a search."""


class WholeProgram(NamedTuple):
    """Rows with two sides, and columns that are used a whole number of times.

    Attributes
    ----------
    starts, rows, values
        The columns in compressed form.
    costs, most
        Of each column, and how often it may be used at most.
    lower, upper
        Sides of the rows, infinite where there is none.
    """

    starts: Ints
    rows: Ints
    values: Floats
    costs: Floats
    most: Floats
    lower: Floats
    upper: Floats


class _Entries(NamedTuple):
    """The rows of a program.

    Attributes
    ----------
    starts, columns, values
        The entries of row i are ``starts[i]:starts[i + 1]``.
    slack
        By how much a row may be violated.
    weights
        What a unit of violation weighs at first.
    """

    starts: Ints
    columns: Ints
    values: Floats
    slack: Floats
    weights: Floats


class _Walk(NamedTuple):
    """Where a search stands.

    Attributes
    ----------
    amounts, activity
        How often each column is used, and the sums of the rows.
    best
        The amounts of the best solution.
    sums
        The costs, and the target.
    counts
        The number of the step, of columns that are used, and of solutions.
    weights
        What a unit of violation weighs now, of each row.
    until
        The steps until which each column must not enter (first row) and must not leave (second row).
    columns, used, places
        All columns, those that are used, and where each is among these, -1 if nowhere.
    state
        Of the draws.
    """

    amounts: Ints
    activity: Floats
    best: Ints
    sums: Floats
    counts: Ints
    weights: Floats
    until: Ints
    columns: Ints
    used: Ints
    places: Ints
    state: Ints


class _Move(NamedTuple):
    """A column (-1: none) that enters (1) or leaves (-1), what this gains, and how many moves gain as much."""

    column: int
    way: float
    gain: float
    ties: int


def exchange(
    program: WholeProgram,
    start: Ints,
    *,
    target: float,
    step: float,
    bound: float = -math.inf,
    steps: int = 200_000,
    seed: int = 0,
    expired: Expired = never,
) -> Ints | None:
    """The cheapest whole solution that is found; None if none is.

    Parameters
    ----------
    start
        How often each column is used at first.
    target
        What a solution may cost at most.
    step
        Each solution is to cost so much less than the one before, at least.
    bound
        The search ends with a solution after which nothing as cheap as this could come.
    steps
        The search ends after so many.
    expired
        And when the answer is yes; asked several times a second.
    """
    entries = _entries(program)
    walk = _begin(program, start, entries.weights, target, seed)
    room = float(np.min(program.costs, where=program.costs > 0.0, initial=math.inf)) * (1.0 - _ROUNDING)
    done = 0
    while done < steps and not expired():
        ended = _go_on(program, entries, walk, room, step, bound, min(_CHUNK, steps - done))
        done += _CHUNK
        if ended:
            break
    return walk.best if walk.counts[_SOLUTIONS] else None


def _entries(program: WholeProgram) -> _Entries:
    """The program row by row."""
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
        _owners(program)[order],
        program.values[order],
        size * _SLACK,
        1.0 / np.where(largest > 0.0, largest, 1.0),
    )


def _owners(program: WholeProgram) -> Ints:
    """Of each entry its column."""
    return np.repeat(np.arange(len(program.costs)), np.diff(program.starts))


def _begin(program: WholeProgram, start: Ints, weights: Floats, target: float, seed: int) -> _Walk:
    """A search before its first step."""
    count, num_rows = len(program.costs), len(program.lower)
    amounts = start.astype(np.int64).copy()
    sums = np.bincount(program.rows, program.values * amounts[_owners(program)], minlength=num_rows)
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
def _go_on(
    program: WholeProgram, entries: _Entries, walk: _Walk, room: float, step: float, bound: float, steps: int
) -> bool:
    """Take so many steps; whether a solution has been found after which none within the bound could come.

    Parameters
    ----------
    room
        What is left below the target before a column enters: the least cost of one, infinite if none costs anything.
    """
    sums, counts = walk.sums, walk.counts
    _list_used(walk)
    for _ in range(steps):
        counts[_STEP] += 1
        _make_room(program, walk, room)
        row = _draw_violated(program, entries, walk)
        violated = False
        if row >= 0 or sums[_COSTS] > sums[_TARGET]:
            if row >= 0:
                move = _best_mending(program, entries, walk, row)
            else:  # every row holds, and what is missing is worth
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
    """List the columns that are used, by rising numbers."""
    walk.counts[_USED] = 0
    for j in range(len(walk.amounts)):
        walk.places[j] = -1
        if walk.amounts[j] > 0:
            _list(walk, j)


@folded
def _make_room(program: WholeProgram, walk: _Walk, room: float) -> None:
    """Let columns leave until there is room for one more, those first that violate least for what they save."""
    while walk.sums[_COSTS] > walk.sums[_TARGET] - room and room < np.inf:
        move = _best_saving(program, walk, walk.used, walk.counts[_USED], -1.0)
        if move.column < 0:
            break
        _carry_out(program, walk, move.column, move.way)


@folded
def _best_saving(program: WholeProgram, walk: _Walk, columns: Ints, count: int, way: float) -> _Move:
    """The move of one of the first ``count`` columns that gains most for each unit of costs that it saves."""
    best = _Move(whole(-1), way, -np.inf, whole(0))
    for k in range(count):
        j = columns[k]
        saved = -way * program.costs[j]
        if saved > 0.0 and _is_free(program, walk, j, way):
            best = _better(best, j, way, _gain(program, walk, j, way) / saved, walk.state)
    return best


@folded
def _best_mending(program: WholeProgram, entries: _Entries, walk: _Walk, row: int) -> _Move:
    """The move that mends most of a violated row for each unit of costs."""
    wanted = 1.0 if walk.activity[row] < program.lower[row] else -1.0
    best = _Move(whole(-1), 1.0, -np.inf, whole(0))
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
    """The better one of the best move so far and another; of those that gain as much, each with the same chance."""
    if gain > best.gain:
        return _Move(j, way, gain, whole(1))
    if gain == best.gain:
        ties = best.ties + 1
        if draw(state, ties) == 0:
            return _Move(j, way, gain, ties)
        return _Move(best.column, best.way, gain, ties)
    return best


@folded
def _is_free(program: WholeProgram, walk: _Walk, j: int, way: float) -> bool:
    """Whether a column may enter (1) or leave (-1)."""
    now = walk.counts[_STEP]
    if way > 0.0:
        return bool(walk.until[0, j] <= now and walk.amounts[j] + 1.0 <= program.most[j])
    return bool(walk.amounts[j] > 0 and walk.until[1, j] <= now)


@folded
def _gain(program: WholeProgram, walk: _Walk, j: int, way: float) -> float:
    """By how much the weighted violation falls if a column enters (1) or leaves (-1)."""
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
def _carry_out(program: WholeProgram, walk: _Walk, j: int, way: float) -> None:
    """Let a column enter (1) or leave (-1); for some steps it does not move back."""
    now = walk.counts[_STEP]
    walk.amounts[j] += int(way)
    walk.sums[_COSTS] += way * program.costs[j]
    for e in range(program.starts[j], program.starts[j + 1]):
        walk.activity[program.rows[e]] += way * program.values[e]
    if way > 0.0:
        walk.until[1, j] = now + 2 + draw(walk.state, whole(8))
        if walk.amounts[j] == 1:
            _list(walk, j)
    else:
        walk.until[0, j] = now + 2 + draw(walk.state, whole(3))
        if walk.amounts[j] == 0:
            _unlist(walk, j)


@folded
def _list(walk: _Walk, j: int) -> None:
    """Put a column among those that are used."""
    walk.used[walk.counts[_USED]], walk.places[j] = j, walk.counts[_USED]
    walk.counts[_USED] += 1


@folded
def _unlist(walk: _Walk, j: int) -> None:
    """Take a column out of those that are used; the last one takes its place."""
    walk.counts[_USED] -= 1
    last = walk.used[walk.counts[_USED]]
    walk.used[walk.places[j]], walk.places[last] = last, walk.places[j]
    walk.places[j] = -1


@folded
def _is_violated(program: WholeProgram, entries: _Entries, walk: _Walk, i: int) -> bool:
    activity, slack = walk.activity[i], entries.slack[i]
    return bool(activity < program.lower[i] - slack or activity > program.upper[i] + slack)


@folded
def _draw_violated(program: WholeProgram, entries: _Entries, walk: _Walk) -> int:
    """A violated row, all with the same chance; -1 if there is none."""
    row, violated = whole(-1), 0
    for i in range(len(program.lower)):
        if _is_violated(program, entries, walk, i):
            violated += 1
            if draw(walk.state, violated) == 0:
                row = i
    return row


@folded
def _weigh_violated(program: WholeProgram, entries: _Entries, walk: _Walk) -> bool:
    """Let each violated row weigh more; whether there is one."""
    found = False
    for i in range(len(program.lower)):
        if _is_violated(program, entries, walk, i):
            found = True
            walk.weights[i] += entries.weights[i]
    return found
