"""Labelling against the enumeration of all walks."""

from __future__ import annotations

import importlib
import math
import pathlib

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher as Dispatcher

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.labelling import (
    LabelLimitError,
    Labelling,
    Network,
    RankOneDuals,
    Resource,
    attempts,
    clock,
    coefficients,
    labelling,
    nearest,
    runs,
)
from tests.solvers.paths.labelling.enumerated import Drawn, best, cost, draw, walks

pytestmark = pytest.mark.timeout(120)


def solver(drawn: Drawn, *, elementary: bool, direction: str = "both") -> Labelling:
    memory = "elementary" if elementary else drawn.neighbourhoods
    return Labelling(drawn.network, drawn.resources, neighbourhoods=memory, direction=direction)


@pytest.mark.parametrize("cuts", [False, True])
@pytest.mark.parametrize("direction", ["both", "forward"])
@pytest.mark.parametrize("elementary", [True, False])
def test_the_cheapest_route_equals_enumeration(elementary: bool, direction: str, cuts: bool) -> None:
    for seed in range(30):
        drawn = draw(seed, scale=[1.0, 1e-8, 12345.678][seed % 3], windows=seed % 4 != 0)
        expected = best(drawn, elementary=elementary, cuts=cuts)
        found = solver(drawn, elementary=elementary, direction=direction).price(
            drawn.costs, rank_one=drawn.duals if cuts else None, routes=5
        )
        assert found.finished
        assert found.bound == pytest.approx(expected, rel=1e-9, abs=1e-20), seed
        if expected < math.inf:
            assert found.costs[0] == pytest.approx(expected, rel=1e-9, abs=1e-20), seed
        check(drawn, found, elementary=elementary, cuts=cuts)


def check(drawn: Drawn, found, *, elementary: bool, cuts: bool) -> None:
    """Check that routes are walks with correct, increasing costs and different vertex sets."""
    if not len(found):
        return
    allowed = {
        tuple(arcs) for arcs in walks(drawn.network, drawn.resources, None if elementary else drawn.neighbourhoods)
    }
    visited = set()
    for k in range(len(found)):
        arcs = found.arcs_of(k)
        assert tuple(arcs) in allowed
        assert found.costs[k] == pytest.approx(cost(drawn, list(arcs), cuts=cuts), rel=1e-9, abs=1e-20)
        assert found.route(k).tolist() == [drawn.network.source, *drawn.network.heads[arcs]]
        visited.add(tuple(sorted(found.route(k))))
    assert len(visited) == len(found)
    assert (np.diff(found.costs) >= -1e-9 * np.abs(found.costs).max()).all()


def test_forbidden_arcs_are_not_used() -> None:
    for seed in range(20):
        drawn = draw(seed)
        rng = np.random.default_rng(seed)
        forbidden = rng.random(drawn.network.num_arcs) < 0.3
        expected = best(drawn, elementary=True, cuts=False, forbidden=set(np.flatnonzero(forbidden).tolist()))
        found = solver(drawn, elementary=True).price(drawn.costs, forbidden=forbidden)
        assert found.bound == expected


def test_heuristic_modes_find_routes_without_a_bound() -> None:
    for seed in range(20):
        drawn = draw(seed)
        for mode in ("relaxed", "sparse", "tabu"):
            found = solver(drawn, elementary=True).price(drawn.costs, mode=mode, routes=3, rank_one=drawn.duals)
            assert found.bound is None
            check(drawn, found, elementary=True, cuts=True)


def test_a_cutoff_excludes_routes_and_limits_the_bound() -> None:
    for seed in range(20):
        drawn = draw(seed)
        expected = best(drawn, elementary=True, cuts=False)
        found = solver(drawn, elementary=True).price(drawn.costs, cutoff=-5.0)
        assert found.bound == min(expected, -5.0)
        assert (found.costs < -5.0).all()


def symmetric(seed: int, inner: int = 5) -> tuple[Drawn, np.ndarray]:
    """Return a symmetric network with prizes at the vertices."""
    rng = np.random.default_rng(seed)
    network = Network.complete(inner)
    distance = rng.integers(1, 9, (inner + 2, inner + 2)).astype(float)
    distance = distance + distance.T
    distance[:, inner + 1], distance[inner + 1] = distance[:, 0], distance[0]
    prize = rng.integers(0, 25, inner + 2).astype(float)
    prize[[0, inner + 1]] = 0
    load = rng.integers(2, 6, inner + 2).astype(float)
    load[[0, inner + 1]] = 0
    costs = distance[network.tails, network.heads] - prize[network.heads]
    memory = rng.random((inner + 2, inner + 2)) < 0.5
    duals = draw(seed, windows=False).duals
    count = len(np.asarray(duals.denominators))
    numerators = np.zeros((count, inner + 2), dtype=int)
    numerators[:, 1:-1] = rng.integers(0, 2, (count, inner))
    duals = RankOneDuals(numerators, duals.denominators, rng.random((count, inner + 2)) < 0.6, duals.penalties)
    capacity = float(rng.integers(6, 14))
    return Drawn(network, [Resource.on_vertices(network, load, capacity)], costs, memory, duals), costs


