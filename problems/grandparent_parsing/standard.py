"""Standard scores: the user's scores, reduced to differences between trees.

Each token has one head, so a constant added to all arcs into a token changes no comparison but hides differences in
rounding errors.  It is subtracted.  Scores so low that no best tree contains the part only forbid it, but would set the
scale of tolerances.  They are raised to a value that still forbids the part.

The result has a *unit*, a power of two, to which tolerances are relative.  Multiplying all scores by a power of two
therefore changes no decision of any kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from colgen.core.tolerances import TOLERANCES
from colgen.problems.dependency.features.factored_scores import tree_triples
from colgen.problems.dependency.scorer import SentenceScorer, Weights
from colgen.problems.dependency.sentence import Heads
from colgen.problems.grandparent_parsing.instance import (
    Floats,
    GrandparentInstance,
    Mask,
    PartScores,
    as_heads,
    tree_objective,
)
from colgen.problems.grandparent_parsing.kernels.second_order import solve_candidates
from colgen.problems.grandparent_parsing.kernels.tree_parts import given_parts
from colgen.solvers.scaling import power_of_two
from colgen.solvers.trees.arborescence import arborescence

_ROUNDING = 1e-12
"""Rounding error of subtracted constants, relative to their size."""

_TRIES = 4
"""Number of searches for a better tree, which allows low scores to be raised further."""

_ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class StandardScores:
    """Scores of a sentence's parts without the constant common to all trees; see :func:`standard_scores`.

    Attributes
    ----------
    given
        The user's scores.
    shifts
        Constant subtracted from the arcs into each vertex, shape (n + 1,).
    arcs
        Remaining arc scores by head and modifier.
    floor
        Scores below this are raised to it; -inf: none.
    unit
        Typical size of a score, a power of two.
    known
        A tree better than all trees that contain a raised part; None if none was raised.
    """

    given: PartScores
    shifts: Floats
    arcs: Floats
    floor: float
    unit: float
    single_root: bool
    known: Heads | None = None

    def __len__(self) -> int:
        return len(self.given)

    @cached_property
    def constant(self) -> float:
        """The constant that was subtracted from the score of every tree."""
        return math.fsum(self.shifts.tolist())

    def slack(self, score: float) -> float:
        """Return the tolerance for rounding errors of a tree's standard score."""
        return TOLERANCES.diagnostic * max(self.unit, abs(score)) + _ROUNDING * float(np.abs(self.shifts).sum())

    def raise_to_floor(self, scores: Floats) -> Floats:
        """Return scores of parts with low scores raised to the floor."""
        return scores if self.floor == -math.inf else np.maximum(scores, self.floor)

    def grandparents(self, triples: ArrayLike) -> Floats:
        return self.raise_to_floor(self.given.grandparents(triples))

    def siblings(self, triples: ArrayLike) -> Floats:
        return self.raise_to_floor(self.given.siblings(triples))

    @cached_property
    def as_given(self) -> StandardScores:
        """The same scores without raising any."""
        if self.floor == -math.inf:
            return self
        return replace(self, arcs=self.given.arcs - self.shifts, floor=-math.inf, known=None)

    @property
    def parent_child_bounds(self) -> Floats:
        return self.raise_to_floor(self.given.parent_child_bounds)

    @property
    def grandparent_parent_bounds(self) -> Floats:
        return self.raise_to_floor(self.given.grandparent_parent_bounds)

    @property
    def head_modifier_bounds(self) -> Floats:
        return self.raise_to_floor(self.given.head_modifier_bounds)

    @property
    def head_sibling_bounds(self) -> Floats:
        return self.raise_to_floor(self.given.head_sibling_bounds)

    @cached_property
    def first_tree(self) -> Heads | None:
        """A first tree: the known one, or the best tree by upper bounds of arcs; None if there is no tree."""
        if self.known is not None:
            return self.known
        found = arborescence(self.by_arc, single_root=self.single_root)
        return None if found is None else as_heads(found[0])

    @cached_property
    def by_arc(self) -> Floats:
        """Upper bounds on the contribution of each arc and of the parts that it completes."""
        most = self.arcs + self.head_modifier_bounds + np.maximum(self.head_sibling_bounds, 0.0)
        most[1:] += self.parent_child_bounds[1:]
        return most

    @property
    def bound(self) -> float:
        """Upper bound on all trees: each token takes the head with the largest bound."""
        return float(self.by_arc[:, 1:].max(axis=0).sum())


