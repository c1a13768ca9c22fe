"""Fuzz vehicle routing, compared with all partitions of the customers into routes."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator

import numpy as np

from colgen import solve
from colgen.problems.vehicle_routing import RoutingInstance, VehicleRouting
from colgen.problems.vehicle_routing.instance import LARGEST
from tests.fuzz.judging import Claims, Truths, single
from tests.fuzz.scores import Rng, Sample
from tests.twins.vehicle_routing import drives, length, optimum

NAME = "vehicle_routing"

_UNITS = (1.0, 1.0, 1e-9, 1e-6, 1e-2, 0.1, 1.0 / 3.0, 7.0, 1e3, 1e6)
"""Units of distances and times."""

_PENALTIES = (1e5, 1e6, 1e9, 1e12)
"""Costs of penalised arcs in these units, reduced to the largest valid value."""


def draw(rng: Rng) -> Sample:
    """Draw up to six customers: few distinct distances, distances in the plane, or any numbers; optional time windows.

    Some windows are single points, and some begin at the arrival time of a direct trip.  Some or all demands are zero.
    One in eight samples has up to ten customers, about three per route, because smaller ones hardly need cuts.
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
        # Every window allows a direct trip from the depot.
        due = np.maximum(ready, distances[0]) + rng.integers(0, 9, n + 1) * (rng.random(n + 1) < 0.7)
        due[0] = float(np.max(due + service + distances[:, 0])) + float(rng.integers(0, 4))
        arrays |= {"ready": ready, "due": due, "service": service}
    most = int(rng.integers(n // 2 if many else 1, n + 1))
    how = {
        "capacity": int(unit * (rng.integers(6, 11) if many else rng.integers(5, 16))),
        "vehicles": most,
        "neighbours": rng.choice([-1, 1, 2, 8]).item(),
    }
    return Sample(NAME, arrays, scale=scale, settings={**how, "cuts": bool(rng.random() < 0.7)})


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims, negated because distances are minimised."""
    instance, settings = _instance(sample), sample.settings
    best = optimum(instance)
    truths = Truths(np.array([-math.inf if best is None else -best]), sample.size, np.zeros(1))
    neighbours = None if settings["neighbours"] < 0 else settings["neighbours"]
    result = solve(VehicleRouting(instance, neighbours=neighbours, cuts=settings["cuts"]))
    worth = -np.inf
    if result.answer is not None:
        fits = sorted(itertools.chain(*result.answer)) == list(instance.customers)
        fits &= len(result.answer) <= settings["vehicles"] and all(drives(instance, route) for route in result.answer)
        worth = -sum(length(instance, route) for route in result.answer) if fits else math.nan
    ended = result.termination
    objective = -result.objective if result.answer is not None else -np.inf
    return truths, single(objective, -result.dual_bound, worth, ended.is_proof, ended.name)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with one customer less."""
    n = len(sample.arrays["demands"]) - 1
    for i in range(1, n + 1 if n > 1 else 1):
        kept = np.arange(n + 1) != i
        arrays = {
            name: array[np.ix_(kept, kept)] if array.ndim == 2 else array[kept] for name, array in sample.arrays.items()
        }
        yield dataclasses.replace(sample, arrays=arrays).with_settings(vehicles=min(sample.settings["vehicles"], n - 1))


def _instance(sample: Sample) -> RoutingInstance:
    arrays, scale = sample.arrays, sample.scale
    windows = service = None
    if "due" in arrays:
        windows = tuple(zip((scale * arrays["ready"]).tolist(), (scale * arrays["due"]).tolist(), strict=True))
        service = tuple((scale * arrays["service"]).tolist())
    return RoutingInstance(
        tuple(map(tuple, (scale * arrays["distances"]).tolist())),
        tuple(int(q) for q in arrays["demands"]),
        sample.settings["capacity"],
        windows,
        service,
        sample.settings["vehicles"],
    )
