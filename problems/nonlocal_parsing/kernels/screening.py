r"""Nodes with many arcs: most arcs are dropped before the rest is bounded as for any node.

A search among the few likeliest arcs per word finds a good tree, and shares p of their products, by cheap calls of the
backbone. Then all arcs are evaluated twice. The first evaluation omits the positive scores of products with other arcs.
Its max-marginals are not bounds, but they give the *slack* of each arc: the amount that its best tree lacks. The second
one assigns every such score to one of its arcs, in proportion to the slack, so that max-marginals are bounds again. If
the tree is optimal, nearly all arcs are dropped. The remaining arcs get less in the next iteration, because their slack
is multiplied by less than one, as in the multiplicative weights method. The likeliest few are then chosen by the new
slack.

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
from colgen.problems.nonlocal_parsing.kernels.tree_starts import (
    EXCLUDED,
    ONLY,
    Bytes,
    assign_shares,
    clear_excluded,
    widen_shares,
)
from colgen.solvers.trees.backbone import Backbone, TreeTimeError
from colgen.solvers.trees.eisner_items import NEG, Floats, Ints

_IMPOSSIBLE = 0.5 * NEG

MANY, _NUM_FEW, _FEW_CALLS = 12, 8, 60
"""Arcs per word beyond which nodes are screened; arcs per word in the first search; and calls of that search."""

_NUM_ENOUGH = 3
"""With at most this many arcs per word, dropping more has no benefit."""

_ROUNDS, _TURNS = 8, 40
"""Largest number of searches among few arcs, and of weight updates after each."""

_STEP = 0.5
"""Largest exponent of a weight update: the arc farthest above the cut is multiplied by exp(-step)."""

_LEAST_STEP = 0.2
"""With a smaller step, weight updates stop."""

_MIN_DROPPED = 0.1
"""Fewer arcs than this share are dropped together with those of later updates, because the verification repeats all."""

_MIN_PROGRESS = 0.02
"""A round that drops at most this share of the arcs and finds no better tree is the last."""

_MIN_SLACK = 1e-4
"""Slack of an arc without slack; scores are near 1."""


@dataclass
class _Best:
    """The best tree so far, and the effort."""

    cut: float
    raising: bool
    grid: float
    value: float = -math.inf
    heads: Ints | None = None
    calls: int = 0
    sweeps: int = 0
    stages: list[Stage] = field(default_factory=list)

    def record_tree(self, heads: Ints, value: float) -> None:
        """Store a tree with its value if it is better."""
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
    """Bound a node by fixing, as :func:`~colgen.problems.nonlocal_parsing.kernels.tree_bound.bound_node` does.

    With more than ``MANY`` arcs per word, most of them are dropped first.
    """
    best = _Best(cut, raising, grid)
    scores.simplify()
    closed: tuple[float, Ints] | None = None
    if len(scores.score) and scores.num_arcs > MANY * backbone.size:
        try:
            closed = _screen(scores, backbone, best)
        except TreeTimeError:
            project_shares(scores.start, scores.score, scores.p)  # they may omit products with other arcs
            return _make_result(scores, best, LIMIT, math.inf, np.zeros(backbone.size, dtype=np.int64))
    if closed is not None:
        return _make_result(scores, best, CLOSED if closed[0] > _IMPOSSIBLE else EMPTY, *closed)
    found = bound_node(
        scores, backbone, cut=best.cut, raising=raising, grid=grid, most_calls=most_calls, patience=patience
    )
    best.record_tree(np.zeros(0, dtype=np.int64) if found.heads is None else found.heads, found.value)
    return replace(
        found,
        heads=best.heads,
        value=best.value if best.heads is not None else cut,
        calls=found.calls + best.calls,
        sweeps=found.sweeps + best.sweeps,
        stages=(*best.stages, *found.stages),
    )


def _make_result(scores: NodeScores, best: _Best, outcome: int, bound: float, at_bound: Ints) -> Bounded:
    value = max(best.cut, best.value)
    stages = tuple(best.stages) or (Stage(scores.p.copy()),)
    return Bounded(outcome, bound, value, best.heads, at_bound, scores.gaps(at_bound), best.calls, best.sweeps, stages)


def _screen(scores: NodeScores, backbone: Backbone, best: _Best) -> tuple[float, Ints] | None:
    """Drop arcs; return the bound and its tree if no tree beats the cut, ``NEG`` if no tree remains, else None."""
    size = backbone.size
    tilted, marginal = np.empty((size, size)), np.empty((size, size))
    heads, rank = np.empty(size, dtype=np.int64), np.empty((size, size))
    backbone.likely(scores.arc, rank)
    status: Bytes | None = None
    weight = np.ones(size * size)
    for _ in range(_ROUNDS):
        before, value = scores.num_arcs, best.value
        status = _search_few(scores, backbone, rank, best, status)
        if status is None or math.isinf(best.cut):
            return None
        # Without the scores of products with other arcs: not a bound, but it gives trees and slack.
        if _evaluate(scores, backbone, best, tilted, heads)[0] < _IMPOSSIBLE:
            best.stages.append(Stage(scores.p.copy()))
            return NEG, heads
        backbone.marginals(tilted, rank)
        best.sweeps += 1
        slack = np.maximum(float(rank.max()) - rank, _MIN_SLACK).reshape(-1)
        slack[status > EXCLUDED] = _MIN_SLACK
        step, least, good = _STEP, math.inf, weight
        turns = _TURNS if best.value <= value else 1
        for turn in range(turns):
            assign_shares(scores.start, scores.arcs, scores.score, scores.p, status, slack * weight)
            bound, top = _evaluate(scores, backbone, best, tilted, heads, grouped=True)
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
            last = turn == turns - 1 or step < _LEAST_STEP or there - dropped <= _NUM_ENOUGH * size
            if dropped >= _MIN_DROPPED * there or (last and dropped):
                best.stages.append(Stage(scores.p.copy(), best.cut, True))
                scores.arc = left
                scores.simplify()
            if last:
                break
            weight = good * np.exp(-step * above / above.max())
        weight = good
        rank[scores.arc < _IMPOSSIBLE] = NEG
        after = scores.num_arcs
        if after <= _NUM_ENOUGH * size or (best.value <= value and after > (1.0 - _MIN_PROGRESS) * before):
            break
    return None


def _evaluate(
    scores: NodeScores, backbone: Backbone, best: _Best, tilted: Floats, heads: Ints, *, grouped: bool = False
) -> tuple[float, float]:
    """Call the backbone; return ψ, and the value of the tree's local parts with the arc scores ``tilted``."""
    constant = scores.tilt(tilted, grouped=grouped)
    top = backbone.best(tilted, heads)
    best.calls += 1
    if top < _IMPOSSIBLE:
        return NEG, NEG
    best.record_tree(heads, scores.of_tree(heads, tilted, top))
    return top + constant, top