@pytest.mark.parametrize("cuts", [False, True])
def test_symmetric_networks_are_searched_once(cuts: bool) -> None:
    for seed in range(25):
        drawn, costs = symmetric(seed)
        mine = solver(drawn, elementary=False)
        mirror = mine.mirror(costs)
        assert mirror is not None
        assert mine.mirror(costs + (np.arange(len(costs)) == 7)) is None
        found = mine.price(costs, rank_one=drawn.duals if cuts else None, routes=4)
        assert found.bound == best(drawn, elementary=False, cuts=cuts)
        check(drawn, found, elementary=False, cuts=cuts)
        for k in range(len(found)):
            arcs = found.arcs_of(k)
            back = mirror[arcs][::-1]
            assert (drawn.network.heads[back[:-1]] == drawn.network.tails[back[1:]]).all()
            assert costs[back].sum() == pytest.approx(costs[arcs].sum())


def test_a_penalty_at_the_depot_does_not_hide_a_customers_potential() -> None:
    """The depot's arcs to a customer cost 1e11, so differences of their costs are rounding errors."""
    network = Network.complete(3)
    distance = np.array([[0, 1e11, 0.4, 0.4], [1e11, 0, 0.2, 0.2], [0.4, 0.2, 0, 1.0], [0.4, 0.2, 1.0, 0]])
    distance = np.pad(distance, (0, 1), mode="wrap")  # the sink is where the source is
    prize = np.array([0.0, 0.8, 0.2, 0.2, 0.0])
    mine = Labelling(network, [Resource.on_vertices(network, np.array([0.0, 1.0, 1.0, 1.0, 0.0]), 3.0)])
    found = mine.price((distance - prize)[network.tails, network.heads])
    assert sorted(found.route(0).tolist()) == [0, 1, 2, 3, 4]
    assert found.bound == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("cuts", [False, True])
def test_bounds_over_smaller_neighbourhoods_drop_no_cheap_route(cuts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "_SMALL", 0)
    monkeypatch.setattr(attempts, "_SIZES", (1, 2, 3))
    monkeypatch.setattr(attempts, "_WORTH", (1, 20, 40))
    monkeypatch.setattr(attempts, "_DEARER", 1e6)
    for seed in range(40):
        drawn = symmetric(seed)[0] if seed % 2 else draw(seed, windows=seed % 4 == 0, parallel=seed % 3 == 0)
        for wanted, cutoff in ((1, math.inf), (1, 0.0), (4, 0.0)):
            found = solver(drawn, elementary=False).price(
                drawn.costs, rank_one=drawn.duals if cuts else None, routes=wanted, cutoff=cutoff
            )
            expected = best(drawn, elementary=False, cuts=cuts)
            assert found.bound == min(expected, cutoff)
            if expected < cutoff:
                assert found.costs[0] == expected
            check(drawn, found, elementary=False, cuts=cuts)


def test_without_resources_paths_are_elementary_or_an_error_is_raised() -> None:
    for seed in range(20):
        drawn = draw(seed)._replace(resources=[])
        found = Labelling(drawn.network, []).price(drawn.costs)
        assert found.bound == best(drawn, elementary=True, cuts=False)
    with pytest.raises(ArrayError, match="any length"):
        Labelling(drawn.network, [], neighbourhoods=None)


def test_cycles_without_consumption_have_no_more_arcs_than_elementary_paths() -> None:
    """Cycles cost nothing or less, and their arcs consume nothing or there is no resource."""

    for seed in range(30):
        drawn = draw(seed)
        network, rng = drawn.network, np.random.default_rng(seed)
        most = network.num_vertices - 1
        times = rng.integers(0, 3, network.num_arcs) * (rng.random(network.num_arcs) < 0.5)
        upper = rng.integers(2, 6, network.num_vertices).astype(float)
        drawn = drawn._replace(
            resources=[Resource(times, upper, name="time")] if seed % 3 else [],
            costs=np.zeros(network.num_arcs) if seed % 5 == 0 else np.maximum(drawn.costs, -3.0),
        )
        shorter = lambda left, *_: left - 1 if left else None  # noqa: E731
        found = walks(network, drawn.resources, drawn.neighbourhoods, own=shorter, begin=most)
        paid = {tuple(arcs): cost(drawn, arcs, cuts=True) for arcs in found}
        expected = min(paid.values(), default=math.inf)
        for direction in ("both", "forward"):
            mine = solver(drawn, elementary=False, direction=direction)
            assert mine.price(drawn.costs, rank_one=drawn.duals).bound == expected, seed
        mine = solver(drawn, elementary=False)
        through = np.full(network.num_arcs, math.inf)
        for arcs, one in paid.items():
            through[list(arcs)] = np.minimum(through[list(arcs)], one)
        assert mine.completion(drawn.costs, rank_one=drawn.duals).arcs == pytest.approx(through), seed
        listed = mine.enumerate(drawn.costs, 1.5, rank_one=drawn.duals)
        exact = solver(drawn, elementary=True).enumerate(drawn.costs, 1.5, rank_one=drawn.duals)
        assert sorted(listed.costs) == sorted(exact.costs), seed


