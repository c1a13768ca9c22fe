r"""The integer program without flow variables, with separated cycles.

A path that visits v enters every set W of vertices that contains v:

    Σ_{i not in W, j in W} I_ij ≥ Σ_i I_iv      for v in W, W a subset of V.

There are exponentially many of these rows. At an integral point, each connected component without the source violates
one. At a fractional point, a minimum cut between the source and v gives the most violated row of v. The rows are valid
for all paths, exclude all cycles, and imply the flow formulation, so the relaxation is at least as strong.

Sources: E. Balas, *The prize collecting traveling salesman problem*, Networks 19 (1989); M. Fischetti, J. J. Salazar
González, P. Toth, *Solving the orienteering problem through branch-and-cut*, INFORMS Journal on Computing 10 (1998).
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar, cast

import networkx as nx
import numpy as np

from colgen import (
    BranchingRule,
    Heuristic,
    HeuristicContext,
    InputError,
    Method,
    NoStabilization,
    OnTemplateVariable,
    Problem,
    Row,
    Rows,
    Separation,
    SeparationContext,
    Solution,
    WarmStart,
)
from colgen.claims import is_plain
from colgen.core.budget import Budget
from colgen.core.columns import Key
from colgen.problems.title_path.instance import Path, PathInstance, check_path
from colgen.problems.title_path.model import SINK, SOURCE, centred_program
from colgen.solvers.paths.path_beam import beam

_TOLERANCE = 1e-6
_WIDTH = 80


class LazyPath(Problem):
    """Find the heaviest path of k vertices by row generation, and branch and bound on arcs.

    The answer is a tuple of vertices. Arcs that no best path uses are removed. A subclass may solve another problem, so
    it keeps all arcs unless it declares ``plain = True`` in its own body.
    """

    plain: ClassVar[bool] = True
    """Whether this class solves only the heaviest path problem; each subclass declares it for itself."""

    def __init__(self, instance: PathInstance) -> None:
        self.instance = instance

    @property
    def _search_instance(self) -> PathInstance:
        return self.instance.reduced if is_plain(self) else self.instance

    def master(self) -> Rows:
        return centred_program(self._search_instance, "lazy")

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The scale of the weights after subtracting what all paths have in common."""
        return self.instance.scaled.scale

    def separation(self) -> Sequence[Separation]:
        return (CycleCuts(self._search_instance),)

    def method(self) -> Method:
        # There is no pricing to stabilize.
        return Method(stabilization=NoStabilization(), heuristics=(RelaxationBeam(self._search_instance),))

    def branching(self) -> Sequence[BranchingRule]:
        return (OnTemplateVariable(),)

    def warm_start(self, budget: Budget) -> WarmStart:
        _weight, path = beam(self.instance.scaled.graph, _WIDTH)
        return WarmStart(answers=[as_solution(self.instance, tuple(path.tolist()))] if len(path) else [])

    def answer(self, solution: Solution) -> Path:
        return extract_path(solution)

    def check(self, answer: Path) -> float:
        return check_path(self.instance, answer)


class RelaxationBeam(Heuristic):
    """A beam over the arcs that the relaxation uses, with their weights."""

    every = 1

    def __init__(self, instance: PathInstance) -> None:
        self.instance = instance

    def search(self, context: HeuristicContext) -> Solution | None:
        graph = self.instance.graph
        first, last = np.full_like(graph.first, -np.inf), np.full_like(graph.last, -np.inf)
        weights = np.full_like(graph.weights, -np.inf)
        for (tail, head), _ in arc_values(context.relaxation):
            if tail == SOURCE:
                first[head] = graph.first[head]
            elif head == SINK:
                last[tail] = graph.last[tail]
            else:
                weights[tail, head] = graph.weights[tail, head]
        _, path = beam(graph._replace(first=first, last=last, weights=weights), _WIDTH)
        return as_solution(self.instance, tuple(path.tolist())) if len(path) else None


