"""Vehicle routing against all routes, and all ways to divide the customers among them."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

from colgen import solve
from colgen.problems.vehicle_routing import RoutingInstance, VehicleRouting
from colgen.problems.vehicle_routing.instance import LARGEST
from tests.fuzz.answers import Said, Truths, one
from tests.fuzz.scores import Drawn, Rng

NAME = "vehicle_routing"

_UNITS = (1.0, 1.0, 1e-9, 1e-6, 1e-2, 0.1, 1.0 / 3.0, 7.0, 1e3, 1e6)
"""What distances and times are counted in."""

_FEW = 6
"""Customers whose routes are all listed, one by one."""

_LATE = 1e-15
"""A rounding error of a sum, for each of its terms, relative to the horizon."""

_PENALTIES = (1e5, 1e6, 1e9, 1e12)
"""What the dearest arcs cost, in such units; less where it would be more than is allowed."""


def draw(rng: Rng) -> Drawn:
    """Up to six customers: few different distances, or places, or any numbers; with time windows or without.

    Some windows are moments, and some begin where one that drives there alone arrives; some demands are zero, or all.
    One in eight has up to ten customers, three or so a route: with fewer, hardly any cut is ever needed.
    """
    many = bool(rng.random() < 0.125)
    n = int(rng.integers(8, 11)) if many else int(rng.integers(1, 7))
    scale = float(rng.choice(_UNITS))
    style = str(rng.choice(["whole", "plane", "any", "penalties"]))
    if style == "plane":
        places = rng.integers(0, 20, (n + 1, 2))
        distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        distances = np.rint(distances) if rng.random() < 0.5 else distances
    elif style == "any":
        distances = rng.random((n + 1, n + 1)) * 10.0
    else:
        distances = rng.integers(0, 6, (n + 1, n + 1)).astype(float)
    if style == "penalties":
        distances[rng.random(distances.shape) < 0.2] = min(float(rng.choice(_PENALTIES)), LARGEST / (8.0 * scale))
    if rng.random() < 0.5:
        distances = np.minimum(distances, distances.T)
    np.fill_diagonal(distances, 0.0)
    unit = float(rng.choice([1.0, 1.0, 7.0, 1e6]))
    demands = unit * np.append(0, rng.integers(0, 6, n)) * (rng.random() < 0.9)
    arrays = {"distances": distances, "demands": demands}
    if rng.random() < 0.5:
        service = np.append(0, rng.integers(0, 3, n)).astype(float)
        ready = rng.integers(0, 12, n + 1).astype(float)
        ready[0] = 0.0
        # Each is late enough for a vehicle that comes for it alone.
        due = np.maximum(ready, distances[0]) + rng.integers(0, 9, n + 1) * (rng.random(n + 1) < 0.7)
        due[0] = float(np.max(due + service + distances[:, 0])) + float(rng.integers(0, 4))
        arrays |= {"ready": ready, "due": due, "service": service}
    most = int(rng.integers(n // 2 if many else 1, n + 1))
    how = {
        "capacity": int(unit * (rng.integers(6, 11) if many else rng.integers(5, 16))),
        "vehicles": most,
        "neighbours": rng.choice([-1, 1, 2, 8]).item(),
    }
    return Drawn(NAME, arrays, scale=scale, settings={**how, "cuts": bool(rng.random() < 0.7)})


def judged(drawn: Drawn) -> tuple[Truths, Said]:
    """Truth and what is said, mirrored: distances are minimised."""
    instance, settings = _instance(drawn), drawn.settings
    best = _least(instance)
    truths = Truths(np.array([-best]), drawn.size, np.zeros(1))
    neighbours = None if settings["neighbours"] < 0 else settings["neighbours"]
    result = solve(VehicleRouting(instance, neighbours=neighbours, cuts=settings["cuts"]))
    worth = -np.inf
    if result.answer is not None:
        fits = sorted(itertools.chain(*result.answer)) == list(instance.customers)
        fits &= len(result.answer) <= settings["vehicles"] and all(map(_drives(instance), result.answer))
        worth = -sum(_length(instance, route) for route in result.answer) if fits else math.nan
    said = result.termination
    objective = -result.objective if result.answer is not None else -np.inf
    return truths, one(objective, -result.dual_bound, worth, said.is_proof, said.name)


def smaller(drawn: Drawn) -> Iterator[Drawn]:
    """One customer less."""
    n = len(drawn.arrays["demands"]) - 1
    for i in range(1, n + 1 if n > 1 else 1):
        kept = np.arange(n + 1) != i
        arrays = {
            name: array[np.ix_(kept, kept)] if array.ndim == 2 else array[kept] for name, array in drawn.arrays.items()
        }
        yield dataclasses.replace(drawn, arrays=arrays).with_settings(vehicles=min(drawn.settings["vehicles"], n - 1))


def _instance(drawn: Drawn) -> RoutingInstance:
    arrays, scale = drawn.arrays, drawn.scale
    windows = service = None
    if "due" in arrays:
        windows = tuple(zip((scale * arrays["ready"]).tolist(), (scale * arrays["due"]).tolist(), strict=True))
        service = tuple((scale * arrays["service"]).tolist())
    return RoutingInstance(
        tuple(map(tuple, (scale * arrays["distances"]).tolist())),
        tuple(int(q) for q in arrays["demands"]),
        drawn.settings["capacity"],
        windows,
        service,
        drawn.settings["vehicles"],
    )


def _least(instance: RoutingInstance) -> float:
    """The least distance, by all routes; infinite if there is no answer."""
    if instance.num_customers > _FEW:
        return _least_of_many(instance)
    shortest: dict[frozenset[int], float] = {}
    drives = _drives(instance)
    for size in range(1, instance.num_customers + 1):
        for route in itertools.permutations(instance.customers, size):
            if drives(route):
                served = frozenset(route)
                shortest[served] = min(shortest.get(served, math.inf), _length(instance, route))

    @cache
    def best(left: frozenset[int], vehicles: int) -> float:
        if not left:
            return 0.0
        first = min(left)
        parts = [part for part in shortest if first in part and part <= left] if vehicles else []
        return min((shortest[part] + best(left - part, vehicles - 1) for part in parts), default=math.inf)

    return best(frozenset(instance.customers), instance.most)


def _least_of_many(instance: RoutingInstance) -> float:
    """The same by sets: the ways to serve each that no other undercuts in distance and time, one customer the last."""
    n, d = instance.num_customers, instance.distances
    windows = instance.windows or ((0.0, math.inf),) * (n + 1)
    service = instance.service or (0.0,) * (n + 1)
    late = _LATE * (n + 1) * windows[0][1] if instance.windows else 0.0

    def then(way: tuple[float, float], at: int, i: int) -> tuple[float, float] | None:
        now = max(way[1] + (service[at] + d[at][i] if instance.windows else 0.0), windows[i][0])
        return None if now > windows[i][1] + late else (way[0] + d[at][i], now)

    ways: dict[tuple[int, int], list[tuple[float, float]]] = {(0, 0): [(0.0, windows[0][0])]}
    shortest = [math.inf] * (1 << n)
    for served in range(1 << n):  # whatever leads to a set has a smaller number
        if sum(instance.demands[i] for i in range(1, n + 1) if served >> (i - 1) & 1) > instance.capacity:
            continue
        for last in range(n + 1):
            here = ways.get((served, last), [])
            kept = [a for a in here if not any(b != a and b[0] <= a[0] and b[1] <= a[1] for b in here)]
            for way in set(kept):
                home = then(way, last, 0)
                if home is not None and served:
                    shortest[served] = min(shortest[served], home[0])
                for i in range(1, n + 1):
                    after = None if served >> (i - 1) & 1 else then(way, last, i)
                    if after is not None:
                        ways.setdefault((served | 1 << (i - 1), i), []).append(after)
    best = [0.0] + [math.inf] * ((1 << n) - 1)
    for _ in range(instance.most):
        more = list(best)
        for left in range(1, 1 << n):
            first, part = left & -left, left
            while part:  # all parts of it with its first customer
                if part & first and shortest[part] < math.inf:
                    more[left] = min(more[left], shortest[part] + best[left ^ part])
                part = (part - 1) & left
        if more == best:
            break
        best = more
    return best[-1]


def _length(instance: RoutingInstance, route: Sequence[int]) -> float:
    return math.fsum(instance.distances[i][j] for i, j in itertools.pairwise((0, *route, 0)))


def _drives(instance: RoutingInstance) -> Callable[[Sequence[int]], bool]:
    """Whether a vehicle can drive a route; what is late by a rounding error alone is in time."""
    late = 0.0 if instance.windows is None else _LATE * len(instance.demands) * instance.windows[0][1]

    def drives(route: Sequence[int]) -> bool:
        if sum(instance.demands[i] for i in route) > instance.capacity:
            return False
        if instance.windows is None or instance.service is None:
            return True
        at, now = 0, instance.windows[0][0]
        for i in (*route, 0):
            now = max(now + instance.service[at] + instance.distances[at][i], instance.windows[i][0])
            if now > instance.windows[i][1] + late:
                return False
            at = i
        return True

    return drives
