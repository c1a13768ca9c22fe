"""Small models with path blocks, and their optima by enumeration of paths."""

import itertools

import numpy as np
import pyomo.environ as pyo

from colgen import Paths
from colgen.networks import Elementary, Resource


def routing(seed, customers=5, graphs=1, domain=pyo.Binary, rules=(Elementary(),), fixed=5):
    """Return a model: each customer is visited once, by routes of several vehicle types with a capacity."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 20, (customers + 1, 2))
    length = np.abs(places[:, None] - places[None, :]).sum(axis=2)
    arcs = [(i, j) for i in range(customers + 1) for j in range(customers + 1) if i != j]
    demand = rng.integers(1, 5, customers + 1)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(graphs), arcs, domain=domain)
    m.visit = pyo.Constraint(
        range(1, customers + 1),
        rule=lambda m, v: sum(m.x[g, i, v] for g in range(graphs) for i, j in arcs if j == v) == 1,
    )
    price = [1 + g for g in range(graphs)]
    costs = {(g, i, j): price[g] * int(length[i, j]) + (fixed * (graphs - g) if i == 0 else 0) for g, i, j in m.x}
    m.cost = pyo.Objective(expr=sum(costs[index] * m.x[index] for index in m.x))
    tails, heads = zip(*arcs, strict=True)
    capacities = [6 + 3 * g for g in range(graphs)]
    for g in range(graphs):
        load = Resource({v: int(demand[v]) for v in range(1, customers + 1)}, capacities[g], name="load")
        flow = [m.x[g, i, j] for i, j in arcs]
        m.add_component(f"type_{g}", Paths((tails, heads), flow, 0, 0, resources=[load], rules=rules))
    best = [{} for _ in range(graphs)]
    for g, size in itertools.product(range(graphs), range(1, customers + 1)):
        for route in itertools.permutations(range(1, customers + 1), size):
            if sum(demand[v] for v in route) <= capacities[g]:
                cost = sum(costs[g, i, j] for i, j in itertools.pairwise((0, *route, 0)))
                key = frozenset(route)
                best[g][key] = min(best[g].get(key, cost), cost)
    return m, partition([(set_, cost) for sets in best for set_, cost in sets.items()], customers)


def partition(sets, customers):
    """Return the least cost of disjoint sets that cover all customers."""
    least = {frozenset(): 0.0}
    for size in range(1, customers + 1):
        for chosen in itertools.combinations(range(1, customers + 1), size):
            every = frozenset(chosen)
            first = chosen[0]
            values = [cost + least[every - s] for s, cost in sets if first in s and s <= every]
            least[every] = min(values, default=np.inf)
    return least[frozenset(range(1, customers + 1))]
