"""Local parts of the allowed arcs as tuples of tokens, and their scores in the parsers' layout.

A tuple has one column of the sentence's codes per token, a relation and, for arcs, a bin of the distance. After the n +
1 columns of the root and the words, two columns represent missing tokens.
"""

from __future__ import annotations

import numpy as np

from colgen.problems.dependency.features.tags_between import score_between
from colgen.problems.dependency.features.tuple_index import Index
from colgen.problems.dependency.features.tuple_scores import (
    Bools,
    Floats,
    Ints,
    Shorts,
    Singles,
    score_tuples,
)
from colgen.solvers.kernel_cache import njit

ARC_RELATIONS, ADJACENT_RELATIONS, OUTERMOST_RELATIONS = 2, 8, 4

NUM_BINS = 7
"""Bins of the distance of an arc: 1, 2, 3, 4 to 5, 6 to 9, 10 to 19, 20 and more."""


@njit(cache=True)
def arc_tuples(rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Return for (head, modifier): whether the head is to the right, and the bin of the distance, numbered from 1."""
    relation, bins = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    for k in range(len(rows)):
        h, m = rows[k, 0], rows[k, 1]
        distance = abs(h - m)
        relation[k] = h > m
        if distance <= 3:
            bins[k] = distance
        else:
            bins[k] = 4 if distance <= 5 else 5 if distance <= 9 else 6 if distance <= 19 else NUM_BINS
    return rows, relation, bins


@njit(cache=True)
def adjacent_tuples(rows: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """Return for (head, modifier, adjacent sibling): the side, and the distance of the siblings.

    Column n + 1 represents no sibling, which is given as the head.
    """
    columns, relation = rows.copy(), np.empty(len(rows), np.int64)
    for k in range(len(rows)):
        h, m, s = rows[k, 0], rows[k, 1], rows[k, 2]
        distance = abs(m - s)
        near = distance - 1 if distance <= 2 else 2 if distance <= 5 else 3
        relation[k] = 2 * near + (h > m)
        if s == h:
            columns[k, 2] = size
    return columns, relation, relation[:0]


@njit(cache=True)
def outermost_tuples(rows: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """Return for (head, modifier, the modifier's outermost modifier): the side, and whether it is inside the arc.

    Column n + 1 represents none inside, given as the modifier; column n + 2 none outside, given as the head.
    """
    columns, relation = rows.copy(), np.empty(len(rows), np.int64)
    for k in range(len(rows)):
        h, m, c = rows[k, 0], rows[k, 1], rows[k, 2]
        beyond = c == h or (c != m and (c > m) == (m > h))
        relation[k] = 2 * beyond + (h > m)
        if c == m:
            columns[k, 2] = size
        elif c == h:
            columns[k, 2] = size + 1
    return columns, relation, relation[:0]


@njit(cache=True)
def pairs_of(allowed: Bools) -> Ints:
    """Return head and modifier of the allowed arcs, shape (arcs, 2)."""
    rows, count = np.empty((allowed.size, 2), np.int64), 0
    for h in range(len(allowed)):
        for m in range(len(allowed)):
            if allowed[h, m]:
                rows[count, 0], rows[count, 1] = h, m
                count += 1
    return rows[:count]


@njit(cache=True)
def score_arcs(codes: Shorts, index: Index, weights: Singles, tags: Ints, between: Singles, allowed: Bools) -> Floats:
    """Return the scores of the allowed arcs, zero elsewhere, shape (N, N).

    Tags between head and modifier are included, see
    :func:`colgen.problems.dependency.features.tags_between.score_between`.
    """
    scores = np.zeros(allowed.shape)
    rows, relation, bins = arc_tuples(pairs_of(allowed))
    found = score_tuples(codes, index, weights, rows, relation, bins)
    for k in range(len(rows)):
        scores[rows[k, 0], rows[k, 1]] = found[k]
    score_between(tags, between, allowed, scores)
    return scores


@njit(cache=True)
def to_cube(rows: Ints, scores: Floats, size: int) -> Floats:
    """Return scores by three words, zero elsewhere, shape (N, N, N)."""
    cube = np.zeros((size, size, size))
    for k in range(len(rows)):
        cube[rows[k, 0], rows[k, 1], rows[k, 2]] = scores[k]
    return cube
