"""Searches over a list of routes that contains all that matter."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from colgen.solvers.arrays import as_booleans, as_floats, as_integers, as_offsets
from colgen.solvers.paths.labelling.boxes import BoxDuals, validate
from colgen.solvers.paths.labelling.layout import Floats, Ints
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rank_one import RankOneDuals, coefficients
from colgen.solvers.paths.labelling.routes import Completion, Routes, routes_from_arcs
from colgen.solvers.stopping import Expired, never
from colgen.solvers.work import ENTRY, add_work

Counts = NDArray[np.int32]

_BLOCK = 10_000_000
"""Most coefficients of cuts that are computed at once."""


class RouteList:
    """A solver that examines each route of a list, with the searches of :class:`Labelling`.

    A search takes as long as a pass over the list, however many cuts there are.  Bounds hold for listed routes only.

    Parameters
    ----------
    network : the network
    starts : offsets of the routes in ``arcs``
    arcs : the arcs of each route in order; no route visits a vertex twice

    References
    ----------
    C. Contardo, R. Martinelli, *A new exact algorithm for the multi-depot vehicle routing problem under capacity and
    route length constraints*, Discrete Optimization 12 (2014), for pricing over a pool of listed routes.
    """

    def __init__(self, network: Network, starts: ArrayLike, arcs: ArrayLike) -> None:
        self.network = network
        self.arcs: Ints = as_integers(arcs, "arcs", shape=("arcs",), low=0, high=network.num_arcs - 1)
        self.starts: Ints = as_offsets(starts, "starts", total=len(self.arcs))
        size, lengths = len(self.starts) - 1, np.diff(self.starts)
        self._owners = np.repeat(np.arange(size), lengths)
        inner = np.ones(len(self.arcs), dtype=np.bool_)
        inner[self.starts[1:] - 1] = False
        self._visits: Ints = network.heads[self.arcs[inner]]
        self._visit_starts: Ints = self.starts - np.arange(size + 1)
        self._counted: dict[tuple[int, bytes, bytes], tuple[Counts, Counts]] = {}

    @cached_property
    def _visited(self) -> sparse.csr_array:
        """The vertices of each route, shape (routes, vertices); only boxes need it."""
        entries = np.ones(len(self._visits)), self._visits, self._visit_starts
        return sparse.csr_array(entries, shape=(len(self), self.network.num_vertices))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def price(
        self, arc_costs: ArrayLike, *, routes: int = 50, cutoff: float = math.inf, mode: str = "exact", **given: Any
    ) -> Routes:
        """Return the cheapest routes below a cutoff, and the least cost; every ``mode`` is exact."""
        costs = self._costs(arc_costs, **given)
        chosen = np.flatnonzero(costs < cutoff)
        if len(chosen) > routes:
            chosen = chosen[np.argpartition(costs[chosen], routes)[:routes]]
        bound = min(cutoff, float(costs.min(initial=math.inf)))
        return self._routes(chosen[np.argsort(costs[chosen], kind="stable")], costs, bound, finished=True)

    def completion(self, arc_costs: ArrayLike, *, cutoff: float = math.inf, **given: Any) -> Completion:
        """Return the least cost of a route through each arc, at most the cutoff but for forbidden arcs."""
        costs, forbidden = self._costs(arc_costs, **given), given.get("forbidden")
        cheapest = np.full(self.network.num_arcs, cutoff)
        np.minimum.at(cheapest, self.arcs, costs[self._owners])
        if forbidden is not None:
            cheapest[np.asarray(forbidden)] = math.inf
        return Completion(cheapest, float(costs.min(initial=math.inf)), True)

    def enumerate(
        self, arc_costs: ArrayLike, gap: float, *, limit: int = 1_000_000, costs: ArrayLike | None = None, **given: Any
    ) -> Routes:
        """Return the routes whose costs are at most ``gap``; none if they are more than ``limit``."""
        paid = self._costs(arc_costs, **given)
        chosen = np.flatnonzero(paid <= gap)
        if len(chosen) > limit:
            return self._routes(chosen[:0], paid, None, finished=False)
        return self._routes(chosen[np.argsort(paid[chosen], kind="stable")], paid, None, finished=True)

    def visit_sums(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return for each route the sum of its vertices' values, without source and sink."""
        sums = np.zeros(len(self), dtype=np.uint64)
        np.add.at(sums, np.repeat(np.arange(len(self)), np.diff(self._visit_starts)), values[self._visits])
        return sums

    # --- costs -------------------------------------------------------------------------------------------------------

    def _costs(
        self,
        arc_costs: ArrayLike,
        *,
        rank_one: RankOneDuals | None = None,
        boxes: BoxDuals | None = None,
        forbidden: ArrayLike | None = None,
        effort: float = math.inf,
        expired: Expired = never,
    ) -> Floats:
        """Return the cost of each route with cuts and boxes, infinity if it uses a forbidden arc."""
        of_arcs = as_floats(arc_costs, "arc_costs", shape=(self.network.num_arcs,))
        if forbidden is not None:
            closed = as_booleans(forbidden, "forbidden", shape=of_arcs.shape)
            of_arcs = np.where(closed, math.inf, of_arcs)
        entries = len(self.arcs)
        paid = np.add.reduceat(of_arcs[self.arcs], self.starts[:-1]) if len(self) else np.empty(0)
        if rank_one is not None:
            for (chosen, times), penalty in self._overflowing(RankOneDuals(*rank_one)):
                paid[chosen] += penalty * times
                entries += len(chosen)
        if boxes is not None:
            visited, unvisited, charges = validate(BoxDuals(*boxes), self.network)
            inside = self._visited @ visited.T.astype(np.float64) == visited.sum(axis=1)
            inside &= self._visited @ unvisited.T.astype(np.float64) == 0.0
            paid += np.where(inside, charges, 0.0).sum(axis=1)
        add_work(ENTRY * entries)
        return np.asarray(paid)

    def _overflowing(self, duals: RankOneDuals) -> list[tuple[tuple[Counts, Counts], float]]:
        """Return the routes with coefficients in each cut of nonzero penalty, the coefficients, and the penalty."""
        numerators = np.asarray(duals.numerators, dtype=np.int64)
        divisors, penalties = np.asarray(duals.denominators, dtype=np.int64), np.asarray(duals.penalties, dtype=float)
        memory = np.asarray(duals.memory, dtype=np.bool_) | (numerators > 0)
        used = np.flatnonzero(penalties).tolist()
        names = {k: (int(divisors[k]), numerators[k].tobytes(), memory[k].tobytes()) for k in used}
        missing = [k for k in used if names[k] not in self._counted]
        step = max(_BLOCK // max(len(self), 1), 1)
        for part in (missing[at : at + step] for at in range(0, len(missing), step)):
            cuts = RankOneDuals(numerators[part], divisors[part], memory[part], penalties[part])
            counts = coefficients(cuts, self._visit_starts, self._visits)
            add_work(ENTRY * len(self._visits) * len(part))
            for k, column in zip(part, counts.T, strict=True):
                chosen = np.flatnonzero(column)
                self._counted[names[k]] = chosen.astype(np.int32), column[chosen].astype(np.int32)
        return [(self._counted[names[k]], float(penalties[k])) for k in used]

    def _routes(self, chosen: Ints, costs: Floats, bound: float | None, *, finished: bool) -> Routes:
        paths = [self.arcs[self.starts[k] : self.starts[k + 1]] for k in chosen.tolist()]
        network = self.network
        return routes_from_arcs(paths, network.tails, network.heads, costs[chosen], bound, finished, 0)
