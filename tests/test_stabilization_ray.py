"""Phase 1 at real costs along its dual values: length, bounds, and unchanged outcomes."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.engine.trees import PoolPartition
from colgen import (
    Column,
    Directional,
    Method,
    NoStabilization,
    Pricing,
    PricingContext,
    PricingResult,
    Problem,
    Sense,
    Termination,
    WarmStart,
    Wentges,
    artificial,
    solve,
)
from colgen.bounding.column_generation import NodeProgress
from colgen.bounding.pricing_round import NONE_IMPROVING, PricedRound, Pricer
from colgen.core.duals import Duals, RowNames
from colgen.master.statement import restricted_master
from colgen.pricing.calls import gather
from colgen.stabilization import Ray
from tests.toys import Pool


def pi(*values):
    rows = RowNames()
    for k in range(len(values)):
        rows.append(("row", k))
    return Duals(np.array(values, dtype=float), rows)


def test_the_length_is_the_least_ratio_of_cost_to_gain():
    ray = Ray()
    assert ray.point(pi(1, 2)) is None
    ray.learn(np.array([6.0, 9.0, 1.0]), np.array([2.0, 4.0, -1.0]))  # the last one does not improve
    assert ray.length == 2.25
    assert ray.point(pi(1, 2)).values.tolist() == [2.25, 4.5]
    ray.learn(np.array([1.0]), np.array([1.0]))
    assert ray.length == 2.25  # from now on it only grows
    ray.extend()
    assert ray.length == 4.5


def test_the_length_uses_magnitudes_of_costs():
    ray = Ray()
    ray.learn(np.array([-6.0, 9.0]), np.array([2.0, 1.0]))
    assert ray.length == 3.0


def test_equal_costs_give_no_length():
    ray = Ray()
    for _ in range(2):
        ray.learn(np.array([2.0, 2.0]), np.array([1.0, 3.0]))
        assert ray.length is None
    ray.learn(np.array([3.0]), np.array([2.0]))
    assert ray.length == 1.5
    free = Ray()
    free.learn(np.zeros(2), np.ones(2))
    assert free.length is None
    free.extend()
    assert free.length is None


def test_stabilizations_that_price_at_real_costs():
    assert isinstance(Directional().ray, Ray)
    assert isinstance(Wentges(real_costs=True).ray, Ray)
    assert Wentges().ray is None  # as in its source
    assert Directional(real_costs=False).ray is None
    assert NoStabilization().ray is None
    assert Directional().at(1).ray is None  # below the root phase 1 should prove infeasibility
    used = Directional()
    used.ray.learn(np.array([1.0, 2.0]), np.ones(2))
    used.reset()
    assert used.ray.length is None


class Cover(Problem):
    """One row that must be covered once, by columns that a list has."""

    def __init__(self, *columns, sense="minimize"):
        self.columns, self.sense = columns, sense
        self.oracle = None

    def master(self):
        m = pyo.ConcreteModel()
        m.unmet = artificial(range(2))
        m.row = pyo.Constraint(range(2), rule=lambda m, k: m.unmet[k] == 1)
        m.cost = pyo.Objective(expr=0.0, sense=pyo.maximize if self.sense == "maximize" else pyo.minimize)
        return m

    def pricing(self):
        self.oracle = Watched(self.columns, multiplicity=2.0)
        return [self.oracle]


class Watched(Pool):
    """A pool that records the cost weights and dual values of its calls."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.asked = []

    def price(self, duals, context):
        self.asked.append((context.cost_weight, context.provisional, duals.values.tolist()))
        return super().price(duals, context)


def covering(cost, *rows):
    return Column(float(cost), {("row", row): 1.0 for row in rows}, (cost, rows))


def phase_1(problem, ray):
    """A pricer of the problem's master in phase 1, at its first solve."""
    stabilization = Wentges()
    stabilization.ray = ray
    oracles = problem.pricing()
    master = restricted_master(problem.master())
    solved = master.solve()
    assert solved.phase == 1
    context = PricingContext(Sense.MINIMIZE, cost_weight=0.0, price=master.price, find=master.find)
    return Pricer(master, oracles, stabilization), master, solved, context


def test_phase_1_takes_the_cheap_column_and_proves_a_bound_on_real_costs():
    problem = Cover(covering(9, 0, 1), covering(2, 0), covering(3, 1))
    ray = Ray()
    pricer, master, solved, context = phase_1(problem, ray)
    first = pricer.price(solved, context, -math.inf)
    assert first.new.columns[0].cost == 9.0  # it covers most, and costs are ignored
    assert first.real is None
    assert ray.length is None  # one cost alone
    ray.length = 2.5
    second = pricer.price(solved, context, -math.inf)
    assert problem.oracle.asked == [(0.0, False, [1.0, 1.0]), (1.0, True, [2.5, 2.5])]
    assert [column.cost for column in second.new.columns] == [2.0]
    assert second.bound == -math.inf  # nothing is known of phase 1
    assert not second.exact
    # Σ π + 2 min(0, best reduced cost): 2.5 + 2.5 + 2 (2 - 2.5)
    assert second.real[0] == pytest.approx(4.0)
    assert second.real[1].values.tolist() == [2.5, 2.5]
    assert master.objective.phase == 1
    assert second.reduced_costs[0].tolist() == [-1.0]  # in phase 1


