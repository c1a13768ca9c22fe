import math
import time
from itertools import product

import numpy as np
import pytest

from colgen.problems.title_path import random
from colgen.solvers.paths.elementary_path import heaviest
from colgen.solvers.paths.walks import ascend
from colgen.solvers.stopping import after
from tests.sweeps import seeds
from tests.twins import title_path as naive


def small(seed, most=5):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 6)), int(rng.integers(1, most))
    classes = int(rng.integers(1, n + 1)) if seed % 3 else None
    return random(n, k, seed, num_classes=classes, density=0.8, attraction=float(rng.choice([0, 3, 8])))


def heaviest_walk(instance, remembered, lower):
    """Enumerate: return the heaviest walk above ``lower`` without a repeated remembered class."""
    classes, graph = instance.class_numbers, instance.graph
    best = -math.inf
    for walk in product(range(instance.num_vertices), repeat=graph.length):
        visited = [c for c in classes[list(walk)].tolist() if remembered[c]]
        if len(visited) == len(set(visited)):
            best = max(best, graph.weight(np.array(walk)))
    return best if best > lower else -math.inf


def penalised_classes(relaxed):
    """Return the classes that are remembered because of their penalty."""
    mask = np.zeros(len(relaxed.penalties), dtype=bool)
    present = relaxed.graph.classes
    mask[present] = relaxed.penalties[present] > 0
    return mask


@pytest.mark.parametrize("rounds", [0, 5])
@pytest.mark.parametrize("seed", seeds(120))
def test_walk_equals_enumeration(seed, rounds):
    instance = small(seed)
    relaxed = ascend(instance.graph, rounds=rounds)  # without a path nothing is struck out
    rng = np.random.default_rng(seed)
    remembered = rng.random(instance.num_classes) < 0.5
    for lower in (-math.inf, float(rng.normal())):
        found = heaviest(relaxed, remembered, lower)
        expected = heaviest_walk(instance, remembered | penalised_classes(relaxed), lower)
        assert found.finished
        if expected == -math.inf:
            assert found.bound == -math.inf
            assert not len(found.walk)
            continue
        if instance.graph.weight(found.walk) != pytest.approx(expected):
            # Bounds may leave out walks that repeat a class without a penalty, never paths.
            assert heaviest_walk(instance, np.ones(instance.num_classes, bool), lower) <= found.bound + 1e-9
        assert found.bound == pytest.approx(instance.graph.weight(found.walk))


@pytest.mark.parametrize("states", [1, 3, 20, 1 << 20])
@pytest.mark.parametrize("seed", seeds(60))
def test_remembering_all_classes_is_exact_for_any_memory(seed, states):
    instance = small(seed, most=6)
    optimum = naive.heaviest(instance)
    found = heaviest(ascend(instance.graph, rounds=3), np.ones(instance.num_classes, bool), states=states)
    if optimum is None:
        assert found.bound == -math.inf
    else:
        assert found.bound == pytest.approx(optimum) == pytest.approx(found.weight)
        assert instance.check(found.path) == pytest.approx(optimum)


def test_more_than_64_classes_can_be_remembered():
    instance = random(100, 4, 3, attraction=4.0)
    relaxed = ascend(instance.graph, rounds=8)
    everything = heaviest(relaxed, np.ones(100, bool))
    few = heaviest(relaxed, np.zeros(100, bool))
    assert instance.check(everything.walk) == pytest.approx(everything.bound)
    assert everything.bound <= few.bound + 1e-9


def test_portions_do_not_change_the_result(monkeypatch):
    instance = random(20, 4, 1, attraction=6.0)
    relaxed = ascend(instance.graph, rounds=9)
    bounds = []
    for portion, states in ((256, 300), (16, 1 << 22), (256, 1 << 22), (1 << 17, 1 << 22)):
        monkeypatch.setattr("colgen.solvers.paths.elementary_path._PORTION", portion)
        bounds.append(heaviest(relaxed, np.ones(20, bool), states=states).bound)
    assert bounds == pytest.approx(bounds[:1] * 4)


def test_only_walks_above_the_lower_bound_are_returned():
    instance = random(12, 4, 0)
    relaxed = ascend(instance.graph, rounds=2)
    best = heaviest(relaxed, np.ones(12, bool))
    again = heaviest(relaxed, np.ones(12, bool), best.weight)
    assert again.bound == -math.inf
    assert not len(again.walk)


def test_effort_is_limited():
    instance = random(60, 8, 0, attraction=10.0)
    found = heaviest(ascend(instance.graph, rounds=0), np.ones(60, bool), effort=0, states=3000)
    assert not found.finished
    assert found.bound == math.inf


def test_the_deadline_stops_the_search():
    instance = random(120, 12, 0, attraction=10.0)
    relaxed = ascend(instance.graph, rounds=0)
    started = time.monotonic()
    found = heaviest(relaxed, np.ones(120, bool), expired=after(0.2), states=50_000)
    assert not found.finished
    assert found.bound == math.inf
    assert time.monotonic() - started < 60