def test_more_than_64_vertices_take_several_words() -> None:
    rng = np.random.default_rng(3)
    network = Network.complete(90)
    load = Resource.on_vertices(network, np.r_[0, rng.integers(5, 9, 90), 0].astype(float), 20.0)
    costs = rng.integers(-9, 30, network.num_arcs).astype(float)
    one = Labelling(network, [load]).price(costs)
    other = Labelling(network, [load], direction="forward").price(costs)
    assert one.bound == other.bound == one.costs[0]
    assert one.elementary.all()


def test_time_and_label_limits() -> None:
    rng = np.random.default_rng(0)
    network = Network.complete(40)
    load = Resource.on_vertices(network, np.r_[0, np.ones(40), 0], 30.0)
    costs = rng.integers(-99, 9, network.num_arcs).astype(float)
    late = Labelling(network, [load]).price(costs, expired=lambda: True)
    assert not late.finished
    assert late.bound is None
    with pytest.raises(LabelLimitError, match="max_labels"):
        Labelling(network, [load], max_labels=5_000).price(costs)


def test_exhausted_memory_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> None:
        raise MemoryError

    network = Network.complete(40)
    load = Resource.on_vertices(network, np.r_[0, np.ones(40), 0], 30.0)
    costs = np.random.default_rng(0).integers(-99, 9, network.num_arcs).astype(float)
    monkeypatch.setattr(runs, "enlarge", none_left)
    with pytest.raises(LabelLimitError, match="memory is exhausted"):
        Labelling(network, [load]).price(costs)


def test_kernels_release_the_interpreter_lock() -> None:
    folder = pathlib.Path(labelling.__file__).parent
    names = [f"colgen.solvers.paths.labelling.{path.stem}" for path in folder.glob("*.py")]
    found = [each for name in names for each in vars(importlib.import_module(name)).values()]
    options = [each.targetoptions for each in found if isinstance(each, Dispatcher)]
    wrapped = [option for option in options if not option.get("no_cpython_wrapper")]  # the wrapper releases the lock
    assert len(wrapped) > 5
    assert all(option.get("nogil") for option in wrapped)


def test_local_search_starts_from_given_routes() -> None:
    best_found = 0
    for seed in range(20):
        drawn, costs = symmetric(seed, inner=6)
        mine = solver(drawn, elementary=True)
        exact = mine.price(costs, routes=4)
        again = mine.price(costs, mode="tabu", routes=4, starts=[exact.route(0)])
        assert again.costs[0] == exact.costs[0]
        best_found += mine.price(costs, mode="tabu").costs[0] == exact.costs[0]
        assert (mine.price(costs, mode="tabu", routes=9, cutoff=-3.0).costs < -3.0).all()
        asked = iter(range(100))
        assert not mine.price(costs, mode="tabu", expired=lambda asked=asked: next(asked) >= 0).finished
        closed = np.zeros(len(costs), dtype=bool)
        closed[exact.arcs_of(0)] = True
        without = mine.price(costs, mode="tabu", routes=9, starts=[exact.route(0)], forbidden=closed)
        assert not closed[without.arcs].any()
    assert best_found >= 15
    with pytest.raises(ArrayError, match="starts"):
        mine.price(costs, mode="tabu", starts=[[0, 99]])


def test_an_expired_search_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "_SMALL", 0)
    monkeypatch.setattr(attempts, "_SIZES", (1, 2, 3))
    monkeypatch.setattr(attempts, "_WORTH", (1, 2, 3))
    monkeypatch.setattr(clock, "EFFORT", 20)
    drawn = symmetric(4)[0]
    mine = solver(drawn, elementary=False)
    expected = best(drawn, elementary=False, cuts=False)
    for patience in range(40):
        asked = iter(range(10_000))
        found = mine.price(drawn.costs, expired=lambda asked=asked, end=patience: next(asked) >= end)
        assert found.bound == (expected if found.finished else None)
    assert found.finished


