"""Heuristic partitions of visits into paths, against enumeration of all paths."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Paths, decompose
from colgen.core.budget import Budget
from colgen.networks import AtMostOne, Elementary, Requests, Resource
from colgen.networks.partitions import Partitions
from colgen.solvers.stopping import never
from tests.networks.programs import partition, routing
from tests.sweeps import seeds


def first_answer(problem):
    start = problem.warm_start(Budget(60.0))
    return start.answers[0].objective if start.answers else np.inf


@pytest.mark.parametrize("seed", seeds(40, 8))
@pytest.mark.parametrize("graphs", [1, 2, 3])
def test_small_optima_are_found(seed, graphs):
    model, best = routing(seed, graphs=graphs)
    assert first_answer(decompose(model)) == pytest.approx(best, rel=1e-9)


def random_program(seed, *, counts=None, apart=False, places=1):
    """Return a model and its optimum: depots with windows of their own, a load, rules, and several places for a visit.

    Some arcs are missing, and times violate the triangle inequality.
    """
    rng = np.random.default_rng(seed)
    customers, depots = 5, 2
    stops = [(v, a) for v in range(1, customers + 1) for a in range(1 + (places > 1 and v % 2))]
    size = len(stops)
    m = pyo.ConcreteModel()
    arcs, paths, costs, upper = [], [], [], []
    demand, ready = rng.integers(1, 5, size), rng.integers(0, 10, size)
    due = ready + rng.integers(8, 25, size)
    for _ in range(depots):
        pairs = [(i, j) for i in range(size + 1) for j in range(size + 1) if i != j]
        arcs.append([pair for pair in pairs if 0 in pair or rng.random() < 0.8])
        costs.append({pair: int(rng.integers(1, 20)) for pair in arcs[-1]})
        paths.append({pair: int(rng.integers(1, 8)) for pair in arcs[-1]})
        upper.append((int(rng.integers(6, 12)), int(rng.integers(30, 50))))
    m.x = pyo.Var([(g, i, j) for g in range(depots) for i, j in arcs[g]], domain=pyo.Binary)
    into = {v: [m.x[g, i, j] for g, i, j in m.x if j and stops[j - 1][0] == v] for v in range(1, customers + 1)}
    m.visit = pyo.Constraint(range(1, customers + 1), rule=lambda m, v: sum(into[v]) == 1)
    m.cost = pyo.Objective(expr=sum(costs[g][i, j] * m.x[g, i, j] for g, i, j in m.x))
    rules = [Elementary(), AtMostOne([{1, 3}, {2, 4}])] if apart else [Elementary()]
    counts = counts or [(0, customers)] * depots
    for g in range(depots):
        load = Resource({i + 1: int(demand[i]) for i in range(size)}, upper[g][0], name="load")
        late = {i + 1: int(due[i]) for i in range(size)} | {0: upper[g][1]}
        early = {i + 1: int(ready[i]) for i in range(size)}
        time = Resource([paths[g][pair] for pair in arcs[g]], late, early, name="time")
        flow = [m.x[g, i, j] for i, j in arcs[g]]
        graph = tuple(zip(*arcs[g], strict=True))
        m.add_component(f"depot_{g}", Paths(graph, flow, 0, 0, count=counts[g], resources=[load, time], rules=rules))
    sets = [[] for _ in range(depots)]
    for g, length in itertools.product(range(depots), range(1, customers + 1)):
        for route in itertools.permutations(range(1, size + 1), length):
            served = frozenset(stops[i - 1][0] for i in route)
            pairs = list(itertools.pairwise((0, *route, 0)))
            if len(served) < length or not all(pair in costs[g] for pair in pairs):
                continue
            if sum(demand[i - 1] for i in route) > upper[g][0] or (apart and not allowed(route)):
                continue
            now, late = 0, False
            for i, j in pairs:
                now = max(now + paths[g][i, j], ready[j - 1] if j else 0)
                late |= now > (due[j - 1] if j else upper[g][1])
            if not late:
                sets[g].append((served, sum(costs[g][pair] for pair in pairs)))
    return m, sets


def allowed(route):
    return not ({1, 3} <= set(route) or {2, 4} <= set(route))


def least(sets, counts):
    """Return the optimum with limits on the number of paths of two graphs, by the customers that the first serves."""
    everyone, found = frozenset(range(1, 6)), np.inf
    for size in range(6):
        for mine in map(frozenset, itertools.combinations(sorted(everyone), size)):
            found = min(found, exact(sets[0], mine, counts[0]) + exact(sets[1], everyone - mine, counts[1]))
    return found


def exact(sets, members, count):
    """Return the least cost of a partition of members into a number of sets within limits."""
    if not members:
        return 0.0 if count[0] <= 0 else np.inf
    if count[1] <= 0:
        return np.inf
    first = min(members)
    rest = count[0] - 1, count[1] - 1
    return min(
        (cost + exact(sets, members - each, rest) for each, cost in sets if first in each and each <= members),
        default=np.inf,
    )


@pytest.mark.parametrize("seed", seeds(40, 8))
@pytest.mark.parametrize(("apart", "places"), [(False, 1), (True, 1), (False, 2)])
def test_windows_missing_arcs_and_rules(seed, apart, places):
    model, sets = random_program(seed, apart=apart, places=places)
    best = partition([pair for each in sets for pair in each], 5)
    found = first_answer(decompose(model))
    assert found >= best - 1e-9
    assert found == pytest.approx(best, rel=0.05) or best == np.inf or found == np.inf


@pytest.mark.parametrize("seed", seeds(40, 8))
def test_numbers_of_paths(seed):
    counts = [(0, 1), (1, 2)]
    model, sets = random_program(seed, counts=counts)
    assert first_answer(decompose(model)) >= least(sets, counts) - 1e-9


def test_small_searches_rarely_miss_the_optimum():
    missed = 0
    for seed in range(20):
        counts = [(0, 2), (1, 2)] if seed % 2 else [(0, 5), (0, 5)]
        model, sets = random_program(seed, counts=counts)
        missed += first_answer(decompose(model)) > least(sets, counts) + 1e-9
    assert missed == 0


def test_pickups_with_deliveries_are_not_supported():
    model, _ = routing(0, rules=(Elementary(), Requests([(1, 2)])))
    problem = decompose(model)
    search = Partitions(problem.blocks, problem._partitioned)
    assert not search.are_supported
    assert search.start(never) == search.improve([], steps=10) == []


@pytest.mark.parametrize("graphs", [1, 2])
def test_a_search_starts_from_given_paths(graphs):
    problem = decompose(routing(1, graphs=graphs)[0])
    search = Partitions(problem.blocks, problem._partitioned)
    paths = min(search.start(never), key=lambda paths: sum(problem.oracles[p.number].encode(p).cost for p in paths))
    assert set(search.improve(paths, steps=0)) == set(paths)
    assert set(search.improve(paths[1:], steps=0)) == set(paths[1:])


def test_paths_over_vertices_without_a_row_are_no_start():
    model, _ = routing(1)
    model.visit[1].deactivate()
    problem = decompose(model)
    search = Partitions(problem.blocks, problem._partitioned)
    alone = [problem.path(problem.blocks[0].name, (0, i, 0)).structure for i in (1, 2)]
    assert search.improve(alone, steps=0) == alone[1:]
