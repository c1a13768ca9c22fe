r"""The best packings of a network with charges for rounded counts: the pricing problem under rank-1 cuts.

    max Σ_i Σ_c profit(i, position of the c-th copy of i) - Σ_k f_k ⌊Σ_i w_ki a_i / q_k⌋,    f ≥ 0,

over the packings a of a network (:mod:`colgen.solvers.packing.network`).  Labels are extended item by item.  A label
has a state, its profit minus charges, and the remainders of the counts with items on both sides of the current one.  It
dominates another label in the same state if its profit is no smaller after paying for each count with a larger
remainder.  The other label cannot save more than these charges.

The table of :func:`colgen.solvers.packing.knapsack.best_from`, which ignores charges, bounds what a label can still
earn.  Only labels that may exceed a threshold are kept, so there are few near the end of column generation.

Source: M. Jepsen, B. Petersen, S. Spoorendonk, D. Pisinger, *Subset-row inequalities applied to the vehicle-routing
problem with time windows*, Operations Research 56 (2008), for the dominance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_float, as_floats, as_indices, as_integer, as_integers, as_offsets
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner, int64, kernel, overwrite
from colgen.solvers.packing.arc_values import NEVER
from colgen.solvers.packing.network import Floats, Ints, PackingNetwork
from colgen.solvers.packing.network_arguments import Arcs, arcs_of, check
from colgen.solvers.stopping import Look, look_away

LABELS = 1 << 17
"""The search stops if an item has more labels."""

_LAID = 1 << 22
"""Maximum number of pieces placed in a search; packings are read from them."""

_PORTION = 1 << 21
"""Steps between two checks of the clock: a few hundredths of a second."""

_DONE, _PAUSED, _FULL = 0, 1, 2

_ITEM, _NUMBER, _PIECES, _WORK = range(4)
"""Positions in the state of a search."""


class CountedPackings(NamedTuple):
    """Packings above a threshold.

    The first row of ``packings``, shape (packings, items), is the best; the others are the best found for each first
    item.  ``profits`` have charges subtracted.  No packing earns more than both ``bound`` and the threshold.  If
    ``overflowed``, the search stopped because of too many labels.
    """

    profits: Floats
    packings: Ints
    bound: float
    overflowed: bool = False


class ChargedCounts(NamedTuple):
    """Rounded counts of items, and the charge for each unit.

    Attributes
    ----------
    starts : count k has the items ``members[starts[k]:starts[k + 1]]``
    members : items, without repetition within a count
    weights : integer weight of each member, from 1 to the divisor minus 1
    divisors : one per count, from 2 to 64
    charges : nonnegative cost each time that the divisor is reached
    """

    starts: ArrayLike
    members: ArrayLike
    weights: ArrayLike
    divisors: ArrayLike
    charges: ArrayLike


class _Labels(NamedTuple):
    """Labels and state of the search.

    * ``ends``, ``earned``, ``left``: state and profit of each label, and remainders of its counts as bits.
    * ``last_piece``, ``first_item``: last piece of each label, and first item (-1: none).
    * ``items``, ``before``: item of each piece, and the previous piece.
    * ``first``, ``following``: linked lists of the labels of each state.
    * ``heads``: for each state, where a piece of the current item leads; -1 without an arc.
    * ``best``, ``best_piece``: for each first item: profit and last piece of the best packing.
    * ``state``: the next item, and the numbers of labels, pieces and steps.
    """

    ends: NDArray[np.int32]
    earned: Floats
    left: NDArray[np.uint64]
    last_piece: Ints
    first_item: NDArray[np.int32]
    items: NDArray[np.int32]
    before: Ints
    first: Ints
    following: Ints
    heads: Ints
    best: Floats
    best_piece: Ints
    state: Ints


class _Counts(NamedTuple):
    """The counts of each item, and the bits that hold their remainders.

    * ``starts``, ``counts``, ``weights``: start of each item's entries; count and weight of each entry.
    * ``divisors``, ``charges``: data of the counts.
    * ``words``, ``shifts``, ``masks``: the remainder of a count is ``left[words] >> shifts & masks``.
    * ``owners``: the count of each bit.
    * ``open_bits``: bits of the counts with items on both sides of an item's end, shape (items, words).
    """

    starts: Ints
    counts: Ints
    weights: Ints
    divisors: Ints
    charges: Floats
    words: Ints
    shifts: NDArray[np.uint64]
    masks: NDArray[np.uint64]
    owners: Ints
    open_bits: NDArray[np.uint64]


def best_counted_packings(
    net: PackingNetwork,
    values: Floats,
    profits: Floats,
    counts: ChargedCounts,
    threshold: float,
    *,
    labels: int = LABELS,
    look: Look = look_away,
) -> CountedPackings:
    """Return the best packing above a threshold and others above it.

    Parameters
    ----------
    net : the network
    values : its table of :func:`colgen.solvers.packing.knapsack.best_from` for these profits
    threshold : profit that packings must exceed
    labels : most labels of an item; above it, the search stops and the bound is that without charges

    Raises
    ------
    ArrayError
        If a number is not an integer, out of range, or NaN.
    """
    check(net, values, profits)
    threshold = as_float(threshold, "threshold", finite=False)
    labels = as_integer(labels, "labels", low=1, high=LABELS)
    validated = _validate(counts, net.num_items)
    empty = CountedPackings(np.zeros(0), np.zeros((0, net.num_items), np.int64), float(values[0, 0]))
    if values[0, 0] <= threshold:
        return empty
    by_items = _by_items(net, *validated)
    search = _begin(net, len(by_items.open_bits[0]) if net.num_items else 1, labels)
    status = _PAUSED
    while status == _PAUSED:
        look()
        status = _continue(arcs_of(net), profits, values, threshold, labels, by_items, search, _PORTION)
    if status == _FULL:
        return empty._replace(overflowed=True)
    found = np.flatnonzero(search.best > threshold)
    packings = np.zeros((len(found), net.num_items), np.int64)
    _read(search.items, search.before, search.best_piece[found], packings)
    nothing = 0.0 if net.least <= 0 else NEVER  # profit of the empty packing, which has no label
    bound = max(float(search.best.max(initial=NEVER)), nothing, threshold)
    return CountedPackings(search.best[found], packings, bound)


def _validate(counts: ChargedCounts, num_items: int) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    charges = as_floats(counts.charges, "charges", shape=("counts",), low=0.0)
    divisors = as_integers(counts.divisors, "divisors", shape=charges.shape, low=2, high=64)
    members = as_indices(counts.members, "members", upper=max(num_items, 1))
    starts = as_offsets(counts.starts, "starts", total=len(members))
    weights = as_integers(counts.weights, "weights", shape=members.shape, low=1)
    if len(starts) != len(charges) + 1:
        raise ArrayError(f"starts: expected {len(charges) + 1} entries, one more than charges, got {len(starts)}")
    owners = np.repeat(np.arange(len(charges)), np.diff(starts))
    if (weights >= divisors[owners]).any():
        raise ArrayError("weights: expected each to be less than its count's divisor")
    if len(np.unique(owners * max(num_items, 1) + members)) < len(members):
        raise ArrayError("members: expected each item at most once per count")
    return starts, members, weights, divisors, charges


def _by_items(
    net: PackingNetwork, starts: Ints, members: Ints, weights: Ints, divisors: Ints, charges: Floats
) -> _Counts:
    """Return the counts that can be charged, expensive ones in the first bits."""
    n, m = len(charges), net.num_items
    owners = np.repeat(np.arange(n), np.diff(starts))
    sums = np.bincount(owners, weights=weights * net.copies[members], minlength=n)
    alive = np.flatnonzero((charges > 0.0) & (sums >= divisors))
    alive = alive[np.argsort(-charges[alive], kind="stable")]
    number = np.full(n, -1)
    number[alive] = np.arange(len(alive))
    mine = number[owners] >= 0
    counts, members, weights = number[owners[mine]], members[mine], weights[mine]
    widths = np.array([int(q - 1).bit_length() for q in divisors[alive].tolist()], dtype=np.int64)
    words, shifts = np.zeros(len(alive), np.int64), np.zeros(len(alive), np.int64)
    word, used = 0, 0
    for k, width in enumerate(widths.tolist()):
        if used + width > 64:
            word, used = word + 1, 0
        words[k], shifts[k] = word, used
        used += width
    masks = (np.int64(1) << widths) - 1
    bits = np.full(64 * (word + 1), -1)
    open_bits = np.zeros((m, word + 1), np.uint64)
    for k in range(len(alive)):
        bits[64 * words[k] + shifts[k] : 64 * words[k] + shifts[k] + widths[k]] = k
        items = members[counts == k]
        field = np.uint64(masks[k]) << np.uint64(shifts[k])
        open_bits[items.min() : items.max(), words[k]] |= field
    order = np.argsort(members, kind="stable")
    by_item = np.searchsorted(members[order], np.arange(m + 1))
    return _Counts(
        by_item,
        counts[order],
        weights[order],
        divisors[alive],
        charges[alive],
        words,
        shifts.astype(np.uint64),
        masks.astype(np.uint64),
        bits,
        open_bits,
    )


def _begin(net: PackingNetwork, words: int, labels: int) -> _Labels:
    room = 2 * labels
    search = _Labels(
        np.empty(room, np.int32),
        np.empty(room),
        np.empty((room, words), np.uint64),
        np.empty(room, np.int64),
        np.empty(room, np.int32),
        np.empty(_LAID, np.int32),
        np.empty(_LAID, np.int64),
        np.full(net.num_states, -1),
        np.empty(room, np.int64),
        np.full(net.num_states, -1),
        np.full(max(net.num_items, 1), NEVER),
        np.full(max(net.num_items, 1), -1),
        np.array([0, 1, 0, 0]),
    )
    search.ends[0], search.earned[0], search.left[0], search.last_piece[0], search.first_item[0] = 0, 0.0, 0, -1, -1
    return search


@kernel
def _continue(
    arcs: Arcs,
    profits: Floats,
    values: Floats,
    threshold: float,
    most: int,
    counts: _Counts,
    search: _Labels,
    work: int,
) -> int:
    """Place pieces of the next items until the end, or until the work is done."""
    state = search.state
    limit = state[_WORK] + work
    while state[_ITEM] < len(arcs.widths):
        if state[_WORK] >= limit:
            return _PAUSED
        if not _lay_pieces(arcs, profits, values, threshold, counts, search):
            return _FULL
        _drop_labels(values, threshold, counts, search)
        if state[_NUMBER] > most:
            return _FULL
        state[_ITEM] += 1
    return _DONE


@inner
def _lay_pieces(
    arcs: Arcs, profits: Floats, values: Floats, threshold: float, counts: _Counts, search: _Labels
) -> bool:
    """Append labels with 1, 2, ... more pieces of the next item.  False if memory is full."""
    state, heads = search.state, search.heads
    i = state[_ITEM]
    here, last = arcs.first_arc[i], arcs.first_arc[i + 1]
    for k in range(here, last):
        heads[arcs.tails[k]] = k
    final = values[len(arcs.widths)]  # zero where a packing may end
    begin = int64(0)
    for copy in range(arcs.copies[i]):
        end = state[_NUMBER]
        hopes = values[i] if copy + 1 < arcs.copies[i] else values[i + 1]
        for a in range(begin, end):
            arc = heads[search.ends[a]]
            if arc < 0:
                continue
            head, value = arcs.heads[arc], search.earned[a] + profits[arc]
            if value + hopes[head] <= threshold:
                continue
            value = _charge(counts, search, a, value)
            if value + hopes[head] <= threshold:
                continue
            if state[_NUMBER] == len(search.ends) or state[_PIECES] == len(search.items):
                return False
            _lay(counts, search, a, head, value)
            if final[head] == 0.0 and value > threshold:
                _keep_best(search)
        state[_WORK] += end - begin
        begin = end
        if begin == state[_NUMBER]:
            break
    for k in range(here, last):
        heads[arcs.tails[k]] = -1
    return True


@folded
def _sum_after(counts: _Counts, search: _Labels, a: int, q: int) -> int:
    """Return a count's sum after adding a piece of entry ``q``'s item."""
    c = counts.counts[q]
    rest = (search.left[a, counts.words[c]] >> counts.shifts[c]) & counts.masks[c]
    return int(np.int64(rest) + counts.weights[q])


@folded
def _charge(counts: _Counts, search: _Labels, a: int, value: float) -> float:
    """Return a value minus the charges for a piece of the next item."""
    i = search.state[_ITEM]
    for q in range(counts.starts[i], counts.starts[i + 1]):
        c = counts.counts[q]
        if _sum_after(counts, search, a, q) >= counts.divisors[c]:
            value -= counts.charges[c]
    return value


@folded
def _lay(counts: _Counts, search: _Labels, a: int, head: int, value: float) -> None:
    """Append label ``a`` with one more piece of the next item."""
    state, left = search.state, search.left
    i, n, piece = state[_ITEM], state[_NUMBER], state[_PIECES]
    overwrite(left[n], left[a])
    for q in range(counts.starts[i], counts.starts[i + 1]):
        c = counts.counts[q]
        rest = _sum_after(counts, search, a, q)
        if rest >= counts.divisors[c]:
            rest -= counts.divisors[c]
        w, shift = counts.words[c], counts.shifts[c]
        left[n, w] = (left[n, w] & ~(counts.masks[c] << shift)) | (np.uint64(rest) << shift)
    search.items[piece], search.before[piece] = i, search.last_piece[a]
    search.ends[n], search.earned[n], search.last_piece[n] = head, value, piece
    search.first_item[n] = search.first_item[a] if search.first_item[a] >= 0 else i
    state[_NUMBER], state[_PIECES] = n + 1, piece + 1


@folded
def _keep_best(search: _Labels) -> None:
    """Store the last label's packing if it is best for its first item."""
    n = search.state[_NUMBER] - 1
    first = search.first_item[n]
    if search.earned[n] > search.best[first]:
        search.best[first], search.best_piece[first] = search.earned[n], search.last_piece[n]


