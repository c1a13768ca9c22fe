"""Dual points for oracles: many, with allowed signs, reproducible by a seed."""

import numpy as np
import pytest

from colgen.master.statement import restricted_master
from colgen.testing.dual_points import DualPoints
from tests.assignment import assignment
from tests.toys import CuttingStock


def points(problem, seed=0):
    master = restricted_master(problem.master())
    return master, DualPoints(master, [], np.random.default_rng(seed))


@pytest.mark.parametrize("problem", [CuttingStock, lambda: assignment(2, 4, 1)], ids=["covering", "assignment"])
def test_points_are_many_and_finite(problem):
    master, drawn = points(problem())
    found = list(drawn.all([]))
    assert len(found) > 25
    assert all(values.shape == (master.num_rows,) and np.isfinite(values).all() for _, values in found)
    assert found[0][0] == "all-zero duals"
    assert not found[0][1].any()


def test_one_seed_gives_the_same_points():
    first, second = ([values.tolist() for _, values in points(CuttingStock(), 3)[1].all([])] for _ in range(2))
    assert first == second


def test_a_covering_row_has_no_negative_dual_value_when_minimising():
    _, drawn = points(CuttingStock())
    values = np.linspace(-2.0, 2.0, 4)
    legal = drawn.legal(values, 1.0)
    assert (legal >= 0.0).all()
    assert (drawn.legal(legal, 1.0) == legal).all()
    assert values[0] == -2.0  # the argument is unchanged


def test_an_artificial_variable_bounds_nothing():
    _, drawn = points(CuttingStock())
    assert (drawn.legal(np.full(4, 1e6), 1.0) == 1e6).all()
