"""The rows and variables of the master, and columns over its rows."""

import numpy as np
import pytest

from colgen import Solution, decompose
from tests.decomposition import models


def test_the_master_has_linking_rows_static_variables_and_one_row_per_block():
    problem = decompose(models.lots(0, items=3, periods=4), "item")
    master = problem.master()
    assert [key[0] for key in master.row_keys] == ["room"] * 4 + ["convexity"] * 3
    assert [key for key in master.column_keys if key[0] == "overtime"] == [("overtime", t) for t in range(4)]


def test_entries_of_a_column_equal_those_of_its_point_in_the_model():
    problem = decompose(models.lots(1), "item")
    splitting = problem.splitting
    sub = splitting.subproblems[1]
    point = np.random.default_rng(0).integers(0, 3, len(sub.costs)).astype(float)
    column = splitting.column(sub, point)
    x = np.zeros(len(problem.compact.names))
    x[sub.columns[0]] = point
    activity = problem.compact.rows @ x
    for row in splitting.linking:
        key = problem.compact.formulation.row_keys[row]
        assert column.coefficients.get(key, 0.0) == pytest.approx(activity[row])
    assert column.cost == pytest.approx(problem.compact.formulation.costs @ x)
    assert np.array_equal(splitting.values(Solution(0.0, [(column, 1.0)])), x)


def test_negative_amounts_by_rounding_violate_no_bound():
    problem = decompose(models.lots(1), "item")
    splitting = problem.splitting
    sub = splitting.subproblems[0]
    nothing, something = (splitting.column(sub, np.full(len(sub.costs), value)) for value in (0.0, 1.0))
    values = splitting.values(Solution(0.0, [(nothing, 1.0), (something, -1e-13)]))
    assert (values >= problem.compact.formulation.lower).all()
