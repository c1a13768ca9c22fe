"""Scores of all triples of a sentence at once, from lists of weights by two known tokens.

For two known tokens (parent and child, or head and modifier) most templates have no weights, and the others have
weights for a few third tokens, which are listed.  Each entry adds its weight at the tokens with its code, within the
range that its relation allows.  No third token is looked up, and most pairs have no entries.

Templates that ignore the parent, or the head of siblings, give the same result for each of them: their entries are
added once.

Time O(n² t + e n + n³) for n tokens, t templates and e entries found; the last term is for copying rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.factored_scores import Codes, Floats, Ints, Singles, WeightTable
from colgen.problems.dependency.features.hashed_keys import EMPTY, claim_all, find, room_for_keys
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64

Shorts = NDArray[np.int32]

_FREE = 0, 1
"""Position of the varying token in a triple, by type: the grandparent, the sibling."""

_PASSED = 1, 0
"""Position of the token that a template may ignore: the parent, the head."""

_NEAR = np.array([1, 2, 3, 6, 1 << 40])
"""Start of each distance bin of siblings (:func:`~.factored_scores.sibling_relation`)."""


class TripleLists(NamedTuple):
    """Weights of triples of one type by their two known tokens and the order of these.

    Attributes
    ----------
    templates
        Conjunctions of the two known tokens and of the third, shape (templates, 3).
    limits
        Codes of the three tokens from here on have no entries, shape (templates, 3).
    offsets, strides
        Of keys, shapes (templates,) and (templates, 2).
    keys, ends
        Hashed keys (:mod:`~colgen.problems.dependency.features.hashed_keys`), and the range of their entries, shape
        (capacity, 2).
    codes, relations, weights
        Code of the third token, relation without the side, and weight of each entry.
    """

    templates: Ints
    limits: Ints
    offsets: Ints
    strides: Ints
    keys: Ints
    ends: Shorts
    codes: Shorts
    relations: Shorts
    weights: Singles


def lists_of(table: WeightTable, kind: int) -> TripleLists:
    """Return the lists of a table of triples; kind 0: grandparents, 1: siblings."""
    held = np.flatnonzero(table.keys != EMPTY)
    order = held[np.argsort(table.keys[held])]
    keys, weights = table.keys[order], table.values[order, 0]
    template = np.searchsorted(table.offsets, keys, side="right") - 1
    rest, codes = keys - table.offsets[template], []
    for position in range(3):
        code, rest = np.divmod(rest, table.strides[template, position])
        codes.append(code)
    if kind == 0:  # drop contradictory orders, such as p < c with g < p and g > c
        there = ((rest >> 1) & 1 == rest >> 2) | ((rest >> 1) & 1 == rest & 1)
        template, rest, weights = template[there], rest[there], weights[there]
        codes = [code[there] for code in codes]
    free, first = _FREE[kind], _PASSED[kind]
    known = codes[first], codes[2]
    limits = np.ones((len(table.templates), 3), dtype=np.int64)
    for k, of_token in enumerate((*known, codes[free])):
        np.maximum.at(limits[:, k], template, of_token + 1)
    sizes = 2 * limits[:, 0] * limits[:, 1]
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    strides = np.stack([2 * limits[:, 1], np.full(len(limits), 2)], axis=1)
    own = offsets[template] + known[0] * strides[template, 0] + known[1] * strides[template, 1] + (rest & 1)
    order = np.argsort(own, kind="stable")
    unique, begin = np.unique(own[order], return_index=True)
    slots = room_for_keys(len(unique))
    ends = np.zeros((len(slots), 2), dtype=np.int32)
    ends[claim_all(slots, unique)] = np.stack([begin, np.append(begin[1:], len(own))[: len(begin)]], axis=1)
    return TripleLists(
        np.ascontiguousarray(table.templates[:, [first, 2, free]]),
        limits,
        offsets,
        np.ascontiguousarray(strides),
        slots,
        ends,
        codes[free][order].astype(np.int32),
        (rest[order] & ~1).astype(np.int32),
        weights[order],
    )


@inner
def _met(lists, template, first, last, side):  # type: ignore[no-untyped-def]
    """Return the slot of the key of two codes and a side, or -1 if there is no such key."""
    if first < 0 or last < 0 or first >= lists.limits[template, 0] or last >= lists.limits[template, 1]:
        return np.int64(-1)
    key = lists.offsets[template] + first * lists.strides[template, 0] + last * lists.strides[template, 1] + side
    return find(lists.keys, key)


@njit(cache=True, no_cpython_wrapper=True)
def _places(codes, lists):  # type: ignore[no-untyped-def]
    """Return lists of tokens by template and code of the third token: starts, first tokens (-1: none), next tokens."""
    n, templates = codes.shape[1] - 3, lists.templates.shape[0]
    starts = np.zeros(templates + 1, dtype=np.int64)
    for t in range(templates):
        starts[t + 1] = starts[t] + lists.limits[t, 2]
    firsts = np.full(starts[templates], -1, dtype=np.int32)
    nexts = np.empty((templates, n + 1), dtype=np.int32)
    for t in range(templates):
        own = codes[lists.templates[t, 2]]
        for j in range(n, -1, -1):
            if 0 <= own[j] < lists.limits[t, 2]:
                nexts[t, j] = firsts[starts[t] + own[j]]
                firsts[starts[t] + own[j]] = j
    return starts, firsts, nexts


@inner
def _spread(row, first, nexts, low, high, weight):  # type: ignore[no-untyped-def]
    """Add a weight at the tokens of a linked list from ``low`` to ``high`` - 1."""
    j = first
    while j >= 0:
        if low <= j < high:
            row[j] += weight
        j = nexts[j]


@inner
def _share_grandparents(codes, lists, places, shared):  # type: ignore[no-untyped-def]
    """Add the weights of templates that ignore the parent, by child, position of the parent and grandparent.

    The positions: before grandparent and child, between them, after them.
    """
    n = codes.shape[1] - 3
    for t in range(lists.templates.shape[0]):
        if lists.templates[t, 0] != 0:
            continue
        lasts, firsts, nexts = codes[lists.templates[t, 1]], places[1][places[0][t] :], places[2][t]
        for c in range(1, n + 1):
            for side in range(2):
                slot = _met(lists, t, np.int64(0), np.int64(lasts[c]), side)
                if slot < 0:
                    continue
                for e in range(lists.ends[slot, 0], lists.ends[slot, 1]):
                    after_parent, after_child = lists.relations[e] >> 2, (lists.relations[e] >> 1) & 1
                    low, high = (c + 1, n + 1) if after_child else (0, c)
                    row = shared[c, side + 1 - after_parent]
                    _spread(row, firsts[lists.codes[e]], nexts, low, high, lists.weights[e])


@njit(cache=True)
def all_grandparents(codes: Codes, lists: TripleLists, scores: Floats, most: Floats) -> None:
    """Write the scores of all grandparent parts (g, p, c) to ``scores[p, g, c]``, shape (n + 1, n + 1, n + 1).

    The three tokens are distinct, and g may be the root.  ``most`` receives the maximum over g by parent and child, or
    0.  For ``codes`` see :func:`~colgen.problems.dependency.features.arc_scores.score_arcs`.
    """
    n = codes.shape[1] - 3
    shared, row, places = np.zeros((n + 1, 3, n + 1)), np.empty(n + 1), _places(codes, lists)
    _share_grandparents(codes, lists, places, shared)
    _fill_grandparents(codes, lists, places, shared, row, scores, most)


@inner
def _fill_grandparents(codes, lists, places, shared, row, scores, most):  # type: ignore[no-untyped-def]
    n = codes.shape[1] - 3
    most[:] = 0.0
    for p in range(1, n + 1):
        for c in range(1, n + 1):
            if p == c:
                continue
            side = np.int64(p > c)
            for g in range(p):
                row[g] = shared[c, 1 + side, g]
            for g in range(p + 1, n + 1):
                row[g] = shared[c, side, g]
            for t in range(lists.templates.shape[0]):
                first, last = lists.templates[t, 0], lists.templates[t, 1]
                if first == 0:
                    continue
                slot = _met(lists, t, np.int64(codes[first, p]), np.int64(codes[last, c]), side)
                if slot < 0:
                    continue
                firsts, nexts = places[1][places[0][t] :], places[2][t]
                for e in range(lists.ends[slot, 0], lists.ends[slot, 1]):
                    after_parent, after_child = lists.relations[e] & 4, lists.relations[e] & 2
                    low = max(p + 1 if after_parent else 0, c + 1 if after_child else 0)
                    high = min(n + 1 if after_parent else p, n + 1 if after_child else c)
                    _spread(row, firsts[lists.codes[e]], nexts, low, high, lists.weights[e])
            top = -np.inf
            for g in range(n + 1):
                if g != p and g != c:
                    scores[p, g, c] = row[g]
                    top = max(top, row[g])
            most[p, c] = top


@njit(cache=True, no_cpython_wrapper=True)
def _near(distance):  # type: ignore[no-untyped-def]
    """Return twice the distance bin of two siblings, as used in relations."""
    return 2 * (distance - 1 if distance <= 2 else 2 if distance <= 5 else 3)


@inner
def _within(relation, of, side, low, high):  # type: ignore[no-untyped-def]
    """Return the part of a range whose distance from token ``of`` fits the relation; ``side``: 0 before it, 1 after."""
    least, most = _NEAR[relation >> 1], _NEAR[(relation >> 1) + 1]
    if side:
        return max(low, of + least), min(high, of + most)
    return max(low, of - most + 1), min(high, of - least + 1)


@inner
def _share_siblings(codes, lists, places, shared, ends):  # type: ignore[no-untyped-def]
    """Add weights of templates that ignore the head, by modifier and sibling, and those of first and last modifiers.

    ``ends``: first and last modifiers by side of the head, distance and modifier, shape (2, 2, 4, n + 1).
    """
    n = codes.shape[1] - 3
    for t in range(lists.templates.shape[0]):
        if lists.templates[t, 0] != 0:
            continue
        lasts, free = codes[lists.templates[t, 1]], codes[lists.templates[t, 2]]
        firsts, nexts = places[1][places[0][t] :], places[2][t]
        for m in range(1, n + 3):
            if m == n + 1:  # "no sibling before" is not a modifier
                continue
            for side in range(2):
                slot = _met(lists, t, np.int64(0), np.int64(lasts[m]), side)
                if slot < 0:
                    continue
                for e in range(lists.ends[slot, 0], lists.ends[slot, 1]):
                    code, relation, weight = lists.codes[e], lists.relations[e], lists.weights[e]
                    if m > n:
                        _spread(ends[1, side, relation >> 1], firsts[code], nexts, int64(0), n + 1, weight)
                        continue
                    if code == free[n + 1]:
                        ends[0, side, relation >> 1, m] += weight
                    low, high = _within(relation, m, side, int64(1), n + 1)
                    _spread(shared[m], firsts[code], nexts, low, high, weight)


@njit(cache=True)
def all_siblings(codes: Codes, lists: TripleLists, scores: Floats, most: Floats, last: Floats) -> None:
    """Write the scores of all sibling parts (h, s, m) to ``scores[h, m, s]``, shape (n + 1, n + 1, n + 1).

    s is between h and m; s = h: a first modifier m; s = m: m as the last modifier.  ``most`` receives the maximum over
    s by head and modifier without last modifiers, or 0, and ``last`` the scores of last modifiers.  For ``codes`` see
    :func:`~colgen.problems.dependency.features.arc_scores.score_arcs`.
    """
    n = codes.shape[1] - 3
    shared, ends, places = np.zeros((n + 1, n + 1)), np.zeros((2, 2, 4, n + 1)), _places(codes, lists)
    _share_siblings(codes, lists, places, shared, ends)
    _fill_siblings(codes, lists, places, shared, ends, scores, most, last)


@inner
def _fill_siblings(codes, lists, places, shared, ends, scores, most, last):  # type: ignore[no-untyped-def]
    n = codes.shape[1] - 3
    most[:] = 0.0
    last[:] = 0.0
    for h in range(n + 1):
        for s in range(1, n + 1):
            if s != h:
                last[h, s] = ends[1, np.int64(h > s), _near(abs(h - s)) >> 1, s]
        for t in range(lists.templates.shape[0]):
            if lists.templates[t, 0] == 0:
                continue
            firsts, nexts = places[1][places[0][t] :], places[2][t]
            first, none = codes[lists.templates[t, 0], h], codes[lists.templates[t, 1], n + 2]
            for side in range(2):
                # ``side`` is that of the head as seen from the modifier, the opposite of the modifier's side.
                slot = _met(lists, t, np.int64(first), np.int64(none), side)
                if slot >= 0:
                    for e in range(lists.ends[slot, 0], lists.ends[slot, 1]):
                        low, high = _within(lists.relations[e], h, 1 - side, int64(1), n + 1)
                        _spread(last[h], firsts[lists.codes[e]], nexts, low, high, lists.weights[e])
        for m in range(1, n + 1):
            if h == m:
                continue
            own, row = np.int64(h > m), scores[h, m]
            begin, end = min(h, m) + 1, max(h, m)
            near = _near(end - begin + 1)
            row[m], row[h] = last[h, m], ends[0, own, near >> 1, m]
            for s in range(begin, end):
                row[s] = shared[m, s]
            for t in range(lists.templates.shape[0]):
                if lists.templates[t, 0] == 0:
                    continue
                first, other = codes[lists.templates[t, 0], h], codes[lists.templates[t, 1], m]
                slot = _met(lists, t, np.int64(first), np.int64(other), own)
                if slot < 0:
                    continue
                none, firsts, nexts = codes[lists.templates[t, 2], n + 1], places[1][places[0][t] :], places[2][t]
                for e in range(lists.ends[slot, 0], lists.ends[slot, 1]):
                    code, relation = lists.codes[e], lists.relations[e]
                    if relation == near and code == none:
                        row[h] += lists.weights[e]
                    low, high = _within(relation, m, own, begin, end)
                    _spread(row, firsts[code], nexts, low, high, lists.weights[e])
            top = row[h]
            for s in range(begin, end):
                top = max(top, row[s])
            most[h, m] = top
