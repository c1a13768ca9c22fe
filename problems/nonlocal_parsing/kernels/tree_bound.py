r"""The best tree of local parts and products of arcs, bounded by dynamic programs: one node of a search tree.

    max_z φ(z) ≤ min_p max_z ψ(p, z)

where ψ, linear in z, is the products' bound of :mod:`colgen.problems.nonlocal_parsing.kernels.products` on top of a
parser's local parts.  The right side is convex and piecewise linear in p; every evaluation is one call of the backbone,
whose tree is also an answer.  Three ways to descend:

* SUBGRADIENT: projected subgradient steps, the first of length 1 / min_c |φ_c|, halved whenever the bound got worse.
* POLYAK: steps of (ψ - best tree) / ‖∂ψ‖² in the shares |φ_c| p; if the bound can meet that tree's value at all then no
  step goes too far.  The length is cut where the bound does not improve.
* FIXING: likewise, but p starts where products are tight if every word has its best head, and is twice made tight at
  the tree found before steps begin (most often that ends it).  From time to time the max-marginals of ψ drop each arc
  whose best tree does not beat the best tree known, and with it all products that need it; and shares move to the arcs
  that lack most for being in a best tree, where they do no harm as long as each takes but a part of what it lacks.
  Where there are many arcs, most are dropped beforehand (:mod:`colgen.problems.nonlocal_parsing.kernels.screening`).

An arc's max-marginal under ψ bounds every tree with that arc, so what is dropped is never missed (only trees that beat
the incumbent matter).

Scores are taken to be near 1, with what is common to all trees left out: what is more than 1e-9 apart is different.

Sources: X. Qian, Y. Liu (TACL 2013), whose step has the wrong sign (it ascends); A. M. Rush, D. Sontag, M. Collins,
T. Jaakkola (EMNLP 2010) for its length; B. T. Polyak, *Minimization of unsmooth functionals* (1969).
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
"""How often p is made tight at the tree found before steps begin."""

_BETWEEN_FIXINGS = 4
"""Calls of the backbone between two attempts to drop arcs."""

_MANY = 12
"""Arcs a word with which shares move to the arcs that have most room as soon as others are dropped."""

_WORTH = 0.02
"""Share of the arcs beyond one a word: fewer are dropped later, for whoever proves it anew does all that was done."""

_FIRST_SHARE, _LONGER, _SHORTER = 0.1, 1.3, 0.4
"""Share of an arc's room that is taken at once: at first, and by how much it changes after a success and a failure."""

_MOST_ROOM = 1e6
"""Of an arc that no tree has."""

_SAME = 1e-9
"""Relative to 1 and to the values themselves: far above rounding."""

_GRID = 1.0 - 1e-6
"""Of values that are multiples of a number, two differ if they are more than this share of it apart."""


