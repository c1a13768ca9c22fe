"""Pickup and delivery with time windows: requests, a fleet of equal vehicles, a fixed cost per vehicle."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from colgen import Paths
from colgen.networks import Elementary, Requests, Resource


class Transport(NamedTuple):
    """An instance: the depot, then the pickups of n requests, then their deliveries.

    A row of ``places`` has two coordinates, minutes of service, change of load, and first and last minute.  Distances
    are also minutes.
    """

    places: NDArray[np.float64]
    vehicles: int
    capacity: float
    cost_per_vehicle: float = 10_000.0


def read(path: Path | str) -> Transport:
    """Return an instance of Ropke and Cordeau."""
    first, *rows = (line.split() for line in Path(path).read_text().splitlines() if line.strip())
    vehicles, count, _, capacity, _ = map(int, first)
    places = np.array(rows[: 2 * count + 1], dtype=float)[:, 1:]
    return Transport(places, vehicles, float(capacity))


def transport(instance: Transport) -> pyo.ConcreteModel:
    """Return the model of an instance."""
    places, vehicles, capacity, cost_per_vehicle = instance
    count = len(places) // 2
    pickups, everywhere = range(1, count + 1), range(len(places))
    x, y, service, load, ready, due = places.T
    far = np.hypot(x[:, None] - x, y[:, None] - y)
    minutes = far + service[:, None]
    arcs = [
        (i, j)
        for i in everywhere
        for j in everywhere
        if i != j and ready[i] + minutes[i, j] <= due[j]
        if not (i == 0 and j > count) and not (j == 0 and i <= count) and i != j + count
    ]
    m = pyo.ConcreteModel()
    m.drive = pyo.Var(arcs, domain=pyo.Binary)
    m.collect = pyo.Constraint(pickups, rule=lambda m, j: sum(m.drive[arc] for arc in arcs if arc[1] == j) == 1)
    m.cost = pyo.Objective(expr=sum((far[i, j] + cost_per_vehicle * (i == 0)) * m.drive[i, j] for i, j in arcs))
    m.routes = Paths(
        tuple(zip(*arcs, strict=True)),
        m.drive,
        0,
        0,
        count=(0, vehicles),
        resources=[
            Resource([minutes[arc] for arc in arcs], dict(enumerate(due)), dict(enumerate(ready)), name="time"),
            Resource(dict(enumerate(load)), capacity, name="load"),
        ],
        rules=[Elementary(), Requests([(j, j + count) for j in pickups])],
    )
    return m
