"""Penalties of resources against enumeration: lateness, and wages for the time at the sink."""

import math
from typing import Any

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.labelling import Labelling, Network, Resource, attempts
from tests.solvers.paths.labelling.enumerated import Drawn, cost, draw, walks

SEEDS = 80


def _with_penalties(drawn: Drawn, seed: int) -> list[tuple[Resource, np.ndarray, np.ndarray]]:
    """Return the resources with penalties at some vertices, and their thresholds and rates."""
    rng, n = np.random.default_rng([seed, 3]), drawn.network.num_vertices
    found = []
    for each in drawn.resources:
        threshold = rng.integers(0, 12, n).astype(float)
        rate = np.where(rng.random(n) < 0.6, rng.integers(0, 4, n), 0).astype(float)
        again = Resource(
            each.consumption, each.upper, each.lower, waiting=each.waiting, start=each.start,
            penalty=(threshold, rate), name=each.name,
        )  # fmt: skip
        found.append((again, threshold, rate))
    return found


def _paid(drawn: Drawn, given: list[tuple[Resource, np.ndarray, np.ndarray]], walk: list[int]) -> float:
    """Return what a walk pays for its values."""
    n, total = drawn.network.num_vertices, 0.0
    for resource, threshold, rate in given:
        lower = np.broadcast_to(resource.lower, (n,))
        value = resource.start
        if resource.waiting:
            value = max(value, lower[drawn.network.source])
        for arc in walk:
            head = drawn.network.heads[arc]
            value += resource.consumption[arc]
            if resource.waiting:
                value = max(value, lower[head])
            total += rate[head] * max(0.0, value - threshold[head])
    return total


@pytest.mark.parametrize("direction", ["both", "forward"])
@pytest.mark.parametrize("tight", [False, True], ids=["small", "with bounds"])
def test_searches_agree_with_enumeration(direction: Any, tight: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if tight:
        monkeypatch.setattr(attempts, "_SMALL", 1)
        monkeypatch.setattr(attempts, "_SIZES", (1, 2))
        monkeypatch.setattr(attempts, "_WORTH", (1, 1, 1))
        monkeypatch.setattr(attempts, "_DEARER", 1e9)
    for seed in range(SEEDS):
        drawn = draw(seed, windows=seed % 4 != 0)
        given = _with_penalties(drawn, seed)
        elementary, cuts = seed % 2 == 0, seed % 5 < 3
        duals = drawn.duals if cuts else None
        solver = Labelling(
            drawn.network, [each[0] for each in given], direction=direction,
            neighbourhoods="elementary" if elementary else drawn.neighbourhoods,
        )  # fmt: skip
        allowed = {
            tuple(walk): cost(drawn, walk, cuts=cuts) + _paid(drawn, given, walk)
            for walk in walks(drawn.network, drawn.resources, None if elementary else drawn.neighbourhoods)
        }
        best = min(allowed.values(), default=math.inf)
        found = solver.price(drawn.costs, rank_one=duals, routes=1 + seed % 4)
        assert found.finished
        assert found.bound == best, seed
        assert best == math.inf or found.costs[0] == best, seed
        for mode in ("exact", "relaxed", "sparse", "tabu"):
            found = solver.price(drawn.costs, rank_one=duals, mode=mode, routes=5)  # type: ignore[arg-type]
            for k in range(len(found)):
                assert allowed[tuple(found.arcs_of(k))] == found.costs[k], (seed, mode)


def test_a_later_path_pays_more() -> None:
    network = Network(4, [0, 0, 1, 2, 1], [1, 2, 2, 3, 3], 0, 3)
    time = Resource([2.0, 1.0, 1.0, 1.0, 5.0], 10.0, penalty=([0, 0, 2, 3], [0, 0, 1.5, 2.0]))
    found = Labelling(network, [time]).price(np.zeros(5), routes=5)
    assert {tuple(found.route(k)): found.costs[k] for k in range(len(found))} == {
        (0, 2, 3): 0.0,  # at 2 after 1, at 3 after 2
        (0, 1, 3): 8.0,  # at 3 after 7: 4 too late
    }


def test_what_needs_both_directions_is_refused() -> None:
    network = Network.complete(3)
    time = Resource(np.ones(network.num_arcs), 4.0, penalty=(1.0, 2.0), name="time")
    solver = Labelling(network, [time])
    with pytest.raises(ArrayError, match="completion: expected no penalties"):
        solver.completion(np.ones(network.num_arcs))
    with pytest.raises(ArrayError, match="enumerate: expected resources without penalties"):
        solver.enumerate(np.ones(network.num_arcs), 5.0)
    with pytest.raises(ArrayError, match="rates of time: expected numbers of at least 0, got -1"):
        Resource(np.ones(network.num_arcs), 4.0, penalty=(1.0, -1.0), name="time")
