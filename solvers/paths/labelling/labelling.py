"""Shortest paths with resource constraints, by labelling."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from colgen.solvers.arrays import ArrayError, as_booleans, as_floats, as_integer
from colgen.solvers.paths.labelling import neighbourhoods as neighbour_sets
from colgen.solvers.paths.labelling.attempts import exact, heuristic
from colgen.solvers.paths.labelling.boxes import BoxDuals, boxed
from colgen.solvers.paths.labelling.clock import Clock, LabelLimitError, OutOfEffortError, OutOfTimeError
from colgen.solvers.paths.labelling.completions import completion_bounds, narrowed
from colgen.solvers.paths.labelling.custom import CustomResource
from colgen.solvers.paths.labelling.directions import direction as direction_of
from colgen.solvers.paths.labelling.layout import Floats
from colgen.solvers.paths.labelling.listing import listed
from colgen.solvers.paths.labelling.mirror import reflecting, reflection
from colgen.solvers.paths.labelling.neighbourhoods import Mask
from colgen.solvers.paths.labelling.network import Network, cheapest_arcs
from colgen.solvers.paths.labelling.rank_one import RankOneDuals, fields
from colgen.solvers.paths.labelling.resources import Resource, limits, require_progress
from colgen.solvers.paths.labelling.routes import Completion, Routes, assembled, gathered
from colgen.solvers.paths.labelling.runs import both_whole, joined
from colgen.solvers.paths.labelling.tabu import tabu
from colgen.solvers.paths.labelling.task import Task
from colgen.solvers.stopping import Expired, never

Mode = Literal["exact", "relaxed", "sparse", "tabu"]


class Labelling:
    """The shortest path problem with resource constraints on a network: elementary, with neighbourhoods, or relaxed.

    Nothing is kept between calls: one object may be used by several threads.

    Parameters
    ----------
    network, resources
        Where paths lead, and what they consume.
    neighbourhoods
        ``"elementary"``; or by two vertices i, j whether a path at i remembers that it visited j, and must not visit it
        again from there (ng-routes); or None: nothing is remembered.
    cycle
        With ``neighbourhoods=None``: a path has no cycle of so many arcs or fewer (k-cycle elimination).  2: it never
        goes straight back to the vertex that it has just come from; 0: it may.
    direction
        ``"both"`` joins paths from the source with paths to the sink where the two searches meet.
    max_labels
        Labels that a search may hold.

    Raises
    ------
    ArrayError
        If the resources do not fit the network, or paths could become longer and longer.
    """

    def __init__(
        self,
        network: Network,
        resources: Sequence[Resource | CustomResource],
        *,
        neighbourhoods: ArrayLike | Literal["elementary"] | None = "elementary",
        cycle: int = 0,
        direction: Literal["both", "forward"] = "both",
        max_labels: int = 20_000_000,
    ) -> None:
        if direction not in ("both", "forward"):
            raise ArrayError(f"direction: expected 'both' or 'forward', got {direction!r}")
        cycle = as_integer(cycle, "cycle", low=0)
        if cycle == 1:
            raise ArrayError("cycle: expected 0 or at least 2, since there are no loops, got 1")
        if cycle and neighbourhoods is not None:
            raise ArrayError("cycle: expected neighbourhoods=None beside it, which remember no less")
        self.network = network
        self.max_labels = as_integer(max_labels, "max_labels", low=1)
        own = [resource for resource in resources if isinstance(resource, CustomResource)]
        if len(own) > 1:
            raise ArrayError(f"resources: expected at most one CustomResource, got {len(own)}")
        self.custom = own[0] if own else None
        self.both = direction == "both" and (self.custom is None or self.custom.both)
        if self.custom is not None:
            self.custom.check_data(network.num_arcs, network.num_vertices)
        self._limits = limits(network, tuple(each for each in resources if isinstance(each, Resource)))
        self._set_neighbourhoods(neighbourhoods, cycle)

    def with_neighbourhoods(self, neighbourhoods: ArrayLike | Literal["elementary"] | None) -> Labelling:
        """The same problem with another memory."""
        other = copy.copy(self)
        other._set_neighbourhoods(neighbourhoods, 0)
        return other

    def enlarged(self, routes: Routes, limit: int | None = None) -> Mask:
        """Neighbourhoods that forbid the cycles of routes as well: everybody on a cycle remembers where it began.

        Parameters
        ----------
        limit
            A cycle is left alone if it would make a neighbourhood larger than this.
        """
        return neighbour_sets.enlarged(self.neighbourhoods, [routes.route(k) for k in range(len(routes))], limit)

    # --- what is asked -----------------------------------------------------------------------------------------------

    def price(
        self,
        arc_costs: ArrayLike,
        *,
        rank_one: RankOneDuals | None = None,
        boxes: BoxDuals | None = None,
        forbidden: ArrayLike | None = None,
        mode: Mode = "exact",
        starts: Iterable[Sequence[int]] = (),
        routes: int = 1,
        cutoff: float = math.inf,
        expired: Expired = never,
    ) -> Routes:
        """The cheapest routes.

        Parameters
        ----------
        arc_costs
            One number an arc.
        rank_one
            Cuts whose dual values routes pay for.
        boxes
            What routes pay, or earn, for whom they visit and whom they do not.
        forbidden
            Whether each arc may not be used.
        mode
            ``"exact"``; ``"relaxed"``: of the paths to a vertex only those that are cheap for what they consume of the
            critical resource are kept; ``"sparse"``: that, over the cheapest arcs of each vertex; ``"tabu"``: a local
            search among elementary routes.  All but the first prove nothing, and are quick.
        starts
            Routes, by their vertices, that the local search begins with, besides those of one vertex.
        routes
            How many, at most: the cheapest one, and others that end differently; no two with the same vertices.
        cutoff
            Only routes cheaper than this are looked for.
        expired
            Whether to end with what is found, asked some ten times a second.

        Raises
        ------
        LabelLimitError
            If there are more labels than this object may hold.
        """
        if mode not in ("exact", "relaxed", "sparse", "tabu"):
            raise ArrayError(f"mode: expected 'exact', 'relaxed', 'sparse' or 'tabu', got {mode!r}")
        costs, usable = self._costs(arc_costs, forbidden)
        wanted = as_integer(routes, "routes", low=1)
        if not cutoff > -math.inf:
            raise ArrayError(f"cutoff: expected a number, got {cutoff!r}")
        if mode == "sparse":
            usable = usable & cheapest_arcs(self.network, costs, usable)
        task = self._task(costs, usable, rank_one, boxes, Clock(expired))
        if mode == "tabu":
            found, finished, labels = tabu(task, starts, wanted, cutoff)
        else:
            attempt = heuristic if mode != "exact" else exact
            found, finished, labels = attempt(task, wanted, cutoff)
        bound = None
        if mode == "exact" and finished:
            bound = min(cutoff, min((cost for cost, _ in found), default=math.inf))
        return assembled(found, self.network, costs, rank_one, boxes, bound, finished, labels, wanted)

    def completion(
        self,
        arc_costs: ArrayLike,
        *,
        rank_one: RankOneDuals | None = None,
        boxes: BoxDuals | None = None,
        forbidden: ArrayLike | None = None,
        cutoff: float = math.inf,
        expired: Expired = never,
    ) -> Completion:
        """The least cost of a route through each arc: an arc for which it is above the gap is in no better solution.

        Parameters
        ----------
        arc_costs, rank_one, boxes, forbidden, expired
            As of :meth:`price`.
        cutoff
            Of an arc whose routes cost this or more it is enough to say so, which is sooner known.

        Raises
        ------
        ArrayError
            If there is a resource that is extended forward only.
        LabelLimitError
            If there are more labels than this object may hold.
        """
        if self.custom is not None and not self.custom.both:
            raise ArrayError("completion: expected a CustomResource with backward and joins")
        costs, usable = self._costs(arc_costs, forbidden)
        if not cutoff > -math.inf:
            raise ArrayError(f"cutoff: expected a number, got {cutoff!r}")
        task = self._task(costs, usable, rank_one, boxes, Clock(expired))
        cheapest = np.full(self.network.num_arcs, np.inf)
        try:
            ahead, back = narrowed(task, cutoff)
            held, other = both_whole(task, ahead, back)
            found, finished = joined(
                task, ahead, held, back, other, ahead.buckets, len(ahead.heads), math.inf, every=True
            )
        except OutOfTimeError:
            finished = False
        if not finished:
            return Completion(np.full(self.network.num_arcs, -np.inf), None, False)
        cheapest[ahead.numbers] = cutoff  # where nothing is left, all was dropped for its cost
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
        """All elementary routes cheaper than a gap; of those with the same vertices the one of least ``costs``.

        Paths are dropped that cannot become cheap enough, by bounds from a search backwards with the neighbourhoods of
        this object.

        Parameters
        ----------
        arc_costs, rank_one, boxes, forbidden, expired
            As of :meth:`price`.
        gap
            What routes must cost less than.
        limit
            Routes at most.
        costs
            What the routes with the same vertices are compared by; ``arc_costs`` by default.
        effort
            Arcs that labels are extended over, and pairs of labels compared, at most: 1e8 of them are a second or two.

        Returns
        -------
        Routes
            Without a bound; ``finished`` is False if there are more routes than the limit, or time or effort were over.
        """
        reduced, usable = self._costs(arc_costs, forbidden)
        limit = as_integer(limit, "limit", low=0)
        compared = reduced if costs is None else as_floats(costs, "costs", shape=reduced.shape)
        if not effort > 0:
            raise ArrayError(f"effort: expected a number above 0, got {effort!r}")
        clock = Clock(expired, effort)
        try:
            bounds = completion_bounds(self._task(reduced, usable, rank_one, boxes, clock), gap)
            elementary = self.with_neighbourhoods("elementary")._task(reduced, usable, rank_one, boxes, clock)
            found, finished, labels = listed(elementary, compared, bounds, gap, limit)
        except (OutOfTimeError, OutOfEffortError, LabelLimitError):
            return gathered([], self.network.tails, self.network.heads, np.zeros(0), None, False, 0)
        return assembled(found, self.network, reduced, rank_one, boxes, None, finished, labels, limit)

    # --- what the kernels are told -----------------------------------------------------------------------------------

    def _set_neighbourhoods(self, neighbourhoods: ArrayLike | str | None, cycle: int) -> None:
        network, mine = self.network, self._limits
        matrix = neighbour_sets.as_matrix(network, neighbourhoods)
        inner = np.setdiff1d(np.arange(network.num_vertices), [network.source, network.sink])
        self.elementary = bool(matrix[np.ix_(inner, inner)].all())
        if not self.elementary and (self.custom is None or self.custom.order is None):
            require_progress(network, mine)
        self.neighbourhoods = matrix
        # The last vertices can be any: no bits can be shared.  There are no more of them than there are vertices.
        cycle = min(cycle, max(len(inner), 2))
        own = neighbour_sets.bits(
            neighbour_sets.checked(network, neighbour_sets.complete(network)) if cycle else matrix
        )
        self._own = np.tile(own, max(cycle - 1, 1))
        self._ahead = direction_of(network, matrix, self._own, self.custom, mine, forwards=True, cycle=cycle)
        self._back = direction_of(
            network, matrix, self._own, self.custom, mine.reversed(network.sink), forwards=False, cycle=cycle
        )
        self._mirror = reflection(network, mine, self.custom)

    def _task(
        self, costs: Floats, usable: Mask, rank_one: RankOneDuals | None, boxes: BoxDuals | None, clock: Clock
    ) -> Task:
        cuts, bounded = fields(rank_one, self.network.num_vertices), boxed(boxes, self.network, self._own.shape[1])
        own = np.hstack([self._own, bounded.own]) if bounded.own.shape[1] else self._own
        if bounded.given:
            costs = np.where(self.network.tails == self.network.source, costs + bounded.given, costs)
        mirror = reflecting(self._mirror, self.network, costs, usable)
        return Task(
            self.network, self.neighbourhoods, own, self.custom, self._ahead, self._back, mirror, self.both,
            self.max_labels, costs, usable, cuts, bounded, clock,
        )  # fmt: skip

    def _costs(self, arc_costs: ArrayLike, forbidden: ArrayLike | None) -> tuple[Floats, Mask]:
        network = self.network
        costs = as_floats(arc_costs, "arc_costs", shape=(network.num_arcs,))
        closed = self._limits.closed
        usable = ~(closed[network.tails] | closed[network.heads])
        if forbidden is not None:
            usable &= ~as_booleans(forbidden, "forbidden", shape=(network.num_arcs,))
        return costs, usable
