"""Guesses: nothing by default, and none of them believed."""

import dataclasses

import pytest

import colgen
from colgen import Column, Solution, WarmStart
from colgen.core.warm_start import NOTHING
from tests.toys import CuttingStock


def test_no_guess_at_all():
    assert WarmStart() == NOTHING
    assert (NOTHING.duals, tuple(NOTHING.answers), tuple(NOTHING.columns), tuple(NOTHING.rows)) == (None, (), (), ())
    with pytest.raises(dataclasses.FrozenInstanceError):
        NOTHING.duals = {}


@pytest.mark.parametrize("duals", [{"demand": [0.0] * 4}, {"demand": [1e9] * 4}, {"demand": [0.49, 0.34, 0.3, 0.14]}])
def test_dual_values_may_be_anything(duals):
    class Guessing(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(duals)

    plain, guessed = colgen.solve(CuttingStock()), colgen.solve(Guessing())
    assert guessed.is_optimal
    assert guessed.objective == plain.objective


def test_an_answer_that_is_none_is_a_diagnostic():
    class Claiming(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(answers=[Solution(1.0, ((Column(1.0, {("demand", 0): 1.0}), 1.0),))])

    with pytest.raises(colgen.ColgenError, match="Claiming"):
        colgen.solve(Claiming())
