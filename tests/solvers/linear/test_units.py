"""Conversion between units of caller and solver, against numpy."""

import numpy as np
import pytest

from colgen.solvers.linear.units import from_solver, to_solver


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_columns_are_scaled_and_validated(kind):
    costs, rows, values = np.array([3.0, -5.0]), np.array([1, 0, 1], dtype=kind), np.array([2.0, 1.0, -4.0])
    finite, there, largest, scaled_costs, scaled_values = to_solver(costs, rows, values, np.array([0.5, 4.0]), 0.25)
    assert (finite, there, largest) == (True, True, 5.0)
    assert scaled_costs.tolist() == [0.75, -1.25]
    assert scaled_values.tolist() == [8.0, 0.5, -16.0]
    for bad in (np.array([np.nan, 1.0]), np.array([1.0, -np.inf])):
        assert not to_solver(bad, rows, values, np.ones(2), 1.0)[0]
    assert not to_solver(costs, rows, np.array([1.0, np.inf, 1.0]), np.ones(2), 1.0)[0]
    for bad in (2, -1):
        assert not to_solver(costs, np.array([bad, 0, 0], dtype=kind), values, np.ones(2), 1.0)[1]


@pytest.mark.parametrize("columns", [0, 1, 6, 7])
def test_an_optimum_in_the_units_of_the_caller(columns):
    random = np.random.default_rng(columns)
    values, costs = random.integers(0, 3, columns) * random.random(columns), random.integers(-2, 3, columns) * 1.3
    units, reduced, duals, rows = (2.0 ** random.integers(-3, 4, size) for size in (columns, columns, 4, 4))
    typical, own_values, own_duals, own_reduced = from_solver(values, duals, reduced, costs, units, rows, 0.3)
    used = np.abs(costs * units)[(values != 0.0) & (costs != 0.0)]
    assert typical == (np.median(used) if len(used) else 0.0)
    assert (own_values == values * units).all()
    assert (own_duals == duals * rows / 0.3).all()
    assert (own_reduced == reduced / units / 0.3).all()