@dataclass
class NodeScores:
    """Scores of a node's trees; bounding simplifies them, in place.

    Attributes
    ----------
    arc
        Shape (N, N), ``NEG`` where the node forbids an arc.
    start, arcs, score, p
        The products, see :mod:`colgen.problems.nonlocal_parsing.kernels.products`.
    number
        Of each product, among those that there were when it was last counted; by default, from the beginning.
    constant
        What every tree scores besides.
    """

    arc: Floats
    start: Ints
    arcs: Ints
    score: Floats
    p: Floats
    number: Ints
    constant: float = 0.0

    @staticmethod
    def of(arc: Floats, start: Ints, arcs: Ints, score: Floats, p: Floats) -> NodeScores:
        """Scores whose products are counted as they come."""
        return NodeScores(arc, start, arcs, score, p, np.arange(len(score)))

    def copy(self) -> NodeScores:
        """For another node."""
        start, arcs, score, p = self.start.copy(), self.arcs.copy(), self.score.copy(), self.p.copy()
        return NodeScores(self.arc.copy(), start, arcs, score, p, self.number.copy(), self.constant)

    def simplify(self) -> None:
        """Drop products with a forbidden arc; take arcs that every tree has out of the others."""
        kept, more = simplify(self.start, self.arcs, self.score, self.p, self.number, len(self.score), self.arc)
        end = int(self.start[kept])
        self.start, self.arcs = self.start[: kept + 1], self.arcs[:end]
        self.score, self.p, self.number = self.score[:kept], self.p[:end], self.number[:kept]
        self.constant += more

    @property
    def num_arcs(self) -> int:
        """How many arcs are allowed."""
        return int((self.arc > _IMPOSSIBLE).sum())

    def of_tree(self, heads: Ints, tilted: Floats, best: float) -> float:
        """φ of a tree whose local parts score ``best`` with other arc scores, ``tilted``."""
        h, m = heads[1:], np.arange(1, len(heads))
        local = best - float((tilted[h, m] - self.arc[h, m]).sum())
        return local + float(value(self.start, self.arcs, self.score, heads)) + self.constant

    def gaps(self, heads: Ints) -> Floats:
        """How much of ψ - φ each product is to blame for at a tree."""
        gap = np.empty(len(self.score))
        gaps(self.start, self.arcs, self.score, self.p, heads, gap)
        return gap

    def evaluate(
        self, backbone: Backbone, tilted: Floats, heads: Ints, *, lower: bool = False, grouped: bool = False
    ) -> float:
        """max_z ψ(p, z), or π for ``lower``, and its tree; ``NEG`` if there is none.

        ``tilted``, shape (N, N), is overwritten by the arc scores that the backbone was asked with; ``grouped``: by
        less, see :func:`colgen.problems.nonlocal_parsing.kernels.products.grouped_tilt`.
        """
        constant = self.tilt(tilted, lower=lower, grouped=grouped)
        best = backbone.best(tilted, heads)
        return best + constant if best > _IMPOSSIBLE else NEG

    def tilt(self, tilted: Floats, *, lower: bool = False, grouped: bool = False) -> float:
        """Write the arc scores that :meth:`evaluate` asks with; what it adds to the backbone's value."""
        tilted[:] = self.arc
        if grouped:
            more = grouped_tilt(self.start, self.arcs, self.score, self.p, tilted.reshape(-1))
        else:
            more = tilt(self.start, self.arcs, self.score, self.p, lower, tilted.reshape(-1))
        return float(more) + self.constant


class Stage(NamedTuple):
    """Shares p, and what arcs are dropped for that have no better tree at these; the last stage drops none.

    ``grouped``: by :func:`colgen.problems.nonlocal_parsing.kernels.products.grouped_tilt`.
    """

    p: Floats
    cut: float = -math.inf
    grouped: bool = False


@dataclass(frozen=True)
class Bounded:
    """What bounding found at a node.

    Attributes
    ----------
    outcome
        CLOSED: no tree beats the cut; EMPTY: there is no tree; OPEN: the method has done what it can; LIMIT: of calls,
        or of time.
    bound
        On all trees of the node that beat the cut, and the tree found where that has raised it.
    value, heads
        The best tree that beats the cut, None if none does.
    at_bound, gap
        The tree at which the bound is attained, and each product's share in the gap there.
    calls, sweeps
        Of the backbone: for best trees, and for max-marginals besides.
    stages
        Of the proof, for :func:`bound_at`.
    """

    outcome: int
    bound: float
    value: float
    heads: Ints | None
    at_bound: Ints
    gap: Floats
    calls: int
    sweeps: int
    stages: tuple[Stage, ...] = ()


def bound_at(
    scores: NodeScores, backbone: Backbone, stages: Sequence[Stage], *, grid: float = 0.0
) -> tuple[float, Ints | None]:
    """What shares p prove of the trees of a node, whatever they are: the work of another's :func:`bound_node` anew.

    Parameters
    ----------
    scores
        Of the node; simplified in place, and left without the arcs that are dropped.
    stages
        At all but the last, arcs are dropped whose best tree does not beat the stage's cut.
    grid
        See :func:`bound_node`.

    Returns
    -------
    tuple[float, Ints | None]
        The bound: no tree of the node is better than the largest of it and the cuts of all stages but the last;
        ``NEG`` if no tree is left.  And the tree at which it is attained.

    Raises
    ------
    OutOfTimeError
        If there was no time for it.
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
    """Bound the trees of a node, and look for one that beats the cut.

    Parameters
    ----------
    scores
        Simplified in place; p is left where the bound is best.
    cut
        The value to be beaten; -inf if there is none.
    raising
        Whether a tree that beats it takes its place.
    grid
        Values of trees differ by multiples of it; 0 if nothing of the kind is known.
    fresh
        Whether p is to be chosen by the method's own start.
    most_calls, patience
        Of the backbone at this node; and after how many calls without progress the node is given up.

    The backbone's ``expired()`` ends it as well.
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
        scores.p = descent.kept
    return descent.result(outcome)


