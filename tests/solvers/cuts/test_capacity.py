"""Rounded capacity cuts: valid for all routes, and nearly all that enumeration finds on small graphs."""

import itertools
import math

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.cuts.capacity import violated_capacity


def random_flow(seed, n=7):
    """Return the flow of fractional routes that visit each customer once in total, with any demands."""
    rng = np.random.default_rng(seed)
    flow = np.zeros((n, n))
    for _ in range(4):
        order = rng.permutation(n)
        cuts = np.sort(rng.choice(np.arange(1, n), 2, replace=False))
        for route in np.split(order, cuts):
            for i, j in itertools.pairwise(route):
                flow[i, j] += 0.25
    return flow, rng.integers(1, 6, n).astype(float), 10.0


def excess(flow, demands, capacity, members):
    members = list(members)
    return flow[np.ix_(members, members)].sum() - len(members) + math.ceil(demands[members].sum() / capacity)


def test_sets_are_violated_as_stated_and_the_worst_is_found():
    violated = found = 0
    for seed in range(25):
        flow, demands, capacity = random_flow(seed)
        sets, violations = violated_capacity(flow, demands, capacity, least=1e-6)
        for mine, violation in zip(sets, violations, strict=True):
            assert excess(flow, demands, capacity, np.flatnonzero(mine)) == pytest.approx(violation)
        assert len({tuple(mine) for mine in sets.tolist()}) == len(sets)
        assert (np.diff(violations) <= 0).all()
        every = [s for size in range(2, 8) for s in itertools.combinations(range(7), size)]
        worst = max(excess(flow, demands, capacity, s) for s in every)
        if worst > 1e-6:
            violated += 1
            found += len(sets) > 0 and violations[0] == pytest.approx(worst)
    assert violated >= 10
    assert found >= 0.95 * violated


@pytest.mark.parametrize("seed", range(5))
def test_no_cut_is_violated_by_routes_that_a_vehicle_can_serve(seed):
    rng = np.random.default_rng(seed)
    demands, flow, load, last = rng.integers(1, 6, 12).astype(float), np.zeros((12, 12)), 0.0, -1
    for v in rng.permutation(12).tolist():
        if last >= 0 and load + demands[v] <= 10.0:
            flow[last, v] = 1.0
        else:
            load = 0.0
        load, last = load + demands[v], v
    assert len(violated_capacity(flow, demands, 10.0)[0]) == 0


def test_too_large_demands_are_rejected():
    with pytest.raises(ArrayError, match="capacity: expected"):
        violated_capacity(np.zeros((2, 2)), [3.0, 11.0], 10.0)
    assert violated_capacity([[0.0]], [1.0], 2.0)[0].shape == (0, 1)
