"""The engine with scripted masters and oracles: how runs end, and every diagnostic on a part that is broken."""

import math
import time

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colgen
from colgen import (
    NO_STRUCTURE,
    Best,
    Column,
    DepthLimit,
    Diving,
    GapLimit,
    Heuristic,
    IterationLimit,
    MemoryLimit,
    Method,
    NodeLimit,
    NoStabilization,
    OnOriginalVariable,
    OnTemplateVariable,
    OraclePricing,
    Pricing,
    PricingResult,
    Problem,
    Row,
    RyanFoster,
    Sense,
    Separation,
    Solution,
    Stages,
    Termination,
    TimeLimit,
    WarmStart,
    Wentges,
    artificial,
    solve,
)
from colgen.core import errors
from colgen.core.stop import AnyOf, Stalled
from colgen.master.column_table import Held
from colgen.master.protocol import MasterSolution, MasterStatus, RestrictedMaster
from colgen.model.rows import compile_master
from colgen.tree.queues import BestBound, DepthFirst, LevelWise, Plunging
from tests.amounts import BUSY
from tests.fuzz.engine import pools as fuzz
from tests.fuzz.engine.pools import Case, PoolColumn, PoolGroup, PoolRow, Way
from tests.fuzz.engine.problem import PoolProblem
from tests.toys import (
    DEMANDS,
    WIDTHS,
    CuttingStock,
    Enumerated,
    Knapsack,
    Partition,
    Pool,
    Program,
    SetPartitioning,
    cutting_column,
    patterns,
)

OPTIONS = [NoStabilization, Wentges, lambda: Wentges(0.9)]


def rolls_needed_is_proved(result):
    """The certificate, checked without any solver: dual values that no pattern overspends bound every answer."""
    pi = [result.certificate.duals["demand", i] for i in range(len(DEMANDS))]
    spent = max(sum(n * p for n, p in zip(pattern, pi, strict=True)) for pattern in patterns())
    return sum(d * p for d, p in zip(DEMANDS, pi, strict=True)) / max(spent, 1.0)


# --- how runs end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stabilization", OPTIONS)
def test_relaxation_of_the_textbook(stabilization):
    result = solve(CuttingStock(), relaxation=True, method=Method(stabilization=stabilization()))
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(452.25)
    assert result.dual_bound == pytest.approx(452.25)
    assert result.root_bound == pytest.approx(452.25)
    assert result.answer is None  # fractional numbers of rolls are no answer
    assert rolls_needed_is_proved(result) == pytest.approx(452.25)


@pytest.mark.parametrize("stabilization", OPTIONS)
def test_optimum_of_the_textbook(stabilization):
    result = solve(CuttingStock(), method=Method(stabilization=stabilization()))
    assert result.is_optimal
    assert result.objective == result.dual_bound == pytest.approx(453)
    assert result.gap == 0.0
    supplied = [sum(times * pattern[i] for pattern, times in result.answer) for i in range(len(WIDTHS))]
    assert all(have >= need for have, need in zip(supplied, DEMANDS, strict=True))
    assert all(times == round(times) for _, times in result.answer)
    # The run may end as soon as the bound rounds to 453: the certificate must prove no less than it says.
    assert rolls_needed_is_proved(result) >= result.certificate.bound - 1e-6
    assert result.certificate.bound > 452


def test_maximising_is_the_mirror_image():
    result = solve(CuttingStock(cost=-1.0, oracle=MirroredKnapsack))
    assert result.is_optimal
    assert result.objective == result.dual_bound == pytest.approx(-453)


class MirroredKnapsack(Knapsack):
    cost_bound = -1.0


class PointlessPatterns(Knapsack):
    """Finds no pattern with the first item."""

    def best(self, duals, context):
        pi = duals["demand"]
        pattern = max((p for p in patterns() if not p[0]), key=lambda p: sum(n * pi[i] for i, n in enumerate(p)))
        return Best(pattern, context.cost_weight - sum(n * pi[i] for i, n in enumerate(pattern)))


def test_infeasible_is_proved_in_phase_1():
    result = solve(CuttingStock(oracle=PointlessPatterns))
    assert result.termination is Termination.INFEASIBLE
    assert result.solution is None
    assert result.objective == math.inf
    assert {i.phase for i in result.iterations} == {1}


def test_infeasible_needs_a_bound():
    class Heuristically(PointlessPatterns):
        exact = False

    result = solve(CuttingStock(oracle=Heuristically))
    assert result.termination is Termination.NO_BOUND  # nothing found is no proof


def test_infeasible_though_some_other_row_is_large():
    # A tolerance relative to the largest right-hand side would swallow the one roll that is missing.
    result = solve(CuttingStock(demands=(1, 10**8, 1, 1), oracle=PointlessPatterns), relaxation=True)
    assert result.termination is Termination.INFEASIBLE


def test_unbounded():
    class Gold(Problem):
        def master(self):
            m = pyo.ConcreteModel()
            m.y = pyo.Var(bounds=(0, 1))
            m.row = pyo.Constraint(expr=m.y <= 1)
            m.total = pyo.Objective(expr=m.y, sense=pyo.maximize)
            return m

        def pricing(self):
            return Pool([Column(1.0, {("row", None): -1.0}, "gold")])

    result = solve(Gold())
    assert result.termination is Termination.UNBOUNDED
    assert result.dual_bound == math.inf


def test_heuristic_oracle_proves_nothing():
    class Heuristically(Knapsack):
        exact = False

    result = solve(CuttingStock(oracle=Heuristically))
    assert result.termination is Termination.NO_BOUND
    assert result.objective == pytest.approx(453)
    assert result.dual_bound == -math.inf
    assert result.gap == math.inf


