"""Branching on numbers of paths and on arcs, and fixing of arcs by reduced cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from colgen.branching.rules import OnOriginalVariable
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.fixing import ReducedCostFixing, ReductionContext
from colgen.networks.block import Path, PathBlock
from colgen.networks.decisions import ArcsForbidden
from colgen.networks.pricing import ARC, ARC_OF_GRAPH, PATHS, PathPricing
from colgen.pricing.oracles import PricedMarginals


class PathRules:
    """The branching rules of integer path blocks, in order: numbers of paths, arcs over all graphs, arcs of each."""

    def __init__(self, blocks: Sequence[PathBlock]) -> None:
        self.blocks = blocks

    def rules(self) -> list[OnOriginalVariable]:
        """Return the rules; arcs of each graph only if there are several graphs or parallel arcs."""
        found = [OnOriginalVariable(self.number, block=PATHS), OnOriginalVariable(self.between, block=ARC)]
        if len(self.blocks) > 1 or any(block.graph.has_parallel_arcs for block in self.blocks):
            found.append(OnOriginalVariable(self.arcs, block=ARC_OF_GRAPH))
        return found

    def path(self, column: Column) -> Path | None:
        """Return the path of a column whose number must be integer, or None."""
        path = column.structure
        return path if isinstance(path, Path) and self.blocks[path.number].integer else None

    def number(self, column: Column) -> Mapping[Hashable, float]:
        """Return the block of a path."""
        path = self.path(column)
        return {} if path is None else {path.number: 1.0}

    def between(self, column: Column) -> Mapping[Hashable, float]:
        """Return how often a path goes from one vertex to another, by the names of both."""
        path = self.path(column)
        if path is None:
            return {}
        pairs = Counter(zip(path.vertices, path.vertices[1:], strict=False))
        return {pair: float(times) for pair, times in pairs.items()}

    def arcs(self, column: Column) -> Mapping[Hashable, float]:
        """Return how often a path uses each arc, by block and number of the arc."""
        path = self.path(column)
        if path is None:
            return {}
        return {(path.number, arc): float(times) for arc, times in Counter(path.arcs).items()}


class ArcFixing(ReducedCostFixing):
    """Forbid arcs of networks that no improving solution uses.

    A search for such arcs takes as long as several rounds.  It is repeated below a node only when the gap is smaller
    than at the last search by a share ``narrower``.
    """

    makes: Sequence[type[Decision]] = (ArcsForbidden,)

    def __init__(self, oracles: Sequence[PathPricing], share: float = 0.02, narrower: float = 0.1) -> None:
        super().__init__([oracle.exactly() for oracle in oracles], share=share, decide=self._close)
        self.blocks = tuple(oracle.block_of_paths for oracle in oracles)
        self.narrower = narrower
        self._slack = self._tried = math.inf

    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        self._slack = context.slack
        known = min((each.slack for each in context.decisions if isinstance(each, ArcsForbidden)), default=self._tried)
        if not self._slack < (1.0 - self.narrower) * known:
            return ()
        found = super().reduce(context)
        if not found:
            self._tried = min(self._tried, self._slack)
        return found

    def _close(self, number: int, marginals: PricedMarginals, worse: NDArray[np.bool_]) -> Sequence[Decision]:
        block = self.blocks[number]
        return (ArcsForbidden(block.number, worse, self._slack, self.blocks),)
