"""Relation scores: weights of features of an arc, and of pairs of relations of consecutive modifiers.

A feature combines a conjunction of the head or another relative of the modifier, one of the modifier, and the side and
distance of the relative; its key is an integer.  Keys are in ascending order, and each has weights for a few relations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.learning.weights import FeatureWeights
from colgen.problems.dependency.features.hashed_keys import EMPTY, claim_all, hash_of, room_for_keys
from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Singles = NDArray[np.float32]

SIDES, PLACES = 2, 12
"""Resolution of a modifier's position in a feature: its side only, or side and distance."""

HEAD, LEFT, RIGHT, BESIDE = range(4)
"""Relatives of a modifier: its head, its own first and last modifier, and the first other modifier of its head."""


class Templates(NamedTuple):
    """Feature templates, one per row.

    Attributes
    ----------
    joined
        Conjunction of the relative, conjunction of the modifier, :data:`SIDES` or :data:`PLACES`, and the relative;
        shape (templates, 4).
    sizes, starts
        Number of codes of the modifier's conjunction, and first key, of each template.
    """

    joined: Ints
    sizes: Ints
    starts: Ints


@njit(cache=True, nogil=True)
def relatives(heads: Ints) -> Ints:
    """Return the relatives of each token in a tree, shape (4, n + 1).

    Missing ones are n + 1 and n + 2, the columns of codes for no modifier before and none after.
    """
    n = len(heads) - 1
    found = np.full((4, n + 1), n + 1)
    first, second = np.full(n + 1, n + 1), np.full(n + 1, n + 1)
    found[RIGHT, :] = n + 2
    for modifier in range(1, n + 1):
        head = heads[modifier]
        found[HEAD, modifier] = head
        if first[head] > n:
            first[head] = found[LEFT, head] = modifier
        elif second[head] > n:
            second[head] = modifier
        found[RIGHT, head] = modifier
    for modifier in range(1, n + 1):
        head = heads[modifier]
        found[BESIDE, modifier] = second[head] if first[head] == modifier else first[head]
    return found


@njit(cache=True, no_cpython_wrapper=True, nogil=True)
def place_of(other, modifier):  # type: ignore[no-untyped-def]
    """Return the position, out of :data:`PLACES`, of a modifier's relative."""
    apart = abs(other - modifier)
    near = apart if apart <= 3 else (4 if apart <= 6 else 5)
    return 2 * np.int64(near) + np.int64(other > modifier)


@njit(cache=True, nogil=True)
def key_of_pair(codes, templates, t, other, modifier):  # type: ignore[no-untyped-def]
    """Return the key of a feature of a modifier and its relative; -1 if a code is missing."""
    joined, sizes, starts = templates
    a, b = np.int64(codes[joined[t, 0], other]), np.int64(codes[joined[t, 1], modifier])
    if a < 0 or b < 0:
        return np.int64(-1)
    place = place_of(other, modifier) if joined[t, 2] == PLACES else np.int64(other > modifier)
    return starts[t] + (a * sizes[t] + b) * joined[t, 2] + place


@njit(cache=True, nogil=True)
def key_of(codes, templates, t, of, modifier):  # type: ignore[no-untyped-def]
    """Return the key of a feature of an arc, given all relatives; -1 if a code is missing."""
    return key_of_pair(codes, templates, t, of[templates.joined[t, 3], modifier], modifier)


@njit(cache=True, nogil=True)
def keys_of_tree(codes: Codes, templates: Templates, heads: Ints, keys: Ints) -> None:
    """Write the keys of a tree's arcs, one row per arc; ``heads`` has shape (n + 1,), its first entry is ignored."""
    of = relatives(heads)
    for modifier in range(1, len(heads)):
        for t in range(len(templates.starts)):
            keys[modifier - 1, t] = key_of(codes, templates, t, of, modifier)


@njit(cache=True, no_cpython_wrapper=True, nogil=True)
def _best_row(scores, transitions, ends, first, last, best, back):  # type: ignore[no-untyped-def]
    """Write the best relations of modifiers ``first`` to ``last - 1``; ``ends``: range of each transition row."""
    num = scores.shape[1]
    most = np.empty(num)
    for y in range(num):
        scores[first, y] += transitions[num, y]
    for k in range(first + 1, last):
        for y in range(num):
            most[y], back[k, y] = scores[k - 1, 0] + transitions[0, y], 0
        enough = -np.inf  # every relation reaches this score after some previous relation
        for x in range(num):
            enough = max(enough, scores[k - 1, x] + ends[x, 0])
        for x in range(1, num):
            before = scores[k - 1, x]
            if before + ends[x, 1] < enough:  # rounding is monotone
                continue
            for y in range(num):  # along a row of the transitions
                total = before + transitions[x, y]
                if total > most[y]:
                    most[y], back[k, y] = total, x
        for y in range(num):
            scores[k, y] += most[y]
    best[last - 1] = np.argmax(scores[last - 1])
    for k in range(last - 1, first, -1):
        best[k - 1] = back[k, best[k]]


