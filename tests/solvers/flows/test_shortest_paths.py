"""Shortest paths and the potentials that prove them, against all simple paths."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.arrays import ArrayError
from colgen.solvers.flows.shortest_paths import shortest_paths

NODES = 5


@st.composite
def networks(draw):
    arcs = draw(st.lists(st.tuples(*[st.integers(0, NODES - 1)] * 2), min_size=1, max_size=12))
    scale = 2.0 ** draw(st.integers(-60, 60)) * draw(st.sampled_from([1.0, 1 / 3]))
    low = draw(st.sampled_from([-4, 0]))
    cost = st.one_of(st.integers(low, 9).map(float), st.just(np.inf))
    costs = [scale * draw(cost) for _ in arcs]
    return [u for u, _ in arcs], [v for _, v in arcs], costs


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
    found = shortest_paths(tails, heads, costs, NODES, 0, NODES - 1, most=3)
    size = max((abs(c) for c in costs if c < np.inf), default=0.0)
    gains = min((length(path, costs) for path in circuits(tails, heads, costs)), default=0)
    if found.potentials is None:
        assert gains < 2**-40 * size
        return
    assert gains >= -(2**-40) * size
    p = found.potentials
    for u, v, cost in zip(tails, heads, costs, strict=True):
        assert cost + p[u] - p[v] >= -(2**-40) * size
    every = {tuple(sorted(path)): length(path, costs) for path in paths_to(tails, heads, costs, 0, NODES - 1)}
    assert (len(found.paths) > 0) == bool(every)
    if every:
        chosen = [tuple(np.flatnonzero(path).tolist()) for path in found.paths]
        assert len(set(chosen)) == len(chosen)
        assert set(chosen) <= set(every)
        assert float(every[chosen[0]] - min(every.values())) <= 2**-40 * size
        assert p[NODES - 1] - p[0] == pytest.approx(float(every[chosen[0]]), abs=2**-40 * size)


def test_others_have_arcs_of_their_own():
    found = shortest_paths([0, 0, 0, 1, 2, 3], [1, 2, 3, 4, 4, 4], [1, 2, 3, 0, 0, 0], 5, 0, 4, most=9)
    assert [np.flatnonzero(path).tolist() for path in found.paths] == [[0, 3], [1, 4], [2, 5]]


def test_what_is_no_network_is_refused():
    with pytest.raises(ArrayError, match="heads"):
        shortest_paths([0], [2], [1.0], 2, 0, 1)
    with pytest.raises(ArrayError, match="costs"):
        shortest_paths([0], [1], [-np.inf], 2, 0, 1)
    with pytest.raises(ArrayError, match="sink"):
        shortest_paths([0], [1], [1.0], 2, 0, 2)
