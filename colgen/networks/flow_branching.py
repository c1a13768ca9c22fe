"""Branching on the arcs that an unsplittable commodity may use."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from colgen.branching.rules import BranchingRule, Candidate
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.solution import Solution
from colgen.core.tolerances import fractionality
from colgen.networks.flow_block import FlowBlock, Routing
from colgen.networks.flows import FORBIDDEN


@dataclass(frozen=True)
class CommodityArcsForbidden(Decision):
    """A commodity uses none of certain arcs.

    Attributes
    ----------
    number, commodity
        Index of the block, and of the commodity among those with flow.
    arcs
        Numbers of the arcs.
    """

    number: int
    commodity: int
    arcs: frozenset[int]

    def allows(self, column: Column) -> bool:
        routing = column.structure
        if not isinstance(routing, Routing) or (routing.number, routing.group) != (self.number, self.commodity):
            return True
        return self.arcs.isdisjoint(routing.arcs.tolist())

    def forbids(self, block: str) -> Collection[Hashable]:
        return [(self.number, self.commodity, arc) for arc in self.arcs] if block == FORBIDDEN else ()


class OnLeavingArcs(BranchingRule):
    """Branches on the arcs out of the vertex where the paths of an unsplittable commodity part.

    The arcs out of the vertex are divided into two sets.  Each child forbids one of them to the commodity, so that the
    flow that leaves the vertex over its arcs is cut off.  Every path avoids one of the sets.

    Source: C. Barnhart, C. A. Hane, P. H. Vance, *Using branch-and-price-and-cut to solve origin-destination integer
    multicommodity flow problems*, Operations Research 48 (2000), section 3.
    """

    makes = (CommodityArcsForbidden,)

    def __init__(self, blocks: Sequence[FlowBlock]) -> None:
        self.blocks = tuple(blocks)

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        found = self.candidates(solution)
        return found[0].children if found else ()

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        """Return a candidate for each split commodity, the one with the largest share off its main path first."""
        used: dict[tuple[int, int], list[tuple[float, Routing]]] = {}
        for column, value in solution.columns:
            routing = column.structure
            if isinstance(routing, Routing) and fractionality(value) and self.blocks[routing.number].unsplittable:
                used.setdefault((routing.number, routing.group), []).append((value, routing))
        found = [self._candidate(*name, paths) for name, paths in used.items() if len(paths) > 1]
        return sorted(found, key=lambda candidate: -candidate.score)

    def _candidate(self, number: int, k: int, paths: list[tuple[float, Routing]]) -> Candidate:
        block, graph = self.blocks[number], self.blocks[number].graph
        paths = sorted(paths, key=lambda pair: -pair[0])
        first, second = paths[0][1].paths[0].tolist(), paths[1][1].paths[0].tolist()
        place = next(i for i, (one, other) in enumerate(zip(first, second, strict=False)) if one != other)
        vertex = int(graph.tails[first[place]])
        flow: dict[int, float] = {int(arc): 0.0 for arc in np.flatnonzero(graph.tails == vertex)}
        for value, routing in paths:
            for arc in routing.paths[0].tolist():
                if arc in flow:
                    flow[arc] += value
        sides: list[list[int]] = [[first[place]], [second[place]]]
        sums = [flow[first[place]], flow[second[place]]]
        for arc in sorted(flow, key=lambda arc: (-flow[arc], arc)):
            if arc not in (first[place], second[place]):
                side = int(sums[1] < sums[0]) if flow[arc] else int(len(sides[1]) < len(sides[0]))
                sides[side].append(arc)
                sums[side] += flow[arc]
        keeps_first = CommodityArcsForbidden(number, k, frozenset(sides[1]))
        keeps_second = CommodityArcsForbidden(number, k, frozenset(sides[0]))
        score = float(min(sums)) * float(block.demands[k])
        return Candidate(((keeps_first,), (keeps_second,)), (number, k, vertex), score=score)
