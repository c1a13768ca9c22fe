"""Scores of relations: sums of the weights of features of an arc, and of pairs of relations of consecutive modifiers.

A feature joins a conjunction of the head or of another relative of the modifier, one of the modifier, and on which side
and how far away the relative is; its key is a whole number.  Keys stand in ascending order, and the weights of a key
are those of a few relations.
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
"""How much of the place of a modifier a feature may know: its side, or how far away it is there as well."""

HEAD, LEFT, RIGHT, BESIDE = range(4)
"""Relatives of a modifier: its head, its own first and last modifier, and the first of its head's other modifiers."""


class Templates(NamedTuple):
    """What features join, one a row.

    Attributes
    ----------
    joined
        Conjunction of the relative, conjunction of the modifier, :data:`SIDES` or :data:`PLACES`, and which relative;
        shape (templates, 4).
    sizes
        How many codes the modifier's conjunction has.
    starts
        The first key of each template.
    """

    joined: Ints
    sizes: Ints
    starts: Ints


@njit(cache=True, nogil=True)
def relatives(heads: Ints) -> Ints:
    """The relatives of each token in a tree, shape (4, n + 1); of those that are missing the columns n + 1 and n + 2.

    These columns of codes stand for no modifier before and none after.
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
    """Which of :data:`PLACES` a modifier's relative has."""
    apart = abs(other - modifier)
    near = apart if apart <= 3 else (4 if apart <= 6 else 5)
    return 2 * np.int64(near) + np.int64(other > modifier)


@njit(cache=True, nogil=True)
def key_of_pair(codes, templates, t, other, modifier):  # type: ignore[no-untyped-def]
    """The key of a feature of a modifier and its relative; -1 if one of its conjunctions has no code."""
    joined, sizes, starts = templates
    a, b = np.int64(codes[joined[t, 0], other]), np.int64(codes[joined[t, 1], modifier])
    if a < 0 or b < 0:
        return np.int64(-1)
    place = place_of(other, modifier) if joined[t, 2] == PLACES else np.int64(other > modifier)
    return starts[t] + (a * sizes[t] + b) * joined[t, 2] + place


@njit(cache=True, nogil=True)
def key_of(codes, templates, t, of, modifier):  # type: ignore[no-untyped-def]
    """The key of a feature of an arc, given all relatives; -1 if one of its conjunctions has no code."""
    return key_of_pair(codes, templates, t, of[templates.joined[t, 3], modifier], modifier)


@njit(cache=True, nogil=True)
def keys_of_tree(codes: Codes, templates: Templates, heads: Ints, keys: Ints) -> None:
    """Write the keys of a tree's arcs, one arc a row; ``heads``: of tokens 1, 2, ..., a place for the root before."""
    of = relatives(heads)
    for modifier in range(1, len(heads)):
        for t in range(len(templates.starts)):
            keys[modifier - 1, t] = key_of(codes, templates, t, of, modifier)


@njit(cache=True, no_cpython_wrapper=True, nogil=True)
def _best_row(scores, transitions, ends, first, last, best, back):  # type: ignore[no-untyped-def]
    """Write the best relations of modifiers ``first`` to ``last - 1``, one after the other.

    ``ends``: no number in a row of the transitions is below the first of the row's, and none above the second.
    """
    num = scores.shape[1]
    most = np.empty(num)
    for y in range(num):
        scores[first, y] += transitions[num, y]
    for k in range(first + 1, last):
        for y in range(num):
            most[y], back[k, y] = scores[k - 1, 0] + transitions[0, y], 0
        enough = -np.inf  # each relation scores as much after one of those before
        for x in range(num):
            enough = max(enough, scores[k - 1, x] + ends[x, 0])
        for x in range(1, num):
            before = scores[k - 1, x]
            if before + ends[x, 1] < enough:  # rounding keeps the order
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
    """Where the weights of a key are found at once: keys in a hash table, and the row of each slot."""

    slots: Ints
    rows: NDArray[np.int32]


def rows_of(keys: Ints) -> Rows:
    """The rows of keys that stand one after the other."""
    slots = room_for_keys(len(keys))
    rows = np.zeros(len(slots), dtype=np.int32)
    rows[claim_all(slots, keys)] = np.arange(len(keys))
    return Rows(slots, rows)


class LabelIndex(NamedTuple):
    """Weights, as they are looked up.

    Attributes
    ----------
    templates
        What features join.
    slots
        A hash table, shape (a power of two, 2): a key, and where its weights begin times :data:`MOST`, plus how many
        they are.
    relations, weights
        Whose weight, and that.
    transitions
        By the coarse tag of the head, the relation of the modifier before (the last place: there is none), and that of
        the modifier.
    ends
        The smallest and the largest number in each row of the transitions, shape (tags, relations + 1, 2).
    """

    templates: Templates
    slots: Ints
    relations: NDArray[np.int32]
    weights: Singles
    transitions: Singles
    ends: Singles


MOST = 1 << 20
"""A feature has fewer weights than this."""


def label_index(templates: Templates, scores: FeatureWeights, transitions: Singles) -> LabelIndex:
    """The index of weights of relations."""
    keys = room_for_keys(len(scores))
    slots = np.zeros((len(keys), 2), dtype=np.int64)
    slots[claim_all(keys, scores.keys), 1] = scores.starts[:-1] * MOST + np.diff(scores.starts)
    slots[:, 0] = keys
    ends = np.stack([transitions.min(axis=2), transitions.max(axis=2)], axis=2)
    return LabelIndex(templates, slots, scores.labels, scores.weights, transitions, ends)


@njit(cache=True, nogil=True)
def label_tree(codes: Codes, tags: Ints, index: LabelIndex, heads: Ints) -> Ints:
    """The relations of a tree's arcs that score most, of tokens 1, 2, ..."""
    joined, sizes, starts = index.templates.joined, index.templates.sizes, index.templates.starts
    slots, relations, weights, transitions = index.slots, index.relations, index.weights, index.transitions
    mask = len(slots) - 1
    n, num = len(heads) - 1, transitions.shape[2]
    table, back = np.zeros((n, num)), np.zeros((n, num), dtype=np.int64)
    members, best, found = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    asked, at, held = np.empty((3, len(starts)), dtype=np.int64)
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
                asked[known] = starts[t] + (a * sizes[t] + b) * width + places[relative, np.int64(width == PLACES)]
                known += np.int64(a >= 0) & np.int64(b >= 0)
            for k in range(known):  # these wait for the memory together
                at[k] = hash_of(asked[k], mask)
                held[k] = slots[at[k], 0]
            met = np.int64(0)
            for k in range(known):
                slot = at[k]
                while held[k] != asked[k] and held[k] != EMPTY:
                    slot = (slot + 1) & mask
                    held[k] = slots[slot, 0]
                at[met] = slots[slot, 1]
                met += np.int64(held[k] == asked[k])
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
