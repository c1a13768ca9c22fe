"""Clipped resources have the same paths, and labels that are easier to compare."""

import itertools

import numpy as np
import pytest

from colgen.networks.clipping import clipped
from colgen.solvers.paths.labelling import Labelling, Network, Resource
from colgen.solvers.topological import levels


def layered(rng, layers=4, width=3):
    """Return an acyclic network with arcs between consecutive layers."""
    count = layers * width
    arcs = [(0, 1 + k) for k in range(width)]
    for layer, (a, b) in itertools.product(range(layers - 1), itertools.product(range(width), repeat=2)):
        if rng.random() < 0.7:
            arcs.append((1 + layer * width + a, 1 + (layer + 1) * width + b))
    arcs += [(1 + (layers - 1) * width + k, count + 1) for k in range(width)]
    tails, heads = np.array(arcs).T
    return Network(count + 2, tails, heads, 0, count + 1)


def paths(network, vertex=0):
    """Return all paths as lists of arcs."""
    if vertex == network.sink:
        return [[]]
    found = []
    for arc in np.flatnonzero(network.tails == vertex).tolist():
        found += [[arc, *rest] for rest in paths(network, int(network.heads[arc]))]
    return found


@pytest.mark.parametrize("seed", range(30))
def test_the_best_path_between_limits_is_found(seed):
    rng = np.random.default_rng(seed)
    network = layered(rng)
    level = levels(network.num_vertices, network.tails, network.heads)
    used = rng.integers(0, 5, network.num_arcs).astype(float)
    other = rng.integers(-2, 4, network.num_arcs).astype(float)
    lower, upper = np.full(network.num_vertices, -np.inf), np.full(network.num_vertices, 9.0)
    lower[network.sink] = 7.0
    resources = [Resource(used, upper, lower, waiting=False, name="work"), Resource(other, 4.0, -np.inf, name="other")]
    order = Resource(level[network.heads] - level[network.tails], level, level, name="length")
    costs = rng.integers(-9, 9, network.num_arcs).astype(float)
    best = np.inf
    for path in paths(network):
        amounts = np.cumsum(other[path])
        if 7.0 <= used[path].sum() <= 9.0 and (amounts <= 4.0).all():
            best = min(best, costs[path].sum())
    solver = Labelling(network, [order, *clipped(network, level, resources)], neighbourhoods=None)
    found = solver.price(costs)
    assert found.bound == best
    plain = Labelling(network, [order, *resources], neighbourhoods=None).price(costs)
    assert plain.bound == best
    assert found.labels <= plain.labels