def test_loose_bound_is_not_called_optimal():
    class Loose(Knapsack):
        """A relaxation's bound: valid, and 0.1 too weak."""

        def price(self, duals, context):
            result = super().price(duals, context)
            return PricingResult(result.columns, result.bound - 0.1, result.reduced_costs)

    result = solve(CuttingStock(oracle=Loose), relaxation=True)
    assert result.termination is Termination.NO_BOUND
    assert result.objective == pytest.approx(452.25)
    assert result.dual_bound == pytest.approx(452.25 / 1.1)


@pytest.mark.parametrize("alpha", [None, 0.5, 0.9, 0.99])
def test_misprices_miss_no_column(alpha):
    result = solve(CuttingStock(), relaxation=True, method=Method(stabilization=Wentges(alpha)))
    assert result.is_optimal
    assert result.objective == pytest.approx(452.25)
    if alpha is not None and alpha >= 0.9:
        assert sum(i.misprices for i in result.iterations) > 0  # else this test shows nothing


def test_template_without_marked_artificial_variables():
    # Rows that only columns can satisfy: without artificial variables the first master is infeasible, which proves
    # nothing about the problem.
    class Unmarked(Problem):
        def __init__(self, marked):
            self.marked = marked

        def master(self):
            m = pyo.ConcreteModel()
            m.y = pyo.Var(bounds=(0, 1))
            m.u = artificial([0]) if self.marked else pyo.Var([0], bounds=(0, 0))
            m.first = pyo.Constraint(expr=m.u[0] >= 3)
            m.second = pyo.Constraint(expr=m.y >= 2)
            m.total = pyo.Objective(expr=m.y)
            return m

        def pricing(self):
            return Pool([Column(1.0, {("first", None): 1.0, ("second", None): 0.5}, key=("x", 1))])

    for marked in (False, True):
        result = solve(Unmarked(marked))
        assert result.is_optimal
        assert result.objective == pytest.approx(3.5)


# --- limits ----------------------------------------------------------------------------------------------------------


class Slow(Knapsack):
    """One pattern a round, and a nap before it."""

    def best(self, duals, context):
        time.sleep(0.02)
        return super().best(duals, context)


class Patient(Knapsack):
    """Works until the deadline, then gives up."""

    exact = False

    def best(self, duals, context):
        assert context.seconds_left() <= 0.3
        while context.seconds_left() > 0:
            time.sleep(0.005)
        return NO_STRUCTURE


def test_time_limit():
    result = solve(CuttingStock(oracle=Slow), stop=TimeLimit(0.05))
    assert result.termination is Termination.TIME_LIMIT
    assert result.dual_bound < 453.0 + 1e-6
    assert len(result.iterations) <= 5


def test_deadline_reaches_the_oracle():
    started = time.monotonic()
    result = solve(CuttingStock(oracle=Patient), stop=TimeLimit(0.3))
    assert result.termination is Termination.TIME_LIMIT
    assert time.monotonic() - started < BUSY


def test_no_time_for_the_masters_own_duals():
    # Nothing found at smoothed duals proves nothing about the master's own, which there was no time to try.
    class Dozing(Knapsack):
        calls = 0

        def price(self, duals, context):
            self.calls += context.cost_weight == 1.0
            if self.calls < 3:
                return super().price(duals, context)
            time.sleep(context.seconds_left())
            return PricingResult([], -1e6)

    result = solve(
        CuttingStock(oracle=Dozing), stop=TimeLimit(0.5), method=Method(stabilization=Wentges(0.9)), relaxation=True
    )
    assert result.termination is Termination.TIME_LIMIT


def test_no_time_at_all():
    result = solve(CuttingStock(), stop=TimeLimit(0))
    assert result.termination is Termination.TIME_LIMIT
    assert result.objective == math.inf
    assert result.dual_bound == -math.inf


@pytest.mark.parametrize("rounds", [1, 3, 6])
def test_iteration_limit(rounds):
    result = solve(CuttingStock(), stop=IterationLimit(rounds))
    assert result.termination is Termination.ITERATION_LIMIT
    assert len(result.iterations) == rounds
    assert result.dual_bound <= 453


def test_limits_hold_where_every_round_decides_its_node():
    # All columns are there from the start: each node is solved in its first round, so a stop rule never cuts one short.
    class Known(SetPartitioning):
        def warm_start(self, budget):
            return WarmStart(columns=tuple(self.first()))

        def first(self):
            return self.columns

    for rounds in (1, 2):
        result = solve(Known(branchy().partition), method=Method(heuristics=()), stop=IterationLimit(rounds))
        assert result.termination is Termination.ITERATION_LIMIT
        assert len(result.iterations) == rounds
        assert result.dual_bound == pytest.approx(1.5)


def test_memory_limit():
    result = solve(CuttingStock(), stop=MemoryLimit(1))
    assert result.termination is Termination.MEMORY_LIMIT
    assert not result.iterations  # there was nothing left to begin with


def test_memory_that_runs_out_midway_leaves_an_answer_and_a_bound(monkeypatch):
    seen, whole = [], solve(CuttingStock())
    rounds = len(whole.iterations) - 1
    assert rounds > 2
    for room in ("stop", "budget"):
        monkeypatch.setattr(f"colgen.core.{room}.resident_bytes", lambda: 100 * (len(seen) >= rounds))
    result = solve(CuttingStock(), stop=MemoryLimit(10), progress=seen.append)
    assert result.termination is Termination.MEMORY_LIMIT
    assert 0 < len(result.iterations) <= rounds
    assert result.answer is not None
    assert result.dual_bound <= whole.objective <= result.objective


