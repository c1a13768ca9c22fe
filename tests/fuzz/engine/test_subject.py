"""Wrong answers and empty programs before the judge."""

import dataclasses

import pytest

from tests.fuzz.engine.pools import Case, PoolGroup, Program, Way
from tests.fuzz.engine.programs import two_ways_to_cover
from tests.fuzz.engine.subject import fault_of, judge, run
from tests.fuzz.engine.truth import solve_complete


def test_a_wrong_answer_is_seen():
    case = Case(two_ways_to_cover(), Way())
    result = run(case)

    assert result.objective == 2.0
    assert fault_of(case.program, result) is None
    uncovered = dataclasses.replace(result, answer=(0.0, 1.0, 0.0))
    assert "row 1 has activity 0" in fault_of(case.program, uncovered)
    misstated = dataclasses.replace(result, objective=1.0)
    assert "worth 2" in fault_of(case.program, misstated)


@pytest.mark.parametrize("maximize", [False, True])
def test_an_empty_program(maximize):
    empty = Program("general", maximize, (), (), (), (PoolGroup(),))

    assert judge(Case(empty, Way()), solve_complete(empty)) is None
