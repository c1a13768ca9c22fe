"""Incumbents from warm starts."""

import pytest

from colgen import WarmStart, solve
from colgen.core.errors import InfeasibleAnswerError
from tests.toys import CuttingStock


def test_an_answer_of_a_warm_start_is_the_first_incumbent():
    plain = solve(CuttingStock())

    class Warm(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(answers=[plain.solution])

    result = solve(Warm())
    assert result.is_optimal
    assert result.objective == plain.objective
    assert len(result.iterations) <= len(plain.iterations)


def test_an_infeasible_answer_is_refused_with_its_source():
    plain = solve(CuttingStock()).solution
    short = plain.__class__(plain.objective - plain.columns[0][1], plain.columns[1:])

    class Wrong(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(answers=[short])

    with pytest.raises(InfeasibleAnswerError, match=r"Wrong\.warm_start"):
        solve(Wrong())
