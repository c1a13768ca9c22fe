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

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.graphs.bits import draw, seeded
from colgen.solvers.kernel_cache import njit
from colgen.solvers.literals import whole
from colgen.solvers.stopping import Expired, never
from colgen.solvers.tiers import tiered

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_CHUNK = 1 << 14
"""Steps between two looks at the clock."""

_FORGET = 1 << 10
"""Every so many steps the weights of rows come nearer to their first values."""

_SLACK = 2.0**-30
"""A row holds to within this, relative to its size."""


def exchange(
    starts: Ints,
    rows: Ints,
    values: Floats,
    costs: Floats,
    lower: Floats,
    upper: Floats,
    most: Floats,
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
    starts, rows, values
        The columns in compressed form.
    costs, most
        Of each column, and how often it may be used at most.
    lower, upper
        Sides of the rows, infinite where there is none.
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
    count, num_rows = len(costs), len(lower)
    size = np.ones(num_rows)
    for side in (lower, upper):
        finite = np.isfinite(side)
        size[finite] = np.maximum(size[finite], np.abs(side[finite]))
    largest = np.zeros(num_rows)
    np.maximum.at(largest, rows, np.abs(values))
    owners = np.repeat(np.arange(count), np.diff(starts))
    order = np.argsort(rows, kind="stable")
    by_row = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=num_rows))]).astype(np.int64)
    members = owners[order].astype(np.int64)
    amounts = values[order]
    first = 1.0 / np.where(largest > 0.0, largest, 1.0)
    x = start.astype(np.int64).copy()
    activity = np.bincount(rows, values * x[owners], minlength=num_rows).astype(np.float64)
    best = np.zeros(count, dtype=np.int64)
    # Costs so far, the target, whether a solution is known, the number of the step.
    numbers = np.array([float(costs @ x), target, 0.0, 0.0])
    weights, until = first.copy(), np.zeros((2, count), dtype=np.int64)
    state = seeded(seed)
    done = 0
    while done < steps and not expired():
        ended = _exchange(
            starts, rows, values, costs, lower, upper, size * _SLACK, most, by_row, members, amounts, first, weights,
            until, x, activity, best, numbers, step, bound, min(_CHUNK, steps - done), state,
        )  # fmt: skip
        done += _CHUNK
        if ended:
            break
    return best if numbers[2] else None


