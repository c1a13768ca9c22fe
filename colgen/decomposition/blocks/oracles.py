"""Oracles of recognized blocks: kernels in place of HiGHS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from heapq import heappop, heappush
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from colgen.core.terms import Box, PricedTerms
from colgen.decomposition.blocks.knapsack import Knapsack, Knapsacks, knapsack_of
from colgen.decomposition.blocks.lot_sizing import LotSizing, lot_sizing_of
from colgen.decomposition.blocks.merged import JoinedPricing, Kernel
from colgen.decomposition.blocks.mixed_integer import Boxes, MixedIntegerPricing
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

_MOST_NODES = 1000
"""Maximum number of nodes under component bounds; beyond it HiGHS prices."""


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
    """Pricing by a kernel, also under component bounds: by branch and bound, or by HiGHS if this needs many nodes."""

    def __init__(self, splitting: Splitting, sub: Subproblem, kernel: Kernel) -> None:
        super().__init__(splitting, sub)
        self.kernel = kernel

    @cached_property
    def _nothing(self) -> Floats:
        return np.empty((0, len(self.sub.costs)))

    def _solve(self, costs: Floats, boxes: PricedTerms[Box], context: PricingContext) -> Points:
        lower, upper = self.bounds(context.decisions)
        own = self._sign * costs
        if len(boxes):
            found = self._branch(own, Boxes(boxes, self._sign, lower, upper), lower, upper, context)
            return super()._solve(costs, boxes, context) if found is None else found
        point = self.kernel.best(own, lower, upper)
        if point is None:
            return Points(LPStatus.INFEASIBLE, math.inf, self._nothing)
        return Points(LPStatus.OPTIMAL, float(point @ own), point[None, :] + 0.0)

    def _branch(
        self, own: Floats, boxes: Boxes, lower: Floats, upper: Floats, context: PricingContext
    ) -> Points | None:
        """Return the result of branch and bound, or None if it needs many nodes.

        The bound of a node is the kernel's, less all gains that are possible between the node's bounds.
        """
        best, points = math.inf, list[Floats]()
        waiting: list[tuple[float, int, list[tuple[Floats, Floats]]]] = []
        new, nodes = [(lower, upper)], 0
        while True:
            for least, most in new:
                point, nodes = self.kernel.best(own, least, most), nodes + 1
                if point is None:
                    continue
                cost = float(point @ own)
                gained, possible, split = boxes.at(point, least, most)
                if cost - gained < best:
                    best = cost - gained
                    points.insert(0, point + 0.0)
                if split is not None and cost - possible < best:
                    k, start = split
                    left, right = most.copy(), least.copy()
                    left[k], right[k] = start - 1.0, start
                    heappush(waiting, (cost - possible, nodes, [(least, left), (right, most)]))
            if not waiting or waiting[0][0] >= best:
                status = LPStatus.OPTIMAL if points else LPStatus.INFEASIBLE
                return Points(status, best, np.array(points) if points else self._nothing)
            if nodes > _MOST_NODES or context.seconds_left() <= 0.0:
                return None
            new = heappop(waiting)[2]


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


def oracles(splitting: Splitting, *, recognize: bool = True, join: bool = True) -> Sequence[Pricing]:
    """Return one oracle per subproblem, or per kind if blocks are priced together; HiGHS if not recognized."""
    subs = splitting.subproblems
    kernels = [kernel_of(sub) if recognize and not sub.unbounded else None for sub in subs]
    found: list[Pricing] = []
    for may_join, joined in ((_is_lot_sizing, LotSizing.join), (_is_zero_one, Knapsacks.join)) if join else ():
        mine = [k for k, kernel in enumerate(kernels) if subs[k].count == 1 and may_join(subs[k], kernel)]
        own = [cast(Any, kernels[k]) for k in mine]
        starts = np.cumsum([0, *(len(subs[k].costs) for k in mine)])
        together = joined(own, starts) if len(mine) > 1 else None
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
