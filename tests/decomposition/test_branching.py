"""Branching on variables of blocks, and on counts of points of identical blocks."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Method, Termination, decompose, solve
from tests.amounts import examples
from tests.decomposition.models import FAMILIES


@pytest.mark.parametrize("seed", range(examples(2, 12)))
@pytest.mark.parametrize("family", ["packing", "cutting"])
def test_merged_blocks_have_the_optimum_of_single_blocks(family, seed):
    make, by = FAMILIES[family]
    together, apart = decompose(make(seed), by), decompose(make(seed), by, aggregate=False)
    assert [sub.count for sub in together.splitting.subproblems] == [5]
    assert len(apart.splitting.subproblems) == 5
    one, other = solve(together), solve(apart)
    assert one.termination is other.termination
    assert one.objective == pytest.approx(other.objective)


@pytest.mark.parametrize("seed", range(examples(4, 20)))
def test_branching_on_pairs_of_bounds_is_complete(seed):
    """Points of any cost, one per copy: only pairs of bounds distinguish some of them."""
    model, best = pieces(seed)
    found = solve(decompose(model, "copy"), method=Method(heuristics=()))
    assert found.termination is Termination.OPTIMAL
    assert found.objective == pytest.approx(best)


def pieces(seed):
    """Four copies of a block of three binary variables and their products, under rows on what they sum up to."""
    draw = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.copy, m.part = pyo.RangeSet(4), pyo.RangeSet(0, 2)
    m.pair = pyo.Set(initialize=[(0, 1), (0, 2), (1, 2)])
    m.x = pyo.Var(m.copy, m.part, domain=pyo.Binary)
    m.both = pyo.Var(m.copy, m.pair, domain=pyo.Binary)
    m.first = pyo.Constraint(m.copy, m.pair, rule=lambda m, c, i, j: m.both[c, i, j] <= m.x[c, i])
    m.second = pyo.Constraint(m.copy, m.pair, rule=lambda m, c, i, j: m.both[c, i, j] <= m.x[c, j])
    m.neither = pyo.Constraint(m.copy, m.pair, rule=lambda m, c, i, j: m.both[c, i, j] >= m.x[c, i] + m.x[c, j] - 1)
    m.total = pyo.Constraint(m.part, rule=lambda m, i: sum(m.x[c, i] for c in m.copy) == 2)
    gains = dict(zip(m.pair, draw.integers(-5, 6, 3).tolist(), strict=True))
    m.cost = pyo.Objective(expr=sum(gains[p] * m.both[c, p] for c in m.copy for p in m.pair))
    choices = itertools.product(itertools.product((0, 1), repeat=3), repeat=4)
    best = min(
        sum(gains[i, j] * x[i] * x[j] for x in chosen for i, j in gains)
        for chosen in choices
        if all(sum(x[i] for x in chosen) == 2 for i in range(3))
    )
    return m, best


@pytest.mark.parametrize("size", [1e3, 1e5, 1e7, 3e8])
@pytest.mark.parametrize("aggregate", [True, False])
def test_large_points_that_are_used_by_small_fractions_hide_no_optimum(size, aggregate):
    """An objective scales with values: an error of 5e-7 in the amount of a point of size 1e7 is 5 units."""
    m = pyo.ConcreteModel()
    m.k, m.j = pyo.RangeSet(0, 1), pyo.RangeSet(0, 1)
    m.x = pyo.Var(m.k, m.j, domain=pyo.Integers, bounds=(0, size))
    m.own = pyo.Constraint(m.k, rule=lambda m, k: 2 * m.x[k, 0] + 5 * m.x[k, 1] <= 9 * size)
    m.link = pyo.Constraint(expr=m.x[0, 1] + m.x[1, 1] <= 4)
    m.gain = pyo.Objective(expr=m.x[0, 1] + m.x[1, 1], sense=pyo.maximize)
    result = solve(decompose(m, "k", aggregate=aggregate))
    assert result.is_optimal
    assert result.objective == 4.0
