"""The warm start: a search for penalties that give a good bound, and for a good path."""

from __future__ import annotations

import math

import numpy as np

from colgen.problems.title_path.instance import Ints, Path
from colgen.problems.title_path.scaled import Scaled
from colgen.solvers.paths.path_beam import guided_beam
from colgen.solvers.paths.walks import ROUNDS, Graph, Relaxed, ascend, tolerance
from colgen.solvers.stopping import Expired, never

_FIRST_ROUNDS = 12
"""Subgradient steps before the first beam: enough for penalties that guide it."""

_WIDTH = 64
"""Width of the guided beam, which nearly always finds the optimum in less time than a few steps of the ascent."""


def limit_length(graph: Graph) -> Graph:
    """Return the graph, or a small infeasible one if there are fewer vertices than a path needs."""
    if graph.length <= len(graph.first):
        return graph
    return graph._replace(length=1, first=np.full_like(graph.first, -np.inf))


class InitialSearch:
    """Penalised walks and a beam guided by them, on the scaled graph.

    The ascent begins without a path; a few steps show which classes are repeated. A beam guided by its bounds finds a
    path. The ascent then continues with this path and removes vertices that no better path uses. After a time limit,
    the results so far are kept: ``relaxed``, the state of the ascent; ``bound`` on all paths; and the heaviest known
    ``path``.
    """

    def __init__(self, scaled: Scaled, expired: Expired = never) -> None:
        self._graph = limit_length(scaled.graph)
        self.path: Path | None = None
        self.weight = -math.inf
        self.relaxed = self._ascend(_FIRST_ROUNDS, expired)
        self.bound = self.relaxed.bound
        if self.has_gap:
            self.update_path(guided_beam(self.relaxed, _WIDTH)[1])
        if self.has_gap and not expired():
            self.relaxed = self._ascend(ROUNDS, expired, self.relaxed)
            self.bound = min(self.bound, self.relaxed.bound)
            if self.has_gap:
                self.update_path(guided_beam(self.relaxed, _WIDTH)[1])

    @property
    def has_gap(self) -> bool:
        """Whether there may be a path heavier than the known one."""
        return self.bound > self.weight + tolerance(self.weight)

    def update_path(self, path: Ints | Path) -> None:
        """Store a path without repeated classes if it is heavier than the known one."""
        if len(path):
            weight = self._graph.weight(np.asarray(path, dtype=np.int64))
            if weight > self.weight:
                self.path, self.weight = tuple(int(v) for v in path), weight

    def _ascend(self, rounds: int, expired: Expired, before: Relaxed | None = None) -> Relaxed:
        penalties = None if before is None else before.penalties
        relaxed = ascend(self._graph, self.weight, rounds, penalties=penalties, expired=expired)
        self.update_path(relaxed.path)
        return relaxed
