"""Reduced-cost fixing by marginals: it keeps all better solutions and forbids the rest."""

import dataclasses
import itertools
import time
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import Column, Method, Sense, solve
from colgen.core.errors import InputError
from colgen.fixing import ReducedCostFixing, Reduction, ReductionContext, VariablesForbidden
from colgen.master.dual_bound import factor, increases
from colgen.master.statement import restricted_master
from colgen.pricing.oracles import PricedMarginals, Pricing, PricingResult
from tests.assignment import Assignment, Knapsack, assignment, pairs
from tests.zoo import Partitioning


class Telling(Knapsack):
    """The knapsack of a machine, with the best set for each task forced in."""

    def price(self, duals, context):
        found = super().price(duals, context)

        def marginals():
            allowed = [s for s in self.sets() if self.allowed(s, context)]
            tasks = range(self.problem.costs.shape[1])
            values = [
                min((self.value(s, duals, context) for s in allowed if t in s), default=context.sense.hopeless)
                for t in tasks
            ]
            return PricedMarginals(np.array(values), [(self.machine, t) for t in tasks])

        return dataclasses.replace(found, marginals=marginals)


class Fixed(Assignment):
    share = 0.0

    def pricing(self):
        return self._tellings

    def method(self):
        return Method(reductions=(ReducedCostFixing(self._tellings, pairs, share=self.share),))

    @cached_property
    def _tellings(self):
        return [Telling(self, machine) for machine in range(len(self.costs))]


@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_is_that_without_fixing(seed):
    plain, fixed = assignment(3, 6, seed), assignment(3, 6, seed, Fixed)
    one, other = solve(plain), solve(fixed)
    assert one.termination is other.termination
    assert one.objective == other.objective


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), gap=st.floats(0.0, 0.5), power=st.sampled_from((-30, 0, 30)))
def test_every_answer_of_interest_is_kept_and_others_go(seed, gap, power):
    """At any dual values: an answer that fixing forbids is worse than the target."""
    rng = np.random.default_rng(seed)
    factor_of_costs = 2.0**power
    problem = assignment(2, 4, seed, Fixed)
    problem.costs = problem.costs * factor_of_costs
    problem.objective_step = None
    master = restricted_master(problem.master())
    duals = master.rows.guess(
        {"assign": rng.random(4) * 30.0 * factor_of_costs, "use": -rng.random(2) * factor_of_costs}
    )
    oracles = problem.pricing()
    with master.rows.real_costs():
        context = ReductionContext(Sense.MINIMIZE, duals, 0.0, 0.0, (), scale=factor_of_costs)
        bound = master.bound(duals, oracles, [oracle.price(duals, context.pricing) for oracle in oracles])
    target = bound + gap * abs(bound)
    context = ReductionContext(Sense.MINIMIZE, duals, bound, target, (), scale=factor_of_costs)
    decisions = ReducedCostFixing(oracles, pairs, share=0.0).reduce(context)
    gone = set().union(*(decision.forbids("branch") for decision in decisions))
    for machines in itertools.product(range(2), repeat=4):
        loads = [problem.sizes[j][np.array(machines) == j].sum() for j in range(2)]
        if all(load <= room for load, room in zip(loads, problem.capacities, strict=True)):
            cost = sum(problem.costs[j, t] for t, j in enumerate(machines))
            if cost <= target:
                assert not gone & {(j, t) for t, j in enumerate(machines)}
    # It forbids all that its rule allows: forcing in any remaining variable keeps the bound within the target.
    for machine, oracle in enumerate(oracles):
        result = oracle.price(duals, context.pricing)
        worse = increases(Sense.MINIMIZE, oracle, result, result.marginals().values, 1.0)
        for t in range(4):
            if bound + worse[t] > target + 1e-5 * max(abs(bound), factor_of_costs) and np.isfinite(worse[t]):
                assert (machine, t) in gone


class Priced(Pricing):
    def __init__(self, multiplicity=np.inf, cost_bound=None):
        self.multiplicity, self.cost_bound = multiplicity, cost_bound

    def price(self, duals, context):
        raise NotImplementedError


