"""Benders decomposition, compared with HiGHS on the extensive form."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import InputError, Method, Termination, TimeLimit, decompose, solve
from colgen.decomposition.benders import recourse
from colgen.decomposition.benders.template import Benders
from colgen.decomposition.decomposed import Decomposed
from colgen.reporting.compared import solve_complete
from tests.amounts import examples
from tests.decomposition.test_decomposed import feasible


def two_stage(seed):
    """Sites with integer capacity, scenarios with shipping; equations, ranges, both senses, infeasible stages."""
    rng = np.random.default_rng(seed)
    sites, scenarios, customers = (int(n) for n in rng.integers(1, 4, 3))
    kind, sign = seed % 4, -1 if seed % 2 else 1
    m = pyo.ConcreteModel()
    m.site, m.customer = pyo.RangeSet(0, sites - 1), pyo.RangeSet(0, customers - 1)
    m.scenario = pyo.RangeSet(0, scenarios - 1)
    m.built = pyo.Var(m.site, domain=pyo.NonNegativeIntegers, bounds=(0, 1 if kind == 2 else 4))
    m.extra = pyo.Var(domain=pyo.NonNegativeReals, bounds=(0, 3))
    m.sent = pyo.Var(m.scenario, m.site, m.customer, domain=pyo.NonNegativeReals)
    m.lost = pyo.Var(m.scenario, m.customer, domain=pyo.NonNegativeReals, bounds=(0, 2.5 if kind in (1, 2) else None))
    build, ship = rng.integers(2, 9, sites).tolist(), rng.integers(1, 6, (scenarios, sites, customers)).tolist()
    wanted = rng.integers(0, 9, (scenarios, customers)).tolist()
    m.some = pyo.Constraint(expr=(1, sum(m.built[i] for i in m.site), 3 * sites))
    m.room = pyo.Constraint(
        m.scenario,
        m.site,
        rule=lambda m, s, i: sum(m.sent[s, i, j] for j in m.customer) <= 2 * m.built[i] + (m.extra if i == 0 else 0),
    )
    m.demand = pyo.Constraint(
        m.scenario,
        m.customer,
        rule=lambda m, s, j: sum(m.sent[s, i, j] for i in m.site) + m.lost[s, j] == wanted[s][j],
    )
    cost = sum(build[i] * m.built[i] for i in m.site) + 1.5 * m.extra + 3
    cost += sum(ship[s][i][j] * m.sent[s, i, j] for s in m.scenario for i in m.site for j in m.customer)
    cost += sum(11 * m.lost[s, j] for s in m.scenario for j in m.customer)
    m.cost = pyo.Objective(expr=sign * cost, sense=pyo.maximize if sign < 0 else pyo.minimize)
    return m


@pytest.mark.parametrize("seed", range(examples(16, 200)))
def test_optimum_equals_that_of_the_extensive_form_and_is_loaded(seed):
    compact, model = solve_complete(two_stage(seed)), two_stage(seed)
    result = solve(decompose(model, "scenario", method="benders"))
    if compact.values is None:
        assert result.termination is Termination.INFEASIBLE
        return
    assert result.is_optimal
    assert result.objective == pytest.approx(compact.objective)
    assert feasible(model)
    assert pyo.value(model.cost) == pytest.approx(compact.objective)


def apart(large, small, shift):
    """Second stages with large costs that hardly depend on the first stage, and small ones that do."""
    m = pyo.ConcreteModel()
    m.x, m.w = pyo.Var(domain=pyo.Integers, bounds=(-2, 1)), pyo.Var(bounds=(0, 2))
    m.s = pyo.Block([0, 1, 2])
    for k in range(3):
        m.s[k].y, m.s[k].z = pyo.Var(bounds=(1, 4)), pyo.Var(bounds=(0, 3))
    m.s[0].own = pyo.Constraint(expr=2 * m.s[0].y - m.x == 5)
    m.s[1].own = pyo.Constraint(expr=2 * m.s[1].y - m.w == 4)
    m.s[2].own = pyo.Constraint(expr=m.s[2].y + m.s[2].z == 4)
    cost = small * (m.s[0].y + 3 * m.s[1].y + m.s[1].z) + large * (m.s[2].y + 2 * m.s[2].z - m.s[0].z)
    m.total = pyo.Objective(expr=cost + small * (2 * m.w - 3 * m.x) - shift)
    return m


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("ratio", [1e3, 3e6, 6e10])
@pytest.mark.parametrize("zero", [False, True])
def test_large_constant_costs_of_stages_do_not_hide_small_ones(unit, ratio, zero):
    large, small = ratio * unit, unit
    # By hand: x = 1, w = 0, then y = 3, 2 and 4, z = 3 in the first block.
    best = small * (3 + 6 - 3) + large * (4 - 3)
    model = apart(large, small, best if zero else 0.0)
    result = solve(decompose(model, method="benders"), stop=TimeLimit(20))
    assert result.is_optimal
    assert result.objective == pytest.approx(0.0 if zero else best, rel=1e-12, abs=1e-12 * abs(best))
    found = pyo.value(model.x), pyo.value(model.w), pyo.value(model.s[0].y), pyo.value(model.s[1].y)
    assert found == pytest.approx((1, 0, 3, 2))


def spread(scale, unit):
    """Costs from 0.002 to 7000, times a scale; second stages have other units."""
    m = pyo.ConcreteModel()
    m.s = pyo.RangeSet(0, 2)
    m.x = pyo.Var(domain=pyo.Integers, bounds=(-3, 4))
    m.w = pyo.Var(bounds=(0, 6 * unit))
    m.y, m.z = pyo.Var(m.s, bounds=(0, 5 * unit)), pyo.Var(m.s, bounds=(0, 9 * unit))
    m.own = pyo.Constraint(m.s, rule=lambda m, s: m.y[s] / unit + 2 * m.z[s] / unit >= 1 + s - m.x - m.w / unit)
    m.most = pyo.Constraint(m.s, rule=lambda m, s: m.y[s] / unit - m.z[s] / unit <= 3 + m.x)
    own = {0: (7000, 0.002), 1: (0.3, 40), 2: (0.002, 900)}
    cost = sum((own[s][0] * m.y[s] + own[s][1] * m.z[s]) / unit for s in m.s)
    m.o = pyo.Objective(expr=scale * (cost + 0.7 * m.w / unit - 1.5 * m.x))
    return m


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e9])
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_scales_of_costs_and_columns_do_not_change_results(scale, unit, monkeypatch):
    right = solve_complete(spread(1.0, 1.0)).objective
    problem = decompose(spread(scale, unit), "s", method="benders")
    result = solve(problem, stop=TimeLimit(20), method=Method(complete=lambda nodes, budget: None))
    assert result.is_optimal
    assert result.objective == pytest.approx(scale * right, rel=1e-6)
    assert result.dual_bound == pytest.approx(scale * right, rel=1e-6)


def test_stages_that_are_feasible_for_no_first_stage():
    model = two_stage(0)
    model.demand[0, 0].set_value(model.lost[0, 0] == -1)
    assert solve(decompose(model, "scenario", method="benders")).termination is Termination.INFEASIBLE


def changed(kind):
    model = two_stage(4)
    if kind == "whole":
        model.lost[0, 0].domain = pyo.NonNegativeIntegers
    elif kind == "linked":
        model.both = pyo.Constraint(expr=model.lost[0, 0] + model.lost[1, 0] <= 9)
    elif kind == "unbounded":
        model.gain = pyo.Var(model.scenario, domain=pyo.NonNegativeReals)
        model.cost.expr -= model.gain[0]
    elif kind == "endless":
        model.more = pyo.Var(domain=pyo.NonNegativeReals)
        model.cost.expr -= model.more
    elif kind == "no first":
        model.built.fix(1)
        model.extra.fix(0)
    return model


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "whole",
            r"'lost\[0,0\]' in block 0 is integer",
        ),
        ("linked", "constraint 'both' links blocks 0 and 1"),
        ("unbounded", "cost of block 0 is unbounded"),
        ("endless", "cost of the first stage is unbounded"),
        ("no first", "every variable.*first stage"),
    ],
)
def test_unsuitable_models_are_refused(kind, message):
    with pytest.raises(InputError, match=message):
        decompose(changed(kind), "scenario", method="benders")


def test_unknown_methods_are_refused():
    with pytest.raises(InputError, match="method: expected 'dantzig-wolfe' or 'benders', not 'bender'"):
        decompose(two_stage(0), "scenario", method="bender")


@pytest.mark.parametrize(
    ("kind", "expected"), [(None, Benders), ("whole", Decomposed), ("linked", Decomposed), ("unbounded", Decomposed)]
)
def test_linear_second_stages_are_the_default(kind, expected):
    assert type(decompose(changed(kind), "scenario")) is expected
    if kind is None:
        assert type(decompose(changed(kind), "scenario", method="dantzig-wolfe")) is Decomposed


@pytest.mark.parametrize("seed", range(examples(6, 60)))
def test_optima_with_few_groups_equal_those_of_the_extensive_form(seed, monkeypatch):
    monkeypatch.setattr(recourse, "_FEWEST", 1)
    monkeypatch.setattr(recourse, "_MOST", 1 + seed % 2)
    compact, result = solve_complete(two_stage(seed)), solve(decompose(two_stage(seed), "scenario", method="benders"))
    if compact.values is None:
        assert result.termination is Termination.INFEASIBLE
    else:
        assert result.is_optimal
        assert result.objective == pytest.approx(compact.objective)
