"""A longer tabu search, once a bound says that a colour may be too many."""

from __future__ import annotations

import math

import numpy as np

from colgen import Heuristic, HeuristicContext, Solution
from colgen.core.tolerances import TOLERANCES
from colgen.problems.colouring.pricing import StableSetOracle
from colgen.problems.colouring.warm_start import classes, colourings, numbered
from colgen.solvers.graphs.colouring import saturated_first


class Recolouring(Heuristic):
    """Give up colours of the best colouring as long as tabu search mends what is in conflict.

    Parameters
    ----------
    moves
        Of the search, a vertex.
    """

    def __init__(self, oracle: StableSetOracle, moves: int = 20_000) -> None:
        self.oracle = oracle
        self.moves = moves

    def search(self, context: HeuristicContext) -> Solution | None:
        run, adjacency = context.run, self.oracle.adjacency
        start = saturated_first(adjacency) if run.incumbent is None else self._colours(run.incumbent)
        enough = math.ceil(context.relaxation.objective - TOLERANCES.optimality * context.relaxation.objective)
        better = list(colourings(adjacency, enough, self.moves * len(adjacency), lambda: run.expired, start, seed=1))
        return as_solution(better[-1], self.oracle) if better else None

    def _colours(self, solution: Solution) -> np.ndarray:
        place = {vertex: k for k, vertex in enumerate(self.oracle.vertices)}
        colours = np.zeros(len(place), dtype=np.int64)
        for number, (column, _) in enumerate(solution.columns):
            colours[[place[v] for v in column.structure]] = number
        return numbered(colours)


def as_solution(colours: np.ndarray, oracle: StableSetOracle) -> Solution:
    """A colouring as a solution of the master."""
    vertices = np.array(oracle.vertices)
    columns = tuple((oracle.encode(vertices[row].tolist()), 1.0) for row in classes(colours))
    return Solution(float(len(columns)), columns)
