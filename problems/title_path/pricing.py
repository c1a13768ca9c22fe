"""The oracle: the heaviest walk at given penalties, without what its memory holds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from colgen import Pricing, PricingContext, PricingResult
from colgen.problems.title_path.instance import Path, PathInstance
from colgen.problems.title_path.master import WalkDuals, as_solution
from colgen.problems.title_path.search import possible
from colgen.solvers.paths.colour_coding import complete, is_small
from colgen.solvers.paths.elementary_path import heaviest
from colgen.solvers.paths.walks import Mask, Relaxed, relax, tolerance

_EFFORT = 100_000
"""States after which it takes less time to remember all classes that are left, where these are few."""


class WalkPricing(Pricing):
    """The heaviest walk of k vertices, by dynamic programs.

    At penalties λ one over (position, vertex), O(k n²), bounds all paths, and says through which vertices none passes
    that is heavier than the path known (:func:`colgen.solvers.paths.walks.relax`).  Where memory is wanted, another one
    over (position, vertex, remembered classes) searches what is left (:mod:`colgen.solvers.paths.elementary_path`);
    penalties bound what is to come.  If that needs too many states while few classes are left, all of them are
    remembered, in a dynamic program over their sets (:mod:`colgen.solvers.paths.colour_coding`).

    Attributes
    ----------
    walk
        The heaviest walk of the last call, which may visit classes again; empty if it found none heavier than the path,
        None before the first call.
    path
        The heaviest path that it knew.
    """

    def __init__(self, instance: PathInstance) -> None:
        self.instance = instance
        self.walk: Path | None = None
        self.path: Path | None = None

    def price(self, duals: WalkDuals | None, context: PricingContext) -> PricingResult:  # type: ignore[override]
        instance = self.instance
        duals = duals or no_penalties(instance)
        graph = possible(instance.scaled.graph)
        self.path = known = self._checked(duals.path)
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
        total = instance.scaled.in_users_units(bound)
        if self.path is None:
            return PricingResult(total=-math.inf if bound == -math.inf else total, cut_off=not finished)
        best = as_solution(instance, self.path)
        # No less than the best path known, whatever rounding does.
        total = best.objective if closed else max(total, best.objective)
        return PricingResult(total=total, cut_off=not finished, answers=(best,))

    def _checked(self, path: Path | None) -> Path | None:
        """A path that is one."""
        try:
            return None if path is None or self.instance.check(path) == -math.inf else path
        except ValueError:
            return None

    def _search(
        self, relaxed: Relaxed, remembered: Mask, weight: float, expired: Callable[[], bool]
    ) -> tuple[float, bool]:
        """A bound on all paths, by memory; and whether there was time for it."""
        left = relaxed.graph
        few = is_small(left)
        found = heaviest(relaxed, remembered, weight, effort=_EFFORT if few else math.inf, expired=expired)
        if len(found.path) and found.weight > weight:
            self.path, weight = tuple(found.path.tolist()), found.weight
        if found.finished:
            self.walk = tuple(found.walk.tolist())
            return max(found.bound, weight), True
        if few and not expired():  # so few classes are left that all of them can be remembered
            best = complete(left, expired=expired)
            if best is not None:
                if best[0] > weight:
                    self.path, weight = tuple(relaxed.vertices[best[1]].tolist()), best[0]
                self.walk = ()
                return weight, True
        return math.inf, False


def no_penalties(instance: PathInstance) -> WalkDuals:
    """λ = 0."""
    return WalkDuals(np.zeros(instance.num_classes))
