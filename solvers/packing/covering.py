r"""Whether some of the given sets cover all items at a price: depth first, by what a choice wastes.

    Σ_j c_j x_j ≤ target,    Σ_{j with i} x_j ≥ 1 for each item i,    x_j = 0 or 1

Any values π ≥ 0 of the items make waste of whatever a cover pays beyond them:

    Σ_j c_j x_j - Σ_i π_i = Σ_j (c_j - Σ_{i in j} π_i) x_j + Σ_i π_i (Σ_{j with i} x_j - 1),

the reduced costs of its sets and the values of what it covers again.  With the values of a good dual solution the
target leaves little to waste, and a set that overlaps with the chosen ones wastes much: few fit.  The item that fewest
of them hold is covered next, by each in turn, those that waste least first; what one of them was tried for in vain is
not tried again beside the next.  Before that, values are raised as far as no set that fits gets a negative reduced cost
(dual ascent), which leaves less to waste.

Costs and values are whole numbers, so that no sum is rounded.

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

Ints = NDArray[np.int64]

LARGEST_SUM = 2**62

_WORK = 5_000_000
"""Entries of sets that are looked at between two looks at the clock."""


@dataclass(frozen=True)
class Cover:
    """What a search for a cover has found.

    Attributes
    ----------
    chosen
        Numbers of the sets of a cover within the target; empty if there is none, or none was found.
    found, finished
        Whether there is one, and whether the search has come to its end: if so, and nothing was found, there is none.
    """

    chosen: Ints
    found: bool
    finished: bool


class CoverSearch(NamedTuple):
    """A search that can be interrupted and goes on where it was.

    Attributes
    ----------
    starts, items
        The items of each set.
    values
        Of the items at each level; -1 where an item is covered.
    fitting, waste, counts
        The sets that fit at each level, what each wastes if it is chosen, and how many these are.
    budget
        What may be wasted from each level on.
    options, num_options, place
        Which of the fitting sets are tried at each level, how many, and which comes next (-1: the level is new).
    chosen
        The set included at each level.
    state
        The level, whether a cover has been found, and how many entries have been looked at.
    first, sets, order
        Memory: of each item, the fitting sets that hold it, and items by how many these are.
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
    """A cover of all items that costs at most ``target``, or that there is none.

    Parameters
    ----------
    starts, items
        Set j holds ``items[starts[j]:starts[j + 1]]``, none of them twice.
    costs
        Of the sets, whole numbers of any sign.
    values
        Of the items, whole numbers from 0: the nearer to an optimal dual solution, the faster.
    target
        A whole number.
    work
        The search ends after looking at about so many entries of sets, even if it has found nothing.
    expired
        And when the answer is yes.

    Raises
    ------
    ArrayError
        If the arguments are not of these kinds, or so large that sums may pass 2^62.
    """
    values = as_integers(values, "values", low=0)
    n = len(values)
    costs = as_integers(costs, "costs")
    items = as_indices(items, "items", upper=max(n, 1))
    starts = as_offsets(starts, "starts", total=len(items))
    if len(starts) != len(costs) + 1:
        raise ArrayError(f"starts: expected one more than there are costs, {len(costs) + 1}, got {len(starts)}")
    target = as_integer(target, "target", low=-LARGEST_SUM, high=LARGEST_SUM)
    size = sum(map(abs, costs.tolist())) + (len(costs) + 1) * max(values.tolist(), default=0) * max(n, 1)
    if size >= LARGEST_SUM:
        raise ArrayError("costs and values: expected sums below 2^62")
    owners = np.repeat(np.arange(len(costs)), np.diff(starts))
    reduced = costs.astype(np.int64)
    np.subtract.at(reduced, owners, values[items])
    # What sets of negative reduced cost could give back is added to what may be wasted: a relaxation, checked below.
    budget = target - sum(values.tolist()) - int(np.minimum(reduced, 0).sum())
    search = _begin(starts.astype(np.int64), items, values, np.maximum(reduced, 0), budget)
    spent, finished = 0, False
    while not finished and spent < work and not expired():
        finished = bool(go_on(search, min(_WORK, work - spent)))
        spent = int(search.state[2])
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
def go_on(search: CoverSearch, work: int) -> bool:
    """Look at so many entries more; whether a cover has been found, or the search has come to its end."""
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
    """Raise values, drop what does not fit any more, and say what is tried; False if nothing can be."""
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
    """List the fitting sets that hold each item; how many items are left, -1 if no set holds one of these."""
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
    """Raise the values of items in turn, each as far as no set wastes less than nothing (dual ascent)."""
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
    """List the fitting sets with the item that fewest of them hold, by what they waste; False if there are none."""
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
    """Go down to the next level with a set included, which is not tried again at this one."""
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
        j, fresh = search.fitting[level, k], False
        for e in range(starts[j], starts[j + 1]):
            i = items[e]
            if below[i] >= 0:
                fresh = True
            elif values[i] > 0:
                waste += values[i]
        looked += starts[j + 1] - starts[j]
        if fresh and waste <= budget:
            search.fitting[level + 1, count], search.waste[level + 1, count] = j, waste
            count += 1
    search.state[2] += looked + search.counts[level]
    search.counts[level + 1], search.budget[level + 1] = count, budget
