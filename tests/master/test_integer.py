"""Whole solutions of the columns at hand."""

import pytest

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
