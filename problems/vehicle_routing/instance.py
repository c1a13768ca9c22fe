"""Instances of vehicle routing: distances, demands, time windows, and the check of routes."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.core.numbers import to_integer
from colgen.core.tolerances import ROUNDING

Route: TypeAlias = tuple[int, ...]
"""The customers of one vehicle in visiting order, without the depot."""

LARGEST = 2**40
"""Limit on distances, times and demands; floats represent sums over a route exactly."""

_DECIMALS = 4
"""Data with more decimals is treated as unrounded."""


@dataclass(frozen=True)
class RoutingInstance:
    """A vehicle routing problem with one depot and identical vehicles, with or without time windows.

    Location 0 is the depot, and locations 1 to n are the customers.

    Parameters
    ----------
    distances
        d_ij ≥ 0 from location i to j, one row per location.  If there are time windows, these are also travel times.
    demands
        One integer q_i per location: 0 for the depot, 0 to the capacity for a customer.
    capacity
        Capacity of each vehicle, an integer.
    windows
        ``(ready, due)`` for each location.  Service begins in this interval; a vehicle that arrives early waits.  The
        depot's window gives the earliest departure and the latest return.  None: no time windows.
    service
        Service time at each location; None: all are 0.
    vehicles
        Maximum number of routes; None: the number of customers.
    places
        Coordinates, used for pictures.
    reading
        How an ambiguous file was interpreted, in a few words.

    Raises
    ------
    InputError
        If the data is invalid, or a customer cannot be served in time.
    """

    distances: tuple[tuple[float, ...], ...]
    demands: tuple[int, ...]
    capacity: int
    windows: tuple[tuple[float, float], ...] | None = None
    service: tuple[float, ...] | None = None
    vehicles: int | None = None
    places: tuple[tuple[float, float], ...] | None = None
    name: str = ""
    reading: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        self._check_matrix()
        count = len(self.distances)
        demands = tuple(to_integer(q, "each of the demands") for q in self._per_location("demands", count))
        object.__setattr__(self, "demands", demands)
        object.__setattr__(self, "capacity", to_integer(self.capacity, "the capacity"))
        if not 1 <= self.capacity <= LARGEST:
            raise InputError(f"the capacity must be 1 to 2^40, not {self.capacity}")
        if demands[0]:
            raise InputError(f"the demand of the depot must be 0, not {demands[0]}")
        for i, q in enumerate(demands[1:], 1):
            if not 0 <= q <= self.capacity:
                raise InputError(f"the demand of customer {i} must be 0 to {self.capacity} (the capacity), not {q}")
        if self.vehicles is not None:
            object.__setattr__(self, "vehicles", to_integer(self.vehicles, "the number of vehicles"))
            if self.vehicles < 1:
                raise InputError(f"the number of vehicles must be at least 1, not {self.vehicles}")
        if self.places is not None:
            places = tuple(_pair(place, "each of the places") for place in self._per_location("places", count))
            object.__setattr__(self, "places", places)
        self._check_times(count)

    def _per_location(self, field: str, count: int) -> list[Any]:
        values = list(getattr(self, field))
        if len(values) != count:
            raise InputError(f"expected {count} {field}, one per location, not {len(values)}")
        return values

    def _check_matrix(self) -> None:
        try:
            array = np.array(self.distances, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("the distances must be numbers, one row per location, rows of equal length") from None
        if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
            raise InputError(f"the distances must be a square matrix over at least 2 locations, not {array.shape}")
        if not (np.isfinite(array).all() and (array >= 0.0).all() and (array <= LARGEST).all()):
            raise InputError("each of the distances must be a number from 0 to 2^40")
        np.fill_diagonal(array, 0.0)
        object.__setattr__(self, "distances", tuple(map(tuple, array.tolist())))

    def _check_times(self, count: int) -> None:
        if self.windows is None:
            if self.service is not None:
                raise InputError("service times have no effect without time windows: remove them or add windows")
            return
        windows = tuple(_pair(window, "each of the time windows") for window in self._per_location("windows", count))
        object.__setattr__(self, "windows", windows)
        service = (0.0,) * count if self.service is None else tuple(map(float, self._per_location("service", count)))
        object.__setattr__(self, "service", service)
        for i, (ready, due) in enumerate(windows):
            if not 0.0 <= ready <= due <= LARGEST:
                raise InputError(f"the time window of location {i} is {ready:g} to {due:g}: expected 0 ≤ ready ≤ due")
            if not 0.0 <= service[i] <= LARGEST:
                raise InputError(f"the service time of location {i} must be a number from 0 to 2^40")
        for i in self.customers:
            if self._lateness((i,)) is not None:
                raise InputError(f"customer {i} cannot be served in time by any vehicle: {self._lateness((i,))}")

    # --- properties --------------------------------------------------------------------------------------------------

    @property
    def num_customers(self) -> int:
        """Number of customers."""
        return len(self.demands) - 1

    @property
    def customers(self) -> range:
        """The customers' numbers, from 1."""
        return range(1, len(self.demands))

    @cached_property
    def decimals(self) -> int | None:
        """Number of decimals of distances and times, with which sums use integers; None if there are more than 4."""
        numbers = np.concatenate([np.ravel(self.distances), np.ravel(self.windows or 0.0), np.ravel(self.service or 0)])
        return next((k for k in range(_DECIMALS + 1) if np.array_equal(np.round(numbers, k), numbers)), None)

    @cached_property
    def ticks(self) -> float:
        """Factor that makes distances and times integers; 1 for unrounded data."""
        return 1.0 if self.decimals is None else float(10**self.decimals)

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """Distances in ticks, shape (locations, locations)."""
        return self._in_ticks(self.distances)

    @cached_property
    def window_array(self) -> NDArray[np.float64]:
        """Time windows in ticks, shape (locations, 2); [0, infinity] without windows."""
        if self.windows is None:
            return np.tile([0.0, math.inf], (len(self.demands), 1))
        return self._in_ticks(self.windows)

    @cached_property
    def latest(self) -> NDArray[np.float64]:
        """Latest start of service in ticks, shape (locations,).

        This includes half of :attr:`rounding`, so that the order of summation does not change feasibility.
        """
        due: NDArray[np.float64] = self.window_array[:, 1] + 0.5 * self.rounding * self.ticks
        return due

    @cached_property
    def service_array(self) -> NDArray[np.float64]:
        """Service times in ticks, shape (locations,)."""
        return np.zeros(len(self.demands)) if self.service is None else self._in_ticks(self.service)

    def _in_ticks(self, values: Any) -> NDArray[np.float64]:
        array = np.array(values, dtype=np.float64) * self.ticks
        array = array if self.decimals is None else np.rint(array)
        array.setflags(write=False)
        return array

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether each route and its reverse have the same cost and feasibility."""
        return self.windows is None and bool(np.array_equal(self.matrix, self.matrix.T))

    @property
    def fewest(self) -> int:
        """The smallest number of vehicles whose total capacity covers all demands, at least 1."""
        return max(-(-sum(self.demands) // self.capacity), 1)

    @property
    def most(self) -> int:
        """The maximum number of routes in a solution."""
        return min(self.num_customers, self.vehicles or self.num_customers)

    def first(self, customers: int) -> RoutingInstance:
        """Return the instance restricted to the first ``customers`` customers."""
        if not 1 <= customers <= self.num_customers:
            raise InputError(f"expected 1 to {self.num_customers} customers, not {customers}")
        end = customers + 1
        return RoutingInstance(
            tuple(row[:end] for row in self.distances[:end]),
            self.demands[:end],
            self.capacity,
            None if self.windows is None else self.windows[:end],
            None if self.service is None else self.service[:end],
            self.vehicles,
            None if self.places is None else self.places[:end],
            self.name and f"{self.name}.{customers}",
            self.reading,
        )

    # --- routes ------------------------------------------------------------------------------------------------------

    def length(self, route: Sequence[int]) -> float:
        """Return the distance of a route, including the legs from and to the depot."""
        return self.total([route])

    def total(self, routes: Iterable[Sequence[int]]) -> float:
        """Return the total distance of routes, exact if the data has few decimals."""
        steps = (pair for route in routes for pair in itertools.pairwise((0, *route, 0)))
        if self.decimals is None:
            return math.fsum(self.distances[i][j] for i, j in steps)
        return sum(round(self.distances[i][j] * self.ticks) for i, j in steps) / self.ticks

    def times(self, route: Sequence[int]) -> list[float]:
        """Return the earliest start of each service and the return time; late arrivals are allowed."""
        windows, service, now, at, found = self.window_array, self.service_array, self.window_array[0, 0], 0, []
        for i in (*route, 0):
            now = max(now + service[at] + self.matrix[at, i], windows[i, 0])
            found.append(float(now) / self.ticks)
            at = i
        return found

    @property
    def rounding(self) -> float:
        """Tolerance for lateness, because sums of unrounded numbers depend on the order of summation.

        It covers only rounding errors.  A relative tolerance of 1e-9 would be 0.1 for a horizon of 1e8.
        """
        if self.decimals is not None or self.windows is None:
            return 0.0
        return ROUNDING * len(self.demands) * self.windows[0][1]

    def _lateness(self, route: Sequence[int]) -> str | None:
        """Return a message about the first violated time window, or None."""
        if self.windows is None:
            return None
        rounding = self.rounding
        for i, begin in zip((*route, 0), self.times(route), strict=True):
            if begin > self.windows[i][1] + rounding:
                where = f"customer {i} is reached" if i else "the depot is reached again"
                return f"{where} at {begin:g}, due {self.windows[i][1]:g}"
        return None

    def fault(self, route: Sequence[int]) -> str | None:
        """Return why a route violates capacity or time windows, or None; it may visit a customer twice."""
        load = sum(self.demands[i] for i in route)
        if load > self.capacity:
            return f"the load is {load}, the capacity {self.capacity}"
        return self._lateness(route)

    def check(self, answer: Iterable[Sequence[int]]) -> float:
        """Return the total distance of routes after validating them against the data.

        Raises
        ------
        ValueError
            If the routes are infeasible; the message gives the reason.
        """
        try:
            routes = [tuple(operator.index(i) for i in route) for route in answer]
        except TypeError as error:
            raise ValueError(f"expected routes of customers: {error}") from None
        for route in routes:
            if not route:
                raise ValueError("expected routes with at least one customer, one is empty")
            for i in route:
                if not 1 <= i <= self.num_customers:
                    raise ValueError(f"route {route} visits {i}, expected customers 1 to {self.num_customers}")
            fault = self.fault(route)
            if fault is not None:
                raise ValueError(f"route {route} is infeasible: {fault}")
        visits = np.bincount([i for route in routes for i in route], minlength=self.num_customers + 1)
        for i in self.customers:
            if visits[i] != 1:
                raise ValueError(f"customer {i} is visited {visits[i]} times, expected once")
        if len(routes) > self.most:
            raise ValueError(f"there are {len(routes)} routes, expected at most {self.most}")
        return self.total(routes)


def _pair(value: object, what: str) -> tuple[float, float]:
    try:
        pair = tuple(map(float, value))  # type: ignore[call-overload]
        first, second = pair
    except (TypeError, ValueError):
        raise InputError(f"{what} must be two numbers, not {repr(value)[:40]}") from None
    if not (math.isfinite(first) and math.isfinite(second)):
        raise InputError(f"{what} must be two finite numbers, not {repr(value)[:40]}")
    return first, second


# --- distances -------------------------------------------------------------------------------------------------------

CONVENTIONS = ("truncated", "whole", "exact")
"""Roundings of Euclidean distances: down to one decimal (Solomon), to the nearest integer (TSPLIB), or none."""


def euclidean(places: Sequence[tuple[float, float]], convention: str = "exact") -> tuple[tuple[float, ...], ...]:
    """Return the matrix of distances between places; ``convention`` is one of :data:`CONVENTIONS`."""
    if convention not in CONVENTIONS:
        raise InputError(f"distances: expected one of {', '.join(CONVENTIONS)}, not {convention!r}")
    for i, place in enumerate(places):
        if not all(abs(coordinate) <= LARGEST for coordinate in place):  # NaN fails too
            raise InputError(f"the coordinates of location {i} must be numbers of at most 2^40, not {repr(place)[:40]}")
    return tuple(tuple(_distance(a, b, convention) for b in places) for a in places)


def _distance(one: tuple[float, float], other: tuple[float, float], convention: str) -> float:
    dx, dy = one[0] - other[0], one[1] - other[1]
    if convention == "whole":
        return float(math.floor(math.hypot(dx, dy) + 0.5))
    if convention == "exact":
        return math.hypot(dx, dy)
    if dx.is_integer() and dy.is_integer():  # integer arithmetic: 10 · 5.1 is below 51 in floating point
        return math.isqrt(100 * (int(dx) ** 2 + int(dy) ** 2)) / 10.0
    return math.floor(10.0 * math.hypot(dx, dy)) / 10.0


# --- generators ------------------------------------------------------------------------------------------------------


def random(
    seed: int,
    *,
    customers: int = 12,
    stops: float = 4.0,
    windows: bool = True,
    convention: str = "truncated",
    side: int = 100,
    horizon: int = 400,
) -> RoutingInstance:
    """Return a random instance with uniformly distributed customers in a square and the depot in its centre.

    Parameters
    ----------
    stops
        Approximate number of customers per route that the capacity allows.
    windows
        Whether to draw time windows.  A vehicle that serves a single customer can always meet its window.
    """
    rng = np.random.default_rng(seed)
    places = [(side / 2.0, side / 2.0), *map(tuple, rng.integers(0, side + 1, (customers, 2)).astype(float).tolist())]
    demands = rng.integers(1, 10, customers).tolist()
    capacity = max(max(demands), round(5.0 * stops))
    distances = euclidean(places, convention)
    name = f"random-{customers}-{seed}"
    if not windows:
        return RoutingInstance(distances, (0, *demands), capacity, places=tuple(places), name=name)
    times: list[tuple[float, float]] = [(0.0, float(horizon))]
    for i in range(1, customers + 1):
        first, last = math.ceil(distances[0][i]), horizon - 10 - math.ceil(distances[i][0])
        centre, half = int(rng.integers(first, last + 1)), int(rng.integers(10, horizon // 5))
        times.append((float(max(centre - half, first)), float(min(centre + half, last))))
    service = (0.0, *[10.0] * customers)
    return RoutingInstance(distances, (0, *demands), capacity, tuple(times), service, places=tuple(places), name=name)
