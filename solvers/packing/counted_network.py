r"""The best packings of a network in which what is counted is charged for: the pricing problem under rank-1 cuts.

    max Σ_i Σ_c profit(i, position of the c-th copy of i) - Σ_k f_k ⌊Σ_i w_ki a_i / q_k⌋,    f ≥ 0,

over the packings a of a network (:mod:`colgen.solvers.packing.network`).  Labels go through the items in turn: a state,
what has been earned and charged, and of each count that has items on both sides of the place what is left of its sum.
A label is dominated by one in the same state that has earned no less once it has paid for each count of which it has
more left, for that is what the other may be spared at the most.  What a label can still earn is bounded by the table of
:func:`colgen.solvers.packing.knapsack.best_from`, which charges for nothing; only labels that may come to more than a
threshold are kept, so that near the end of column generation there are few.

Source: M. Jepsen, B. Petersen, S. Spoorendonk, D. Pisinger, *Subset-row inequalities applied to the vehicle-routing
problem with time windows*, Operations Research 56 (2008), for the dominance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_float, as_floats, as_indices, as_integer, as_integers, as_offsets
from colgen.solvers.kernel_cache import njit
from colgen.solvers.packing.arc_values import NEVER
from colgen.solvers.packing.network import Floats, Ints, PackingNetwork, look_away
from colgen.solvers.packing.network_arguments import arrays, check

LABELS = 1 << 17
"""A search ends where more labels than this are left of one item."""

_LAID = 1 << 22
"""Pieces laid in one search, at most: what is kept to read packings off."""

_PORTION = 1 << 21
"""Labels made and compared between two looks at the clock: some hundredths of a second."""

_DONE, _PAUSED, _FULL = 0, 1, 2


class CountedPackings(NamedTuple):
    """Packings that come to more than a threshold.

    Attributes
    ----------
    profits
        What each earns, charges subtracted.
    packings
        Shape (packings, items): copies.  The best one is among them, and of each item the best that was met of those
        that begin with it.
    bound
        No packing earns more than this, or than the threshold.
    overflowed
        Whether the search has ended because of too many labels.
    """

    profits: Floats
    packings: Ints
    bound: float
    overflowed: bool = False


class _Labels(NamedTuple):
    """Labels, and where the search stands.

    Attributes
    ----------
    ends, earned, left, laid, begun
        Of each label: its state, what it has earned, what is left of the counts' sums in bits, its last piece, and the
        item that it begins with (-1: none).
    items, before
        Of each piece laid: its item, and the piece before.
    first, following
        Of each state the label met last, and of each label the one met before.
    heads
        Of each state, where a piece of the present item leads to; -1 if nowhere.
    best, best_piece
        Of each item: what the best packing earns that begins with it, and its last piece.
    state
        The next item, the labels, the pieces laid.
    """

    ends: NDArray[np.int32]
    earned: Floats
    left: NDArray[np.uint64]
    laid: Ints
    begun: NDArray[np.int32]
    items: NDArray[np.int32]
    before: Ints
    first: Ints
    following: Ints
    heads: Ints
    best: Floats
    best_piece: Ints
    state: Ints


class _Counts(NamedTuple):
    """Counts by the items that they have.

    Attributes
    ----------
    starts, counts, weights
        Where each item begins among the counts that it is in; those, and its weights there.
    divisors, charges, words, shifts, masks
        One a count: what is left of its sum is ``left[words] >> shifts & masks``.
    owners
        Of each bit: whose it is.
    open_bits
        Shape (items, words): bits of the counts that have items on both sides of an item's end.
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
    starts: ArrayLike,
    members: ArrayLike,
    weights: ArrayLike,
    divisors: ArrayLike,
    charges: ArrayLike,
    threshold: float,
    *,
    labels: int = LABELS,
    look: Callable[[], object] = look_away,
) -> CountedPackings:
    """The best packing among those that come to more than a threshold, with others that do; none if there is none.

    Parameters
    ----------
    net, values, profits
        A network, the table of :func:`colgen.solvers.packing.knapsack.best_from`, and what it was given.
    starts, members, weights
        Count k weighs items ``members[starts[k]:starts[k + 1]]``, none of them twice, by whole numbers from 1 to its
        divisor less 1.
    divisors
        Of the counts, from 2 to 64.
    charges
        What each time that the divisor is full costs, from 0.
    threshold
        Packings that come to no more are of no interest.
    labels
        Where more than so many are left of one item the search ends, and the bound is that without charges.
    look
        Called every few hundredths of a second; may raise.

    Raises
    ------
    ArrayError
        Where a number is not whole, out of range, or NaN.
    """
    check(net, values, profits)
    threshold = as_float(threshold, "threshold", finite=False)
    labels = as_integer(labels, "labels", low=1, high=LABELS)
    charge = as_floats(charges, "charges", shape=("counts",), low=0.0)
    divisor = as_integers(divisors, "divisors", shape=charge.shape, low=2, high=64)
    member = as_indices(members, "members", upper=max(net.num_items, 1))
    start = as_offsets(starts, "starts", total=len(member))
    weight = as_integers(weights, "weights", shape=member.shape, low=1)
    if len(start) != len(charge) + 1:
        raise ArrayError(f"starts: expected one more than there are charges, {len(charge) + 1}, got {len(start)}")
    owners = np.repeat(np.arange(len(charge)), np.diff(start))
    if (weight >= divisor[owners]).any():
        raise ArrayError("weights: expected each to be less than its count's divisor")
    if len(np.unique(owners * max(net.num_items, 1) + member)) < len(member):
        raise ArrayError("members: expected no item twice in a count")
    empty = CountedPackings(np.zeros(0), np.zeros((0, net.num_items), np.int64), float(values[0, 0]))
    if values[0, 0] <= threshold:
        return empty
    counts = _by_items(net, start, member, weight, divisor, charge)
    search = _begin(net, len(counts.open_bits[0]) if net.num_items else 1, labels)
    status = _PAUSED
    while status == _PAUSED:
        look()
        status = _go_on(*arrays(net), profits, values, threshold, labels, *counts, *search, _PORTION)
    if status == _FULL:
        return empty._replace(overflowed=True)
    found = np.flatnonzero(search.best > threshold)
    packings = np.zeros((len(found), net.num_items), np.int64)
    _read(search.items, search.before, search.best_piece[found], packings)
    nothing = 0.0 if net.least <= 0 else NEVER  # what the empty packing earns, which no label stands for
    bound = max(float(search.best.max(initial=NEVER)), nothing, threshold)
    return CountedPackings(search.best[found], packings, bound)


