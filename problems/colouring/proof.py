"""Certificates of colourings: vertex weights with a bound, and branching on pairs of vertices."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import Decision, PricingContext, Sense, Solution
from colgen.certificate.certifier import Certifier, Record, Split, as_exact
from colgen.certificate.witness import WitnessPoint
from colgen.core.decision import Apart, Together
from colgen.problems.colouring.instance import ColouringInstance
from colgen.problems.colouring.zykov import VERTEX, zykov
from colgen.solvers.graphs.stable_set import heaviest

_DIGITS = (2.0**8, 2.0**16, 2.0**40)
"""Sizes of the largest scaled dual value, tried in order: short integers are checked faster."""


@dataclass(frozen=True)
class State:
    """The branching decisions of a node."""

    decisions: tuple[Decision, ...] = ()


class ColouringCertifier(Certifier):
    """Certifies colourings over all vertices, each covered once.  Removed vertices have weight 0.

    With integers w_v and at most W in every stable set, Σ_v w_v / W colours are needed.  W is as large as the bound
    permits, which shortens the checker's search.

    Parameters
    ----------
    kept
        Return the vertices that have a row.
    colours
        Return the colour of each vertex of a solution.
    """

    checks_nodes = True

    def __init__(
        self,
        instance: ColouringInstance,
        kept: Callable[[], NDArray[np.int64]],
        colours: Callable[[Solution], Sequence[int]],
    ) -> None:
        super().__init__(Sense.MINIMIZE, instance.name)
        self._instance, self._kept, self._colours = instance, kept, colours

    def instance(self) -> Record:
        return {
            "kind": "colouring",
            "name": self.name,
            "vertices": self._instance.num_vertices,
            "edges": [list(edge) for edge in self._instance.edges],
        }

    def formulation(self) -> Record:
        edges = [list(edge) for edge in self._instance.edges]
        return {
            "sense": "minimize",
            "step": 1,
            "rows": [[1, 1]] * self._instance.num_vertices,
            "pricing": [{"kind": "stable sets", "uses": [0, None], "cost": 1, "edges": edges}],
        }

    def columns(self, solution: Solution) -> list[Any]:
        sets = dict[int, list[int]]()
        for vertex, colour in enumerate(self._colours(solution)):
            sets.setdefault(colour, []).append(vertex)
        return [[0, 1, members] for members in sets.values()]

    def objective(self, solution: Solution) -> Fraction:
        return Fraction(len(set(self._colours(solution))))

    def start(self) -> State:
        return State()

    def claim(self, state: State, point: WitnessPoint, goal: Fraction | None) -> Record | None:
        if goal is None or not point.costs_count:
            return None
        kept, adjacency = self._kept(), self._instance.adjacency
        pricing = PricingContext(self.sense, decisions=state.decisions)
        graph = zykov(kept.tolist(), adjacency[np.ix_(kept, kept)], pricing)
        for whole in _scale(np.asarray(point.duals.array(VERTEX), dtype=np.float64)):
            weights, total = graph.weights(whole), int(whole.sum())
            if goal > 1:
                # The largest W with Σ w / W > goal - 1, which rounds up to the goal.
                most = math.ceil(total / (goal - 1)) - 1
                enough = most > 0 and not len(heaviest(graph.adjacency, weights, above=most, most=0).members)
            else:
                most = max(heaviest(graph.adjacency, weights).bound, 1)
                enough = total > 0
            if enough:
                duals = [0] * self._instance.num_vertices
                for vertex, weight in zip(kept.tolist(), whole.tolist(), strict=True):
                    duals[vertex] = weight
                bound = as_exact(Fraction(total, most))
                return {"weight": 1, "unit": most, "duals": duals, "counts": [], "least": [0], "bound": bound}
        return None

    def split(self, state: State, children: Sequence[Sequence[Decision]]) -> Split | None:
        own = [child[0] for child in children if len(child) == 1]
        order = sorted(range(len(own)), key=lambda k: isinstance(own[k], Apart))
        if len(own) != 2 or len(children) != 2:
            return None
        one, other = (own[k] for k in order)
        if not isinstance(one, Together) or not isinstance(other, Apart) or one.concerns != other.concerns:
            return None
        states = [dataclasses.replace(state, decisions=(*state.decisions, own[k])) for k in order]
        pair = [one.first[1], one.second[1]]
        return Split({"pair": pair}, order, states)


def _scale(duals: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
    """Yield scaled and rounded dual values.  Negative ones become 0, as colourings may cover a vertex twice."""
    largest = float(duals.max(initial=0.0))
    if math.isfinite(largest) and largest > 0.0:
        for digits in _DIGITS:
            yield np.rint(np.maximum(duals, 0.0) / largest * digits).astype(np.int64)
