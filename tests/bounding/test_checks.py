"""Each check of results of oracles and separations (promise 3)."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    Best,
    Column,
    Columns,
    Decision,
    Method,
    OnOriginalVariable,
    OraclePricing,
    Pricing,
    PricingContext,
    PricingResult,
    Problem,
    Row,
    Sense,
    Separation,
    SeparationContext,
    Solution,
    artificial,
    solve,
)
from colgen.bounding.checks import (
    check_not_repeated,
    check_results,
    check_rows,
    check_use,
    check_weak_duality,
    objection,
    oracle_names,
    probe_infeasibility,
)
from colgen.core.duals import Duals
from colgen.core.errors import (
    DecisionViolatedError,
    InvalidBoundError,
    OracleBeatenError,
    ReducedCostError,
    RepeatedColumnError,
    SeparationError,
)
from colgen.master.protocol import LinkingRows, MasterSolution, MasterStatus
from colgen.master.statement import restricted_master
from tests.master.test_protocol import Unknowing
from tests.toys import CuttingStock


class Known(Unknowing, LinkingRows):
    """Knows a column of reduced cost -2 of each pricing problem (2 when maximising)."""

    def __init__(self, sense=Sense.MINIMIZE, overused=False):
        self.sense, self.overused = sense, overused
        self.rows = self

    def __len__(self):
        return 0

    def __contains__(self, key):
        return False

    def best_known(self, duals, oracles):
        return [-2.0 * self.sense.sign] * oracles

    def overuses(self, solved, pricing):
        return self.overused

    def itemised(self, stated, column, duals, weight):
        return "the parts"


class Oracle(Pricing):
    def price(self, duals, context):
        raise NotImplementedError


class Never(Decision):
    def allows(self, column):
        return column.structure != "forbidden"


COLUMN = Column(1.0, {}, "a")


def check(result, found, sense=Sense.MINIMIZE, decisions=()):
    results, arrays = [PricingResult((), sense.sign * -2.0), result], [np.empty(0), np.array(found)]
    context = PricingContext(sense, decisions=decisions)
    check_results(Known(sense), [Oracle(), Oracle()], results, arrays, None, context)


@pytest.mark.parametrize("sense", list(Sense))
def test_true_results_pass(sense):
    s = sense.sign
    check(PricingResult([COLUMN], s * -3.0, [s * -3.0]), [s * -3.0], sense)
    check(PricingResult([COLUMN, COLUMN], s * -3.0, [s * -3.0]), [s * -3.0, 5.0 * s], sense)  # states one of two
    check(PricingResult([COLUMN], None), [s * -7.0], sense)  # nothing is claimed
    check(PricingResult([COLUMN], s * (-3.0 + 1e-8)), [s * -3.0], sense)  # rounding


@pytest.mark.parametrize("sense", list(Sense))
def test_results_that_are_not_true(sense):
    s = sense.sign
    with pytest.raises(OracleBeatenError, match="returned itself has -3" if s > 0 else "returned itself has 3"):
        check(PricingResult([COLUMN], s * -2.5), [s * -3.0], sense)
    with pytest.raises(OracleBeatenError, match="in the master already"):
        check(PricingResult([], s * -1.0), [], sense)
    with pytest.raises(ReducedCostError, match="the parts"):
        check(PricingResult([COLUMN, COLUMN], None, [s * -3.0, s * -4.0]), [s * -3.0, s * -3.0], sense)
    with pytest.raises(ReducedCostError, match="2 reduced costs for 1"):
        check(PricingResult([COLUMN], None, [1.0, 2.0]), [1.0], sense)
    with pytest.raises(ReducedCostError):
        check(PricingResult([COLUMN], None, [math.nan]), [1.0], sense)
    with pytest.raises(InvalidBoundError, match="not a number"):
        check(PricingResult([], math.nan), [], sense)


def test_rounding_errors_of_large_costs_are_accepted():
    check(PricingResult([Column(1e9, {}, "a")], None, [1.0]), [1.0 + 1e-7 * 1e9])


def test_forbidden_columns():
    check(PricingResult([COLUMN], None), [1.0], decisions=(Never(),))
    with pytest.raises(DecisionViolatedError, match="'forbidden'"):
        check(PricingResult([COLUMN, Column(1.0, {}, "forbidden")], None), [1.0, 1.0], decisions=(Never(),))


@pytest.mark.parametrize("sense", list(Sense))
def test_weak_duality(sense):
    solved = MasterSolution(MasterStatus.OPTIMAL, sense.sign * 10.0)
    check_weak_duality(Known(sense), sense.sign * 10.0, solved, [Oracle()], 1.0)
    check_weak_duality(Known(sense), sense.sign * 9.0, solved, [Oracle()], 1.0)
    with pytest.raises(InvalidBoundError, match="Oracle"):
        check_weak_duality(Known(sense), sense.sign * 11.0, solved, [Oracle()], 1.0)
    # Where the relaxation uses more columns than any answer does, a bound on answers may well be worse.
    check_weak_duality(Known(sense, overused=True), sense.sign * 11.0, solved, [Oracle()], 1.0)


class Cuts(Separation):
    def __init__(self, *rows):
        self.rows = rows

    def separate(self, solution):
        return self.rows


def test_rows_must_be_violated_and_valid():
    row = Row(("cut", 0), upper=1.0, coefficients={("x", 0): 1.0})
    solution, answer = Solution(1.0, variables={("x", 0): 2.0}), Solution(1.0, variables={("x", 0): 1.0})
    assert check_rows(Cuts(), [row], solution, [answer])
    assert not check_rows(Cuts(), [row], answer, [])  # tight: it may be a rounding error
    with pytest.raises(SeparationError, match="satisfies"):
        check_rows(Cuts(), [row], Solution(1.0), [])
    with pytest.raises(SeparationError, match="cuts off"):
        check_rows(Cuts(), [row], solution, [solution])
    asked = SeparationContext(Sense.MINIMIZE, whole=True)
    assert objection([Cuts(row)], solution, asked).row is row
    assert objection([Cuts(row)], answer, asked) is None
    assert objection([], solution, asked) is None


def test_answers_that_use_more_than_an_oracle_states():
    class One(Oracle):
        multiplicity = 1.0
        cost_bound = 1.0

    check_use(Known(), [One()], Solution(1.0, ((COLUMN, 1.0),)), "the test")
    with pytest.raises(InvalidBoundError, match="multiplicity"):
        check_use(Known(), [One()], Solution(2.0, ((COLUMN, 2.0),)), "the test")
    with pytest.raises(InvalidBoundError, match="cost_bound"):
        check_use(Known(), [One()], Solution(0.5, ((Column(0.5, {}), 1.0),)), "the test")


def test_names_of_no_oracle():
    assert oracle_names([Oracle(), Oracle()]) == "Oracle, Oracle"
    assert "no oracle" in oracle_names([])


def test_a_batch_that_no_master_has_seen_is_looked_at_before_infeasibility_is_believed():
    class Batches(Oracle):
        """One column, on offer at any dual values; what it claims of those of phase 1 is the test's."""

        def __init__(self, claimed):
            self.claimed = claimed

        def price(self, duals, context):
            return PricingResult(Columns([5.0], [0, 1], [0], [1.0], ["the one"]), self.claimed)

    master = restricted_master(CuttingStock(demands=(1,)).master())
    solved = MasterSolution(MasterStatus.OPTIMAL, 1.0, duals=Duals(np.array([2.0]), master.rows.names), phase=1)
    context = PricingContext(Sense.MINIMIZE, cost_weight=0.0)
    probe_infeasibility(master, [Batches(-2.0)], solved, context)
    with pytest.raises(OracleBeatenError, match=r"misses.*'the one'"):
        probe_infeasibility(master, [Batches(-1.0)], solved, context)