def test_a_point_without_improving_columns_is_a_misprice():
    # At half a unit along the ray nothing covers for less, and the oracle returns what is in the master already.
    problem = Cover(covering(9, 0, 1), covering(1, 0))
    ray = Ray()
    pricer, master, _, context = phase_1(problem, ray)
    master.add([covering(1, 0)])
    solved = master.solve()
    assert solved.phase == 1
    ray.length = 0.5
    priced = pricer.price(solved, context, -math.inf)
    assert [weight for weight, _, _ in problem.oracle.asked] == [1.0, 0.0]
    assert priced.misprices == 1
    assert priced.exact
    assert [column.cost for column in priced.new.columns] == [9.0]
    assert math.isfinite(priced.bound)
    assert priced.real is not None
    assert ray.length == 1.0


def test_rounding_is_that_of_phase_1_again_afterwards():
    pricer, master, solved, context = phase_1(Cover(covering(2e6, 0), covering(3e6, 1)), Ray())
    before = master.precision.rounding
    pricer._stabilization.ray.length = 4e6
    assert pricer.price(solved, context, -math.inf).real is not None
    assert master.precision.rounding == before


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [Directional, lambda: Wentges(real_costs=True)], ids=["directional", "wentges"])
def test_set_partitioning_has_the_same_relaxation(make, seed):
    def relaxed(stabilization):
        return solve(PoolPartition(12, 80, 2, seed), relaxation=True, method=Method(stabilization=stabilization))

    plain, ahead = relaxed(NoStabilization()), relaxed(make())
    assert ahead.dual_bound == pytest.approx(plain.dual_bound)
    assert ahead.objective == pytest.approx(plain.objective)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-5, 9), st.lists(st.integers(0, 1), min_size=1, max_size=2, unique=True)),
        min_size=1,
        max_size=6,
        unique_by=str,
    ),
    st.sampled_from(["minimize", "maximize"]),
    st.sampled_from([2.0**-30, 1.0, 2.0**30]),
)
def test_outcomes_do_not_depend_on_the_ray(drawn, sense, scale):
    """Whatever columns cost, there is an answer if there was one, and its bound is the same."""
    columns = [covering(cost * scale, *rows) for cost, rows in drawn]

    def ended(stabilization):
        return solve(Cover(*columns, sense=sense), start=WarmStart(), method=Method(stabilization=stabilization))

    plain, ahead = ended(NoStabilization()), ended(Directional())
    assert ahead.termination is plain.termination
    if plain.termination is Termination.OPTIMAL:
        assert ahead.objective == pytest.approx(plain.objective, abs=1e-9 * scale)


def test_a_problem_without_answers_is_still_infeasible():
    ended = solve(Cover(covering(1, 0), covering(2, 0)), method=Method(stabilization=Directional()))
    assert ended.termination is Termination.INFEASIBLE


def test_a_master_without_oracles_has_a_phase_1_too():
    class Rows(Cover):
        def pricing(self):
            return []

    assert solve(Rows(), method=Method(stabilization=Directional())).termination is Termination.INFEASIBLE


class NoBound(Pricing):
    """States no bound, as rules of thumb do, at real costs."""

    multiplicity = 2.0

    def __init__(self, pool):
        self.pool = pool

    def price(self, duals, context):
        found = self.pool.price(duals, context)
        return PricingResult(found.columns, found.bound if context.cost_weight == 0.0 else None)


def test_an_oracle_without_a_bound_proves_nothing():
    problem = Cover(covering(9, 0, 1), covering(2, 0), covering(3, 1))
    ray = Ray()
    pricer, _, solved, context = phase_1(problem, ray)
    pricer._oracles = [NoBound(problem.oracle)]
    ray.length = 2.5
    priced = pricer.price(solved, context, -math.inf)
    assert priced.num_columns == 1
    assert priced.real[0] == -math.inf
    progress = NodeProgress(Sense.MINIMIZE)
    progress.add_round(priced)
    assert progress.known is None


def test_bounds_at_real_costs_are_valid_in_phase_2():
    progress = NodeProgress(Sense.MINIMIZE)

    def priced(real):
        return PricedRound(NONE_IMPROVING, -math.inf, None, False, 0, gather([], None), (), real)

    for real in ((3.0, "first"), (5.0, "best"), (4.0, "last"), (math.inf, "no answer, so far"), None):
        progress.add_round(priced(real))
    assert progress.known == (5.0, "best")
