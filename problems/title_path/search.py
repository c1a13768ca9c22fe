"""The warm start: penalties of a small bound, and a good path."""

from __future__ import annotations

import math

import numpy as np

from colgen.problems.title_path.instance import Ints, Path
from colgen.problems.title_path.scaled import Scaled
from colgen.solvers.paths.path_beam import guided_beam
from colgen.solvers.paths.walks import ROUNDS, Graph, Relaxed, ascend, tolerance
from colgen.solvers.stopping import Expired, never

_FIRST_ROUNDS = 12
"""Subgradient steps before the first path is looked for: enough for penalties that guide a beam."""

_WIDTH = 64
"""Of the guided beam: it finds the optimum nearly always, and takes less time than a few steps of the ascent."""


def possible(graph: Graph) -> Graph:
    """The graph; where it lacks so many vertices, and tables would be long, one without a path."""
    if graph.length <= len(graph.first):
        return graph
    return graph._replace(length=1, first=np.full_like(graph.first, -np.inf))


class Start:
    """Penalised walks and a beam guided by them.

    The ascent is begun without a path, which needs few steps to see where classes are visited again and again; a beam
    guided by its bounds finds a path; with that the ascent goes on, and strikes out what no better path can use.  If
    time runs out on the way, what is known by then is kept.

    Weights are those of the scaled graph.

    Parameters
    ----------
    scaled
        The graph.
    expired
        Asked every few hundredths of a second whether time has run out.

    Attributes
    ----------
    relaxed
        The state of the ascent: penalties, what is left of the graph, bounds on completions.
    bound
        No path weighs more.
    path, weight
        The heaviest path known, None and minus infinity if none is.
    """

    def __init__(self, scaled: Scaled, expired: Expired = never) -> None:
        self._graph = possible(scaled.graph)
        self.path: Path | None = None
        self.weight = -math.inf
        self.relaxed = self._ascend(_FIRST_ROUNDS, expired)
        self.bound = self.relaxed.bound
        if self.open:
            self.offer(guided_beam(self.relaxed, _WIDTH)[1])
        if self.open and not expired():
            self.relaxed = self._ascend(ROUNDS, expired, self.relaxed)
            self.bound = min(self.bound, self.relaxed.bound)
            if self.open:
                self.offer(guided_beam(self.relaxed, _WIDTH)[1])

    @property
    def open(self) -> bool:
        """Whether there may be a path heavier than the one known."""
        return self.bound > self.weight + tolerance(self.weight)

    def offer(self, path: Ints | Path) -> None:
        """Take a path without repeated classes as the best one known, if it is."""
        if len(path):
            weight = self._graph.weight(np.asarray(path, dtype=np.int64))
            if weight > self.weight:
                self.path, self.weight = tuple(int(v) for v in path), weight

    def _ascend(self, rounds: int, expired: Expired, before: Relaxed | None = None) -> Relaxed:
        penalties = None if before is None else before.penalties
        relaxed = ascend(self._graph, self.weight, rounds, penalties=penalties, expired=expired)
        self.offer(relaxed.path)
        return relaxed
