"""Shortest paths to many sinks against Bellman and Ford's algorithm."""

import numpy as np
import pytest

from colgen.solvers.flows.many_sinks import ManySinks


def distances(vertices, tails, heads, costs, source):
    found = np.full(vertices, np.inf)
    found[source] = 0.0
    for _ in range(vertices):
        np.minimum.at(found, heads, found[tails] + costs)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_paths_are_shortest_at_changing_costs(seed):
    rng = np.random.default_rng(seed)
    vertices, arcs = int(rng.integers(2, 20)), int(rng.integers(1, 80))
    tails, heads = rng.integers(0, vertices, arcs), rng.integers(0, vertices, arcs)
    sources, sinks = rng.integers(0, vertices, 9), rng.integers(0, vertices, 9)
    finder = ManySinks(vertices, tails, heads, sources, sinks)
    costs, searched = rng.integers(0, 6, arcs).astype(float), []
    for _ in range(12):
        found = finder.search(costs)
        searched.append(found.searched)
        for k, (source, sink) in enumerate(zip(sources, sinks, strict=True)):
            assert found.distances[k] == distances(vertices, tails, heads, costs, source)[sink]
            path = found.arcs[found.starts[k] : found.starts[k + 1]]
            if np.isfinite(found.distances[k]):
                assert costs[path].sum() == found.distances[k]
                assert [source, *heads[path]] == [*tails[path], sink]
            else:
                assert not len(path)
        changed = rng.integers(0, arcs, 2)
        costs = costs.copy()
        costs[changed] = np.where(rng.random(2) < 0.2, np.inf, rng.integers(0, 6, 2))
    assert searched[0] == len(np.unique(sources))
    assert sum(searched) < 12 * searched[0] or searched[0] == 1
