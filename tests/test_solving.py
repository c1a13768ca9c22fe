"""Runs: answers are checked, rows are separated first, and signals and limits lose nothing."""

import gc
import math
import os
import signal
import threading
import time
import weakref

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    BranchingRule,
    Column,
    Diving,
    GapLimit,
    Heuristic,
    IterationLimit,
    Method,
    Pricing,
    PricingResult,
    Problem,
    Record,
    RestrictedMIP,
    Row,
    Separation,
    Solution,
    Termination,
    TimeLimit,
    WarmStart,
    artificial,
    solve,
)
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.errors import ColgenError, InfeasibleAnswerError, SeparationError, SolverError
from colgen.core.signals import holding_signals
from colgen.master.statement import restricted_master
from colgen.solvers.linear import lp
from tests.amounts import BUSY
from tests.assignment import assignment, pairs
from tests.toys import CuttingStock, Partition, SetPartitioning


class Bounded(Problem):
    """max x with x ≤ 5 in the template, or in a row that is separated, or with no row at all."""

    def __init__(self, where="template", guess=None):
        self.where, self.guess = where, guess

    def master(self):
        m = pyo.ConcreteModel()
        m.x = pyo.Var(domain=pyo.NonNegativeReals, bounds=(0, 5 if self.where == "template" else None))
        m.total = pyo.Objective(expr=m.x, sense=pyo.maximize)
        return m

    def separation(self):
        return (AtMostFive(),) if self.where == "separated" else ()

    def warm_start(self, budget):
        return self.guess or WarmStart()

    def answer(self, solution):
        return solution.variables.get(("x", None), 0.0)


class AtMostFive(Separation):
    def separate(self, solution):
        over = solution.variables.get(("x", None), 0.0) > 5.0
        return [Row(("most", None), upper=5.0, coefficients={("x", None): 1.0})] if over else []


# --- every answer is verified -----------------------------------------------------------------------------------------


def test_an_answer_is_checked_by_the_rows():
    guess = WarmStart(answers=[Solution(7.0, (), {("x", None): 7.0})])
    with pytest.raises(InfeasibleAnswerError, match=r"warm_start .* outside its bounds"):
        solve(Bounded(guess=guess))


def test_an_answer_is_checked_by_the_problem():
    class Checking(Bounded):
        def check(self, answer):
            if not 0 <= answer <= 5:
                raise InfeasibleAnswerError(f"x = {answer:g}, expected 0 to 5")
            return answer - 1.0

        def master(self):
            master = restricted_master(super().master())
            master.rows.violation = lambda solution, exact=True: None
            return master

    for value, fault in ((7.0, "x = 7, expected 0 to 5"), (5.0, "computes 4")):
        guess = WarmStart(answers=[Solution(value, (), {("x", None): value})])
        with pytest.raises(InfeasibleAnswerError, match=fault):
            solve(Checking(guess=guess))


def test_rows_are_separated_before_a_problem_is_called_unbounded():
    assert solve(Bounded("separated")).objective == pytest.approx(5.0)
    assert solve(Bounded("separated")).termination is Termination.OPTIMAL
    assert solve(Bounded("nowhere")).termination is Termination.UNBOUNDED


class Lazily(Problem):
    """Opt of x over a x ≤ b, where the row is separated once a solution violates it."""

    def __init__(self, side, coefficient, maximize, integer, fractions=True):
        self.row = Row(("most", None), upper=side, coefficients={("x", None): coefficient})
        self.maximize, self.integer, self.fractions = maximize, integer, fractions

    def master(self):
        m = pyo.ConcreteModel()
        m.x = pyo.Var(domain=pyo.NonNegativeIntegers if self.integer else pyo.NonNegativeReals)
        m.y = pyo.Var(domain=pyo.NonNegativeIntegers if self.integer else pyo.NonNegativeReals)
        m.half = pyo.Constraint(expr=m.x - 2 * m.y >= 0)
        m.total = pyo.Objective(expr=7 * m.x, sense=pyo.maximize)
        if not self.maximize:
            m.del_component(m.total)
            m.total = pyo.Objective(expr=-7 * m.x)
        return m

    def separation(self):
        return (OneRow(self.row, self.fractions),)

    def answer(self, solution):
        return solution.variables.get(("x", None), 0.0)


