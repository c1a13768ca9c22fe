"""The oracle of a block without end: directions in which it improves for ever are columns, before points are.

    X = conv(points) + cone(rays)                                      (Minkowski and Weyl; Meyer, 1974, for whole ones)

A ray has no entry in the convexity row, and there may be any amount of it.  What a ray moves that must be whole it
moves by whole numbers, and its amount is whole then; it is branched on the block's variables as ever, which leaves a
ray that would pass a bound out.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
from scipy import sparse

from colgen.core.duals import Duals
from colgen.core.errors import FormulationError
from colgen.core.terms import Box, PricedTerms
from colgen.core.tolerances import ROUNDING, TOLERANCES
from colgen.decomposition.blocks.mixed_integer import MixedIntegerPricing
from colgen.decomposition.reading.arrays import Floats
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.decomposition.splitting import Splitting
from colgen.pricing.oracles import PricingContext, PricingResult
from colgen.solvers.linear.highs import LPStatus
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.recosted import Points


class RayPricing(MixedIntegerPricing):
    """A block that is unbounded: the best ray within a box, by a linear program, and points once no ray improves.

    While a ray improves no bound is stated, for there is none.

    References
    ----------
    R. R. Meyer, *On the existence of optimal solutions to integer and mixed-integer programming problems*, Mathematical
    Programming 7 (1974).
    """

    def __init__(self, splitting: Splitting, sub: Subproblem) -> None:
        super().__init__(splitting, sub)
        self.multiplicity = math.inf
        self._cone: LinearProgram | None = None
        self._nudge = np.zeros(len(sub.costs))
        self._left = 0.0

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        if context.seconds_left() <= 0.0:
            return PricingResult(cut_off=True)
        costs = self.costs(duals, context.cost_weight)
        noise = ROUNDING * self.sub.gross(duals.values, context.cost_weight)
        ray = self._best_ray(self._sign * costs, *self.bounds(context.decisions), context.tolerance, noise)
        if ray is None:
            found = super().price(duals, context)
            if found.bound is None:
                return found
            reduced = () if found.reduced_costs is None else found.reduced_costs  # none where the block has no point
            # The program's costs were changed so that no ray improves: its bound may be better than its own points.
            best = min(0.0, self._sign * found.bound, *(self._sign * value for value in reduced))
            if self._left:  # there may be any amount of a ray that improves by less than the tolerance
                return dataclasses.replace(found, bound=self._sign * min(best, -self._left))
            # An answer has one point of the block, and no ray improves.
            return dataclasses.replace(found, bound=self._sign * best, total=self._sign * best)
        return PricingResult(self.splitting.ray(self.sub, ray), None, [float(ray @ costs)])

    def _best_ray(self, costs: Floats, lower: Floats, upper: Floats, tolerance: float, noise: Floats) -> Floats | None:
        """A direction in which costs fall for ever, by more than a tolerance; None if there is none.

        By how much they fall in any direction is kept, but for the rounding of the costs.
        """
        sub = self.sub
        low, high = np.where(np.isfinite(lower), 0.0, -1.0), np.where(np.isfinite(upper), 0.0, 1.0)
        if self._cone is None:
            row_low = np.where(np.isfinite(sub.row_lower), 0.0, -np.inf)
            row_high = np.where(np.isfinite(sub.row_upper), 0.0, np.inf)
            matrix = sparse.csc_array(sub.matrix)
            self._cone = LinearProgram(Program(False, matrix, np.array(costs), low, high, row_low, row_high))
        else:
            self._cone.change_bounds(np.arange(len(low)), low, high)
            self._cone.change_objective(costs, 0.0)
        solved = self._cone.solve()
        self._left = 0.0
        if solved.status is not LPStatus.OPTIMAL:
            return None
        if solved.objective >= -tolerance:
            if -solved.objective > float(noise @ np.abs(solved.values)):
                self._left = -solved.objective
            self._nudge = self._against(solved.reduced_costs, costs, lower, upper)
            return None
        ray = np.where(np.abs(solved.values) <= TOLERANCES.pruning, 0.0, solved.values)
        return self._whole(ray) + 0.0

    def _against(self, reduced: Floats, costs: Floats, lower: Floats, upper: Floats) -> Floats:
        """By how much costs are to change for no ray to improve, not even by what sums of dual values leave of zero.

        No more than the tolerance in all, and rounding: HiGHS calls a program unbounded for a cost of -1e-16.
        """
        rounding = ROUNDING * float(np.abs(costs).max(initial=0.0))
        up, down = np.isinf(upper), np.isinf(lower)
        nudge = np.where(up, rounding - np.minimum(reduced, 0.0), 0.0)
        nudge -= np.where(down, rounding + np.maximum(reduced, 0.0), 0.0)
        return nudge

    def _solved(self, costs: Floats, boxes: PricedTerms[Box], context: PricingContext) -> Points:
        return super()._solved(costs + self._sign * self._nudge, boxes, context)

    def _whole(self, ray: Floats) -> Floats:
        """A ray as long as what it moves that must be whole is moved by whole numbers.

        These are told by their ratios: beside continuous variables in small units they are small, or have many digits.
        """
        moved = np.abs(ray[self.sub.integer & (ray != 0.0)])
        ray = ray / moved.min() if len(moved) else ray
        own = ray[self.sub.integer]
        times = math.lcm(*(Fraction(value).limit_denominator(_PARTS).denominator for value in own.tolist()))
        near = times * own
        if times > _PARTS or (np.abs(near - np.rint(near)) > TOLERANCES.integrality).any():
            raise FormulationError(
                f"block {self.sub.name} is unbounded in a direction that moves its whole variables by no whole "
                "numbers: expected bounds on them"
            )
        long = times * ray
        long[self.sub.integer] = np.rint(near)
        return long


_PARTS = 10_000
"""A ray is at most so many times as long as its longest entry is 1."""
