"""Shortest paths in acyclic networks and in networks whose arcs have costs by time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from colgen.solvers.arrays import ArrayError, as_booleans, as_floats, as_integer
from colgen.solvers.paths.acyclic.distances import costs_of_arcs
from colgen.solvers.paths.acyclic.states import Floats, Graph, Ints, Mask, States, graph
from colgen.solvers.paths.acyclic.task import Remembered, Task
from colgen.solvers.paths.labelling import neighbourhoods as neighbour_sets
from colgen.solvers.paths.labelling.boxes import BoxDuals, lay_out, route_charges
from colgen.solvers.paths.labelling.clock import Clock, LabelLimitError, OutOfEffortError, OutOfTimeError
from colgen.solvers.paths.labelling.rank_one import RankOneDuals, coefficients, fields
from colgen.solvers.paths.labelling.routes import Completion, Routes, routes_from_arcs
from colgen.solvers.paths.labelling.rules import as_rules
from colgen.solvers.stopping import Expired, never

_ALL = ~np.uint64(0)


@dataclass(frozen=True, eq=False)
class StateRoutes(Routes):
    """Routes, with their costs of states.

    Attributes
    ----------
    state_costs : sum of the costs of the arcs between states, without those of the network's arcs
    paths : the arcs between states of each route
    """

    state_costs: Floats
    paths: list[Ints]


@dataclass(frozen=True, eq=False)
class StateCompletion(Completion):
    """Least costs of routes through each arc.

    ``states`` are those through each arc between states, infinity for arcs that no route uses.
    """

    states: Floats


class Acyclic:
    """Shortest paths through the states of a network: in an acyclic network, or with an integer time.

    Without memory a call takes milliseconds per million arcs.  Threads may share an object.

    Parameters
    ----------
    states : the states; see :meth:`States.of_network` and :meth:`States.timed`
    neighbourhoods : ``"elementary"``, a mask, or None, as in :class:`colgen.solvers.paths.labelling.Labelling`
        Paths may not return to a vertex of the network that they remember.
    cycle : 2 forbids paths to return to a vertex after one other, with ``neighbourhoods=None``
    max_labels : most labels of a search
    """

    def __init__(
        self,
        states: States,
        *,
        neighbourhoods: ArrayLike | Literal["elementary"] | None = None,
        cycle: int = 0,
        max_labels: int = 20_000_000,
    ) -> None:
        self.states, self.network = states, states.network
        self.cycle = as_integer(cycle, "cycle", low=0, high=2)
        if self.cycle == 1 or (self.cycle and (neighbourhoods is not None or not states.visits.all())):
            raise ArrayError("cycle: expected 0, or 2 with neighbourhoods=None and states without waiting")
        self.max_labels = as_integer(max_labels, "max_labels", low=1)
        self.neighbourhoods = (
            None
            if neighbourhoods is None
            else neighbour_sets.as_matrix(self.network, neighbourhoods, as_rules(self.network, ()))
        )
        inner = np.setdiff1d(np.arange(self.network.num_vertices), [self.network.source, self.network.sink])
        self.elementary = self.neighbourhoods is not None and bool(self.neighbourhoods[np.ix_(inner, inner)].all())
        self._graph = graph(states, np.ones(states.num_arcs, dtype=bool))
        self._memory = self._remembered(self.neighbourhoods, self.cycle)
        self._restricted: tuple[Mask, Graph] | None = None

    # --- searches ----------------------------------------------------------------------------------------------------

    def price(
        self,
        arc_costs: ArrayLike,
        *,
        rank_one: RankOneDuals | None = None,
        boxes: BoxDuals | None = None,
        forbidden: ArrayLike | None = None,
        forbidden_states: ArrayLike | None = None,
        mode: Literal["exact", "relaxed", "sparse"] = "exact",
        routes: int = 1,
        cutoff: float = math.inf,
        expired: Expired = never,
        weight: float = 1.0,
    ) -> StateRoutes:
        """Return the cheapest routes.

        Parameters
        ----------
        arc_costs : cost of each arc of the network
        rank_one, boxes, cutoff, expired : as in :meth:`colgen.solvers.paths.labelling.Labelling.price`
        forbidden, forbidden_states : masks of arcs that may not be used, of the network and between states
        mode : ``"exact"``, or a search that keeps one path per state
        routes : most routes: the cheapest one, and others through different states
        weight : factor of the costs of states
        """
        if mode not in ("exact", "relaxed", "sparse"):
            raise ArrayError(f"mode: expected 'exact', 'relaxed' or 'sparse', got {mode!r}")
        wanted = as_integer(routes, "routes", low=1)
        if not cutoff > -math.inf:
            raise ArrayError(f"cutoff: expected a number, got {cutoff!r}")
        task = self._task(arc_costs, rank_one, boxes, self._usable(forbidden, forbidden_states), Clock(expired), weight)
        finished = True
        try:
            found, made = task.price(wanted, cutoff, mode == "exact")
        except OutOfTimeError:
            found, made, finished = [], 0, False
        bound = None
        if mode == "exact" and finished:
            bound = min(cutoff, min((cost for cost, _ in found), default=math.inf))
        return self._routes(task, rank_one, boxes, found, bound, finished, made, wanted)

    def completion(
        self,
        arc_costs: ArrayLike,
        *,
        rank_one: RankOneDuals | None = None,
        boxes: BoxDuals | None = None,
        forbidden: ArrayLike | None = None,
        forbidden_states: ArrayLike | None = None,
        cutoff: float = math.inf,
        effort: float = math.inf,
        expired: Expired = never,
        weight: float = 1.0,
    ) -> StateCompletion:
        """Return the least cost of a route through each arc, of the network and between states.

        Costs above ``cutoff`` are reported as ``cutoff``.  ``finished`` is False beyond ``effort``, see
        :meth:`enumerate`.  Other arguments are as in :meth:`price`.
        """
        task = self._task(
            arc_costs, rank_one, boxes, self._usable(forbidden, forbidden_states), Clock(expired, effort), weight
        )
        through = np.full(self.states.num_arcs, np.inf)
        try:
            through[task.graph.numbers] = task.through(cutoff)
        except (OutOfTimeError, OutOfEffortError):
            worst = np.full(self.network.num_arcs, -np.inf)
            return StateCompletion(worst, None, False, np.full(len(through), -np.inf))
        least = np.full(self.network.num_arcs, np.inf)
        belong = self.states.arcs >= 0
        np.minimum.at(least, self.states.arcs[belong], through[belong])
        return StateCompletion(least, float(least.min(initial=math.inf)), True, through)

    def enumerate(
        self,
        arc_costs: ArrayLike,
        gap: float,
        *,
        limit: int = 1_000_000,
        rank_one: RankOneDuals | None = None,
        boxes: BoxDuals | None = None,
        forbidden: ArrayLike | None = None,
        forbidden_states: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        effort: float = math.inf,
        expired: Expired = never,
        weight: float = 1.0,
    ) -> StateRoutes:
        """Return all elementary routes below a gap, for each vertex set only the one with least ``costs``.

        Arguments are as in :meth:`colgen.solvers.paths.labelling.Labelling.enumerate`.
        """
        every = self._every_vertex()
        mine = self._memory
        if every.own.shape[1] != mine.own.shape[1]:
            mine = every._replace(kept=every.own)
        task = self._task(
            arc_costs, rank_one, boxes, self._usable(forbidden, forbidden_states), Clock(expired, effort), weight, mine
        )
        compared = self._costs(arc_costs if costs is None else costs, 1.0, task.graph)
        try:
            (found, made), finished = task.enumerate(compared, gap, limit, every)
        except (OutOfTimeError, OutOfEffortError, LabelLimitError):
            found, made, finished = [], 0, False
        if not finished:
            found = []
        return self._routes(task, rank_one, boxes, found, None, finished, made, limit)

    # --- data of the kernels -----------------------------------------------------------------------------------------

    def _costs(self, arc_costs: ArrayLike, weight: float, usable: Graph) -> Floats:
        """Return the costs of a graph's arcs."""
        given = as_floats(arc_costs, "arc_costs", shape=(self.network.num_arcs,))
        found = np.empty(len(usable.arcs))
        costs_of_arcs(given, usable.arcs, usable.extra, float(weight), found)
        return found

    def _usable(self, forbidden: ArrayLike | None, forbidden_states: ArrayLike | None) -> Graph:
        """Return the usable states and arcs."""
        if forbidden is None and forbidden_states is None:
            return self._graph
        usable = np.ones(self.states.num_arcs, dtype=bool)
        if forbidden_states is not None:
            usable = ~as_booleans(forbidden_states, "forbidden_states", shape=usable.shape)
        if forbidden is not None:
            closed = as_booleans(forbidden, "forbidden", shape=(self.network.num_arcs,))
            usable &= ~np.append(closed, False)[self.states.arcs]
        known = self._restricted
        if known is None or not np.array_equal(known[0], usable):
            known = self._restricted = usable, graph(self.states, usable)
        return known[1]

    def _remembered(self, neighbourhoods: Mask | None, cycle: int) -> Remembered:
        """Return what paths remember."""
        n = self.network.num_vertices
        inner = np.setdiff1d(np.arange(n), [self.network.source, self.network.sink])
        if neighbourhoods is None and not cycle:
            inner = inner[:0]
        words = -(-len(inner) // 64)
        own = np.zeros((n, words), dtype=np.uint64)
        number = np.arange(len(inner))
        own[inner, number // 64] = np.uint64(1) << (number % 64).astype(np.uint64)
        kept, after, joint = (np.full((n, words), _ALL) for _ in range(3))
        if cycle:
            after, joint = own, own
        elif neighbourhoods is not None:
            for vertex in inner.tolist():
                kept[vertex] = np.bitwise_or.reduce(own[neighbourhoods[vertex]], axis=0)
        return Remembered(own, kept, after, joint)

    def _every_vertex(self) -> Remembered:
        """Return the memory of elementary paths: nothing where paths visit each vertex in one state at most."""
        once = len(np.unique(self.states.vertices)) == self.states.num_states
        return self._remembered(
            None if once else neighbour_sets.as_matrix(self.network, "elementary", as_rules(self.network, ())), 0
        )

    def _task(
        self, arc_costs: ArrayLike, rank_one: RankOneDuals | None, boxes: BoxDuals | None,
        usable: Graph, clock: Clock, weight: float, remembered: Remembered | None = None,
    ) -> Task:  # fmt: skip
        costs = self._costs(arc_costs, weight, usable)
        mine = self._memory if remembered is None else remembered
        laid_out = lay_out(boxes, self.network, mine.own.shape[1])
        if laid_out.given:
            costs[usable.tails == 0] += laid_out.given  # the state of the source
        cuts = fields(rank_one, self.network.num_vertices)
        return Task(self.network, usable, costs, mine, laid_out, cuts, clock, self.max_labels)

    def _routes(
        self, task: Task, rank_one: RankOneDuals | None, boxes: BoxDuals | None, found: list[tuple[float, Ints]],
        bound: float | None, finished: bool, made: int, wanted: int,
    ) -> StateRoutes:  # fmt: skip
        """Return the cheapest routes, one per vertex set, with recomputed costs."""
        network, states, kept = self.network, self.states, dict[bytes, tuple[float, Ints, Ints]]()
        for cost, steps in found:
            path = task.graph.numbers[steps]
            arcs = states.arcs[path]
            visited = np.sort(network.heads[arcs[arcs >= 0]]).tobytes()
            if visited not in kept or cost < kept[visited][0]:
                kept[visited] = (cost, path, steps)
        best = sorted(kept.values(), key=lambda each: each[0])[:wanted]
        paths = [path for _, path, _ in best]
        own = [states.arcs[path][states.arcs[path] >= 0].astype(np.int64) for path in paths]
        costs = np.array([float(task.costs[steps].sum()) for _, _, steps in best]) - task.boxes.given
        routes = routes_from_arcs(own, network.tails, network.heads, np.zeros(len(own)), bound, finished, made)
        if rank_one is not None and paths:
            given = RankOneDuals(*rank_one)
            counted = coefficients(given, routes.starts, routes.vertices)
            costs = costs + counted @ np.asarray(given.penalties, dtype=float)
        if boxes is not None and paths:
            costs = costs + route_charges(BoxDuals(*boxes), network, routes.starts, routes.vertices)
        extra = np.array([states.costs[path].sum() for path in paths])
        return StateRoutes(routes.starts, routes.vertices, routes.arcs, costs, bound, finished, made, extra, paths)