class OneRow(Separation):
    def __init__(self, row, fractions):
        self.row, self.fractions = row, fractions

    def separate(self, solution, context):
        if not (self.fractions or context.whole):
            return []
        (coefficient,) = self.row.coefficients.values()
        value = coefficient * solution.variables.get(("x", None), 0.0)
        return [self.row] if value > self.row.upper * (1 + 1e-9) else []


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize(
    ("side", "coefficient"), [(1e-3, 1e-4), (999.0, 3.0), (3e8, 3.0), (1e8, 1e-3), (3e12, 3.0), (1e12, 1e-3)]
)
def test_rows_of_any_size_are_separated_before_a_problem_is_called_unbounded(side, coefficient, integer, maximize):
    result = solve(Lazily(side, coefficient, maximize, integer))
    largest = side / coefficient
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(7 * largest if maximize else -7 * largest)
    assert solve(Lazily(math.inf, coefficient, maximize, integer)).termination in (
        Termination.UNBOUNDED,
        Termination.UNBOUNDED_OR_INFEASIBLE,
    )


@pytest.mark.parametrize("side", [1e-3, 1e8, 1e12])
def test_rows_of_any_size_bound_a_template(side):
    class Written(Lazily):
        def master(self):
            m = super().master()
            m.most = pyo.Constraint(expr=1e-3 * (m.x + m.y) <= side)
            return m

        def separation(self):
            return ()

    result = solve(Written(side, 1e-3, maximize=True, integer=False))
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(7e3 * side)


@pytest.mark.parametrize("demand", [1e-3, 1e3, 1e8, 1e10, 1e12])
def test_columns_cover_rows_of_any_size(demand):
    """Rows whose entries come with columns, after the sides."""
    columns = [Column(1.0, {("cover", 0): 1.0}, "first"), Column(1.0, {("cover", 0): 0.5, ("cover", 1): 2.0}, "both")]

    class Both(Pricing):
        def price(self, duals, context):
            costs = [float(cost) for cost in context.reduced_costs(columns, duals)]
            return PricingResult([columns[costs.index(min(costs))]], min(costs))

    class Covering(Problem):
        def master(self):
            m = pyo.ConcreteModel()
            m.unmet = artificial(range(2))
            m.cover = pyo.Constraint(range(2), rule=lambda m, i: m.unmet[i] >= demand)
            m.cost = pyo.Objective(expr=0)
            return m

        def pricing(self):
            return Both()

    result = solve(Covering(), relaxation=True)
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(1.25 * demand)


def test_separations_of_integer_solutions_run_before_a_problem_is_called_unbounded():
    class Halved(Lazily):
        """The relaxation is fractional where y is one half."""

        def master(self):
            m = super().master()
            m.odd = pyo.Constraint(expr=2 * m.y <= 1)
            m.total.set_value(m.total.expr + m.y)
            return m

        def warm_start(self, budget):
            return WarmStart(answers=[Solution(0.0, (), {("x", None): 0.0, ("y", None): 0.0})])

    result = solve(Halved(3e8, 3.0, maximize=True, integer=True, fractions=False))
    assert result.termination is not Termination.UNBOUNDED
    assert result.dual_bound == pytest.approx(7e8, rel=1e-6)


