"""Bounds from dual values: Lagrangian, Farley's, of totals; valid at any dual values."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from colgen import Column, LinearMaster, Row, Sense, Solution, artificial
from colgen.model.rows import compile_model
from colgen.pricing.oracles import PricingResult
from tests.master.programs import (
    Priced,
    col,
    covering,
    stating,
)


@given(
    pi=st.lists(st.floats(0, 6), min_size=2, max_size=2),
    columns=st.lists(
        st.tuples(st.integers(-3, 9), st.integers(0, 3), st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=6
    ),
    limits=st.tuples(st.sampled_from([math.inf, 3.0]), st.sampled_from([math.inf, 3.0])),
    stated=st.tuples(st.booleans(), st.booleans()),
    maximize=st.booleans(),
)
def test_dual_bound_is_valid_at_any_duals(pi, columns, limits, stated, maximize):
    """Lagrangian or Farley, any number of pricing problems: below the optimum of the complete linear program."""
    sense = Sense.MAXIMIZE if maximize else Sense.MINIMIZE
    s = sense.sign
    master = covering(demands=(3.0, 2.0), sense=pyo.maximize if maximize else pyo.minimize)
    groups = [[(s * c, a, b) for c, a, b, k in columns if k == group] for group in (0, 1)]
    # The multiplicities are made true by rows of the complete program only: the master need not know them.
    costs = [s * 5.0, *(c for group in groups for c, _, _ in group)]
    matrix = [[-1.0, 0.0, 0.0, 0.0], *([-a, -b, 1.0 - k, k + 0.0] for k, g in enumerate(groups) for _, a, b in g)]
    complete = optimize.linprog(
        s * np.array(costs),
        A_ub=np.array(matrix).T[[i for i in range(4) if i < 2 or limits[i - 2] < math.inf]],
        b_ub=[-3.0, -2.0, *(limit for limit in limits if limit < math.inf)],
        bounds=[(0, 4), *[(0, None)] * (len(costs) - 1)],
    )
    master.add([Column(s * 1000.0, {("demand", 0): 1.0, ("demand", 1): 1.0}, "dear", upper=5.0)])
    duals = master.solve().duals.replace(s * np.array(pi))
    assert master.objective.phase == 2
    pricing, bounds = [], []
    for group, limit, known in zip(groups, limits, stated, strict=True):
        worst = [c for c, _, _ in group]
        pricing.append(Priced(limit, sense.best(*worst) if known and worst else None))
        reduced = [c - s * (a * pi[0] + b * pi[1]) for c, a, b in group]
        bounds.append(sense.best(*reduced) if reduced else sense.hopeless)
    bound = master.bound(duals, pricing, stating(*bounds))
    if complete.status == 0:
        assert s * bound <= complete.fun + s * 1.0 + 1e-6
    elif complete.status == 3:
        assert bound == sense.ideal or limits == (3.0, 3.0)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_bounds_and_checks_need_no_program(sense):
    """Before its first solve a master speaks of the real objective, as it does once phase 2 is solved."""
    unsolved, master = covering(sense=sense), covering(sense=sense)
    s = master.sense.sign
    columns = [col((1, 1), s * 3.0), col((0, 1), s * 1.0, upper=2.0)]
    for each in (unsolved, master):
        assert each.add(columns) == 2
        each.add((), [Row(("cut", 0), lower=1.0, upper=8.0, coefficient=lambda c: c.structure[0])])
        each.node.apply(())
    master.solve()
    guess = {"demand": [s * 2.0, s * 0.5], "cut": s * 0.25}
    duals = unsolved.rows.guess(guess)
    pricing, results = [Priced(7.0)], stating(s * -0.5)
    assert unsolved.bound(duals, pricing, results) == master.bound(master.rows.guess(guess), pricing, results)
    assert s * unsolved.bound(duals, pricing, results) > -10.0
    assert unsolved.price(columns, duals) == pytest.approx([s * 0.25, s * 0.5])
    assert unsolved.objective.phase == 2
    answer = Solution(s * 9.0 + 1.0, ((columns[0], 3.0),))
    assert unsolved.rows.violation(answer) is None
    assert "demand" in unsolved.rows.violation(Solution(s * 6.0 + 1.0, ((columns[0], 2.0),)))
    assert not unsolved.is_built
    assert duals.named()["demand", 0] == s * 2.0
    assert unsolved.solve().objective == pytest.approx(master.solve().objective)
    assert unsolved.is_built


def test_a_total_takes_the_place_of_the_multiplicity():
    master = covering(demands=(3.0, 2.0))
    duals = master.solve().duals.replace(np.array([2.0, 2.0]))
    master.add([Column(1000.0, {("demand", 0): 1.0, ("demand", 1): 1.0}, "dear", upper=5.0)])
    master.solve()
    assert master.objective.phase == 2
    totalling = [PricingResult(bound=-1.0, total=-1.5)]
    for multiplicity in (math.inf, 3.0):  # worth 10 and the offset, were it not for the columns
        assert master.bound(duals, [Priced(multiplicity)], totalling) == pytest.approx(10 - 1.5 + 1)
    # Another pricing problem that needs scaling scales the total too: half of -1.5, and half of costs that are ≥ 0 ...
    both = [*totalling, PricingResult(bound=-1.0)]
    pricing = [Priced(cost_bound=0.0), Priced(cost_bound=1.0)]
    assert master.bound(duals, pricing, both) == pytest.approx(5 - 0.75 + 1)
    # ... or, of up to three columns, at least -4 each; of any number, nothing is known.
    assert master.bound(duals, [Priced(3.0, -4.0), pricing[1]], both) == pytest.approx(5 - 0.75 - 6 + 1)
    assert master.bound(duals, [Priced(cost_bound=-4.0), pricing[1]], both) == -math.inf


def test_farley_scales_the_duals_of_every_pricing_problem():
    # θ = 1/2 makes the first pricing problem's term vanish.  At halved duals the second one's columns, priced out at
    # the duals themselves (β = 0), can cost half of γ = -4 each, and there are up to three: 10/2 - 3·2, and the offset.
    master = covering(demands=(3.0, 2.0))
    master.add([Column(1000.0, {("demand", 0): 1.0, ("demand", 1): 1.0}, "dear", upper=5.0)])
    duals = master.solve().duals.replace(np.array([2.0, 2.0]))
    assert master.objective.phase == 2
    pricing = [Priced(cost_bound=1.0), Priced(multiplicity=3.0, cost_bound=-4.0)]
    assert master.bound(duals, pricing, stating(-1.0, 0.0)) == pytest.approx(5 - 6 + 1)
    # Without a bound on its costs nothing is known of it at halved duals.
    pricing[1] = Priced(multiplicity=3.0)
    assert master.bound(duals, pricing, stating(-1.0, 0.0)) == -math.inf
    pricing[1] = Priced(cost_bound=-4.0)
    assert master.bound(duals, pricing, stating(-1.0, 0.0)) == -math.inf
    # A pricing problem without columns has no say, and one that needs no scaling asks for none.
    assert master.bound(duals, pricing, stating(-1.0, math.inf)) == pytest.approx(5 + 1)
    assert master.bound(duals, pricing, stating(0.0, 0.0)) == pytest.approx(10 + 1)


def test_dual_bound_without_a_statement_proves_nothing():
    master = covering()
    master.add([col((1, 1))])
    duals = master.solve().duals
    assert master.bound(duals, [Priced()], stating(None)) == -math.inf
    assert master.bound(duals, [Priced(), Priced()], stating(0.0, None)) == -math.inf


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_unbounded_costs_prove_nothing_before_the_first_solve(sense):
    """Scaled dual values let the other's costs count, of which nothing is known; nor are sizes known yet."""
    m = pyo.ConcreteModel()
    m.unmet = artificial([0, 1])
    m.demand = pyo.Constraint([0, 1], rule=lambda m, i: m.unmet[i] >= 3)
    m.cost = pyo.Objective(expr=100.0, sense=sense)
    master = LinearMaster(compile_model(m))
    s = master.sense.sign
    assert master.precision.scale == 0.0
    duals = master.rows.guess({"demand": [2.0 * s, 2.0 * s]})
    pricing = [Priced(cost_bound=s * 1.0), Priced(multiplicity=3.0)]
    assert master.bound(duals, pricing, stating(s * -1.0, s * -0.5)) == master.sense.ideal


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("large", [1.0, 1e6, 1e9, 1e12, 1e15])
def test_a_bound_of_large_numbers_that_cancel_out_is_weaker_by_their_rounding(large, sense):
    """The same bound at dual values that are larger by a constant: less whatever is rounded away, and never more."""
    master = covering(demands=(1.0, 1.0), sense=sense)
    s = master.sense.sign
    master.add([col((0, 1), s * 0.3)])
    gain = large / 3.0
    reduced = 0.3 - gain  # what an oracle states of a column that may be used once
    duals = master.rows.guess({"demand": [0.0, s * gain]})
    bound = s * (master.bound(duals, [Priced(1.0)], stating(s * reduced)) - master.formulation.offset)
    assert bound <= 0.3 + 1e-15
    assert bound >= 0.3 - 1e-14 * large


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("gain", [(10.0**k + 0.1) / 3.0 for k in (14, 15, 16)])
def test_a_bound_is_not_lost_in_the_rounding_of_penalties(gain, sense):
    """While the master knows penalties alone their rounding seems nothing: the bound stays when they are gone."""
    cost = 1000.0
    master = covering(demands=(1.0, 1.0), sense=sense)
    s = master.sense.sign
    master.add([col((0, 1), s * 1e19)])
    assert master.precision.scale > 1e12
    duals = master.rows.guess({"demand": [0.0, s * 3.0 * gain]})
    reduced = math.nextafter(cost - 3.0 * gain, math.inf)  # rounded as an oracle may round
    bound = s * (master.bound(duals, [Priced(1.0)], stating(s * reduced)) - master.formulation.offset)
    assert bound <= cost
    assert bound >= cost - 1e-13 * gain
