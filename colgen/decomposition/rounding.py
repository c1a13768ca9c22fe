"""First stages that are tried: a relaxation's, rounded, as far as known dual values leave them of interest."""

from __future__ import annotations

import numpy as np

from colgen.core.solution import Solution
from colgen.decomposition.reading import Floats
from colgen.decomposition.two_stage import TwoStage
from colgen.tree.heuristics import Heuristic, HeuristicContext


class Rounding(Heuristic):
    """A first stage rounded, to the nearest and upwards, with the best of what its second stages then can do.

    None is tried twice, nor is one that the dual values at hand prove to be no better than the incumbent.
    """

    every = 1

    def __init__(self, model: TwoStage) -> None:
        self._model = model
        self._tried: set[bytes] = set()

    def search(self, context: HeuristicContext) -> Solution | None:
        model, best = self._model, None
        x = model.first_stage(context.relaxation)
        for to in (np.rint, np.ceil):
            rounded = model.rounded(x, to)
            found = None if context.run.expired else self._tried_out(rounded, context)
            if found is not None and (best is None or context.run.sense.is_better(found.objective, best.objective)):
                best = found
        return best

    def _tried_out(self, x: Floats, context: HeuristicContext) -> Solution | None:
        model, key = self._model, x.tobytes()
        if key in self._tried or not model.is_first_stage(x):
            return None
        self._tried.add(key)
        cost = model.first_cost(x)

        def hopeless(costs: Floats) -> bool:
            return context.run.prunes(model.sign * (cost + float(costs.sum())))

        return None if model.recourse.best(x, hopeless) is None else model.solution(x)
