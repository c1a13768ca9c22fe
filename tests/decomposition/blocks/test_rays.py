"""Unbounded blocks with rays as columns, compared with HiGHS on the compact model."""

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.opt import TerminationCondition

from colgen import Termination, TimeLimit, decompose, solve
from colgen.decomposition.blocks.rays import RayPricing
from colgen.solvers.linear.highs import LPStatus
from tests.amounts import examples
from tests.decomposition import models


def endless(seed):
    """Blocks that are unbounded in some variables, also integer ones; linking rows may bound these."""
    rng = np.random.default_rng(seed)
    blocks, width = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    whole = rng.random(width) < 0.5
    m = pyo.ConcreteModel()
    m.block, m.of = pyo.RangeSet(0, blocks - 1), pyo.RangeSet(0, width - 1)
    m.x = pyo.Var(
        m.block,
        m.of,
        domain=lambda m, k, j: pyo.Integers if whole[j] else pyo.Reals,
        bounds=lambda m, k, j: (None if j == 1 and seed % 3 == 0 else 0, 3 if j == 0 else None),
    )
    a, b = rng.integers(-3, 4, (blocks, 2, width)).tolist(), rng.integers(1, 8, (blocks, 2)).tolist()
    m.own = pyo.Constraint(
        m.block,
        [0, 1],
        rule=lambda m, k, r: sum(a[k][r][j] * m.x[k, j] for j in m.of) + 0 * m.x[k, 0] <= b[k][r],
    )
    c, w = rng.integers(-2, 7, (blocks, width)).tolist(), rng.integers(0, 4, (2, blocks, width)).tolist()
    sums = [sum((w[r][k][j] + (r == 0)) * m.x[k, j] for k in m.block for j in m.of) for r in range(2)]
    m.least = pyo.Constraint(expr=sums[0] >= int(rng.integers(5, 30)))
    m.most = pyo.Constraint(expr=sums[1] + sum(m.x[k, 0] for k in m.block) <= int(rng.integers(10, 40)))
    m.cost = pyo.Objective(expr=sum(c[k][j] * m.x[k, j] for k in m.block for j in m.of) + 2)
    return m


@pytest.mark.parametrize("seed", range(examples(14, 200)))
def test_optimum_equals_that_of_highs_on_the_compact_model(seed):
    model = endless(seed)
    result = solve(decompose(model, "block"), stop=TimeLimit(30))
    there = endless(seed)
    highs = pyo.SolverFactory("appsi_highs")
    found = highs.solve(there, load_solutions=False)
    condition = found.solver.termination_condition
    if condition == TerminationCondition.optimal:
        assert result.is_optimal
        assert result.objective == pytest.approx(found.problem.upper_bound, rel=1e-6, abs=1e-5)
        assert pyo.value(model.cost) == pytest.approx(result.objective)
    elif condition == TerminationCondition.infeasible:
        assert result.termination is Termination.INFEASIBLE
    else:
        assert result.termination is Termination.UNBOUNDED


def test_a_ray_that_linking_rows_pay_for_has_any_amount():
    m = pyo.ConcreteModel()
    m.kind = pyo.RangeSet(0, 1)
    m.b = pyo.Block(m.kind)
    for k in m.kind:
        m.b[k].x, m.b[k].y = pyo.Var(domain=pyo.NonNegativeReals), pyo.Var(domain=pyo.NonNegativeIntegers)
        m.b[k].row = pyo.Constraint(expr=m.b[k].x <= 2 * m.b[k].y + 1)
    m.wanted = pyo.Constraint(expr=sum(m.b[k].x for k in m.kind) >= 1000.5)
    m.cost = pyo.Objective(expr=3 * m.b[0].y + 4 * m.b[1].y)
    problem = decompose(m)
    assert all(isinstance(oracle, RayPricing) for oracle in problem.pricing())
    result = solve(problem)
    assert result.is_optimal
    assert pyo.value(m.cost) == pytest.approx(3 * 500)
    assert m.b[0].y.value == 500


