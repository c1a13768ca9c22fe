"""The oracle: the heaviest walk at given penalties and memory."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from colgen import Pricing, PricingContext, PricingResult
from colgen.problems.title_path.instance import Path, PathInstance
from colgen.problems.title_path.master import WalkDuals, as_solution
from colgen.problems.title_path.search import limit_length
from colgen.solvers.paths.colour_coding import complete, is_small
from colgen.solvers.paths.elementary_path import heaviest
from colgen.solvers.paths.walks import Mask, Relaxed, relax, tolerance

_MAX_STATES = 100_000
"""States after which remembering all remaining classes is faster, if these are few."""


class WalkPricing(Pricing):
    """Find the heaviest walk of k vertices by dynamic programs.

    At penalties λ, a dynamic program over (position, vertex), O(k n²), bounds all paths. It also finds vertices on no
    path that is heavier than the best known one (:func:`colgen.solvers.paths.walks.relax`). With memory, another
    dynamic program over (position, vertex, remembered classes) searches the remaining graph, with completion bounds
    from the penalties (:mod:`colgen.solvers.paths.elementary_path`). If it needs too many states and few classes
    remain, all of them are remembered, in a dynamic program over their sets
    (:mod:`colgen.solvers.paths.colour_coding`).

    Attributes
    ----------
    walk
        The heaviest walk of the last call, which may repeat classes. It is empty if none is heavier than the path, and
        None before the first call.
    path
        The heaviest known path.
    """

    def __init__(self, instance: PathInstance) -> None:
        self.instance = instance
        self.walk: Path | None = None
        self.path: Path | None = None

    def price(self, duals: WalkDuals | None, context: PricingContext) -> PricingResult:  # type: ignore[override]
        instance = self.instance
        duals = duals or zero_penalties(instance)
        graph = limit_length(instance.scaled.graph)
        self.path = known = self._verify(duals.path)
        weight = -math.inf if known is None else graph.weight(np.array(known))
        relaxed = relax(graph, duals.penalties, weight)
        if len(relaxed.path):
            self.path, weight = tuple(relaxed.path.tolist()), relaxed.weight
        self.walk, bound, finished = tuple(relaxed.walk.tolist()), relaxed.bound, True
        if bound > weight + tolerance(weight) and duals.remembered is not None:
            found, finished = self._search(relaxed, duals.remembered, weight, context.expired)
            bound = min(bound, found)
            if self.path is not None:
                weight = graph.weight(np.array(self.path))
        closed = bound <= weight + tolerance(weight)
        total = instance.scaled.to_original_units(bound)
        if self.path is None:
            return PricingResult(total=-math.inf if bound == -math.inf else total, cut_off=not finished)
        best = as_solution(instance, self.path)
        # At least the best known path, despite rounding.
        total = best.objective if closed else max(total, best.objective)
        return PricingResult(total=total, cut_off=not finished, answers=(best,))

    def _verify(self, path: Path | None) -> Path | None:
        """Return the path if it is feasible, otherwise None."""
        try:
            return None if path is None or self.instance.check(path) == -math.inf else path
        except ValueError:
            return None

    def _search(
        self, relaxed: Relaxed, remembered: Mask, weight: float, expired: Callable[[], bool]
    ) -> tuple[float, bool]:
        """Return a bound on all paths by memory, and whether the search was finished in time."""
        left = relaxed.graph
        few = is_small(left)
        found = heaviest(relaxed, remembered, weight, effort=_MAX_STATES if few else math.inf, expired=expired)
        if len(found.path) and found.weight > weight:
            self.path, weight = tuple(found.path.tolist()), found.weight
        if found.finished:
            self.walk = tuple(found.walk.tolist())
            return max(found.bound, weight), True
        if few and not expired():  # few classes remain, so all of them can be remembered
            best = complete(left, expired=expired)
            if best is not None:
                if best[0] > weight:
                    self.path, weight = tuple(relaxed.vertices[best[1]].tolist()), best[0]
                self.walk = ()
                return weight, True
        return math.inf, False


def zero_penalties(instance: PathInstance) -> WalkDuals:
    """Return penalties λ = 0."""
    return WalkDuals(np.zeros(instance.num_classes))
