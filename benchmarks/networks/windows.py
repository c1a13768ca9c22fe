"""Vehicle routing with time windows, stated over arcs and by the template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from benchmarks.harness import BenchOptions, check_agreement, mean_ratio, run_built
from colgen import Paths, Problem, decompose
from colgen.cli.template import Figure
from colgen.networks import Neighbourhoods, Resource
from colgen.problems.vehicle_routing import RoutingInstance, VehicleRouting, read

_INSTANCES = ("R101", "R103", "R105", "R107", "C101", "C103", "RC101", "RC105")
"""Solomon's instances, all of which both ways solve within the limit."""

_CUSTOMERS, _LIMIT = 50, 300.0
"""Customers of each instance, and seconds of each run."""

_TICKS = 10
"""Units of time per unit of distance: distances have one decimal."""


def windows(instance: RoutingInstance) -> pyo.ConcreteModel:
    """Return the model of an instance, over the arcs that the template keeps."""
    block = VehicleRouting(instance).network.blocks[0]
    arcs = [block.graph.names[k] for k in block.arc_of.tolist()]
    places = range(instance.num_customers + 1)
    far = np.array(instance.distances)
    m = pyo.ConcreteModel()
    m.drive = pyo.Var(arcs, domain=pyo.Binary)
    into: list[list[pyo.Var]] = [[] for _ in places]
    for i, j in arcs:
        into[j].append(m.drive[i, j])
    m.visit = pyo.Constraint(places[1:], rule=lambda m, i: pyo.quicksum(into[i]) == 1)
    m.cost = pyo.Objective(expr=pyo.quicksum(far[arc] * m.drive[arc] for arc in arcs))
    assert instance.windows is not None
    assert instance.service is not None
    opened, closed = (np.rint(_TICKS * np.array(side)) for side in zip(*instance.windows, strict=True))
    minutes = np.rint([_TICKS * (instance.service[i] + far[i, j]) for i, j in arcs])
    m.routes = Paths(
        tuple(zip(*arcs, strict=True)),
        m.drive,
        0,
        0,
        count=(instance.fewest, instance.most),
        resources=[
            Resource(minutes, dict(enumerate(closed)), dict(enumerate(opened)), name="time"),
            Resource(dict(enumerate(instance.demands)), instance.capacity, name="load"),
        ],
        rules=[Neighbourhoods(8)],
    )
    return m


def overhead_of_the_layer(folder: Path, options: BenchOptions) -> Sequence[Figure]:
    """Solve Solomon's instances by path blocks and by the template, in processor time, from model to proof."""
    ours, theirs = list[float](), list[float]()
    names = _INSTANCES[:1] if options.quick else _INSTANCES
    for name in (names[0], *names):  # the first run loads kernels
        instance = read(folder / "vrptw" / f"{name}.txt").first(_CUSTOMERS)
        builds: dict[str, Callable[[], Problem[Any]]] = {
            "template": partial(VehicleRouting, instance),
            "path blocks": partial(_decomposed, instance),
        }
        runs = [run_built(build, _LIMIT, name=name, way=way)[0] for way, build in builds.items()]
        for run, seconds in zip(runs, (theirs, ours), strict=True):
            options.say(str(run))
            seconds.append(run.counted)
        check_agreement(name, {run.way: run.claim for run in runs})
    note = f"path blocks over template, {_CUSTOMERS} customers"
    return [mean_ratio("overhead_vs_vehicle_routing", ours[1:], theirs[1:], note)]


def _decomposed(instance: RoutingInstance) -> Problem[Any]:
    return decompose(windows(instance))
