"""The oracle of an unbounded block: it returns rays first, and points once no ray improves.

    X = conv(points) + cone(rays)                              (Minkowski and Weyl; Meyer, 1974, with integer variables)

A ray has no entry in the convexity row, and its amount is unlimited.  It changes integer variables by integers, and
its amount is then integer.  Branching on the block's variables forbids rays that would violate a bound.
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
from colgen.decomposition.reading.compact_model import Floats
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.decomposition.splitting import Splitting
from colgen.pricing.oracles import PricingContext, PricingResult
from colgen.solvers.linear.highs import LPStatus
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.recosted import Points


class RayPricing(MixedIntegerPricing):
    """Pricing of an unbounded block: the best ray within a box, by a linear program, then points.

    While a ray improves there is no bound.

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
            reduced = () if found.reduced_costs is None else found.reduced_costs  # None if the block has no point
            # Costs were changed so that no ray improves, so the bound may exceed the reduced costs of its points.
            best = min(0.0, self._sign * found.bound, *(self._sign * value for value in reduced))
            if self._left:  # a ray within the tolerance still improves, and its amount is unlimited
                return dataclasses.replace(found, bound=self._sign * min(best, -self._left))
            # A solution has one point of the block, and no ray improves.
            return dataclasses.replace(found, bound=self._sign * best, total=self._sign * best)
        return PricingResult(self.splitting.ray(self.sub, ray), None, [float(ray @ costs)])

    def _best_ray(self, costs: Floats, lower: Floats, upper: Floats, tolerance: float, noise: Floats) -> Floats | None:
        """Return a direction in which costs fall by more than a tolerance, or None.

        The fall of the best direction is stored, less the rounding error of the costs.
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
            # Within its tolerances HiGHS returns 0 for basic variables, and dual values of sides that do not exist.
            above, below = np.where(np.isfinite([sub.row_lower, -sub.row_upper]), [[np.inf], [-np.inf]], 0.0)
            reduced = costs - sub.matrix.T @ np.clip(solved.duals, below, above)
            self._nudge = self._cost_changes(reduced, costs, lower, upper)
            return None
        ray = np.where(np.abs(solved.values) <= TOLERANCES.pruning, 0.0, solved.values)
        return self._scale_ray(ray) + 0.0

    def _cost_changes(self, reduced: Floats, costs: Floats, lower: Floats, upper: Floats) -> Floats:
        """Return changes of costs after which no ray improves, not even by rounding errors of dual values.

        They are at most the tolerance plus rounding: HiGHS reports programs as unbounded for a cost of -1e-16.
        """
        rounding = ROUNDING * float(np.abs(costs).max(initial=0.0))
        up, down = np.isinf(upper), np.isinf(lower)
        nudge = np.where(up, rounding - np.minimum(reduced, 0.0), 0.0)
        nudge -= np.where(down, rounding + np.maximum(reduced, 0.0), 0.0)
        return nudge

    def _solve(self, costs: Floats, boxes: PricedTerms[Box], context: PricingContext) -> Points:
        return super()._solve(costs + self._sign * self._nudge, boxes, context)

    def _scale_ray(self, ray: Floats) -> Floats:
        """Return a ray scaled so that it changes integer variables by integers.

        The scale comes from their ratios, as they may be small or have many digits relative to continuous variables.
        """
        moved = np.abs(ray[self.sub.integer & (ray != 0.0)])
        ray = ray / moved.min() if len(moved) else ray
        own = ray[self.sub.integer]
        times = math.lcm(*(Fraction(value).limit_denominator(_PARTS).denominator for value in own.tolist()))
        near = times * own
        if times > _PARTS or (np.abs(near - np.rint(near)) > TOLERANCES.integrality).any():
            raise FormulationError(
                f"block {self.sub.name} has a ray that cannot be scaled to integer changes of its integer variables: "
                "expected bounds on them"
            )
        long = times * ray
        long[self.sub.integer] = np.rint(near)
        return long


_PARTS = 10_000
"""Maximum factor on a ray whose largest entry is 1."""
