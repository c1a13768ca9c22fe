"""Lot sizing is recognized, and priced as HiGHS prices it."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import decompose, solve
from colgen.decomposition.blocks.lot_sizing import LotSizing, lot_sizing_of
from colgen.solvers.linear.recosted import RecostedMIP
from tests.amounts import examples
from tests.decomposition import models


def subproblems(model):
    return decompose(model, "item").splitting.subproblems


def drawn(seed):
    """Equations of any sign and unit, stock limits, periods without demand, set-up or production."""
    rng = np.random.default_rng(seed)
    periods = 6
    demand = rng.integers(0, 9, (2, periods)) * (rng.random((2, periods)) < 0.7)
    signs = rng.choice([-2.0, -1.0, 1.0, 3.0], (2, periods))
    free, closed = rng.random((2, periods)) < 0.2, rng.random((2, periods)) < 0.2
    empty = rng.random((2, periods)) < 0.15
    empty[:, -1], closed[:, 0], demand[:, 0] = True, False, demand[:, 0] + 1
    m = pyo.ConcreteModel()
    m.item, m.period = pyo.RangeSet(0, 1), pyo.RangeSet(0, periods - 1)
    m.made, m.kept = (pyo.Var(m.item, m.period, domain=pyo.NonNegativeReals) for _ in range(2))
    m.ready = pyo.Var(m.item, m.period, domain=pyo.Binary)

    def balance(m, i, t):
        before = m.kept[i, t - 1] if t else 0.0
        return signs[i, t] * (before + m.made[i, t] - m.kept[i, t]) == signs[i, t] * float(demand[i, t])

    def on(m, i, t):
        if closed[i, t]:
            return m.made[i, t] <= 0
        return pyo.Constraint.Skip if free[i, t] else 2 * m.made[i, t] <= 300 * m.ready[i, t]

    m.balance = pyo.Constraint(m.item, m.period, rule=balance)
    m.on = pyo.Constraint(m.item, m.period, rule=on)
    m.empty = pyo.Constraint(
        m.item, m.period, rule=lambda m, i, t: m.kept[i, t] == 0 if empty[i, t] else pyo.Constraint.Skip
    )
    m.room = pyo.Constraint(m.period, rule=lambda m, t: sum(m.made[i, t] + m.ready[i, t] for i in m.item) <= 40)
    m.cost = pyo.Objective(expr=sum((5 + t) * m.ready[i, t] + (i + 1) * m.kept[i, t] for i in m.item for t in m.period))
    return m


@pytest.mark.parametrize("make", [models.lots, drawn])
@pytest.mark.parametrize("seed", range(examples(6, 60)))
def test_best_points_equal_those_of_highs(make, seed):
    rng = np.random.default_rng(seed)
    subs = subproblems(make(seed))
    kernels = [lot_sizing_of(sub) for sub in subs]
    assert all(isinstance(kernel, LotSizing) for kernel in kernels)
    starts = np.cumsum([0, *(len(sub.costs) for sub in subs)])
    joined = LotSizing.join(kernels, starts)
    programs = [
        RecostedMIP(sub.matrix, sub.lower, sub.upper, sub.row_lower, sub.row_upper, sub.integer) for sub in subs
    ]
    for _ in range(6):
        costs = rng.normal(size=starts[-1]) * rng.integers(0, 2, starts[-1]) * 2.0 ** rng.integers(-20, 20)
        lower, upper = (np.concatenate([getattr(sub, side) for sub in subs]) for side in ("lower", "upper"))
        whole = np.concatenate([sub.integer for sub in subs])
        for k in np.flatnonzero(whole & (rng.random(len(whole)) < 0.25)):
            lower[k] = upper[k] = rng.integers(0, 2)
        parts = [slice(first, last) for first, last in itertools.pairwise(starts.tolist())]
        points = [
            kernel.best(costs[mine], lower[mine], upper[mine]) for kernel, mine in zip(kernels, parts, strict=True)
        ]
        together = joined.best(costs, lower, upper)
        assert (together is None) == any(point is None for point in points)
        if together is not None:
            assert together @ costs == pytest.approx(np.concatenate(points) @ costs)
        for sub, program, mine, point in zip(subs, programs, parts, points, strict=True):
            program.set_bounds(lower[mine], upper[mine])
            expected = program.solve(costs[mine])
            if point is None:
                assert not len(expected.points)
                continue
            assert point @ costs[mine] == pytest.approx(expected.bound, rel=1e-6, abs=1e-7 * np.abs(costs).max())
            assert ((point >= lower[mine]) & (point <= upper[mine])).all()
            activity = sub.matrix @ point
            assert (activity <= sub.row_upper + 1e-9).all()
            assert (activity >= sub.row_lower - 1e-9).all()


def test_kernels_and_highs_prove_the_same():
    for seed in range(3):
        by_kernel, by_highs = (solve(decompose(models.lots(seed), "item", recognize=flag)) for flag in (True, False))
        assert by_kernel.termination is by_highs.termination
        assert by_kernel.objective == pytest.approx(by_highs.objective)


def test_other_blocks_are_not_recognized_as_lot_sizing():
    def tight(m):  # an M that demand exceeds
        m.less = pyo.Constraint(m.item, rule=lambda m, i: m.made[i, 0] <= 3 * m.ready[i, 0])
        m.setup.deactivate()

    def little_stock(m):
        for t in m.period:
            m.kept[0, t].setub(1)

    def left_over(m):  # stock after the end may earn something
        m.empty.deactivate()
        m.most = pyo.Constraint(m.item, m.period, rule=lambda m, i, t: m.kept[i, t] <= 1000)

    def least(m):
        for v in m.made.values():
            v.setlb(1)

    def together(m):  # one set-up for two periods
        m.pair = pyo.Constraint(m.item, rule=lambda m, i: m.made[i, 1] <= 100 * m.ready[i, 0])

    def round_about(m):
        m.more = pyo.Var(m.item, domain=pyo.NonNegativeReals, bounds=(0, 5))
        m.back = pyo.Constraint(m.item, rule=lambda m, i: m.more[i] - m.kept[i, 0] == 0)

    for change in (tight, little_stock, left_over, least, together, round_about):
        model = models.lots(1, items=2, periods=4)
        change(model)
        assert lot_sizing_of(subproblems(model)[0]) is None, change.__name__
