r"""Several zero-one knapsacks at once, and what the best set is worth with each item in it, or without.

    max Σ_i p_ji x_i    subject to    Σ_i w_ji x_i ≤ C_j,  x binary,    for each knapsack j.

The table over the items and all loads up to the capacity is filled item by item, a row at a time, which is what a
processor does fastest: n C_j cells, of which a byte is kept where only the best set is wanted.  It is for capacities of
moderate size; where those are large and few sums of sizes can be reached, :mod:`colgen.solvers.packing.knapsack` is the
better one.

Sources: R. Bellman, *Dynamic Programming* (1957); for items forced in, by tables from both ends, H. Kellerer,
U. Pferschy, D. Pisinger, *Knapsack Problems* (2004), section 2.3.
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
"""Cells of the table of one knapsack: half a gigabyte."""

NEVER = -np.inf
"""What a set is worth that there is not."""


def best_sets(
    profits: ArrayLike, sizes: ArrayLike, capacities: ArrayLike, *, look: Look = look_away
) -> tuple[Floats, Mask]:
    """The best set of items for each knapsack.

    Parameters
    ----------
    profits
        Shape (knapsacks, items); -inf for an item that a knapsack may not take.
    sizes
        Likewise; whole, not negative.
    capacities
        One a knapsack, whole, not negative.
    look
        Called before each knapsack; may raise.

    Returns
    -------
    values
        Of the best sets; the empty one is worth 0.
    chosen
        Shape (knapsacks, items).

    Raises
    ------
    ArrayError
        Where a number is not whole, out of range, or NaN; or a table would not fit into :data:`LARGEST_TABLE`.
    """
    gains, weights, room = checked(profits, sizes, capacities)
    values, chosen = np.zeros(len(gains)), np.zeros(gains.shape, dtype=np.bool_)
    for first, last in _portions(room, gains.shape[1]):
        look()
        _best_sets(gains[first:last], weights[first:last], room[first:last], values[first:last], chosen[first:last])
    return values, chosen


def best_with_each(
    profits: ArrayLike, sizes: ArrayLike, capacities: ArrayLike, *, look: Look = look_away
) -> tuple[Floats, Floats, Floats]:
    """What the best set of each knapsack is worth, with each item in it, and without it.

    Arguments are those of :func:`best_sets`.

    Returns
    -------
    values
        Of the best sets, one a knapsack.
    inside
        Shape (knapsacks, items): with the item in the set; :data:`NEVER` if it cannot be.
    outside
        Shape (knapsacks, items): without the item.
    """
    gains, weights, room = checked(profits, sizes, capacities)
    values, inside, outside = np.zeros(len(gains)), np.empty(gains.shape), np.empty(gains.shape)
    for first, last in _portions(room, gains.shape[1]):
        look()
        part = slice(first, last)
        _best_with_each(gains[part], weights[part], room[part], values[part], inside[part], outside[part])
    return values, inside, outside


def checked(profits: ArrayLike, sizes: ArrayLike, capacities: ArrayLike) -> tuple[Floats, Ints, Ints]:
    """Profits, sizes and capacities as arrays, refused where they are none or tables would be too large."""
    gains = as_floats(profits, "profits", shape=(None, None), minus_infinity=True)
    weights = as_integers(sizes, "sizes", shape=gains.shape, low=0)
    room = as_integers(capacities, "capacities", shape=(len(gains),), low=0)
    largest = int(room.max(initial=0))
    if (largest + 1) * (gains.shape[1] + 1) > LARGEST_TABLE:
        raise ArrayError(
            f"capacities: expected tables of at most {LARGEST_TABLE:,} cells, a capacity of {largest:,} with "
            f"{gains.shape[1]:,} items needs more"
        )
    return gains, weights, room


_WORK = 1 << 25
"""Cells that are filled between two looks at the clock."""


def _portions(room: Ints, items: int) -> list[tuple[int, int]]:
    """Knapsacks first to last of each portion of work."""
    portions, first, work = [], 0, 0
    for j, capacity in enumerate(room.tolist()):
        work += (capacity + 1) * (items + 1)
        if work >= _WORK or j == len(room) - 1:
            portions.append((first, j + 1))
            first, work = j + 1, 0
    return portions


@inner
def better(inside, outside, profit, found):  # type: ignore[no-untyped-def]
    """The better of ``inside + profit`` and ``outside``, entry by entry; with one index, so that it is vectorised."""
    for c in range(found.size):
        with_it, without = inside[c] + profit, outside[c]
        found[c] = with_it if with_it > without else without


@njit(cache=True, nogil=True, borrows=True)
def fill(profits, sizes, capacity, table):  # type: ignore[no-untyped-def]
    """Fill ``table[i, c]``: the best of the first i items within load c."""
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
    """Read the best set off the table."""
    c = capacity
    for i in range(len(sizes) - 1, -1, -1):
        chosen[i] = table[i + 1, c] > table[i, c]
        if chosen[i]:
            c -= sizes[i]


@inner
def choose(inside, outside, profit, found, taken):  # type: ignore[no-untyped-def]
    """As :func:`better`; ``taken`` hears where ``inside + profit`` is: bytes, for they are vectorised too."""
    for c in range(found.size):
        with_it, without = inside[c] + profit, outside[c]
        found[c] = max(with_it, without)
        taken[c] = np.uint8(with_it > without)


@inner
def best_set(profits, sizes, capacity, rows, taken, items, chosen):  # type: ignore[no-untyped-def]
    """What the best set of one knapsack is worth; ``chosen`` becomes the set.

    Two rows of values and a byte a cell, instead of a table of values, stay in a processor's own cache; so knapsacks on
    several processors do not wait for one memory.

    Parameters
    ----------
    rows, taken, items
        Room to work in, of shapes (2, more than capacity), (items, more than capacity) and (items,); ``taken`` of type
        ``uint8``.
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
        # What the items behind i make of what is left: by the room that the items before it use, from the other end.
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
