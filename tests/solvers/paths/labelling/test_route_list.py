"""Searches over listed routes against the cost of each route."""

from __future__ import annotations

import math

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.labelling import Labelling
from colgen.solvers.paths.labelling.route_list import RouteList
from tests.solvers.paths.labelling.enumerated import Drawn, cost, draw, walks
from tests.solvers.paths.labelling.test_boxes import boxes_of, charge

SEEDS = range(40)


def listed(drawn: Drawn) -> tuple[RouteList, list[list[int]]]:
    """Return a list of all elementary routes, and their arcs."""
    routes = list(walks(drawn.network, drawn.resources, None))
    solver = Labelling(drawn.network, drawn.resources, neighbourhoods="elementary")
    arcs = np.array([arc for route in routes for arc in route], dtype=np.int64)
    return solver.listed(np.cumsum([0, *map(len, routes)]), arcs), routes


@pytest.mark.parametrize("seed", SEEDS)
def test_searches_find_the_cheapest_routes_with_cuts_and_boxes(seed):
    drawn = draw(seed, scale=[1.0, 1e-8, 12345.678][seed % 3])
    solver, routes = listed(drawn)
    boxes = boxes_of(seed, drawn, 1.0)
    forbidden = np.random.default_rng(seed).random(drawn.network.num_arcs) < 0.1
    costs = [
        math.inf if forbidden[route].any() else cost(drawn, route, cuts=True) + charge(drawn, boxes, route)
        for route in routes
    ]
    given = {"rank_one": drawn.duals, "boxes": boxes, "forbidden": forbidden}
    for _ in range(2):  # coefficients of cuts are kept
        found = solver.price(drawn.costs, routes=3, **given)
        assert found.bound == pytest.approx(min(costs, default=math.inf))
        best = sorted(each for each in costs if each < math.inf)[:3]
        assert found.costs == pytest.approx(np.array(best))
        assert [found.arcs_of(k).tolist() in routes for k in range(len(found))] == [True] * len(best)
    through = solver.completion(drawn.costs, cutoff=4.0, **given)
    assert through.finished
    for arc in range(drawn.network.num_arcs):
        least = min((each for each, route in zip(costs, routes, strict=True) if arc in route), default=math.inf)
        assert through.arcs[arc] == pytest.approx(math.inf if forbidden[arc] else min(least, 4.0))
    few = solver.enumerate(drawn.costs, 2.0, **given)
    assert few.finished
    assert few.costs == pytest.approx(sorted(each for each in costs if each <= 2.0))
    if len(few):
        assert not solver.enumerate(drawn.costs, 2.0, limit=len(few) - 1, **given).finished


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_a_complete_list_has_the_bound_of_labelling(seed):
    drawn = draw(seed)
    solver, routes = listed(drawn)
    every = Labelling(drawn.network, drawn.resources, neighbourhoods="elementary")
    expected = every.price(drawn.costs, rank_one=drawn.duals, cutoff=0.0)
    found = solver.price(drawn.costs, rank_one=drawn.duals, cutoff=0.0, mode="sparse")
    assert found.bound == expected.bound
    assert len(solver) == len(routes)


def test_no_route_is_listed():
    drawn = draw(0)
    none = RouteList(drawn.network, [0], [])
    found = none.price(drawn.costs, rank_one=drawn.duals)
    assert (len(found), found.bound) == (0, math.inf)
    assert len(none.enumerate(drawn.costs, 1.0)) == 0
    assert none.completion(drawn.costs).bound == math.inf


def test_vertices_of_a_route_are_summed():
    drawn = draw(1)
    solver, routes = listed(drawn)
    values = np.arange(drawn.network.num_vertices, dtype=np.uint64) ** 2
    heads = drawn.network.heads
    assert solver.visit_sums(values).tolist() == [int(values[heads[route[:-1]]].sum()) for route in routes]


def test_arcs_outside_the_network_are_refused():
    drawn = draw(0)
    with pytest.raises(ArrayError, match="arcs"):
        RouteList(drawn.network, [0, 1], [drawn.network.num_arcs])
