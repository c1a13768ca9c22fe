"""Guesses for a run: empty by default, and verified."""

import dataclasses

import pytest

import colgen
from colgen import Column, InputError, Solution, WarmStart
from colgen.core.warm_start import NOTHING
from tests.toys import CuttingStock


def test_no_guess_at_all():
    assert WarmStart() == NOTHING
    assert (NOTHING.duals, tuple(NOTHING.answers), tuple(NOTHING.columns), tuple(NOTHING.rows)) == (None, (), (), ())
    with pytest.raises(dataclasses.FrozenInstanceError):
        NOTHING.duals = {}


@pytest.mark.parametrize("duals", [{"demand": [0.0] * 4}, {"demand": [1e9] * 4}, {"demand": [0.49, 0.34, 0.3, 0.14]}])
def test_dual_values_may_have_any_type(duals):
    class Guessing(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(duals)

    plain, guessed = colgen.solve(CuttingStock()), colgen.solve(Guessing())
    assert guessed.is_optimal
    assert guessed.objective == plain.objective


def test_an_infeasible_answer_is_a_diagnostic():
    class Claiming(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(answers=[Solution(1.0, ((Column(1.0, {("demand", 0): 1.0}), 1.0),))])

    with pytest.raises(colgen.ColgenError, match="Claiming"):
        colgen.solve(Claiming())


@pytest.mark.parametrize("name", ["answers", "columns", "rows"])
@pytest.mark.parametrize("given", [None, "best", 1, [None], [1.0]])
def test_guesses_of_wrong_types_are_refused(name, given):
    with pytest.raises(InputError, match=rf"WarmStart\.{name}: expected .* not a \w+"):
        WarmStart(**{name: given})


def test_guesses_may_come_from_a_generator():
    start = WarmStart(answers=(Solution(float(k), ()) for k in range(2)))
    assert len(start.answers) == len(list(start.answers)) == 2
