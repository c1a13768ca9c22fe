"""Whole solutions that turn up in a tree."""

import pytest

from colgen import WarmStart, solve
from colgen.core.errors import InfeasibleAnswerError
from tests.toys import CuttingStock


def test_a_guessed_answer_is_an_incumbent_from_the_start():
    plain = solve(CuttingStock())

    class Knowing(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(answers=[plain.solution])

    result = solve(Knowing())
    assert result.is_optimal
    assert result.objective == plain.objective
    assert len(result.iterations) <= len(plain.iterations)


def test_an_answer_that_is_none_is_refused_with_the_name_of_who_gave_it():
    plain = solve(CuttingStock()).solution
    short = plain.__class__(plain.objective - plain.columns[0][1], plain.columns[1:])

    class Wrong(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(answers=[short])

    with pytest.raises(InfeasibleAnswerError, match=r"Wrong\.warm_start"):
        solve(Wrong())
