r"""The best tree of local parts and products of arcs, bounded by dynamic programs at one node of a search tree.

    max_z φ(z) ≤ min_p max_z ψ(p, z)

Here ψ, linear in z, is the products' bound of :mod:`colgen.problems.nonlocal_parsing.kernels.products` plus a parser's
local parts. The right side is convex and piecewise linear in p. Every evaluation is one call of the backbone, whose
tree is also a feasible solution. There are three methods of descent:

* SUBGRADIENT: projected subgradient steps. The first has length 1 / min_c |φ_c|, which is halved whenever the bound
  gets worse.
* POLYAK: steps of (ψ - best tree) / ‖∂ψ‖² in the shares |φ_c| p. If the bound can reach the tree's value, no step is
  too long. The length is reduced if the bound does not improve.
* FIXING: as POLYAK, but p starts with products that are tight if every word has its best head. Before the first step, p
  is made tight twice at the tree found, which most often suffices. At intervals, the max-marginals of ψ drop each arc
  whose best tree does not beat the best known tree, with all products that need it. Shares then move to the arcs with
  most slack, which is harmless if each takes only a part of its slack. Nodes with many arcs are screened first
  (:mod:`colgen.problems.nonlocal_parsing.kernels.screening`).

An arc's max-marginal under ψ bounds every tree with that arc. So a dropped arc is in no tree that beats the incumbent.

Scores must be near 1, without constants common to all trees; values that differ by more than 1e-9 are different.

Sources: X. Qian, Y. Liu (TACL 2013), whose step has the wrong sign (it ascends); A. M. Rush, D. Sontag, M. Collins, T.
Jaakkola (EMNLP 2010) for its length; B. T. Polyak, *Minimization of unsmooth functionals* (1969).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from colgen.problems.nonlocal_parsing.kernels.products import (
    absorb,
    descend,
    gaps,
    grouped_tilt,
    project_shares,
    simplify,
    slope,
    tilt,
    value,
)
from colgen.problems.nonlocal_parsing.kernels.tree_starts import likely_start, margins, snap
from colgen.solvers.trees.backbone import Backbone, TreeTimeError
from colgen.solvers.trees.eisner_items import NEG, Floats, Ints

SUBGRADIENT, POLYAK, FIXING = 0, 1, 2
CLOSED, OPEN, EMPTY, LIMIT = 0, 1, 2, 3
_IMPOSSIBLE = 0.5 * NEG

_PROGRESS = 0.02
"""Share of the gap that counts as progress."""

_SNAPS = 2
"""Number of times that p is made tight at the tree found before the first step."""

_BETWEEN_FIXINGS = 4
"""Calls of the backbone between two attempts to drop arcs."""

_MANY = 12
"""With at most this many arcs per word, shares move to the arcs with most slack right after others are dropped."""

_MIN_DROPPED = 0.02
"""Fewer arcs than this share of those beyond one per word are dropped later, because the verification repeats all."""

_FIRST_SHARE, _LONGER, _SHORTER = 0.1, 1.3, 0.4
"""Share of an arc's slack that is used at once: initially, and its factors after a success and a failure."""

_MAX_SLACK = 1e6
"""Slack of an arc that is in no tree."""

_VALUE_TOLERANCE = 1e-9
"""Tolerance relative to 1 and to the values, far above rounding errors."""

_GRID = 1.0 - 1e-6
"""Values that are multiples of a grid are different if they differ by more than this share of it."""


