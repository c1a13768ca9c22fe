"""Part scores for kernels, computed once on first use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.factored_scores import (
    RELATIONS,
    Codes,
    WeightTable,
    empty_table,
    score_row,
    score_triple,
)
from colgen.problems.dependency.features.triple_lists import TripleLists, all_grandparents, all_siblings
from colgen.problems.grandparent_parsing.kernels.deadlines import STEPS, expired
from colgen.problems.grandparent_parsing.kernels.head_automata import Automata, lay_out
from colgen.solvers.arrays import as_floats, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64, overwrite
from colgen.solvers.reserved import sparse_zeros

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


WORK = 100
"""Approximate number of elementary steps to score a part."""


NO_PAIRS = empty_table(np.zeros((1, 2), np.int64), np.ones(1, np.int64), weights=1, relations=2, capacity=0)
NO_TRIPLES = empty_table(np.zeros((1, 3), np.int64), np.ones(1, np.int64), weights=1, relations=RELATIONS, capacity=2)
"""Empty tables."""

_NO_BOUNDS = np.zeros((0, 0))


class TreeParts(NamedTuple):
    """Source of part scores, and the scores computed so far.

    Attributes
    ----------
    codes, grandparents, siblings
        A sentence and the weights of its parts (:mod:`colgen.problems.dependency.features.factored_scores`); used
        unless ``dense``.
    grandparent_pairs, sibling_pairs
        Bound tables of parent and child, and of head and modifier; may be empty.
    dense
        Whether the arrays contain all scores from the start.
    grandparent_values
        By parent, grandparent and child.  In rows that are ``begun``: scores where ``grandparent_known``, else upper
        bounds.  Other rows are not filled; use ``bounds``, by parent and child.
    sibling_values
        Scores by head, modifier and sibling where ``sibling_known``; sibling = head means none before, and sibling =
        modifier stands for the part of a last modifier.  The arrays have size 0 if scores are not stored; each use then
        computes them again.
    scored
        Number of parts of each type scored, shape (2,).
    """

    codes: Codes
    grandparents: WeightTable
    siblings: WeightTable
    grandparent_pairs: WeightTable
    sibling_pairs: WeightTable
    dense: bool
    grandparent_values: Floats
    grandparent_known: Mask
    sibling_values: Floats
    sibling_known: Mask
    scored: Ints
    begun: Mask
    bounds: Floats


def lazy_parts(
    codes: Codes,
    grandparents: WeightTable,
    siblings: WeightTable,
    grandparent_pairs: WeightTable | None = None,
    sibling_pairs: WeightTable | None = None,
    bounds: Floats | None = None,
    *,
    keep: bool = True,
) -> TreeParts:
    """Return the parts of a sentence, none of them scored yet.

    ``keep``: store scores in arrays of all possible parts; without it only :func:`automata_of` may be used.
    ``bounds``, by parent and child, and the tables of pairs are needed for pricing arcs.
    """
    vertices = codes.shape[1] - 2 if keep else 0
    shape = (vertices, vertices, vertices)
    return TreeParts(
        codes,
        grandparents,
        siblings,
        NO_PAIRS if grandparent_pairs is None else grandparent_pairs,
        NO_PAIRS if sibling_pairs is None else sibling_pairs,
        False,
        sparse_zeros(shape),
        sparse_zeros(shape, np.bool_),
        sparse_zeros(shape),
        sparse_zeros(shape, np.bool_),
        np.zeros(2, dtype=np.int64),
        np.zeros(shape[:2], dtype=np.bool_),
        np.zeros(shape[:2]) if bounds is None else bounds.copy(),
    )


def all_parts(
    codes: Codes, grandparents: TripleLists, siblings: TripleLists
) -> tuple[TreeParts, Floats, Floats, Floats]:
    """Return the parts of a sentence, all scored, and three arrays of bounds.

    The bounds are the largest score of a grandparent part by parent and child, the largest score of a sibling part by
    head and modifier, not counting that of a last modifier, and the scores of last modifiers.
    """
    size = codes.shape[1] - 2
    shape = (size, size, size)
    by_parent, by_modifier, most = np.empty(shape), np.empty(shape), np.empty((3, size, size))
    all_grandparents(codes, grandparents, by_parent, most[0])
    all_siblings(codes, siblings, by_modifier, most[1], most[2])
    every = np.ones(shape, dtype=np.bool_)
    n = size - 1
    scored = np.array([n * n * (n - 1), n * (n + 1) * (n + 2) // 3])
    parts = TreeParts(
        codes,
        *(NO_TRIPLES, NO_TRIPLES, NO_PAIRS, NO_PAIRS),
        True,
        by_parent,
        every,
        by_modifier,
        every,
        scored,
        every[0],
        _NO_BOUNDS,
    )
    return parts, most[0], most[1], most[2]


def given_parts(vertices: int, grandparents: Floats | None, siblings: Floats | None) -> TreeParts:
    """Return parts with scores from arrays by grandparent, parent, child and head, sibling, modifier; None: all 0."""
    vertices = as_integer(vertices, "vertices", low=1)
    if grandparents is not None:
        grandparents = as_floats(grandparents, "grandparents", shape=(vertices,) * 3)
    if siblings is not None:
        siblings = as_floats(siblings, "siblings", shape=(vertices,) * 3)
    shape = (vertices, vertices, vertices)
    by_parent, by_modifier = np.zeros(shape), np.zeros(shape)
    if grandparents is not None:
        by_parent[:] = np.swapaxes(grandparents, 0, 1)
    if siblings is not None:
        by_modifier[:] = np.swapaxes(siblings, 1, 2)
        each = np.arange(vertices)
        by_modifier[:, each, each] = siblings[each, :, each]
    return TreeParts(
        np.zeros((1, vertices + 2), dtype=np.int32),
        *(NO_TRIPLES, NO_TRIPLES, NO_PAIRS, NO_PAIRS),
        True,
        by_parent,
        np.zeros(shape, dtype=np.bool_),
        by_modifier,
        np.zeros(shape, dtype=np.bool_),
        np.zeros(2, dtype=np.int64),
        np.ones(shape[:2], dtype=np.bool_),
        _NO_BOUNDS,
    )


@inner
def score_grandparents(parts, p, c, wanted, row):  # type: ignore[no-untyped-def]
    """Score the parts of the arc (p, c) with the grandparents ``wanted``, none of them known; ``row`` is workspace."""
    if not parts.dense:
        score_row(parts.codes, parts.grandparents, parts.grandparent_pairs, int64(0), p, c, wanted, row)
    for g in range(wanted.shape[0]):
        if wanted[g]:
            parts.grandparent_known[p, g, c] = True
            parts.scored[0] += 1
            if not parts.dense:
                if not parts.begun[p, g]:
                    parts.begun[p, g] = True
                    overwrite(parts.grandparent_values[p, g], parts.bounds[p])
                parts.grandparent_values[p, g, c] = row[g]


@inner
def score_siblings(parts, h, m, wanted, row):  # type: ignore[no-untyped-def]
    """Score the parts of the arc (h, m) with the siblings ``wanted``, and the part of m as the last modifier."""
    if not parts.dense:
        score_row(parts.codes, parts.siblings, parts.sibling_pairs, int64(1), h, m, wanted, row)
    for s in range(wanted.shape[0]):
        if wanted[s]:
            parts.sibling_known[h, m, s] = True
            parts.scored[1] += 1
            if not parts.dense:
                parts.sibling_values[h, m, s] = row[s]
    if not parts.sibling_known[h, m, m]:
        parts.sibling_known[h, m, m] = True
        parts.scored[1] += 1
        if not parts.dense:
            parts.sibling_values[h, m, m] = score_triple(parts.codes, parts.siblings, int64(1), h, m, h)


@inner
def compute_grandparent(parts, g, p, c):  # type: ignore[no-untyped-def]
    """Return the score of one part without storing it."""
    parts.scored[0] += 1
    if parts.dense:
        return parts.grandparent_values[p, g, c]
    return score_triple(parts.codes, parts.grandparents, int64(0), g, p, c)


@inner
def compute_siblings(parts, h, m, wanted, row):  # type: ignore[no-untyped-def]
    """Write the scores of the arc (h, m) with siblings, and with m as the last modifier, into ``row`` only.

    Siblings h and m have the meaning described in :class:`TreeParts`.
    """
    if parts.dense:
        overwrite(row, parts.sibling_values[h, m])
    else:
        score_row(parts.codes, parts.siblings, parts.sibling_pairs, int64(1), h, m, wanted, row)
        row[m] = score_triple(parts.codes, parts.siblings, int64(1), h, m, h)
    parts.scored[1] += 1
    for s in range(wanted.shape[0]):
        parts.scored[1] += np.int64(wanted[s])


@njit(cache=True, no_cpython_wrapper=True)
def _score_in_place(parts: TreeParts, a: Automata, p: int, wanted: Mask, row: Floats) -> None:
    """Write the part scores of a vertex's automaton without storing them elsewhere."""
    tails, modifiers, order = a.heads, a.modifiers, a.order
    start, stop = a.outgoing[p], a.outgoing[p + 1]
    first, final = a.incoming[p], a.incoming[p + 1]
    for k in range(start, stop):
        c = modifiers[order[k]]
        for e in range(first, final):
            wanted[tails[e]] = tails[e] != c
        if first < final:
            score_row(parts.codes, parts.grandparents, parts.grandparent_pairs, int64(0), p, c, wanted, row)
        for e in range(first, final):
            at = a.grandparent_at[p] + (e - first) * (stop - start) + k - start
            a.grandparents[at] = row[tails[e]] if wanted[tails[e]] else -np.inf
            wanted[tails[e]] = False
    for side in range(2):
        low, high = (start, a.split[p]) if side == 0 else (a.split[p], stop)
        width, at = high - low + 1, a.sibling_at[p, side]
        wanted[p] = True
        for k in range(1, width):
            m = modifiers[order[low + k - 1]]
            score_row(parts.codes, parts.siblings, parts.sibling_pairs, int64(1), p, m, wanted, row)
            a.siblings[at + k] = row[p]
            a.siblings[at + k * width] = score_triple(parts.codes, parts.siblings, int64(1), p, m, p)
            for j in range(1, k):
                a.siblings[at + j * width + k] = row[modifiers[order[low + j - 1]]]
            wanted[m] = True  # it can be the sibling of modifiers further from the head
        for k in range(1, width):
            wanted[modifiers[order[low + k - 1]]] = False
        wanted[p] = False
    parts.scored[0] += (final - first) * (stop - start)
    parts.scored[1] += (a.split[p] - start) * (a.split[p] - start + 3) // 2
    parts.scored[1] += (stop - a.split[p]) * (stop - a.split[p] + 3) // 2