@pytest.mark.parametrize("sign", [1, -1])
def test_increases_by_hand(sign):
    sense = Sense.MINIMIZE if sign > 0 else Sense.MAXIMIZE
    marginals = sign * np.array([-2.0, 0.0, 3.0])
    one = PricingResult(bound=sign * -2.0)
    # With a multiplicity: the column that was counted at -2 becomes one that uses the variable.
    assert increases(sense, Priced(4.0), one, marginals, 1.0).tolist() == [0.0, 2.0, 5.0]
    none = PricingResult(bound=sign * 0.5)
    assert increases(sense, Priced(4.0), none, marginals, 1.0).tolist() == [-2.0, 0.0, 3.0]
    # Farley: π/3 makes the best reduced cost zero where columns cost 1 at least.
    farley = Priced(cost_bound=sign * 1.0)
    theta = factor(sense, [farley], [one], 0.0)
    assert theta == pytest.approx(1.0 / 3.0)
    found = increases(sense, farley, one, marginals, theta)
    assert found == pytest.approx([0.0, 2.0 / 3.0, 5.0 / 3.0])
    # Totals: marginals are totals too.
    total = PricingResult(bound=sign * -2.0, total=sign * -6.0)
    assert increases(sense, Priced(), total, sign * np.array([-6.0, -1.0, np.inf]), 1.0).tolist() == [
        0.0,
        5.0,
        np.inf,
    ]


def test_oracles_get_forbidden_variables_and_respect_them():
    decision = VariablesForbidden("branch", frozenset({(0, 1)}), pairs)
    assert not decision.allows(Column(1.0, {}, (0, (1, 2))))
    assert decision.allows(Column(1.0, {}, (0, (2,))))
    assert decision.forbids("branch") == {(0, 1)}
    assert not decision.forbids("other")
    assert not decision.exhaustive


@pytest.mark.parametrize("power", [-30, 0, 30])
def test_reduced_costs_treated_as_zero_add_up_over_the_columns_of_an_answer(power):
    """99 columns at -0.9e-7 each, and one of interest at 5e-6: an answer of 100, below the bound that was computed."""
    unit = 2.0**power

    class Nearly(Priced):
        def price(self, duals, context):
            return PricingResult(
                bound=-0.9e-7 * unit, marginals=lambda: PricedMarginals(np.array([5e-6 * unit]), ["y"])
            )

    bound, answer = (100.0 + 99 * 0.9e-7 - 5e-6) * unit, 100.0 * unit
    assert bound > answer
    context = ReductionContext(Sense.MINIMIZE, None, bound, answer, (), scale=unit)
    assert not ReducedCostFixing(Nearly(cost_bound=unit), pairs, share=0.0).reduce(context)


def test_continuous_columns_are_refused():
    class Half(Priced):
        def price(self, duals, context):
            return PricingResult(
                [Column(1.0, {}, integer=False)], 1.0, marginals=lambda: PricedMarginals(np.array([5.0]), ["y"])
            )

    context = ReductionContext(Sense.MINIMIZE, None, 0.0, 1.0, ())
    with pytest.raises(InputError, match="integer columns from Half"):
        ReducedCostFixing(Half(1.0), pairs).reduce(context)


def test_original_or_decide_is_required():
    with pytest.raises(InputError, match="original"):
        ReducedCostFixing(Priced(1.0))


class Exhausted(Reduction):
    """Needs more memory than there is."""

    def reduce(self, context):
        raise MemoryError("more labels than there is room for")


def test_a_fixing_that_runs_out_of_memory_is_skipped():
    class Greedy(Fixed):
        def method(self):
            return Method(reductions=(Exhausted(), *super().method().reductions))

    notes = []
    for seed in range(12):
        plain, result = solve(assignment(3, 6, seed)), solve(assignment(3, 6, seed, Greedy))
        assert result.termination is plain.termination
        assert result.objective == plain.objective
        notes += result.notes
    assert any("Exhausted" in note and "skipped" in note for note in notes)


class Slow(Reduction):
    def reduce(self, context):
        time.sleep(0.05)
        return ()


def test_the_time_of_fixing_has_a_name():
    seconds = dict(solve(Partitioning(size=9, seed=4, cuts=False), method=Method(reductions=(Slow(),))).seconds)
    assert seconds["fixing"] >= 0.05
    assert sum(seconds[name] for name in seconds.keys() - {"total"}) <= seconds["total"] + 1e-3
