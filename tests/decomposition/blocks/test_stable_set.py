"""Stable sets are recognized, and priced as HiGHS and enumeration price them."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import decompose, solve
from colgen.decomposition.blocks import stable_set
from colgen.decomposition.blocks.stable_set import StableSet, stable_set_of
from colgen.solvers.linear.highs import LPStatus
from tests.amounts import examples
from tests.decomposition import models
from tests.decomposition.pricing import compare


def block(rule, rows, variables=8):
    """A model of binary variables ``m.x[0, j]``."""
    m = pyo.ConcreteModel()
    m.k, m.j = pyo.RangeSet(0, 1), pyo.RangeSet(0, variables - 1)
    m.x = pyo.Var(m.k, m.j, domain=pyo.Binary)
    m.own = pyo.Constraint(m.k, range(rows), rule=lambda m, k, r: rule([m.x[k, j] for j in m.j], r))
    m.link = pyo.Constraint(m.j, rule=lambda m, j: m.x[0, j] + m.x[1, j] >= 1)
    m.o = pyo.Objective(expr=sum((1 + k + j) * m.x[k, j] for k in m.k for j in m.j))
    return decompose(m, "k", aggregate=False).splitting.subproblems[0]


@pytest.mark.parametrize("seed", range(examples(6, 60)))
def test_points_and_bounds_agree_with_enumeration_and_highs(seed):
    sub = decompose(models.colours(seed), "colour", aggregate=False).splitting.subproblems[0]
    kernel = stable_set_of(sub)
    assert isinstance(kernel, StableSet)
    compare(sub, kernel, np.random.default_rng(seed))


RULES = {
    "cliques": (lambda x, r: x[r] + x[r + 1] + x[(3 * r) % 8] <= 1, (1, 2, 3, 5)),
    "cover": (lambda x, r: 5 * x[r] + 5 * x[(r + 3) % 8] >= 5, range(8)),
    "weights": (lambda x, r: 3 * x[r] + 4 * x[(r + 1) % 8] + 5 * x[(r + 3) % 8] <= 6, range(5)),
    "opened": (lambda x, r: x[r] + x[(r + 1) % 7] <= x[7], range(7)),
    "far": (lambda x, r: 0.1 * x[r] + 0.2 * x[(r + 1) % 7] <= 0.25 * x[7], range(7)),
}


@pytest.mark.parametrize("name", RULES)
def test_rows_of_many_kinds_forbid_pairs(name):
    rule, rows = RULES[name]
    rows = list(rows)
    sub = block(lambda x, r: rule(x, rows[r]), len(rows))
    compare(sub, stable_set_of(sub), np.random.default_rng(len(name)))


def test_kernels_and_highs_prove_the_same():
    for seed in range(3):
        for aggregate in (True, False):
            by_kernel, by_highs = (
                solve(decompose(models.colours(seed), "colour", recognize=flag, aggregate=aggregate))
                for flag in (True, False)
            )
            assert by_kernel.is_optimal
            assert by_kernel.objective == by_highs.objective


def test_bounds_are_valid_after_a_limit():
    rng = np.random.default_rng(0)
    conflict = np.triu(rng.random((250, 250)) < 0.1, 1)
    kernel = StableSet(conflict | conflict.T, np.zeros(250, dtype=np.bool_))
    costs = -rng.random(250)
    found = kernel.points(costs, np.zeros(250), np.ones(250), 0.0)
    assert found.status is LPStatus.LIMIT
    assert -np.inf < found.bound <= float(found.points[0] @ costs)
    assert found.bound >= costs.sum() * (1.0 + 1e-9)


def test_other_blocks_are_not_recognized_as_stable_sets():
    for rule in (
        lambda x, r: x[r] + x[r + 1] + x[r + 2] <= 2,
        lambda x, r: x[r] + x[r + 1] == 1,
        lambda x, r: x[r] + x[r + 1] <= 1 if r else x[0] + x[3] >= 1,  # one both as it is and as what it lacks
        lambda x, r: x[r] + x[r + 1] + x[r + 2] <= 2 * x[7],
        lambda x, r: 0.1 * x[r] + 0.2 * x[r + 1] <= 0.3,  # both, but for rounding
        lambda x, r: 3 * x[r] + 2 * x[r + 1] <= 2,  # one of them by itself is too much
    ):
        assert stable_set_of(block(rule, 3)) is None


@pytest.mark.parametrize(("rows", "few"), [(3, True), (8, False)])
def test_highs_prices_long_searches_in_graphs_of_few_cliques(monkeypatch, rows, few):
    sub = block(lambda x, r: x[r % 8] + x[(r + 1) % 8] + x[(r + 3) % 8] <= 1, rows)
    kernel, costs = stable_set_of(sub), -np.arange(1.0, 9.0)
    assert kernel.points(costs, sub.lower, sub.upper).status is LPStatus.OPTIMAL
    monkeypatch.setattr(stable_set, "_NODES", 0)
    assert (kernel.points(costs, sub.lower, sub.upper) is None) is few
