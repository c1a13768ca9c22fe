"""Knapsacks are recognized, and priced as HiGHS prices them."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import decompose, solve
from colgen.decomposition.blocks.knapsack import knapsack_of
from colgen.solvers.linear.recosted import RecostedMIP
from tests.amounts import examples
from tests.decomposition import models


def of(make, by, seed=0):
    return decompose(make(seed), by).splitting.subproblems[0]


def drawn(seed):
    """A row of any signs, in multiples of 0.1, over integer variables with any bounds."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.k, m.i = pyo.Set(initialize=["only"]), pyo.RangeSet(0, 6)
    ends = [(int(low), int(low + rng.integers(0, 6))) for low in rng.integers(-3, 2, 7)]
    m.x = pyo.Var(m.k, m.i, domain=pyo.Integers, bounds=lambda m, k, i: ends[i])
    w = (rng.integers(-9, 20, 7) / 10).tolist()
    m.own = pyo.Constraint(m.k, rule=lambda m, k: sum(w[i] * m.x[k, i] for i in m.i) + 0 * m.x[k, 0] <= 2.35)
    m.link = pyo.Constraint(m.i, rule=lambda m, i: m.x["only", i] + 0 * m.x["only", i] <= 100)
    m.o = pyo.Objective(expr=sum(m.x["only", i] for i in m.i))
    return decompose(m, lambda c: "only" if c.parent_component().name == "own" else None).splitting.subproblems[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda s: of(models.assignment, "machine", s),
        lambda s: of(models.packing, "bin", s),
        lambda s: of(models.cutting, "roll", s),
        drawn,
    ],
)
@pytest.mark.parametrize("seed", range(examples(2, 20)))
def test_best_points_equal_those_of_highs(make, seed):
    sub, rng = make(seed), np.random.default_rng(seed)
    knapsack = knapsack_of(sub)
    program = RecostedMIP(sub.matrix, sub.lower, sub.upper, sub.row_lower, sub.row_upper, sub.integer)
    for _ in range(8):
        costs = rng.normal(size=len(sub.costs)) * rng.integers(0, 2, len(sub.costs))
        lower, upper = sub.lower.copy(), sub.upper.copy()
        for k in np.flatnonzero(rng.random(len(costs)) < 0.25):
            lower[k] = upper[k] = rng.integers(lower[k], upper[k] + 1)
        program.set_bounds(lower, upper)
        expected, point = program.solve(costs), knapsack.best(costs, lower, upper)
        if point is None:
            assert not len(expected.points)
            continue
        assert point @ costs == pytest.approx(expected.bound, abs=1e-8)
        assert ((point >= lower) & (point <= upper)).all()
        assert (sub.matrix @ point <= sub.row_upper + 1e-9).all()


def test_redundant_set_up_rows_are_dropped():
    m = models.packing(0)
    m.opened = pyo.Constraint(m.bin, m.item, rule=lambda m, b, i: m.x[b, i] <= m.used[b])
    (sub,) = decompose(m, "bin").splitting.subproblems
    assert sub.matrix.shape[0] == 8
    assert knapsack_of(sub) is not None
    assert solve(decompose(m, "bin")).objective == solve(decompose(models.packing(0), "bin")).objective


def test_other_blocks_are_not_recognized_as_knapsacks():
    def second_row(m):
        m.pair = pyo.Constraint(m.machine, rule=lambda m, j: m.x[j, 0] + m.x[j, 1] <= 1)

    def equation(m):
        m.count = pyo.Constraint(m.machine, rule=lambda m, j: sum(m.x[j, t] for t in m.task) == 3)
        m.room.deactivate()

    def continuous(m):
        for v in m.x.values():
            v.domain = pyo.UnitInterval

    def irrational(m):
        m.room.deactivate()
        m.root = pyo.Constraint(m.machine, rule=lambda m, j: sum(2**0.5 * (t + 1) * m.x[j, t] for t in m.task) <= 9)

    for change in (second_row, equation, continuous, irrational):
        model = models.assignment(0)
        change(model)
        assert all(knapsack_of(sub) is None for sub in decompose(model, "machine").splitting.subproblems)