# --- columns without a key -------------------------------------------------------------------------------------------

TOURS = {"ab": (2.0, (0, 1)), "ba": (2.0, (0, 1)), "bc": (2.0, (1, 2)), "cb": (2.0, (1, 2)), "ca": (2.0, (0, 2))}
TOURS |= {"ac": (2.0, (0, 2)), "a": (9.0, (0,)), "b": (9.0, (1,)), "c": (9.0, (2,))}


class Tours(OraclePricing):
    """Tours that go through their stops in one order or in the other, at the same cost."""

    multiplicity = 3.0

    def best(self, duals, context):
        allowed = [tour for tour in TOURS if context.allows(self.encode(tour))]
        costs = {tour: self.reduced_cost(tour, duals, context) for tour in allowed}
        best = min(costs, key=costs.get)
        return Best(best, costs[best])

    def reduced_cost(self, tour, duals, context):
        cost, stops = TOURS[tour]
        steps = sum(value * (step in tour) for step, value in duals.items("step"))
        return context.cost_weight * cost - sum(duals["stop", i] for i in stops) - steps

    def encode(self, tour):
        cost, stops = TOURS[tour]
        key = ("tour", tour) if self.problem.keys else None
        return Column(cost, {("stop", i): 1.0 for i in stops}, tour, key)


class Touring(Problem):
    def __init__(self, keys):
        self.keys = keys

    def master(self):
        m = pyo.ConcreteModel()
        m.missed = artificial(range(3))
        m.stop = pyo.Constraint(range(3), rule=lambda m, i: m.missed[i] == 1)
        m.cost = pyo.Objective(expr=0)
        return m

    def pricing(self):
        return Tours(self)

    def branching(self):
        def steps(column):
            return {column.structure[k : k + 2]: 1.0 for k in range(len(column.structure) - 1)}

        return (OnOriginalVariable(steps, block="step"),)

    def method(self):
        return Method(heuristics=())


def test_columns_that_only_a_branching_decision_tells_apart_need_keys():
    with pytest.raises(RepeatedColumnError, match=r"cost and coefficients of '\w\w' in the master.*key="):
        solve(Touring(keys=False))
    assert solve(Touring(keys=True)).objective == 11.0


@pytest.mark.parametrize("key", [None, ("tour", 1)])
def test_a_repeated_column_raises_an_error(key):
    column, held = Column(1.0, {}, "one", key), Column(1.0, {}, "other", key)
    with pytest.raises(RepeatedColumnError) as refused:
        check_not_repeated(Oracle(), column, held, -5.0, 1.0, 0.0)
    assert ("share the key ('tour', 1)" in str(refused.value)) == (key is not None)
    assert ("cost and coefficients of 'other'" in str(refused.value)) == (key is None)
    check_not_repeated(Oracle(), column, held, -1e-12, 1.0, 0.0)
    # A min-max objective of zero costs has a tiny scale; the reduced cost was 1.3 times the rounding error of a sum.
    check_not_repeated(Oracle(), column, held, -3.53e-13, 2.0**-24, 2.67e-13)
