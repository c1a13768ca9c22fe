"""Small models with path blocks, and their optima by enumeration of paths."""

import itertools

import numpy as np
import pyomo.environ as pyo

from colgen import Paths, decompose
from colgen.networks import Elementary, Resource
from colgen.solvers.paths.acyclic import States
from colgen.solvers.paths.labelling import Network


def routing(seed, customers=5, graphs=1, domain=pyo.Binary, rules=(Elementary(),), fixed=5, skew=0):
    """Return a model: each customer is visited once, by routes of several vehicle types with a capacity.

    The two directions between two places differ by up to ``skew``.
    """
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 20, (customers + 1, 2))
    length = np.abs(places[:, None] - places[None, :]).sum(axis=2)
    length += np.random.default_rng(seed + 100).integers(0, skew + 1, length.shape)
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


def partition(sets, customers, most=None):
    """Return the least cost of disjoint sets, at most ``most`` of them, that cover all customers."""
    if most is not None:
        best = {}
        for members, cost in sets:
            best[members] = min(best.get(members, np.inf), cost)
        return _rest(best, frozenset(range(1, customers + 1)), most)
    least = {frozenset(): 0.0}
    for size in range(1, customers + 1):
        for chosen in itertools.combinations(range(1, customers + 1), size):
            every = frozenset(chosen)
            first = chosen[0]
            values = [cost + least[every - s] for s, cost in sets if first in s and s <= every]
            least[every] = min(values, default=np.inf)
    return least[frozenset(range(1, customers + 1))]


def _rest(best, members, most):
    """Return the least cost of at most ``most`` disjoint sets that cover the members."""
    if not members or most <= 1:
        return best.get(members, np.inf)
    first = min(members)
    parts = (s for s in best if first in s and s <= members)
    return min(best[s] + (0.0 if s == members else _rest(best, members - s, most - 1)) for s in parts)


def scheduling(seed, jobs=6, machines=2):
    """Return a problem of weighted tardiness on identical machines over a time-expanded graph, and the optimum."""
    rng = np.random.default_rng(seed)
    durations = np.array([0, *rng.integers(1, 6, jobs), 0])
    due, weights = rng.integers(0, 12, jobs), rng.integers(1, 5, jobs)
    latest = int(durations.sum())
    costs = np.zeros((jobs + 2, latest + 1))
    costs[1:-1] = weights[:, None] * np.maximum(0, np.arange(latest + 1) - due[:, None])
    network = Network.complete(jobs)
    states = States.timed(network, durations[network.heads], latest, costs=costs)
    m = pyo.ConcreteModel()
    m.arc = pyo.RangeSet(0, states.num_arcs - 1)
    m.x = pyo.Var(m.arc, domain=pyo.Binary)
    job = states.vertices[states.heads]
    m.once = pyo.Constraint(
        range(1, jobs + 1), rule=lambda m, j: sum(m.x[a] for a in np.flatnonzero(job == j).tolist()) == 1
    )
    m.cost = pyo.Objective(expr=pyo.quicksum(c * m.x[a] for a, c in enumerate(states.costs.tolist()) if c))
    m.plans = Paths(
        (states.tails, states.heads), [m.x[a] for a in m.arc], 0, states.num_states - 1, count=(0, machines)
    )
    sets = []
    for size in range(1, jobs + 1):
        for order in itertools.permutations(range(1, jobs + 1), size):
            ends = np.cumsum(durations[list(order)])
            sets.append((frozenset(order), costs[list(order), ends].sum()))
    return decompose(m), states, partition(sets, jobs, machines)


def soft_windows(seed, customers=4, graphs=1, waiting=True, rules=(Elementary(),), most=np.inf):
    """Return a model whose routes pay for lateness and for the time at the depot, and the optimum by enumeration."""
    rng = np.random.default_rng([seed, 11])
    n, scale = customers + 1, float(rng.choice([0.01, 1.0, 100.0]))
    travel = rng.integers(1, 9, (n, n))
    arcs = [(i, j) for i in range(n) for j in range(n) if i != j]
    ready, due = rng.integers(0, 8, n) * waiting, rng.integers(2, 12, n)
    rate = np.where(rng.random(n) < 0.7, rng.integers(1, 5, n), 0) * scale
    wage = float(rng.integers(0, 3)) * scale
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(graphs), arcs, domain=pyo.Binary)
    m.visit = pyo.Constraint(
        range(1, n), rule=lambda m, v: sum(m.x[g, i, v] for g in range(graphs) for i, j in arcs if j == v) == 1
    )
    costs = {(g, i, j): scale * int(travel[i, j] * (1 + g) + 4 * (i == 0)) for g, i, j in m.x}
    m.cost = pyo.Objective(expr=sum(costs[index] * m.x[index] for index in m.x))
    best = [{} for _ in range(graphs)]
    for g in range(graphs):
        ends, rates = {v: int(due[v]) for v in range(1, n)}, {v: float(rate[v]) for v in range(1, n)}
        time = Resource(
            [int(travel[arc]) for arc in arcs], 22 - 4 * g, {v: int(ready[v]) for v in range(1, n)},
            penalty=({**ends, 0: 0.0}, {**rates, 0: wage}), name="time",
        )  # fmt: skip
        flow = [m.x[g, i, j] for i, j in arcs]
        paths = Paths(tuple(zip(*arcs, strict=True)), flow, 0, 0, resources=[time], rules=rules, count=(0, most))
        m.add_component(f"type_{g}", paths)
        for size in range(1, n):
            for route in itertools.permutations(range(1, n), size):
                at, cost = 0, 0.0
                for i, j in itertools.pairwise((0, *route, 0)):
                    at = max(at + travel[i, j], ready[j] if j else 0)
                    cost += costs[g, i, j] + (rate[j] * max(0, at - due[j]) if j else wage * at)
                    if at > 22 - 4 * g:
                        break
                else:
                    key = frozenset(route)
                    best[g][key] = min(best[g].get(key, cost), cost)
    sets = [(set_, cost) for each in best for set_, cost in each.items()]
    return m, partition(sets, customers, None if most == np.inf else most)
