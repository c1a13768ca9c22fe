import math
from itertools import permutations, product

import numpy as np
import pytest

from colgen.parallel.executor import seeds_from
from colgen.problems.title_path import random
from colgen.problems.title_path.baseline import exact
from colgen.solvers.paths.colour_coding import (
    _deal,
    best_num_colours,
    complete,
    is_small,
    iterate,
    num_iterations,
    success_probability,
    table_bytes,
)
from tests.sweeps import seeds
from tests.twins.title_path import answers, heaviest


def colours_of(instance, seed, num_colours):
    return _deal(np.uint64(seed), instance.num_classes, num_colours)


@pytest.mark.parametrize("seed", seeds(80))
def test_an_iteration_finds_the_best_colourful_path(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    instance = random(n, k, seed, num_classes=int(rng.integers(1, n + 1)) if seed % 3 else None, density=0.8)
    num_colours = k + int(rng.integers(0, 3))
    seeds = seeds_from(seed, 5)
    found = iterate(instance.graph, num_colours, seeds)
    for weight, one in zip(found.weights, seeds, strict=True):
        colours = colours_of(instance, one, num_colours)[instance.class_numbers]
        colourful = [w for w, path in answers(instance) if len(set(colours[list(path)])) == k]
        assert weight == pytest.approx(max(colourful, default=-math.inf))
    if len(found.path):
        assert instance.check(found.path) == pytest.approx(found.weights.max())


@pytest.mark.parametrize("seed", seeds(60))
def test_a_colour_for_each_class_is_exact(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    instance = random(n, k, seed, num_classes=int(rng.integers(1, n + 1)), density=0.8, attraction=2.0)
    optimum = heaviest(instance)
    weight, path = complete(instance.graph._replace(classes=3 * instance.class_numbers))  # numbers may have gaps
    assert weight == pytest.approx(-math.inf if optimum is None else optimum)
    if optimum is not None:
        assert instance.check(path) == pytest.approx(optimum)


def test_is_small():
    assert is_small(random(200, 3, 0, num_classes=12).graph)
    assert not is_small(random(200, 3, 0, num_classes=12).graph, steps=1e6)
    assert not is_small(random(200, 3, 0, num_classes=12).graph, memory=1 << 20)
    assert not is_small(random(200, 3, 0).graph)


def test_equal_seeds_give_equal_results_in_any_batches():
    instance = random(20, 4, 0, num_classes=15)
    seeds = seeds_from(1, 30)
    whole = iterate(instance.graph, 6, seeds)
    parts = [iterate(instance.graph, 6, seeds[k : k + 7]) for k in range(0, 30, 7)]
    assert np.array_equal(whole.weights, np.concatenate([part.weights for part in parts]))


@pytest.mark.parametrize(("num_classes", "num_colours"), [(7, 3), (12, 5), (4, 6), (1, 2), (100, 7)])
def test_colours_are_dealt_out_evenly(num_classes, num_colours):
    for seed in seeds_from(0, 20):
        counts = np.bincount(_deal(seed, num_classes, num_colours), minlength=num_colours)
        assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize(("k", "r", "m"), [(2, 2, 5), (3, 4, 6), (3, 3, 7), (2, 5, 4), (4, 4, 4), (1, 1, 3), (3, 3, 2)])
def test_success_probability_equals_enumeration(k, r, m):
    dealt = [i % r for i in range(m)]
    assignments = set(permutations(dealt))
    good = sum(len(set(colours[:k])) == k for colours in assignments) if m >= k else 0
    assert success_probability(k, r, m) == pytest.approx(good / len(assignments))
    independent = sum(len(set(colours)) == k for colours in product(range(r), repeat=k)) / r**k
    assert success_probability(k, r) == pytest.approx(independent)
    if m >= k:
        assert success_probability(k, r, m) >= independent - 1e-12


def test_even_dealing_tends_to_independent_colours():
    assert success_probability(4, 6, 100_000) == pytest.approx(success_probability(4, 6), rel=1e-4)


@pytest.mark.parametrize(("k", "r", "m", "n"), [(3, 3, 12, 14), (4, 5, 20, 24)])
def test_measured_success_rate_matches_the_probability(k, r, m, n):
    """The share of iterations that find the known optimum, within four standard deviations."""
    instance = random(n, k, 7, num_classes=m, attraction=2.0)
    optimum, trials = heaviest(instance), 5_000
    p = success_probability(k, r, instance.num_classes)
    weights = iterate(instance.graph, r, seeds_from(2, trials)).weights
    share = float((weights >= optimum - 1e-9).mean())
    assert abs(share - p) < 4.0 * math.sqrt(p * (1.0 - p) / trials)


def test_coloured_vertices_succeed_less_often():
    """The proof's example: a colourful walk through a class twice hides the optimum."""
    k, r = 3, 4
    instance = random(9, k, 0, num_classes=5, attraction=4.0)
    vertices = random(9, k, 0, attraction=4.0)  # the same graph, each vertex a class of its own
    optimum = heaviest(instance)
    assert heaviest(vertices) > optimum + 1e-6
    by_class = iterate(instance.graph, r, seeds_from(0, 2000)).weights
    by_vertex = iterate(vertices.graph, r, seeds_from(0, 2000)).weights
    assert (abs(by_vertex - optimum) < 1e-9).mean() < (abs(by_class - optimum) < 1e-9).mean()


def test_seeds_make_every_colouring():
    seen = {tuple(_deal(seed, 4, 2).tolist()) for seed in seeds_from(0, 400)}
    assert len(seen) == 6  # C(4, 2)


def test_few_classes_need_one_iteration():
    assert success_probability(3, 5, 5) == 1.0
    assert num_iterations(1.0, 1e-6) == 1


@pytest.mark.parametrize("k", range(1, 16))
def test_number_of_colours_minimises_the_running_time(k):
    def running_time(r):  # the source's formula: 2^r times r / (r - i) for i = 0, ..., k - 1
        return 2.0**r * math.prod(r / (r - i) for i in range(k))

    best = best_num_colours(k, 10, memory=1 << 60)
    assert running_time(best) == pytest.approx(min(map(running_time, range(k, 2 * k + 1))))


def test_number_of_colours_tends_to_the_sources_limit():
    assert 400 / best_num_colours(400, 1, memory=1 << 1000) == pytest.approx(0.76804, abs=0.01)


@pytest.mark.parametrize("k", [13, 15])
def test_tables_stay_within_memory(k):
    for n in (100, 300):
        assert table_bytes(best_num_colours(k, n, 1 << 28), n) <= 1 << 28
    assert best_num_colours(k, 10**6, 1 << 10) == k  # as few as there can be


def test_long_paths():
    """With as many classes as colours an iteration is exact."""
    plain = random(13, 12, 0)
    instance = type(plain)(plain.weights, plain.first, plain.last, 12, (*range(11), 11, 11))
    found = iterate(instance.graph, 12, seeds_from(0, 1))
    assert found.weights[0] == pytest.approx(exact(instance).objective)
    assert instance.check(found.path) == pytest.approx(found.weights[0])


@pytest.mark.parametrize("p", [0.5, 0.1, 1e-3])
@pytest.mark.parametrize("failure", [0.5, 1e-2, 1e-6])
def test_number_of_iterations_is_the_least_that_suffices(p, failure):
    t = num_iterations(p, failure)
    assert (1 - p) ** t <= failure * (1 + 1e-9)
    assert t == 1 or (1 - p) ** (t - 1) > failure * (1 - 1e-9)
    assert t <= math.ceil(math.log(1 / failure) / p)  # the source's
