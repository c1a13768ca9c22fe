"""One round of pricing, with a scripted master and scripted oracles."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    Column,
    Directional,
    Method,
    Pricing,
    PricingContext,
    PricingResult,
    Problem,
    Sense,
    Stabilization,
    WarmStart,
    artificial,
    solve,
)
from colgen.bounding.pricing_round import Pricer, proved_bound
from colgen.core.duals import Duals, RowNames
from colgen.core.errors import InvalidBoundError, OracleBeatenError
from colgen.master.protocol import MasterSolution, MasterStatus
from colgen.master.statement import restricted_master
from colgen.problems.assignment import random as assignment
from colgen.problems.assignment.template import Unguessed
from tests.master.test_protocol import Unknowing


def names():
    rows = RowNames()
    rows.append(("row", None))
    return rows


NAMES = names()


def pi(value):
    return Duals(np.array([value]), NAMES)


class Counting(Unknowing):
    """Reduced costs ``c - π``, and the number of calls."""

    sense = Sense.MINIMIZE

    def __init__(self):
        self.asked = []

    def price(self, columns, duals):
        self.asked.append(len(columns))
        return np.array([column.cost - float(duals.values[0]) for column in columns])

    def bound(self, duals, pricing, results):
        return sum(result.bound for result in results)


class Says(Pricing):
    """Returns columns of these costs, and the bound of the best of them."""

    def __init__(self, *costs, batch=list, bound=None):
        self.costs, self.batch, self.stated = costs, batch, bound
        self.told = []

    def price(self, duals, context):
        self.told.append(context)
        best = min(self.costs, default=math.inf) - float(duals.values[0])
        columns = self.batch(Column(cost, {("row", None): 1.0}, cost) for cost in self.costs)
        return PricingResult(columns, best if self.stated is None else self.stated)


class Halfway(Stabilization):
    """Proposes dual values that are too small, so often; then the master's own."""

    def __init__(self, times):
        self.left = times

    def propose(self, duals):
        return duals.replace(duals.values / 2.0) if self.left else duals

    def misprice(self):
        self.left -= 1
        return self.left >= 0


CONTEXT = PricingContext(Sense.MINIMIZE)
SOLVED = MasterSolution(MasterStatus.OPTIMAL, 10.0, None, pi(4.0))


def test_a_round_finds_columns_and_proves_a_bound():
    oracles = [Says(1.0, 5.0), Says(6.0)]
    master = Counting()
    priced = Pricer(master, oracles, Halfway(0)).price(SOLVED, CONTEXT, -math.inf)
    assert master.asked == [3]  # all columns at once
    assert [column.cost for column in priced.new.columns] == [1.0]
    assert priced.new.origins.tolist() == [0]
    assert priced.num_columns == 1
    assert priced.bound == -3.0 + 2.0
    assert priced.exact
    assert priced.misprices == 0


def test_misprices_are_counted_and_bounds_keep_their_duals():
    context = PricingContext(Sense.MINIMIZE)  # its budget ignores interrupts of other tests
    oracle = Says(3.0)
    priced = Pricer(Counting(), [oracle], Halfway(2)).price(SOLVED, context, -math.inf)
    # At half the dual values the column does not improve; at the master's own 4 it does, and so it is taken at once.
    assert priced.num_columns == 1
    assert priced.misprices == 0
    assert not priced.exact
    assert priced.duals.values.tolist() == [2.0]
    assert oracle.told == [PricingContext(Sense.MINIMIZE, provisional=True, budget=context.budget)]

    oracle = Says(5.0)
    priced = Pricer(Counting(), [oracle], Halfway(2)).price(SOLVED, context, -math.inf)
    assert (priced.num_columns, priced.misprices, priced.exact) == (0, 2, True)
    assert [each.provisional for each in oracle.told] == [True, True, False]
    assert oracle.told[0] is oracle.told[1]
    assert oracle.told[2] is context
    assert priced.bound == 3.0  # the best of the round, at half the dual values
    assert priced.duals.values.tolist() == [2.0]


class FarAway(Stabilization):
    """Proposes dual values that are large and cancel out in a column's reduced cost."""

    def __init__(self):
        self.left = 1

    def propose(self, duals):
        return duals.replace(5000.0 * np.array([1.0, -1.0]) + 1e-11) if self.left else duals

    def misprice(self):
        self.left, tried = 0, bool(self.left)
        return tried

    def update(self, improved, subgradient):
        pass


def test_rounding_errors_at_large_dual_values_are_accepted():
    class InOrder(Pricing):
        """States the reduced cost of its column, summed up in an order of its own."""

        def price(self, duals, context):
            cost = 1e-7 - float(duals.values[0]) - float(duals.values[1])
            return PricingResult([Column(1e-7, {("row", None): 1.0, ("other", None): 1.0}, "both")], None, [cost])

    class Both(Problem):
        """Two rows that one column meets."""

        def master(self):
            m = pyo.ConcreteModel()
            m.unmet = artificial(range(2))
            m.row = pyo.Constraint(expr=m.unmet[0] == 1)
            m.other = pyo.Constraint(expr=m.unmet[1] == 1)
            m.cost = pyo.Objective(expr=0.0)
            return m

        def pricing(self):
            return [oracle]

    oracle = InOrder()
    master = restricted_master(Both().master())
    master.add([Column(2e-7, {("row", None): 1.0}, "one"), Column(2e-7, {("other", None): 1.0}, "other")])
    solved = master.solve()
    context = PricingContext(Sense.MINIMIZE, scale=master.precision.scale, price=master.price)
    assert abs(solved.duals.values).max() < 1e-6
    priced = Pricer(master, [oracle], FarAway()).price(solved, context, -math.inf)
    assert priced.num_columns == 1


def test_an_oracle_that_its_own_column_beats():
    results = [Says(1.0, bound=0.0).price(pi(4.0), CONTEXT)]
    with pytest.raises(OracleBeatenError, match="returned itself"):
        proved_bound(Counting(), [Says(1.0)], results, [np.array([-3.0])], pi(4.0), CONTEXT)


def test_a_bound_that_is_not_a_number():
    master = Counting()
    master.bound = lambda duals, pricing, results: math.nan
    with pytest.raises(InvalidBoundError, match="Says"):
        proved_bound(master, [Says(1.0)], [PricingResult()], [np.empty(0)], pi(4.0), CONTEXT)


@pytest.mark.parametrize("seed", range(3))
def test_subgradients_are_those_of_the_bound_where_one_oracle_answers_for_many_problems(seed):
    """No bound is better than any other's tangent says: one column alone, used for all machines, was none."""
    seen, tangents = [], []

    class Watched(Unguessed):
        def master(self):
            master = restricted_master(super().master())
            inner, slope = master.bound, master.rows.subgradient

            def bound(duals, pricing, results):
                found = inner(duals, pricing, results)
                if master.objective.phase == 2:
                    seen.append((duals.values, found))
                return found

            def subgradient(solved, answers, duals):
                found = slope(solved, answers, duals)
                if master.objective.phase == 2:
                    tangents.append((*seen[-1], found))
                return found

            master.bound, master.rows.subgradient = bound, subgradient
            return master

    solve(
        Watched(assignment(4, 16, seed)), relaxation=True, start=WarmStart(), method=Method(stabilization=Directional())
    )
    assert len(tangents) > 10
    for duals, bound, slope in tangents:
        for other, found in seen:
            assert found <= bound + slope @ (other - duals) + 1e-6 * max(1.0, abs(bound), abs(found))
