"""Best trees of a batch of sentences, in one compiled call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_integers, as_numbers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.trees.arborescence import solve_arborescence
from colgen.solvers.trees.eisner_items import FIRST, IMPOSSIBLE, NEG, SIBLING, THIRD
from colgen.solvers.trees.eisner_search import best_with_heads, chart_size

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST = 1e24
"""Larger scores are multiplied by a power of two: sums then stay far from the value for impossible."""

_FACTOR = 2.0**-960

_NO_PARTS = np.zeros((1, 1, 1, 1))
"""A single entry, for parts without scores."""


@dataclass(frozen=True, eq=False)
class BestTrees:
    """Best trees of a batch.

    Attributes
    ----------
    heads
        Heads by sentence and position, shape (sentences, N); -1 for the root, and beyond the length of a sentence.
    scores
        Score of each tree, -inf without one.
    bounds
        Upper bound on the score of every tree of the sentence: the value of the dual solution, or of the chart.  It
        equals the score up to rounding.
    """

    heads: Ints
    scores: Floats
    bounds: Floats


def best_trees(
    arcs: ArrayLike,
    lengths: ArrayLike | None = None,
    *,
    siblings: ArrayLike | None = None,
    grandchildren: ArrayLike | None = None,
    projective: bool = False,
    single_root: bool = False,
) -> BestTrees:
    """Return the best tree of each sentence, by Chu, Liu and Edmonds' or by Eisner's algorithm.

    Parameters
    ----------
    arcs : (sentences, N, N) array by head and modifier, root 0
        -inf marks a missing arc.  Column 0, the diagonal and entries beyond a sentence's length are ignored.
    lengths : (sentences,) array of numbers of words, by default N - 1
    siblings : (sentences, N, N, N) array by head, sibling and modifier, for projective trees
        Adjacent modifiers on one side, the sibling nearer to the head; sibling = head: the modifier is the nearest.
        -inf forbids a part.  Entries of no such part are ignored.
    grandchildren : (sentences, N, N, N) array by grandparent, head and modifier, for projective trees
        Arcs from the root are at [0, 0, m].  -inf forbids a part.  Entries of no such part are ignored.
    projective : whether arcs must not cross
    single_root : whether exactly one arc leaves the root

    Raises
    ------
    ArrayError
        If shapes do not fit, a score is NaN or +inf, or trees that need not be projective have scores of parts.

    Notes
    -----
    Arrays of float32 and float64 are read where they are.  Each sentence is computed with 64 bits.
    """
    scores = as_numbers(arcs, "scores", dtype=None)
    if scores.ndim != 3 or scores.shape[1] != scores.shape[2] or scores.shape[1] < 2:
        shape = scores.shape[-2:]
        raise ArrayError(f"expected arc scores of shape (n + 1, n + 1) with n ≥ 1 for each sentence, not {shape}")
    count, size = scores.shape[:2]
    words: Ints = (
        np.full(count, size - 1)
        if lengths is None
        else as_integers(lengths, "lengths", shape=(count,), low=1, high=size - 1)
    )
    cube = (count, size, size, size)
    adjacent = _NO_PARTS if siblings is None else as_numbers(siblings, "siblings", shape=cube, dtype=None)
    below = _NO_PARTS if grandchildren is None else as_numbers(grandchildren, "grandchildren", shape=cube, dtype=None)
    order = THIRD if grandchildren is not None else FIRST if siblings is None else SIBLING
    if order != FIRST and not projective:
        raise ArrayError("siblings, grandchildren: expected projective=True; other trees need a search")
    heads = np.full((count, size), -1)
    values, bounds = np.full((2, count), -np.inf)
    if projective:
        wrong = _projective(scores, adjacent, below, words, order, bool(single_root), heads, values, bounds)
    else:
        wrong = _any_trees(scores, words, bool(single_root), heads, values, bounds)
    if wrong >= 0:
        named = "arc scores" if order == FIRST else "scores of arcs or parts"
        raise ArrayError(
            f"sentence {wrong}: NaN or +inf in the {named}, expected numbers, or -inf for a missing arc or part"
        )
    return BestTrees(heads, values, bounds)


@njit(cache=True, nogil=True)
def _any_trees(scores: Floats, words: Ints, single_root: bool, heads: Ints, values: Floats, bounds: Floats) -> int:
    """Find all trees.  Return the first sentence with an invalid score, or -1."""
    for k in range(len(words)):
        own = scores[k, : words[k] + 1, : words[k] + 1]
        factor = _factor(_largest_arc(own))
        if factor == 0.0:
            return k
        arcs = _usable_arcs(own, -np.inf, factor)
        found, bound, _, feasible = solve_arborescence(arcs, single_root)
        if feasible:
            bounds[k], values[k] = bound / factor, _write(found, arcs, heads[k]) / factor
    return -1


@njit(cache=True, nogil=True)
def _projective(
    scores: Floats,
    siblings: Floats,
    grandchildren: Floats,
    words: Ints,
    order: int,
    single_root: bool,
    heads: Ints,
    values: Floats,
    bounds: Floats,
) -> int:
    """Find all projective trees.  Return the first sentence with an invalid score, or -1."""
    no_parts, no_triples = np.zeros((1, 1, 1)), np.zeros((1, 1, 1, 1, 1, 1))
    for k in range(len(words)):
        size = words[k] + 1
        own = scores[k, :size, :size]
        of_siblings, of_grandchildren = (
            siblings[min(k, len(siblings) - 1)],
            grandchildren[min(k, len(grandchildren) - 1)],
        )
        factor = _factor(_largest_arc(own))
        if order != FIRST:
            factor = min(factor, _factor(_largest_part(of_siblings, of_grandchildren, size)))
        if factor == 0.0:
            return k
        arcs = _usable_arcs(own, NEG, factor)
        sib, grand, triples = no_parts, no_parts, no_triples
        if order != FIRST:
            sib = _usable_siblings(of_siblings, size, factor)
        if order == THIRD:
            grand, triples = _usable_grandchildren(of_grandchildren, size, factor), np.zeros((2, 2, 2, 2, 2, 2))
        rest = (order, sib, grand, triples, np.zeros(size, np.int64), single_root)
        found = np.empty(size, np.int64)
        bound = best_with_heads(arcs, rest, np.empty(chart_size(order, size)), found)
        if bound > IMPOSSIBLE:
            value = _write(found, arcs, heads[k])
            if order != FIRST:
                value += _score_of_parts(found, sib, grand, order)
            bounds[k], values[k] = bound / factor, value / factor
    return -1


# --- scores that kernels can add -------------------------------------------------------------------------------------


@njit(cache=True, no_cpython_wrapper=True)
def _factor(largest: float) -> float:
    """Return the factor of all scores, 1 unless they are enormous; 0 if they contain NaN or +inf."""
    if not largest < np.inf:
        return 0.0
    return 1.0 if largest <= _LARGEST else _FACTOR


@njit(cache=True, no_cpython_wrapper=True)
def _size_of(value: float) -> float:
    """Return the absolute value of a score, 0 for -inf, and NaN for NaN or +inf."""
    if value == -np.inf:
        return 0.0
    return abs(value) if value < np.inf else np.nan


@njit(cache=True, no_cpython_wrapper=True)
def _largest_arc(scores: Floats) -> float:
    """Return the largest absolute value of the arc scores, NaN if they contain NaN or +inf."""
    size, largest = len(scores), 0.0
    for h in range(size):
        for m in range(1, size):
            if m != h:
                value = _size_of(scores[h, m])
                if not value <= largest:
                    largest = value
                    if np.isnan(value):
                        return largest
    return largest


@njit(cache=True, no_cpython_wrapper=True)
def _largest_part(siblings: Floats, grandchildren: Floats, size: int) -> float:
    """Return the largest absolute value of the scores of parts, NaN if they contain NaN or +inf.

    An array of a single entry stands for parts without scores.
    """
    largest = 0.0
    for h in range(size):
        for m in range(1, size):
            if m == h:
                continue
            if siblings.size > 1:
                for s in range(min(h, m), max(h, m) + 1):
                    if s == m:
                        continue
                    value = _size_of(siblings[h, s, m])
                    if np.isnan(value):
                        return value
                    largest = max(largest, value)
            if grandchildren.size > 1:
                for g in range(size if h > 0 else 1):
                    if g == m or (g == h and h > 0):
                        continue
                    value = _size_of(grandchildren[g, h, m])
                    if np.isnan(value):
                        return value
                    largest = max(largest, value)
    return largest


@njit(cache=True, no_cpython_wrapper=True)
def _usable_arcs(scores: Floats, missing: float, factor: float) -> Floats:
    """Return arc scores times a factor, with ``missing`` for missing arcs."""
    size = len(scores)
    arcs = np.full((size, size), missing)
    for h in range(size):
        for m in range(1, size):
            if m != h and scores[h, m] != -np.inf:
                arcs[h, m] = scores[h, m] * factor
    return arcs


@njit(cache=True, no_cpython_wrapper=True)
def _usable_siblings(scores: Floats, size: int, factor: float) -> Floats:
    """Return sibling scores times a factor by head, modifier and sibling, the layout of the kernels."""
    usable = np.zeros((size, size, size))
    if scores.size > 1:
        for h in range(size):
            for s in range(size):
                for m in range(1, size):
                    between = h < s < m or (h > s and s > m)
                    if m != h and (s == h or between):
                        value = scores[h, s, m]
                        usable[h, m, s] = value * factor if value > -np.inf else NEG
    return usable


@njit(cache=True, no_cpython_wrapper=True)
def _usable_grandchildren(scores: Floats, size: int, factor: float) -> Floats:
    """Return grandchild scores times a factor."""
    usable = np.zeros((size, size, size))
    for g in range(size):
        for h in range(size):
            if g == h and h > 0:
                continue
            for m in range(1, size):
                if m != g and m != h and (h > 0 or g == 0):
                    value = scores[g, h, m]
                    usable[g, h, m] = value * factor if value > -np.inf else NEG
    return usable


# --- trees -----------------------------------------------------------------------------------------------------------


@njit(cache=True, no_cpython_wrapper=True)
def _write(found: Ints, arcs: Floats, heads: Ints) -> float:
    """Copy the heads of a tree.  Return the score of its arcs."""
    score = 0.0
    for m in range(1, len(found)):
        heads[m] = found[m]
        score += arcs[found[m], m]
    return score


@njit(cache=True, no_cpython_wrapper=True)
def _score_of_parts(heads: Ints, siblings: Floats, grandchildren: Floats, order: int) -> float:
    """Return the score of a tree's parts, from arrays in the layout of the kernels."""
    score = 0.0
    for m in range(1, len(heads)):
        h = heads[m]
        step = 1 if m < h else -1  # towards the head
        s = m + step
        while s != h and heads[s] != h:
            s += step
        score += siblings[h, m, s]
        if order == THIRD:
            score += grandchildren[heads[h] if h > 0 else 0, h, m]
    return score