@inner
def _drop_labels(values: Floats, threshold: float, counts: _Counts, search: _Labels) -> None:
    """Keep the undominated labels that can still exceed the threshold."""
    ends, earned, left, state = search.ends, search.earned, search.left, search.state
    hopes, open_bits = values[state[_ITEM] + 1], counts.open_bits[state[_ITEM]]
    kept, number = 0, state[_NUMBER]
    for a in range(number):
        at = ends[a]
        if earned[a] + hopes[at] <= threshold:
            continue
        for w in range(left.shape[1]):
            left[a, w] &= open_bits[w]
        if _is_dominated(counts, search, a):
            continue
        ends[kept], earned[kept] = at, earned[a]
        search.last_piece[kept], search.first_item[kept] = search.last_piece[a], search.first_item[a]
        overwrite(left[kept], left[a])
        search.following[kept] = search.first[at]
        search.first[at] = kept
        kept += 1
    for a in range(kept):
        search.first[ends[a]] = -1
    state[_NUMBER] = kept
    state[_WORK] += number


@folded
def _is_dominated(counts: _Counts, search: _Labels, a: int) -> bool:
    other = search.first[search.ends[a]]
    while other >= 0:
        search.state[_WORK] += 1
        if _dominates(counts, search, other, a):
            return True
        other = search.following[other]
    return False


