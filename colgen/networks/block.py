"""A path block as arrays: its network, its labelling solver, and the columns and rows that its arcs touch."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.errors import InputError
from colgen.model.rows import Rows
from colgen.networks.clipping import clipped
from colgen.networks.expanded import expand
from colgen.networks.graph import Floats, Graph, Ints, reached
from colgen.networks.rules import AtMostOne, Consecutive, Elementary, Neighbourhoods, NoCycles, Requests, Resource
from colgen.networks.statement import Paths
from colgen.networks.windows import penalty
from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths import labelling
from colgen.solvers.paths.acyclic import Acyclic, States
from colgen.solvers.paths.labelling.resources import limits, progresses, rounding
from colgen.solvers.topological import levels

_LONG = 10
"""Arcs of a walk, divided by the number of vertices: if resources allow more, the number of arcs becomes one."""

_NOTHING: Ints = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Path:
    """A path of a block: the structure of a column.

    Attributes
    ----------
    graph
        Name of the block.
    number
        Index of the block.
    arcs
        Numbers of the arcs, in the order of the graph that the user states.
    vertices
        Names of the visited vertices, with source and sink.
    """

    graph: str = field(compare=False)
    number: int
    arcs: tuple[int, ...]
    vertices: tuple[Hashable, ...] = field(compare=False)

    def __repr__(self) -> str:
        shown = " → ".join(map(str, self.vertices[:12])) + (" ..." if len(self.vertices) > 12 else "")
        return f"{self.graph}: {shown}"


class PathBlock:
    """The paths of one statement, over the rows of a model.

    Attributes
    ----------
    number
        Index of the block.
    columns
        Column of each arc of the user's graph, -1 for closed arcs.
    network, solver
        The network of the labelling solver, and the solver.  Its vertices and arcs may be copies.
    arc_of, vertex_of
        Original arc and vertex of each arc and vertex of the network.
    classes
        A number for each vertex of the network; paths that remember visits treat vertices with the same number as one.
    costs
        Cost of each arc of the network.
    linking
        Coefficients in the master's rows, shape (arcs of the network, rows).
    integer
        Whether each path is used an integer number of times.
    """

    def __init__(self, number: int, paths: Paths, name: str, columns: Ints, rows: Rows, linking: Ints) -> None:
        self.number, self.name, self.statement, self.columns = number, name, paths, columns
        self.graph: Graph = paths._graph
        open_arcs = np.flatnonzero((columns >= 0) & (rows.upper[columns] > 0.0))
        expanded = expand(self.graph, open_arcs, [rule for rule in paths._rules if isinstance(rule, Consecutive)])
        self.arc_of, self.vertex_of = expanded.arc_of, expanded.vertex_of
        mine = columns[columns >= 0]
        integer = rows.integer[mine]
        if integer.any() and not integer.all():
            raise InputError(f"{name}: flow: expected all variables integer or all continuous")
        self.integer = bool(integer.all())
        of_arc = columns[self.arc_of]
        self.costs: Floats = rows.costs[of_arc]
        self.upper: Floats = rows.upper[of_arc]
        matrix = sparse.csr_array(sparse.csc_array(rows.matrix)[:, of_arc].T)
        self.linking = sparse.csr_array(matrix[:, linking])
        self.linking.sort_indices()
        try:
            self.network = labelling.Network(
                len(self.vertex_of), expanded.tails, expanded.heads, expanded.source, expanded.sink
            )
        except ArrayError as error:
            raise InputError(f"{name}: {error}") from None
        self.classes = self.vertex_of.copy()
        self._is_elementary = False
        lower, upper = paths._count
        out = (self.network.tails == self.network.source) & (columns[self.arc_of] >= 0)
        self.count = lower, max(lower, min(upper, float(self.upper[out].sum())))

    # --- resources and rules -----------------------------------------------------------------------------------------

    @cached_property
    def resources(self) -> tuple[Any, ...]:
        """The resources over the network."""
        graph, found = self.graph, []
        for resource in self.statement._resources:
            if not isinstance(resource, Resource):
                found.append(resource)
                continue
            consumption = graph.per_arc(resource.consumption, "consumption")[self.arc_of]
            upper = graph.per_vertex(resource.upper, "upper", math.inf)[self.vertex_of]
            given = -math.inf if resource.lower is None else resource.lower
            lower = graph.per_vertex(given, "lower", -math.inf)[self.vertex_of]
            threshold, rate = (each[self.vertex_of] for each in penalty(graph, resource))
            found.append(
                labelling.Resource(
                    consumption, upper, lower, waiting=resource.waiting, start=resource.start,
                    penalty=(threshold, rate), name=resource.name,
                )
            )  # fmt: skip
        return tuple(found)

    @cached_property
    def has_penalties(self) -> bool:
        """Whether paths pay for values of resources, in addition to the costs of their arcs."""
        return any(isinstance(each, labelling.Resource) and each.rate.any() for each in self.resources)

    @cached_property
    def level(self) -> Ints | None:
        """The greatest number of arcs from the source to each vertex of the network; None if the graph has cycles."""
        if not self.graph.is_acyclic:
            return None
        return levels(self.network.num_vertices, self.network.tails, self.network.heads)

    def count_as_one(self, rows: Ints) -> None:
        """Let vertices that are counted by the same row, -1 for none, share a class, like places of one customer.

        The rows allow one visit.  If they count all vertices but source and sink, no answer has a longer path than an
        elementary one.
        """
        self._is_elementary = bool((np.delete(rows, [self.network.source, self.network.sink]) >= 0).all())
        self.classes = np.where(rows >= 0, len(self.graph.vertices) + rows, self.vertex_of)

    @cached_property
    def solver(self) -> Any:
        """The solver of the pricing problem, built on first use.

        Raises
        ------
        InputError
            If the rules and resources contradict each other, or cycles have no limit.
        """
        try:
            solver = self._solver()
        except ArrayError as error:
            raise InputError(f"{self.name}: {error}") from None
        rules = [rule for rule in self.statement._rules if isinstance(rule, (AtMostOne, Requests))]
        free = np.zeros(self.network.num_arcs)
        if rules and not any(len(solver.price(free, mode=mode)) for mode in ("relaxed", "exact")):
            raise InputError(
                f"{self.name}: rules: no path satisfies {' and '.join(map(repr, rules))} and the resources"
            )
        return solver

    def _solver(self) -> Any:
        memory: Any = None
        cycle = 0
        rules, resources = self.solver_rules(), list(self.resources)
        for rule in self.statement._rules:
            if self.level is not None and not self._alternatives:
                break
            if isinstance(rule, Elementary):
                memory = "elementary"
            elif isinstance(rule, Neighbourhoods) and memory is None:
                memory = self._remembered(rule)
            elif isinstance(rule, NoCycles):
                cycle = max(cycle, rule.arcs)
        cycle = cycle if memory is None else 0
        if cycle and len(self.vertex_of) > len(self.graph.vertices):
            raise InputError(
                f"{self.name}: rules: NoCycles and Consecutive are not enforced together in a graph with cycles: use "
                "Elementary or Neighbourhoods"
            )
        network = self.network
        if not reached(network.num_vertices, network.tails, network.heads, network.source)[network.sink]:
            return labelling.Labelling(network, [])  # without paths no resource is needed
        remembers = memory is not None or cycle or any(not isinstance(rule, labelling.Alternatives) for rule in rules)
        if self.level is not None and not resources and not remembers:
            return Acyclic(States.of_network(self.network))
        if self.level is not None:
            resources = [self._length(), *clipped(self.network, self.level, resources)]
        elif not isinstance(memory, str) and not (self._progresses() and self._are_short):
            resources.append(self._length())
        return labelling.Labelling(self.network, resources, neighbourhoods=memory, cycle=cycle, rules=rules)

    @cached_property
    def _alternatives(self) -> list[Ints]:
        """Sets of vertices that share a class."""
        inner = np.ones(self.network.num_vertices, dtype=np.bool_)
        inner[[self.network.source, self.network.sink]] = False
        members = np.flatnonzero(inner)
        order = members[np.argsort(self.classes[members], kind="stable")]
        parts = np.split(order, np.flatnonzero(np.diff(self.classes[order])) + 1)
        return [part for part in parts if len(part) > 1]

    def solver_rules(self) -> list[Any]:
        """Return the rules that need memory, over the vertices of the network."""
        found: list[Any] = [labelling.Alternatives(self._alternatives)] if self._alternatives else []
        for rule in self.statement._rules:
            if isinstance(rule, AtMostOne):
                found.append(labelling.Exclude([self.copies_of(vertices, "AtMostOne") for vertices in rule.sets]))
            elif isinstance(rule, Requests):
                if self._alternatives or self.network.num_vertices != len(self.graph.vertices):
                    raise InputError(
                        f"{self.name}: Requests: expected vertices of which no two count as one: neither Consecutive "
                        "rules nor two vertices in one row of visits"
                    )
                pairs = [self.copies_of(pair, "Requests") for pair in rule.pairs]
                pickups, deliveries = (np.array([pair[k] for pair in pairs], dtype=np.int64) for k in (0, 1))
                found.append(labelling.Pairs(pickups, deliveries))
        return found

    def copies_of(self, vertices: Collection[Hashable], what: str) -> Ints:
        """Return the vertices of the network by name."""
        missing = [vertex for vertex in vertices if vertex not in self._number]
        if missing:
            raise InputError(f"{self.name}: {what}: {missing[0]!r} is not a vertex of the graph")
        found = [np.flatnonzero(self.vertex_of == self._number[vertex]) for vertex in vertices]
        return np.concatenate([*found, _NOTHING])

    @cached_property
    def _number(self) -> dict[Hashable, int]:
        return {vertex: k for k, vertex in enumerate(self.graph.vertices)}

    def _length(self) -> labelling.Resource:
        """Return a resource that every arc consumes, so that walks end.

        An elementary path has at most one arc per vertex.  In an acyclic network the level of a vertex is its greatest
        number of arcs from the source, so all labels of a vertex have the same value.
        """
        network, level = self.network, self.level
        if level is None:
            return labelling.Resource(np.ones(network.num_arcs), float(len(self.graph.vertices)), name="length")
        return labelling.Resource(level[network.heads] - level[network.tails], level, level, name="length")

    def _progresses(self) -> bool:
        """Return whether a resource limits the length of all walks."""
        limited = limits(self.network, tuple(r for r in self.resources if isinstance(r, labelling.Resource)))
        own = any(isinstance(r, labelling.CustomResource) and r.order is not None for r in self.resources)
        consumed = limited.consumption[:, limited.critical]
        return own or (limited.critical < limited.compared and progresses(self.network, consumed))

    @property
    def _are_short(self) -> bool:
        """Whether resources limit walks to a few times the arcs of an elementary path, or answers need longer ones."""
        network, ends = self.network, (self.network.source, self.network.sink)
        inner = ~(np.isin(network.tails, ends) | np.isin(network.heads, ends))
        if not (self._is_elementary and inner.any()):
            return True
        longest = math.inf
        for resource in self.resources:
            if isinstance(resource, labelling.Resource):
                upper = np.broadcast_to(resource.upper, network.num_vertices)[network.heads[inner]].max()
                least = resource.consumption[inner].min()
                longest = min(longest, (upper - resource.start) / least if least > 0.0 else math.inf)
        return longest <= _LONG * network.num_vertices

    def _remembered(self, rule: Neighbourhoods) -> NDArray[np.bool_]:
        if rule.remembered is None:
            return labelling.nearest(self.network, self.costs, rule.size)
        known = {vertex: k for k, vertex in enumerate(self.graph.vertices)}
        original = np.zeros((len(known) + 1, len(known) + 1), dtype=np.bool_)
        for vertex, others in rule.remembered.items():
            for other in others:
                if vertex not in known or other not in known:
                    raise InputError(f"Neighbourhoods: {vertex!r} or {other!r} is not a vertex of the graph")
                original[known[vertex], known[other]] = True
        return original[np.ix_(self.vertex_of, self.vertex_of)]

    @cached_property
    def mirror(self) -> Ints | None:
        """The arc of the network that each arc becomes in a reversed path of equal cost; None if there may be none."""
        graph, solver = self.graph, self.solver
        returns = graph.vertices[graph.source] == graph.vertices[graph.sink]
        copied = self.network.num_vertices > len(graph.vertices)
        if copied or not returns or isinstance(solver, Acyclic):
            return None
        mirror: Ints | None = solver.mirror(self.costs)
        return mirror

    @property
    def is_simple(self) -> bool:
        """Whether no path visits a vertex twice."""
        return self.graph.is_acyclic or any(isinstance(rule, Elementary) for rule in self.statement._rules)

    # --- paths -------------------------------------------------------------------------------------------------------

    def path(self, arcs: Sequence[int]) -> Path:
        """Return a path by its arcs in the user's graph."""
        graph, used = self.graph, list(arcs)
        vertices = (graph.vertices[graph.tails[used[0]]], *(graph.vertices[k] for k in graph.heads[used].tolist()))
        return Path(self.name, self.number, tuple(int(arc) for arc in used), vertices)

    @cached_property
    def _leaving(self) -> dict[tuple[int, int], int]:
        """Arc of the network by its tail and its original arc."""
        return {
            (int(tail), int(arc)): k
            for k, (tail, arc) in enumerate(zip(self.network.tails.tolist(), self.arc_of.tolist(), strict=True))
        }

    def between(self, ends: Any) -> Ints:
        """Return the network's arcs between two vertices, by the names of these."""
        return self._by_ends.get(ends, _NOTHING)

    def copies(self, arc: Any) -> Ints:
        """Return the network's arcs of ``(block, arc)``, an arc of the user's graph; none for another block."""
        return np.flatnonzero(self.arc_of == arc[1]) if arc[0] == self.number else _NOTHING

    def entering(self, vertex: Any) -> Ints:
        """Return the network's arcs into ``(block, vertex)``, a vertex of the user's graph; none for another block."""
        if vertex[0] != self.number:
            return _NOTHING
        return np.flatnonzero(self.graph.heads[self.arc_of] == vertex[1])

    @cached_property
    def _by_ends(self) -> dict[Hashable, Ints]:
        """Arcs of the network by the names of their ends in the user's graph."""
        names, graph = self.graph.vertices, self.graph
        found: dict[Hashable, list[int]] = {}
        for k, arc in enumerate(self.arc_of.tolist()):
            found.setdefault((names[graph.tails[arc]], names[graph.heads[arc]]), []).append(k)
        return {ends: np.array(arcs, dtype=np.int64) for ends, arcs in found.items()}

    def follow(self, arcs: Sequence[int]) -> Ints | None:
        """Return the network's arcs of a path, or None if a rule about runs or a closed arc forbids it."""
        known = self._followed.get(arcs) if isinstance(arcs, tuple) else None
        if known is not None:
            return known
        at, found = self.network.source, []
        for arc in arcs:
            step = self._leaving.get((at, int(arc)))
            if step is None:
                return None
            found.append(step)
            at = int(self.network.heads[step])
        if at != self.network.sink:
            return None
        steps = np.array(found, dtype=np.int64)
        if isinstance(arcs, tuple):
            self._followed[arcs] = steps  # each node checks all columns again
        return steps

    @cached_property
    def _followed(self) -> dict[tuple[int, ...], Ints]:
        return {}

    def arcs_through(self, vertices: Sequence[Hashable]) -> list[int] | None:
        """Return the arcs between consecutive vertices, the cheapest of parallel ones; None if one is missing."""
        found = []
        for ends in pairwise(vertices):
            arcs = self.between(ends)
            if not len(arcs):
                return None
            found.append(int(self.arc_of[arcs[np.argmin(self.costs[arcs])]]))
        return found

    def fault(self, arcs: Sequence[int]) -> str | None:
        """Return why the block does not contain a path, or None."""
        steps = self.follow(arcs)
        if steps is None:
            return "it is not a path from source to sink over open arcs, or a rule forbids it"
        names = self.graph.vertices
        for resource, values in self.levels(steps).items():
            for vertex, level, lower, upper in values:
                if not lower <= level <= upper:
                    return f"{resource} is {level:g} at {names[vertex]!r}, expected {lower:g} to {upper:g}"
        visited = self.vertex_of[self.network.heads[steps]].tolist()
        if any(isinstance(rule, Elementary) for rule in self.statement._rules) and len(set(visited)) < len(visited):
            return "it visits a vertex twice"
        for rule in self.statement._rules:
            if isinstance(rule, NoCycles):
                for k, vertex in enumerate(visited):
                    if vertex in visited[max(0, k - rule.arcs) : k]:
                        return f"it returns to {names[vertex]!r} within {rule.arcs} arcs"
            elif isinstance(rule, AtMostOne):
                for vertices in rule.sets:
                    if sum(names[vertex] in vertices for vertex in visited) > 1:
                        return f"it visits several of {list(vertices)}"
            elif isinstance(rule, Requests):
                for pickup, delivery in rule.pairs:
                    turns = [names[vertex] for vertex in visited if names[vertex] in (pickup, delivery)]
                    if turns != [pickup, delivery] * (len(turns) // 2):
                        return f"it does not visit {pickup!r} and later {delivery!r}"
            elif isinstance(rule, Neighbourhoods) and not self.is_simple:
                again = self._remembered_visit(self.network.heads[steps])
                if again is not None:
                    return f"it returns to {names[self.vertex_of[again]]!r}, which all vertices since then remember"
        return None

    def _remembered_visit(self, visited: Ints) -> int | None:
        """Return the first vertex of the network that neighbourhoods forbid on a path, None if there is none."""
        near, rules = self.solver.neighbourhoods, self.solver.rules
        held: set[int] = set()
        for vertex in visited.tolist():
            one = int(rules.classes[vertex])
            if one in held and vertex not in rules.deliveries:  # a delivery needs an open request instead
                return int(vertex)
            held = {other for other in (*held, one) if near[vertex, other]}
        return None

    @property
    def penalty_step(self) -> float | None:
        """A divisor of all penalties if paths and values are integer, else None."""
        paying = [each for each in self.resources if isinstance(each, labelling.Resource) and each.rate.any()]
        values = [
            side[np.isfinite(side)]
            for each in paying
            for side in (each.consumption, each.lower, each.threshold, each.rate, np.array(each.start))
        ]
        if not self.integer or not all((value == np.rint(value)).all() for value in values):
            return None
        return float(math.gcd(*(int(rate) for each in paying for rate in each.rate.tolist())))

    def penalty(self, steps: Sequence[int] | Ints) -> float:
        """Return what a path pays for values of resources, given its arcs in the network."""
        if not self.has_penalties:
            return 0.0
        return float(self.solver.penalties([0, len(steps)], np.asarray(steps, dtype=np.int64))[0])

    @cached_property
    def _limits(self) -> list[tuple[labelling.Resource, Floats, Floats, float]]:
        """Each resource with its limits by vertex, and the rounding error of the values on a path."""
        found, count = [], self.network.num_vertices
        for resource in self.resources:
            if isinstance(resource, labelling.Resource):
                lower, upper = np.broadcast_to(resource.lower, (count,)), np.broadcast_to(resource.upper, (count,))
                # A label joins two sums, each of which may be too large by the rounding error.
                room = 2.0 * rounding(count, resource.consumption, lower, upper, np.array(resource.start))
                found.append((resource, lower, upper, room))
        return found

    def levels(self, steps: Sequence[int] | Ints) -> dict[str, list[tuple[int, float, float, float]]]:
        """Return original vertex, level and limits at each head of a path's arcs, by resource."""
        found: dict[str, list[tuple[int, float, float, float]]] = {}
        for resource, lower, upper, room in self._limits:
            level, levels = resource.start, []
            if resource.waiting:
                level = max(level, float(lower[self.network.source]))
            for arc in steps:
                head = int(self.network.heads[arc])
                level += float(resource.consumption[arc])
                if resource.waiting:
                    level = max(level, float(lower[head]))
                low = -math.inf if resource.waiting else float(lower[head]) - room
                levels.append((int(self.vertex_of[head]), level, low, float(upper[head]) + room))
            found[resource.name] = levels
        return found
