"""Colourings to start from, and a longer tabu search once a bound shows that a colour may be too many."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from colgen import Heuristic, HeuristicContext, Solution
from colgen.core.tolerances import TOLERANCES
from colgen.problems.colouring.pricing import StableSetOracle
from colgen.solvers.graphs.colouring import saturated_first, with_colours
from colgen.solvers.stopping import Expired

Ints = NDArray[np.int64]


def colourings(
    adjacency: NDArray[np.bool_], enough: int, moves: int, expired: Expired, start: Ints | None = None, seed: int = 0
) -> Iterator[Ints]:
    """Colourings, each with fewer colours than the one before: DSATUR's, then by tabu search.

    Parameters
    ----------
    enough
        Fewer colours than these are not tried.
    moves
        Of the tabu search, for each number of colours.
    start
        To be made better, in place of DSATUR's.
    """
    colours = saturated_first(adjacency) if start is None else start
    if start is None:
        yield colours
    while (count := int(colours.max()) + 1) > enough and not expired():
        fewer = with_colours(
            adjacency, count - 1, without_last(adjacency, colours), moves=moves, seed=seed, expired=expired
        )
        if fewer is None:
            return
        colours = numbered(fewer)
        yield colours


def without_last(adjacency: NDArray[np.bool_], colours: Ints) -> Ints:
    """A colouring whose smallest colour is given up: its vertices go where they have fewest neighbours."""
    sizes = np.bincount(colours)
    gone = int(np.argmin(sizes))
    left = np.where(colours > gone, colours - 1, colours)
    for v in np.flatnonzero(colours == gone).tolist():
        around = np.bincount(left[adjacency[v] & (colours != gone)], minlength=len(sizes) - 1)
        left[v] = int(np.argmin(around))
    return left


def numbered(colours: Ints) -> Ints:
    """The same colouring with the colours from 0, none left out."""
    return np.unique(colours, return_inverse=True)[1].astype(np.int64)


def classes(colours: Ints) -> NDArray[np.bool_]:
    """The vertices of each colour: shape (colours, vertices)."""
    mask: NDArray[np.bool_] = colours[None, :] == np.arange(int(colours.max()) + 1)[:, None]
    return mask


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
