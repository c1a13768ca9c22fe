"""Branching on numbers of paths, on costs of visits and on arcs, and fixing of arcs by reduced cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from colgen.branching.rules import DOWN, UP, BranchingRule, Candidate, OnOriginalVariable
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.fixing import ReducedCostFixing, ReductionContext
from colgen.networks.block import Path, PathBlock
from colgen.networks.decisions import ArcsForbidden
from colgen.networks.graph import Floats, Ints
from colgen.networks.pricing import ARC, ARC_OF_GRAPH, EDGE, EDGE_OF_GRAPH, PATHS, VISITS_OF_GRAPH, PathPricing
from colgen.networks.separation import used_arcs
from colgen.pricing.oracles import PricedMarginals

_CANDIDATES = 20
"""Most candidates of a rule whose decisions are large."""


class PathRules:
    """The branching rules of integer path blocks.

    Their order is numbers of paths, visits of a vertex by the paths of one graph, arcs over all graphs, arcs of each.

    Parameters
    ----------
    blocks
        The path blocks.
    mirrors
        For each block the arc of its network that each arc becomes in a reversed path.  If they are given, a path and
        its reverse share a column, and an arc and its mirror image are one edge.
    """

    def __init__(self, blocks: Sequence[PathBlock], mirrors: Sequence[Ints] | None = None) -> None:
        self.blocks = blocks
        if mirrors is not None:
            names = dict.fromkeys(name for block in blocks for name in block.graph.vertices)
            self._rank = {name: k for k, name in enumerate(names)}
            self._first = [_first_of_both(block, mirror) for block, mirror in zip(blocks, mirrors, strict=True)]
        self.symmetric = mirrors is not None

    def rules(self) -> list[OnOriginalVariable]:
        """Return the rules; visits and arcs of each graph only where those of all graphs do not decide them."""
        found = [OnOriginalVariable(self.number, block=PATHS)]
        if len(self.blocks) > 1:  # who serves a vertex decides more than the arc by which it is reached
            found.append(OnOriginalVariable(self.visits, block=VISITS_OF_GRAPH))
        each = len(self.blocks) > 1 or any(block.graph.has_parallel_arcs for block in self.blocks)
        if self.symmetric:
            found.append(OnOriginalVariable(self.edges, block=EDGE))
            found += [OnOriginalVariable(self.edges_of_graph, block=EDGE_OF_GRAPH)] if each else []
        else:
            found.append(OnOriginalVariable(self.between, block=ARC))
            found += [OnOriginalVariable(self.arcs, block=ARC_OF_GRAPH)] if each else []
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

    def edges(self, column: Column) -> Mapping[Hashable, float]:
        """Return how often a path goes between two vertices in either direction, by the names of both."""
        path = self.path(column)
        if path is None:
            return {}
        pairs = zip(path.vertices, path.vertices[1:], strict=False)
        edges = Counter(tuple(sorted(pair, key=self._rank.__getitem__)) for pair in pairs)
        return {edge: float(times) for edge, times in edges.items()}

    def edges_of_graph(self, column: Column) -> Mapping[Hashable, float]:
        """Return how often a path uses each arc or its mirror image, by block and number of one of both."""
        path = self.path(column)
        if path is None:
            return {}
        edges = Counter(self._first[path.number][list(path.arcs)].tolist())
        return {(path.number, edge): float(times) for edge, times in edges.items()}

    def visits(self, column: Column) -> Mapping[Hashable, float]:
        """Return how often a path visits each vertex but the sink, by block and number of the vertex."""
        path = self.path(column)
        if path is None:
            return {}
        heads = self.blocks[path.number].graph.heads[list(path.arcs[:-1])].tolist()
        return {(path.number, vertex): float(times) for vertex, times in Counter(heads).items()}

    def arcs(self, column: Column) -> Mapping[Hashable, float]:
        """Return how often a path uses each arc, by block and number of the arc."""
        return {} if self.path(column) is None else used_arcs(column)


def _first_of_both(block: PathBlock, mirror: Ints) -> Ints:
    """Return the smaller number of each arc of the user's graph and its mirror image."""
    first = np.arange(len(block.graph.tails))
    first[block.arc_of] = np.minimum(block.arc_of, block.arc_of[mirror])
    return first


