r"""Several zero-one knapsacks at once, and the best values with and without each item.

    max Σ_i p_ji x_i    subject to    Σ_i w_ji x_i ≤ C_j,  x binary,    for each knapsack j.

The table over items and loads, n C_j cells, is filled row by row, which processors do fastest.  If only the best set is
needed, a byte per cell is kept.  Use it for moderate capacities.  For large capacities with few reachable sums of
sizes, :mod:`colgen.solvers.packing.knapsack` is better.

Sources: R. Bellman, *Dynamic Programming* (1957).  For items forced in, by tables from both ends: H. Kellerer, U.
Pferschy, D. Pisinger, *Knapsack Problems* (2004), section 2.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_floats, as_integers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, overwrite
from colgen.solvers.stopping import Look, look_away

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

LARGEST_TABLE = 1 << 26
"""Maximum number of cells of a knapsack's table: 512 MiB."""

NEVER = -np.inf
"""The value of a set that does not exist."""


def best_sets(
    profits: ArrayLike, sizes: ArrayLike, capacities: ArrayLike, *, look: Look = look_away
) -> tuple[Floats, Mask]:
    """Return the best set of items for each knapsack.

    Parameters
    ----------
    profits : (knapsacks, items) array; -inf for forbidden items
    sizes : (knapsacks, items) array of nonnegative integers
    capacities : nonnegative integers, one per knapsack

    Returns
    -------
    values : values of the best sets, 0 for the empty set
    chosen : (knapsacks, items) mask

    Raises
    ------
    ArrayError
        If a number is not an integer, out of range, or NaN; or a table exceeds :data:`LARGEST_TABLE`.
    """
    gains, weights, room = validate(profits, sizes, capacities)
    values, chosen = np.zeros(len(gains)), np.zeros(gains.shape, dtype=np.bool_)
    for first, last in _portions(room, gains.shape[1]):
        look()
        _best_sets(gains[first:last], weights[first:last], room[first:last], values[first:last], chosen[first:last])
    return values, chosen


def best_with_each(
    profits: ArrayLike, sizes: ArrayLike, capacities: ArrayLike, *, look: Look = look_away
) -> tuple[Floats, Floats, Floats]:
    """Return the best value of each knapsack, and its best values with and without each item.

    The latter two have shape (knapsacks, items); values with an item that cannot be packed are :data:`NEVER`.  The
    arguments are those of :func:`best_sets`.
    """
    gains, weights, room = validate(profits, sizes, capacities)
    values, inside, outside = np.zeros(len(gains)), np.empty(gains.shape), np.empty(gains.shape)
    for first, last in _portions(room, gains.shape[1]):
        look()
        part = slice(first, last)
        _best_with_each(gains[part], weights[part], room[part], values[part], inside[part], outside[part])
    return values, inside, outside


def validate(profits: ArrayLike, sizes: ArrayLike, capacities: ArrayLike) -> tuple[Floats, Ints, Ints]:
    """Return validated profits, sizes and capacities as arrays."""
    gains = as_floats(profits, "profits", shape=(None, None), minus_infinity=True)
    weights = as_integers(sizes, "sizes", shape=gains.shape, low=0)
    room = as_integers(capacities, "capacities", shape=(len(gains),), low=0)
    largest = int(room.max(initial=0))
    if (largest + 1) * (gains.shape[1] + 1) > LARGEST_TABLE:
        raise ArrayError(
            f"capacities: expected tables of at most {LARGEST_TABLE:,} cells; a capacity of {largest:,} with "
            f"{gains.shape[1]:,} items needs more"
        )
    return gains, weights, room


_WORK = 1 << 25
"""Cells filled between two checks of the clock."""


def _portions(room: Ints, items: int) -> list[tuple[int, int]]:
    portions, first, work = [], 0, 0
    for j, capacity in enumerate(room.tolist()):
        work += (capacity + 1) * (items + 1)
        if work >= _WORK or j == len(room) - 1:
            portions.append((first, j + 1))
            first, work = j + 1, 0
    return portions


@inner
def better(inside, outside, profit, found):  # type: ignore[no-untyped-def]
    """Write the larger of ``inside + profit`` and ``outside`` entry by entry.  One index allows vectorisation."""
    for c in range(found.size):
        with_it, without = inside[c] + profit, outside[c]
        found[c] = with_it if with_it > without else without