@folded
def _dominates(counts: _Counts, search: _Labels, other: int, a: int) -> bool:
    """Return whether ``other`` is no worse than ``a`` after paying for larger remainders."""
    left, paid, value = search.left, search.earned[other], search.earned[a]
    for w in range(left.shape[1]):
        if paid < value:
            return False
        if left[other, w] & ~left[a, w] == np.uint64(0):  # no remainder is larger
            continue
        differing = left[other, w] ^ left[a, w]
        bit = 0
        while differing and paid >= value:
            while not differing & np.uint64(1):
                differing >>= np.uint64(1)
                bit += 1
            c = counts.owners[64 * w + bit]
            mine = (left[other, w] >> counts.shifts[c]) & counts.masks[c]
            its = (left[a, w] >> counts.shifts[c]) & counts.masks[c]
            if mine > its:
                paid -= counts.charges[c]
            width = int(np.int64(counts.shifts[c])) + _bits_of(counts.masks[c]) - bit
            if width >= 64:
                break
            differing >>= np.uint64(width)
            bit += width
    return bool(paid >= value)


@inner
def _bits_of(mask: np.uint64) -> int:
    n = 0
    while mask:
        mask >>= np.uint64(1)
        n += 1
    return n


@njit(cache=True, nogil=True)
def _read(items, before, last, packings):  # type: ignore[no-untyped-def]
    """Add up the pieces of packings, from the last ones back."""
    for k in range(len(last)):
        piece = last[k]
        while piece >= 0:
            packings[k, items[piece]] += 1
            piece = before[piece]
