"""Rows over path blocks that are separated: bounds of arcs, rank-1 cuts over visits, rounded capacity cuts."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from colgen.core.columns import Column, Key, Row
from colgen.core.solution import Solution
from colgen.core.terms import Linear
from colgen.core.tolerances import TOLERANCES
from colgen.cuts.capacity import RoundedCapacity
from colgen.cuts.cut import Cuts
from colgen.cuts.in_turn import InTurn
from colgen.cuts.rank_one import RankOne
from colgen.cuts.separation import Separation, SeparationContext
from colgen.networks.block import Path, PathBlock
from colgen.networks.graph import Floats, Ints
from colgen.networks.pricing import ARC, ARC_OF_GRAPH
from colgen.networks.rules import Resource

_PROMISING = 0.05
"""Least increase of the bound, relative to it, by one more path for which cuts wait."""


class AfterNumbers(InTurn):
    """Separations in order, once branching on the number of paths of no block promises more than cuts do.

    If each path has a large cost of its own, such as that of a vehicle, a fractional number of paths is branched on
    first: rounding it up increases the bound by more than cuts.

    Parameters
    ----------
    blocks
        The path blocks.
    separations, enough
        See :class:`colgen.cuts.in_turn.InTurn`.
    """

    after_fixing = True

    def __init__(self, blocks: Sequence[PathBlock], *separations: Separation, **how: Any) -> None:
        super().__init__(*separations, **how)
        leaving = [block.costs[block.network.tails == block.network.source] for block in blocks]
        self._fixed = np.array([costs.min() if len(costs) else 0.0 for costs in leaving])

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        return () if not context.whole and self._waits(solution, context) else super().separate(solution, context)

    def _waits(self, solution: Solution, context: SeparationContext) -> bool:
        numbers = np.zeros(len(self._fixed))
        for column, value in solution.columns:
            if isinstance(column.structure, Path):
                numbers[column.structure.number] += value
        missing = np.ceil(numbers) - numbers
        fractional = np.minimum(missing, 1.0 - missing) > TOLERANCES.integrality
        return bool((fractional & (missing * self._fixed > _PROMISING * abs(context.bound))).any())


class ArcBounds(Separation):
    """Upper bounds of arc variables that no other row implies, generated when violated.

    Parameters
    ----------
    blocks
        The path blocks.
    upper
        For each block the upper bounds that must hold, by arc of the user's graph; infinite for implied ones.
    """

    def __init__(self, blocks: Sequence[PathBlock], upper: Sequence[Floats]) -> None:
        self.blocks, self.upper = blocks, upper
        self.family = Cuts("bound of arcs", components=used_arcs, idle_after=None)

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        flow = [np.zeros(len(upper)) for upper in self.upper]
        for column, value in solution.columns:
            path = column.structure
            if isinstance(path, Path):
                np.add.at(flow[path.number], list(path.arcs), value)
        found = []
        for number, (amounts, upper) in enumerate(zip(flow, self.upper, strict=True)):
            excess = amounts - upper
            for arc in np.flatnonzero(excess > TOLERANCES.feasibility).tolist():
                found.append((excess[arc], self._row((number, arc))))
        found.sort(key=lambda pair: -pair[0])
        return [row for _, row in found]

    def restated(self, key: Key) -> Row | None:
        term = key[1]
        if key[0] != self.family.block or not isinstance(term, Linear) or len(term.members) != 1:
            return None
        number, arc = cast(tuple[int, int], term.members[0])
        known = 0 <= number < len(self.upper) and 0 <= arc < len(self.upper[number])
        return self._row((number, arc)) if known and np.isfinite(self.upper[number][arc]) else None

    def _row(self, arc: tuple[int, int]) -> Row:
        return self.family.cut(Linear(ARC_OF_GRAPH, (arc,), (1.0,)), upper=float(self.upper[arc[0]][arc[1]]))


def used_arcs(column: Column) -> Mapping[Hashable, float]:
    """Return how often a path uses each arc, by block and number of the arc."""
    path, found = column.structure, dict[Hashable, float]()
    if isinstance(path, Path):
        for arc in path.arcs:
            found[path.number, arc] = found.get((path.number, arc), 0.0) + 1.0
    return found


def rank_one(name: str, sides: Mapping[Hashable, int], visited: Callable[[Column], Sequence[Hashable]]) -> RankOne:
    """Return the rank-1 cuts over the rows of one constraint that count visits."""
    return RankOne(name, order=visited, block=f"rank_one over {name}", sides=sides)


def rounded_capacities(
    blocks: Sequence[PathBlock], partitioned: Sequence[Ints], between: Callable[[Column], Mapping[Any, float]]
) -> list[RoundedCapacity]:
    """Return the rounded capacity cuts of each resource that all blocks consume by visits alone.

    Parameters
    ----------
    partitioned
        For each block the row that exactly one visit covers, by vertex of the network; -1 for none.
    between
        The arcs of a column by the names of their ends.
    """
    places = _places(blocks, partitioned)
    found = []
    for resource in (r for r in blocks[0].statement._resources if isinstance(r, Resource)):
        each = [_load(block, places, resource.name) for block in blocks]
        loads = [load for load in each if load is not None]
        if len(loads) == len(blocks) and len(places) > 1:
            demands = {row: min(mine[row] for mine, _ in loads if row in mine) for row in places}
            capacity = max(most for _, most in loads)
            if 0.0 < max(demands.values()) <= capacity < math.inf:
                cuts = f"capacity of {resource.name}"
                found.append(RoundedCapacity(between, demands, capacity, places=places, block=ARC, cuts=cuts))
    return found


def _places(blocks: Sequence[PathBlock], partitioned: Sequence[Ints]) -> dict[Hashable, list[Hashable]]:
    """Return the names of the vertices that each row counts, if no block counts one of them otherwise."""
    rows: dict[Hashable, set[int]] = {}
    for block, of_vertex in zip(blocks, partitioned, strict=True):
        for vertex, row in zip(block.vertex_of.tolist(), of_vertex.tolist(), strict=True):
            rows.setdefault(block.graph.vertices[vertex], set()).add(row)
    torn = set().union(*(mine for mine in rows.values() if len(mine) > 1), (-1,))
    found: dict[Hashable, list[Hashable]] = {}
    for name, mine in rows.items():
        if mine.isdisjoint(torn):
            found.setdefault(min(mine), []).append(name)
    return found


def _load(
    block: PathBlock, places: Mapping[Hashable, Sequence[Hashable]], resource: str
) -> tuple[dict[Hashable, float], float] | None:
    """Return what each row consumes at least, and the most that a path may consume; None if arcs decide."""
    mine = [r for r in block.statement._resources if isinstance(r, Resource) and r.name == resource]
    if len(mine) != 1 or mine[0].lower is not None or mine[0].start:
        return None
    graph = block.graph
    used, upper = graph.per_arc(mine[0].consumption, resource), graph.per_vertex(mine[0].upper, resource, math.inf)
    least, most = np.full(len(graph.vertices), math.inf), np.full(len(graph.vertices), -math.inf)
    np.minimum.at(least, graph.heads, used)
    np.maximum.at(most, graph.heads, used)
    each = dict(zip(graph.vertices, zip(least.tolist(), most.tolist(), strict=True), strict=True))
    visits = {row: [each[name] for name in names if name in each] for row, names in places.items()}
    if (used < 0.0).any() or any(low != high for ends in visits.values() for low, high in ends):
        return None
    return {row: min(low for low, _ in ends) for row, ends in visits.items() if ends}, float(upper.max())