@njit(cache=True, nogil=True, borrows=True)
def fill(profits, sizes, capacity, table):  # type: ignore[no-untyped-def]
    """Fill ``table[i, c]``: the best value of the first i items within load c."""
    table[0, : capacity + 1] = 0.0
    for i in range(len(profits)):
        w, p = sizes[i], profits[i]
        before, here = table[i, : capacity + 1], table[i + 1, : capacity + 1]
        if p <= 0.0 or w > capacity:
            overwrite(here, before)
            continue
        overwrite(here[:w], before[:w])
        better(before[: capacity + 1 - w], before[w:], p, here[w:])


@njit(cache=True, nogil=True, borrows=True)
def trace(sizes, capacity, table, chosen):  # type: ignore[no-untyped-def]
    """Read the best set from the table."""
    c = capacity
    for i in range(len(sizes) - 1, -1, -1):
        chosen[i] = table[i + 1, c] > table[i, c]
        if chosen[i]:
            c -= sizes[i]


@inner
def choose(inside, outside, profit, found, taken):  # type: ignore[no-untyped-def]
    """Do the same as :func:`better`, and mark in ``taken`` where ``inside + profit`` is larger.

    Bytes can be vectorised, too.
    """
    for c in range(found.size):
        with_it, without = inside[c] + profit, outside[c]
        found[c] = max(with_it, without)
        taken[c] = np.uint8(with_it > without)


@inner
def best_set(profits, sizes, capacity, rows, taken, items, chosen):  # type: ignore[no-untyped-def]
    """Return the value of one knapsack's best set.  Write the set to ``chosen``.

    Unlike a table of values, two rows and a byte per cell fit into a processor's own cache.  Processors then do not
    compete for memory.  Buffers have shapes (2, more than capacity) for ``rows``, (items, more than capacity) for
    ``taken``, of type ``uint8``, and (items,) for ``items``.
    """
    here, other, count = rows[0, : capacity + 1], rows[1, : capacity + 1], 0
    for c in range(capacity + 1):
        here[c] = 0.0
    for i in range(len(profits)):
        w, p = sizes[i], profits[i]
        chosen[i] = False
        if p <= 0.0 or w > capacity:
            continue
        overwrite(other[:w], here[:w])
        choose(here[: capacity + 1 - w], here[w:], p, other[w:], taken[count, w : capacity + 1])
        here, other = other, here
        items[count] = i
        count += 1
    c = capacity
    for k in range(count - 1, -1, -1):
        w = sizes[items[k]]
        if w <= c and taken[k, c]:
            chosen[items[k]] = True
            c -= w
    return here[capacity]


@njit(cache=True, nogil=True)
def _best_sets(profits, sizes, capacities, values, chosen):  # type: ignore[no-untyped-def]
    n, room = profits.shape[1], capacities.max() + 1
    rows, taken, items = np.empty((2, room)), np.empty((n, room), np.uint8), np.empty(n, np.int64)
    for j in range(len(profits)):
        values[j] = best_set(profits[j], sizes[j], capacities[j], rows, taken, items, chosen[j])


@njit(cache=True, nogil=True)
def _best_with_each(profits, sizes, capacities, values, inside, outside):  # type: ignore[no-untyped-def]
    n = profits.shape[1]
    table = np.empty((n + 1, capacities.max() + 1))
    for j in range(len(profits)):
        capacity = capacities[j]
        fill(profits[j], sizes[j], capacity, table)
        values[j] = table[n, capacity]
        # Best value of the items after i, by their capacity, from the other end.
        behind, further = np.zeros(capacity + 1), np.empty(capacity + 1)
        for i in range(n - 1, -1, -1):
            w, p = sizes[j, i], profits[j, i]
            best_in, best_out = NEVER, NEVER
            before = table[i, : capacity + 1]
            for c in range(capacity + 1):
                best_out = max(best_out, before[c] + behind[capacity - c])
            if w <= capacity and p > NEVER:
                for c in range(capacity + 1 - w):
                    best_in = max(best_in, before[c] + behind[capacity - w - c])
                best_in += p
            inside[j, i], outside[j, i] = best_in, best_out
            if p > 0.0 and w <= capacity:
                overwrite(further[:w], behind[:w])
                better(behind[: capacity + 1 - w], behind[w:], p, further[w:])
                behind, further = further, behind
