"""What a problem is by default: nothing guessed, nothing separated, answers checked by the rows of its master."""

import pytest

from colgen import ColgenError, LinearMaster, Problem, Solution, WarmStart, solve
from colgen.bounds.column_generation import ColumnGeneration
from colgen.core.budget import Budget
from tests.toys import CuttingStock, cutting_column


def test_a_problem_says_nothing_that_it_need_not():
    problem = CuttingStock()
    assert list(problem.separation()) == []
    assert list(problem.reductions()) == []
    assert problem.enumeration() is None
    assert problem.warm_start(Budget()) == WarmStart()
    assert isinstance(problem.bounding(), ColumnGeneration)
    assert isinstance(problem.restricted_master(), LinearMaster)


def test_a_problem_without_a_master_says_what_is_missing():
    class Nothing(Problem):
        def pricing(self):
            return CuttingStock().pricing()

    with pytest.raises((ColgenError, NotImplementedError), match=r"Nothing|master"):
        solve(Nothing())


def test_the_answer_is_the_structures_and_how_often_each_is_used():
    solution = Solution(3.0, ((cutting_column((2, 0, 0, 0)), 2.0), (cutting_column((0, 0, 0, 7)), 1.0)))
    assert list(CuttingStock().answer(solution)) == [((2, 0, 0, 0), 2.0), ((0, 0, 0, 7), 1.0)]


def test_a_problem_s_own_check_has_the_last_word():
    class Picky(CuttingStock):
        def check(self, answer):
            return 1e6

    with pytest.raises(ColgenError, match="own check computes 1000000"):
        solve(Picky())


def test_a_formulation_is_not_shared_by_problems_of_other_data():
    small, large = CuttingStock(demands=(1, 1, 1, 1)), CuttingStock()
    assert small.formulation().row_lower.tolist() != large.formulation().row_lower.tolist()
    assert solve(small).objective < solve(large).objective