class OnCosts(BranchingRule):
    """Branch on the cost of the arc into the vertex that covers a row: at most a limit, or above it.

    This is for rows that exactly one of several vertices covers, such as a job that is completed at some time.  The
    children forbid the arcs of the other costs.  Of all rows and limits those are preferred that split the fractional
    arcs evenly into parts of different mean cost, as both children then cost more.

    Parameters
    ----------
    blocks
        The path blocks.
    rows
        For each block the row that each vertex of its network covers, -1 for none.

    References
    ----------
    S. Gélinas, M. Desrochers, J. Desrosiers, M. Solomon, *A new branching strategy for time constrained routing
    problems with application to backhauling*, Annals of Operations Research 61 (1995), for windows of a resource.
    """

    makes: Sequence[type[Decision]] = (ArcsForbidden,)

    def __init__(self, blocks: Sequence[PathBlock], rows: Sequence[Ints]) -> None:
        self.blocks = tuple(blocks)
        self._rows = [each[block.network.heads] for block, each in zip(blocks, rows, strict=True)]

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        found = self.candidates(solution)
        return found[0].children if found else ()

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        rows, costs, values = self._covered(solution)
        order = np.lexsort((costs, rows))
        rows, costs, values = rows[order], costs[order], values[order]
        splits: list[tuple[float, int, float, float, float]] = []
        for part in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(rows)) + 1):
            if len(part):
                splits += _best_split(int(rows[part[0]]), costs[part], values[part])
        return [self._candidate(*split) for split in sorted(splits, reverse=True)[:_CANDIDATES]]

    def _covered(self, solution: Solution) -> tuple[Ints, Floats, Floats]:
        """Return row, cost and value of each use of an arc into a vertex that covers a row."""
        parts = []
        for column, value in solution.columns:
            path = column.structure
            steps = self.blocks[path.number].follow(path.arcs) if isinstance(path, Path) else None
            if steps is not None:
                mine = self._rows[path.number][steps]
                arcs = steps[mine >= 0]
                parts.append((mine[mine >= 0], self.blocks[path.number].costs[arcs], np.full(len(arcs), value)))
        if not parts:
            return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        rows, costs, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        return rows, costs, values

    def _candidate(self, score: float, row: int, limit: float, below: float, above: float) -> Candidate:
        """Return the candidate that splits the arcs of a row at a cost; parts of the solution are below and above."""
        children: list[tuple[Decision, ...]] = []
        for forbid in (np.greater, np.less_equal):
            decisions = []
            for block, mine in zip(self.blocks, self._rows, strict=True):
                closed = (mine == row) & forbid(block.costs, limit)
                if closed.any():
                    decisions.append(ArcsForbidden(block.number, closed, math.inf, self.blocks, exhaustive=True))
            children.append(tuple(decisions))
        return Candidate(children, ("cost", row), ((DOWN, above), (UP, below)), score)


def _best_split(row: int, costs: Floats, values: Floats) -> list[tuple[float, int, float, float, float]]:
    """Return score, row, limit, and parts below and above of the best split of a row's sorted costs, if any."""
    below, paid = np.cumsum(values)[:-1], np.cumsum(values * costs)[:-1]
    above, more = values.sum() - below, float(values @ costs) - paid
    part = np.minimum(below, above)
    split = (np.diff(costs) > 0.0) & (part > TOLERANCES.integrality)
    if not split.any():
        return []
    below, above, paid, more = below[split], above[split], paid[split], more[split]
    scores = part[split] * (more / above - paid / below)
    k = int(scores.argmax())
    limit = ((costs[:-1] + costs[1:]) / 2.0)[split][k]
    return [(float(scores[k]), row, float(limit), float(below[k]), float(above[k]))]


class ArcFixing(ReducedCostFixing):
    """Forbid arcs of networks that no improving solution uses.

    A search for such arcs takes as long as several rounds.  It is repeated below a node only when the gap is smaller
    than at the last search by a share ``narrower``.  While the gap is wider than a share ``widest`` of the incumbent,
    there is none: it would take longest then and find few arcs.
    """

    makes: Sequence[type[Decision]] = (ArcsForbidden,)

    def __init__(
        self, oracles: Sequence[PathPricing], share: float = 0.02, narrower: float = 0.1, widest: float = 0.04
    ) -> None:
        super().__init__([oracle.exactly() for oracle in oracles], share=share, decide=self._close)
        self.blocks = tuple(oracle.block_of_paths for oracle in oracles)
        self.narrower, self.widest = narrower, widest
        self._slack = self._tried = math.inf

    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        self._slack = context.slack
        if not self._slack <= self.widest * abs(context.target):
            return ()
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
