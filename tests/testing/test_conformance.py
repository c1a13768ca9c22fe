"""The conformance kit finds nothing in a good problem, and names the cause in problems broken on purpose."""

import pytest

from colgen.testing.conformance import check_problem
from tests.assignment import Assignment, Knapsack, assignment
from tests.testing.kit import (
    GENEROUS,
    CuttingStock,
    Patterns,
    Silent,
    assert_found,
    check,
    packing,
)


@pytest.mark.parametrize("oracle", [Knapsack, Silent])
@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_found_in_a_good_problem(oracle, seed):
    report = check(oracle, seed=seed)
    assert report.ok, report
    assert not report.notes
    assert report.points > 100
    report.raise_if_any()
    assert "nothing found" in str(report)


def test_nothing_is_found_in_cutting_stock():
    report = check_problem(CuttingStock(50, [23, 17, 11], [9, 12, 7]), seconds=GENEROUS)
    assert report.ok, report


def test_nothing_is_found_where_the_objective_is_maximised():
    report = check_problem(packing(), seconds=GENEROUS)
    assert report.ok, report


def test_parts_that_fail():
    class Broken(Assignment):
        def branching(self):
            raise TypeError("no rule")

    report = check_problem(assignment(2, 4, 0, Broken), seconds=GENEROUS)
    assert_found(report, "parts", r"Broken\.branching\(\): raised TypeError: no rule")


def test_misspelt_methods_and_forgotten_returns_are_found():
    class Misspelt(CuttingStock):
        def separations(self):
            return ()

    report = check_problem(Misspelt(50, [23, 17, 11], [9, 12, 7]), seconds=2)
    assert any("did you mean separation()?" in finding.message for finding in report.findings), report

    class Forgetting(CuttingStock):
        def pricing(self):
            return type("Forgetful", (Patterns,), {"best": lambda self, duals, context: None})(self)

    report = check_problem(Forgetting(50, [23, 17, 11], [9, 12, 7]), seconds=2)
    assert any("did you forget `return`?" in finding.message for finding in report.findings), report
