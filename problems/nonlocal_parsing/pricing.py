"""The oracle that proves bounds from shares of products by the dynamic program."""

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
from colgen.problems.nonlocal_parsing.losses import NormalizedScores
from colgen.problems.nonlocal_parsing.pool import BestTreePool, Effort
from colgen.solvers.trees.backbone import TreeTimeError
from colgen.solvers.trees.eisner_items import NEG

Bools = NDArray[np.bool_]

_IMPOSSIBLE = 0.5 * NEG

ROUNDING = 2.0**-20
"""Share of an objective that is treated as its rounding error."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Dual values: shares p of the products, stage by stage, in normalized scores.

    At all stages but the last, arcs without a better tree are dropped. Without stages, the shares are uniform.
    """

    near: NormalizedScores  # the scores that p refers to
    stages: tuple[Stage, ...] = ()


class _Result(NamedTuple):
    """Result of the last shares: the bound, the remaining scores, and the arcs before dropping."""

    duals: Shares
    decisions: tuple[Decision, ...]
    value: float
    scores: NodeScores
    before: Bools


class BestTrees(Pricing):
    """Bound all trees of a node at shares p by the dynamic program; with ``k`` trees wanted, bound the k-th best.

    ``near`` returns the initial scores, for calls without dual values. After a call, ``dropped`` has the node's arcs
    without a better tree, by head and modifier, or None.
    """

    multiplicity = 1.0

    def __init__(self, pool: BestTreePool, effort: Effort, near: Callable[[], NormalizedScores]) -> None:
        self.pool, self.effort, self._near = pool, effort, near
        self.dropped: Bools | None = None
        self._last_result: _Result | None = None

    def price(self, duals: Shares | None, context: PricingContext) -> PricingResult:  # type: ignore[override]
        duals = Shares(self._near()) if duals is None else duals
        near, pool, budget = duals.near, self.pool, context.budget
        near.losses.expired = lambda: budget.expired
        answers: tuple[Solution, ...] = ()
        self.dropped = None
        try:
            known = self._prove(duals, tuple(context.decisions))
            value = known.value
            if pool.k > 1 and value > _IMPOSSIBLE:
                value, answers = self._kth_best(known.scores, near, value, whole=not context.decisions)
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
            # The bound does not meet the value near 1, but constants common to all trees may hide the difference.
            above = 2.0 * TOLERANCES.pruning * max(near.unit, ROUNDING * abs(total))
            total = max(near.bound(min(value, near.top)), total + above)
        return PricingResult(total=total, answers=answers)

    def _prove(self, duals: Shares, decisions: tuple[Decision, ...]) -> _Result:
        """Return the result of these shares at a node; the root's result is used twice."""
        known = self._last_result
        if known is None or known.duals is not duals or known.decisions != decisions:
            scores = scores_of(duals.near, decisions)
            stages, before = duals.stages or (Stage(scores.p),), scores.arc > _IMPOSSIBLE
            self.effort.calls += len(stages)
            self.effort.sweeps += len(stages) - 1
            value, _ = bound_at(scores, duals.near.backbone, stages, grid=duals.near.step)
            self._last_result = known = _Result(duals, decisions, value, scores, before)
        return known

    def _kth_best(
        self, scores: NodeScores, near: NormalizedScores, bound: float, *, whole: bool
    ) -> tuple[float, tuple[Solution, ...]]:
        """Return the value under ψ of the k-th best tree, an upper bound on all trees of the node outside the pool.

        ``whole``: the node contains all trees.
        """
        tilted, heads = np.empty(scores.arc.shape), np.empty(len(scores.arc), dtype=np.int64)
        top, pool = scores.evaluate(near.backbone, tilted, heads), self.pool
        values, trees = near.backbone.k_best(tilted, pool.k)
        self.effort.calls += 1
        self.effort.k_best += 1
        for tree in trees:
            heads_of = tuple(tree[1:].tolist())
            pool.add(heads_of, near.losses.of(heads_of))
        if whole and not pool.is_full and len(trees) < pool.k:  # the instance has no more trees
            pool.k = max(len(trees), 1)
        answers = (pool.solution(near.losses.instance),) if pool.is_full else ()
        if len(trees) < pool.k or not pool.is_full:
            return NEG, answers
        return min(bound, top - float(values[0] - values[-1])), answers


def scores_of(near: NormalizedScores, decisions: Sequence[Decision]) -> NodeScores:
    """Return the normalized scores of a node, with uniform p."""
    scores = near.scores()
    if decisions:
        allowed = restrict(scores.arc > _IMPOSSIBLE, decisions)
        scores.arc[~allowed] = NEG
    return scores
