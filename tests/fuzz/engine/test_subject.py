"""Wrong answers are detected; empty programs pass."""

import dataclasses

import pytest

from tests.fuzz.engine.pools import Case, PoolGroup, Program, Way
from tests.fuzz.engine.programs import two_ways_to_cover
from tests.fuzz.engine.subject import find_answer_fault, judge, run
from tests.fuzz.engine.truth import solve_complete


def test_a_wrong_answer_is_detected():
    case = Case(two_ways_to_cover(), Way())
    result = run(case)

    assert result.objective == 2.0
    assert find_answer_fault(case.program, result) is None
    uncovered = dataclasses.replace(result, answer=(0.0, 1.0, 0.0))
    assert "row 1 has activity 0" in find_answer_fault(case.program, uncovered)
    misstated = dataclasses.replace(result, objective=1.0)
    assert "objective 2" in find_answer_fault(case.program, misstated)


@pytest.mark.parametrize("maximize", [False, True])
def test_an_empty_program(maximize):
    empty = Program("general", maximize, (), (), (), (PoolGroup(),))

    assert judge(Case(empty, Way()), solve_complete(empty)) is None
