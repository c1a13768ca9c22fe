"""Shortest paths and the potentials that prove them, against all simple paths."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.arrays import ArrayError
from colgen.solvers.flows.shortest_paths import search
from colgen.solvers.flows.shortest_paths import shortest_paths as shortest_path_each
from colgen.solvers.topological import topological_ranks

NODES = 5


@st.composite
def networks(draw):
    arcs = draw(st.lists(st.tuples(*[st.integers(0, NODES - 1)] * 2), min_size=1, max_size=12))
    scale = 2.0 ** draw(st.integers(-60, 60)) * draw(st.sampled_from([1.0, 1 / 3]))
    low = draw(st.sampled_from([-4, 0]))
    cost = st.one_of(st.integers(low, 9).map(float), st.just(np.inf))
    costs = [scale * draw(cost) for _ in arcs]
    return [u for u, _ in arcs], [v for _, v in arcs], costs


def shortest_paths(tails, heads, costs, nodes, source, sink, most):
    """Return the paths, and the potentials or None."""
    tails, heads, costs = np.array(tails), np.array(heads), np.array(costs)
    place = topological_ranks(nodes, tails, heads)
    order = np.arange(len(tails)) if place is None else np.argsort(place[tails], kind="stable")
    potentials, found = np.zeros(nodes), np.zeros((most, len(tails)), dtype=bool)
    count = search(tails, heads, costs, order, source, sink, potentials, found)
    return found[: max(count, 0)], None if count < 0 else potentials


def paths_to(tails, heads, costs, start, end, met=()):
    """All simple paths, as tuples of arcs."""
    if start == end:
        yield ()
        return
    for a, (u, v) in enumerate(zip(tails, heads, strict=True)):
        if u == start and v not in (*met, start) and costs[a] < np.inf:
            for rest in paths_to(tails, heads, costs, v, end, (*met, start)):
                yield (a, *rest)


def circuits(tails, heads, costs):
    for a, (u, v) in enumerate(zip(tails, heads, strict=True)):
        if costs[a] < np.inf:
            for rest in paths_to(tails, heads, costs, v, u):
                yield (a, *rest)


def length(path, costs):
    return sum((Fraction(costs[a]) for a in path), Fraction(0))


@given(networks())
def test_no_path_is_shorter_and_potentials_prove_it(network):
    tails, heads, costs = network
    paths, p = shortest_paths(tails, heads, costs, NODES, 0, NODES - 1, most=3)
    size = max((abs(c) for c in costs if c < np.inf), default=0.0)
    gains = min((length(path, costs) for path in circuits(tails, heads, costs)), default=0)
    if p is None:
        assert gains < 2**-40 * size
        return
    assert gains >= -(2**-40) * size
    for u, v, cost in zip(tails, heads, costs, strict=True):
        assert cost + p[u] - p[v] >= -(2**-40) * size
    every = {tuple(sorted(path)): length(path, costs) for path in paths_to(tails, heads, costs, 0, NODES - 1)}
    assert (len(paths) > 0) == bool(every)
    if every:
        chosen = [tuple(np.flatnonzero(path).tolist()) for path in paths]
        assert len(set(chosen)) == len(chosen)
        assert set(chosen) <= set(every)
        assert float(every[chosen[0]] - min(every.values())) <= 2**-40 * size
        assert p[NODES - 1] - p[0] == pytest.approx(float(every[chosen[0]]), abs=2**-40 * size)


def test_others_have_arcs_of_their_own():
    paths, _ = shortest_paths([0, 0, 0, 1, 2, 3], [1, 2, 3, 4, 4, 4], [1, 2, 3, 0, 0, 0], 5, 0, 4, most=9)
    assert [np.flatnonzero(path).tolist() for path in paths] == [[0, 3], [1, 4], [2, 5]]


@given(networks())
def test_many_costs_at_once_give_the_same_paths(network):
    tails, heads, costs = network
    both = np.array([costs, [abs(c) for c in costs]])
    if any(length(circuit, costs) < 0 for circuit in circuits(tails, heads, costs)):
        with pytest.raises(ArrayError, match="costs 0"):
            shortest_path_each(tails, heads, both, nodes=NODES, source=0, sink=NODES - 1)
        return
    lengths, found = shortest_path_each(tails, heads, both, nodes=NODES, source=0, sink=NODES - 1)
    for own, value, path in zip(both, lengths, found, strict=True):
        least = min((length(p, own) for p in paths_to(tails, heads, own, 0, NODES - 1)), default=np.inf)
        assert value == pytest.approx(float(least), rel=1e-9, abs=1e-9 * np.abs(own[own < np.inf]).sum())
        assert value == (own[path].sum() if path.any() else np.inf)
