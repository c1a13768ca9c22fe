"""Scores as the parsers work on them: of the user's, only what can make a difference between trees.

Each token has one head, so that a number added to all arcs into it changes no comparison, but buries what does in the
rounding errors of sums: it is taken away.  And a score so low that no best tree can have the part says nothing but
that, yet would be what tolerances are relative to: it is raised to where it still says so.

What is left has a *unit*, a power of two, which is what tolerances are relative to: multiplying all scores by a power
of two changes no decision of any kernel.
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
from colgen.problems.grandparent_parsing.kernels.second_order import restricted
from colgen.problems.grandparent_parsing.kernels.tree_parts import given_parts
from colgen.solvers.scaling import power_of_two
from colgen.solvers.trees.arborescence import arborescence

_ROUNDING = 1e-12
"""What rounding may leave of numbers that are taken away, relative to them."""

_TRIES = 4
"""So often is a better tree looked for, to raise what is too low further."""

_ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class StandardScores:
    """Scores of a sentence's parts without what all trees have in common; see :func:`standard_scores`.

    Attributes
    ----------
    given
        The user's scores.
    shifts
        What was taken away from the arcs into each vertex, shape (n + 1,).
    arcs
        What is left of the arcs' scores, by head and modifier.
    floor
        Scores below this are raised to it; -inf where there is no need.
    unit
        Size of a score, a power of two.
    single_root
        Whether exactly one token must hang from the root.
    known
        A tree that is better than all that have a part whose score was raised; None where none was.
    """

    given: PartScores
    shifts: Floats
    arcs: Floats
    floor: float
    unit: float
    single_root: bool
    known: Heads | None = None

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.given)

    @cached_property
    def constant(self) -> float:
        """What every tree scores on top of what is left."""
        return math.fsum(self.shifts.tolist())

    def slack(self, score: float) -> float:
        """By so much may what is left of a tree's score differ from what it should be, by rounding alone."""
        return TOLERANCES.diagnostic * max(self.unit, abs(score)) + _ROUNDING * float(np.abs(self.shifts).sum())

    def raised(self, scores: Floats) -> Floats:
        """Scores of parts, those that are too low raised."""
        return scores if self.floor == -math.inf else np.maximum(scores, self.floor)

    def grandparents(self, triples: ArrayLike) -> Floats:
        """Scores of (grandparent, parent, child), shape (parts, 3)."""
        return self.raised(self.given.grandparents(triples))

    def siblings(self, triples: ArrayLike) -> Floats:
        """Scores of (head, sibling, modifier), shape (parts, 3)."""
        return self.raised(self.given.siblings(triples))

    @cached_property
    def as_given(self) -> StandardScores:
        """The same with nothing raised."""
        if self.floor == -math.inf:
            return self
        return replace(self, arcs=self.given.arcs - self.shifts, floor=-math.inf, known=None)

    @property
    def parent_child_bounds(self) -> Floats:
        """No grandparent part scores more, by parent and child."""
        return self.raised(self.given.parent_child_bounds)

    @property
    def grandparent_parent_bounds(self) -> Floats:
        """No grandparent part scores more, by grandparent and parent."""
        return self.raised(self.given.grandparent_parent_bounds)

    @property
    def head_modifier_bounds(self) -> Floats:
        """No sibling part scores more, by head and modifier."""
        return self.raised(self.given.head_modifier_bounds)

    @property
    def head_sibling_bounds(self) -> Floats:
        """No sibling part scores more, by head and sibling."""
        return self.raised(self.given.head_sibling_bounds)

    @cached_property
    def first_tree(self) -> Heads | None:
        """A tree to begin with: that known, or the best by bounds of what arcs bring; None if there is no tree."""
        if self.known is not None:
            return self.known
        found = arborescence(self.by_arc, single_root=self.single_root)
        return None if found is None else as_heads(found[0])

    @cached_property
    def by_arc(self) -> Floats:
        """The most that an arc can bring, with the parts that it closes."""
        most = self.arcs + self.head_modifier_bounds + np.maximum(self.head_sibling_bounds, 0.0)
        most[1:] += self.parent_child_bounds[1:]
        return most

    @property
    def bound(self) -> float:
        """No tree has more than the best head of each token, with the best parts."""
        return float(self.by_arc[:, 1:].max(axis=0).sum())


