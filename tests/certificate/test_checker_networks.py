"""The checker's paths through networks against enumeration."""

import random
from fractions import Fraction

import pytest

from colgen.certificate import checker_networks
from colgen.certificate.checker_networks import NetworkPaths
from colgen.certificate.checker_pricing import CheckerState, WrongError
from tests.certificate.test_soundness import network
from tests.fuzz.handmade import NETWORK


@pytest.mark.parametrize("near", [1, 3, 8])
@pytest.mark.parametrize("seed", range(40))
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