def test_nothing_is_called_unbounded_before_separation_has_run(monkeypatch):
    class Slow(AtMostFive):
        def separate(self, solution, context):
            while not context.budget.expired:
                time.sleep(0.01)
            return ()  # it was cut off

    problem = Bounded("separated")
    monkeypatch.setattr(problem, "separation", lambda: (Slow(),))
    assert solve(problem, stop=TimeLimit(0.3)).termination is Termination.TIME_LIMIT
    master = restricted_master(problem.master())
    monkeypatch.setattr(master.rows, "far_points", lambda budget: iter([None]))
    monkeypatch.setattr(problem, "master", lambda: master)
    result = solve(problem)
    assert result.termination is Termination.NO_BOUND
    assert "unbounded without rows" in result.notes[0]


def test_a_row_that_cuts_off_an_answer_is_refused_whenever_it_comes():
    class Greedy(Separation):
        """Cuts off every fractional solution by a row that no answer satisfies."""

        def separate(self, solution):
            if all(value == round(value) for _, value in solution.columns):
                return []
            return [Row(("few", len(solution.columns)), upper=1.0, coefficient=lambda column: 1.0)]

    class Cut(CuttingStock):
        def separation(self):
            return (Greedy(),)

    pieces = [(Column(1.0, {("demand", i): 1.0}, (i,)), float(d)) for i, d in enumerate((97, 610, 395, 211))]

    class Knowing(Cut):
        def warm_start(self, budget):
            return WarmStart(answers=tuple(self.known()))

        def known(self):
            return [Solution(1313.0, tuple(pieces))]

    with pytest.raises(SeparationError, match="cuts off"):
        solve(Knowing())


def test_row_functions_see_the_column_that_was_priced():
    """Row functions get the complete column with its bounds and integrality."""
    seen = []

    def coefficient(column):
        seen.append((column.lower, column.upper, column.integer))
        return 1.0

    class Once(Pricing):
        def price(self, duals, context):
            brought = Row(("own", 0), upper=9.0)
            column = Column(
                1.0, {("cover", None): 1.0, ("own", 0): 1.0}, "it", upper=4.0, integer=False, rows=(brought,)
            )
            return PricingResult([column], min(0.0, float(context.reduced_costs([column], duals)[0])))

    class Covering(Problem):
        def master(self):
            m = pyo.ConcreteModel()
            m.unmet = artificial()
            m.cover = pyo.Constraint(expr=m.unmet >= 2)
            m.cost = pyo.Objective(expr=0)
            master = restricted_master(m)
            master.add((), [Row(("by function", 0), upper=8.0, coefficient=coefficient)])
            return master

        def pricing(self):
            return Once()

    solve(Covering())
    assert set(seen) == {(0.0, 4.0, False)}


# --- a run that goes wrong, or is ended ------------------------------------------------------------------------------


def test_a_heuristic_that_fails_is_skipped_by_name():
    class Failing(Heuristic):
        def search(self, context):
            raise lp.SolverError("HiGHS has had enough")

    result = solve(CuttingStock(), method=Method(heuristics=(Failing(), RestrictedMIP())))
    assert result.objective == 453
    assert any("Failing failed at node 0 and was skipped: HiGHS has had enough" in note for note in result.notes)


def test_a_linear_program_that_fails_is_a_diagnostic(monkeypatch):
    def fail(*arguments):
        raise lp.SolverError("HiGHS has had enough")

    monkeypatch.setattr(lp.LinearProgram, "solve", fail)
    with pytest.raises(SolverError, match="enough") as caught:
        solve(CuttingStock())
    assert isinstance(caught.value, ColgenError)


def test_a_solver_that_refuses_columns_is_a_diagnostic_with_the_result_so_far(monkeypatch):
    add = lp.LinearProgram.add_columns

    def refuse(self, costs, *arguments):
        if self.num_columns > 3:
            raise lp.SolverError("HiGHS takes no more columns")
        add(self, costs, *arguments)

    monkeypatch.setattr(lp.LinearProgram, "add_columns", refuse)
    with pytest.raises(SolverError, match="takes no more columns") as caught:
        solve(CuttingStock())
    assert isinstance(caught.value, ColgenError)
    assert caught.value.result.termination is Termination.FAULT


