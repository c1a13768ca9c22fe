"""Oracles of blocks that are recognized: a kernel in place of HiGHS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from colgen.core.terms import Box, Priced
from colgen.decomposition.joined import JoinedPricing, Kernel
from colgen.decomposition.knapsack import Knapsack, Knapsacks, knapsack_of
from colgen.decomposition.lot_sizing import LotSizing, lot_sizing_of
from colgen.decomposition.mixed_integer import MixedIntegerPricing
from colgen.decomposition.rays import RayPricing
from colgen.decomposition.reading import Floats
from colgen.decomposition.splitting import Splitting
from colgen.decomposition.subproblem import Subproblem
from colgen.pricing.oracles import Pricing, PricingContext
from solvers.linear.highs import LPStatus
from solvers.linear.recosted import Points


def kernel_of(sub: Subproblem) -> Kernel | None:
    """The kernel for a block; None where it is not recognized."""
    return knapsack_of(sub) or lot_sizing_of(sub)


class KernelPricing(MixedIntegerPricing):
    """A block by its kernel; under component bounds, which kernels know nothing of, by HiGHS."""

    def __init__(self, splitting: Splitting, sub: Subproblem, kernel: Kernel) -> None:
        super().__init__(splitting, sub)
        self.kernel = kernel

    @cached_property
    def _nothing(self) -> Floats:
        return np.empty((0, len(self.sub.costs)))

    def _solved(self, costs: Floats, boxes: Priced[Box], context: PricingContext) -> Points:
        if len(boxes):
            return super()._solved(costs, boxes, context)
        lower, upper = self.bounds(context.decisions)
        own = self._sign * costs
        point = self.kernel.best(own, lower, upper)
        if point is None:
            return Points(LPStatus.INFEASIBLE, math.inf, self._nothing)
        return Points(LPStatus.OPTIMAL, float(point @ own), point[None, :] + 0.0)


def oracles(splitting: Splitting, *, recognize: bool = True) -> Sequence[Pricing]:
    """Kernels where blocks are recognized, HiGHS elsewhere: one oracle a subproblem, but one for all of a kind."""
    subs = splitting.subproblems
    kernels = [kernel_of(sub) if recognize and not sub.unbounded else None for sub in subs]
    found: list[Pricing] = []
    for may_join, join in ((_is_lot_sizing, LotSizing.joined), (_is_zero_one, Knapsacks.joined)):
        mine = [k for k, kernel in enumerate(kernels) if subs[k].count == 1 and may_join(subs[k], kernel)]
        own = [cast(Any, kernels[k]) for k in mine]
        starts = np.cumsum([0, *(len(subs[k].costs) for k in mine)])
        together = join(own, starts) if len(mine) > 1 else None
        if together is not None:
            found.append(JoinedPricing(splitting, [subs[k] for k in mine], own, together))
            rest = [k for k in range(len(subs)) if k not in set(mine)]
            subs, kernels = tuple(subs[k] for k in rest), [kernels[k] for k in rest]
    for sub, kernel in zip(subs, kernels, strict=True):
        if kernel is None:
            found.append(RayPricing(splitting, sub) if sub.unbounded else MixedIntegerPricing(splitting, sub))
        else:
            found.append(KernelPricing(splitting, sub, kernel))
    return found


def _is_lot_sizing(sub: Subproblem, kernel: Kernel | None) -> bool:
    return isinstance(kernel, LotSizing)


def _is_zero_one(sub: Subproblem, kernel: Kernel | None) -> bool:
    return isinstance(kernel, Knapsack) and bool((sub.upper - sub.lower <= 1.0).all())