@pytest.mark.parametrize("routes", [1, 30])
def test_the_clock_is_checked_during_settling_and_joining(monkeypatch: pytest.MonkeyPatch, routes: int) -> None:
    rng = np.random.default_rng(0)
    network = Network.complete(12)
    load = Resource.on_vertices(network, np.r_[0, np.ones(12), 0], 9.0)
    fuel = Resource(rng.integers(1, 99, network.num_arcs).astype(float), 400.0, name="fuel")
    costs = rng.integers(-99, 99, network.num_arcs).astype(float)
    mine = Labelling(network, [load, fuel])
    expected = mine.price(costs, routes=routes)
    taken = []
    charge = clock.Clock.charge

    def noted(timer: clock.Clock, given: int, left: int) -> None:
        taken.append(given - left)
        charge(timer, given, left)

    monkeypatch.setattr(clock, "EFFORT", 200)
    monkeypatch.setattr(clock.Clock, "charge", noted)
    found = mine.price(costs, routes=routes)
    assert found.bound == expected.bound
    assert found.costs[0] == expected.costs[0]
    assert max(taken) < 2_000  # one label against all others of a vertex may exceed what is given


def test_enumeration_stops_in_time() -> None:
    network = Network.complete(7)
    load = Resource.on_vertices(network, np.r_[0, np.ones(7), 0], 7.0)
    mine, costs = Labelling(network, [load]), np.ones(network.num_arcs)
    assert len(mine.enumerate(costs, 99.0)) == 2**7 - 1
    asked = iter(range(1000))
    late = mine.enumerate(costs, 99.0, expired=lambda: next(asked) >= 0)
    assert not late.finished
    assert not len(late)


def test_coefficients_of_rank_one_cuts() -> None:
    duals = RankOneDuals([[0, 1, 1, 1, 0]], [2], [[False] * 5], [1.0])
    starts, vertices = np.array([0, 5, 9]), np.array([0, 1, 2, 3, 4, 0, 1, 3, 4])
    assert coefficients(duals, starts, vertices).tolist() == [[1], [1]]
    forgetting = RankOneDuals([[0, 1, 0, 1, 0]], [2], [[False] * 5], [1.0])
    assert coefficients(forgetting, starts, vertices).tolist() == [[0], [1]]
    assert coefficients(forgetting, starts, vertices, full=True).tolist() == [[1], [1]]


def test_neighbourhoods_of_the_nearest() -> None:
    network = Network.complete(4)
    weights = np.abs(network.heads - network.tails).astype(float)
    near = nearest(network, weights, 2)
    assert near.sum(axis=1).tolist() == [2, 2, 2, 2, 2, 1]
    assert near[2].nonzero()[0].tolist() == [1, 2]


def test_results_are_the_same_with_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(12):
        drawn = draw(seed, windows=seed % 2 == 0)
        mine = Labelling(drawn.network, drawn.resources, neighbourhoods=drawn.neighbourhoods)
        found = []
        for small in (0, 30_000):
            monkeypatch.setattr(attempts, "_SMALL", small)
            found.append([mine.price(drawn.costs, routes=k, cutoff=c) for k, c in ((1, math.inf), (9, 0.0))])
        for one, other in zip(*found, strict=True):
            assert (one.bound, one.finished) == (other.bound, other.finished)
            assert one.costs[:1].tolist() == other.costs[:1].tolist()


@pytest.mark.parametrize("waiting", [True, False])
@pytest.mark.parametrize("where", ["source", "sink", "inside", "start"])
def test_no_path_visits_a_vertex_whose_window_is_empty(where: str, waiting: bool) -> None:
    for seed in range(12):
        drawn = draw(seed)
        n = drawn.network.num_vertices
        vertex = {"source": 0, "sink": n - 1, "inside": 1 + seed % (n - 2), "start": 0}[where]
        lower, upper = np.zeros(n), np.full(n, 40.0)
        if where == "start":
            upper[0] = 2.0
        else:
            lower[vertex], upper[vertex] = [(5.0, 3.0), (0.0, -math.inf), (math.inf, 9.0)][seed % 3]
        more = Resource(
            np.full(drawn.network.num_arcs, 1.0), upper, lower, waiting=waiting, start=3.0 * (where == "start")
        )
        changed = drawn._replace(resources=[*drawn.resources, more])
        expected = best(changed, elementary=True, cuts=False)
        assert where == "inside" or expected == math.inf
        for direction in ("both", "forward"):
            mine = solver(changed, elementary=True, direction=direction)
            assert mine.price(drawn.costs).bound == expected
            assert mine.completion(drawn.costs).bound == expected
            listed = mine.enumerate(drawn.costs, 1000.0)
            assert listed.finished
            assert min(listed.costs, default=math.inf) == expected
            for mode in ("relaxed", "sparse", "tabu"):
                check(changed, mine.price(drawn.costs, mode=mode, routes=3), elementary=True, cuts=False)
