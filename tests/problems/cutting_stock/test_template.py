"""The problem class: subclasses, checks, limits."""

import dataclasses
import time

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    InputError,
    OraclePricing,
    PricingContext,
    Sense,
    Termination,
    TimeLimit,
    WarmStart,
    artificial,
    solve,
)
from colgen.core.budget import Budget
from colgen.core.errors import InfeasibleAnswerError
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, natural, uniform
from colgen.problems.cutting_stock.plans import first_fit_decreasing
from tests.amounts import BUSY
from tests.twins.cutting_stock import optimum

SMALL = CuttingStockInstance(10, (6, 4), (2, 3))


class Twice(CuttingStock):
    """Doubled demands: other rows in the same number."""

    def master(self):
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, self.instance.num_items - 1)
        m.unmet = artificial(m.item)
        m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] >= 2 * self.instance.demands[i])
        m.rolls = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    def warm_start(self, budget):
        return WarmStart(answers=tuple(self.known()))

    def known(self):
        return ()

    def method(self):
        return dataclasses.replace(super().method(), heuristics=(), reductions=(), enumeration=())


def test_a_subclass_may_override_the_master():
    instance = uniform(12, 0)

    def relaxations(kinds):
        return [solve(kind(instance), relaxation=True).objective for kind in kinds]

    plain, twice = relaxations((CuttingStock, Twice))
    assert twice == pytest.approx(2 * plain)
    assert relaxations((Twice, CuttingStock, Twice, CuttingStock)) == pytest.approx([twice, plain, twice, plain])


def test_check_recomputes_the_rolls():
    problem = CuttingStock(SMALL)
    assert problem.check([(((0, 1), (1, 1)), 2), (((1, 2),), 1)]) == 3.0
    with pytest.raises(InfeasibleAnswerError, match="item 1 is cut 2 times"):
        problem.check([(((0, 1), (1, 1)), 2)])


def test_a_roll_of_ten_billion_with_few_sums_takes_no_memory():
    instance = CuttingStockInstance(10**10, (4 * 10**9, 3 * 10**9 + 1, 7), (5, 8, 4))
    result = solve(CuttingStock(instance))
    assert result.is_optimal
    scaled = CuttingStockInstance(
        10, (4, 4, 1), (5, 8, 1)
    )  # three of the second width do not fit beside the first; two do
    assert instance.check(result.answer) == result.objective
    assert result.objective <= optimum(scaled)


@pytest.mark.parametrize(
    "instance", [CuttingStockInstance(10**10, (1,), (10**8,)), CuttingStockInstance(10**10, (1, 2, 3), (10**7,) * 3)]
)
def test_too_many_sums_are_refused_by_name_before_any_work(instance):
    started = time.monotonic()
    with pytest.raises(
        InputError, match=r"too large for its pricing problem: a knapsack of [13] items and capacity 10{10}"
    ):
        solve(CuttingStock(instance))
    assert time.monotonic() - started < BUSY


def test_a_wide_roll_of_few_sums_is_quick():
    rng = np.random.default_rng(0)
    widths = tuple(int(w) for w in 1000 * rng.choice(np.arange(50, 350), 30, replace=False))
    instance = CuttingStockInstance(500_000, widths, tuple(int(d) for d in rng.integers(1, 20, 30)))
    thousandth = CuttingStockInstance(500, tuple(w // 1000 for w in widths), instance.demands)
    assert solve(CuttingStock(instance)).objective == solve(CuttingStock(thousandth)).objective


@pytest.mark.parametrize("factor", [1, 1000, 250_000])
def test_demands_by_the_million(factor):
    demands = tuple(factor * d for d in (97, 61, 39, 21))
    instance = CuttingStockInstance(100, (45, 36, 31, 14), demands)
    result = solve(CuttingStock(instance))
    assert instance.check(result.answer) == result.objective
    assert result.is_optimal
    assert result.objective <= instance.objective(first_fit_decreasing(instance))


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.1, 0.5])
def test_limits_hold_and_leave_an_answer(seconds):
    instance = natural(3)
    solve(CuttingStock(instance), stop=TimeLimit(2.0))  # compiles the kernels
    started = time.monotonic()
    result = solve(CuttingStock(instance), stop=TimeLimit(seconds))
    spent = time.monotonic() - started
    assert result.termination in (Termination.TIME_LIMIT, Termination.OPTIMAL)
    assert instance.check(result.answer) == result.objective >= instance.material_bound
    assert spent <= seconds + BUSY


def test_an_oracle_that_requires_its_budget_is_cut_off_and_not_inexact():
    class Slow(OraclePricing):
        cost_bound = 1.0

        def best(self, duals, context):
            while True:
                context.budget.require()

        def encode(self, structure):
            raise AssertionError

    class Stuck(Twice):
        def pricing(self):
            return Slow()

    result = solve(Stuck(SMALL), stop=TimeLimit(0.2))
    assert result.termination is Termination.TIME_LIMIT
    assert Slow().price(None, PricingContext(Sense.MINIMIZE, budget=Budget(0.0))).cut_off