@njit(cache=True)
def automata_of(candidates: Mask, arcs: Floats, parts: TreeParts) -> Automata:
    """Return the automata of candidate arcs, with the scores of all their parts.

    Scores may be missing if time runs out: check :func:`~colgen.problems.grandparent_parsing.kernels.deadlines.expired`
    afterwards.
    """
    a = lay_out(candidates, arcs)
    n = candidates.shape[0] - 1
    wanted, row = np.zeros(n + 1, dtype=np.bool_), np.empty(n + 1)
    tails, modifiers, order, incoming, outgoing = a.heads, a.modifiers, a.order, a.incoming, a.outgoing
    grandparents, siblings = a.grandparents, a.siblings
    grandparent_values, grandparent_known = parts.grandparent_values, parts.grandparent_known
    sibling_values, sibling_known = parts.sibling_values, parts.sibling_known
    steps, kept = 0, parts.dense or grandparent_known.shape[0] > 0
    for p in range(n + 1):
        start, stop = outgoing[p], outgoing[p + 1]
        steps += WORK * (stop - start) * (incoming[p + 1] - incoming[p] + stop - start)
        if steps > STEPS:
            steps = 0
            if expired():
                return a
        if not kept:
            _score_in_place(parts, a, p, wanted, row)
            continue
        position = a.grandparent_at[p]
        for k in range(start, stop):
            c = modifiers[order[k]]
            missing = False
            for e in range(incoming[p], incoming[p + 1]):
                g = tails[e]
                if g != c and not grandparent_known[p, g, c]:
                    wanted[g] = missing = True
            if missing:
                score_grandparents(parts, p, c, wanted, row)
                wanted[:] = False
            for i in range(incoming[p + 1] - incoming[p]):
                g = tails[incoming[p] + i]
                value = -np.inf if g == c else grandparent_values[p, g, c]
                grandparents[position + i * (stop - start) + k - start] = value
        for side in range(2):
            low, high = (start, a.split[p]) if side == 0 else (a.split[p], stop)
            width = high - low + 1
            at = a.sibling_at[p, side]
            for k in range(1, width):
                m = modifiers[order[low + k - 1]]
                missing = not sibling_known[p, m, p]
                wanted[p] = missing
                for j in range(1, k):
                    s = modifiers[order[low + j - 1]]
                    if not sibling_known[p, m, s]:
                        wanted[s] = missing = True
                if missing:
                    score_siblings(parts, p, m, wanted, row)
                    wanted[:] = False
                siblings[at + k] = sibling_values[p, m, p]
                siblings[at + k * width] = sibling_values[p, m, m]
                for j in range(1, k):
                    siblings[at + j * width + k] = sibling_values[p, m, modifiers[order[low + j - 1]]]
    return a
