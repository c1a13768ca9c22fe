"""What shares of products prove: the oracle of the dynamic program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen import Decision, Pricing, PricingContext, PricingResult, Solution
from colgen.core.tolerances import TOLERANCES
from colgen.problems.dependency.decisions import restrict
from colgen.problems.nonlocal_parsing.kernels.tree_bound import NodeScores, Stage, bound_at, meets
from colgen.problems.nonlocal_parsing.losses import NearOne
from colgen.problems.nonlocal_parsing.pool import BestTreePool, Effort
from colgen.solvers.trees.backbone import TreeTimeError
from colgen.solvers.trees.eisner_items import NEG

Bools = NDArray[np.bool_]

_IMPOSSIBLE = 0.5 * NEG

ROUNDING = 2.0**-20
"""The share of an objective that counts as one of its scale."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Dual values: shares p of the products, stage after stage, in scores near 1.

    Attributes
    ----------
    near
        The scores that p speaks of.
    stages
        At all but the last, arcs are dropped that have no better tree; none: shares that cost nothing.
    """

    near: NearOne
    stages: tuple[Stage, ...] = ()


class _Known(NamedTuple):
    """What the last shares have proved: the bound, the scores that are left, and the arcs that there were."""

    duals: Shares
    decisions: tuple[Decision, ...]
    value: float
    scores: NodeScores
    before: Bools


class BestTrees(Pricing):
    """The bound on all trees of a node at shares p, by the dynamic program; with ``k`` trees wanted, on the k-th best.

    Parameters
    ----------
    pool
        The best trees so far, which a bound can meet.
    effort
        Counts calls.
    near
        Scores near 1 to begin with, where there are no dual values.

    Attributes
    ----------
    dropped
        The node's arcs that no better tree has, by head and modifier, after the last call; None if there are none.
    """

    multiplicity = 1.0

    def __init__(self, pool: BestTreePool, effort: Effort, near: Callable[[], NearOne]) -> None:
        self.pool, self.effort, self._near = pool, effort, near
        self.dropped: Bools | None = None
        self._known: _Known | None = None

    def price(self, duals: Shares | None, context: PricingContext) -> PricingResult:  # type: ignore[override]
        duals = Shares(self._near()) if duals is None else duals
        near, pool, budget = duals.near, self.pool, context.budget
        near.losses.expired = lambda: budget.expired
        answers: tuple[Solution, ...] = ()
        self.dropped = None
        try:
            known = self._at(duals, tuple(context.decisions))
            value = known.value
            if pool.k > 1 and value > _IMPOSSIBLE:
                value, answers = self._last(known.scores, near, value, whole=not context.decisions)
        except TreeTimeError:
            return PricingResult(total=near.bound(near.top), cut_off=True)
        if len(duals.stages) > 1:
            self.dropped = known.before & (known.scores.arc < _IMPOSSIBLE)
        value = max([value, *(stage.cut for stage in duals.stages[:-1])])
        if not pool.is_full:
            total = near.bound(min(value, near.top)) if value > _IMPOSSIBLE else context.sense.hopeless
            return PricingResult(total=total, answers=answers)
        total = near.losses.instance.objective(pool.last)
        if not meets(value, near.value(pool.least), near.step):
            # Not met in scores near 1: numbers common to all trees may be large, their digits few.
            above = 2.0 * TOLERANCES.pruning * max(near.unit, ROUNDING * abs(total))
            total = max(near.bound(min(value, near.top)), total + above)
        return PricingResult(total=total, answers=answers)

    def _at(self, duals: Shares, decisions: tuple[Decision, ...]) -> _Known:
        """What these shares prove of a node's trees; the same are asked twice at the root, and answered once."""
        known = self._known
        if known is None or known.duals is not duals or known.decisions != decisions:
            scores = scores_of(duals.near, decisions)
            stages, before = duals.stages or (Stage(scores.p),), scores.arc > _IMPOSSIBLE
            self.effort.calls += len(stages)
            self.effort.sweeps += len(stages) - 1
            value, _ = bound_at(scores, duals.near.backbone, stages, grid=duals.near.step)
            self._known = known = _Known(duals, decisions, value, scores, before)
        return known

    def _last(
        self, scores: NodeScores, near: NearOne, bound: float, *, whole: bool
    ) -> tuple[float, tuple[Solution, ...]]:
        """The value under ψ of the k-th best tree, which no tree of the node that is not listed now exceeds.

        ``whole``: all trees are in the node.
        """
        tilted, heads = np.empty(scores.arc.shape), np.empty(len(scores.arc), dtype=np.int64)
        top, pool = scores.evaluate(near.backbone, tilted, heads), self.pool
        values, trees = near.backbone.k_best(tilted, pool.k)
        self.effort.calls += 1
        self.effort.k_best += 1
        for tree in trees:
            heads_of = tuple(tree[1:].tolist())
            pool.add(heads_of, near.losses.of(heads_of))
        if whole and not pool.is_full and len(trees) < pool.k:  # there are no more than these
            pool.k = max(len(trees), 1)
        answers = (pool.solution(near.losses.instance),) if pool.is_full else ()
        if len(trees) < pool.k or not pool.is_full:
            return NEG, answers
        return min(bound, top - float(values[0] - values[-1])), answers


def scores_of(near: NearOne, decisions: Sequence[Decision]) -> NodeScores:
    """Scores of a node near 1, with the uniform p."""
    scores = near.scores()
    if decisions:
        allowed = restrict(scores.arc > _IMPOSSIBLE, decisions)
        scores.arc[~allowed] = NEG
    return scores
