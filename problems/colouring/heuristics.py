"""Initial colourings, and a longer search once the bound permits fewer colours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import Heuristic, HeuristicContext, Solution
from colgen.core.tolerances import TOLERANCES
from colgen.problems.colouring.lower_bounds import fewest_colours_proved
from colgen.problems.colouring.pricing import StableSetOracle
from colgen.solvers.graphs.colouring import dsatur, evolve, partialcol
from colgen.solvers.stopping import Expired

Ints = NDArray[np.int64]

_SHORT, _LONG = 100, 2_000
"""Moves per vertex of the first searches over partial colourings, before and after proofs are tried."""

_CROSSED = 5
"""Moves of the searches with crossover per move of the search over partial colourings."""


def colourings(
    adjacency: NDArray[np.bool_], enough: int, moves: int, expired: Expired, start: Ints | None = None, seed: int = 0
) -> Iterator[Ints]:
    """Yield colourings with decreasing numbers of colours: DSATUR's, then by tabu search and crossover.

    Parameters
    ----------
    enough
        Stop at this number of colours.
    moves
        Moves of tabu search over partial colourings, for each number of colours.
    start
        A colouring to improve instead of DSATUR's.
    """
    colours = dsatur(adjacency) if start is None else start
    if start is None:
        yield colours
    while (count := int(colours.max()) + 1) > enough and not expired():
        how: dict[str, Any] = {"seed": seed, "expired": expired}
        fewer = partialcol(adjacency, count - 1, without_smallest(colours), moves=moves, **how)
        if fewer is None:
            fewer = evolve(adjacency, count - 1, drop_smallest(adjacency, colours), moves=_CROSSED * moves, **how)
        if fewer is None:
            return
        colours = renumber(fewer)
        yield colours


def first_colourings(adjacency: NDArray[np.bool_], clique: Ints, expired: Expired) -> tuple[list[Ints], int]:
    """Return colourings with decreasing numbers of colours, and a number of colours that every colouring needs.

    Proofs come before long searches for colourings, which would be in vain.
    """
    found, needed = [dsatur(adjacency)], len(clique)
    for seed, moves in enumerate((_SHORT, _LONG)):
        found += colourings(adjacency, needed, moves * len(adjacency), expired, found[-1], seed)
        count = int(found[-1].max()) + 1
        if count > needed and not expired():
            needed = fewest_colours_proved(adjacency, clique, count, expired)
        if count == needed:
            break
    return found, needed


def without_smallest(colours: Ints) -> Ints:
    """Return a colouring in which the vertices of the smallest class have none, -1."""
    smallest = int(np.argmin(np.bincount(colours)))
    return np.where(colours == smallest, -1, np.where(colours > smallest, colours - 1, colours))


def drop_smallest(adjacency: NDArray[np.bool_], colours: Ints) -> Ints:
    """Return a colouring without the smallest class: its vertices move where conflicts are fewest."""
    sizes = np.bincount(colours)
    smallest = int(np.argmin(sizes))
    left = np.where(colours > smallest, colours - 1, colours)
    for v in np.flatnonzero(colours == smallest).tolist():
        around = np.bincount(left[adjacency[v] & (colours != smallest)], minlength=len(sizes) - 1)
        left[v] = int(np.argmin(around))
    return left


def renumber(colours: Ints) -> Ints:
    """Return the same colouring with consecutive colours from 0."""
    return np.unique(colours, return_inverse=True)[1].astype(np.int64)


def classes(colours: Ints) -> NDArray[np.bool_]:
    """Return the mask of the colour classes, shape (colours, vertices)."""
    mask: NDArray[np.bool_] = colours[None, :] == np.arange(int(colours.max()) + 1)[:, None]
    return mask


class Recolouring(Heuristic):
    """Removes colours from the best colouring as long as tabu search and crossover repair the conflicts.

    Parameters
    ----------
    moves
        Moves per vertex of tabu search over partial colourings.
    """

    def __init__(self, oracle: StableSetOracle, moves: int = 10_000) -> None:
        self.oracle = oracle
        self.moves = moves

    def search(self, context: HeuristicContext) -> Solution | None:
        run, adjacency = context.run, self.oracle.adjacency
        start = dsatur(adjacency) if run.incumbent is None else self._colours(run.incumbent)
        enough = math.ceil(context.relaxation.objective - TOLERANCES.optimality * context.relaxation.objective)
        better = list(colourings(adjacency, enough, self.moves * len(adjacency), lambda: run.expired, start, seed=1))
        return as_solution(better[-1], self.oracle) if better else None

    def _colours(self, solution: Solution) -> np.ndarray:
        place = {vertex: k for k, vertex in enumerate(self.oracle.vertices)}
        colours = np.zeros(len(place), dtype=np.int64)
        for number, (column, _) in enumerate(solution.columns):
            colours[[place[v] for v in column.structure]] = number
        return renumber(colours)


def as_solution(colours: np.ndarray, oracle: StableSetOracle) -> Solution:
    """Return a colouring as a solution of the master."""
    vertices = np.array(oracle.vertices)
    columns = tuple((oracle.encode(vertices[row].tolist()), 1.0) for row in classes(colours))
    return Solution(float(len(columns)), columns)
