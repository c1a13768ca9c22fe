r"""Set covering at a limited cost: depth-first search by waste.

    Σ_j c_j x_j ≤ target,    Σ_{j with i} x_j ≥ 1 for each item i,    x_j = 0 or 1

For any item values π ≥ 0, the *waste* of a cover is its cost above them.  It is the reduced costs of its sets plus the
values of items covered repeatedly:

    Σ_j c_j x_j - Σ_i π_i = Σ_j (c_j - Σ_{i in j} π_i) x_j + Σ_i π_i (Σ_{j with i} x_j - 1).

With a good dual solution, the target permits little waste.  Sets that overlap the chosen ones waste much, so few fit.
The item in fewest fitting sets is covered next, by each of these sets in order of waste.  A set that failed is excluded
from the following branches.  Before branching, dual ascent raises the values as long as no fitting set gets a negative
reduced cost, which leaves less to waste.

Costs and values are integers, so sums are exact.

Sources: E. Balas, A. Ho, *Set covering algorithms using cutting planes, heuristics, and subgradient optimization: a
computational study*, Mathematical Programming Study 12 (1980), for the ascent and the branching.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_indices, as_integer, as_integers, as_offsets
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, overwrite
from colgen.solvers.stopping import Expired, never
from colgen.solvers.work import ENTRY, add_work

Ints = NDArray[np.int64]

LARGEST_SUM = 2**62

_WORK = 5_000_000
"""Entries of sets examined between two checks of the clock."""


@dataclass(frozen=True)
class Cover:
    """The result of a search.

    ``chosen`` has the numbers of the sets of a cover within the target.  If the search is ``finished`` without a cover,
    none exists.
    """

    chosen: Ints
    found: bool
    finished: bool


class CoverSearch(NamedTuple):
    """State of an interruptible search.

    * ``starts``, ``items``: the items of each set.
    * ``values``: item values at each level; -1 for covered items.
    * ``fitting``, ``waste``, ``counts``: the sets that fit at each level, their waste, and their number.
    * ``budget``: permitted waste from each level on.
    * ``options``, ``num_options``: the sets to try at each level, and their number.
    * ``place``: the next set to try at each level (-1: a new level).
    * ``chosen``: the set included at each level.
    * ``state``: the level, whether a cover was found, and the number of examined entries.
    * ``first``, ``sets``, ``held``: buffers: the fitting sets of each item, and their number.
    """

    starts: Ints
    items: Ints
    values: Ints
    fitting: Ints
    waste: Ints
    counts: Ints
    budget: Ints
    options: Ints
    num_options: Ints
    place: Ints
    chosen: Ints
    state: Ints
    first: Ints
    sets: Ints
    held: Ints


def cover(
    starts: ArrayLike,
    items: ArrayLike,
    costs: ArrayLike,
    values: ArrayLike,
    target: int,
    *,
    work: int = 10**9,
    expired: Expired = never,
) -> Cover:
    """Return a cover of all items with cost at most ``target``, or the result that none exists.

    Parameters
    ----------
    starts : set j has the items ``items[starts[j]:starts[j + 1]]``
    items : items of the sets, without repetition within a set
    costs : integers of any sign, one per set
    values : nonnegative integers, one per item; values near an optimal dual solution are fastest
    work : approximate limit on the entries of sets examined

    Raises
    ------
    ArrayError
        If the arguments are invalid, or sums may exceed 2^62.
    """
    values = as_integers(values, "values", low=0)
    n = len(values)
    costs = as_integers(costs, "costs")
    items = as_indices(items, "items", upper=max(n, 1))
    starts = as_offsets(starts, "starts", total=len(items))
    if len(starts) != len(costs) + 1:
        raise ArrayError(f"starts: expected {len(costs) + 1} entries, one more than costs, got {len(starts)}")
    target = as_integer(target, "target", low=-LARGEST_SUM, high=LARGEST_SUM)
    size = sum(map(abs, costs.tolist())) + (len(costs) + 1) * max(values.tolist(), default=0) * max(n, 1)
    if size >= LARGEST_SUM:
        raise ArrayError("costs and values: expected sums below 2^62")
    owners = np.repeat(np.arange(len(costs)), np.diff(starts))
    reduced = costs.astype(np.int64)
    np.subtract.at(reduced, owners, values[items])
    # Negative reduced costs are added to the permitted waste: a relaxation, verified below.
    budget = target - sum(values.tolist()) - int(np.minimum(reduced, 0).sum())
    search = _begin(starts.astype(np.int64), items, values, np.maximum(reduced, 0), budget)
    spent, finished = 0, False
    while not finished and spent < work and not expired():
        finished = bool(continue_search(search, min(_WORK, work - spent)))
        spent = int(search.state[2])
    add_work(ENTRY * spent)
    if not search.state[1]:
        return Cover(np.zeros(0, dtype=np.int64), False, finished)
    chosen = np.sort(search.chosen[: search.state[0]])
    if int(costs[chosen].sum()) > target:
        return Cover(np.zeros(0, dtype=np.int64), False, False)
    return Cover(chosen, True, True)


def _begin(starts: Ints, items: Ints, values: Ints, waste: Ints, budget: int) -> CoverSearch:
    n, m = len(values), len(starts) - 1
    levels = min(n, m) + 1
    search = CoverSearch(
        starts,
        items,
        np.zeros((levels, n), dtype=np.int64),
        np.zeros((levels, m), dtype=np.int64),
        np.zeros((levels, m), dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.zeros((levels, m), dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.full(levels, -1, dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
        np.zeros(n + 1, dtype=np.int64),
        np.zeros(len(items), dtype=np.int64),
        np.zeros(n, dtype=np.int64),
    )
    search.values[0] = values
    fits = np.flatnonzero((waste <= budget) & (np.diff(starts) > 0))
    search.fitting[0, : len(fits)], search.waste[0, : len(fits)] = fits, waste[fits]
    search.counts[0], search.budget[0] = len(fits), budget
    return search


@njit(cache=True)
def continue_search(search: CoverSearch, work: int) -> bool:
    """Examine ``work`` more entries.  Return whether a cover was found or the search is completed."""
    state, level = search.state, search.state[0]
    limit = state[2] + work
    while level >= 0 and state[2] < limit:
        if search.place[level] == -1:
            if search.budget[level] < 0 or not _prepare(search, level):
                level -= 1
                continue
            if search.num_options[level] == 0:  # everything is covered
                state[0], state[1] = level, 1
                return True
            search.place[level] = 0
        k = search.place[level]
        if k == search.num_options[level]:
            search.place[level] = -1
            level -= 1
            continue
        search.place[level] = k + 1
        _choose(search, level, search.options[level, k])
        level += 1
        search.place[level] = -1
    state[0] = level
    return bool(level < 0)


@njit(cache=True, no_cpython_wrapper=True)
def _prepare(search: CoverSearch, level: int) -> bool:
    """Raise values, drop sets that no longer fit, and list the sets to try.  Return whether any remain."""
    left = _list_holders(search, level)
    if left <= 0:
        search.num_options[level] = 0
        return left == 0
    _raise_values(search, level, np.argsort(search.first[1:] - search.first[:-1]))
    if search.budget[level] < 0:
        return False
    return _list_options(search, level)


@inner
def _list_holders(search: CoverSearch, level: int) -> int:
    """List the fitting sets of each item.  Return the number of uncovered items, -1 if one has no set."""
    starts, items, values = search.starts, search.items, search.values[level]
    fitting, held, first = search.fitting[level], search.held, search.first
    n, count = len(values), search.counts[level]
    held[:] = 0
    for k in range(count):
        for e in range(starts[fitting[k]], starts[fitting[k] + 1]):
            held[items[e]] += 1
    first[0] = 0
    left = 0
    for i in range(n):
        if values[i] >= 0:
            left += 1
            if held[i] == 0:
                return -1
        first[i + 1] = first[i] + held[i]
    if left > 0:
        for k in range(count):
            for e in range(starts[fitting[k]], starts[fitting[k] + 1]):
                i = items[e]
                held[i] -= 1
                search.sets[first[i] + held[i]] = k
        search.state[2] += 4 * first[n] + n
    return left


@inner
def _raise_values(search: CoverSearch, level: int, order: Ints) -> None:
    """Raise item values in order while the waste of all sets stays nonnegative (dual ascent)."""
    values, waste, first, sets = search.values[level], search.waste[level], search.first, search.sets
    for i in order:
        if values[i] < 0:
            continue
        least = waste[sets[first[i]]]
        for e in range(first[i] + 1, first[i + 1]):
            least = min(least, waste[sets[e]])
        if least > 0:
            values[i] += least
            search.budget[level] -= least
            for e in range(first[i], first[i + 1]):
                waste[sets[e]] -= least


@inner
def _list_options(search: CoverSearch, level: int) -> bool:
    """List the fitting sets of the item in fewest of them, by waste.  Return whether any exist."""
    values, waste, first, sets = search.values[level], search.waste[level], search.first, search.sets
    budget = search.budget[level]
    best, fewest = -1, search.counts[level] + 1
    for i in range(len(values)):
        if values[i] < 0:
            continue
        number = 0
        for e in range(first[i], first[i + 1]):
            if waste[sets[e]] <= budget:
                number += 1
        if number < fewest:
            best, fewest = i, number
    if fewest == 0:
        return False
    options, number = search.options[level], 0
    for e in range(first[best], first[best + 1]):
        k = sets[e]
        if waste[k] > budget:
            continue
        at = number
        while at > 0 and waste[options[at - 1]] > waste[k]:
            options[at] = options[at - 1]
            at -= 1
        options[at] = k
        number += 1
    search.num_options[level] = number
    return True


@njit(cache=True, no_cpython_wrapper=True)
def _choose(search: CoverSearch, level: int, option: int) -> None:
    """Include a set, exclude it at this level, and write the next level."""
    starts, items = search.starts, search.items
    values, below = search.values[level], search.values[level + 1]
    chosen = search.fitting[level, option]
    search.chosen[level] = chosen
    budget = search.budget[level] - search.waste[level, option]
    search.waste[level, option] = LARGEST_SUM
    overwrite(below, values)
    for e in range(starts[chosen], starts[chosen + 1]):
        below[items[e]] = -1
    count, looked = 0, 0
    for k in range(search.counts[level]):
        waste = search.waste[level, k]
        if waste > budget:
            continue
        j, useful = search.fitting[level, k], False
        for e in range(starts[j], starts[j + 1]):
            i = items[e]
            if below[i] >= 0:
                useful = True
            elif values[i] > 0:
                waste += values[i]
        looked += starts[j + 1] - starts[j]
        if useful and waste <= budget:
            search.fitting[level + 1, count], search.waste[level + 1, count] = j, waste
            count += 1
    search.state[2] += looked + search.counts[level]
    search.counts[level + 1], search.budget[level + 1] = count, budget
