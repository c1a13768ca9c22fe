"""Translate cuts and decisions on visits of vertices into arrays over a network.

Several vertices may cover the same row, such as copies of a customer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Key
from colgen.core.decision import Apart, Decision, Together
from colgen.core.errors import InputError
from colgen.core.terms import Box, Count, PricedTerms

Mask = NDArray[np.bool_]
Case = tuple[frozenset[int], frozenset[int]]
"""Vertices that a path must all visit, and vertices that it must not visit."""


class Visits:
    """The rows that the vertices of a network cover, by vertex.

    ``others`` and ``arcs`` are rows, and the block of original variables, that visits cannot express.
    """

    def __init__(
        self, owner: str, rows: Mapping[int, Key], others: Collection[Key | None], arcs: str, solver: Any
    ) -> None:
        self.owner, self.others, self.arcs = owner, frozenset(others), arcs
        self.elementary = bool(getattr(solver, "elementary", False))
        self.count = solver.network.num_vertices
        self.vertices: dict[Key, list[int]] = {}
        for vertex, key in rows.items():
            self.vertices.setdefault(key, []).append(vertex)
        self.blocks = {key[0] for key in self.vertices}
        every = np.arange(self.count)
        self._covering = {
            block: np.isin(every, [vertex for vertex, key in rows.items() if key[0] == block]) for block in self.blocks
        }

    def vertices_of(self, key: Key) -> list[int]:
        """Return the vertices that cover a row.  Raise an InputError for rows of arcs."""
        if key in self.others or key[0] == self.arcs:
            raise InputError(
                f"{self.owner}: a cut or a decision uses the row {key!r}, which arcs touch: expected rows of vertices, "
                "whose visits the labels track; to branch on arcs use OnOriginalVariable with Labelling.arcs_of"
            )
        return self.vertices.get(key, [])

    # --- rank-1 cuts -------------------------------------------------------------------------------------------------

    def rank_one_cuts(self, terms: PricedTerms[Count]) -> tuple[Any, ...] | None:
        """Return numerators, denominators, memory and penalties of the rank-1 cuts, if any.

        Vertices that cover no row, such as deliveries, keep the sums: columns do not list them as components.
        """
        if not terms:
            return None
        count = len(terms.terms)
        numerators, memory = (
            np.zeros((count, self.count), dtype=np.int64),
            np.ones((count, self.count), dtype=np.bool_),
        )
        for k, term in enumerate(terms.terms):
            for member, weight in zip(term.members, term.weights, strict=True):
                numerators[k, self.vertices_of((term.block, member))] = weight
            if term.memory is not None:
                if term.block in self._covering:  # columns list no other vertices
                    memory[k, self._covering[term.block]] = False
                for member in term.memory:
                    memory[k, self.vertices_of((term.block, member))] = True
        divisors = np.array([term.divisor for term in terms.terms], dtype=np.int64)
        return numerators, divisors, memory, np.maximum(-terms.values, 0.0)

    # --- boxes -------------------------------------------------------------------------------------------------------

    def boxes(self, terms: PricedTerms[Box], decisions: Iterable[Decision]) -> tuple[Any, ...] | None:
        """Return visited vertices, unvisited vertices and penalties, one row per box, if any.

        Pairs together forbid paths that visit exactly one of both; pairs apart forbid paths that visit both.
        """
        cases: list[tuple[Case, float]] = []
        for decision in decisions:
            if isinstance(decision, Apart | Together) and decision.first[0] in self.blocks:
                one, other = self.vertices_of(decision.first), self.vertices_of(decision.second)
                if isinstance(decision, Apart):
                    pairs = itertools.product(one, other)
                    cases += [((frozenset(pair), frozenset()), math.inf) for pair in pairs]
                else:
                    cases += [((frozenset([i]), frozenset(other)), math.inf) for i in one]
                    cases += [((frozenset([i]), frozenset(one)), math.inf) for i in other]
        for term, value in zip(terms.terms, terms.values.tolist(), strict=True):
            cases += [(case, -value) for case in self._cases(term)]
        if not cases:
            return None
        visited, unvisited = (np.zeros((len(cases), self.count), dtype=np.bool_) for _ in range(2))
        for k, ((inside, outside), _) in enumerate(cases):
            visited[k, list(inside)], unvisited[k, list(outside)] = True, True
        return visited, unvisited, np.array([charge for _, charge in cases])

    def _cases(self, term: Box) -> Iterator[Case]:
        """Return disjoint cases of visits that cover all paths within a term's bounds."""
        conditions = [list(self._ways((term.block, member), low, high)) for member, low, high in term.bounds]
        for ways in itertools.product(*conditions):
            inside = frozenset().union(*(way[0] for way in ways))
            outside = frozenset().union(*(way[1] for way in ways))
            if not inside & outside:
                yield inside, outside

    def _ways(self, key: Key, lower: float, upper: float) -> Iterator[Case]:
        vertices: list[int] = self.vertices_of(key)
        nowhere: frozenset[int] = frozenset()
        least, most = max(math.ceil(lower), 0), math.inf if upper == math.inf else math.floor(upper)
        at_most = float(len(vertices)) if self.elementary else math.inf if vertices else 0.0
        if least > min(most, at_most):
            return
        if most >= at_most and least == 0:
            yield nowhere, nowhere
        elif most == 0:
            yield nowhere, frozenset(vertices)
        elif most >= at_most and least == 1:
            for k, vertex in enumerate(vertices):
                yield frozenset([vertex]), frozenset(vertices[:k])
        else:
            raise InputError(
                f"{self.owner}: expected bounds of cuts that decide whether a path visits {key!r}, got {lower:g} to "
                f"{upper:g}"
            )
