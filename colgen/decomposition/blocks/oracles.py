"""Oracles of recognized blocks: kernels in place of HiGHS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from colgen.core.terms import Box, PricedTerms
from colgen.decomposition.blocks.knapsack import Knapsack, Knapsacks, knapsack_of
from colgen.decomposition.blocks.lot_sizing import LotSizing, lot_sizing_of
from colgen.decomposition.blocks.merged import JoinedPricing, Kernel
from colgen.decomposition.blocks.mixed_integer import MixedIntegerPricing, cells_of
from colgen.decomposition.blocks.rays import RayPricing
from colgen.decomposition.blocks.shortest_path import ShortestPath, shortest_path_of
from colgen.decomposition.blocks.stable_set import StableSet, stable_set_of
from colgen.decomposition.blocks.unimodular import Unimodular, unimodular_of
from colgen.decomposition.reading.compact_model import Floats
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.decomposition.splitting import Splitting
from colgen.pricing.oracles import Pricing, PricingContext
from colgen.solvers.linear.highs import LPStatus, Stopped
from colgen.solvers.linear.recosted import Points

_SMALL = 64
"""Number of variables up to which enumerating stable sets is faster than a linear program."""


class Searching(Protocol):
    """A pricing algorithm of a recognized block that returns several points and a bound."""

    def points(
        self, costs: Floats, lower: Floats, upper: Floats, seconds: float = ..., stopped: Stopped | None = ...
    ) -> Points | None:
        """Return several points, best first, and a bound; None if HiGHS must price instead."""


Recognized: TypeAlias = Knapsack | LotSizing | ShortestPath | StableSet | Unimodular

NAMES: dict[type, tuple[str, str]] = {
    Knapsack: ("knapsack", "knapsacks"),
    LotSizing: ("lot sizing", "lot sizings"),
    ShortestPath: ("shortest path", "shortest paths"),
    StableSet: ("stable set", "stable sets"),
    Unimodular: ("linear program", "linear programs"),
}
"""Names of recognized kinds, singular and plural."""


def kernel_of(sub: Subproblem) -> Recognized | None:
    """Return the kernel of a block, or None if it is not recognized."""
    found = knapsack_of(sub) or lot_sizing_of(sub) or shortest_path_of(sub)
    if found is not None:
        return found
    stable = stable_set_of(sub)
    return stable if stable is not None and len(sub.costs) <= _SMALL else unimodular_of(sub) or stable


def describe_blocks(subs: Sequence[Subproblem]) -> str:
    """Return the recognized kinds of blocks in words; an empty string if there are none."""
    counts: dict[type, int] = {}
    for sub in subs:
        kind = type(kernel_of(sub))
        counts[kind] = counts.get(kind, 0) + sub.count
    said = [f"{count} {NAMES[kind][count > 1]}" for kind, count in counts.items() if kind in NAMES]
    return ", ".join(said)


class KernelPricing(MixedIntegerPricing):
    """Pricing by a kernel, also under component bounds if these divide the points into few cells; else by HiGHS."""

    def __init__(self, splitting: Splitting, sub: Subproblem, kernel: Kernel) -> None:
        super().__init__(splitting, sub)
        self.kernel = kernel

    @cached_property
    def _nothing(self) -> Floats:
        return np.empty((0, len(self.sub.costs)))

    def _solve(self, costs: Floats, boxes: PricedTerms[Box], context: PricingContext) -> Points:
        lower, upper = self.bounds(context.decisions)
        own = self._sign * costs
        point = self.kernel.best(own, lower, upper)
        if point is None:
            return Points(LPStatus.INFEASIBLE, math.inf, self._nothing)
        least = float(point @ own)
        if not len(boxes):
            return Points(LPStatus.OPTIMAL, least, point[None, :] + 0.0)
        cells = cells_of(boxes, lower, upper)
        if cells is None:
            return super()._solve(costs, boxes, context)
        best, points = math.inf, list[Floats]()
        earned = [self._sign * earnings for earnings, _, _ in cells]
        for k in sorted(range(len(cells)), key=lambda k: -earned[k]):
            if least - earned[k] >= best:  # no point of this cell or of a later one is better
                break
            point = self.kernel.best(own, *cells[k][1:])
            if point is not None and (not points or float(point @ own) - earned[k] < best):
                best = float(point @ own) - earned[k]
                points.insert(0, point + 0.0)
        return Points(LPStatus.OPTIMAL, best, np.array(points))


class SearchPricing(MixedIntegerPricing):
    """Pricing by a kernel that returns several points and a bound, or by HiGHS if the kernel fails."""

    def __init__(self, splitting: Splitting, sub: Subproblem, kernel: Searching) -> None:
        super().__init__(splitting, sub)
        self.kernel = kernel

    def _solve(self, costs: Floats, boxes: PricedTerms[Box], context: PricingContext) -> Points:
        found = None
        if not len(boxes):
            limits = self.bounds(context.decisions)
            found = self.kernel.points(
                self._sign * costs, *limits, context.seconds_left(), lambda: context.budget.expired
            )
        return super()._solve(costs, boxes, context) if found is None else found


def oracles(splitting: Splitting, *, recognize: bool = True) -> Sequence[Pricing]:
    """Return one oracle per subproblem, or per kind if blocks are priced together; HiGHS if not recognized."""
    subs = splitting.subproblems
    kernels = [kernel_of(sub) if recognize and not sub.unbounded else None for sub in subs]
    found: list[Pricing] = []
    for may_join, join in ((_is_lot_sizing, LotSizing.join), (_is_zero_one, Knapsacks.join)):
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
        elif isinstance(kernel, (ShortestPath, StableSet, Unimodular)):
            found.append(SearchPricing(splitting, sub, kernel))
        else:
            found.append(KernelPricing(splitting, sub, kernel))
    return found


def _is_lot_sizing(sub: Subproblem, kernel: Recognized | None) -> bool:
    return isinstance(kernel, LotSizing)


def _is_zero_one(sub: Subproblem, kernel: Recognized | None) -> bool:
    return isinstance(kernel, Knapsack) and bool((sub.upper - sub.lower <= 1.0).all())