def test_rounding_makes_no_ray():
    # Stock is unbounded, and dual values of the balances leave a reduced cost of -1e-16.
    endless, bounded = models.lots(0, 4, 5), models.lots(0, 4, 5)
    for kept in bounded.kept.values():
        kept.setub(200)
    found = solve(decompose(endless, "period"), relaxation=True)
    assert found.objective == pytest.approx(solve(decompose(bounded, "period"), relaxation=True).objective)
    assert found.is_optimal


def cancelling(seed):
    """Models whose optimum is zero: costs are a multiple of a row that is at least zero, or can be avoided."""
    rng = np.random.default_rng(seed)
    blocks, width = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    low = rng.integers(-6, 1, (blocks, width)) if seed % 2 else np.zeros((blocks, width), dtype=int)
    high = [[None if rng.random() < 0.5 else 9 for _ in range(width)] for _ in range(blocks)]
    whole = rng.random((blocks, width)) < 0.5
    cost = float(rng.choice([0.01, 0.1, 0.7, 3.0, 1e5]))
    a = rng.integers(-3, 4, (blocks, width)).tolist()
    m = pyo.ConcreteModel()
    m.block, m.of = pyo.RangeSet(0, blocks - 1), pyo.RangeSet(0, width - 1)
    m.x = pyo.Var(
        m.block,
        m.of,
        domain=lambda m, k, j: pyo.Integers if whole[k, j] else pyo.Reals,
        bounds=lambda m, k, j: (int(low[k, j]), high[k][j]),
    )
    sums = {k: sum(a[k][j] * m.x[k, j] for j in m.of) + 0 * m.x[k, 0] for k in m.block}
    if seed % 2:
        m.own = pyo.Constraint(m.block, rule=lambda m, k: sums[k] == 0)
        m.cost = pyo.Objective(expr=sum(cost * a[k][j] * m.x[k, j] for k in m.block for j in m.of))
    else:
        m.own = pyo.Constraint(m.block, rule=lambda m, k: sums[k] >= -int(rng.integers(0, 15)))
        m.cost = pyo.Objective(expr=sum((cost + j) * m.x[k, j] for k in m.block for j in m.of if j))
    m.link = pyo.Constraint(expr=sum(m.x[k, 0] for k in m.block) <= 3)
    return m


@pytest.mark.parametrize("seed", range(examples(60, 1000)))
def test_an_optimum_of_zero_is_proved_despite_rounding(seed):
    result = solve(decompose(cancelling(seed), "block"), stop=TimeLimit(30))
    assert result.is_optimal
    assert result.objective == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("by", ["constant", "variable"])
@pytest.mark.parametrize("seed", range(examples(8, 100)))
def test_an_objective_shifted_to_zero_does_not_change_results(seed, by):
    here = solve(decompose(endless(seed), "block"), stop=TimeLimit(30))
    if not here.is_optimal:
        return
    model = endless(seed)
    model.fixed = pyo.Var(bounds=(1, 1))
    shift = here.objective * (1 if by == "constant" else model.fixed)
    model.cost.set_value(model.cost.expr - shift)
    there = solve(decompose(model, "block"), stop=TimeLimit(30))
    assert there.is_optimal
    assert there.objective == pytest.approx(0.0, abs=1e-6 * max(1.0, abs(here.objective)))


def test_a_block_with_rays_and_without_a_point_makes_the_model_infeasible():
    m = pyo.ConcreteModel()
    m.b = pyo.Block([0, 1])
    for k in (0, 1):
        m.b[k].x, m.b[k].y = (pyo.Var(domain=pyo.NonNegativeIntegers) for _ in range(2))
        m.b[k].own = pyo.Constraint(expr=2 * m.b[k].x - 2 * m.b[k].y == (1 if k else 2))
    m.b[1].x.setub(5)
    m.b[1].y.setub(9)
    m.b[1].z = pyo.Var(domain=pyo.NonNegativeReals)
    m.link = pyo.Constraint(expr=m.b[0].x + m.b[1].x + m.b[1].z >= 3)
    m.total = pyo.Objective(expr=m.b[0].x + m.b[1].y + m.b[1].z)
    assert solve(decompose(m)).termination is Termination.INFEASIBLE


