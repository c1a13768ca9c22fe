"""Several depots, two capacities, and customers with alternative places: 30 generated instances with 15 customers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from scipy import optimize, sparse

from benchmarks.harness import BenchOptions
from colgen import Paths, TimeLimit, decompose, solve
from colgen.cli.template import Figure
from colgen.networks import Neighbourhoods, Resource

CUSTOMERS, SEEDS, SECONDS = 15, range(30), 300.0
"""Size and seeds of the instances, and the time limit of a run."""


class Depots(NamedTuple):
    """An instance: distances between sites, the depots first, and the customer of each other site.

    ``loads`` has weight and volume of each customer, ``capacities`` those of a vehicle, ``vehicles`` the number of
    vehicles of each depot.
    """

    distances: NDArray[np.int64]
    owners: NDArray[np.int64]
    loads: NDArray[np.int64]
    capacities: NDArray[np.int64]
    vehicles: NDArray[np.int64]


def depots(instance: Depots) -> pyo.ConcreteModel:
    """Return the model of an instance: a graph for each depot, a visit for each customer at one of its places."""
    distances, owners, loads, capacities, vehicles = instance
    count = len(vehicles)
    places = range(count, len(distances))
    of = dict(zip(places, owners.tolist(), strict=True))
    m = pyo.ConcreteModel()
    legs = [
        (i, j) for i in places for j in places if of[i] != of[j] and (loads[of[i]] + loads[of[j]] <= capacities).all()
    ]
    arcs = [[*legs, *((d, i) for i in places), *((i, d) for i in places)] for d in range(count)]
    m.drive = pyo.Var([(d, i, j) for d in range(count) for i, j in arcs[d]], domain=pyo.Binary)
    entering: list[list[pyo.Var]] = [[] for _ in loads]
    for d, i, j in m.drive:
        if j != d:
            entering[of[j]].append(m.drive[d, i, j])
    m.serve = pyo.Constraint(range(len(loads)), rule=lambda m, c: pyo.quicksum(entering[c]) == 1)
    m.length = pyo.Objective(expr=pyo.quicksum(int(distances[i, j]) * m.drive[d, i, j] for d, i, j in m.drive))
    for d in range(count):
        resources = [
            Resource({i: loads[of[i], k] for i in places}, capacities[k], name=name)
            for k, name in enumerate(("weight", "volume"))
        ]
        flow = [m.drive[d, i, j] for i, j in arcs[d]]
        graph, number = tuple(zip(*arcs[d], strict=True)), (0, int(vehicles[d]))
        routes = Paths(graph, flow, d, d, count=number, resources=resources, rules=[Neighbourhoods(8)])
        m.add_component(f"depot_{d}", routes)
    return m


def generate(seed: int, customers: int = CUSTOMERS) -> Depots:
    """Return an instance with two or three depots, and up to three places for a customer."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 4))
    owners = np.repeat(np.arange(customers), rng.choice([1, 2, 3], customers, p=[0.6, 0.3, 0.1]))
    points = rng.integers(0, 100, (count + len(owners), 2))
    distances = np.rint(np.hypot(*(points[:, None] - points[None, :]).transpose(2, 0, 1))).astype(np.int64)
    loads = rng.integers(1, 10, (customers, 2))
    capacities = np.full(2, int(rng.integers(16, 22)))
    needed = int(np.ceil(loads.sum(axis=0).max() / capacities[0]))
    vehicles = np.full(count, -(-needed // count) + int(rng.integers(0, 2)))
    return Depots(distances, owners, loads, capacities, vehicles)


def optimum(instance: Depots) -> float:
    """Return the optimum by a partition of the customers into routes, all of which are enumerated; inf without one."""
    distances, owners, loads, capacities, vehicles = instance
    count = len(vehicles)
    sets, costs, depot_of = list[int](), list[float](), list[int]()
    for d in range(count):
        best: dict[tuple[int, int], int] = {}
        for place, customer in enumerate(owners.tolist(), count):
            if (loads[customer] <= capacities).all():
                best[1 << customer, place] = int(distances[d, place])
        closed: dict[int, int] = {}
        while best:
            longer: dict[tuple[int, int], int] = {}
            for (members, last), cost in best.items():
                total = cost + int(distances[last, d])
                closed[members] = min(closed.get(members, total), total)
                load = sum(loads[c] for c in range(len(loads)) if members >> c & 1)
                for place, customer in enumerate(owners.tolist(), count):
                    if not members >> customer & 1 and (load + loads[customer] <= capacities).all():
                        key, total = (members | 1 << customer, place), cost + int(distances[last, place])
                        longer[key] = min(longer.get(key, total), total)
            best = longer
        sets += closed
        costs += map(float, closed.values())
        depot_of += [d] * len(closed)
    rows = len(loads)
    covers = np.array([[members >> c & 1 for members in sets] for c in range(rows)], dtype=float)
    used = np.array([[float(each == d) for each in depot_of] for d in range(count)])
    solved = optimize.milp(
        np.array(costs),
        integrality=np.ones(len(costs)),
        bounds=optimize.Bounds(0, 1),
        constraints=optimize.LinearConstraint(
            sparse.csr_array(np.vstack([covers, used])),
            np.concatenate([np.ones(rows), np.zeros(count)]),
            np.concatenate([np.ones(rows), vehicles.astype(float)]),
        ),
        options={"mip_rel_gap": 0.0},
    )
    return float(round(solved.fun)) if solved.status == 0 else float("inf")


def depots_proved(options: BenchOptions) -> Sequence[Figure]:
    """Solve the generated instances; an answer must be proved and equal to the enumeration of all routes."""
    equal, seconds = 0, []
    seeds = SEEDS[:3] if options.quick else SEEDS
    for seed in seeds:
        instance = generate(seed)
        start = time.process_time()
        result = solve(decompose(depots(instance)), stop=TimeLimit(SECONDS))
        seconds.append(time.process_time() - start)
        best = optimum(instance)
        equal += result.termination.is_proof and _length(instance, result.answer) == best
        options.say(f"depots, seed {seed}: {result.objective:g} in {seconds[-1]:.1f} s, expected {best:g}")
    return [
        Figure("depots_equal", equal, "", len(seeds), "instances proved and equal to the enumeration of all routes"),
        Figure("depots_seconds", float(np.mean(seconds)), "s", len(seeds), "mean processor time"),
    ]


def _length(instance: Depots, answer: Any) -> float:
    """Return the length of an answer's routes, infinite without an answer."""
    if answer is None:
        return float("inf")
    return float(sum(instance.distances[i, j] for path in answer.paths for i, j in pairwise(path.vertices)))
