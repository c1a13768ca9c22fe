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
    size = backbone.size
    tilted, marginal = np.empty((size, size)), np.empty((size, size))
    heads, at_bound = np.empty(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    best: Ints | None = None
    bound, calls, sweeps, outcome = math.inf, 0, 0, OPEN
    found = target = cut  # value of the best tree that beats the cut; what the bound could come down to

    def result(outcome: int) -> Bounded:
        left = NEG if outcome == EMPTY else bound
        gap = scores.gaps(at_bound)
        return Bounded(outcome, left, found, best, at_bound, gap, calls, sweeps, (*stages, Stage(scores.p.copy())))

    scores.simplify()
    margin = margins(scores.arc) if method == FIXING else scores.arc
    if method == FIXING and fresh and len(scores.score):
        likely_start(scores.start, scores.arcs, scores.score, scores.p, margin)
    smallest = np.abs(scores.score[scores.score != 0.0]).min(initial=math.inf)
    length, factor = 1.0 / float(smallest), 1.0
    before = reference = math.inf
    since, snaps, fix_at = 0, 0, 3
    share, absorbing = _FIRST_SHARE, False
    kept = scores.p.copy()
    stages: list[Stage] = []
    while True:
        try:
            psi = float(scores.evaluate(backbone, tilted, heads))
        except TreeTimeError:
            outcome = LIMIT
            break
        calls += 1
        if psi < _IMPOSSIBLE:
            return result(EMPTY)
        gap = scores.gaps(heads)
        reached = psi - float(gap.sum())
        target = max(target, reached)
        if reached > found:
            found, best = reached, heads.copy()
            cut = found if raising else cut
        if psi < bound:
            bound = psi
            at_bound[:] = heads
            kept = scores.p.copy()
        if meets(bound, cut, grid):
            scores.p = kept
            return result(CLOSED)
        # Progress is measured against the gap: so much of it in so many calls, or the node is given up.
        if reference == math.inf or bound < reference - _PROGRESS * (reference - target):
            reference, since = bound, 0
        else:
            since += 1
        if since >= patience or meets(bound, target, grid):
            break
        if calls >= most_calls or backbone.expired():
            outcome = LIMIT
            break
        if method == FIXING and snaps < _SNAPS:
            snaps += 1
            snap(scores.start, scores.arcs, scores.score, scores.p, margin, heads)
            continue
        if method == FIXING and absorbing:
            absorbing = psi <= bound
            share = min(1.0, _LONGER * share) if absorbing else _SHORTER * share
            fix_at = calls if absorbing else calls + _BETWEEN_FIXINGS
        if method == FIXING and calls >= fix_at and cut > -math.inf:
            fix_at = calls + _BETWEEN_FIXINGS
            try:
                if psi > bound:  # back to the best p
                    scores.p = kept.copy()
                    psi = scores.evaluate(backbone, tilted, heads)
                    calls += 1
                backbone.marginals(tilted, marginal)
                sweeps += 1
            except TreeTimeError:
                outcome = LIMIT
                break
            rest = bound - float(marginal[:, 1].max())  # constants: the best tree has some arc to word 1
            left, there = scores.arc.copy(), scores.num_arcs
            if drop_arcs(left, marginal, rest, cut, grid) > _WORTH * (there - size):
                stages.append(Stage(scores.p.copy(), cut))
                scores.arc = left
                scores.simplify()
                kept = scores.p.copy()
                since = 0
                if scores.num_arcs <= _MANY * size:
                    continue
            room = share * np.clip(float(marginal.max()) - marginal, 0.0, _MOST_ROOM)
            absorb(scores.start, scores.arcs, scores.score, scores.p, room.reshape(-1))
            absorbing = True
            continue
        if method == SUBGRADIENT:
            if psi > before:
                length *= 0.5
            before = psi
        else:
            norm = slope(scores.start, scores.arcs, scores.score, scores.p, heads, True)
            if norm <= 0.0:
                break
            if since > 0 and since % 3 == 0:
                factor *= 0.6
            length = factor * (psi - target) / norm
        descend(scores.start, scores.arcs, scores.score, scores.p, heads, length, method != SUBGRADIENT)
    scores.p = kept
    return result(outcome)


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
