"""What cuts and decisions say about who visits which vertices, in the numbers of a network.

A row may be covered by several vertices: copies of a customer, one for each of his windows, say.
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
"""Vertices that a path visits all of, and vertices that it visits none of."""


class Visits:
    """The rows that vertices cover.

    Parameters
    ----------
    owner
        For messages.
    rows
        Of each vertex.
    others
        Rows that paths touch otherwise: what is said about those cannot be told from visits.
    arcs
        The block of original variables that are arcs, which cannot be told from visits either.
    """

    def __init__(
        self, owner: str, rows: Mapping[int, Key], others: Collection[Key | None], arcs: str, solver: Any
    ) -> None:
        self.owner, self.others, self.arcs = owner, frozenset(others), arcs
        self.once = bool(getattr(solver, "elementary", False))
        self.count = solver.network.num_vertices
        self.vertices: dict[Key, list[int]] = {}
        for vertex, key in rows.items():
            self.vertices.setdefault(key, []).append(vertex)
        self.blocks = {key[0] for key in self.vertices}

    def of(self, key: Key) -> list[int]:
        """The vertices that cover a row; none if this oracle's paths never do.

        Raises
        ------
        InputError
            If paths touch it otherwise.
        """
        if key in self.others or key[0] == self.arcs:
            raise InputError(
                f"{self.owner}: a cut or a decision is about {key!r}, which arcs touch: expected rows of vertices, the "
                "visits of which labels remember; branch on arcs by OnOriginalVariable with Labelling.arcs_of"
            )
        return self.vertices.get(key, [])

    # --- rank-1 cuts -------------------------------------------------------------------------------------------------

    def counted(self, terms: PricedTerms[Count]) -> tuple[Any, ...] | None:
        """Rank-1 cuts: numerators, denominators, memory, and what they charge; None if there are none."""
        if not terms:
            return None
        count = len(terms.terms)
        numerators, memory = (
            np.zeros((count, self.count), dtype=np.int64),
            np.ones((count, self.count), dtype=np.bool_),
        )
        for k, term in enumerate(terms.terms):
            for member, weight in zip(term.members, term.weights, strict=True):
                numerators[k, self.of((term.block, member))] = weight
            if term.memory is not None:
                memory[k] = False
                for member in term.memory:
                    memory[k, self.of((term.block, member))] = True
        divisors = np.array([term.divisor for term in terms.terms], dtype=np.int64)
        return numerators, divisors, memory, np.maximum(-terms.values, 0.0)

    # --- boxes -------------------------------------------------------------------------------------------------------

    def boxed(self, terms: PricedTerms[Box], decisions: Iterable[Decision]) -> tuple[Any, ...] | None:
        """Boxes of paths: whom they visit, whom they do not, and what they charge; None if there are none.

        Pairs that are together or apart forbid those that visit one of both, or both.
        """
        cases: list[tuple[Case, float]] = []
        for decision in decisions:
            if isinstance(decision, Apart | Together) and decision.first[0] in self.blocks:
                one, other = self.of(decision.first), self.of(decision.second)
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
        """The ways, no two at once, in which a path's visits are within the bounds of a term."""
        conditions = [list(self._ways((term.block, member), low, high)) for member, low, high in term.bounds]
        for ways in itertools.product(*conditions):
            inside = frozenset().union(*(way[0] for way in ways))
            outside = frozenset().union(*(way[1] for way in ways))
            if not inside & outside:
                yield inside, outside

    def _ways(self, key: Key, lower: float, upper: float) -> Iterator[Case]:
        vertices: list[int] = self.of(key)
        nowhere: frozenset[int] = frozenset()
        least, most = max(math.ceil(lower), 0), math.inf if upper == math.inf else math.floor(upper)
        at_most = float(len(vertices)) if self.once else math.inf if vertices else 0.0
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
                f"{self.owner}: expected bounds of cuts that say whether a path visits {key!r}, got "
                f"{lower:g} to {upper:g}"
            )
