"""The network that all pricing problems of an instance share, and the arcs of routes in it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from colgen.problems.vehicle_routing.instance import Route, RoutingInstance
from colgen.solvers.paths.labelling import Labelling, Network, Resource, nearest

Arc = tuple[int, int]
"""Two locations; 0 is the depot at either end."""

_LONG = 10
"""Visits of a walk, divided by the number of customers: if resources allow more, visits become a resource."""


class RouteLayout:
    """The network of an instance: a vertex per location, source 0, sink n + 1, and the feasible arcs.

    Parameters
    ----------
    neighbours
        Size of ng-neighbourhoods; None: routes are elementary.
    """

    def __init__(self, instance: RoutingInstance, neighbours: int | None = 8) -> None:
        self.instance = instance
        self.neighbours = neighbours

    @cached_property
    def network(self) -> Network:
        """The network over the arcs that some feasible route can use."""
        n, q = self.instance.num_customers, np.array(self.instance.demands)
        tails, heads = map(np.ravel, np.indices((n + 1, n + 1)))
        keep = tails != heads
        keep &= q[tails] + q[heads] <= self.instance.capacity
        windows, service, d = self.instance.window_array, self.instance.service_array, self.instance.matrix
        least = service[:, None] + d  # shortest times over all paths: the triangle inequality may fail
        for k in range(n + 1):
            least = np.minimum(least, least[:, [k]] + least[[k], :])
        first = np.maximum(windows[0, 0] + least[0], windows[:, 0])
        first[0] = windows[0, 0]
        then = np.maximum(first[:, None] + service[:, None] + d, windows[None, :, 0])
        in_time = then <= self.instance.latest[None, :]
        home = then + least[None, :, 0]
        in_time &= (home <= self.instance.latest[0]) | (np.arange(n + 1) == 0)
        keep &= in_time[tails, heads]
        tails, heads = tails[keep], heads[keep]
        return Network(n + 2, tails, np.where(heads == 0, n + 1, heads), 0, n + 1)

    @cached_property
    def heads(self) -> NDArray[np.int64]:
        """The head of each arc, 0 for the depot."""
        heads: NDArray[np.int64] = np.where(self.network.heads == self.network.sink, 0, self.network.heads)
        return heads

    @cached_property
    def tails(self) -> NDArray[np.int64]:
        return np.asarray(self.network.tails, dtype=np.int64)

    @cached_property
    def number(self) -> NDArray[np.int64]:
        """Arc numbers by tail and head, -1 without an arc."""
        size = self.instance.num_customers + 1
        numbers = np.full((size, size), -1, dtype=np.int64)
        numbers[self.tails, self.heads] = np.arange(len(self.tails))
        return numbers

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Distance of each arc, in the instance's units."""
        return np.asarray(self.instance.matrix[self.tails, self.heads] / self.instance.ticks)

    @cached_property
    def spans(self) -> NDArray[np.float64]:
        """Ticks from the start of service at an arc's tail to the arrival at its head."""
        return np.asarray(self.instance.service_array[self.tails] + self.instance.matrix[self.tails, self.heads])

    def resources(self) -> list[Resource]:
        """Return the resources: load, time if there are windows, visits if neither limits the length of walks."""
        instance = self.instance
        demands = np.array(instance.demands, dtype=np.float64)
        found = [Resource(demands[self.heads], float(instance.capacity), name="load")]
        if instance.windows is not None:
            ready = instance.window_array[:, 0]
            early, late = (np.append(times, times[0]) for times in (ready, instance.latest))
            found.insert(0, Resource(self.spans, late, early, start=float(ready[0]), name="time"))
        if self.neighbours is not None and self._longest_walk > _LONG * instance.num_customers:
            # Walks could be very long or unbounded; elementary routes have at most n visits.
            found.append(Resource(self.heads > 0, float(instance.num_customers), name="visits"))
        return found

    @cached_property
    def _longest_walk(self) -> float:
        """An upper bound on the visits of a walk, from the least consumption of any arc."""
        instance, inner = self.instance, (self.tails > 0) & (self.heads > 0)
        if not inner.any():
            return 1.0
        rooms = [(float(instance.capacity), float(np.array(instance.demands)[self.heads[inner]].min()))]
        if instance.windows is not None:
            horizon = instance.latest[1:].max() - instance.window_array[1:, 0].min()
            rooms.append((float(horizon), float(self.spans[inner].min())))
        return 1.0 + min(room / least if least > 0 else math.inf for room, least in rooms)

    @cached_property
    def solver(self) -> Labelling:
        elementary = Labelling(self.network, self.resources())
        if self.neighbours is None or self._longest_walk <= 1.0:
            return elementary
        return elementary.with_neighbourhoods(nearest(self.network, self.distances, self.neighbours))

    # --- routes ------------------------------------------------------------------------------------------------------

    def canonical(self, route: Sequence[int]) -> Route:
        """Return the smaller of a route and its reverse if the instance is symmetric, else the route."""
        forwards = tuple(route)
        return min(forwards, forwards[::-1]) if self.instance.is_symmetric else forwards

    def lengths(self, routes: Sequence[Route]) -> NDArray[np.float64]:
        """Return the distance of each route, equal to :meth:`RoutingInstance.length`."""
        if self.instance.decimals is None or not routes:
            return np.array([self.instance.length(route) for route in routes])
        stops = np.array([i for route in routes for i in (0, *route)], dtype=np.int64)
        starts = np.cumsum([0, *(len(route) + 1 for route in routes)])[:-1]
        then = np.append(stops[1:], 0)  # a route ends where the next one starts
        return np.asarray(np.add.reduceat(self.instance.matrix[stops, then], starts) / self.instance.ticks)

    def arcs(self, route: Sequence[int]) -> list[int]:
        """Return the arc numbers of a route."""
        return [int(self.number[i, j]) for i, j in itertools.pairwise((0, *route, 0))]
