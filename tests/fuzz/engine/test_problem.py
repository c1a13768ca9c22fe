"""A program over an explicit pool as a problem of the engine: the same columns, rows and answers."""

import pytest

from colgen import solve
from tests.fuzz.engine.pools import Case, Way
from tests.fuzz.engine.problem import PoolProblem
from tests.fuzz.engine.programs import cases, two_ways_to_cover


def test_columns_and_rows_are_those_of_the_program():
    problem = PoolProblem(Case(two_ways_to_cover(), Way()))
    assert [column.cost for column in problem.columns] == [3.0, 1.0, 1.0]
    assert [sorted(column.coefficients.values()) for column in problem.columns] == [[1.0, 1.0], [1.0], [1.0]]
    assert len(problem.master().formulation.row_keys) == 2


def test_an_answer_contains_the_values_of_columns():
    result = solve(PoolProblem(Case(two_ways_to_cover(), Way())))
    assert result.is_optimal
    assert result.answer == (0.0, 1.0, 1.0)
    assert result.objective == 2.0


@pytest.mark.parametrize("start", [(), (0,), (1, 2)])
def test_initial_columns_do_not_change_the_answer(start):
    result = solve(PoolProblem(Case(two_ways_to_cover(), Way(start=start))))
    assert result.answer == (0.0, 1.0, 1.0)


def test_columns_have_the_scaled_costs_of_the_program():
    for case, _ in cases(8, 20):
        problem = PoolProblem(case)
        for column, drawn in zip(problem.columns, case.program.columns, strict=True):
            assert column.cost == pytest.approx(drawn.cost * case.program.cost_scale)
