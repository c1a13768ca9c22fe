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
from colgen.core.numbers import as_whole
from colgen.core.tolerances import ROUNDING

Route: TypeAlias = tuple[int, ...]
"""The customers of one vehicle in the order of its visits; it starts and ends at the depot, which is not named."""

LARGEST = 2**40
"""Of distances, times and demands: sums over a route stay whole numbers that floats hold."""

_DECIMALS = 4
"""Data with more decimals than this is taken for unrounded."""


@dataclass(frozen=True)
class RoutingInstance:
    """A vehicle routing problem with one depot and equal vehicles, with time windows or without.

    Locations are numbered from 0, the depot, to n.

    Parameters
    ----------
    distances
        d_ij ≥ 0 from location i to j, one row a location; with time windows it is the time of travel as well.
    demands
        q_i, whole: 0 for the depot, 0 to the capacity for a customer.
    capacity
        Of each vehicle, whole.
    windows
        ``(ready, due)`` for each location: service begins in between, a vehicle that comes early waits.  The depot's
        are the earliest departure and the latest return.  None: there are no times.
    service
        How long the service at each location takes; None: no time.
    vehicles
        At most so many routes; None: as many as there are customers.
    places
        Coordinates, for pictures.
    reading
        How a file was read where it could be read otherwise, in a few words.

    Raises
    ------
    InputError
        If the data is none of this, or a customer cannot be reached in time.
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
        demands = tuple(as_whole(q, "each of the demands") for q in self._listed("demands", count))
        object.__setattr__(self, "demands", demands)
        object.__setattr__(self, "capacity", as_whole(self.capacity, "the capacity"))
        if not 1 <= self.capacity <= LARGEST:
            raise InputError(f"the capacity must be 1 to 2^40, not {self.capacity}")
        if demands[0]:
            raise InputError(f"the demand of the depot must be 0, not {demands[0]}")
        for i, q in enumerate(demands[1:], 1):
            if not 0 <= q <= self.capacity:
                raise InputError(f"the demand of customer {i} must be 0 to {self.capacity} (the capacity), not {q}")
        if self.vehicles is not None:
            object.__setattr__(self, "vehicles", as_whole(self.vehicles, "the number of vehicles"))
            if self.vehicles < 1:
                raise InputError(f"the number of vehicles must be at least 1, not {self.vehicles}")
        if self.places is not None:
            places = tuple(_pair(place, "each of the places") for place in self._listed("places", count))
            object.__setattr__(self, "places", places)
        self._check_times(count)

    def _listed(self, field: str, count: int) -> list[Any]:
        values = list(getattr(self, field))
        if len(values) != count:
            raise InputError(f"as many {field} as locations are expected, {count}, not {len(values)}")
        return values

    def _check_matrix(self) -> None:
        try:
            array = np.array(self.distances, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("the distances must be numbers, one row a location, all rows of one length") from None
        if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
            raise InputError(f"the distances must be a square of 2 locations or more, not of shape {array.shape}")
        if not (np.isfinite(array).all() and (array >= 0.0).all() and (array <= LARGEST).all()):
            raise InputError("each of the distances must be a number from 0 to 2^40")
        np.fill_diagonal(array, 0.0)
        object.__setattr__(self, "distances", tuple(map(tuple, array.tolist())))

    def _check_times(self, count: int) -> None:
        if self.windows is None:
            if self.service is not None:
                raise InputError("service times without time windows change nothing: leave them out")
            return
        windows = tuple(_pair(window, "each of the time windows") for window in self._listed("windows", count))
        object.__setattr__(self, "windows", windows)
        service = (0.0,) * count if self.service is None else tuple(map(float, self._listed("service", count)))
        object.__setattr__(self, "service", service)
        for i, (ready, due) in enumerate(windows):
            if not 0.0 <= ready <= due <= LARGEST:
                raise InputError(f"the time window of location {i} is {ready:g} to {due:g}: expected 0 ≤ ready ≤ due")
            if not 0.0 <= service[i] <= LARGEST:
                raise InputError(f"the service time of location {i} must be a number from 0 to 2^40")
        for i in self.customers:
            if self._late((i,)) is not None:
                raise InputError(f"customer {i} cannot be served in time by any vehicle: {self._late((i,))}")

    # --- what is in it -----------------------------------------------------------------------------------------------

    @property
    def num_customers(self) -> int:
        """Customers, numbered from 1 to this."""
        return len(self.demands) - 1

    @property
    def customers(self) -> range:
        """Their numbers."""
        return range(1, len(self.demands))

    @cached_property
    def decimals(self) -> int | None:
        """Decimals of all distances and times, so that sums can be taken in whole numbers; None if they have many."""
        numbers = np.concatenate([np.ravel(self.distances), np.ravel(self.windows or 0.0), np.ravel(self.service or 0)])
        return next((k for k in range(_DECIMALS + 1) if np.array_equal(np.round(numbers, k), numbers)), None)

    @cached_property
    def ticks(self) -> float:
        """How many parts a unit has: distances and times times this are whole, where they have few decimals."""
        return 1.0 if self.decimals is None else float(10**self.decimals)

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """Distances in ticks, by tail and head."""
        return self._in_ticks(self.distances)

    @cached_property
    def window_array(self) -> NDArray[np.float64]:
        """Time windows in ticks, shape (locations, 2); without any, all are from 0 to infinity."""
        if self.windows is None:
            return np.tile([0.0, math.inf], (len(self.demands), 1))
        return self._in_ticks(self.windows)

    @cached_property
    def latest(self) -> NDArray[np.float64]:
        """By when service must begin, in ticks, shape (locations,).

        Half of what is allowed for rounding is in it: a route that is in time by sums in one order is so in another.
        """
        due: NDArray[np.float64] = self.window_array[:, 1] + 0.5 * self.rounding * self.ticks
        return due

    @cached_property
    def service_array(self) -> NDArray[np.float64]:
        """Service times in ticks."""
        return np.zeros(len(self.demands)) if self.service is None else self._in_ticks(self.service)

    def _in_ticks(self, values: Any) -> NDArray[np.float64]:
        array = np.array(values, dtype=np.float64) * self.ticks
        array = array if self.decimals is None else np.rint(array)
        array.setflags(write=False)
        return array

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether a route costs and may do the same backwards."""
        return self.windows is None and bool(np.array_equal(self.matrix, self.matrix.T))

    @property
    def fewest(self) -> int:
        """So many vehicles hold all demands, at the least, and one."""
        return max(-(-sum(self.demands) // self.capacity), 1)

    @property
    def most(self) -> int:
        """At most so many vehicles."""
        return min(self.num_customers, self.vehicles or self.num_customers)

    def first(self, customers: int) -> RoutingInstance:
        """The instance of the first so many customers."""
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
        """Distance of a route, visits in any number, from the depot back to it."""
        return self.total([route])

    def total(self, routes: Iterable[Sequence[int]]) -> float:
        """Distance of several routes, without a rounding error where the data has few decimals."""
        steps = (pair for route in routes for pair in itertools.pairwise((0, *route, 0)))
        if self.decimals is None:
            return math.fsum(self.distances[i][j] for i, j in steps)
        return sum(round(self.distances[i][j] * self.ticks) for i, j in steps) / self.ticks

    def times(self, route: Sequence[int]) -> list[float]:
        """When service begins at each customer, and the return: as early as can be, whether in time or not."""
        windows, service, now, at, found = self.window_array, self.service_array, self.window_array[0, 0], 0, []
        for i in (*route, 0):
            now = max(now + service[at] + self.matrix[at, i], windows[i, 0])
            found.append(float(now) / self.ticks)
            at = i
        return found

    @property
    def rounding(self) -> float:
        """What is late by no more than this is in time: numbers that are not rounded are added up in any order.

        What sums may be wrong by, and no more: beside a horizon of 1e8, a billionth of that is an hour.
        """
        if self.decimals is not None or self.windows is None:
            return 0.0
        return ROUNDING * len(self.demands) * self.windows[0][1]

    def _late(self, route: Sequence[int]) -> str | None:
        """Where a route is late, in words; None if it is in time everywhere."""
        if self.windows is None:
            return None
        rounding = self.rounding
        for i, begin in zip((*route, 0), self.times(route), strict=True):
            if begin > self.windows[i][1] + rounding:
                where = f"customer {i} is reached" if i else "the depot is reached again"
                return f"{where} at {begin:g}, due {self.windows[i][1]:g}"
        return None

    def fault(self, route: Sequence[int]) -> str | None:
        """Why a vehicle cannot drive a route, which may visit a customer twice; None if it can."""
        load = sum(self.demands[i] for i in route)
        if load > self.capacity:
            return f"the load is {load}, the capacity {self.capacity}"
        return self._late(route)

    def check(self, answer: Iterable[Sequence[int]]) -> float:
        """Total distance of an answer, after checking every route and customer from the data alone.

        Raises
        ------
        ValueError
            If it is not an answer; the message says why.
        """
        try:
            routes = [tuple(operator.index(i) for i in route) for route in answer]
        except TypeError as error:
            raise ValueError(f"expected routes of customers: {error}") from None
        for route in routes:
            if not route:
                raise ValueError("expected routes with a customer or more, one has none")
            for i in route:
                if not 1 <= i <= self.num_customers:
                    raise ValueError(f"route {route} visits {i}, expected customers 1 to {self.num_customers}")
            fault = self.fault(route)
            if fault is not None:
                raise ValueError(f"route {route} cannot be driven: {fault}")
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
"""How Euclidean distances are rounded: to one decimal, downwards (Solomon's instances); to the nearest whole number
(TSPLIB); not at all."""


def euclidean(places: Sequence[tuple[float, float]], convention: str = "exact") -> tuple[tuple[float, ...], ...]:
    """Distances between places, by one of :data:`CONVENTIONS`."""
    if convention not in CONVENTIONS:
        raise InputError(f"distances: expected one of {', '.join(CONVENTIONS)}, not {convention!r}")
    for i, place in enumerate(places):
        if not all(abs(coordinate) <= LARGEST for coordinate in place):  # nor a distance that is no number
            raise InputError(f"the coordinates of location {i} must be numbers of at most 2^40, not {repr(place)[:40]}")
    return tuple(tuple(_rounded(a, b, convention) for b in places) for a in places)


def _rounded(one: tuple[float, float], other: tuple[float, float], convention: str) -> float:
    dx, dy = one[0] - other[0], one[1] - other[1]
    if convention == "whole":
        return float(math.floor(math.hypot(dx, dy) + 0.5))
    if convention == "exact":
        return math.hypot(dx, dy)
    if dx.is_integer() and dy.is_integer():  # a distance of exactly 5.1 stays 5.1
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
    """Customers uniform in a square around a depot in its middle.

    Parameters
    ----------
    stops
        About so many customers a route by capacity.
    windows
        Whether there are time windows: each wide enough for a vehicle that comes for this customer alone.
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