def is_single_root(scores: PartScores) -> bool:
    """Return whether the scores require exactly one token attached to the root."""
    return bool(getattr(getattr(scores, "weights", scores), "single_root", False))


def standard_scores(
    scores: PartScores, *, single_root: bool | None = None, known: Heads | None = None
) -> StandardScores:
    """Return the scores without the constant common to all trees, with low scores raised.

    Only parts that no tree at least as good as ``known`` contains are raised.  By default a good tree is searched for.
    """
    if single_root is None:
        single_root = is_single_root(scores)
    arcs = scores.arcs
    shifts = arcs.max(axis=0)
    shifts[np.isinf(shifts)] = 0.0
    arcs = arcs - shifts
    found = StandardScores(scores, shifts, arcs, -math.inf, _unit(scores, arcs, -math.inf), single_root)
    lowest = _lowest_score(scores, arcs)
    if lowest > -_FAR * found.unit and isinstance(scores, SentenceScorer):
        return found
    for _ in range(_TRIES if known is None else 1):
        floor, tree = _floor(found, known)
        if not floor > max(found.floor, lowest):
            return found if known is None else replace(found, unit=_unit(scores, arcs, -math.inf, penalties=False))
        raised = np.where(arcs > -np.inf, np.maximum(arcs, floor), -np.inf)
        unit = _unit(scores, arcs, floor, penalties=known is None)
        found = StandardScores(scores, shifts, raised, floor, unit, single_root, tree)
    return found


_FAR = 2.0**16
"""A score this many times larger than others in absolute value may be a penalty."""

_SAMPLE = 4096
"""Number of scores sampled to estimate their usual size."""


def _floor(scores: StandardScores, known: Heads | None) -> tuple[float, Heads | None]:
    """Return a score that no part of a best tree is below, and the tree that proves it; -inf if there is no tree.

    The tree is ``known``, or searched for.

    Let M_m be the upper bound on any arc into m with its parts.  No tree scores more than Σ M.  A tree with a part of
    score s scores at most Σ M + A + s.  Here A is the largest excess over M_m of an arc's bound without one of its
    parts.
    """
    if scores.first_tree is None:
        return -math.inf, None
    arcs, most = scores.arcs, scores.by_arc
    tops = most[:, 1:].max(axis=0)
    excess, closing = 0.0, scores.parent_child_bounds.copy()
    closing[0] = 0.0  # arcs of the root close no grandparent part
    for part in (np.where(arcs > -np.inf, arcs, 0.0), scores.head_modifier_bounds, closing):
        over = np.where(arcs[:, 1:] > -np.inf, (most - part)[:, 1:] - tops, 0.0)
        excess = max(excess, float(over.max()))
    if known is None:
        worth, tree = _good_tree(scores, scores.first_tree)
    else:
        worth, tree = tree_objective(scores, known), known
    room = float(tops.sum()) - worth
    margin = room + excess
    if not margin > 0.0:  # all relevant trees have the same score: any margin is valid
        margin = scores.unit
    return -(room + excess) - margin, tree


def _good_tree(scores: StandardScores, first: Heads) -> tuple[float, Heads]:
    """Return the standard score of the first tree and the tree; or a better one if it contains very low parts."""
    worth, given = tree_objective(scores, first), scores.given
    if not isinstance(given, GrandparentInstance):
        return worth, first
    vertices = np.array([-1, *first], dtype=np.int64)
    parts = [scores.grandparents(tree_triples(vertices, 0)), scores.siblings(tree_triples(vertices, 1))]
    parts.append(scores.arcs[vertices[1:], np.arange(1, len(vertices))])
    low = -_FAR * _small_quantile(given, scores.arcs)
    if min(float(part.min(initial=0.0)) for part in parts) >= low:
        return worth, first
    trees = [(worth, first)]
    # Ascend twice: with the scores as they are, and with very low scores replaced by moderately low ones.  In the
    # second unit the ascent finds a tree without low parts, if one exists.  Both trees are compared by true scores.
    for least in (-math.inf, -4.0 * len(vertices) * _largest_above(given, scores.arcs, low)):
        arcs = np.where(scores.arcs > -np.inf, np.maximum(scores.arcs, least), -np.inf)
        tables = [None if t is None else np.maximum(t, least) for t in (given.grandparent_scores, given.sibling_scores)]
        unit = scores.unit if least == -math.inf else 2.0 * power_of_two(-least)
        dense = given_parts(len(given) + 1, *tables)
        heads, _, _ = solve_candidates(arcs, arcs > -np.inf, dense, _ITERATIONS, scores.single_root, unit)
        if heads[1:].min() >= 0:
            other = as_heads(heads)
            trees.append((tree_objective(scores, other), other))
    return max(trees)


