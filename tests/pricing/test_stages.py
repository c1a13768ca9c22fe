"""Pricing in stages: which stages run, when a call ends, and its bound."""

import math

import numpy as np
import pytest

from colgen import Column, Pricing, PricingContext, PricingResult, Sense, Solution, Stages, solve
from tests.toys import CuttingStock


class Says(Pricing):
    """Columns of these reduced costs, and whether it was called."""

    def __init__(self, *reduced, bound=None, answers=()):
        self.reduced, self.bound, self.answers = reduced, bound, answers
        self.calls = 0

    def price(self, duals, context):
        self.calls += 1
        columns = [Column(float(cost), {}, cost) for cost in self.reduced]
        return PricingResult(columns, self.bound, self.reduced, answers=self.answers)


def context(held=()):
    return PricingContext(
        Sense.MINIMIZE,
        price=lambda columns, duals: np.array([column.cost for column in columns]),
        find=lambda columns: np.array([0 if column.structure in held else -1 for column in columns]),
    )


def ran(*stages):
    return [stage.calls for stage in stages]


def test_the_first_stage_that_finds_a_column_ends_a_call():
    stages = Says(), Says(-1.0, 2.0), Says(-9.0), Says(-10.0, bound=-10.0)
    result = Stages(*stages).price(None, context())
    assert [column.cost for column in result.columns] == [-1.0, 2.0]
    assert result.bound is None
    assert ran(*stages) == [1, 1, 0, 0]


def test_the_exact_stage_runs_if_the_heuristics_find_nothing():
    stages = Says(3.0), Says(-1.0), Says(-10.0, bound=-10.0)
    result = Stages(*stages, enough=5).price(None, context(held={-1.0}))
    assert result.bound == -10.0
    assert ran(*stages) == [1, 1, 1]


def test_heuristics_go_on_until_there_are_enough():
    stages = Says(-1.0, 4.0), Says(-2.0, -1.0), Says(-3.0), Says(-10.0, bound=-10.0)
    result = Stages(*stages, enough=3).price(None, context())
    assert [column.cost for column in result.columns] == [-1.0, 4.0, -2.0]  # each once
    assert result.bound is None
    assert ran(*stages) == [1, 1, 0, 0]


def test_too_few_are_better_than_the_exact_stage():
    stages = Says(-1.0), Says(5.0), Says(-10.0, bound=-10.0)
    assert [c.cost for c in Stages(*stages, enough=3).price(None, context()).columns] == [-1.0]
    assert ran(*stages) == [1, 1, 0]


def test_columns_that_the_master_holds_do_not_count():
    stages = Says(-1.0, -2.0), Says(-3.0), Says(-10.0)
    Stages(*stages, enough=2).price(None, context(held={-1.0}))
    assert ran(*stages) == [1, 1, 0]


def test_answers_of_all_stages_and_the_bound_of_the_last_that_ran_are_kept():
    first, second = Solution(1.0, ()), Solution(2.0, ())
    stages = Says(-1.0, answers=(first,)), Says(-2.0, bound=-4.0, answers=(second,)), Says(-10.0)
    result = Stages(*stages, enough=2).price(None, context())
    assert result.answers == (first, second)
    assert result.bound == -4.0


def test_at_most_enough_columns_are_checked():
    looked = []
    told = PricingContext(
        Sense.MINIMIZE,
        price=lambda columns, duals: np.array([column.cost for column in columns]),
        find=lambda columns: looked.extend(column.cost for column in columns) or np.full(len(columns), -1),
    )
    Stages(Says(-1.0, -2.0, -3.0), Says(-10.0)).price(None, told)
    assert looked == [-1.0]


@pytest.mark.parametrize("enough", [1, 2, 50])
def test_runs_end_alike(enough):
    class Staged(CuttingStock):
        def pricing(self):
            exact = super().pricing()
            return Stages(Few(exact, 1), Few(exact, 3), exact, enough=enough)

    class Few(Pricing):
        """A heuristic: what the exact oracle finds, by chance or not at all."""

        multiplicity = math.inf

        def __init__(self, exact, seed):
            self.exact, self.random = exact, np.random.default_rng(seed)

        def price(self, duals, context):
            return PricingResult(self.exact.price(duals, context).columns if self.random.random() < 0.5 else ())

    staged, plain = solve(Staged()), solve(CuttingStock())
    assert staged.is_optimal
    assert staged.objective == plain.objective


@pytest.mark.parametrize("stages", [(), (Says(),)])
def test_stages_are_checked(stages):
    with pytest.raises(ValueError, match="enough" if stages else "at least one"):
        Stages(*stages, enough=0)
