import math

import numpy as np
import pytest

from colgen.problems.title_path import random
from colgen.solvers.paths.path_beam import beam, guided_beam
from colgen.solvers.paths.walks import ascend
from tests.sweeps import seeds
from tests.twins.title_path import heaviest


def naive_beam(instance, width):
    """Sort and cut, with lists."""
    graph, k = instance.graph, instance.length
    kept = [(0.0, ())]
    for j in range(k):
        longer = []
        for weight, path in kept:
            for v in range(instance.num_vertices):
                if instance.classes[v] in {instance.classes[u] for u in path}:
                    continue
                step = graph.first[v] if j == 0 else graph.weights[path[-1], v]
                extra = graph.last[v] if j == k - 1 else 0.0
                if weight + step + extra > -math.inf:
                    longer.append((weight + step + extra, (*path, v)))
        kept = sorted(longer, reverse=True)[:width]
    return kept[0][0] if kept else -math.inf


@pytest.mark.parametrize("width", [1, 2, 5, 1000])
@pytest.mark.parametrize("seed", seeds(60))
def test_beam_equals_sorted_lists(seed, width):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    instance = random(n, k, seed, num_classes=int(rng.integers(1, n + 1)), density=0.8, attraction=2.0)
    weight, path = beam(instance.graph, width)
    assert weight == pytest.approx(naive_beam(instance, width))
    if len(path):
        assert instance.check(path) == pytest.approx(weight)


@pytest.mark.parametrize("seed", seeds(40))
def test_wide_guided_beam_is_exact(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    instance = random(n, k, seed, num_classes=int(rng.integers(1, n + 1)), density=0.8, attraction=3.0)
    weight, path = guided_beam(ascend(instance.graph, rounds=3), 10_000)
    optimum = heaviest(instance)
    assert weight == pytest.approx(-math.inf if optimum is None else optimum)
    if optimum is not None:
        assert instance.check(path) == pytest.approx(optimum)


def test_guidance_helps():
    better = worse = 0
    for seed in range(20):
        instance = random(60, 6, seed, attraction=1.0)
        guided, _ = guided_beam(ascend(instance.graph, rounds=10), 4)
        plain, _ = beam(instance.graph, 4)
        better += guided > plain + 1e-9
        worse += guided < plain - 1e-9
    assert better > 3 * worse
