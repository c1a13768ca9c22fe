"""The report of a check."""

from collections.abc import Sequence

import pytest

from colgen import Termination
from colgen.core.budget import OutOfBudget
from colgen.testing.conformance import ConformanceError
from colgen.testing.findings import Findings
from tests.assignment import Assignment, Knapsack
from tests.testing.kit import (
    check,
    findings,
)


def test_raise_if_any_raises_the_report():
    class Broken(Assignment):
        def answer(self, solution: object) -> Sequence[object]:
            raise ValueError("no words for it")

    report = check(kind=Broken)
    with pytest.raises(ConformanceError, match="no words for it"):
        report.raise_if_any()


def test_an_oracle_that_runs_out_of_time_is_no_finding():
    class Slow(Knapsack):
        def price(self, duals, context):
            self.calls = getattr(self, "calls", 0) + 1
            if self.calls % 5 == 0:  # also in calls between the engine's rounds
                raise OutOfBudget(Termination.TIME_LIMIT)
            return super().price(duals, context)

    assert not findings(check(Slow), "exception")
    found = Findings()
    with found.guard("exception", "an oracle"):
        raise OutOfBudget(Termination.TIME_LIMIT)
    assert not found
