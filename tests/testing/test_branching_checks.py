"""Checks of branching rules."""

from colgen import (
    OnOriginalVariable,
)
from colgen.testing.conformance import check_problem
from tests.assignment import Assignment, Knapsack
from tests.fuzz.engine.pools import Case, PoolColumn, PoolGroup, PoolRow, Program, Way
from tests.fuzz.engine.problem import PoolProblem
from tests.testing.kit import (
    GENEROUS,
    Silent,
    assert_found,
    check,
)


def test_decisions_ignored():
    class Wrong(Knapsack):
        def allowed(self, tasks, context):
            return True

    assert_found(check(Wrong), "decisions", r"which the branching decision .* forbids")


def test_duals_of_branching_rows_ignored():
    class Wrong(Silent):
        def value(self, tasks, duals, context):
            paid = sum(duals.get(("branch", (self.machine, task))) for task in tasks)
            return super().value(tasks, duals, context) + paid

    assert_found(check(Wrong), "decisions", r"dual values of its rows \(\('branch'")


def test_children_that_lose_answers():
    class Wrong(OnOriginalVariable):
        def branch(self, solution):
            return super().branch(solution)[:1]

    class Broken(Assignment):
        def branching(self):
            return [Wrong(lambda column: {(column.structure[0], t): 1.0 for t in column.structure[1]})]

    assert_found(check(kind=Broken), "branching", "together they must keep every answer")


def pairs_of_three(scale, upper=1, lazy=False):
    """Three items in pairs, and each alone: a fractional relaxation; rows in units of ``scale``."""
    pairs = [PoolColumn(2, {i: 1, j: 1}) for i, j in ((0, 1), (0, 2), (1, 2))]
    alone = [PoolColumn(2, {i: 1}) for i in range(3)]
    rows = (PoolRow(1, upper, lazy),) * 3
    program = Program("partition", False, (*pairs, *alone), (), rows, (PoolGroup(),), row_scales=(scale,) * 3)
    return PoolProblem(Case(program, Way(branching="pairs")))


def test_a_rule_gets_the_rows_before_it_branches():
    assert not check_problem(pairs_of_three(2.0**-13), seconds=GENEROUS).findings


def test_a_rule_gets_the_initial_rows():
    """All of these rows are separated: a run begins with none of them."""
    assert not check_problem(pairs_of_three(1.0, lazy=True), seconds=GENEROUS).findings


def test_rows_that_a_rule_does_not_suit():
    assert_found(check_problem(pairs_of_three(1.0, upper=2), seconds=GENEROUS), "branching", "RyanFoster")
