"""Best trees of arcs of a batch of sentences, in one compiled call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_integers, as_numbers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.trees.arborescence import solve_arborescence
from colgen.solvers.trees.eisner_items import FIRST, IMPOSSIBLE, NEG
from colgen.solvers.trees.eisner_search import best_with_heads, chart_size

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST = 1e24
"""Larger scores are divided by ``_SCALE``, a power of two: sums then stay far from the value for impossible."""

_SCALE = 2.0**960


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
    arcs: ArrayLike, lengths: ArrayLike | None = None, *, projective: bool = False, single_root: bool = False
) -> BestTrees:
    """Return the best tree of each sentence, by Chu, Liu and Edmonds' or by Eisner's algorithm.

    Parameters
    ----------
    arcs : (sentences, N, N) array by head and modifier, root 0
        -inf marks a missing arc.  Column 0, the diagonal and entries beyond a sentence's length are ignored.
    lengths : (sentences,) array of numbers of words, by default N - 1
    projective : whether arcs must not cross
    single_root : whether exactly one arc leaves the root

    Raises
    ------
    ArrayError
        If shapes do not fit, or a score is NaN or +inf.
    """
    scores = as_numbers(arcs, "scores")
    if scores.ndim != 3 or scores.shape[1] != scores.shape[2] or scores.shape[1] < 2:
        shape = scores.shape[-2:]
        raise ArrayError(f"expected arc scores of shape (n + 1, n + 1) with n ≥ 1 for each sentence, not {shape}")
    count, size = scores.shape[:2]
    words: Ints = (
        np.full(count, size - 1)
        if lengths is None
        else as_integers(lengths, "lengths", shape=(count,), low=1, high=size - 1)
    )
    heads = np.full((count, size), -1)
    values, bounds = np.full((2, count), -np.inf)
    if projective:
        wrong = _projective(scores, words, bool(single_root), heads, values, bounds)
    else:
        wrong = _any_trees(scores, words, bool(single_root), heads, values, bounds)
    if wrong >= 0:
        raise ArrayError(
            f"sentence {wrong}: NaN or +inf in the arc scores, expected numbers, or -inf for a missing arc"
        )
    return BestTrees(heads, values, bounds)


@njit(cache=True, nogil=True)
def _any_trees(scores: Floats, words: Ints, single_root: bool, heads: Ints, values: Floats, bounds: Floats) -> int:
    """Find all trees.  Return the first sentence with an invalid score, or -1."""
    for k in range(len(words)):
        arcs, scale = _usable(scores[k, : words[k] + 1, : words[k] + 1], -np.inf)
        if scale == 0.0:
            return k
        found, bound, _, feasible = solve_arborescence(arcs, single_root)
        if feasible:
            bounds[k], values[k] = scale * bound, scale * _write(found, arcs, heads[k])
    return -1


@njit(cache=True, nogil=True)
def _projective(scores: Floats, words: Ints, single_root: bool, heads: Ints, values: Floats, bounds: Floats) -> int:
    """Find all projective trees.  Return the first sentence with an invalid score, or -1."""
    for k in range(len(words)):
        arcs, scale = _usable(scores[k, : words[k] + 1, : words[k] + 1], NEG)
        if scale == 0.0:
            return k
        size = len(arcs)
        no_parts, no_triples = np.zeros((1, 1, 1)), np.zeros((1, 1, 1, 1, 1, 1))
        rest = (FIRST, no_parts, no_parts, no_triples, np.zeros(size, np.int64), single_root)
        found = np.empty(size, np.int64)
        bound = best_with_heads(arcs, rest, np.empty(chart_size(FIRST, size)), found)
        if bound > IMPOSSIBLE:
            bounds[k], values[k] = scale * bound, scale * _write(found, arcs, heads[k])
    return -1


@njit(cache=True, no_cpython_wrapper=True)
def _usable(scores: Floats, missing: float) -> tuple[Floats, float]:
    """Return arc scores with ``missing`` for missing arcs, divided by a scale that is 1 unless they are enormous.

    The scale is 0 if a score is NaN or +inf.
    """
    size = len(scores)
    arcs = np.full((size, size), missing)
    largest = 0.0
    for h in range(size):
        for m in range(1, size):
            value = scores[h, m]
            if m == h or value == -np.inf:
                continue
            if not value < np.inf:
                return arcs, 0.0
            arcs[h, m] = value
            largest = max(largest, abs(value))
    if largest <= _LARGEST:
        return arcs, 1.0
    for h in range(size):
        for m in range(1, size):
            if m != h and scores[h, m] != -np.inf:
                arcs[h, m] /= _SCALE
    return arcs, _SCALE


@njit(cache=True, no_cpython_wrapper=True)
def _write(found: Ints, arcs: Floats, heads: Ints) -> float:
    """Copy the heads of a tree.  Return its score."""
    score = 0.0
    for m in range(1, len(found)):
        heads[m] = found[m]
        score += arcs[found[m], m]
    return score
