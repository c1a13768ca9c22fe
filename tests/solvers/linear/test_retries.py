"""Retries of solves without an optimum."""

import math

import pytest

from colgen.solvers.linear.highs import LOOSER, LPStatus
from colgen.solvers.linear.retries import run_or_retry


class Stub:
    """A solver with scripted statuses that records its calls."""

    def __init__(self, *ends):
        self.ends = list(ends)
        self.asked = []

    def run(self, by_dual, seconds, stopped):
        self.asked.append("dual" if by_dual else "primal")
        return self.ends.pop(0)

    def forget(self):
        self.asked.append("afresh")

    def set_tolerance(self, tolerance):
        self.asked.append(tolerance)


@pytest.mark.parametrize("end", [LPStatus.OPTIMAL, LPStatus.LIMIT])
def test_successful_runs_are_not_repeated(end):
    stub = Stub(end)
    assert run_or_retry(stub, 1.0, False, math.inf, None) is end
    assert stub.asked == ["primal"]


def test_no_optimum_is_a_second_opinions():
    stub = Stub(LPStatus.UNBOUNDED, LPStatus.OPTIMAL)
    assert run_or_retry(stub, 1.0, False, math.inf, None) is LPStatus.OPTIMAL
    assert stub.asked == ["primal", "afresh", "dual"]


def test_the_own_tolerance_comes_back_after_the_last_try():
    stub = Stub(None, None, None, LPStatus.OPTIMAL)
    assert run_or_retry(stub, 1.0, True, math.inf, None) is LPStatus.OPTIMAL
    assert stub.asked == ["dual", "afresh", "dual", LOOSER, "afresh", "primal", "afresh", "dual", 1.0]
    stub = Stub(None, None, None, None)
    assert run_or_retry(stub, 1.0, True, math.inf, None) is None
    assert stub.asked[-1] == 1.0
