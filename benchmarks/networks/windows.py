"""Vehicle routing with time windows, stated over arcs and by the template."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo

from benchmarks.harness import BenchOptions, Run, check_agreement, mean_ratio, run_engine
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
    graph = VehicleRouting(instance).layout
    arcs = list(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))
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
        (graph.tails, graph.heads),
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


def overhead_of_the_layer(options: BenchOptions) -> Sequence[Figure]:
    """Solve Solomon's instances by path blocks and by the template, in processor time, from model to proof."""
    folder = options.folder("windows need --data DIR with a folder vrptw") / "vrptw"
    ours, theirs = list[float](), list[float]()
    names = _INSTANCES[:1] if options.quick else _INSTANCES
    for name in (names[0], *names):  # the first run loads kernels
        instance = read(folder / f"{name}.txt").first(_CUSTOMERS)
        runs = [_run(VehicleRouting, instance, name, "template"), _run(_decomposed, instance, name, "path blocks")]
        for run, seconds in zip(runs, (theirs, ours), strict=True):
            options.say(str(run))
            seconds.append(run.counted)
        check_agreement(name, {run.way: run.claim for run in runs})
    note = f"path blocks over template, {_CUSTOMERS} customers"
    return [mean_ratio("overhead_vs_vehicle_routing", ours[1:], theirs[1:], note)]


def _decomposed(instance: RoutingInstance) -> Problem:
    return decompose(windows(instance))


def _run(build: Callable[[RoutingInstance], Problem], instance: RoutingInstance, name: str, way: str) -> Run:
    """Return a run whose seconds contain those of building the problem."""
    started = time.process_time()
    problem = build(instance)
    setup = time.process_time() - started
    run = run_engine(problem, _LIMIT, name=f"{name}.{_CUSTOMERS}", way=way)[0]
    return replace(run, seconds=run.seconds + setup)
