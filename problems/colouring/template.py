"""The colouring template, to copy or subclass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from colgen import (
    BranchingRule,
    Column,
    Diving,
    Method,
    NodeLimit,
    Pricing,
    Problem,
    RankOne,
    RestrictedMIP,
    Rows,
    Separation,
    Solution,
    StrongBranching,
    TimeLimit,
    WarmStart,
    solve,
)
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.columns import Codec
from colgen.core.errors import InfeasibleAnswerError
from colgen.problems.colouring.branching import OnPairs
from colgen.problems.colouring.critical import find_critical
from colgen.problems.colouring.enumeration import StableSetEnumeration
from colgen.problems.colouring.heuristics import Recolouring, as_solution, classes, first_colourings
from colgen.problems.colouring.instance import ColouringInstance
from colgen.problems.colouring.model import master
from colgen.problems.colouring.pricing import StableSetOracle
from colgen.problems.colouring.proof import ColouringCertifier
from colgen.problems.colouring.reduction import Reduced, reduce_graph
from colgen.problems.colouring.zykov import VERTEX, maximal

_SPARSE = 0.2
"""Below this density stable sets are large and hard to bound, and few vertices may need all colours."""

_PART = 0.5
"""Largest critical part that is used, as a share of the vertices."""


class Colouring(Problem[list[int]]):
    """Graph colouring by column generation over stable sets, and branching on pairs of vertices.

    The answer is a list with the colour of each vertex, an integer from 0.

    Parameters
    ----------
    cuts
        Whether to separate rank-1 cuts over the vertices' rows.  The rows are then equations, which need all stable
        sets and not only the maximal ones.  These are too many to be enumerated.
    """

    objective_step = 1.0  # the number of colours is an integer: a bound of 15.2 proves 16

    def __init__(self, instance: ColouringInstance, *, cuts: bool = False) -> None:
        self.instance = instance
        self.cuts = cuts

    @cached_property
    def reduced(self) -> Reduced:
        return reduce_graph(self.instance.adjacency)

    @cached_property
    def oracle(self) -> StableSetOracle:
        kept = self.reduced.kept
        return StableSetOracle(kept.tolist(), self.instance.adjacency[np.ix_(kept, kept)], closed=not self.cuts)

    def master(self) -> Rows:
        return master(self.reduced.kept.tolist(), once=self.cuts)

    def pricing(self) -> Pricing | Sequence[Pricing]:
        return self.oracle

    def separation(self) -> Sequence[Separation]:
        return (RankOne(VERTEX),) if self.cuts else ()

    def branching(self) -> Sequence[BranchingRule]:
        return (OnPairs(),)

    def method(self) -> Method:
        return Method(
            choice=StrongBranching(),
            heuristics=(Recolouring(self.oracle), RestrictedMIP(5.0), Diving(2)),
            enumeration=StableSetEnumeration(self.oracle),
        )

    def warm_start(self, budget: Budget) -> WarmStart:
        # Reduce here rather than in the constructor, under the time limit: it may remove no vertices.
        self.__dict__["reduced"] = reduce_graph(self.instance.adjacency, lambda: budget.expired)
        oracle, clique = self.oracle, set(self.reduced.clique.tolist())
        members = np.flatnonzero([v in clique for v in oracle.vertices])
        found, oracle.needed = first_colourings(oracle.adjacency, members, lambda: budget.expired)
        oracle.known = float(found[-1].max()) + 1.0
        # Duals of 1 on a clique, and 0 elsewhere, prove the size of the clique as a bound.
        duals = {VERTEX: [float(v in clique) for v in oracle.vertices]}
        if oracle.known > oracle.needed and oracle.adjacency.mean() < _SPARSE:
            duals = self._critical_duals(budget) or duals
        return WarmStart(duals, (as_solution(found[-1], oracle),), self._columns(found))

    def _critical_duals(self, budget: Budget) -> dict[str, list[float]] | None:
        """Return dual values of a small critical part of the graph, zero elsewhere; None if not found."""
        oracle = self.oracle
        part = find_critical(oracle.adjacency, int(oracle.known), lambda: budget.expired)
        if len(part) > _PART * len(oracle.vertices) or budget.expired:
            return None
        edges = np.argwhere(np.triu(oracle.adjacency[np.ix_(part, part)]))
        inner = Colouring(ColouringInstance(len(part), tuple((int(u), int(v)) for u, v in edges)))
        found = solve(inner, stop=[TimeLimit(budget.seconds_left), NodeLimit(1)], method=Method(heuristics=()))
        certificate = found.certificate
        if certificate is None or found.dual_bound < len(self.reduced.clique):
            return None
        values = [0.0] * len(oracle.vertices)
        for place, vertex in enumerate(part.tolist()):
            values[vertex] = certificate.duals.get((VERTEX, place), 0.0)
        return {VERTEX: values}

    def _columns(self, found: Sequence[np.ndarray]) -> list[Column]:
        """Return colour classes as columns, extended to maximal stable sets if rows are ≥."""
        oracle = self.oracle
        sets = np.concatenate([classes(colours) for colours in found])
        members = np.unique(maximal(oracle.adjacency, sets) if oracle.closed else sets, axis=0)
        vertices = np.array(oracle.vertices)
        return [oracle.encode(vertices[row].tolist()) for row in members]

    def codec(self) -> Codec:
        return Codec(self._read)

    def _read(self, data: Any) -> Column | None:
        vertices, graph = sorted({int(v) for v in data}), self.instance.adjacency
        if not vertices or vertices[0] < 0 or vertices[-1] >= len(graph) or graph[np.ix_(vertices, vertices)].any():
            return None
        remaining = set(self.reduced.kept.tolist())
        return self.oracle.encode([v for v in vertices if v in remaining]) if remaining.intersection(vertices) else None

    def certifier(self) -> Certifier:
        if type(self).master is not Colouring.master:
            return super().certifier()  # a subclass may change the rows
        return ColouringCertifier(self.instance, lambda: self.reduced.kept, self.answer)

    def answer(self, solution: Solution) -> list[int]:
        kept = self.reduced.kept
        colours = dict[int, int]()
        for number, (column, _) in enumerate(solution.columns):
            for vertex in column.structure:
                colours.setdefault(vertex, number)
        given = [colours.get(vertex, -1) for vertex in kept.tolist()]
        return self.reduced.extend(self.instance.adjacency, given)

    def check(self, answer: Iterable[int]) -> float:
        try:
            return float(self.instance.check(list(answer)))
        except ValueError as error:
            raise InfeasibleAnswerError(str(error)) from None