@dataclass
class NodeScores:
    """Scores of a node's trees; bounding simplifies them in place."""

    arc: Floats  # shape (N, N), `NEG` if the node forbids the arc
    start: Ints  # the products: see `kernels.products`
    arcs: Ints
    score: Floats
    p: Floats
    number: Ints  # number of each product at the last numbering
    constant: float = 0.0  # score of every tree in addition to these

    @staticmethod
    def of(arc: Floats, start: Ints, arcs: Ints, score: Floats, p: Floats) -> NodeScores:
        """Return scores whose products are numbered in the given order."""
        return NodeScores(arc, start, arcs, score, p, np.arange(len(score)))

    def copy(self) -> NodeScores:
        """Return a copy for another node."""
        start, arcs, score, p = self.start.copy(), self.arcs.copy(), self.score.copy(), self.p.copy()
        return NodeScores(self.arc.copy(), start, arcs, score, p, self.number.copy(), self.constant)

    def simplify(self) -> None:
        """Drop products with a forbidden arc; remove arcs that every tree has from the others."""
        kept, more = simplify(self.start, self.arcs, self.score, self.p, self.number, len(self.score), self.arc)
        end = int(self.start[kept])
        self.start, self.arcs = self.start[: kept + 1], self.arcs[:end]
        self.score, self.p, self.number = self.score[:kept], self.p[:end], self.number[:kept]
        self.constant += more

    @property
    def num_arcs(self) -> int:
        """Number of allowed arcs."""
        return int((self.arc > _IMPOSSIBLE).sum())

    def of_tree(self, heads: Ints, tilted: Floats, best: float) -> float:
        """Return φ of a tree whose local parts have value ``best`` with the arc scores ``tilted``."""
        h, m = heads[1:], np.arange(1, len(heads))
        local = best - float((tilted[h, m] - self.arc[h, m]).sum())
        return local + float(value(self.start, self.arcs, self.score, heads)) + self.constant

    def gaps(self, heads: Ints) -> Floats:
        """Return each product's contribution to ψ - φ at a tree."""
        gap = np.empty(len(self.score))
        gaps(self.start, self.arcs, self.score, self.p, heads, gap)
        return gap

    def evaluate(
        self, backbone: Backbone, tilted: Floats, heads: Ints, *, lower: bool = False, grouped: bool = False
    ) -> float:
        """Return max_z ψ(p, z), or π if ``lower``, and write its tree; ``NEG`` without a tree.

        ``tilted``, shape (N, N), is overwritten by the arc scores of the call. ``grouped`` uses
        :func:`colgen.problems.nonlocal_parsing.kernels.products.grouped_tilt`.
        """
        constant = self.tilt(tilted, lower=lower, grouped=grouped)
        best = backbone.best(tilted, heads)
        return best + constant if best > _IMPOSSIBLE else NEG

    def tilt(self, tilted: Floats, *, lower: bool = False, grouped: bool = False) -> float:
        """Write the arc scores of :meth:`evaluate`; return the constant added to the backbone's value."""
        tilted[:] = self.arc
        if grouped:
            more = grouped_tilt(self.start, self.arcs, self.score, self.p, tilted.reshape(-1))
        else:
            more = tilt(self.start, self.arcs, self.score, self.p, lower, tilted.reshape(-1))
        return float(more) + self.constant


class Stage(NamedTuple):
    """Shares p, and a cut: arcs without a better tree at p are dropped, except at the last stage.

    ``grouped`` uses :func:`colgen.problems.nonlocal_parsing.kernels.products.grouped_tilt`.
    """

    p: Floats
    cut: float = -math.inf
    grouped: bool = False


@dataclass(frozen=True)
class Bounded:
    """Result of bounding a node.

    ``outcome`` is CLOSED: no tree beats the cut; EMPTY: there is no tree; OPEN: the method cannot improve; or LIMIT: of
    calls or time.
    """

    outcome: int
    bound: float  # on all trees that beat the cut, which the tree found may have raised
    value: float  # of the best tree that beats the cut
    heads: Ints | None  # this tree; None without one
    at_bound: Ints  # tree that attains the bound
    gap: Floats  # each product's contribution to the gap there
    calls: int  # of the backbone for best trees
    sweeps: int  # of the backbone for max-marginals
    stages: tuple[Stage, ...] = ()  # of the proof, for `bound_at`


def bound_at(
    scores: NodeScores, backbone: Backbone, stages: Sequence[Stage], *, grid: float = 0.0
) -> tuple[float, Ints | None]:
    """Return the bound that arbitrary shares p prove for a node, and the tree that attains it.

    This verifies the result of :func:`bound_node`. No tree of the node is better than the bound and the cuts of all
    stages but the last. The bound is ``NEG`` if no tree remains. Raises OutOfTimeError if the time is used up.

    Parameters
    ----------
    scores
        Scores of the node; simplified in place, without the dropped arcs.
    stages
        At all stages but the last, arcs are dropped whose best tree does not beat the stage's cut.
    """
    tilted, marginal = np.empty((2, backbone.size, backbone.size))
    heads = np.empty(backbone.size, dtype=np.int64)
    scores.simplify()
    bound = math.inf
    for number, stage in enumerate(stages, 1):
        if len(stage.p) == len(scores.p):
            scores.p[:] = stage.p
        project_shares(scores.start, scores.score, scores.p)
        bound = float(scores.evaluate(backbone, tilted, heads, grouped=stage.grouped))
        if bound < _IMPOSSIBLE:
            return NEG, None
        if number < len(stages):
            backbone.marginals(tilted, marginal)
            drop_arcs(scores.arc, marginal, bound - float(marginal[:, 1].max()), stage.cut, grid)
            scores.simplify()
    return bound, heads