def is_single_root(scores: PartScores) -> bool:
    """Whether the scores say that exactly one token must hang from the root."""
    return bool(getattr(getattr(scores, "weights", scores), "single_root", False))


def standard_scores(
    scores: PartScores, *, single_root: bool | None = None, known: Heads | None = None
) -> StandardScores:
    """Scores without what all trees have in common, nor lower than what rules a part out.

    Parameters
    ----------
    single_root
        Whether exactly one token must hang from the root; by default what the scores say.
    known
        A tree that all those wanted are at least as good as: only what no better tree has is raised.  By default one is
        looked for, and is as good as can be found.
    """
    if single_root is None:
        single_root = is_single_root(scores)
    arcs = scores.arcs
    shifts = arcs.max(axis=0)
    shifts[np.isinf(shifts)] = 0.0
    arcs = arcs - shifts
    found = StandardScores(scores, shifts, arcs, -math.inf, _unit(scores, arcs, -math.inf), single_root)
    lowest = _lowest(scores, arcs)
    if lowest > -_FAR * found.unit and isinstance(scores, SentenceScorer):
        return found  # a trained model's
    for _ in range(_TRIES if known is None else 1):
        floor, tree = _floor(found, known)
        if not floor > max(found.floor, lowest):
            return found if known is None else replace(found, unit=_unit(scores, arcs, -math.inf, whole=False))
        raised = np.where(arcs > -np.inf, np.maximum(arcs, floor), -np.inf)
        unit = _unit(scores, arcs, floor, whole=known is None)
        found = StandardScores(scores, shifts, raised, floor, unit, single_root, tree)
    return found


_FAR = 2.0**16
"""A score so many times lower than others may be there to rule a part out."""

_SAMPLE = 4096
"""So many scores say what others are like."""


def _floor(scores: StandardScores, known: Heads | None) -> tuple[float, Heads | None]:
    """A score so low that no tree with such a part is as good as some other, and that; -inf if there is no tree.

    The other one is ``known``, or looked for.

    With M_m the most that any arc into m can bring with its parts, no tree has more than Σ M.  One with a part of score
    s has no more than Σ M + A + s, where A is by how much an arc without one of its parts, all of them counted by their
    bounds, exceeds M_m.
    """
    if scores.first_tree is None:
        return -math.inf, None
    arcs, most = scores.arcs, scores.by_arc
    tops = most[:, 1:].max(axis=0)
    excess, closing = 0.0, scores.parent_child_bounds.copy()
    closing[0] = 0.0  # the root is no parent that has one
    for part in (np.where(arcs > -np.inf, arcs, 0.0), scores.head_modifier_bounds, closing):
        over = np.where(arcs[:, 1:] > -np.inf, (most - part)[:, 1:] - tops, 0.0)
        excess = max(excess, float(over.max()))
    if known is None:
        worth, tree = _good_tree(scores, scores.first_tree)
    else:
        worth, tree = tree_objective(scores, known), known
    room = float(tops.sum()) - worth
    margin = room + excess
    if not margin > 0.0:  # all trees that matter are worth the same: any margin will do
        margin = scores.unit
    return -(room + excess) - margin, tree


def _good_tree(scores: StandardScores, first: Heads) -> tuple[float, Heads]:
    """The first tree and what it is worth; or a better one, where single parts are all that is wrong with the first."""
    worth, given = tree_objective(scores, first), scores.given
    if not isinstance(given, GrandparentInstance):
        return worth, first
    vertices = np.array([-1, *first], dtype=np.int64)
    parts = [scores.grandparents(tree_triples(vertices, 0)), scores.siblings(tree_triples(vertices, 1))]
    parts.append(scores.arcs[vertices[1:], np.arange(1, len(vertices))])
    low = -_FAR * _small(given, scores.arcs)
    if min(float(part.min(initial=0.0)) for part in parts) >= low:
        return worth, first
    trees = [(worth, first)]
    # As they are, and as if what is far too low were a few times lower than the rest: in that unit an ascent finds a
    # tree without, where there is one.  What a tree is worth the scores say as they are.
    for least in (-math.inf, -4.0 * len(vertices) * _largest_above(given, scores.arcs, low)):
        arcs = np.where(scores.arcs > -np.inf, np.maximum(scores.arcs, least), -np.inf)
        tables = [None if t is None else np.maximum(t, least) for t in (given.grandparent_scores, given.sibling_scores)]
        unit = scores.unit if least == -math.inf else 2.0 * power_of_two(-least)
        dense = given_parts(len(given) + 1, *tables)
        heads, _, _ = restricted(arcs, arcs > -np.inf, dense, _ITERATIONS, scores.single_root, unit)
        if heads[1:].min() >= 0:
            other = as_heads(heads)
            trees.append((tree_objective(scores, other), other))
    return max(trees)


