r"""Nodes with many arcs: all but few of them are dropped, before those that are left are bounded as any node's.

A search among the likeliest few arcs a word finds a good tree, and shares p of the products of those arcs, by cheap
calls of the backbone.  Then all arcs are looked at together, twice.  First without the positive scores that products
with other arcs have: these max-marginals are no bounds, but say how much *room* each arc has, what its best tree lacks.
Then every such score is given to one of its arcs, in proportion to their room, and max-marginals are bounds again:
where the tree is the best, nearly all arcs are dropped.  Arcs that are not are given less the next time (their room is
multiplied by less than one, as in the multiplicative weights method), and the likeliest few are chosen anew by the room
that they have.

Source of the weights: S. Arora, E. Hazan, S. Kale, *The multiplicative weights update method*, Theory of Computing
(2012).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from colgen.problems.nonlocal_parsing.kernels.products import project_shares
from colgen.problems.nonlocal_parsing.kernels.tree_bound import (
    CLOSED,
    EMPTY,
    LIMIT,
    Bounded,
    NodeScores,
    Stage,
    bound_node,
    drop_arcs,
    meets,
)
from colgen.problems.nonlocal_parsing.kernels.tree_starts import ALONE, OUT, Bytes, leave_out, share_out, widen
from colgen.solvers.trees.backbone import Backbone, TreeTimeError
from colgen.solvers.trees.eisner_items import NEG, Floats, Ints

_IMPOSSIBLE = 0.5 * NEG

MANY, _FEW, _FEW_CALLS = 12, 8, 60
"""With more arcs a word than the first of these, so few a word are searched beforehand, in so many calls."""

_ENOUGH = 3
"""Arcs a word: with so few there is nothing to be won by dropping more."""

_ROUNDS, _TURNS = 8, 40
"""Searches among few arcs, and turns of weights after each, at most."""

_STEP = 0.5
"""What the room of the arc that is farthest above the cut is multiplied by is exp of minus this."""

_LEAST_STEP = 0.2
"""With a smaller one weights have done what they can."""

_WORTH = 0.1
"""Share of the arcs: fewer are dropped with those of the next turns, for whoever proves it does all turns anew."""

_LITTLE = 0.02
"""Share of the arcs: a round that drops no more, and finds no better tree, is the last."""

_NO_ROOM = 1e-4
"""Room of an arc that has none: values are near 1."""


@dataclass
class _Best:
    """The best tree so far, and what has been spent."""

    cut: float
    raising: bool
    grid: float
    value: float = -math.inf
    heads: Ints | None = None
    calls: int = 0
    sweeps: int = 0
    stages: list[Stage] = field(default_factory=list)

    def meet(self, heads: Ints, value: float) -> None:
        """A tree and what it is worth."""
        if value > max(self.cut, self.value):
            self.heads, self.value = heads.copy(), value
            if self.raising:
                self.cut = value


def bound_many(
    scores: NodeScores,
    backbone: Backbone,
    *,
    cut: float,
    raising: bool = True,
    grid: float = 0.0,
    most_calls: int = 200,
    patience: int = 10,
) -> Bounded:
    """Bound a node by fixing, afresh, as :func:`~colgen.problems.nonlocal_parsing.kernels.tree_bound.bound_node` does.

    Where there are more than ``MANY`` arcs a word, most of them are dropped beforehand.
    """
    best = _Best(cut, raising, grid)
    scores.simplify()
    closed: tuple[float, Ints] | None = None
    if len(scores.score) and scores.num_arcs > MANY * backbone.size:
        try:
            closed = _screen(scores, backbone, best)
        except TreeTimeError:
            project_shares(scores.start, scores.score, scores.p)  # they may have been those without other products
            return _ended(scores, best, LIMIT, math.inf, np.zeros(backbone.size, dtype=np.int64))
    if closed is not None:
        return _ended(scores, best, CLOSED if closed[0] > _IMPOSSIBLE else EMPTY, *closed)
    found = bound_node(
        scores, backbone, cut=best.cut, raising=raising, grid=grid, most_calls=most_calls, patience=patience
    )
    best.meet(np.zeros(0, dtype=np.int64) if found.heads is None else found.heads, found.value)
    return replace(
        found,
        heads=best.heads,
        value=best.value if best.heads is not None else cut,
        calls=found.calls + best.calls,
        sweeps=found.sweeps + best.sweeps,
        stages=(*best.stages, *found.stages),
    )


def _ended(scores: NodeScores, best: _Best, outcome: int, bound: float, at_bound: Ints) -> Bounded:
    value = max(best.cut, best.value)
    stages = tuple(best.stages) or (Stage(scores.p.copy()),)
    return Bounded(outcome, bound, value, best.heads, at_bound, scores.gaps(at_bound), best.calls, best.sweeps, stages)


def _screen(scores: NodeScores, backbone: Backbone, best: _Best) -> tuple[float, Ints] | None:
    """Drop arcs; the bound and its tree where that proves that no tree beats the cut, ``NEG`` if no tree is left."""
    size = backbone.size
    tilted, marginal = np.empty((size, size)), np.empty((size, size))
    heads, rank = np.empty(size, dtype=np.int64), np.empty((size, size))
    backbone.likely(scores.arc, rank)
    standing: Bytes | None = None
    weight = np.ones(size * size)
    for _ in range(_ROUNDS):
        before, value = scores.num_arcs, best.value
        standing = _search_few(scores, backbone, rank, best, standing)
        if standing is None or math.isinf(best.cut):
            return None
        # Without what products with others score: no bound, but a way to find trees and room.
        if _look(scores, backbone, best, tilted, heads)[0] < _IMPOSSIBLE:
            best.stages.append(Stage(scores.p.copy()))
            return NEG, heads
        backbone.marginals(tilted, rank)
        best.sweeps += 1
        room = np.maximum(float(rank.max()) - rank, _NO_ROOM).reshape(-1)
        room[standing > OUT] = _NO_ROOM
        step, least, good = _STEP, math.inf, weight
        turns = _TURNS if best.value <= value else 1
        for turn in range(turns):
            share_out(scores.start, scores.arcs, scores.score, scores.p, standing, room * weight)
            bound, top = _look(scores, backbone, best, tilted, heads, grouped=True)
            if bound < _IMPOSSIBLE or meets(bound, best.cut, best.grid):
                best.stages.append(Stage(scores.p.copy(), grouped=True))
                return bound, heads
            backbone.marginals(tilted, marginal)
            best.sweeps += 1
            if bound < least:
                least, good = bound, weight
                above = np.maximum(marginal + (bound - top - best.cut), 0.0).reshape(-1)
            else:
                step *= 0.5
            left, there = scores.arc.copy(), scores.num_arcs
            dropped = drop_arcs(left, marginal, bound - top, best.cut, best.grid)
            last = turn == turns - 1 or step < _LEAST_STEP or there - dropped <= _ENOUGH * size
            if dropped >= _WORTH * there or (last and dropped):
                best.stages.append(Stage(scores.p.copy(), best.cut, True))
                scores.arc = left
                scores.simplify()
            if last:
                break
            weight = good * np.exp(-step * above / above.max())
        weight = good
        rank[scores.arc < _IMPOSSIBLE] = NEG
        after = scores.num_arcs
        if after <= _ENOUGH * size or (best.value <= value and after > (1.0 - _LITTLE) * before):
            break
    return None


def _look(
    scores: NodeScores, backbone: Backbone, best: _Best, tilted: Floats, heads: Ints, *, grouped: bool = False
) -> tuple[float, float]:
    """Call the backbone: ψ and its tree, and what of ψ are the tree's local parts with the arc scores ``tilted``."""
    constant = scores.tilt(tilted, grouped=grouped)
    top = backbone.best(tilted, heads)
    best.calls += 1
    if top < _IMPOSSIBLE:
        return NEG, NEG
    best.meet(heads, scores.of_tree(heads, tilted, top))
    return top + constant, top


def _search_few(
    scores: NodeScores, backbone: Backbone, rank: Floats, best: _Best, before: Bytes | None
) -> Bytes | None:
    """Search among the likeliest arcs: a tree, and shares p of the products of those that are left.

    How the arcs are left is returned, shape (N²,); if none are then what it was ``before``, with those shares.
    """
    few = scores.copy()
    few.number = np.arange(len(few.score))
    few.arc[rank < np.sort(rank, axis=0)[max(backbone.size - _FEW, 0)]] = NEG
    found = bound_node(few, backbone, cut=best.cut, raising=best.raising, grid=best.grid, most_calls=_FEW_CALLS)
    best.calls, best.sweeps = best.calls + found.calls, best.sweeps + found.sweeps
    if found.heads is not None:
        best.meet(found.heads, found.value)
    if found.outcome == EMPTY:
        if before is not None:
            leave_out(scores.start, scores.arcs, scores.score, scores.p, before)
        return before
    left = few.arc > _IMPOSSIBLE
    standing = left.astype(np.int8)
    standing[left & (left.sum(axis=0) == 1)] = ALONE
    flat = standing.reshape(-1)
    widen(scores.start, scores.arcs, scores.score, scores.p, flat, few.number, few.start, few.arcs, few.p)
    return flat
