import math
from itertools import product

import numpy as np
import pytest

from colgen.problems.title_path import random
from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.walks import ascend, completions, graph, tolerance
from tests.sweeps import seeds
from tests.twins.title_path import heaviest


def walks(of):
    """(weight, walk) of every walk without two neighbours of one class."""
    for walk in product(range(len(of.first)), repeat=of.length):
        weight = of.weight(np.array(walk))
        if weight > -math.inf:
            yield weight, walk


def small(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    classes = int(rng.integers(1, n + 1)) if seed % 3 else None
    return random(n, k, seed, num_classes=classes, density=0.7, attraction=float(rng.choice([0, 3])))


def test_arcs_within_a_class_are_removed():
    of = graph(np.zeros((3, 3)), np.zeros(3), np.zeros(3), np.array([0, 1, 0]), 2)
    assert np.isneginf(of.weights).tolist() == [[True, False, True], [False, True, False], [True, False, True]]


@pytest.mark.parametrize("seed", seeds(60))
def test_completions_equal_enumeration(seed):
    of = small(seed).graph
    to_go = completions(of)
    for position in range(of.length):
        rest = of._replace(length=of.length - position, first=np.zeros(len(of.first)))
        best = np.full(len(of.first), -math.inf)
        for weight, walk in walks(rest):
            best[walk[0]] = max(best[walk[0]], weight)
        assert to_go[position] == pytest.approx(best)


@pytest.mark.parametrize("seed", seeds(150))
def test_bound_lies_between_the_best_path_and_the_best_walk(seed):
    instance = small(seed)
    of = instance.graph
    best_walk = max((weight for weight, _ in walks(of)), default=-math.inf)
    optimum = heaviest(instance)
    relaxed = ascend(of)
    assert relaxed.bound <= best_walk + 1e-9
    if optimum is not None:
        assert relaxed.bound >= optimum - 1e-9
    if len(relaxed.path):
        assert instance.check(relaxed.path) == pytest.approx(relaxed.weight)
    if best_walk == -math.inf:
        assert relaxed.bound == -math.inf


@pytest.mark.parametrize("seed", seeds(150))
def test_bound_with_a_known_path_is_valid_and_every_better_path_remains(seed):
    instance = small(seed)
    optimum = heaviest(instance)
    if optimum is None:
        return
    for lower in (-math.inf, optimum - 1.0, optimum - 1e-3, optimum):
        relaxed = ascend(instance.graph, lower)
        assert relaxed.bound >= optimum - 1e-9
        assert relaxed.weight >= lower
        if relaxed.weight > optimum - 1e-6:
            continue
        # The optimal path is better than the known one, so all of it must remain.
        number = {v: k for k, v in enumerate(relaxed.vertices.tolist())}
        assert any(
            instance.objective(path) == pytest.approx(optimum)
            and all(v in number and relaxed.active[j, number[v]] for j, v in enumerate(path))
            for path in product(range(instance.num_vertices), repeat=instance.length)
            if len({instance.classes[v] for v in path}) == len(path)
        )


@pytest.mark.parametrize("seed", seeds(30))
def test_completions_include_penalties(seed):
    of = small(seed).graph
    relaxed = ascend(of, rounds=7)
    inner, penalty = relaxed.graph, relaxed.penalties[relaxed.graph.classes]
    for position in range(of.length):
        rest = inner._replace(length=of.length - position, first=np.zeros(len(inner.first)))
        best = np.full(len(inner.first), -math.inf)
        for weight, walk in walks(rest):
            if all(relaxed.active[position + j, v] for j, v in enumerate(walk)):
                best[walk[0]] = max(best[walk[0]], weight - penalty[list(walk[1:])].sum())
        assert relaxed.to_go[position] == pytest.approx(best)


def test_penalties_make_the_bound_smaller():
    instance = random(30, 6, 0, attraction=5.0)
    plain = ascend(instance.graph, rounds=0)
    assert ascend(instance.graph).bound < plain.bound - 1.0
    assert not plain.penalties.any()
    assert len(set(plain.walk.tolist())) < len(plain.walk)


def test_start_from_given_penalties():
    instance = random(30, 6, 0, attraction=5.0)
    first = ascend(instance.graph)
    again = ascend(instance.graph, rounds=0, penalties=first.penalties)
    assert again.bound == pytest.approx(first.bound)


def test_forbidden_positions_are_not_used():
    instance = random(6, 3, 1)
    active = np.ones((3, 6), dtype=bool)
    active[1] = False
    active[1, 4] = True
    relaxed = ascend(instance.graph, active=active)
    assert relaxed.path[1] == 4


@pytest.mark.parametrize("power", [-30, -7, 30])
@pytest.mark.parametrize("seed", seeds(40))
def test_bounds_scale_with_the_weights(seed, power):
    of = random(25, 5, seed, num_classes=15, attraction=4.0).graph
    plain = ascend(of)
    arrays = (np.ldexp(of.weights, power), np.ldexp(of.first, power), np.ldexp(of.last, power))
    other = ascend(of._replace(weights=arrays[0], first=arrays[1], last=arrays[2]))
    assert math.ldexp(plain.bound, power) == other.bound
    assert np.ldexp(plain.penalties, power).tolist() == other.penalties.tolist()
    assert plain.vertices.tolist() == other.vertices.tolist()
    assert (plain.active == other.active).all()
    assert plain.path.tolist() == other.path.tolist()
    assert plain.rounds == other.rounds


@pytest.mark.parametrize("seed", range(10))
def test_portions_change_nothing(seed, monkeypatch):
    of = random(25, 5, seed, num_classes=15, attraction=4.0).graph
    plain = ascend(of)
    monkeypatch.setattr("colgen.solvers.paths.walks._PORTION", 0)
    small = ascend(of)
    assert (plain.bound, plain.rounds, plain.weight) == (small.bound, small.rounds, small.weight)
    assert plain.penalties.tolist() == small.penalties.tolist()
    assert plain.to_go.tolist() == small.to_go.tolist()
    cut = ascend(of, expired=lambda: True)
    assert cut.rounds <= 1
    assert cut.bound >= plain.bound


def refused(argument, function, *arguments, **how):
    with pytest.raises(ArrayError, match=argument):
        function(*arguments, **how)


def test_invalid_graphs_raise():
    weights, ends, classes = np.zeros((2, 2)), np.zeros(2), np.arange(2)
    refused("weights", graph, np.full((2, 2), np.nan), ends, ends, classes, 1)
    refused("weights", graph, np.full((2, 2), np.inf), ends, ends, classes, 1)
    refused("weights", graph, np.zeros((3, 2)), ends, ends, classes, 1)
    refused("last", graph, weights, ends, np.zeros(3), classes, 1)
    refused("classes", graph, weights, ends, ends, [0.5, 1.5], 1)
    refused("classes", graph, weights, ends, ends, [-1, 0], 1)
    refused("classes", graph, weights, ends, ends, [0, 10**12], 1)
    refused("length", graph, weights, ends, ends, classes, 0)
    refused("length", graph, weights, ends, ends, classes, 10**12)
    of = graph(weights, ends, ends, classes, 2)
    refused("classes", ascend, of._replace(classes=np.array([0, 10**9])))
    refused("penalties", ascend, of, penalties=np.array([0.0, np.nan]))
    refused("penalties", ascend, of, penalties=np.zeros(3))
    refused("active", ascend, of, active=np.ones((2, 3), bool))
    refused("lower", ascend, of, math.nan)


def test_tolerance_grows_with_the_weight():
    assert tolerance(-math.inf) == 0.0
    assert tolerance(0.5) == 1e-9
    assert tolerance(-2e6) == pytest.approx(2e-3)
