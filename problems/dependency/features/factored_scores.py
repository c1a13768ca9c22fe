"""Scores of arcs and of triples of tokens, as sums of weights of conjunctions in tables with exact keys.

A *conjunction* is a tuple of attributes of one token (its form and tag, the tags of its neighbours, ...).  Its code in
each token is an integer: ``codes[k, i]`` for conjunction k and token i, -1 if it did not occur in training.  A template
combines one conjunction of each token of a part with a relation of the tokens, and the weight of

    (template, code, code[, code], relation)

is looked up under a unique key (:mod:`colgen.problems.dependency.features.mixed_radix`).  Complete keys are compared
(:mod:`colgen.problems.dependency.features.hashed_keys`), so there are no collisions, and a maximum over a table is a
valid upper bound.

An arc's key contains the direction; its row contains a weight for the direction and one for each distance bin.  A
triple's key contains one of eight relations.

A look-up takes time O(1).  All arcs of a sentence are scored in :mod:`colgen.problems.dependency.features.arc_scores`.

Source: S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), section 2.3 and 4.3.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.hashed_keys import EMPTY, claim, claim_all, find, room_for_keys
from colgen.problems.dependency.features.mixed_radix import radix_of
from colgen.solvers.arrays import as_floats, as_integer, as_integers
from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

NUM_DISTANCES = 7
ROW = 1 + NUM_DISTANCES
"""Number of weights per arc key: one for the direction, and one for each distance bin."""

RELATIONS = 8
"""Number of relations of a triple of tokens."""


class WeightTable(NamedTuple):
    """Weights of one type of parts.

    Attributes
    ----------
    templates
        Conjunction of each token, shape (templates, 2 or 3).
    offsets
        First key of each template.
    strides
        Factor of each token's code in the key, shape (templates, 2 or 3).
    keys
        For triples a hash table, shape (capacity,), a power of two; -1 where empty.  For arcs all keys in ascending
        order, looked up by another index (:mod:`colgen.problems.dependency.features.arc_scores`).
    values
        Shape (capacity, weights per key).
    """

    templates: Ints
    offsets: Ints
    strides: Ints
    keys: Ints
    values: Singles


def empty_table(templates: Ints, sizes: Ints, *, weights: int, relations: int, capacity: int = 1 << 12) -> WeightTable:
    """Return a table without weights.

    ``templates`` contains the conjunction of each token, shape (templates, tokens per part); ``sizes`` the number of
    codes of each conjunction.  Keys have ``weights`` weights each, and ``relations`` values of their smallest digit.
    Raises OverflowError if the keys do not fit into 63 bits.
    """
    weights = as_integer(weights, "weights", low=1)
    radix = radix_of(templates, sizes, relations)
    keys, values = np.full(capacity, EMPTY), np.zeros((capacity, weights), dtype=np.float32)
    return WeightTable(radix.templates, radix.offsets, radix.strides, keys, values)


def table_of(table: WeightTable, keys: Ints, values: Singles, *, room: int = 0) -> WeightTable:
    """Return a table with the templates of ``table``, one row of ``values`` per key.

    It is at most half full, even with ``room`` keys.
    """
    keys = as_integers(keys, "keys", shape=("features",), low=0)
    values = as_floats(values, "values", shape=(len(keys), None), dtype=np.float32)
    room = as_integer(room, "room", low=0)
    held = room_for_keys(max(len(keys), room))
    rows = np.zeros((len(held), values.shape[1]), dtype=np.float32)
    rows[claim_all(held, keys)] = values
    return table._replace(keys=held, values=rows)


# --- relations -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def distance_bin(first, second):  # type: ignore[no-untyped-def]
    """Return the distance bin of two tokens: 1, 2, 3, 4 to 5, 6 to 9, 10 to 19, 20 and more."""
    distance = abs(first - second)
    if distance <= 3:
        return distance - 1
    if distance <= 5:
        return 3
    if distance <= 9:
        return 4
    return 5 if distance <= 19 else 6


@njit(cache=True, no_cpython_wrapper=True)
def grandparent_relation(g, p, c):  # type: ignore[no-untyped-def]
    """Return the relative positions of grandparent, parent and child (equation 6 of the source); bit 0: p > c."""
    return 4 * (g > p) + 2 * (g > c) + (p > c)


@njit(cache=True, no_cpython_wrapper=True)
def sibling_relation(h, s, m):  # type: ignore[no-untyped-def]
    """Return the side of the head (bit 0) and the distance bin of the siblings: 1, 2, 3 to 5, 6 and more.

    ``s == h``: m is the first modifier on its side; ``m == h``: s is the last one.
    """
    outer = s if m == h else m
    distance = abs(outer - h) if m == h else abs(m - s)
    near = distance - 1 if distance <= 2 else 2 if distance <= 5 else 3
    return 2 * near + (h > outer)


# --- triples ---------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _columns(kind, i, j, k, n):  # type: ignore[no-untyped-def]
    """Return a triple's relation, and the columns of ``codes`` of its tokens; kind 0: grandparents, 1: siblings."""
    if kind == 0:
        return grandparent_relation(i, j, k), i, j, k
    return sibling_relation(i, j, k), i, n + 1 if j == i else j, n + 2 if k == i else k


