"""Paths without short cycles, against the enumeration of all walks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.labelling import Labelling, Network, Resource, attempts
from tests.solvers.paths.labelling.enumerated import Drawn, cost, draw, walks
from tests.solvers.paths.labelling.test_labelling import symmetric

pytestmark = pytest.mark.timeout(120)


def without_cycles(drawn: Drawn, size: int) -> list[list[int]]:
    """Return the walks without cycles of up to ``size`` arcs."""
    found = walks(drawn.network, drawn.resources, np.zeros_like(drawn.neighbourhoods))
    heads = drawn.network.heads
    return [arcs for arcs in found if not any((heads[arcs][k:] == heads[arcs][:-k]).any() for k in range(1, size + 1))]


@pytest.mark.parametrize("cuts", [False, True])
@pytest.mark.parametrize(("size", "direction"), [(2, "both"), (2, "forward"), (3, "both"), (4, "both"), (5, "forward")])
def test_paths_without_short_cycles(size: int, direction: str, cuts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(20):
        drawn = symmetric(seed)[0] if seed % 3 == 0 else draw(seed, windows=seed % 4 != 0)
        monkeypatch.setattr(attempts, "_SMALL", [0, 30_000][seed % 2])
        allowed = without_cycles(drawn, size)
        expected = min((cost(drawn, arcs, cuts=cuts) for arcs in allowed), default=math.inf)
        mine = Labelling(drawn.network, drawn.resources, neighbourhoods=None, cycle=size, direction=direction)
        duals = drawn.duals if cuts else None
        for wanted, cutoff in ((1, math.inf), (5, math.inf), (3, 0.0)):
            found = mine.price(drawn.costs, rank_one=duals, routes=wanted, cutoff=cutoff)
            assert found.bound == min(expected, cutoff), seed
            assert all(found.arcs_of(k).tolist() in allowed for k in range(len(found)))
            if expected < cutoff:
                assert found.costs[0] == expected
        for mode in ("relaxed", "sparse", "tabu"):
            found = mine.price(drawn.costs, rank_one=duals, routes=3, mode=mode)
            assert found.bound is None
            assert all(found.arcs_of(k).tolist() in allowed for k in range(len(found)))
        through = np.full(drawn.network.num_arcs, math.inf)
        for arcs in allowed:
            through[arcs] = np.minimum(through[arcs], cost(drawn, arcs, cuts=cuts))
        assert mine.completion(drawn.costs, rank_one=duals).arcs == pytest.approx(through)
        gap = expected + 2.5
        if expected < math.inf and not cuts:
            listed = mine.enumerate(drawn.costs, gap)
            exact = Labelling(drawn.network, drawn.resources).enumerate(drawn.costs, gap)
            assert listed.costs.tolist() == exact.costs.tolist()


def test_the_order_of_the_last_vertices_counts() -> None:
    """Two labels with the same last vertices: the more expensive one may return earlier to the other's last vertex."""
    tails, heads = [0, 0, 1, 2, 1, 2, 3, 4, 1, 2], [1, 2, 2, 1, 3, 3, 4, 1, 5, 5]
    network = Network(6, tails, heads, 0, 5)
    costs = np.array([0, 0, 5, 1, 0, 0, 0, -9, 0, 0], dtype=float)
    steps = Resource(np.ones(10), 9.0)
    for size in (2, 3, 4):
        mine = Labelling(network, [steps], neighbourhoods=None, cycle=size)
        drawn = Drawn(network, [steps], costs, np.zeros((6, 6), dtype=bool), None)
        best = min(costs[arcs].sum() for arcs in without_cycles(drawn, size))
        assert mine.price(costs).bound == best


def test_more_vertices_than_bits_of_a_word() -> None:
    rng = np.random.default_rng(3)
    network = Network.complete(70)
    load = Resource.on_vertices(network, np.r_[0, rng.integers(5, 9, 70), 0].astype(float), 30.0)
    costs = rng.integers(-9, 30, network.num_arcs).astype(float)
    bounds = []
    for size in (2, 3, 4):
        both = Labelling(network, [load], neighbourhoods=None, cycle=size).price(costs)
        forward = Labelling(network, [load], neighbourhoods=None, cycle=size, direction="forward").price(costs)
        assert both.bound == forward.bound == both.costs[0]
        bounds.append(both.bound)
    elementary = Labelling(network, [load]).price(costs).bound
    assert bounds[0] <= bounds[1] <= bounds[2] <= elementary
    assert Labelling(network, [load], neighbourhoods=None, cycle=99).price(costs).bound == elementary


def test_cycles_need_paths_without_neighbourhoods() -> None:
    network = Network.complete(3)
    load = Resource.on_vertices(network, np.r_[0, np.ones(3), 0], 3.0)
    with pytest.raises(ArrayError, match="expected 0 or at least 2"):
        Labelling(network, [load], neighbourhoods=None, cycle=1)
    with pytest.raises(ArrayError, match="neighbourhoods=None"):
        Labelling(network, [load], cycle=2)
