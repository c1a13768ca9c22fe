"""Ruin and recreate over several graphs: hand-made cases; :mod:`tests.networks.test_partitions` enumerates paths."""

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths import ruin
from colgen.solvers.paths.ruin import _neighbours, improve_partition
from colgen.solvers.paths.tours import Data


def data(costs, capacities, *, most=None, least=None, loads=None):
    """Return graphs over common vertices with one load, 1 at each vertex by default."""
    costs = np.array(costs, dtype=np.float64)
    graphs, size, _ = costs.shape
    loads = np.array([[0.0, *([1.0] * (size - 1) if loads is None else loads)]])
    return Data(
        costs,
        loads,
        np.array(capacities, dtype=np.float64)[:, np.newaxis],
        np.zeros((graphs, 0, size, size)),
        np.zeros((graphs, 0, size)),
        np.zeros((graphs, 0, size)),
        np.arange(1, size + 1),
        np.zeros((graphs, 0, 0), dtype=np.bool_),
        np.array([0] * graphs if least is None else least),
        np.array([size] * graphs if most is None else most),
        True,
    )


LINE = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))


def test_a_route_changes_to_a_larger_vehicle():
    found = improve_partition(data([LINE, 1.1 * LINE], [2, 4]), [(0, (1, 2)), (0, (3, 4))], steps=200)
    assert [(g, sorted(route)) for g, route in found] == [(1, [1, 2, 3, 4])]


def test_a_route_changes_to_a_cheaper_vehicle():
    found = improve_partition(data([2.0 * LINE, LINE], [4, 4]), [(0, (1, 2, 3, 4))], steps=50)
    assert [(g, sorted(route)) for g, route in found] == [(1, [1, 2, 3, 4])]


def test_numbers_of_routes():
    few = data([LINE, 9.0 * LINE], [2, 2], most=[1, 5])
    assert sorted(g for g, _ in improve_partition(few, [], steps=200)) == [0, 1]
    many = data([LINE, 9.0 * LINE], [4, 4], least=[0, 2])
    assert sum(g for g, _ in improve_partition(many, [], steps=200)) == 2


def test_a_task_without_a_route_is_left_out():
    found = improve_partition(data([LINE], [2], loads=[1, 1, 3, 1]), [], steps=100)
    assert sorted(i for _, route in found for i in route) == [1, 2, 4]
    assert improve_partition(data([LINE], [0]), [], steps=10) == []


def test_a_tight_fleet_is_filled():
    """Loads 4, 3, 3, 2, 2, 2 fill two vehicles of 8 in one way only: 4, 2, 2 and 3, 3, 2."""
    line = np.abs(np.subtract.outer(np.arange(7.0), np.arange(7.0)))
    found = improve_partition(data([line], [8], most=[2], loads=[4, 3, 3, 2, 2, 2]), [], steps=500)
    assert sorted(i for _, route in found for i in route) == [1, 2, 3, 4, 5, 6]


def test_a_round_continues_from_the_present_routes_and_the_best_are_returned(monkeypatch):
    """Annealing that begins again from the best routes in each round ends 1% above the others on 128 customers."""
    points = np.random.default_rng(0).uniform(0.0, 100.0, (13, 2))
    distances = np.linalg.norm(points[:, np.newaxis] - points, axis=2)
    given, returned = [], []

    def watched(data, order, now, best, *rest):
        given.append((now, best))
        returned.append(original(data, order, now, best, *rest))
        return returned[-1]

    def length(routes):
        flat, ends, _ = routes
        stops = [[0, *route, 0] for route in np.split(flat, ends[:-1])]
        return sum(distances[route[:-1], route[1:]].sum() for route in stops)

    original = ruin._ruin_and_recreate
    monkeypatch.setattr(ruin, "_ruin_and_recreate", watched)
    monkeypatch.setattr(ruin, "_ROUND", 13 * 20)
    found = improve_partition(data([distances], [4]), [(0, (i,)) for i in range(1, 13)], steps=400, hot=1.0)
    assert len(given) == 20
    for (now, best), (last, best_before) in zip(given[1:], returned, strict=False):
        assert now is last
        assert best is best_before
        assert length(best) <= length(now) * (1.0 + 1e-9)
    assert max(length(now) / length(best) for now, best in given) > 1.05
    assert sum(length((np.array(r), np.array([len(r)]), None)) for _, r in found) == pytest.approx(
        min(length(best) for _, best in returned)
    )


def test_without_steps_routes_stay():
    assert improve_partition(data([LINE], [4]), [(0, (2, 1)), (0, (4, 3))], steps=0) == [(0, (2, 1)), (0, (4, 3))]
    assert improve_partition(data([LINE], [4]), [], steps=10, expired=lambda: True) == []


def test_arcs_in_one_direction_make_neighbours():
    """With time windows most pairs have an arc in one direction; the others came last, in any order."""
    costs = np.full((1, 4, 4), np.inf)
    costs[0, 1, 2], costs[0, 1, 3], costs[0, 3, 1] = 1.0, 5.0, 5.0
    assert _neighbours(costs)[1].tolist() == [2, 3, 1]
    assert _neighbours(costs)[2].tolist()[0] == 1


def test_free_arcs_end_the_search():
    assert improve_partition(data([0.0 * LINE], [4]), [(0, (1, 2))], steps=10) == [(0, (1, 2))]


@pytest.mark.parametrize(
    ("changes", "routes", "message"),
    [
        ({"loads": np.zeros((1, 4))}, [], r"loads: expected numbers of shape \(1, 5\), got \(1, 4\)"),
        ({"most": np.array([np.nan])}, [], "most: expected numbers"),
        ({"begin": np.array([1, 1, 5])}, [], "begin: expected increasing numbers from 1 to 5"),
        ({}, [(0, (1, 1))], "routes: expected different vertices from 1 to 4"),
        ({}, [(0, (0,))], "routes: expected different vertices from 1 to 4"),
        ({}, [(1, (2,))], "routes: expected graphs from 0 to 0"),
        ({}, [(0, ())], "routes: expected graphs from 0 to 0 and at least one vertex"),
    ],
)
def test_bad_input(changes, routes, message):
    with pytest.raises(ArrayError, match=message):
        improve_partition(data([LINE], [4])._replace(**changes), routes, steps=1)
    with pytest.raises(ArrayError, match="steps"):
        improve_partition(data([LINE], [4]), [], steps=-1)
