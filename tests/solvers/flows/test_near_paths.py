"""Near-shortest paths against enumeration of all simple paths."""

import itertools

import numpy as np
import pytest

from colgen.solvers.flows.near_paths import near_shortest_paths


def simple_paths(tails, heads, at, sink, met=()):
    if at == sink:
        return [()]
    found = []
    for a in np.flatnonzero(tails == at).tolist():
        if heads[a] not in (*met, at):
            found += [(a, *rest) for rest in simple_paths(tails, heads, heads[a], sink, (*met, at))]
    return found


@pytest.mark.parametrize("seed", range(20))
def test_all_near_paths_are_listed(seed):
    rng = np.random.default_rng(seed)
    vertices, arcs = int(rng.integers(3, 7)), int(rng.integers(4, 16))
    tails, heads = rng.integers(0, vertices, arcs), rng.integers(0, vertices, arcs)
    costs = rng.integers(0, 5, arcs).astype(float)
    costs[rng.random(arcs) < 0.1] = np.inf
    source, sink = 0, vertices - 1
    every = [path for path in simple_paths(tails, heads, source, sink) if np.isfinite(costs[list(path)].sum())]
    least = min((costs[list(path)].sum() for path in every), default=np.inf)
    slack = float(rng.integers(0, 6))
    expected = sorted(path for path in every if costs[list(path)].sum() <= least + slack)
    starts, found = near_shortest_paths(vertices, tails, heads, costs, source, sink, slack, 1000)
    listed = [tuple(found[begin:end].tolist()) for begin, end in itertools.pairwise(starts)]
    assert sorted(listed) == expected
    if len(expected) > 1:
        assert near_shortest_paths(vertices, tails, heads, costs, source, sink, slack, len(expected) - 1) is None
