"""The default oracle of a block: a mixed-integer program in HiGHS whose costs change between calls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
from scipy import sparse

from colgen.core.decision import Decision
from colgen.core.duals import Duals
from colgen.core.errors import FormulationError
from colgen.core.terms import Box, PricedTerms
from colgen.decomposition.blocks.decisions import Bounds, ComponentBound, FirstStageBound, variable_of
from colgen.decomposition.reading.compact_model import Floats
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.decomposition.splitting import Splitting
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.solvers.linear.highs import LPStatus
from colgen.solvers.linear.recosted import Points, RecostedMIP


class MixedIntegerPricing(Pricing):
    """``min (c - πᵀA) x`` over the rows and bounds of a block, by HiGHS.

    The program is built once.  All improving solutions of a call become columns, and the bound of HiGHS is returned,
    also if a limit ends the search.

    A branching bound on a variable is a bound of the program.  Component bounds (:class:`colgen.core.terms.Box`) are
    binary variables that are 1 if and only if all bounds hold, without an epsilon, as the variables are integer.
    """

    prices = frozenset({Box})

    def __init__(self, splitting: Splitting, sub: Subproblem) -> None:
        self.splitting, self.sub = splitting, sub
        self.multiplicity = float(sub.count)
        self._sign = float(splitting.compact.formulation.sense.sign)
        self._program: RecostedMIP | None = None
        self._boxes: dict[Box, int] = {}
        self._literals: dict[tuple[int, float], int] = {}
        self._bounded: tuple[Sequence[Decision] | None, Floats, Floats] = (None, sub.lower, sub.upper)
        self._slow = False

    @property
    def name(self) -> str:
        return f"{type(self).__name__} of block {self.sub.name}"

    @property
    def program(self) -> RecostedMIP:
        """The program in HiGHS, built on first use."""
        if self._program is None:
            sub = self.sub
            self._program = RecostedMIP(
                sparse.csc_array(sub.matrix), sub.lower, sub.upper, sub.row_lower, sub.row_upper, sub.integer
            )
        return self._program

    def costs(self, duals: Duals, weight: float) -> Floats:
        """Return ``c - πᵀA`` of each variable."""
        return weight * self.sub.costs - self.sub.earnings(duals.values)

    def own(self, duals: Duals) -> float:
        """Return the dual value of the convexity row."""
        return float(duals.values[len(self.splitting.linking) + self.sub.number])

    def boxes(self, duals: Duals) -> PricedTerms[Box]:
        """Return the counted component bounds of this block."""
        terms = duals.terms(Box)
        mine = np.array([term.block == self.box_block for term in terms.terms], dtype=np.bool_)
        return PricedTerms([term for term, own in zip(terms.terms, mine, strict=True) if own], terms.values[mine])

    @property
    def box_block(self) -> str:
        """Name of this block in component bounds."""
        return f"{self.splitting.convexity}[{self.sub.number}]"

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        if context.seconds_left() <= 0.0:
            return PricingResult(cut_off=True)
        costs, own, boxes = self.costs(duals, context.cost_weight), self.own(duals), self.boxes(duals)
        found = self._solve(costs, boxes, context)
        if found.status is LPStatus.UNBOUNDED:
            raise FormulationError(f"block {self.sub.name} is unbounded: expected bounds on its variables")
        if found.status is LPStatus.INFEASIBLE:
            return PricingResult(bound=context.sense.hopeless)
        cut_off = found.status is LPStatus.LIMIT
        points = found.points[:, : len(self.sub.costs)]
        # A rounding error of 1e-18 in a row whose other entries are zero would give the row a dual value of 1e18.
        points = np.where(np.abs(points) <= _TINY * np.abs(points).max(axis=1, initial=0.0)[:, None], 0.0, points)
        reduced = points @ costs - own - box_earnings(boxes, points)
        order = np.argsort(self._sign * reduced, kind="stable")
        good = order[self._sign * reduced[order] < 0.0]
        order = good if len(good) else order[:1]
        bound: float | None = self._sign * found.bound - own
        if not math.isfinite(found.bound):
            bound = None
        return PricingResult(self.splitting.columns(self.sub, points[order]), bound, reduced[order], cut_off=cut_off)

    def _solve(self, costs: Floats, boxes: PricedTerms[Box], context: PricingContext) -> Points:
        program = self.program
        for box in boxes.terms:
            if box not in self._boxes:
                self._boxes[box] = self._indicator(box)
        every = np.zeros(program.num_columns)
        every[: len(costs)] = self._sign * costs
        for box, value in zip(boxes.terms, boxes.values.tolist(), strict=True):
            every[self._boxes[box]] = -self._sign * value
        program.set_bounds(*self.bounds(context.decisions))
        left = context.seconds_left()
        if not self._slow:  # an own thread allows stopping, but costs more than most programs take
            found = program.solve(every, min(left, _PATIENCE))
            if found.status is not LPStatus.LIMIT or left <= _PATIENCE:
                return found
            self._slow = True
        return program.solve(every, context.seconds_left(), lambda: context.budget.expired)

    def bounds(self, decisions: Sequence[Decision]) -> tuple[Floats, Floats]:
        """Return the bounds of the variables at a node, cached until the decisions change."""
        known, lower, upper = self._bounded
        if known is not decisions:
            lower, upper = self.sub.lower.copy(), self.sub.upper.copy()
            for decision in decisions:
                if not isinstance(decision, (ComponentBound, FirstStageBound)):
                    continue
                k = variable_of(decision, self.sub.number)
                if k is not None:
                    lower[k], upper[k] = max(lower[k], decision.lower), min(upper[k], decision.upper)
            self._bounded = decisions, lower, upper
        return lower, upper

    # --- component bounds --------------------------------------------------------------------------------------------

    def _indicator(self, box: Box) -> int:
        """Return the column that is 1 if all bounds of a box hold, else 0."""
        literals: list[tuple[int, bool]] = []
        for k, low, high in cast(Bounds, box.bounds):
            if low > self.sub.lower[k]:
                literals.append((self._at_least(k, low), True))
            if high < self.sub.upper[k]:
                literals.append((self._at_least(k, high + 1.0), False))
        program = self.program
        number = int(program.add_binaries(1)[0])
        # z ≤ each literal, and z ≥ 1 - Σ (1 - literal); a negated literal is 1 - δ.
        for column, positive in literals:
            sign = -1.0 if positive else 1.0
            program.add_row(np.array([number, column]), np.array([1.0, sign]), -math.inf, 0.0 if positive else 1.0)
        columns = np.array([number, *(column for column, _ in literals)])
        values = np.array([1.0, *(-1.0 if positive else 1.0 for _, positive in literals)])
        program.add_row(columns, values, 1.0 - sum(positive for _, positive in literals), math.inf)
        return number

    def _at_least(self, k: int, value: float) -> int:
        """Return the column that is 1 if variable k is at least a value, else 0."""
        low, high = float(self.sub.lower[k]), float(self.sub.upper[k])
        if low == 0.0 and high == 1.0 and value == 1.0:
            return k
        known = self._literals.get((k, value))
        if known is None:
            program = self.program
            known = int(program.add_binaries(1)[0])
            self._literals[k, value] = known
            pair = np.array([k, known])
            program.add_row(pair, np.array([1.0, low - value]), low, math.inf)
            program.add_row(pair, np.array([1.0, value - 1.0 - high]), -math.inf, value - 1.0)
        return known


_TINY = 2.0**-44
"""Smallest value of a variable that is not a rounding error, relative to the largest in its point."""

_PATIENCE = 1.0
"""Seconds of a program after which later ones run in a thread that can be stopped."""


class Boxes:
    """Component bounds as arrays, with their gains, for branch and bound between bounds of the variables."""

    def __init__(self, boxes: PricedTerms[Box], sign: float, lower: Floats, upper: Floats) -> None:
        self.gains = sign * boxes.values
        self.lower, self.upper = np.tile(lower, (len(boxes), 1)), np.tile(upper, (len(boxes), 1))
        for number, box in enumerate(boxes.terms):
            for k, low, high in cast(Bounds, box.bounds):
                self.lower[number, k] = max(self.lower[number, k], low)
                self.upper[number, k] = min(self.upper[number, k], high)

    def at(self, point: Floats, least: Floats, most: Floats) -> tuple[float, float, tuple[int, float] | None]:
        """Return the gain of a point, a bound on the gain of all points between bounds, and where to split these.

        A split is a variable and the least value of its upper part; None if the point attains the bound.
        """
        inside = ((self.lower <= point) & (point <= self.upper)).all(axis=1)
        holds = ((self.lower <= least) & (most <= self.upper)).all(axis=1)
        meets = ((self.lower <= most) & (least <= self.upper)).all(axis=1)
        possible = holds | (meets & (self.gains > 0.0))
        missed = np.where(inside != possible, np.abs(self.gains), 0.0)
        gained, bound = float(self.gains[inside].sum()), float(self.gains[possible].sum())
        if not missed.any():
            return gained, bound, None
        box = int(missed.argmax())
        lower, upper = self.lower[box], self.upper[box]
        # The point leaves a box that it should be in, or the bounds leave one that it should not be in.
        low, high = (point, point) if self.gains[box] > 0.0 else (least, most)
        below = np.flatnonzero(low < lower)
        if len(below):
            return gained, bound, (int(below[0]), float(lower[below[0]]))
        above = np.flatnonzero(high > upper)
        return gained, bound, (int(above[0]), float(upper[above[0]]) + 1.0)


def box_earnings(boxes: PricedTerms[Box], points: Floats) -> Floats:
    """Return the sum of the dual values of the boxes that contain each point."""
    paid = np.zeros(len(points))
    for box, value in zip(boxes.terms, boxes.values.tolist(), strict=True):
        paid += value * in_box(box, points)
    return paid


def in_box(box: Box, points: Floats) -> Floats:
    """Return 1 for points in a box, else 0."""
    inside = np.ones(len(points), dtype=np.bool_)
    for k, low, high in cast(Bounds, box.bounds):
        inside &= (points[:, k] >= low) & (points[:, k] <= high)
    return inside.astype(np.float64)