class _Descent:
    """A descent at one node: what it has found, where it is, and how long its steps are."""

    def __init__(
        self, scores: NodeScores, backbone: Backbone, cut: float, raising: bool, grid: float, method: int
    ) -> None:
        self.scores, self.backbone = scores, backbone
        self.cut, self.raising, self.grid, self.method = cut, raising, grid, method
        self.tilted, self.marginal = np.empty((2, backbone.size, backbone.size))
        self.heads, self.at_bound = np.empty(backbone.size, dtype=np.int64), np.zeros(backbone.size, dtype=np.int64)
        self.best: Ints | None = None
        self.found = self.target = cut  # value of the best tree that beats the cut; what the bound could come down to
        self.psi = self.bound = self.before = self.reference = math.inf
        self.calls, self.sweeps, self.since = 0, 0, 0
        self.kept = scores.p.copy()
        self.stages: list[Stage] = []
        smallest = np.abs(scores.score[scores.score != 0.0]).min(initial=math.inf)
        self.length, self.factor = 1.0 / float(smallest), 1.0

    def run(self, margin: Floats, most_calls: int, patience: int) -> int:
        """Descend until the bound meets the cut, or the node is given up; the outcome."""
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
        """Find the best tree at p, and keep what it tells; whether there is a tree."""
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
            self.kept = scores.p.copy()
        return True

    def count_progress(self) -> None:
        """Count the calls since the bound came down by a share of the gap: after too many the node is given up."""
        if self.reference == math.inf or self.bound < self.reference - _PROGRESS * (self.reference - self.target):
            self.reference, self.since = self.bound, 0
        else:
            self.since += 1

    def drop(self) -> bool:
        """Drop the arcs that no better tree has, if they are many; whether they were, and few arcs are left."""
        scores, backbone = self.scores, self.backbone
        if self.psi > self.bound:  # back to the best p
            scores.p = self.kept.copy()
            self.psi = scores.evaluate(backbone, self.tilted, self.heads)
            self.calls += 1
        backbone.marginals(self.tilted, self.marginal)
        self.sweeps += 1
        rest = self.bound - float(self.marginal[:, 1].max())  # constants: the best tree has some arc to word 1
        left, there = scores.arc.copy(), scores.num_arcs
        if drop_arcs(left, self.marginal, rest, self.cut, self.grid) <= _WORTH * (there - backbone.size):
            return False
        self.stages.append(Stage(scores.p.copy(), self.cut))
        scores.arc = left
        scores.simplify()
        self.kept = scores.p.copy()
        self.since = 0
        return scores.num_arcs <= _MANY * backbone.size

    def absorb(self, share: float) -> None:
        """Move shares to the arcs that lack most for being in a best tree, by a share of what they lack."""
        scores, marginal = self.scores, self.marginal
        room = share * np.clip(float(marginal.max()) - marginal, 0.0, _MOST_ROOM)
        absorb(scores.start, scores.arcs, scores.score, scores.p, room.reshape(-1))

    def step(self) -> bool:
        """Take a subgradient step; whether there is a direction."""
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
        """What was found, with the stages of its proof."""
        left = NEG if outcome == EMPTY else self.bound
        stages = (*self.stages, Stage(self.scores.p.copy()))
        gap = self.scores.gaps(self.at_bound)
        return Bounded(outcome, left, self.found, self.best, self.at_bound, gap, self.calls, self.sweeps, stages)


def meets(bound: float, cut: float, grid: float) -> bool:
    """Whether a bound leaves no room above a value; values differ by multiples of ``grid`` unless it is zero."""
    return bound <= _room_from(cut, grid)


def _room_from(cut: float, grid: float) -> float:
    """What a tree that beats the cut has more than."""
    return cut + max(_SAME * max(1.0, abs(cut)), _GRID * grid) if cut > -math.inf else -math.inf


def drop_arcs(arc: Floats, marginal: Floats, constant: float, cut: float, grid: float) -> int:
    """Forbid each arc whose best tree does not beat the cut; how many these are."""
    hopeless = (arc > _IMPOSSIBLE) & ((marginal < _IMPOSSIBLE) | (marginal + constant <= _room_from(cut, grid)))
    hopeless[:, 0] = False
    arc[hopeless] = NEG
    return int(hopeless.sum())