def _largest_above(scores: GrandparentInstance, arcs: Floats, low: float) -> float:
    """The size of the largest score that is not as low as this."""
    tables = [arcs, *_tables(scores)]
    return max(float(np.abs(table).max(initial=0.0, where=np.isfinite(table) & (table >= low))) for table in tables)


def _small(scores: GrandparentInstance, arcs: Floats) -> float:
    """A score that is among the smaller ones, whatever a few, or most, rule out."""
    tables = [table for table in (arcs, scores.grandparent_scores, scores.sibling_scores) if table is not None]
    sample = np.abs(np.concatenate([table.ravel()[:: max(1, table.size // _SAMPLE)] for table in tables]))
    sample = sample[(sample > 0.0) & (sample < np.inf)]
    return float(np.quantile(sample, 0.1)) if len(sample) else 0.0


def _lowest(scores: PartScores, arcs: Floats) -> float:
    """The lowest score of an arc or a part, as far as that is known."""
    least = float(arcs.min(initial=0.0, where=arcs > -np.inf))
    if isinstance(scores, SentenceScorer):
        return least
    if not isinstance(scores, GrandparentInstance):
        return -math.inf
    return min(least, *(float(table.min(initial=0.0)) for table in _tables(scores)), 0.0)


def _tables(scores: GrandparentInstance, *, whole: bool = True) -> list[Floats]:
    """The scores of the parts that there can be: what the tables have in other places means nothing.

    ``whole``: with the penalties of parts that are ruled out.
    """
    found, there = [], scores.arcs > -np.inf
    gone = (None, None) if whole else scores.ruled_out
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
    """Whether g and c differ in (g, p, c)."""
    return np.broadcast_to(~np.eye(size, dtype=np.bool_)[:, None, :], (size, size, size))


@lru_cache(maxsize=64)
def _in_order(size: int) -> Mask:
    """Whether s is between h and m in (h, s, m), or one of both is h, which says that there is none."""
    h, s, m = np.ogrid[:size, :size, :size]
    found: Mask = ((h < s) & (s < m)) | ((m < s) & (s < h)) | ((s == h) != (m == h))
    return found


def _unit(scores: PartScores, arcs: Floats, floor: float, *, whole: bool = True) -> float:
    """The power of two next below the largest score that is not too low; ``whole``: penalties are scores."""
    tables: list[Floats | None] = [arcs]
    if isinstance(scores, SentenceScorer):
        largest = _largest_weight(scores.weights)
    elif isinstance(scores, GrandparentInstance):
        largest = 0.0
        tables += _tables(scores, whole=whole)
    else:
        largest = 0.0
        tables += [scores.parent_child_bounds, scores.head_modifier_bounds, scores.head_sibling_bounds]
    for table in tables:
        if table is not None:
            here = np.abs(table)
            largest = max(largest, float(here.max(initial=0.0, where=np.isfinite(here) & (table > floor))))
    if not largest and isinstance(scores, GrandparentInstance):
        # All trees are worth the same.  Bounds may not know it: they also look at places that no part has, of which a
        # penalty there is none of their business.
        bounds = (scores.parent_child_bounds, scores.head_modifier_bounds, scores.head_sibling_bounds)
        largest = max(float(bound.max(initial=0.0)) for bound in bounds)
        largest = largest or float(np.abs(scores.arcs[np.isfinite(scores.arcs)]).max(initial=0.0))
    return power_of_two(largest)


def _largest_weight(weights: Weights) -> float:
    """Of a model's tables: computed once and kept with it, as its bounds are."""
    kept = vars(weights)
    if "largest_weight" not in kept:
        tables = (weights.grandparents, weights.siblings)
        kept["largest_weight"] = max(float(np.abs(table.values[table.keys >= 0]).max(initial=0.0)) for table in tables)
    found: float = kept["largest_weight"]
    return found