@pytest.mark.parametrize("seed", range(examples(40, 600)))
def test_small_costs_of_large_amounts_are_not_lost(seed):
    """Sizes of variables in blocks and in the master are drawn independently, and so are the amounts."""
    rng = np.random.default_rng(seed)
    alone, own, free = 10.0 ** rng.uniform(-6, 9, 3)
    most, blocks, sign = 10.0 ** rng.integers(0, 10), int(rng.integers(1, 4)), int(rng.choice([-1, 1]))
    m = pyo.ConcreteModel()
    m.k = pyo.RangeSet(1, blocks)
    m.y = pyo.Var(m.k, domain=pyo.NonNegativeIntegers if rng.random() < 0.5 else pyo.NonNegativeReals)
    m.t, m.z, m.s = pyo.Var(m.k, domain=pyo.Binary), pyo.Var(domain=pyo.Binary), pyo.Var(domain=pyo.NonNegativeReals)
    m.own = pyo.Constraint(m.k, rule=lambda m, k: m.y[k] >= m.t[k])
    with_s, endless = rng.random() < 0.5, rng.random() < 0.2
    if not with_s:
        m.s.fix(0)
    if not endless:
        m.link = pyo.Constraint(expr=sum(m.y[k] for k in m.k) + m.s <= most)
    gain = alone * m.z + sum(own * k * m.y[k] for k in m.k) + free * m.s
    m.gain = pyo.Objective(expr=sign * gain, sense=pyo.maximize if sign > 0 else pyo.minimize)
    result = solve(decompose(m, "k"), stop=TimeLimit(30))
    if endless:
        assert not result.is_optimal
        assert not np.isfinite(result.dual_bound)
    else:
        assert result.is_optimal
        best = alone + most * max(own * blocks, free if with_s else 0.0)
        assert result.objective == pytest.approx(sign * best, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1.0, 0.3, 1e3, 1e6])
def test_a_ray_changes_integer_variables_by_integers_in_any_unit_of_the_others(unit):
    m = pyo.ConcreteModel()
    m.b = pyo.Block([0])
    m.b[0].x = pyo.Var(bounds=(0, None))
    m.b[0].n, m.b[0].k = (pyo.Var(domain=pyo.Integers, bounds=(None, 3)) for _ in range(2))
    m.b[0].own = pyo.Constraint(expr=m.b[0].x / unit + 4 * m.b[0].n == 4)
    m.b[0].both = pyo.Constraint(expr=2 * m.b[0].n == 3 * m.b[0].k)
    m.y = pyo.Var(bounds=(0, 1))
    m.link = pyo.Constraint(expr=m.b[0].x / unit + m.y <= 29)
    m.total = pyo.Objective(expr=m.b[0].x / unit + m.y, sense=pyo.maximize)
    result = solve(decompose(m), stop=TimeLimit(20))
    assert result.is_optimal
    assert result.objective == pytest.approx(29)  # n = -6, k = -4, and y = 1
    assert m.b[0].n.value == -6
    m.link.deactivate()
    assert solve(decompose(m), stop=TimeLimit(20)).termination is Termination.UNBOUNDED


@pytest.mark.parametrize("seed", [2, 14, 27, 35])
def test_rounding_errors_of_dual_values_make_no_ray(seed):
    """Costs are a multiple of the rows up to 1e-13; HiGHS returns dual values near 1e-13 of sides that do not exist."""
    rng = np.random.default_rng(seed)
    oracles = decompose(endless(1086), "block").pricing()
    oracle = next(each for each in oracles if each.sub.matrix.toarray()[0].tolist() == [-3, 1, 2, 0])
    sub = oracle.sub
    for _ in range(20):
        duals = -rng.integers(0, 3, 2) * rng.choice([0.1, 0.3, 1 / 3, 0.7])
        off = np.where(rng.random(4) < 0.7, rng.integers(-8, 9, 4) * 2.0**-53 * 100, 0)
        costs = sub.matrix.T @ duals + off
        if oracle._best_ray(costs, sub.lower, sub.upper, 1e-7, np.full(4, 1e-13)) is None:
            assert oracle.program.solve(costs + oracle._nudge, 1.0).status is not LPStatus.UNBOUNDED