class CycleCuts(Separation):
    """Exact separation of the most violated row of each vertex.

    Row ``("cut", (v, W))`` has W as a sorted tuple.
    """

    def __init__(self, instance: PathInstance) -> None:
        graph = instance.graph
        self._tails = [np.flatnonzero(column > -np.inf).tolist() for column in graph.weights.T]
        self._from_source = graph.first > -np.inf

    def separate(self, solution: Solution, context: SeparationContext | None = None) -> Sequence[Row]:
        support = nx.DiGraph()
        support.add_node(SOURCE)
        arcs = arc_values(solution)
        for (tail, head), value in arcs:
            if value > 1e-9 and head != SINK:
                support.add_edge(tail, head, capacity=value)
        whole = all(abs(value - round(value)) <= _TOLERANCE for _, value in arcs)
        sets = _components(support) if whole else _cuts(support)
        return [self._row(v, inside) for v, inside in sets]

    def _row(self, v: int, inside: frozenset[int]) -> Row:
        coefficients: dict[Key, float] = {}
        for head in inside:
            for tail in self._tails[head]:
                if tail not in inside:
                    coefficients["I", (tail, head)] = 1.0
            if self._from_source[head]:
                coefficients["I", (SOURCE, head)] = 1.0
        sources = (SOURCE,) if self._from_source[v] else ()
        for end in (*self._tails[v], *sources):
            key: Key = ("I", (end, v))
            coefficients[key] = coefficients.get(key, 0.0) - 1.0
        kept = {key: value for key, value in coefficients.items() if value}
        return Row(("cut", (v, tuple(sorted(inside)))), lower=0.0, coefficients=kept)


def _components(support: nx.DiGraph) -> list[tuple[int, frozenset[int]]]:
    """Return the connected components without the source; each is one cycle or several."""
    found = []
    for component in nx.weakly_connected_components(support):
        if SOURCE not in component:
            found.append((min(component), frozenset(component)))
    return found


def _cuts(support: nx.DiGraph) -> list[tuple[int, frozenset[int]]]:
    """Return the head side of a minimum cut from the source for each vertex visited more than the cut's value."""
    found: dict[frozenset[int], int] = {}
    for v in support:
        if v == SOURCE:
            continue
        visited = sum(data["capacity"] for _, _, data in support.in_edges(v, data=True))
        if visited <= _TOLERANCE:
            continue
        residual = nx.algorithms.flow.edmonds_karp(support, SOURCE, v)
        if residual.graph["flow_value"] < visited - _TOLERANCE:
            outside = _reachable(residual)
            found.setdefault(frozenset(u for u in support if u not in outside), v)
    return [(v, inside) for inside, v in found.items()]


def _reachable(residual: nx.DiGraph) -> set[object]:
    """Return the vertices reachable from the source in the residual network."""
    reached: set[object] = {SOURCE}
    queue: deque[object] = deque(reached)
    while queue:
        u = queue.popleft()
        for w, data in residual[u].items():
            if w not in reached and data["capacity"] - data["flow"] > 1e-9:
                reached.add(w)
                queue.append(w)
    return reached


def arc_values(solution: Solution) -> list[tuple[tuple[Any, Any], float]]:
    """Return tail and head of each arc with the value of its variable; other variables of subclasses are ignored."""
    return [(cast(tuple[Any, Any], arc), value) for (block, arc), value in solution.variables.items() if block == "I"]


def as_solution(instance: PathInstance, path: Path) -> Solution:
    """Return a path as a solution of the integer program."""
    stations = (SOURCE, *path, SINK)
    taken: dict[Key, float] = {("I", arc): 1.0 for arc in itertools.pairwise(stations)}
    return Solution(instance.objective(path), variables=taken, integer=frozenset(taken))


def extract_path(solution: Solution) -> Path:
    """Return the vertices along the chosen arcs from the source."""
    after = dict(arc for arc, value in arc_values(solution) if value > 0.5)
    path = []
    at = after.get(SOURCE, SINK)
    while at != SINK:
        path.append(at)
        at = after[at]
    if not path:
        raise InputError("the solution has no path: no arc leaves the source")
    return tuple(path)
