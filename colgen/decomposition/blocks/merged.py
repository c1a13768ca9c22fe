"""One oracle for many blocks of a kind: one kernel call and one batch of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from colgen.core.column_batch import Columns, Mask
from colgen.core.decision import Decision
from colgen.core.duals import Duals
from colgen.core.terms import Box
from colgen.core.text import plural
from colgen.decomposition.blocks.decisions import ComponentBound
from colgen.decomposition.reading.compact_model import Floats, Ints
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.decomposition.splitting import Splitting
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult


class Kernel(Protocol):
    """The pricing algorithm of one or several recognized blocks, whose variables are concatenated."""

    def best(self, costs: Floats, lower: Floats, upper: Floats) -> Floats | None:
        """Return the point of least cost within bounds on integer variables; None if a block is infeasible."""


class JoinedPricing(Pricing):
    """Pricing of several single blocks of a kind by one kernel call, with a kernel for all of them.

    A solution has one point of each block, so the sum of their negative reduced costs is a bound on the total.
    """

    prices = frozenset({Box})  # boxes belong to identical blocks, and these blocks are single: no point is in a box

    def __init__(
        self, splitting: Splitting, subs: Sequence[Subproblem], kernels: Sequence[Kernel], together: Kernel
    ) -> None:
        self.splitting, self.subs = splitting, tuple(subs)
        self._kernels, self._together = tuple(kernels), together
        self.multiplicity = float(len(subs))
        self._sign = float(splitting.compact.formulation.sense.sign)
        sizes = [len(sub.costs) for sub in subs]
        self._starts = np.cumsum([0, *sizes])
        self._of_number = {sub.number: k for k, sub in enumerate(subs)}
        self._costs = np.concatenate([sub.costs for sub in subs])
        self._lower = np.concatenate([sub.lower for sub in subs])
        self._upper = np.concatenate([sub.upper for sub in subs])
        self._convexity = len(splitting.linking) + np.array([sub.number for sub in subs], dtype=np.int64)
        self._counts = _Counts.of(subs, self._starts, len(splitting.linking))
        self._bounded: tuple[Sequence[Decision] | None, Floats, Floats] = (None, self._lower, self._upper)

    @property
    def name(self) -> str:
        return f"{type(self).__name__} of {plural(len(self.subs), 'block')}, {self.subs[0].name} the first"

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        if context.seconds_left() <= 0.0:
            return PricingResult(cut_off=True)
        costs = context.cost_weight * self._costs - self._counts.earnings(duals.values)
        points, there = self._best(self._sign * costs, *self.bounds(context.decisions))
        if not there.any():
            return PricingResult(bound=context.sense.hopeless)
        reduced = np.add.reduceat(points * costs, self._starts[:-1]) - duals.values[self._convexity]
        gains = np.where(there, -self._sign * reduced, -np.inf)
        good = np.flatnonzero(gains > 0.0)
        kept = good if len(good) else np.array([int(np.argmax(gains))])
        # Sum over improving blocks only, though a solution has one point of each: dives count fixed points separately.
        total = -self._sign * float(np.maximum(gains, 0.0).sum())

        def attained() -> tuple[Columns, Floats]:
            every = np.flatnonzero(there)
            return self.batch(points, every), np.ones(len(every))

        bound = float(reduced[np.argmax(gains)])
        return PricingResult(self.batch(points, kept), bound, reduced[kept], total, attained=attained)

    def _best(self, costs: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Mask]:
        """Return the optimal point of each block, and a mask of feasible blocks."""
        count = len(self.subs)
        points = self._together.best(costs, lower, upper)
        if points is not None:
            return points, np.ones(count, dtype=np.bool_)
        points, there = np.zeros(len(costs)), np.zeros(count, dtype=np.bool_)
        for k, kernel in enumerate(self._kernels):
            mine = slice(int(self._starts[k]), int(self._starts[k + 1]))
            point = kernel.best(costs[mine], lower[mine], upper[mine])
            if point is not None:
                points[mine], there[k] = point, True
        return points, there

    def batch(self, points: Floats, kept: Ints) -> Columns:
        """Return the columns of some blocks' points."""
        starts, rows, values = self._counts.entries(points, kept, self._convexity)
        found = [(self.subs[k], points[self._starts[k] : self._starts[k + 1]]) for k in kept.tolist()]
        return self.splitting.batch(found, starts, rows, values)

    def bounds(self, decisions: Sequence[Decision]) -> tuple[Floats, Floats]:
        """Return the bounds of all variables at a node, cached until the decisions change."""
        known, lower, upper = self._bounded
        if known is not decisions:
            lower, upper = self._lower.copy(), self._upper.copy()
            for decision in decisions:
                block = self._of_number.get(decision.number) if isinstance(decision, ComponentBound) else None
                if block is not None:
                    assert isinstance(decision, ComponentBound)
                    k = int(self._starts[block]) + decision.variable
                    lower[k], upper[k] = max(lower[k], decision.lower), min(upper[k], decision.upper)
            self._bounded = decisions, lower, upper
        return lower, upper


class _Counts:
    """The coefficients of all blocks' variables in the linking rows.

    ``slots`` numbers the pair of block and row of each entry, in the order of ``blocks`` and ``rows``.
    """

    def __init__(self, variables: Ints, rows: Ints, data: Floats, blocks: Ints, sizes: tuple[int, int, int]) -> None:
        self._variables, self._of_entry, self._data = variables, rows, data
        self._num_variables, self._num_blocks, num_rows = sizes
        pairs, self.slots = np.unique(blocks * num_rows + rows, return_inverse=True)
        self.slots = self.slots.reshape(-1)
        self.blocks, self.rows = pairs // max(num_rows, 1), pairs % max(num_rows, 1)

    @classmethod
    def of(cls, subs: Sequence[Subproblem], starts: Ints, num_rows: int) -> _Counts:
        variables, rows, data, blocks = [], [], [], []
        for k, sub in enumerate(subs):
            linking = sub.linking
            variables.append(starts[k] + np.repeat(np.arange(len(sub.costs)), np.diff(linking.indptr)))
            rows.append(linking.indices.astype(np.int64))
            data.append(linking.data)
            blocks.append(np.full(len(linking.data), k))
        joined = (np.concatenate(variables), np.concatenate(rows), np.concatenate(data), np.concatenate(blocks))
        return cls(*joined, (int(starts[-1]), len(subs), num_rows))

    def earnings(self, duals: Floats) -> Floats:
        """Return the earnings of a unit of each variable."""
        terms = self._data * duals[self._of_entry]
        return np.bincount(self._variables, terms, minlength=self._num_variables).astype(np.float64, copy=False)

    def entries(self, points: Floats, kept: Ints, convexity: Ints) -> tuple[Ints, Ints, Floats]:
        """Return starts, rows and values of some blocks' columns, with convexity rows last."""
        counted = np.bincount(self.slots, points[self._variables] * self._data, minlength=len(self.rows))
        place = np.full(self._num_blocks, -1)
        place[kept] = np.arange(len(kept))
        used = np.flatnonzero((counted != 0.0) & (place[self.blocks] >= 0))
        owners = np.concatenate([place[self.blocks[used]], np.arange(len(kept))])
        order = np.argsort(owners, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(kept)))])
        rows = np.concatenate([self.rows[used], convexity[kept]])[order]
        return starts, rows, np.concatenate([counted[used], np.ones(len(kept))])[order]