@njit(cache=True, borrows=True)
def _key(codes, table, t, a, b, c, relation):  # type: ignore[no-untyped-def]
    """Return the key of a template's feature in three columns of ``codes``; -1 if a code is missing."""
    template = table.templates[t]
    first, second, third = codes[template[0], a], codes[template[1], b], codes[template[2], c]
    if first < 0 or second < 0 or third < 0:
        return np.int64(-1)
    strides = table.strides[t]
    return table.offsets[t] + first * strides[0] + second * strides[1] + third * strides[2] + relation


@njit(cache=True, no_cpython_wrapper=True, borrows=True)
def score_triple(codes, table, kind, i, j, k):  # type: ignore[no-untyped-def]
    """Return the score of one triple; for kernels."""
    relation, a, b, c = _columns(kind, i, j, k, codes.shape[1] - 3)
    score = 0.0
    for t in range(table.templates.shape[0]):
        key = _key(codes, table, t, a, b, c, relation)
        slot = find(table.keys, key) if key >= 0 else np.int64(-1)
        if slot >= 0:
            score += table.values[slot, 0]
    return score


@njit(cache=True)
def score_triples(codes: Codes, table: WeightTable, kind: int, triples: Ints) -> Floats:
    """Return the scores of triples, shape (parts, 3).

    ``kind`` 0: grandparent, parent, child.  ``kind`` 1: head, sibling, modifier; sibling = head: the modifier is the
    first on its side; modifier = head: the sibling is the last.
    """
    scores = np.empty(triples.shape[0])
    for part in range(triples.shape[0]):
        scores[part] = score_triple(codes, table, kind, triples[part, 0], triples[part, 1], triples[part, 2])
    return scores


@njit(cache=True, no_cpython_wrapper=True)
def score_row(codes, table, pairs, kind, i, k, members, row):  # type: ignore[no-untyped-def]
    """Write the scores of all triples with two given tokens to ``row``, faster than one by one; for kernels.

    ``kind`` 0: parent i and child k, varying grandparent; 1: head i and modifier k, varying sibling between them or the
    head.  ``members`` is the mask of varying tokens to score.  ``pairs`` is the bound table of the given tokens:
    templates without a key there are skipped, none if it is empty.
    """
    n = codes.shape[1] - 3
    templates = table.templates.shape[0]
    bases = np.empty(templates, dtype=np.int64)
    active = np.empty(templates, dtype=np.int64)
    count = 0
    first, free = (1, 0) if kind == 0 else (0, 1)
    for t in range(templates):
        a = codes[table.templates[t, first], i]
        b = codes[table.templates[t, 2], k]
        if a < 0 or b < 0:
            continue
        if pairs.keys.shape[0] > 0:
            if a >= pairs.templates[t, 2] or b >= pairs.templates[t, 3]:
                continue
            key = pairs.offsets[t] + a * pairs.strides[t, 0] + b * pairs.strides[t, 1] + (i > k)
            if find(pairs.keys, key) < 0:
                continue
        bases[count] = table.offsets[t] + a * table.strides[t, first] + b * table.strides[t, 2]
        active[count] = t
        count += 1
    low, high = (0, n + 1) if kind == 0 else (min(i, k), max(i, k) + 1)
    for j in range(low, high):
        if j == k or not members[j] or (kind == 0 and j == i):
            continue
        if kind == 0:
            relation, column = grandparent_relation(j, i, k), j
        else:
            relation, column = sibling_relation(i, j, k), n + 1 if j == i else j
        score = 0.0
        for c in range(count):
            t = active[c]
            code = codes[table.templates[t, free], column]
            if code >= 0:
                slot = find(table.keys, bases[c] + code * table.strides[t, free] + relation)
                if slot >= 0:
                    score += table.values[slot, 0]
        row[j] = score


@njit(cache=True)
def tree_triples(heads: Ints, kind: int) -> Ints:
    """Return the grandparent parts (kind 0) or the sibling parts (kind 1) of a tree, shape (parts, 3)."""
    n = heads.shape[0] - 1
    parts = np.empty((3 * n, 3), dtype=np.int64)
    count = 0
    if kind == 0:
        for c in range(1, n + 1):
            p = heads[c]
            if p > 0:
                parts[count, 0], parts[count, 1], parts[count, 2] = heads[p], p, c
                count += 1
        return parts[:count]
    for h in range(n + 1):
        for side in range(2):
            before = h
            step = 1 if side else -1
            m = h + step
            while 1 <= m <= n:
                if heads[m] == h:
                    parts[count, 0], parts[count, 1], parts[count, 2] = h, before, m
                    count += 1
                    before = m
                m += step
            if before != h:
                parts[count, 0], parts[count, 1], parts[count, 2] = h, before, h
                count += 1
    return parts[:count]


@njit(cache=True)
def mark_triples(
    codes: Codes, table: WeightTable, kind: int, triples: Ints, plus: bool, marks: Ints, count: int
) -> int:
    """Write a mark (:mod:`colgen.solvers.averaging`) for each feature of triples; return the number of marks.

    Places are slots of the table, in which new features get a slot; memory must be reserved.
    """
    for part in range(triples.shape[0]):
        i, j, k = triples[part, 0], triples[part, 1], triples[part, 2]
        relation, a, b, c = _columns(kind, i, j, k, codes.shape[1] - 3)
        for t in range(table.templates.shape[0]):
            key = _key(codes, table, t, a, b, c, relation)
            if key >= 0:
                marks[count] = 2 * claim(table.keys, key) + np.int64(plus)
                count += 1
    return count
