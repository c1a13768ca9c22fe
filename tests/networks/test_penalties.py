"""Penalties for values of resources: the optimum of enumeration, in the layer and in the compact model."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import CompactModel, InputError, Paths, Termination, WarmStart, decompose, solve
from colgen.decomposition.undecomposed import Undecomposed
from colgen.networks import Elementary, Neighbourhoods, Resource
from tests.networks.programs import partition, soft_windows


def _compact_optimum(m):
    for paths in list(m.component_objects(pyo.Block, active=True)):
        assert paths.compact() == ()
    return solve(Undecomposed(CompactModel.from_pyomo(m))).objective


@pytest.mark.parametrize(("graphs", "waiting", "rules"), [(1, True, Elementary()), (2, True, Neighbourhoods(3))])
@pytest.mark.parametrize("seed", range(12))
def test_routes_pay_for_lateness_and_for_the_time_at_the_depot(seed, graphs, waiting, rules):
    m, best = soft_windows(seed, customers=5, graphs=graphs, waiting=waiting, rules=(rules,))
    result = solve(decompose(m))
    if best == math.inf:
        assert result.objective is None
        return
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(best, rel=1e-9)
    assert result.dual_bound == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("most", [np.inf, 1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_the_compact_model_has_the_same_optimum(seed, most):
    m, best = soft_windows(seed, customers=4, waiting=seed % 2 == 0, most=most)
    if best < math.inf:
        assert solve(decompose(m)).objective == pytest.approx(best)
        assert _compact_optimum(m) == pytest.approx(best)


def test_a_given_path_pays_its_penalty():
    m, _ = soft_windows(1, customers=4)
    problem = decompose(m)
    for route in ((0, 1, 0), (0, 2, 1, 0)):
        column = problem.path("type_0", route)
        block = problem.blocks[0]
        steps = block.follow(column.structure.arcs)
        assert column.cost == pytest.approx(block.costs[steps].sum() + block.penalty(steps))
        assert solve(decompose(m), start=WarmStart(columns=[column])).termination is Termination.OPTIMAL


def _line(penalty, upper=9.0):
    """Return a model of two machines' jobs in time: a chain of vertices without cycles."""
    m = pyo.ConcreteModel()
    arcs = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
    m.x = pyo.Var(arcs, domain=pyo.Binary)
    m.visit = pyo.Constraint(["a", "b"], rule=lambda m, v: sum(m.x[i, j] for i, j in arcs if j == v) == 1)
    m.cost = pyo.Objective(expr=4 * (m.x["s", "a"] + m.x["s", "b"]))
    time = Resource({"a": 2, "b": 3}, upper, penalty=penalty, name="time")
    m.jobs = Paths(tuple(zip(*arcs, strict=True)), m.x, "s", "t", resources=[time])
    return m


@pytest.mark.parametrize("upper", [9.0, math.inf])
@pytest.mark.parametrize(("rate", "best"), [(1.0, 6.0), (3.0, 8.0), (0.0, 4.0)])
def test_acyclic_graphs_and_resources_without_limit(rate, best, upper):
    m = _line(({"b": 3.0}, {"b": rate}), upper)  # b ends 2 late after a, or on time on a machine of its own
    assert solve(decompose(m)).objective == pytest.approx(best)
    assert _compact_optimum(m) == pytest.approx(best)


@pytest.mark.parametrize(
    ("penalty", "message"),
    [
        (3.0, "penalty of resource 'time': expected a pair of thresholds and rates, not 3.0"),
        (({"b": 3.0}, -1.0), "vertex 's' has threshold inf and rate -1, expected numbers, and a rate of at least 0"),
        (({"c": 3.0}, 1.0), "penalty of resource 'time': thresholds: 'c' is not a vertex of the graph"),
    ],
)
def test_invalid_penalties_raise(penalty, message):
    with pytest.raises(InputError, match=message):
        _line(penalty)


@pytest.mark.parametrize("seed", range(6))
def test_an_arc_of_large_negative_consumption_recharges_a_battery(seed):
    rng = np.random.default_rng([seed, 5])
    customers, battery, wage = range(1, 4), 20, float(rng.integers(0, 3))
    far = rng.integers(3, 11, (5, 5))  # the last place is the station
    due = rng.integers(5, 20, 4)
    number = {"in": 4, "out": 4} | {i: i for i in range(4)}
    arcs = [
        (i, j) for i in number for j in number if number[i] != number[j] and i != "in" and j != "out"
    ] + [("in", "out")]  # fmt: skip
    kilometres = [-battery if i == "in" else int(far[number[i], number[j]]) for i, j in arcs]
    minutes = [4 if i == "in" else int(far[number[i], number[j]]) for i, j in arcs]
    m = pyo.ConcreteModel()
    m.x = pyo.Var(arcs, domain=pyo.NonNegativeIntegers)
    m.visit = pyo.Constraint(customers, rule=lambda m, v: sum(m.x[arc] for arc in arcs if arc[1] == v) == 1)
    m.cost = pyo.Objective(expr=sum(int(far[number[i], number[j]]) * m.x[i, j] for i, j in arcs if i != "in"))
    time = Resource(minutes, 60, penalty=({v: int(due[v]) for v in customers} | {0: 0}, {0: wage, 1: 2, 2: 3, 3: 1}))
    charge = Resource(kilometres, battery, 0, name="charge")
    once = Neighbourhoods(remembered={v: list(customers) for v in number})
    graph = tuple(zip(*arcs, strict=True))
    m.vans = Paths(graph, [m.x[arc] for arc in arcs], 0, 0, resources=[time, charge], rules=[once])
    cheapest: dict[frozenset[int], float] = {}

    def walk(at, minute, used, paid, seen):
        for head in {0, 4, *customers} - seen - {at}:
            used_then, now = used + far[at, head], minute + far[at, head]
            cost = paid + far[at, head]
            if used_then > battery or now > 60:
                continue
            if head == 0:
                cheapest[seen] = min(cost + wage * now, cheapest.get(seen, math.inf))
            elif head == 4:
                walk(4, now + 4, 0, cost, seen) if now + 4 <= 60 else None
            else:
                late = {1: 2, 2: 3, 3: 1}[head] * max(0, now - due[head])
                walk(head, now, used_then, cost + late, seen | {head})

    walk(0, 0, 0, 0.0, frozenset())
    best = partition(list(cheapest.items()), len(customers))
    result = solve(decompose(m))
    assert result.objective == (None if best == math.inf else pytest.approx(best))