def bound_node(
    scores: NodeScores,
    backbone: Backbone,
    *,
    cut: float,
    raising: bool = True,
    grid: float = 0.0,
    method: int = FIXING,
    fresh: bool = True,
    most_calls: int = 200,
    patience: int = 10,
) -> Bounded:
    """Bound the trees of a node, and search for one that beats the cut.

    Parameters
    ----------
    scores
        Simplified in place; p is left at the best bound.
    cut
        The value to beat; -inf for none.
    raising
        Whether a tree that beats the cut replaces it.
    grid
        Values of trees differ by multiples of it; 0 if unknown.
    fresh
        Whether to choose p by the method's own start.
    most_calls, patience
        Largest number of calls of the backbone, and of calls without progress. The backbone's ``expired()`` also ends
        it.
    """
    scores.simplify()
    margin = margins(scores.arc) if method == FIXING else scores.arc
    if method == FIXING and fresh and len(scores.score):
        likely_start(scores.start, scores.arcs, scores.score, scores.p, margin)
    descent = _Descent(scores, backbone, cut, raising, grid, method)
    try:
        outcome = descent.run(margin, most_calls, patience)
    except TreeTimeError:
        outcome = LIMIT
    if outcome != EMPTY:
        scores.p = descent.best_p
    return descent.result(outcome)


