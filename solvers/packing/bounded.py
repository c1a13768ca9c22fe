r"""The bounded knapsack problem over a capacity that is too large for a table of its states.

    max Σ_i Σ_c profit(i, position of the c-th copy of i)    subject to    Σ_i w_i a_i ≤ C,  0 ≤ a_i ≤ b_i integer.

Pieces are placed from position 0 in the order of the items.  A piece earns the profit of its item.  A few *paid arcs*
``(item, position)`` earn more or less, or are forbidden.

Two tables over a grid of the capacity replace the one over its states.  With widths rounded up to the grid, each
packing of the table fits: these packings are found first.  With widths rounded down, the table bounds each packing from
above.

If no packing of the first table exceeds the threshold much, a dynamic program over all positions finds the best ones.
It keeps one row of values, and a bit for each position and part: whether the part's pieces are taken.  The parts of an
item are 1, 2, 4, ... copies and a rest, or single copies if arcs of the item are paid.

Source: S. Martello, P. Toth, *Knapsack Problems: Algorithms and Computer Implementations* (1990), for bounded knapsacks
as 0/1 knapsacks over such parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_float, as_floats, as_indices, as_integer, as_integers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64, kernel, overwrite, quick
from colgen.solvers.packing.arc_values import NEVER
from colgen.solvers.packing.network import LARGEST_CAPACITY, Floats, Ints, NetworkTooLargeError
from colgen.solvers.stopping import Look, look_away

CELLS = 1 << 23
"""Items times grid points of a table, which then takes up to 64 MiB."""

_ENOUGH = 0.1
"""Share of the most that packings may earn above the threshold; with less, the dynamic program finds better ones."""

BITS = 1 << 33
"""Largest product of parts and positions, whose bits take 1 GiB."""

_BLOCK = 1 << 12
"""Positions between two comparisons with the best candidate, a multiple of 64."""


class PaidArcs(NamedTuple):
    """Arcs that earn ``earnings`` besides the profit of their item; ``NEVER``: forbidden.

    A piece of ``items[k]`` at ``positions[k]``.  No arc occurs twice.
    """

    items: ArrayLike
    positions: ArrayLike
    earnings: ArrayLike


NO_ARCS = PaidArcs((), (), ())


class BoundedPackings(NamedTuple):
    """Packings above a threshold, shape (packings, items), with their profits.

    No packing earns more than ``bound``, or than the threshold if that is larger.  If ``exact``, the best packing is
    among ``packings``, or none earns more than the threshold; else better ones may exist.
    """

    profits: Floats
    packings: Ints
    bound: float
    exact: bool


class _Items(NamedTuple):
    """The items in order, and the paid arcs by position: ``first_arc[i]:first_arc[i + 1]`` for item i."""

    profits: Floats
    widths: Ints
    copies: Ints
    first_arc: Ints
    positions: Ints
    earnings: Floats


def count_parts(widths: ArrayLike, copies: ArrayLike, capacity: int) -> int:
    """Return the number of parts 1, 2, 4, ... of all items' copies."""
    whole: Ints = as_integers(widths, "widths", shape=("items",), low=1)
    wanted: Ints = as_integers(copies, "copies", shape=whole.shape, low=0)
    fitting = np.minimum(wanted, as_integer(capacity, "capacity", low=0) // whole)
    return sum(int(number).bit_length() for number in fitting.tolist())


def bounded_packings(
    profits: ArrayLike,
    widths: ArrayLike,
    copies: ArrayLike,
    capacity: int,
    threshold: float,
    arcs: PaidArcs = NO_ARCS,
    *,
    rounded: bool = False,
    cells: int = CELLS,
    look: Look = look_away,
) -> BoundedPackings:
    """Return packings that earn more than a threshold, and an upper bound on what packings earn.

    Parameters
    ----------
    profits : one per item, in packing order
    widths, copies : w_i > 0 and b_i ≥ 0 for each item
    capacity : C ≥ 0, at most 2⁶²
    threshold : nonnegative profit that packings must exceed
    arcs : paid arcs
    rounded : whether to search only packings of widths rounded up
    cells : limit on items times grid points

    Raises
    ------
    ArrayError
        If a number is not an integer, out of range, or NaN.
    NetworkTooLargeError
        If parts times positions exceed :data:`BITS`.
    """
    gains = as_floats(profits, "profits", shape=("items",))
    whole: Ints = as_integers(widths, "widths", shape=gains.shape, low=1)
    wanted: Ints = as_integers(copies, "copies", shape=gains.shape, low=0)
    capacity = as_integer(capacity, "capacity", low=0, high=LARGEST_CAPACITY)
    threshold = as_float(threshold, "threshold", low=0.0)
    cells = as_integer(cells, "cells", low=1)
    items = _by_items(gains, whole, np.minimum(wanted, capacity // whole), arcs)
    m = len(gains)
    shift = 0
    while (m + 1) * ((capacity >> shift) + 1) > cells and capacity >> shift:
        shift += 1
    table = np.empty((m + 1, (capacity >> shift) + 1))
    look()
    _fill(items.profits, -(-whole >> shift), items.copies, table)
    found, bound = _packings_above(items, -(-whole >> shift), table, threshold), float(table[0, -1])
    if shift == 0 and not len(items.positions):
        return BoundedPackings(*found, bound, exact=True)
    look()
    _fill(items.profits, whole >> shift, items.copies, table)
    bound = float(table[0, -1]) + float(np.maximum(items.earnings, 0.0).sum())
    gain = float(found[0].max(initial=threshold)) - threshold
    if rounded or bound <= threshold or gain > _ENOUGH * (bound - threshold):
        return BoundedPackings(*found, bound, exact=bound <= threshold)
    return _best_by_item(items, capacity, threshold, look)


def _by_items(gains: Floats, widths: Ints, copies: Ints, arcs: PaidArcs) -> _Items:
    m = len(gains)
    owners = as_indices(arcs.items, "arcs.items", upper=max(m, 1))
    positions = as_integers(arcs.positions, "arcs.positions", shape=owners.shape, low=0)
    earnings = as_floats(arcs.earnings, "arcs.earnings", shape=owners.shape)
    order = np.lexsort((positions, owners))
    owners, positions, earnings = owners[order], positions[order], earnings[order]
    if ((np.diff(owners) == 0) & (np.diff(positions) == 0)).any():
        raise ArrayError("arcs: expected each arc at most once")
    return _Items(gains, widths, copies, np.searchsorted(owners, np.arange(m + 1)), positions, earnings)


def _packings_above(items: _Items, widths: Ints, table: Floats, threshold: float) -> tuple[Floats, Ints]:
    """Return the best packing that begins with each item, where it earns more than the threshold."""
    m = len(widths)
    packings = np.zeros((m, m), np.int64)
    _trace_each(items.profits, widths, items.copies, table, threshold, packings)
    packings = packings[packings.any(axis=1)]
    earned = packings @ items.profits
    if len(items.positions):
        _pay_arcs(items, packings, earned)
    above = earned > threshold
    return earned[above], packings[above]


def _best_by_item(items: _Items, capacity: int, threshold: float, look: Look) -> BoundedPackings:
    """Return the best packing that ends with each item, where it earns more than the threshold."""
    m = len(items.profits)
    parts = _parts(items)
    words = (capacity + 64) // 64
    if len(parts) * 64 * words > BITS:
        raise NetworkTooLargeError(
            f"a knapsack of {m} items and capacity {capacity} has {len(parts)} parts: expected at most "
            f"{BITS} parts times positions"
        )
    taken = np.zeros((len(parts), words), np.uint64)
    # Positions that no packing ends at have a value below that of any packing.
    allowed = items.earnings > NEVER
    total = float(np.abs(items.profits) @ items.copies) + float(np.abs(items.earnings[allowed]).sum())
    items = items._replace(earnings=np.where(allowed, items.earnings, -4.0 * total))
    before, after = np.full(64 * words, -4.0 * total), np.full(64 * words, -4.0 * total)
    before[0] = 0.0
    best, starts = np.full(m, NEVER), np.zeros((m, 2), np.int64)
    for k, (i, copies) in enumerate(parts.tolist()):
        look()
        width, profit = int(items.widths[i]) * copies, float(items.profits[i]) * copies
        found = _take_part(before, after, width, profit, capacity, taken[k])
        if items.first_arc[i] < items.first_arc[i + 1]:
            found = _pay_part(i, items, before, after, capacity, taken[k])
        if found[0] > best[i]:
            best[i], starts[i] = found[0], (k, found[1])
        before, after = after, before
    above = np.flatnonzero(best > threshold)
    packings = np.zeros((len(above), m), np.int64)
    _trace_parts(parts, items.widths, taken, starts[above], packings)
    return BoundedPackings(best[above], packings, max(float(best.max(initial=0.0)), 0.0), exact=True)


def _parts(items: _Items) -> Ints:
    """Return the item and the number of copies of each part, in the order of the items."""
    parts, last = list[tuple[int, int]](), int(np.flatnonzero(np.diff(items.first_arc)).max(initial=-1))
    for i, left in enumerate(items.copies.tolist()):
        # A piece that earns nothing is useful only if it moves others to or from paid arcs.
        if items.profits[i] <= 0.0 and i > last:
            continue
        part = 1
        while left:
            part = min(part, left)
            parts.append((i, part))
            left -= part
            part *= 1 if items.first_arc[i] < items.first_arc[i + 1] else 2
    return np.array(parts, dtype=np.int64).reshape(-1, 2)


@inner
def _raise(before, here, width, profit):  # type: ignore[no-untyped-def]
    """Add ``profit`` for ``width``.  The arrays differ, so that the loop is vectorised."""
    for r in range(len(before) - width):
        with_it = before[r] + profit
        here[width + r] = max(here[width + r], with_it)


@njit(cache=True, nogil=True)
def _fill(profits, widths, copies, table):  # type: ignore[no-untyped-def]
    """Fill ``table[i, r]`` with the best profit of items i, i + 1, ... within r.  Widths may be zero."""
    m, size = len(profits), table.shape[1]
    spare = np.empty(size)
    for r in range(size):
        table[m, r] = 0.0
    for i in range(m - 1, -1, -1):
        w, p, here, left = widths[i], profits[i], table[i], copies[i]
        overwrite(here, table[i + 1])
        if p <= 0.0 or left == 0 or w >= size:
            continue
        if w == 0:
            for r in range(size):
                here[r] += p * left
        elif left == 1:
            _raise(table[i + 1], here, w, p)
        elif (left + 1) * w >= size:
            for r in range(w, size):
                here[r] = max(here[r], here[r - w] + p)
        else:
            # 1, 2, 4, ... copies and a rest: each number of copies is a sum of some of them.
            part = 1
            while left:
                part = min(part, left)
                if part * w >= size:
                    break
                overwrite(spare, here)
                _raise(spare, here, part * w, part * p)
                left -= part
                part *= 2


@njit(cache=True, nogil=True)
def _trace_each(profits, widths, copies, table, threshold, packings):  # type: ignore[no-untyped-def]
    """Write to row i the best packing that begins with item i, unless it earns no more than the threshold."""
    m, most = len(profits), table.shape[1] - 1
    for i in range(m):
        p, w = profits[i], widths[i]
        if p <= 0.0 or copies[i] == 0 or w > most:
            continue
        row, room = packings[i], most - w
        value, taken = table[i + 1, room], 0
        for c in range(1, copies[i]):
            if c * w > room:
                break
            if c * p + table[i + 1, room - c * w] > value:
                value, taken = c * p + table[i + 1, room - c * w], c
        if p + value <= threshold:
            continue
        row[i] = 1 + taken
        room -= taken * w
        for j in range(i + 1, m):
            if table[j, room] <= table[j + 1, room]:
                continue
            value, taken = table[j + 1, room], 0
            for c in range(1, copies[j] + 1):
                if c * widths[j] > room:
                    break
                if c * profits[j] + table[j + 1, room - c * widths[j]] > value:
                    value, taken = c * profits[j] + table[j + 1, room - c * widths[j]], c
            row[j] = taken
            room -= taken * widths[j]


@njit(cache=True, nogil=True)
def _pay_arcs(items: _Items, packings: Ints, earned: Floats) -> None:
    """Add what the arcs of packings are paid."""
    for k in range(len(packings)):
        position = 0
        for i in range(packings.shape[1]):
            for _ in range(packings[k, i]):
                earned[k] += _payment(items, i, position)
                position += items.widths[i]


@inner
def _payment(items: _Items, i: int, position: int) -> float:
    """Return what a piece at a position earns besides the profit of its item."""
    for k in range(items.first_arc[i], items.first_arc[i + 1]):
        if items.positions[k] == position:
            return float(items.earnings[k])
    return 0.0


@quick
def _take_block(shifted, here, profit, after):  # type: ignore[no-untyped-def]
    """Write to ``after`` the best values with or without a part.  Return the best with it."""
    best = shifted[0] + profit
    for r in range(len(here)):
        with_it = shifted[r] + profit
        after[r] = max(here[r], with_it)
        best = max(best, with_it)
    return best


@inner
def _mark(before, after, first, last, bits):  # type: ignore[no-untyped-def]
    """Set the bits of the positions where the best value with a part is larger."""
    for word in range(first >> 6, (last + 63) >> 6):
        mask = np.uint64(0)
        for b in range(64):
            mask |= np.uint64(after[64 * word + b] > before[64 * word + b]) << np.uint64(b)
        bits[word] = mask


@kernel
def _take_part(
    before: Floats, after: Floats, width: int, profit: float, capacity: int, bits: NDArray[np.uint64]
) -> tuple[float, int]:
    """Write the best values with or without a part.  Return the best value with it, and its position."""
    best, block, first = -np.inf, width, width
    overwrite(after[:width], before[:width])
    overwrite(after[capacity + 1 :], before[capacity + 1 :])
    while first <= capacity:
        last = min((first // _BLOCK + 1) * _BLOCK, capacity + 1)
        found = _take_block(before[first - width : last - width], before[first:last], profit, after[first:last])
        if found > best:
            best, block = found, first
        _mark(before, after, first, last, bits)
        first = last
    position = block
    for r in range(block, capacity + 1):
        if before[r - width] + profit == best:
            position = r
            break
    return best, position


@kernel
def _pay_part(
    i: int, items: _Items, before: Floats, after: Floats, capacity: int, bits: NDArray[np.uint64]
) -> tuple[float, int]:
    """Correct what :func:`_take_part` wrote where the arcs of item i are paid.  Return its value and position, too."""
    width, profit = items.widths[i], items.profits[i]
    for k in range(items.first_arc[i], items.first_arc[i + 1]):
        r = items.positions[k] + width
        if r > capacity:
            continue
        with_it = before[r - width] + profit + items.earnings[k]
        after[r] = max(before[r], with_it)
        bits[r >> 6] &= ~(np.uint64(1) << np.uint64(r & 63))
        if with_it > before[r]:
            bits[r >> 6] |= np.uint64(1) << np.uint64(r & 63)
    best, position, k = -np.inf, int64(0), items.first_arc[i]
    for r in range(width, capacity + 1):
        with_it = before[r - width] + profit
        while k < items.first_arc[i + 1] and items.positions[k] < r - width:
            k += 1
        if k < items.first_arc[i + 1] and items.positions[k] == r - width:
            with_it += items.earnings[k]
        if with_it > best:
            best, position = with_it, r
    return best, position


@njit(cache=True, nogil=True)
def _trace_parts(parts, widths, taken, starts, packings):  # type: ignore[no-untyped-def]
    """Read the packings that end with a part at a position, given by the rows of ``starts``."""
    for row in range(len(starts)):
        k, r = starts[row]
        item, copies = parts[k]
        packings[row, item] += copies
        r -= copies * widths[item]
        for j in range(k - 1, -1, -1):
            if (taken[j, r >> 6] >> np.uint64(r & 63)) & np.uint64(1):
                item, copies = parts[j]
                packings[row, item] += copies
                r -= copies * widths[item]