class Rows(NamedTuple):
    """Hash table of keys, and the row of each slot."""

    slots: Ints
    rows: NDArray[np.int32]


def rows_of(keys: Ints) -> Rows:
    """Return the row numbers of keys, in their order."""
    slots = room_for_keys(len(keys))
    rows = np.zeros(len(slots), dtype=np.int32)
    rows[claim_all(slots, keys)] = np.arange(len(keys))
    return Rows(slots, rows)


class LabelIndex(NamedTuple):
    """Weights in look-up order.

    Attributes
    ----------
    slots
        A hash table, shape (a power of two, 2): a key, and the start of its weights times :data:`MOST` plus their
        number.
    relations, weights
        Relation and weight of each entry.
    transitions
        Weights by the coarse tag of the head, the relation of the previous modifier (last position: none), and the
        relation of the modifier.
    ends
        Minimum and maximum of each row of the transitions, shape (tags, relations + 1, 2).
    """

    templates: Templates
    slots: Ints
    relations: NDArray[np.int32]
    weights: Singles
    transitions: Singles
    ends: Singles


MOST = 1 << 20
"""Every feature has fewer weights than this."""


def label_index(templates: Templates, scores: FeatureWeights, transitions: Singles) -> LabelIndex:
    """Return the index of relation weights."""
    keys = room_for_keys(len(scores))
    slots = np.zeros((len(keys), 2), dtype=np.int64)
    slots[claim_all(keys, scores.keys), 1] = scores.starts[:-1] * MOST + np.diff(scores.starts)
    slots[:, 0] = keys
    ends = np.stack([transitions.min(axis=2), transitions.max(axis=2)], axis=2)
    return LabelIndex(templates, slots, scores.labels, scores.weights, transitions, ends)


@njit(cache=True, nogil=True)
def label_tree(codes: Codes, tags: Ints, index: LabelIndex, heads: Ints) -> Ints:
    """Return the best relations of a tree's arcs, for tokens 1, 2, ..."""
    joined, sizes, starts = index.templates.joined, index.templates.sizes, index.templates.starts
    slots, relations, weights, transitions = index.slots, index.relations, index.weights, index.transitions
    mask = len(slots) - 1
    n, num = len(heads) - 1, transitions.shape[2]
    table, back = np.zeros((n, num)), np.zeros((n, num), dtype=np.int64)
    members, best, found = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    queries, at, held = np.empty((3, len(starts)), dtype=np.int64)
    places = np.empty((4, 2), dtype=np.int64)
    of, count = relatives(heads), 0
    for head in range(n + 1):
        first = count
        for modifier in range(1, n + 1):
            if heads[modifier] != head:
                continue
            for relative in range(4):
                other = of[relative, modifier]
                places[relative, 0], places[relative, 1] = np.int64(other > modifier), place_of(other, modifier)
            known = np.int64(0)
            for t in range(len(starts)):
                relative, width = joined[t, 3], joined[t, 2]
                a, b = np.int64(codes[joined[t, 0], of[relative, modifier]]), np.int64(codes[joined[t, 1], modifier])
                queries[known] = starts[t] + (a * sizes[t] + b) * width + places[relative, np.int64(width == PLACES)]
                known += np.int64(a >= 0) & np.int64(b >= 0)
            for k in range(known):  # independent loads overlap their memory latency
                at[k] = hash_of(queries[k], mask)
                held[k] = slots[at[k], 0]
            met = np.int64(0)
            for k in range(known):
                slot = at[k]
                while held[k] != queries[k] and held[k] != EMPTY:
                    slot = (slot + 1) & mask
                    held[k] = slots[slot, 0]
                at[met] = slots[slot, 1]
                met += np.int64(held[k] == queries[k])
            for k in range(met):
                begin, many = at[k] // MOST, at[k] % MOST
                for e in range(begin, begin + many):
                    table[count, relations[e]] += weights[e]
            members[count] = modifier
            count += 1
        if count > first:
            tag = tags[head]
            _best_row(table, transitions[tag], index.ends[tag], first, count, best, back)
    for k in range(n):
        found[members[k] - 1] = best[k]
    return found
