"""The checker's paths through networks against enumeration."""

import random
from fractions import Fraction

import pytest

from colgen.certificate import checker_networks
from colgen.certificate.checker_networks import NetworkPaths, _most, _paid
from colgen.certificate.checker_pricing import NO, CheckerState, WrongError
from tests.certificate.test_soundness import network
from tests.fuzz.handmade import NETWORK


def followed(data, path):
    """Return the cost of a path by the definitions, or None if the network does not contain it."""
    sink, visited = data["sink"], [data["source"], *(data["arcs"][k][1] for k in path)]
    rows = [row for row in map(data["rows"].__getitem__, visited) if row is not None]
    if visited[-1] != sink or len(set(visited)) < len(visited) or len(set(rows)) < len(rows):
        return None
    if any(sum(v in members for v in visited) > 1 for members in data.get("sets", ())):
        return None
    for pickup, delivery in data.get("requests", ()):
        if [v for v in visited if v in (pickup, delivery)] not in ([], [pickup, delivery]):
            return None
    cost = sum(Fraction(data["arcs"][k][2]) for k in path)
    for each in data["resources"]:
        value = each["start"]
        for at, v in enumerate(visited):
            value += Fraction(each["consumption"][path[at - 1]]) if at else 0
            value = max(value, each["lower"][v]) if each["lower"][v] is not None else value
            if each["upper"][v] is not None and value > each["upper"][v]:
                return None
            threshold, rate = each.get("penalties", {v: (0, 0)})[v]
            cost += Fraction(rate) * max(value - threshold, 0) if at else 0
    return cost


@pytest.mark.parametrize("seed", range(300))
def test_columns_follow_the_definitions(seed):
    chance = random.Random(seed)
    data, paths = network(chance, 3)
    problem = NetworkPaths(0, data, 3)
    for path in paths:
        try:
            cost = problem.column(path)[0]
        except WrongError:
            cost = None
        assert cost == followed(data, path)


@pytest.mark.parametrize("near", [1, 3, 8])
@pytest.mark.parametrize("seed", range(80))
def test_all_paths_within_a_reduced_cost_are_listed(seed, near, monkeypatch):
    monkeypatch.setattr(checker_networks, "NEAR", near)
    chance = random.Random(seed)
    rows = chance.randint(2, 4)
    data, paths = network(chance, rows)
    problem = NetworkPaths(0, data, rows)
    duals, costs = [chance.randint(-2, 6) for _ in range(rows)], dict[int, Fraction]()
    for path in paths:
        try:
            cost, entries = problem.column(path)
        except WrongError:
            continue
        covered = sum(1 << row for row in entries)
        costs[covered] = min(costs.get(covered, cost), cost)
    reduced = {each: cost - sum(d for i, d in enumerate(duals) if each >> i & 1) for each, cost in costs.items()}
    least = problem.least(duals, Fraction(1), {}, CheckerState())
    assert least <= min(reduced.values(), default=0)
    if near == 8:  # neighbourhoods of all vertices
        assert least == min(reduced.values(), default=0)
    for most in sorted({*reduced.values(), Fraction(0)}):
        assert problem.within(duals, Fraction(1), most) == {
            each: costs[each] for each in costs if reduced[each] <= most
        }


def test_more_labels_than_the_limit_raise():
    problem = NetworkPaths(0, {**NETWORK["graphs"][0], "kind": "network", "uses": [0, 2]}, 2)
    problem.limit = 1
    with pytest.raises(WrongError, match="more labels than the limit"):
        problem.least([6, 6], Fraction(1), {}, CheckerState())


@pytest.mark.parametrize("seed", range(60))
def test_the_most_that_values_pay_more_than_others(seed):
    chance = random.Random(seed)
    last = chance.randint(0, 9)
    pays, others = (
        tuple((chance.randint(0, last), chance.randint(0, 3)) for _ in range(chance.randint(0, 4))) for _ in range(2)
    )
    worst = max(_paid((pays,), (x,)) - _paid((others,), (x,)) for x in range(last + 1))
    assert _most((pays, ()), (others, ()), (last, -NO)) == worst


def test_a_cheaper_path_that_pays_more_later_drops_none():
    """From vertex 3 to the sink through 4, or through 5 at a higher cost without a penalty."""
    arcs = [[0, 1, 0], [0, 2, 0], [1, 3, 9], [2, 3, 0], [3, 4, 0], [3, 5, 1], [4, 6, 0], [5, 6, 0]]
    pays = [[0, 0]] * 4 + [[1, 5]] + [[0, 0]] * 2
    time = {"start": 0, "lower": [0] * 7, "upper": [9] * 7, "consumption": [1, 4, *[0] * 6], "penalties": pays}
    data = {"source": 0, "sink": 6, "rows": [None] * 7, "arcs": arcs, "resources": [time]}
    problem = NetworkPaths(0, data, 0)
    assert problem.least([], Fraction(1), {}, CheckerState()) == 1  # 0, 2, 3, 5, 6; through 4 it pays 15
