"""Whole solutions of the columns at hand."""

import dataclasses

import numpy as np
import pytest

from colgen import Column
from tests.master.programs import (
    col,
    covering,
)


def test_solve_integer():
    master = covering(demands=(3.0, 0.0))
    master.add([col((2, 0)), col((1, 0), cost=0.8)])
    assert master.solve().objective == pytest.approx(1 + 1.5)
    found, bound = master.solve_integer()
    assert found.objective == pytest.approx(1 + 1.8)
    assert bound == pytest.approx(1 + 1.8)
    assert master.violation(found) is None
    # The linear program is as it was.
    assert master.solve().objective == pytest.approx(1 + 1.5)
    assert master.lp.simplex_iterations == 0


def test_solve_integer_without_answer():
    master = covering(demands=(30.0, 0.0))
    master.solve()
    assert master.solve_integer()[0] is None  # still in phase 1


def test_what_a_program_leaves_of_zero_is_zero(monkeypatch):
    """Row 1 would have that as its only term, and miss its side by all of it."""
    master = covering(demands=(3.0, 0.0))
    master.add([col((2, 0)), Column(1.0, {("demand", 1): 1e7}, "part", integer=False, lower=-1.0)])
    master.solve()
    original = master.lp.solve_mip

    def inexact(*arguments):
        found = original(*arguments)
        return dataclasses.replace(found, values=np.where(found.values == 0.0, -5e-16, found.values))

    monkeypatch.setattr(type(master.lp), "solve_mip", lambda self, *arguments: inexact(*arguments))
    found, _ = master.solve_integer()
    assert all(abs(value) > 1e-9 for _, value in found.columns)
    assert master.violation(found) is None