def _largest_above(scores: GrandparentInstance, arcs: Floats, low: float) -> float:
    """Return the largest absolute score among those of at least ``low``."""
    tables = [arcs, *_tables(scores)]
    return max(float(np.abs(table).max(initial=0.0, where=np.isfinite(table) & (table >= low))) for table in tables)


def _small_quantile(scores: GrandparentInstance, arcs: Floats) -> float:
    """Return a low quantile of absolute scores, which is robust to many penalties."""
    tables = [table for table in (arcs, scores.grandparent_scores, scores.sibling_scores) if table is not None]
    sample = np.abs(np.concatenate([table.ravel()[:: max(1, table.size // _SAMPLE)] for table in tables]))
    sample = sample[(sample > 0.0) & (sample < np.inf)]
    return float(np.quantile(sample, 0.1)) if len(sample) else 0.0


def _lowest_score(scores: PartScores, arcs: Floats) -> float:
    least = float(arcs.min(initial=0.0, where=arcs > -np.inf))
    if isinstance(scores, SentenceScorer):
        return least
    if not isinstance(scores, GrandparentInstance):
        return -math.inf
    return min(least, *(float(table.min(initial=0.0)) for table in _tables(scores)), 0.0)


def _tables(scores: GrandparentInstance, *, penalties: bool = True) -> list[Floats]:
    """Return the scores of possible parts; the other entries of the tables are ignored.

    ``penalties``: include those of forbidden parts.
    """
    found, there = [], scores.arcs > -np.inf
    gone = (None, None) if penalties else scores.ruled_out
    if scores.grandparent_scores is not None:
        possible = there[:, :, None] & there[None, :, :] & _apart(len(there))
        found.append(scores.grandparent_scores[possible if gone[0] is None else possible & ~gone[0]])
    if scores.sibling_scores is not None:
        there = there | np.eye(len(there), dtype=np.bool_)
        possible = there[:, :, None] & there[:, None, :] & _in_order(len(there))
        found.append(scores.sibling_scores[possible if gone[1] is None else possible & ~gone[1]])
    return found


@lru_cache(maxsize=64)
def _apart(size: int) -> Mask:
    return np.broadcast_to(~np.eye(size, dtype=np.bool_)[:, None, :], (size, size, size))


@lru_cache(maxsize=64)
def _in_order(size: int) -> Mask:
    """Return whether s is between h and m in (h, s, m), or exactly one of s and m is h (no sibling, or no modifier)."""
    h, s, m = np.ogrid[:size, :size, :size]
    found: Mask = ((h < s) & (s < m)) | ((m < s) & (s < h)) | ((s == h) != (m == h))
    return found


def _unit(scores: PartScores, arcs: Floats, floor: float, *, penalties: bool = True) -> float:
    """Return the largest power of two below the largest relevant score; ``penalties``: penalties count as scores."""
    tables: list[Floats | None] = [arcs]
    if isinstance(scores, SentenceScorer):
        largest = _largest_weight(scores.weights)
    elif isinstance(scores, GrandparentInstance):
        largest = 0.0
        tables += _tables(scores, penalties=penalties)
    else:
        largest = 0.0
        tables += [scores.parent_child_bounds, scores.head_modifier_bounds, scores.head_sibling_bounds]
    for table in tables:
        if table is not None:
            here = np.abs(table)
            largest = max(largest, float(here.max(initial=0.0, where=np.isfinite(here) & (table > floor))))
    if not largest and isinstance(scores, GrandparentInstance):
        # All trees have the same score, but bounds also cover entries of impossible parts, except their penalties.
        bounds = (scores.parent_child_bounds, scores.head_modifier_bounds, scores.head_sibling_bounds)
        largest = max(float(bound.max(initial=0.0)) for bound in bounds)
        largest = largest or float(np.abs(scores.arcs[np.isfinite(scores.arcs)]).max(initial=0.0))
    return power_of_two(largest)


def _largest_weight(weights: Weights) -> float:
    kept = vars(weights)
    if "largest_weight" not in kept:
        tables = (weights.grandparents, weights.siblings)
        kept["largest_weight"] = max(float(np.abs(table.values[table.keys >= 0]).max(initial=0.0)) for table in tables)
    found: float = kept["largest_weight"]
    return found