def _by_items(
    net: PackingNetwork, starts: Ints, members: Ints, weights: Ints, divisors: Ints, charges: Floats
) -> _Counts:
    """Counts that can be charged for, dear ones in the first bits."""
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
    """One label: nothing is laid."""
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
        np.array([0, 1, 0]),
    )
    search.ends[0], search.earned[0], search.left[0], search.laid[0], search.begun[0] = 0, 0.0, 0, -1, -1
    return search


@njit(cache=True, nogil=True)
def _go_on(  # type: ignore[no-untyped-def]
    capacity,
    widths,
    copies,
    first_arc,
    tails,
    to,
    profits,
    values,
    threshold,
    most,
    starts,
    counts,
    weights,
    divisors,
    charges,
    words,
    shifts,
    masks,
    owners,
    open_bits,
    ends,
    earned,
    left,
    laid,
    begun,
    items,
    before,
    first,
    following,
    heads,
    best,
    best_piece,
    state,
    work,
):
    """Lay pieces of the next items until the last one, or until the work is done."""
    m, room = len(widths), len(ends)
    done = values[m]  # zero where a packing may end
    while state[0] < m:
        if work <= 0:
            return _PAUSED
        i, n = state[0], state[1]
        here, last = first_arc[i], first_arc[i + 1]
        for k in range(here, last):
            heads[tails[k]] = k
        begin, end = 0, n
        for copy in range(copies[i]):
            further = copy + 1 < copies[i]
            for a in range(begin, end):
                arc = heads[ends[a]]
                if arc < 0:
                    continue
                head, value = to[arc], earned[a] + profits[arc]
                hope = values[i, head] if further else values[i + 1, head]
                if value + hope <= threshold:
                    continue
                for q in range(starts[i], starts[i + 1]):
                    c = counts[q]
                    rest = np.int64((left[a, words[c]] >> shifts[c]) & masks[c]) + weights[q]
                    if rest >= divisors[c]:
                        value -= charges[c]
                if value + hope <= threshold:
                    continue
                if n == room or state[2] == len(items):
                    return _FULL
                for w in range(left.shape[1]):
                    left[n, w] = left[a, w]
                for q in range(starts[i], starts[i + 1]):
                    c = counts[q]
                    rest = np.int64((left[a, words[c]] >> shifts[c]) & masks[c]) + weights[q]
                    if rest >= divisors[c]:
                        rest -= divisors[c]
                    w = words[c]
                    left[n, w] = (left[n, w] & ~(masks[c] << shifts[c])) | (np.uint64(rest) << shifts[c])
                piece = state[2]
                items[piece], before[piece] = i, laid[a]
                state[2] += 1
                ends[n], earned[n], laid[n] = head, value, piece
                begun[n] = begun[a] if begun[a] >= 0 else i
                if done[head] == 0.0 and value > threshold and value > best[begun[n]]:
                    best[begun[n]], best_piece[begun[n]] = value, piece
                n += 1
            work -= end - begin
            begin, end = end, n
            if begin == end:
                break
        for k in range(here, last):
            heads[tails[k]] = -1
        # What can still come to something, and is dominated by nobody.
        kept = 0
        for a in range(n):
            at, value = ends[a], earned[a]
            if value + values[i + 1, at] <= threshold:
                continue
            for w in range(left.shape[1]):
                left[a, w] &= open_bits[i, w]
            other, dominated = first[at], False
            while other >= 0 and not dominated:
                work -= 1
                paid = earned[other]
                for w in range(left.shape[1]):
                    if paid < value:
                        break
                    differing = left[other, w] & ~left[a, w]
                    if differing == np.uint64(0):  # then nothing is left of more in any count
                        continue
                    differing = left[other, w] ^ left[a, w]
                    bit = 0
                    while differing and paid >= value:
                        while not differing & np.uint64(1):
                            differing >>= np.uint64(1)
                            bit += 1
                        c = owners[64 * w + bit]
                        mine = (left[other, w] >> shifts[c]) & masks[c]
                        its = (left[a, w] >> shifts[c]) & masks[c]
                        if mine > its:
                            paid -= charges[c]
                        # On to the next count.
                        width = np.int64(shifts[c]) + _bits_of(masks[c]) - bit
                        if width >= 64:
                            break
                        differing >>= np.uint64(width)
                        bit += width
                dominated = paid >= value
                other = following[other]
            if dominated:
                continue
            ends[kept], earned[kept], laid[kept], begun[kept] = at, value, laid[a], begun[a]
            for w in range(left.shape[1]):
                left[kept, w] = left[a, w]
            following[kept] = first[at]
            first[at] = kept
            kept += 1
        for a in range(kept):
            first[ends[a]] = -1
        work -= n
        if kept > most:
            return _FULL
        state[0], state[1] = i + 1, kept
    return _DONE


@njit(cache=True, nogil=True)
def _bits_of(mask):  # type: ignore[no-untyped-def]
    """How many bits a mask of ones has."""
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