def test_gap_limit():
    class Given(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(answers=tuple(self.known()))

        def known(self):
            # One pattern for each item alone: a poor answer, but one within half of the first bounds.
            columns = [cutting_column(tuple(int(i == k) * (100 // w) for k in range(4))) for i, w in enumerate(WIDTHS)]
            used = [math.ceil(d / (100 // w)) for d, w in zip(DEMANDS, WIDTHS, strict=True)]
            yield Solution(float(sum(used)), tuple(zip(columns, map(float, used), strict=True)))

    result = solve(Given(), stop=GapLimit(0.5))
    assert result.termination is Termination.GAP_LIMIT
    assert 0 < result.gap <= 0.5


def test_stalled():
    class Stubborn(Knapsack):
        """After three rounds it finds only patterns with which nothing moves: copies under new names."""

        rounds = 0

        def price(self, duals, context):
            self.rounds += 1
            if self.rounds <= 3 or context.cost_weight == 0:
                return super().price(duals, context)
            # A column that improves on paper, but cannot enter: its upper bound is zero.
            column = Column(0.5, {}, key=("copy", self.rounds), upper=0.0)
            return PricingResult([Column(-1.0, {}, key=column.key, upper=0.0)], None)

    result = solve(CuttingStock(oracle=Stubborn), stop=Stalled(4))
    assert result.termination is Termination.STALLED


def branchy(rule=None):
    """A set partitioning whose relaxation is fractional: three pairs of a triangle, and dear single elements."""
    pairs = [(1.0, frozenset(p)) for p in ((0, 1), (1, 2), (0, 2))]
    singles = [(1.0, frozenset([i])) for i in range(3)]
    return SetPartitioning(Partition(3, (*pairs, *singles)), rule)


def test_node_limit():
    result = solve(branchy(), stop=NodeLimit(1), method=Method(heuristics=()))
    assert result.termination is Termination.NODE_LIMIT
    assert len(result.nodes) == 1
    assert result.dual_bound == pytest.approx(1.5)
    assert result.objective == math.inf


def test_depth_limit():
    result = solve(branchy(), stop=DepthLimit(0), method=Method(heuristics=()))
    assert result.termination is Termination.DEPTH_LIMIT
    assert result.dual_bound == pytest.approx(1.5)


@pytest.mark.parametrize("queue", [Plunging, BestBound, DepthFirst, LevelWise])
def test_branching_closes_the_gap(queue):
    result = solve(branchy(), method=Method(queue=queue, heuristics=()))
    assert result.is_optimal
    assert result.objective == pytest.approx(2)
    assert result.root_bound == pytest.approx(1.5)
    assert len(result.nodes) > 1


def test_no_branching_rule_left():
    class Unbranched(SetPartitioning):
        def branching(self):
            return ()

    result = solve(Unbranched(branchy().partition), method=Method(heuristics=()))
    assert result.termination is Termination.NO_BRANCHING
    assert result.dual_bound == pytest.approx(1.5)


def test_several_stop_rules_and_one_is_enough():
    result = solve(CuttingStock(), stop=[TimeLimit(60), IterationLimit(2)])
    assert result.termination is Termination.ITERATION_LIMIT
    assert AnyOf(TimeLimit(60), TimeLimit(5), IterationLimit(2)).seconds == 5


# --- interrupts and errors -------------------------------------------------------------------------------------------


def breaking_after(rounds, error):
    class Breaking(Knapsack):
        calls = 0

        def best(self, duals, context):
            self.calls += 1
            if self.calls > rounds:
                raise error
            return super().best(duals, context)

    return Breaking


def test_interrupt_inside_an_oracle():
    full = solve(CuttingStock(), relaxation=True, method=Method(stabilization=NoStabilization()))
    rounds = len(full.iterations) - 1
    result = solve(
        CuttingStock(oracle=breaking_after(rounds, KeyboardInterrupt())),
        method=Method(stabilization=NoStabilization()),
        relaxation=True,
    )
    assert result.termination is Termination.INTERRUPTED
    assert len(result.iterations) == rounds
    assert result.dual_bound == pytest.approx(full.iterations[rounds - 1].dual_bound)
    assert 0 < result.dual_bound <= 452.25 + 1e-6


class Given(CuttingStock):
    """Starts from the answer that cuts one item a roll."""

    def warm_start(self, budget):
        return WarmStart(answers=tuple(self.known()))

    def known(self):
        columns = [cutting_column(tuple(int(i == k) * (100 // w) for k in range(4))) for i, w in enumerate(WIDTHS)]
        used = [float(math.ceil(d / (100 // w))) for d, w in zip(DEMANDS, WIDTHS, strict=True)]
        yield Solution(sum(used), tuple(zip(columns, used, strict=True)))


GIVEN = 49 + 305 + 132 + 31  # rolls, one item a roll


def test_a_guess_that_has_been_priced_at_is_where_the_rounds_start_and_not_priced_at_again():
    asked = []

    class Noting(Knapsack):
        def price(self, duals, context):
            asked.append(tuple(duals.values.tolist()))
            return super().price(duals, context)

    class Guessing(Given):
        def warm_start(self, budget):
            return WarmStart({"demand": [w / 100 for w in WIDTHS]}, tuple(self.known()))

    result = solve(Guessing(oracle=Noting), relaxation=True, method=Method(stabilization=Wentges(0.5)))
    assert result.objective == pytest.approx(452.25)
    assert len(set(asked)) == len(asked)
    guessed, *rounds = result.iterations
    assert all(round_.dual_bound >= guessed.dual_bound for round_ in rounds if round_.phase == 2)


def test_interrupt_keeps_the_incumbent():
    result = solve(Given(oracle=breaking_after(2, KeyboardInterrupt())))
    assert result.termination is Termination.INTERRUPTED
    assert result.objective == GIVEN
    assert sum(times for _, times in result.answer) == GIVEN


def test_out_of_memory_in_an_oracle_is_a_limit():
    result = solve(Given(oracle=breaking_after(2, MemoryError("max_labels: the search needs more than 7 labels"))))
    assert result.termination is Termination.MEMORY_LIMIT
    assert result.objective == GIVEN
    assert result.dual_bound <= 453
    assert any("more than 7 labels" in note for note in result.notes)


def test_exception_inside_an_oracle_carries_the_result():
    with pytest.raises(ZeroDivisionError) as caught:
        solve(Given(oracle=breaking_after(2, ZeroDivisionError())))
    result = caught.value.result
    assert result.termination is Termination.FAULT
    assert result.objective == GIVEN
    assert len(result.iterations) == 2
    assert result.dual_bound <= 453


def test_bounds_of_a_dive_do_not_hold_for_its_node():
    # min x + 10 y subject to x + y ≥ 3/2 and x, y ≤ 1: the relaxation is 6, with y fixed at one it is 10.5.  The bound
    # of the node is what an interrupt reports.
    columns = [Column(c, {("row", None): 1.0}, c, upper=1.0) for c in (1.0, 10.0)]
    bounds = []

    class Fixing(Heuristic):
        def search(self, context):
            bounds.append(context.run.node_bound)
            bounds.append(context.regenerate({columns[1].identity: 1.0}, None).bound)
            context.master.node.fix({})
            bounds.append(context.run.node_bound)

    class Boxed(Problem):
        def master(self):
            m = pyo.ConcreteModel()
            m.missing = artificial()
            m.row = pyo.Constraint(expr=m.missing >= 1.5)
            m.total = pyo.Objective(expr=0)
            return m

        def pricing(self):
            return Pool([])

        def warm_start(self, budget):
            return WarmStart(columns=tuple(self.first()))

        def first(self):
            return columns

    solve(Boxed(), method=Method(heuristics=(Fixing(),)))
    assert bounds == pytest.approx([6.0, 10.5, 6.0])


# --- diagnostics -----------------------------------------------------------------------------------------------------


def tampered(change):
    """A knapsack whose result is changed before the engine sees it."""

    class Tampered(Knapsack):
        rounds = 0

        def price(self, duals, context):
            self.rounds += 1
            return change(self, super().price(duals, context), duals, context)

    return Tampered


def test_repeated_column():
    def rename(oracle, result, duals, context):
        # Different patterns under one key: the master holds only the first.
        columns = [Column(c.cost, c.coefficients, c.structure, key=("pattern", 0)) for c in result.columns]
        return PricingResult(columns, None, result.reduced_costs)

    with pytest.raises(errors.RepeatedColumnError, match="Tampered"):
        solve(CuttingStock(oracle=tampered(rename)), method=Method(stabilization=NoStabilization()))


def test_wrong_encoding():
    class Forgetful(Knapsack):
        def encode(self, pattern):
            column = super().encode(pattern)
            return Column(1.0, dict(list(column.coefficients.items())[:1]), pattern)

    with pytest.raises(errors.ReducedCostError, match="Forgetful"):
        solve(CuttingStock(oracle=Forgetful))


def test_costs_in_phase_1():
    class Costly(Knapsack):
        """Adds the costs of patterns in phase 1 too, and states the result."""

        def best(self, duals, context):
            found = super().best(duals, context)
            return Best(found.structure, found.reduced_cost + (1.0 - context.cost_weight))

    with pytest.raises(errors.ReducedCostError, match="cost_weight"):
        solve(CuttingStock(oracle=Costly))


def test_costs_in_phase_1_do_not_make_a_problem_infeasible():
    # The column costs more than phase 1 can pay: an oracle that adds its cost finds nothing, and claims to be exact.
    class Costly(Pool):
        def price(self, duals, context):
            rc = {c: c.cost - sum(a * duals.get(k) for k, a in c.coefficients.items()) for c in self.columns}
            best = min(rc.values())
            return PricingResult([c for c in self.columns if rc[c] == best and best < 0], min(best, 0.0))

    class Dear(CuttingStock):
        def pricing(self):
            return Costly([Hashed(10.0, {("demand", i): 1.0}, structure=i) for i in range(4)], cost_bound=10.0)

    with pytest.raises(errors.OracleBeatenError, match="cost_weight"):
        solve(Dear())


class Reversed(Pool):
    """Reads its dual values the wrong way round: nothing improves for it, and what it states is true of its column."""

    def price(self, duals, context):
        return super().price(duals.replace(-duals.values), context)


def test_duals_of_the_wrong_sign_do_not_make_a_problem_infeasible():
    class Wrong(SetPartitioning):
        def pricing(self):
            return Reversed([Column(0.0, {}, structure="nothing"), *super().pricing().columns], states=False)

    partition = Partition(3, ((1.0, frozenset({0, 1})), (1.0, frozenset({2}))))
    with pytest.raises(errors.OracleBeatenError, match="opposite sign or at zero"):
        solve(Wrong(partition))


def test_duals_of_the_wrong_sign_leave_a_note_where_rows_have_no_duals_of_the_other():
    nothing = Column(0.0, {}, structure="nothing")

    class Wrong(CuttingStock):
        def pricing(self):
            return Reversed([nothing, *(cutting_column(p) for p in patterns())], states=False)

    result = solve(Wrong())
    assert result.termination is Termination.INFEASIBLE
    assert any("sign of the dual values" in note for note in result.notes)


def test_infeasible_with_an_oracle_that_rejects_impossible_duals():
    class Strict(Pool):
        def price(self, duals, context):
            assert (duals.values >= -1e-9).all()
            return super().price(duals, context)

    class Scarce(CuttingStock):
        def pricing(self):
            return Strict([Column(1.0, {("demand", 0): 1.0}, structure=0)])

    assert solve(Scarce()).termination is Termination.INFEASIBLE


class Hashed(Column):
    """A column that can be a dictionary's key."""

    __slots__ = ()

    def __hash__(self):
        return hash(self.structure)


def test_bound_beaten_by_the_masters_objective():
    def boast(oracle, result, duals, context):
        return PricingResult([], context.sense.hopeless)  # "there is no column at all", yet the master holds some

    class Boasting(Given):
        pass

    with pytest.raises((errors.InvalidBoundError, errors.OracleBeatenError)):
        solve(Boasting(oracle=tampered(boast)))


def test_weak_duality():
    class Crowded(Knapsack):
        multiplicity = 1.0  # one roll at most: not true
        cost_bound = None

    with pytest.raises(errors.InvalidBoundError, match=r"multiplicity = 1, but .* uses \d+ of its columns"):
        solve(CuttingStock(oracle=Crowded))
    relaxed = solve(CuttingStock(oracle=Crowded), relaxation=True)  # which no multiplicity limits
    assert relaxed.dual_bound == pytest.approx(relaxed.objective) == pytest.approx(452.25)


def test_cost_bound_too_tight():
    class Dear(Knapsack):
        cost_bound = 3.0  # no pattern costs that much

    with pytest.raises(errors.InvalidBoundError):
        solve(CuttingStock(oracle=Dear), relaxation=True)


def test_exactness_beaten_by_a_known_column():
    def blind(oracle, result, duals, context):
        return PricingResult([], 0.5)  # "no reduced cost is below one half": but columns in the basis have zero

    class Known(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(columns=tuple(self.first()))

        def first(self):
            return [cutting_column((2, 0, 0, 0))]

    with pytest.raises(errors.OracleBeatenError, match="in the master already"):
        solve(Known(oracle=tampered(blind)))


def test_exactness_beaten_by_its_own_column():
    def modest(oracle, result, duals, context):
        return PricingResult(result.columns, 0.0)

    with pytest.raises(errors.OracleBeatenError, match="returned itself"):
        solve(CuttingStock(oracle=tampered(modest)))


def test_bound_that_is_not_a_number():
    def nothing(oracle, result, duals, context):
        return PricingResult(result.columns, math.nan)

    with pytest.raises(errors.InvalidBoundError, match="not a number"):
        solve(CuttingStock(oracle=tampered(nothing)))


def test_bound_that_excludes_the_incumbent():
    class Oneself(Problem):
        """Its only pricing problem overstates its bound, and the incumbent consists of template variables alone."""

        def master(self):
            m = pyo.ConcreteModel()
            m.y = pyo.Var(domain=pyo.NonNegativeIntegers)
            m.row = pyo.Constraint(expr=m.y >= 2)
            m.total = pyo.Objective(expr=3 * m.y)
            return Overstating(compile_master(m))

        def warm_start(self, budget):
            return WarmStart(answers=tuple(self.known()))

        def known(self):
            yield Solution(6.0, (), {("y", None): 2.0})

    class Overstating(colgen.LinearMaster):
        def solve(self, time_limit=math.inf):
            solved = super().solve(time_limit)
            return MasterSolution(solved.status, 9.0, solved.values, solved.duals, solved.phase)

        def bound(self, duals, pricing, results):
            return 9.0

    with pytest.raises(errors.InvalidBoundError, match="incumbent"):
        solve(Oneself(), relaxation=True)


def test_child_better_than_its_parent():
    class Partly(Pool):
        """At the root it overlooks the cheap column that would make the relaxation whole."""

        def price(self, duals, context):
            if context.decisions:
                return super().price(duals, context)
            return Pool(self.columns[:-1], self.multiplicity).price(duals, context)

    class Surprising(SetPartitioning):
        def pricing(self):
            return Partly(self.columns, 3)

    base = branchy().partition
    with pytest.raises(errors.InvalidBoundError, match="better than the proved bound"):
        solve(Surprising(Partition(3, (*base.subsets, (0.1, frozenset(range(3)))))), method=Method(heuristics=()))


def test_decision_ignored_by_the_oracle():
    class Deaf(Pool):
        def price(self, duals, context):
            rc = context.reduced_costs(self.columns, duals)
            k = int(np.argmin(rc))
            return PricingResult([self.columns[k]], rc[k])

    class Disobeyed(SetPartitioning):
        def pricing(self):
            return Deaf(self.columns, 3)

    with pytest.raises(errors.DecisionViolatedError, match="Deaf"):
        solve(Disobeyed(branchy().partition), method=Method(heuristics=()))


def test_rule_that_recovers_another_objective():
    class Wishful(RyanFoster):
        def branch(self, solution):
            return ()

        def recover(self, solution):
            return Solution(solution.objective - 1)

    with pytest.raises(errors.BranchingError, match="recover"):
        solve(branchy(Wishful("cover")), method=Method(heuristics=()))


class Wrong(Heuristic):
    """A heuristic that hands over whatever it was given."""

    def __init__(self, solution):
        self.solution = solution

    def search(self, context):
        return self.solution


@pytest.mark.parametrize(
    ("solution", "fault"),
    [
        (Solution(0.0), "row"),
        (Solution(1.0, ((cutting_column((2, 0, 0, 0)), 0.5),)), "fractional"),
        (Solution(1.0, ((cutting_column((2, 0, 0, 0)), -1.0),)), "bounds"),
        (Solution(1.0, ((cutting_column((999, 999, 999, 999)), 7.0),)), "objective"),
        (Solution(7.0, (), {("unmet", i): float(d) for i, d in enumerate(DEMANDS)}), "artificial"),
    ],
)
def test_wrong_answer_of_a_heuristic(solution, fault):
    with pytest.raises(errors.InfeasibleAnswerError, match=fault) as caught:
        solve(CuttingStock(), method=Method(heuristics=(Wrong(solution),)))
    assert "Wrong" in str(caught.value)


def test_objective_that_is_no_multiple_of_the_step():
    # A step that is not true would round bounds past the optimum.
    class Halves(CuttingStock):
        objective_step = 2.0

    with pytest.raises(errors.InputError, match="objective_step"):
        solve(Halves())


def test_unknown_row():
    class Lost(Knapsack):
        def encode(self, pattern):
            return Column(1.0, {("demnad", 0): 1.0}, pattern)

    with pytest.raises(errors.UnknownRowError, match="demnad"):
        solve(CuttingStock(oracle=Lost))


class Scripted(Separation):
    def __init__(self, *rounds):
        self.rounds = list(rounds)

    def separate(self, solution):
        return self.rounds.pop(0) if self.rounds else ()


@pytest.mark.parametrize(
    ("rounds", "fault"),
    [
        # Σ x ≤ 10^6 holds.
        ([[Row(("cut", 1), upper=1e6, coefficient=lambda c: 1.0)]], "satisfies"),
        # Two different rows share a key.
        (
            [
                [Row(("cut", 1), lower=460, coefficient=lambda c: 1.0)],
                [Row(("cut", 1), lower=470, coefficient=lambda c: 1.0)],
            ],
            "share a key",
        ),
    ],
)
def test_separation_faults(rounds, fault):
    class Cut(CuttingStock):
        objective_step = None

        def separation(self):
            return (Scripted(*rounds),)

        def pricing(self):
            return Pool([cutting_column(p) for p in patterns()], cost_bound=1.0, states=False)

    # The Pool does not know the cut's dual value; its columns' reduced costs are stated by nobody.
    class Aware(Pool):
        def price(self, duals, context):
            rc = context.reduced_costs(self.columns, duals)
            k = int(np.argmin(rc))
            return PricingResult([self.columns[k]], rc[k])

    Cut.pricing = lambda self: Aware([cutting_column(p) for p in patterns()], cost_bound=1.0)
    with pytest.raises(errors.SeparationError, match=fault):
        solve(Cut(), relaxation=True)


def test_settings_are_checked_before_any_work():
    for wrong in ({"tolerance": 0.0}, {"tolerance": math.nan}, {"clean_up_after": 0}):
        with pytest.raises(errors.InputError):
            solve(CuttingStock(), **wrong)


# --- a master that is no linear program ------------------------------------------------------------------------------


class Cheapest(RestrictedMaster):
    """Chooses the cheapest of its columns: its one dual value is that cost."""

    def __init__(self, sense=Sense.MINIMIZE):
        self.sense = sense
        self.held = []

    def solve(self, budget=None):
        if not self.held:
            return MasterSolution(MasterStatus.INFEASIBLE)
        best = self.sense.best(*(c.cost for c in self.held))
        return MasterSolution(MasterStatus.OPTIMAL, best, None, best)

    def add(self, columns, rows=(), origins=-1):
        new = [c for c in columns if c not in self.held]
        self.held += new
        return len(new)

    def find(self, columns):
        return np.array([self.held.index(column) if column in self.held else -1 for column in columns])

    def at(self, position):
        return Held(self.held[position])

    def price(self, columns, duals):
        return np.array([c.cost - duals for c in columns])

    def bound(self, duals, pricing, results):
        bounds = [result.bound for result in results]
        return self.sense.ideal if None in bounds else duals + self.sense.best(0.0, *bounds)

    def solution(self, solved):
        return Solution(solved.objective, ((next(c for c in self.held if c.cost == solved.objective), 1.0),))

    @property
    def num_columns(self):
        return len(self.held)

    @property
    def num_rows(self):
        return 1


class Costs(Pricing):
    def __init__(self, costs):
        self.costs = list(costs)

    def price(self, duals, context):
        best = context.sense.best(*self.costs)
        better = [c for c in self.costs if context.improves(c - duals)]
        # The worst of those that improve: so that there are several rounds.
        return PricingResult(
            [Column(context.sense.worst(*better), {}, key=("c", better[-1]))] if better else [], best - duals
        )


@pytest.mark.parametrize(("sense", "best"), [(Sense.MINIMIZE, 1.0), (Sense.MAXIMIZE, 9.0)])
def test_scripted_master(sense, best):
    class Choice(Problem):
        def master(self):
            return Cheapest(sense)

        def pricing(self):
            return Costs([1.0, 4.0, 9.0, 5.0])

        def warm_start(self, budget):
            return WarmStart(columns=tuple(self.first()))

        def first(self):
            return [Column(5.0, {})]

    result = solve(Choice(), method=Method(stabilization=NoStabilization()))
    assert result.termination is Termination.UNCHECKED  # nothing defines feasibility of this problem

    class Checked(Choice):
        def answer(self, solution):
            return solution.columns[0][0].cost

        def check(self, cost):
            return cost

    result = solve(Checked(), method=Method(stabilization=NoStabilization()))
    assert result.is_optimal
    assert result.objective == result.dual_bound == best
    assert result.certificate is None


def test_scripted_master_that_starts_infeasible():
    class Choice(Problem):
        def master(self):
            return Cheapest()

        def pricing(self):
            return Costs([1.0])

    with pytest.raises(errors.FormulationError, match="artificial"):
        solve(Choice(), method=Method(stabilization=NoStabilization()))


# --- several pricing problems, stages, many columns ------------------------------------------------------------------


class Assignment(Problem):
    """Generalized assignment: each job to one agent, within the agents' capacities; a pricing problem an agent."""

    def __init__(self, costs, loads, capacities, identical=False, staged=False):
        self.costs, self.loads, self.capacities = costs, loads, capacities
        self.identical, self.staged = identical, staged

    @property
    def jobs(self):
        return range(len(self.loads[0]))

    def master(self):
        m = pyo.ConcreteModel()
        m.undone = artificial(list(self.jobs))
        m.job = pyo.Constraint(list(self.jobs), rule=lambda m, j: m.undone[j] == 1)
        agents = [0] if self.identical else range(len(self.capacities))
        m.idle = pyo.Var(agents, domain=pyo.NonNegativeReals)
        limit = len(self.capacities) if self.identical else 1
        m.agent = pyo.Constraint(agents, rule=lambda m, k: m.idle[k] == limit)
        m.cost = pyo.Objective(expr=0)
        return m

    def subsets(self, k):
        for mask in range(1, 1 << len(self.jobs)):
            jobs = [j for j in self.jobs if mask >> j & 1]
            if sum(self.loads[k][j] for j in jobs) <= self.capacities[k]:
                rows = {("job", j): 1.0 for j in jobs} | {("agent", k): 1.0}
                yield Column(float(sum(self.costs[k][j] for j in jobs)), rows, (k, tuple(jobs)))

    def pricing(self):
        def oracle(k, multiplicity):
            exact = Pool(self.subsets(k), multiplicity)
            if not self.staged:
                return exact
            return Stages(Random(exact.columns, k), exact)

        if self.identical:
            return oracle(0, float(len(self.capacities)))
        return [oracle(k, 1.0) for k in range(len(self.capacities))]

    def branching(self):
        # A job at an agent, and where agents are identical two jobs together.
        at_agent = OnOriginalVariable(lambda c: {(c.structure[0], j): 1.0 for j in c.structure[1]})
        return (RyanFoster("job"),) if self.identical else (at_agent,)

    def optimum(self):
        sign = 1.0
        best = {(frozenset(), 0): 0.0}
        for k in range(len(self.capacities)):
            step = {}
            for (done, _), value in best.items():
                step[done, k + 1] = min(step.get((done, k + 1), math.inf), value)
                for column in self.subsets(0 if self.identical else k):
                    jobs = frozenset(column.structure[1])
                    if not jobs & done:
                        key = (done | jobs, k + 1)
                        step[key] = min(step.get(key, math.inf), value + sign * column.cost)
            best = step
        return best.get((frozenset(self.jobs), len(self.capacities)))


class Random(Pricing):
    """A heuristic stage: one column at random, no bound."""

    def __init__(self, columns, seed):
        self.columns = columns
        self.rng = np.random.default_rng(seed)

    def price(self, duals, context):
        allowed = [c for c in self.columns if context.allows(c)]
        return PricingResult([allowed[self.rng.integers(len(allowed))]] if allowed else [])


@st.composite
def assignments(draw):
    agents, jobs = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    identical = draw(st.booleans())

    def table(low, high):
        rows = [draw(st.lists(st.integers(low, high), min_size=jobs, max_size=jobs)) for _ in range(agents)]
        return [rows[0]] * agents if identical else rows

    capacities = [draw(st.integers(3, 9))] * agents if identical else [draw(st.integers(3, 9)) for _ in range(agents)]
    return Assignment(table(1, 9), table(1, 6), capacities, identical, draw(st.booleans()))


@given(assignments())
def test_generalized_assignment(problem):
    result, best = solve(problem), problem.optimum()
    if best is None:
        assert result.termination is Termination.INFEASIBLE
    else:
        assert result.is_optimal
        assert result.objective == pytest.approx(best)
        for record in result.iterations:
            assert record.global_bound <= best + 1e-6


def test_many_columns_a_round():
    class Generous(Knapsack):
        def others(self, structure, duals, context):
            pi = duals["demand"]
            ranked = sorted(self.problem.patterns, key=lambda p: -sum(n * pi[i] for i, n in enumerate(p)))
            return ranked[1:6]

    one = solve(CuttingStock(), relaxation=True, method=Method(stabilization=NoStabilization()))
    many = solve(CuttingStock(oracle=Generous), relaxation=True, method=Method(stabilization=NoStabilization()))
    assert many.objective == pytest.approx(one.objective)
    assert len(many.iterations) < len(one.iterations)
    assert max(i.new_columns for i in many.iterations) > 1


def test_oracle_without_any_structure():
    class Empty(OraclePricing):
        def best(self, duals, context):
            return NO_STRUCTURE

        def encode(self, structure):
            raise AssertionError

    assert solve(CuttingStock(oracle=Empty)).termination is Termination.INFEASIBLE


# --- laws: against the complete program ------------------------------------------------------------------------------


@st.composite
def programs(draw, variables=True):
    m, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    number = st.integers(-2, 4) if draw(st.booleans()) else st.integers(0, 3)

    def vector():
        return tuple(float(a) for a in draw(st.lists(number, min_size=m, max_size=m)))

    lower, upper = [], []
    for _ in range(m):
        kind, side, width = draw(st.tuples(st.integers(0, 3), st.integers(0, 7), st.integers(1, 4)))
        lower.append(-math.inf if kind == 1 else float(side))
        upper.append({0: math.inf, 1: side, 2: side, 3: side + width}[kind] + 0.0)
    columns = [
        tuple((float(draw(st.integers(-2, 9))), vector()) for _ in range(draw(st.integers(1, 5))))
        for _ in range(groups)
    ]
    limits = tuple(draw(st.sampled_from([math.inf, 1.0, 2.0, 5.0])) for _ in range(groups))
    extra = tuple(
        (float(draw(st.integers(-4, 6))), vector(), float(draw(st.integers(-1, 0))), 2.0, draw(st.booleans()))
        for _ in range(draw(st.integers(0, 3)) if variables else 0)
    )
    return Program(draw(st.booleans()), tuple(lower), tuple(upper), tuple(columns), limits, extra, 1.0)


choices = st.builds(
    Method,
    stabilization=st.sampled_from([None, NoStabilization(), Wentges(0.8)]),
    clean_up_after=st.sampled_from([None, 2, 5]),
    queue=st.sampled_from([Plunging, BestBound, DepthFirst, LevelWise]),
    heuristics=st.sampled_from([None, (), (Diving(),)]),
)
shapes = st.fixed_dictionaries({"many": st.integers(1, 3), "farley": st.booleans(), "states": st.booleans()})


def agrees(program, result, integer):
    """The law: same status and optimum as the complete program, every bound valid, monotone in a node and phase."""
    status, optimum = program.solve(integer)
    sense = program.sense
    if status == "optimal":
        assert result.termination is Termination.OPTIMAL
        assert result.objective == pytest.approx(optimum, abs=1e-6)
        assert not sense.is_better(optimum, result.dual_bound, 1e-6)
        for record in result.iterations:
            assert not sense.is_better(optimum, record.global_bound, 1e-6)
    elif status == "infeasible":
        # An unbounded relaxation does not decide whether there is an integer solution.
        assert result.termination in (Termination.INFEASIBLE, Termination.UNBOUNDED)
        if result.termination is Termination.UNBOUNDED:
            assert program.solve(False)[0] != "optimal"
    else:
        assert result.termination.name.lower() in status
    for before, after in zip(result.iterations, result.iterations[1:], strict=False):
        if (before.node, before.depth, before.phase) == (after.node, after.depth, after.phase) and not integer:
            assert not sense.is_better(after.dual_bound, before.dual_bound, 1e-9)


@given(programs(), shapes, choices)
def test_relaxation_equals_the_complete_program(program, shape, options):
    agrees(program, solve(Enumerated(program, **shape), relaxation=True, method=options), integer=False)


@given(programs(), shapes, choices)
def test_optimum_equals_the_complete_program(program, shape, options):
    result = solve(Enumerated(program, **shape), method=options, stop=NodeLimit(300))
    if result.termination is not Termination.NODE_LIMIT:
        agrees(program, result, integer=True)


@given(programs(), shapes)
def test_mirror_image(program, shape):
    """Negated costs in the other sense: the same rounds with negated numbers."""
    results = [solve(Enumerated(p, **shape), stop=NodeLimit(100)) for p in (program, program.negated())]
    here, there = results
    assert here.termination is there.termination
    assert here.objective == -there.objective or here.objective == pytest.approx(-there.objective, abs=1e-6)
    assert here.dual_bound == -there.dual_bound or here.dual_bound == pytest.approx(-there.dual_bound, abs=1e-6)


@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(max_examples=1000)
@given(programs(), shapes, choices, st.booleans())
def test_complete_program_many_times(program, shape, options, relaxation):
    result = solve(Enumerated(program, **shape), method=options, stop=NodeLimit(300), relaxation=relaxation)
    if result.termination is not Termination.NODE_LIMIT:
        agrees(program, result, integer=not relaxation)


@st.composite
def partitions(draw):
    size = draw(st.integers(3, 6))
    subsets = draw(st.lists(st.frozensets(st.integers(0, size - 1), min_size=1, max_size=3), min_size=4, unique=True))
    return Partition(size, tuple((float(draw(st.integers(1, 9))), s) for s in subsets), maximize=draw(st.booleans()))


@given(partitions(), choices)
def test_ryan_foster(partition, options):
    result, best = solve(SetPartitioning(partition), method=options), partition.optimum()
    if best is None:
        assert result.termination is Termination.INFEASIBLE
    else:
        assert result.is_optimal
        assert result.objective == pytest.approx(best)
        covered = sorted(i for subset, times in result.answer for i in subset)
        assert covered == list(range(partition.size))


def test_template_variables_are_branched_on_only_if_integer():
    # max 2y + z with y ≤ 1.3 whole and z ≤ 0.5 continuous: cutting z at a whole number would lose the optimum 2.5.
    class Mixed(Problem):
        def master(self):
            m = pyo.ConcreteModel()
            m.y = pyo.Var(domain=pyo.NonNegativeIntegers)
            m.z = pyo.Var(domain=pyo.NonNegativeReals)
            m.first = pyo.Constraint(expr=m.y <= 1.3)
            m.second = pyo.Constraint(expr=m.z <= 0.5)
            m.total = pyo.Objective(expr=2 * m.y + m.z, sense=pyo.maximize)
            return m

        def branching(self):
            return (OnTemplateVariable(),)

    result = solve(Mixed(), method=Method(heuristics=()))
    assert result.is_optimal
    assert result.objective == pytest.approx(2.5)


def test_farley_bound_with_a_second_pricing_problem_of_unknown_costs():
    # Farley's factor scales the duals of all pricing problems: columns of the other one, priced out at the duals
    # themselves, need not be priced out at scaled ones if their costs can be negative.
    program = Program(
        maximize=False,
        row_lower=(4.0, -math.inf),
        row_upper=(math.inf, 3.0),
        groups=(((1.0, (1.0, 0.0)), (1.0, (3.0, 0.0))), ((-1.0, (0.0, 1.0)), (-1.0, (-1.0, 1.0)))),
        limits=(math.inf, 5.0),
    )
    for shape in ({"farley": True}, {"farley": False}):
        agrees(program, solve(Enumerated(program, **shape), relaxation=True), integer=False)


@pytest.mark.parametrize("cost_scale", [1e-8, 1.0, 1e8])
def test_a_zero_optimum_is_proved_in_any_units(cost_scale):
    """No column is used, so that no cost says what differences are relative to: what rounding leaves of them does."""
    columns = (PoolColumn(-2, {0: -3, 1: 3}, upper=2), PoolColumn(-2, {1: -2}))
    rows = (PoolRow(0, 0, lazy=True), PoolRow(0, 3))
    program = fuzz.Program("general", False, columns, (), rows, (PoolGroup(),), 0, 0, cost_scale, (1.0, 1.0))
    result = solve(PoolProblem(Case(program, Way(start=(1,)))))
    assert result.termination is Termination.OPTIMAL
    assert result.objective == 0.0