@tiered
@njit(cache=True)
def _exchange(
    starts: Ints,
    rows: Ints,
    values: Floats,
    costs: Floats,
    lower: Floats,
    upper: Floats,
    slack: Floats,
    most: Floats,
    by_row: Ints,
    members: Ints,
    amounts: Floats,
    first: Floats,
    weights: Floats,
    until: Ints,
    x: Ints,
    activity: Floats,
    best: Ints,
    numbers: Floats,
    step: float,
    bound: float,
    steps: int,
    state: Ints,
) -> bool:
    n, m = len(costs), len(lower)
    used = np.empty(n, dtype=np.int64)
    place = np.full(n, -1, dtype=np.int64)
    length = 0
    cheapest = np.inf
    for j in range(n):
        if costs[j] > 0.0:
            cheapest = min(cheapest, costs[j])
        if x[j] > 0:
            used[length] = j
            place[j] = length
            length += 1
    for _ in range(steps):
        numbers[3] += 1.0
        now = int(numbers[3])
        # Room for one more column.
        while numbers[0] > numbers[1] - cheapest * (1.0 - 1e-9) and cheapest < np.inf:
            leaving, least, ties = -1, np.inf, 0
            for k in range(length):
                j = used[k]
                if costs[j] <= 0.0 or until[1, j] > now:
                    continue
                loss = _change(starts, rows, values, lower, upper, weights, activity, j, -1.0) / costs[j]
                if loss < least:
                    leaving, least, ties = j, loss, 1
                elif loss == least:
                    ties += 1
                    if draw(state, ties) == 0:
                        leaving = j
            if leaving < 0:
                break
            x[leaving] -= 1
            numbers[0] -= costs[leaving]
            until[0, leaving] = now + 2 + draw(state, whole(3))
            for e in range(starts[leaving], starts[leaving + 1]):
                activity[rows[e]] -= values[e]
            if x[leaving] == 0:
                length -= 1
                moved = used[length]
                used[place[leaving]] = moved
                place[moved] = place[leaving]
                place[leaving] = -1
        # A violated row, all as likely.
        row, violated = -1, 0
        for i in range(m):
            if activity[i] < lower[i] - slack[i] or activity[i] > upper[i] + slack[i]:
                violated += 1
                if draw(state, violated) == 0:
                    row = i
        if row >= 0:
            wanted = 1.0 if activity[row] < lower[row] else -1.0
            moving, direction, worth, ties = -1, 1.0, -np.inf, 0
            for e in range(by_row[row], by_row[row + 1]):
                j = members[e]
                way = wanted if amounts[e] > 0.0 else -wanted
                if way > 0.0:
                    if until[0, j] > now or x[j] + 1.0 > most[j]:
                        continue
                elif x[j] == 0 or until[1, j] > now:
                    continue
                gain = -_change(starts, rows, values, lower, upper, weights, activity, j, way)
                price = max(way * costs[j], 0.0)
                if price > 0.0:
                    gain = gain / price if gain > 0.0 else gain * price
                if gain > worth:
                    moving, direction, worth, ties = j, way, gain, 1
                elif gain == worth:
                    ties += 1
                    if draw(state, ties) == 0:
                        moving, direction = j, way
            if moving >= 0:
                x[moving] += int(direction)
                numbers[0] += direction * costs[moving]
                if direction > 0.0:
                    until[1, moving] = now + 2 + draw(state, whole(8))
                else:
                    until[0, moving] = now + 2 + draw(state, whole(3))
                for e in range(starts[moving], starts[moving + 1]):
                    activity[rows[e]] += direction * values[e]
                if direction > 0.0 and x[moving] == 1:
                    used[length] = moving
                    place[moving] = length
                    length += 1
                elif direction < 0.0 and x[moving] == 0:
                    length -= 1
                    other = used[length]
                    used[place[moving]] = other
                    place[other] = place[moving]
                    place[moving] = -1
            violated = 0
            for i in range(m):
                if activity[i] < lower[i] - slack[i] or activity[i] > upper[i] + slack[i]:
                    violated += 1
                    weights[i] += first[i]
        elif numbers[0] > numbers[1]:
            # Every row holds, and what is missing is worth: the column that gains most for what it violates enters.
            moving, worth, ties = -1, -np.inf, 0
            for j in range(n):
                if costs[j] >= 0.0 or until[0, j] > now or x[j] + 1.0 > most[j]:
                    continue
                gain = -_change(starts, rows, values, lower, upper, weights, activity, j, 1.0) / -costs[j]
                if gain > worth:
                    moving, worth, ties = j, gain, 1
                elif gain == worth:
                    ties += 1
                    if draw(state, ties) == 0:
                        moving = j
            if moving < 0:
                continue
            x[moving] += 1
            numbers[0] += costs[moving]
            until[1, moving] = now + 2 + draw(state, whole(8))
            for e in range(starts[moving], starts[moving + 1]):
                activity[rows[e]] += values[e]
            if x[moving] == 1:
                used[length] = moving
                place[moving] = length
                length += 1
            violated = 0
            for i in range(m):
                if activity[i] < lower[i] - slack[i] or activity[i] > upper[i] + slack[i]:
                    violated += 1
                    weights[i] += first[i]
        if violated == 0 and numbers[0] <= numbers[1]:
            for j in range(n):
                best[j] = x[j]
            numbers[2] = 1.0
            numbers[1] = numbers[0] - step
            if numbers[1] < bound:
                return True
        if now % _FORGET == 0:
            for i in range(m):
                weights[i] = first[i] + 0.7 * (weights[i] - first[i])
    return False


@njit(cache=True)
def _change(
    starts: Ints,
    rows: Ints,
    values: Floats,
    lower: Floats,
    upper: Floats,
    weights: Floats,
    activity: Floats,
    j: int,
    way: float,
) -> float:
    """By how much the weighted violation grows if a column enters (1) or leaves (-1)."""
    total = 0.0
    for e in range(starts[j], starts[j + 1]):
        i = rows[e]
        before = activity[i]
        after = before + way * values[e]
        low, high = lower[i], upper[i]
        change = max(low - after, 0.0) + max(after - high, 0.0) - max(low - before, 0.0) - max(before - high, 0.0)
        total += weights[i] * change
    return total
