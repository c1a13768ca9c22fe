"""Shortest paths with resource constraints, by labelling."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from colgen.solvers.arrays import ArrayError, as_booleans, as_float, as_floats, as_integer
from colgen.solvers.paths.labelling import neighbourhoods as neighbour_sets
from colgen.solvers.paths.labelling.attempts import price_exactly, price_heuristically
from colgen.solvers.paths.labelling.boxes import BoxDuals, lay_out
from colgen.solvers.paths.labelling.clock import Clock, LabelLimitError, OutOfEffortError, OutOfTimeError
from colgen.solvers.paths.labelling.completions import bound_sides, completion_bounds
from colgen.solvers.paths.labelling.custom import CustomResource
from colgen.solvers.paths.labelling.directions import direction as direction_of
from colgen.solvers.paths.labelling.layout import Floats, Ints
from colgen.solvers.paths.labelling.listing import list_routes
from colgen.solvers.paths.labelling.mirror import find_mirror, with_costs
from colgen.solvers.paths.labelling.neighbourhoods import Mask
from colgen.solvers.paths.labelling.network import Network, cheapest_arcs
from colgen.solvers.paths.labelling.rank_one import RankOneDuals, fields
from colgen.solvers.paths.labelling.requests import requests_of
from colgen.solvers.paths.labelling.resources import Resource, bounded, limits, penalties
from colgen.solvers.paths.labelling.route_list import RouteList
from colgen.solvers.paths.labelling.routes import Completion, Routes, assemble, routes_from_arcs
from colgen.solvers.paths.labelling.rules import Rule, as_rules
from colgen.solvers.paths.labelling.runs import join, settle_both
from colgen.solvers.paths.labelling.tabu import tabu
from colgen.solvers.paths.labelling.task import Task
from colgen.solvers.stopping import Expired, never

Mode = Literal["exact", "relaxed", "sparse", "tabu"]


class Labelling:
    """The shortest path problem with resource constraints: elementary, with neighbourhoods, or relaxed.

    Calls leave no state, so threads may share an object.

    Parameters
    ----------
    network : the network
    resources : the resources of its paths
    neighbourhoods : ``"elementary"``, a mask, or None
        Entry (i, j) of the mask: whether a path at i remembers and may not revisit j (ng-routes).  None: paths remember
        nothing.
    cycle : paths have no cycles of up to this many arcs (k-cycle elimination), with ``neighbourhoods=None``
        2 forbids immediate returns, 0 forbids none.
    rules : alternative vertices, exclusions, pickups before deliveries; see :mod:`.rules`
        With :class:`Pairs`, ``neighbourhoods`` remember requests, and deliveries remember all of them.
    direction : ``"both"`` joins paths from the source with paths to the sink
    max_labels : most labels of a search

    Raises
    ------
    ArrayError
        If the resources do not fit the network, or the length of paths is unbounded.
    """

    def __init__(
        self,
        network: Network,
        resources: Sequence[Resource | CustomResource],
        *,
        neighbourhoods: ArrayLike | Literal["elementary"] | None = "elementary",
        cycle: int = 0,
        rules: Sequence[Rule] = (),
        direction: Literal["both", "forward"] = "both",
        max_labels: int = 20_000_000,
    ) -> None:
        if direction not in ("both", "forward"):
            raise ArrayError(f"direction: expected 'both' or 'forward', got {direction!r}")
        cycle = as_integer(cycle, "cycle", low=0)
        if cycle == 1:
            raise ArrayError("cycle: expected 0 or at least 2, since there are no loops, got 1")
        if cycle and neighbourhoods is not None:
            raise ArrayError("cycle: expected neighbourhoods=None, as neighbourhoods already forbid cycles")
        self.network = network
        self.rules = as_rules(network, rules)
        if cycle and len(self.rules.pickups):
            raise ArrayError("cycle: expected 0 with Pairs; use neighbourhoods")
        self.max_labels = as_integer(max_labels, "max_labels", low=1)
        own = [resource for resource in resources if isinstance(resource, CustomResource)]
        if len(own) > 1:
            raise ArrayError(f"resources: expected at most one CustomResource, got {len(own)}")
        self.custom = own[0] if own else None
        if self.custom is not None:
            self.custom.check_data(network.num_arcs, network.num_vertices)
        self._limits = limits(network, tuple(each for each in resources if isinstance(each, Resource)), self.rules)
        self.both = direction == "both" and not self.forward_only
        self._set_neighbourhoods(neighbourhoods, cycle)

    @property
    def has_penalties(self) -> bool:
        """Whether paths pay for values of resources."""
        return len(self._limits.rate) > 0

    @property
    def forward_only(self) -> bool:
        """Whether paths are only extended at their end: resources have penalties, or a custom one no ``backward``."""
        return self.has_penalties or (self.custom is not None and not self.custom.both)

    def penalties(self, starts: Sequence[int] | Ints, arcs: Ints) -> Floats:
        """Return what each path pays for its values of resources; path k has ``arcs[starts[k]:starts[k + 1]]``."""
        return penalties(self.network, self._limits, starts, arcs)

    def mirror(self, arc_costs: ArrayLike) -> Ints | None:
        """Return the arc that each arc becomes in a reversed path, shape (num_arcs,).

        None if a reversed path may have another cost, or may violate a limit.  Networks with one resource without lower
        limits are recognized, those with several are not.
        """
        costs, usable = self._costs(arc_costs, None)
        found = with_costs(self._mirror, self.network, costs, usable)
        return None if found is None else found.arcs

    def with_neighbourhoods(self, neighbourhoods: ArrayLike | Literal["elementary"] | None) -> Labelling:
        """Return the same problem with other neighbourhoods."""
        other = copy.copy(self)
        other._set_neighbourhoods(neighbourhoods, 0)
        return other

    def listed(self, starts: ArrayLike, arcs: ArrayLike) -> RouteList:
        """Return a solver over a list of routes of this network, such as one of :meth:`enumerate`."""
        return RouteList(self.network, starts, arcs)

    def enlarge_neighbourhoods(self, routes: Routes, limit: int | None = None) -> Mask:
        """Return neighbourhoods that also forbid the cycles of routes: vertices of a cycle remember its start.

        Cycles that would make a neighbourhood larger than ``limit`` are skipped.
        """
        found = [routes.route(k) for k in range(len(routes))]
        return neighbour_sets.enlarge(self.neighbourhoods, found, limit, self.rules)

    # --- searches ----------------------------------------------------------------------------------------------------

    def price(
        self,
        arc_costs: ArrayLike,
        *,
        rank_one: RankOneDuals | None = None,
        boxes: BoxDuals | None = None,
        forbidden: ArrayLike | None = None,
        mode: Mode = "exact",
        penalty_weight: float = 1.0,
        starts: Iterable[Sequence[int]] = (),
        routes: int = 1,
        cutoff: float = math.inf,
        effort: float = math.inf,
        expired: Expired = never,
    ) -> Routes:
        """Return the cheapest routes.

        Parameters
        ----------
        arc_costs : cost of each arc
        rank_one : cuts whose dual values routes pay
        boxes : charges that depend on visited and avoided vertices
        forbidden : mask of arcs that may not be used
        mode : ``"exact"``, the only mode with a bound, or a faster one
            ``"relaxed"``: keep only paths that are cheap for their consumption of the critical resource.
            ``"sparse"``: the same over the cheapest arcs of each vertex.
            ``"tabu"``: local search among elementary routes.
        penalty_weight : factor of the resources' penalties, 0 to ignore them
        starts : routes, as vertices, from which the local search starts, in addition to routes with one vertex
        routes : most routes: the cheapest one, and others over different last arcs, with different vertex sets
        cutoff : find only routes below this cost
        effort : limit on label extensions and comparisons, beyond which ``finished`` is False
        expired : called about ten times per second; True stops the search

        Raises
        ------
        LabelLimitError
            If the search needs more than ``max_labels`` labels.
        """
        if mode not in ("exact", "relaxed", "sparse", "tabu"):
            raise ArrayError(f"mode: expected 'exact', 'relaxed', 'sparse' or 'tabu', got {mode!r}")
        costs, usable = self._costs(arc_costs, forbidden)
        wanted = as_integer(routes, "routes", low=1)
        if not cutoff > -math.inf:
            raise ArrayError(f"cutoff: expected a number, got {cutoff!r}")
        if mode == "sparse":
            usable = usable & cheapest_arcs(self.network, costs, usable)
        clock = Clock(expired, most=effort)
        weight = as_float(penalty_weight, "penalty_weight", low=0.0)
        task = self._task(costs, usable, rank_one, boxes, clock, exact=mode == "exact")._replace(penalty_weight=weight)
        if mode == "tabu":
            found, finished, labels = tabu(task, starts, wanted, cutoff)
        else:
            attempt = price_heuristically if mode != "exact" else price_exactly
            found, finished, labels = attempt(task, wanted, cutoff)
        bound = None
        if mode == "exact" and finished:
            bound = min(cutoff, min((cost for cost, _ in found), default=math.inf))
        classes = self.rules.classes
        made = assemble(found, self.network, costs, rank_one, boxes, bound, finished, labels, wanted, classes)
        if self.has_penalties:
            made.costs[:] += weight * self.penalties(made.starts - np.arange(len(made.starts)), made.arcs)
        return dataclasses.replace(made, effort=clock.spent)

    def completion(
        self,
        arc_costs: ArrayLike,
        *,
        rank_one: RankOneDuals | None = None,
        boxes: BoxDuals | None = None,
        forbidden: ArrayLike | None = None,
        cutoff: float = math.inf,
        effort: float = math.inf,
        expired: Expired = never,
    ) -> Completion:
        """Return the least cost of a route through each arc.  An arc above the gap is in no better solution.

        Costs above ``cutoff`` are reported as ``cutoff``, which saves time.  ``finished`` is False beyond ``effort``,
        see :meth:`enumerate`.  Other arguments are as in :meth:`price`.

        Raises
        ------
        ArrayError
            If the search is forward only.
        LabelLimitError
            If the search needs more than ``max_labels`` labels.
        """
        if self.forward_only:
            raise ArrayError("completion: expected no penalties, and a CustomResource with backward and joins")
        costs, usable = self._costs(arc_costs, forbidden)
        if not cutoff > -math.inf:
            raise ArrayError(f"cutoff: expected a number, got {cutoff!r}")
        task = self._task(costs, usable, rank_one, boxes, Clock(expired, effort), alike=True)
        cheapest = np.full(self.network.num_arcs, np.inf)
        try:
            ahead, back = bound_sides(task, cutoff)
            held, other = settle_both(task, ahead, back)
            found, finished = join(
                task, ahead, held, back, other, ahead.buckets, len(ahead.heads), math.inf, every=True
            )
        except (OutOfTimeError, OutOfEffortError):
            finished = False
        if not finished:
            return Completion(np.full(self.network.num_arcs, -np.inf), None, False)
        cheapest[ahead.numbers] = cutoff  # arcs without routes: all paths were dropped by cost
        for cost, _, _, arc in found:
            cheapest[arc] = min(cost, cutoff)
        return Completion(cheapest, float(cheapest.min(initial=math.inf)), True)

    def enumerate(
        self,
        arc_costs: ArrayLike,
        gap: float,
        *,
        limit: int = 1_000_000,
        rank_one: RankOneDuals | None = None,
        boxes: BoxDuals | None = None,
        forbidden: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        effort: float = math.inf,
        expired: Expired = never,
    ) -> Routes:
        """Return all elementary routes below a gap, for each vertex set only the one with least ``costs``.

        Bounds from a backward search with this object's neighbourhoods drop paths that cannot become cheap enough.
        Other arguments are as in :meth:`price`.

        Parameters
        ----------
        gap : find only routes below this cost
        limit : most routes
        costs : arc costs that compare routes with the same vertices, or alternatives; by default ``arc_costs``
        effort : limit on label extensions and comparisons; 1e8 take one or two seconds

        Returns
        -------
        Routes
            Without a bound; ``finished`` is False if a limit was reached.
        """
        if self.has_penalties:
            raise ArrayError("enumerate: expected resources without penalties")
        reduced, usable = self._costs(arc_costs, forbidden)
        limit = as_integer(limit, "limit", low=0)
        compared = reduced if costs is None else as_floats(costs, "costs", shape=reduced.shape)
        clock = Clock(expired, effort)
        try:
            bounds = completion_bounds(self._task(reduced, usable, rank_one, boxes, clock, alike=True), gap)
            elementary = self.with_neighbourhoods("elementary")._task(reduced, usable, rank_one, boxes, clock)
            found, finished, labels = list_routes(elementary, compared, bounds, gap, limit)
        except (OutOfTimeError, OutOfEffortError, LabelLimitError):
            return routes_from_arcs([], self.network.tails, self.network.heads, np.zeros(0), None, False, 0)
        classes = self.rules.classes
        return assemble(found, self.network, reduced, rank_one, boxes, None, finished, labels, limit, classes)

    # --- data of the kernels -----------------------------------------------------------------------------------------

    def _set_neighbourhoods(self, neighbourhoods: ArrayLike | str | None, cycle: int) -> None:
        network, mine, rules = self.network, self._limits, self.rules
        matrix = neighbour_sets.as_matrix(network, neighbourhoods, rules)
        inner = np.setdiff1d(np.arange(network.num_vertices), [network.source, network.sink])
        self.elementary = bool(matrix[np.ix_(inner, inner)].all())
        if not self.elementary and (self.custom is None or self.custom.order is None):
            self._limits = mine = bounded(network, mine, remembered=neighbourhoods is not None or cycle > 0)
        self.neighbourhoods = matrix
        # Any vertices may be the last ones, so none share bits.  There are at most as many as vertices.
        cycle = min(cycle, max(len(inner), 2))
        bits = neighbour_sets.bits(
            neighbour_sets.validate(network, neighbour_sets.complete(network), rules) if cycle else matrix,
            rules.classes,
        )
        bits = np.tile(bits, max(cycle - 1, 1))
        self._ahead = direction_of(network, matrix, bits, rules, self.custom, mine, forwards=True, cycle=cycle)
        self._back = direction_of(
            network, matrix, bits, rules, self.custom, mine.reversed(network.sink), forwards=False, cycle=cycle
        )
        self._mirror = None if self.has_penalties else find_mirror(network, mine, self.custom, rules)

    def _task(
        self, costs: Floats, usable: Mask, rank_one: RankOneDuals | None, boxes: BoxDuals | None, clock: Clock,
        *, exact: bool = True, alike: bool = False,
    ) -> Task:  # fmt: skip
        """Return a task; ``alike``: dominating paths have the same open requests, for bounds by arc or vertex."""
        network, rules, ahead, back = self.network, self.rules, self._ahead, self._back
        cuts, charged = fields(rank_one, network.num_vertices), lay_out(boxes, network, ahead.own.shape[1])
        if charged.given:
            costs = np.where(network.tails == network.source, costs + charged.given, costs)
        mirror = with_costs(self._mirror, network, costs, usable)
        requests = None
        if len(rules.pickups):
            requests = requests_of(
                network, rules, ahead, back, costs, usable, cuts, charged, exact=exact,
                alike=alike or self.custom is not None or self.has_penalties, backwards=self.elementary,
                returns=not self.neighbourhoods.any(),
            )  # fmt: skip
        return Task(
            network, self.neighbourhoods, rules, requests, self.custom, ahead, back, mirror, self.both,
            self.max_labels, costs, usable, cuts, charged, clock,
        )  # fmt: skip

    def _costs(self, arc_costs: ArrayLike, forbidden: ArrayLike | None) -> tuple[Floats, Mask]:
        network = self.network
        costs = as_floats(arc_costs, "arc_costs", shape=(network.num_arcs,))
        closed = self._limits.closed
        usable = ~(closed[network.tails] | closed[network.heads])
        if forbidden is not None:
            usable &= ~as_booleans(forbidden, "forbidden", shape=(network.num_arcs,))
        return costs, usable
