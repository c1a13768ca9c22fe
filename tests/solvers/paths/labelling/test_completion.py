"""Least costs of routes through arcs, and all routes below a gap, against the enumeration of all walks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from colgen.solvers.paths.labelling import Labelling, Network, Resource
from tests.solvers.paths.labelling.enumerated import cost, draw, walks
from tests.solvers.paths.labelling.test_labelling import symmetric

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("cuts", [False, True])
def test_no_route_through_an_arc_is_cheaper_and_one_costs_as_much(cuts: bool) -> None:
    for seed in range(24):
        drawn = symmetric(seed)[0] if seed % 3 == 0 else draw(seed, windows=seed % 2 == 0)
        expected = np.full(drawn.network.num_arcs, math.inf)
        for arcs in walks(drawn.network, drawn.resources, drawn.neighbourhoods):
            expected[arcs] = np.minimum(expected[arcs], cost(drawn, arcs, cuts=cuts))
        mine = Labelling(drawn.network, drawn.resources, neighbourhoods=drawn.neighbourhoods)
        found = mine.completion(drawn.costs, rank_one=drawn.duals if cuts else None)
        assert found.finished
        assert found.arcs == pytest.approx(expected)
        assert found.bound == pytest.approx(expected.min(initial=math.inf))
        for cutoff in (-8.0, -2.0, 1.0, 5.0):
            short = mine.completion(drawn.costs, rank_one=drawn.duals if cuts else None, cutoff=cutoff)
            assert short.arcs == pytest.approx(np.minimum(expected, cutoff))
        assert mine.completion(drawn.costs, effort=1e7).finished
        if len(expected) > 8:
            for effort in (0.0, 0.5, 1.0):
                assert not mine.completion(drawn.costs, effort=effort).finished


@pytest.mark.parametrize("cuts", [False, True])
def test_all_routes_below_a_gap_are_listed_once(cuts: bool) -> None:
    for seed in range(24):
        drawn = symmetric(seed)[0] if seed % 3 == 0 else draw(seed, windows=seed % 2 == 0)
        own = np.random.default_rng(seed).integers(0, 9, drawn.network.num_arcs).astype(float)
        gap = float(np.random.default_rng(seed).integers(-12, 9))
        memory = "elementary" if seed % 2 else drawn.neighbourhoods
        mine = Labelling(drawn.network, drawn.resources, neighbourhoods=memory)
        found = mine.enumerate(drawn.costs, gap, rank_one=drawn.duals if cuts else None, costs=own)
        best: dict[tuple[int, ...], float] = {}
        for arcs in walks(drawn.network, drawn.resources, None):
            if cost(drawn, arcs, cuts=cuts) < gap:
                visited = tuple(sorted(drawn.network.heads[arcs]))
                best[visited] = min(best.get(visited, math.inf), own[arcs].sum())
        listed = {tuple(sorted(found.route(k)[1:])): own[found.arcs_of(k)].sum() for k in range(len(found))}
        assert found.finished
        assert len(found) == len(best)
        assert listed == pytest.approx(best)
        if len(best) > 1:
            assert not mine.enumerate(drawn.costs, gap, limit=1).finished
            for effort in (0.0, 0.5, 1.0):
                assert not mine.enumerate(drawn.costs, gap, effort=effort).finished
            assert len(mine.enumerate(drawn.costs, gap, effort=1e6)) == len(mine.enumerate(drawn.costs, gap))


def test_completions_do_not_pay_again_for_their_first_vertex() -> None:
    for seed in (72, 87):
        drawn = symmetric(seed)[0]
        every = [(cost(drawn, arcs, cuts=True), arcs) for arcs in walks(drawn.network, drawn.resources, None)]
        for memory in ("elementary", drawn.neighbourhoods):
            mine = Labelling(drawn.network, drawn.resources, neighbourhoods=memory)
            for more in (0.5, 1.5, 3.5):
                gap = min(total for total, _ in every) + more
                below = {tuple(sorted(drawn.network.heads[arcs])) for total, arcs in every if total < gap}
                found = mine.enumerate(drawn.costs, gap, rank_one=drawn.duals)
                assert {tuple(sorted(found.route(k)[1:])) for k in range(len(found))} == below


def test_cycles_of_routes_enlarge_neighbourhoods_until_they_are_elementary() -> None:
    for seed in range(20):
        drawn = draw(seed)
        mine = Labelling(drawn.network, drawn.resources, neighbourhoods=np.zeros_like(drawn.neighbourhoods))
        exact = Labelling(drawn.network, drawn.resources).price(drawn.costs)
        found = mine.price(drawn.costs)
        while not found.elementary.all():
            assert found.bound <= exact.bound
            mine = mine.with_neighbourhoods(mine.enlarge_neighbourhoods(found))
            found = mine.price(drawn.costs)
        assert found.bound == exact.bound


@pytest.mark.parametrize("limits", [{"waiting": False}, {"lower": -math.inf}, {"lower": -math.inf, "start": 1.0}])
def test_walks_of_a_resource_without_a_lower_limit_end(limits: dict[str, Any]) -> None:
    network = Network(4, [0, 1, 2, 1], [1, 2, 1, 3], 0, 3)
    costs = np.array([1.0, -1.0, -1.0, 1.0])  # a cycle of reward
    solver = Labelling(network, [Resource(np.ones(4), 5.0, **limits)], neighbourhoods=None, max_labels=1000)
    bound = solver.price(costs).bound
    assert bound == 0.0
    found = solver.completion(costs)
    assert found.finished
    assert found.bound == bound
    listed = solver.enumerate(costs, 10.0)
    assert listed.finished
    assert [listed.route(k).tolist() for k in range(len(listed))] == [[0, 1, 3]]