def test_a_run_that_ends_at_the_root_has_an_answer():
    """No heuristic runs before the end of a node, so the available solution is rounded."""
    result = solve(CuttingStock(), stop=IterationLimit(6), method=Method(heuristics=(Diving(),)))
    assert result.termination is Termination.ITERATION_LIMIT
    assert math.isfinite(result.objective)
    assert result.solution is not None


def test_a_time_limit_of_zero_ends_at_once():
    started = time.monotonic()
    result = solve(assignment(8, 60), stop=TimeLimit(0.0))
    assert result.termination is Termination.TIME_LIMIT
    assert time.monotonic() - started < BUSY


@pytest.mark.parametrize("part", ["master", "pricing"])
def test_a_limit_during_setup_is_a_termination(part):
    def expired():
        raise OutOfBudget(Termination.TIME_LIMIT)

    problem = CuttingStock()
    setattr(problem, part, expired)
    result = solve(problem, stop=TimeLimit(1.0))
    assert result.termination is Termination.TIME_LIMIT
    assert result.solution is None
    assert (result.objective, result.dual_bound) == (math.inf, -math.inf)


@pytest.mark.parametrize(
    ("raised", "termination"),
    [
        (OutOfBudget(Termination.TIME_LIMIT), Termination.TIME_LIMIT),
        (MemoryError("no more"), Termination.MEMORY_LIMIT),
        (KeyboardInterrupt(), Termination.INTERRUPTED),
        (ZeroDivisionError("oh"), None),
    ],
)
def test_nodes_before_a_limit_are_recorded(raised, termination):
    """Even if the limit is reached within a node."""
    problem, visits = assignment(4, 10, 5), []
    rule = problem.branching()[0]

    class Limited(type(rule)):
        def branch(self, solution):
            if len(visits) >= 5:
                raise raised
            return super().branch(solution)

    problem.branching = lambda: [Limited(pairs)]
    if termination is None:
        with pytest.raises(ZeroDivisionError) as found:
            solve(problem, record=Record(on_node=visits.append))
        result = found.value.result
    else:
        result = solve(problem, record=Record(on_node=visits.append))
        assert result.termination is termination
    assert [visit.node.number for visit in visits] == [node.number for node in result.nodes][: len(visits)]
    assert len(visits) >= 5


class Interrupting(BranchingRule):
    """Sends Ctrl-C when it is called for children."""

    def branch(self, solution):
        signal.raise_signal(signal.SIGINT)
        return ()


