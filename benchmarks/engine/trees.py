"""Synthetic trees to measure the engine's speed: a free relaxation, and pools priced by a matrix product."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from colgen import (
    Best,
    BranchingRule,
    Column,
    Decision,
    Duals,
    OraclePricing,
    Pricing,
    PricingContext,
    Problem,
    RyanFoster,
    artificial,
)
from colgen.core.decision import Apart, Together
from colgen.core.lazy_imports import LazyModule
from colgen.tree.node import Evaluation, Node
from colgen.tree.search import Relaxation

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")

_SMALLEST, _LARGEST = 3, 6
"""Bounds on the number of rows per column of a pool."""


class Free(Relaxation):
    """A complete binary tree of given depth with random increasing bounds at no cost, to measure the search alone."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._random = random.Random(0)

    def evaluate(self, node: Node) -> Evaluation:
        bound = self._random.random() + (node.bound if node.number else 0.0)
        return Evaluation(bound, "branched", _CHILDREN if node.depth < self.depth else ())


class _NoDecision(Decision):
    """A decision without effect."""


_CHILDREN = ((_NoDecision(),), (_NoDecision(),))


class Pool:
    """Columns of random rows as a 0/1 matrix; costs are sizes with noise."""

    def __init__(self, rows: int, columns: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        sizes = random.integers(_SMALLEST, _LARGEST + 1, columns)
        ranks = random.random((columns, rows)).argsort(axis=1).argsort(axis=1)
        self.covers: NDArray[np.bool_] = ranks < sizes[:, None]
        self.matrix = self.covers.astype(float)
        self.costs = sizes * random.uniform(1.0, 2.0, columns)

    def allowed(self, decision: Decision) -> NDArray[np.bool_]:
        """Return which columns a decision of Ryan and Foster allows."""
        assert isinstance(decision, (Together, Apart))
        first, second = (self.covers[:, key[1]] for key in (decision.first, decision.second))
        mask: NDArray[np.bool_] = (first == second) if isinstance(decision, Together) else ~(first & second)
        return mask


class PoolOracle(OraclePricing):
    """Finds the best column of a pool by one matrix product."""

    multiplicity = 30.0

    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self.pool = pool
        self.multiplicity = float(pool.matrix.shape[1])
        self._decisions: tuple[Decision, ...] = ()
        self._penalties = np.zeros(len(pool.costs))

    def best(self, duals: Duals, context: PricingContext) -> Best:
        if context.decisions != self._decisions:
            self._decisions, self._penalties = context.decisions, np.zeros(len(self.pool.costs))
            for decision in context.decisions:
                self._penalties[~self.pool.allowed(decision)] = np.inf
        reduced = context.cost_weight * self.pool.costs - self.pool.matrix @ np.asarray(duals["cover"])
        reduced += self._penalties
        best = int(reduced.argmin())
        return Best(best, float(reduced[best]))

    def encode(self, structure: int) -> Column:
        rows = np.flatnonzero(self.pool.covers[structure]).tolist()
        return Column(float(self.pool.costs[structure]), {("cover", row): 1.0 for row in rows}, structure)


class PoolPartition(Problem):
    """Set partitioning over one pool of columns per oracle, with branching by Ryan and Foster's rule."""

    def __init__(self, rows: int, columns: int, oracles: int, seed: int = 0) -> None:
        self.rows = rows
        self.pools = [Pool(rows, columns, seed * oracles + k) for k in range(oracles)]

    def master(self) -> pyo.ConcreteModel:
        model = pyo.ConcreteModel()
        model.row = pyo.RangeSet(0, self.rows - 1)
        model.none = artificial(model.row)
        model.cover = pyo.Constraint(model.row, rule=lambda m, row: m.none[row] == 1)
        model.cost = pyo.Objective(expr=0.0)
        return model

    def pricing(self) -> Sequence[Pricing]:
        return [PoolOracle(pool) for pool in self.pools]

    def branching(self) -> Sequence[BranchingRule]:
        return [RyanFoster("cover")]
