"""Covering programs over given columns, searched by dual values."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Column, artificial
from colgen.core.errors import FormulationError
from colgen.master.linear import LinearMaster
from colgen.master.protocol import MasterStatus
from colgen.model.formulation import compile_model


def rows(n, lower=1):
    m = pyo.ConcreteModel()
    m.i = pyo.RangeSet(0, n - 1)
    m.missing = artificial(m.i)
    m.cover = pyo.Constraint(m.i, rule=lambda m, i: m.missing[i] >= lower)
    m.cost = pyo.Objective(expr=0, sense=pyo.minimize)
    return m


def column(items, cost=1.0, entry=1.0):
    return Column(cost, {("cover", i): entry for i in items}, tuple(items))


def searched(columns, values, target, **how):
    master = LinearMaster(compile_model(rows(4)))
    prices = {("cover", i): value for i, value in enumerate(values)}
    return master.solve_over(columns, {}, target, 60.0, values=prices, **how)


def test_it_says_what_the_mixed_integer_program_says():
    rng = np.random.default_rng(0)
    master = LinearMaster(compile_model(rows(5)))
    seen = set()
    for _ in range(30):
        columns = [column(np.flatnonzero(rng.random(5) < 0.5).tolist(), float(rng.integers(1, 9))) for _ in range(7)]
        prices = {("cover", i): float(rng.random()) for i in range(5)}
        for target in (4.0, 9.0, 14.0):
            program, _ = master.solve_over(columns, {}, target, 60.0, any_will_do=True)
            status, solution = master.solve_over(columns, {}, target, 60.0, any_will_do=True, values=prices)
            seen.add(status)
            if status is not MasterStatus.LIMIT:
                assert status is program
            if solution is not None:
                assert solution.objective <= target
                assert master.violation(solution) is None
    assert {MasterStatus.OPTIMAL, MasterStatus.INFEASIBLE} <= seen


def test_a_cover_is_called_best_only_where_any_will_do():
    columns = [column([0, 1]), column([2, 3]), column([0, 1, 2, 3])]
    values = [0.5] * 4
    status, solution = searched(columns, [0.25] * 4, 2.0)
    assert status is MasterStatus.LIMIT
    assert solution is not None
    assert searched(columns[:2], values, 2.0, any_will_do=True)[0] is MasterStatus.OPTIMAL
    assert searched(columns[:2], values, 1.0, any_will_do=True) == (MasterStatus.INFEASIBLE, None)


def test_fractions_and_odd_scales_prove_nothing_wrong():
    for scale in (1e-8, 1.0, 1e8):
        columns = [column([0, 1], 0.1 * scale), column([2, 3], 0.2 * scale)]
        values = [0.05 * scale, 0.05 * scale, 0.1 * scale, 0.1 * scale]
        assert searched(columns, values, 0.3 * scale, any_will_do=True)[0] is MasterStatus.OPTIMAL
        assert searched(columns, values, 0.2999 * scale, any_will_do=True)[0] is MasterStatus.INFEASIBLE


@pytest.mark.parametrize(
    ("lower", "columns", "message"),
    [(2, [column([0])], "rows of a covering"), (1, [column([0], entry=2.0)], "columns of a covering")],
)
def test_what_is_no_covering_is_refused(lower, columns, message):
    master = LinearMaster(compile_model(rows(2, lower)))
    with pytest.raises(FormulationError, match=message):
        master.solve_over(columns, {}, 3.0, 1.0, values={})