@pytest.fixture
def ctrl_c():
    """Install Python's handler of Ctrl-C, which shells may have disabled."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("moment", ["master", "pricing", "price", "answers", "branch"])
def test_an_interrupt_anywhere_is_a_termination(ctrl_c, moment):
    class Interrupted(CuttingStock):
        def master(self):
            if moment == "master":
                signal.raise_signal(signal.SIGINT)
            return super().master()

        def pricing(self):
            if moment == "pricing":
                signal.raise_signal(signal.SIGINT)
            oracle = super().pricing()
            if moment == "price":
                price = oracle.price

                def interrupted(duals, context):
                    signal.raise_signal(signal.SIGINT)
                    assert context.seconds_left() == 0.0
                    return price(duals, context)

                oracle.price = interrupted
            return oracle

        def warm_start(self, budget):
            return WarmStart(answers=tuple(self.known()))

        def known(self):
            columns = [(Column(1.0, {("demand", i): 1.0}, (i,)), float(d)) for i, d in enumerate((97, 610, 395, 211))]
            yield Solution(1313.0, tuple(columns))
            if moment == "answers":
                signal.raise_signal(signal.SIGINT)

        def branching(self):
            return (Interrupting(),) if moment == "branch" else ()

    class Unrounded(Interrupted):
        objective_step = None

    result = solve(Unrounded(), method=Method(heuristics=()))
    assert result.termination is Termination.INTERRUPTED
    assert result.objective <= 1313
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_during_the_check_of_options_ends_a_run(ctrl_c):

    signals = [signal.SIGINT]

    class Interrupting(tuple):
        def __iter__(self):
            if signals:
                signal.raise_signal(signals.pop())
            return super().__iter__()

    result = solve(CuttingStock(), stop=Interrupting())
    assert result.termination is Termination.INTERRUPTED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_is_raised(ctrl_c):
    with holding_signals():
        budget = Budget()
        signal.raise_signal(signal.SIGINT)
        assert budget.interrupted
        assert budget.seconds_left == 0.0
        with pytest.raises(OutOfBudget):
            budget.require()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_an_interrupt_ends_a_long_mixed_integer_program(ctrl_c):
    rng = np.random.default_rng(1)
    subsets = [frozenset(rng.choice(60, 6, replace=False).tolist()) for _ in range(900)]
    costs = rng.integers(5, 9, len(subsets)).tolist()
    singles = [frozenset({i}) for i in range(60)]
    partition = Partition(60, (*zip(costs, subsets, strict=True), *((4.0, single) for single in singles)))
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    result = solve(
        SetPartitioning(partition), method=Method(heuristics=(RestrictedMIP(seconds=60.0),)), stop=TimeLimit(60.0)
    )
    timer.cancel()
    timer.join()
    assert time.monotonic() - started < 30.0
    assert result.termination in (Termination.INTERRUPTED, Termination.OPTIMAL, Termination.NO_BRANCHING)


def test_any_number_of_solves_in_any_number_of_threads():
    expected = solve(CuttingStock(branching=True)).objective
    found, failed = [], []

    def run():
        try:
            found.append(solve(CuttingStock(branching=True)).objective)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert found == [expected] * 8


# --- units -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [-30, -13, 7, 30])
def test_units_change_no_answer_no_column_and_no_node(power):
    pairs = [(1.0 + 0.01 * i, frozenset({i, (i + 1) % 9})) for i in range(9)]
    singles = [(0.9, frozenset({i})) for i in range(9)]

    def run(unit):
        partition = Partition(9, tuple((unit * cost, subset) for cost, subset in pairs + singles))
        return solve(SetPartitioning(partition), method=Method(heuristics=()))

    base, there = run(1.0), run(2.0**power)
    assert base.is_optimal
    assert len(base.nodes) > 1
    assert there.termination is base.termination
    assert there.objective == base.objective * 2.0**power
    assert there.columns_generated == base.columns_generated
    assert [node.outcome for node in there.nodes] == [node.outcome for node in base.nodes]
    for here, other in zip(base.iterations, there.iterations, strict=True):
        assert other.dual_bound == here.dual_bound * (2.0**power if here.phase == 2 else 1.0)


def test_a_run_leaves_no_reference_cycles():
    """A master that was given up stayed in memory, HiGHS and all, until cycles were collected."""
    made = []

    class Watched(CuttingStock):
        def master(self):
            master = restricted_master(super().master())
            made.append(weakref.ref(master))
            return master

    assert solve(Watched()).is_optimal  # fills imports and caches
    gc.collect()
    gc.disable()
    try:
        made.clear()
        assert solve(Watched()).is_optimal
        assert made
        assert all(left() is None for left in made)
    finally:
        gc.enable()


@pytest.mark.parametrize("stop", [(), GapLimit(0.0), [GapLimit(0.0), TimeLimit(100)]])
def test_a_time_limit_is_short_for_its_stop_rule(stop):
    result = solve(CuttingStock(), stop=stop, time_limit=0)
    assert result.termination is Termination.TIME_LIMIT
    assert solve(CuttingStock(), stop=stop, time_limit=100, relaxation=True).is_optimal


def test_the_shorter_of_two_time_limits_holds():
    assert solve(CuttingStock(), stop=TimeLimit(0), time_limit=100).termination is Termination.TIME_LIMIT
