"""Branching rules on trial."""

from colgen import (
    OnOriginalVariable,
)
from tests.assignment import Assignment, Knapsack
from tests.testing.kit import (
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
