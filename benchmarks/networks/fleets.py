"""Heterogeneous fleets: vehicle types with own capacities, fixed costs, costs per distance and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from colgen import Paths
from colgen.networks import Neighbourhoods, Resource

_UNIT = 100.0
"""Costs in the files are in hundredths."""


class Fleet(NamedTuple):
    """An instance: distances and demands by place, the depot first, and a row for each vehicle type.

    A row of ``types`` has capacity, fixed cost, cost per distance and number of vehicles.
    """

    distances: NDArray[np.float64]
    demands: NDArray[np.float64]
    types: NDArray[np.float64]


def read(path: Path | str) -> Fleet:
    """Return an instance of VRPLIB in PyVRP's dialect, with one entry per vehicle."""
    sections: dict[str, list[float]] = {}
    for line in Path(path).read_text().splitlines():
        if line.strip().endswith("SECTION"):
            entries = sections[line.strip()] = []
        elif sections and ":" not in line and line.strip() not in ("EOF", ""):
            entries += map(float, line.split()[1:])
    places = np.array(sections["NODE_COORD_SECTION"]).reshape(-1, 2)
    capacities = np.array(sections["CAPACITY_SECTION"])
    fixed = np.array(sections.get("VEHICLES_FIXED_COST_SECTION", np.zeros(len(capacities)))) / _UNIT
    unit = np.array(sections.get("VEHICLES_UNIT_DISTANCE_COST_SECTION", np.full(len(capacities), _UNIT))) / _UNIT
    types, counts = np.unique(np.stack([capacities, fixed, unit], axis=1), axis=0, return_counts=True)
    distances = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    return Fleet(distances, np.array(sections["DEMAND_SECTION"]), np.column_stack([types, counts]))


def fleets(instance: Fleet, remembered: int = 8) -> pyo.ConcreteModel:
    """Return the model of an instance; paths remember ``remembered`` near places."""
    distances, demands, types = instance
    places, customers = range(len(demands)), range(1, len(demands))
    m = pyo.ConcreteModel()
    fits = [[(i, j) for i in places for j in places if i != j and demands[i] + demands[j] <= row[0]] for row in types]
    m.drive = pyo.Var([(t, i, j) for t, arcs in enumerate(fits) for i, j in arcs], domain=pyo.Binary)
    entering: list[list[pyo.Var]] = [[] for _ in places]
    costs = []
    for t, i, j in m.drive:
        _, fixed, unit, _ = types[t]
        entering[j].append(m.drive[t, i, j])
        costs.append((unit * distances[i, j] + fixed * (i == 0)) * m.drive[t, i, j])
    m.visit = pyo.Constraint(customers, rule=lambda m, j: pyo.quicksum(entering[j]) == 1)
    m.cost = pyo.Objective(expr=pyo.quicksum(costs))
    for t, (arcs, (capacity, _, _, number)) in enumerate(zip(fits, types, strict=True)):
        load = Resource({j: demands[j] for j in customers if demands[j] <= capacity}, capacity, name="load")
        flow = [m.drive[t, i, j] for i, j in arcs]
        graph = tuple(zip(*arcs, strict=True))
        rules = [Neighbourhoods(remembered)]
        m.add_component(f"type_{t}", Paths(graph, flow, 0, 0, count=(0, number), resources=[load], rules=rules))
    return m
