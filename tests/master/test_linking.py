"""The linking rows as a Lagrangian relaxation sees them: which dual values may be, and what the rows lack."""

import numpy as np
import pyomo.environ as pyo
import pytest

from tests.master.programs import col, covering


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_covering_rows_pull_one_way(sense):
    master = covering(sense=sense)
    linking, s = master.linking(), master.sense.sign
    drawn = np.array([-1.0, 0.5]) * s
    projected = linking.project(drawn)
    assert (s * projected >= 0.0).all()
    assert projected[1] == drawn[1]
    assert (linking.project(projected) == projected).all()
    assert (linking.lower <= projected).all()
    assert (projected <= linking.upper).all()


def test_what_the_rows_lack_is_the_slope():
    master = covering(demands=(3.0, 2.0))
    linking = master.linking()
    columns = [col((1, 0)), col((1, 1))]
    activity = linking.activity(columns, np.array([1.0, 1.0]))
    assert activity.tolist() == [2.0, 1.0]
    assert linking.slope(np.array([1.0, 1.0]), activity).tolist() == [1.0, 1.0]
    assert not linking.holds(activity)
    assert linking.holds(np.array([3.0, 2.0]))
    assert linking.costs_of(columns).tolist() == [columns[0].cost, columns[1].cost]


def test_a_dual_value_of_zero_lacks_nothing_where_the_row_holds():
    linking = covering(demands=(3.0, 2.0)).linking()
    assert linking.slope(np.zeros(2), np.array([5.0, 1.0])).tolist() == [0.0, 1.0]