class _Descent:
    """A descent at one node: results, position and step length."""

    def __init__(
        self, scores: NodeScores, backbone: Backbone, cut: float, raising: bool, grid: float, method: int
    ) -> None:
        self.scores, self.backbone = scores, backbone
        self.cut, self.raising, self.grid, self.method = cut, raising, grid, method
        self.tilted, self.marginal = np.empty((2, backbone.size, backbone.size))
        self.heads, self.at_bound = np.empty(backbone.size, dtype=np.int64), np.zeros(backbone.size, dtype=np.int64)
        self.best: Ints | None = None
        self.found = self.target = cut  # value of the best tree that beats the cut; lower bound on the bound
        self.psi = self.bound = self.before = self.reference = math.inf
        self.calls, self.sweeps, self.since = 0, 0, 0
        self.best_p = scores.p.copy()
        self.stages: list[Stage] = []
        smallest = np.abs(scores.score[scores.score != 0.0]).min(initial=math.inf)
        self.length, self.factor = 1.0 / float(smallest), 1.0

    def run(self, margin: Floats, most_calls: int, patience: int) -> int:
        """Descend until the bound meets the cut or the node is given up; return the outcome."""
        snaps, fix_at, share, absorbing = 0, 3, _FIRST_SHARE, False
        fixing = self.method == FIXING
        while True:
            if not self.evaluate():
                return EMPTY
            if meets(self.bound, self.cut, self.grid):
                return CLOSED
            self.count_progress()
            if self.since >= patience or meets(self.bound, self.target, self.grid):
                return OPEN
            if self.calls >= most_calls or self.backbone.expired():
                return LIMIT
            if fixing and snaps < _SNAPS:
                snaps += 1
                snap(self.scores.start, self.scores.arcs, self.scores.score, self.scores.p, margin, self.heads)
                continue
            if fixing and absorbing:
                absorbing = self.psi <= self.bound
                share = min(1.0, _LONGER * share) if absorbing else _SHORTER * share
                fix_at = self.calls if absorbing else self.calls + _BETWEEN_FIXINGS
            if fixing and self.calls >= fix_at and self.cut > -math.inf:
                fix_at = self.calls + _BETWEEN_FIXINGS
                if not self.drop():
                    self.absorb(share)
                    absorbing = True
                continue
            if not self.step():
                return OPEN

    def evaluate(self) -> bool:
        """Find the best tree at p and update the results; return whether there is a tree."""
        scores = self.scores
        self.psi = float(scores.evaluate(self.backbone, self.tilted, self.heads))
        self.calls += 1
        if self.psi < _IMPOSSIBLE:
            return False
        reached = self.psi - float(scores.gaps(self.heads).sum())
        self.target = max(self.target, reached)
        if reached > self.found:
            self.found, self.best = reached, self.heads.copy()
            self.cut = self.found if self.raising else self.cut
        if self.psi < self.bound:
            self.bound = self.psi
            self.at_bound[:] = self.heads
            self.best_p = scores.p.copy()
        return True

    def count_progress(self) -> None:
        """Count the calls since the bound decreased by a share of the gap."""
        if self.reference == math.inf or self.bound < self.reference - _PROGRESS * (self.reference - self.target):
            self.reference, self.since = self.bound, 0
        else:
            self.since += 1

    def drop(self) -> bool:
        """Drop the arcs that no better tree contains if they are many.

        Return whether arcs were dropped and few remain.
        """
        scores, backbone = self.scores, self.backbone
        if self.psi > self.bound:  # return to the best p
            scores.p = self.best_p.copy()
            self.psi = scores.evaluate(backbone, self.tilted, self.heads)
            self.calls += 1
        backbone.marginals(self.tilted, self.marginal)
        self.sweeps += 1
        rest = self.bound - float(self.marginal[:, 1].max())  # constants: the best tree has some arc to word 1
        left, there = scores.arc.copy(), scores.num_arcs
        if drop_arcs(left, self.marginal, rest, self.cut, self.grid) <= _MIN_DROPPED * (there - backbone.size):
            return False
        self.stages.append(Stage(scores.p.copy(), self.cut))
        scores.arc = left
        scores.simplify()
        self.best_p = scores.p.copy()
        self.since = 0
        return scores.num_arcs <= _MANY * backbone.size

    def absorb(self, share: float) -> None:
        """Move shares to the arcs with most slack, by a share of the slack."""
        scores, marginal = self.scores, self.marginal
        slack = share * np.clip(float(marginal.max()) - marginal, 0.0, _MAX_SLACK)
        absorb(scores.start, scores.arcs, scores.score, scores.p, slack.reshape(-1))

    def step(self) -> bool:
        """Take a subgradient step; return whether there is a direction."""
        scores, heads = self.scores, self.heads
        if self.method == SUBGRADIENT:
            if self.psi > self.before:
                self.length *= 0.5
            self.before = self.psi
        else:
            norm = slope(scores.start, scores.arcs, scores.score, scores.p, heads, True)
            if norm <= 0.0:
                return False
            if self.since > 0 and self.since % 3 == 0:
                self.factor *= 0.6
            self.length = self.factor * (self.psi - self.target) / norm
        scaled = self.method != SUBGRADIENT
        descend(scores.start, scores.arcs, scores.score, scores.p, heads, self.length, scaled)
        return True

    def result(self, outcome: int) -> Bounded:
        """Return the result with the stages of its proof."""
        left = NEG if outcome == EMPTY else self.bound
        stages = (*self.stages, Stage(self.scores.p.copy()))
        gap = self.scores.gaps(self.at_bound)
        return Bounded(outcome, left, self.found, self.best, self.at_bound, gap, self.calls, self.sweeps, stages)


def meets(bound: float, cut: float, grid: float) -> bool:
    """Return whether a bound is not above a value; values differ by multiples of ``grid`` unless it is zero."""
    return bound <= _threshold(cut, grid)


def _threshold(cut: float, grid: float) -> float:
    """Return the threshold that a tree must exceed to beat the cut."""
    return cut + max(_VALUE_TOLERANCE * max(1.0, abs(cut)), _GRID * grid) if cut > -math.inf else -math.inf


def drop_arcs(arc: Floats, marginal: Floats, constant: float, cut: float, grid: float) -> int:
    """Forbid each arc whose best tree does not beat the cut; return their number."""
    dropped = (arc > _IMPOSSIBLE) & ((marginal < _IMPOSSIBLE) | (marginal + constant <= _threshold(cut, grid)))
    dropped[:, 0] = False
    arc[dropped] = NEG
    return int(dropped.sum())