def _search_few(
    scores: NodeScores, backbone: Backbone, rank: Floats, best: _Best, before: Bytes | None
) -> Bytes | None:
    """Search among the likeliest arcs for a tree and for shares p of the remaining products.

    Return the status of each arc, shape (N²,); if no tree remains, return ``before`` with its shares.
    """
    few = scores.copy()
    few.number = np.arange(len(few.score))
    few.arc[rank < np.sort(rank, axis=0)[max(backbone.size - _NUM_FEW, 0)]] = NEG
    found = bound_node(few, backbone, cut=best.cut, raising=best.raising, grid=best.grid, most_calls=_FEW_CALLS)
    best.calls, best.sweeps = best.calls + found.calls, best.sweeps + found.sweeps
    if found.heads is not None:
        best.record_tree(found.heads, found.value)
    if found.outcome == EMPTY:
        if before is not None:
            clear_excluded(scores.start, scores.arcs, scores.score, scores.p, before)
        return before
    left = few.arc > _IMPOSSIBLE
    status = left.astype(np.int8)
    status[left & (left.sum(axis=0) == 1)] = ONLY
    flat = status.reshape(-1)
    widen_shares(scores.start, scores.arcs, scores.score, scores.p, flat, few.number, few.start, few.arcs, few.p)
    return flat
