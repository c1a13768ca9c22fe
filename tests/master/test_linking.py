"""Linking rows as a Lagrangian relaxation sees them."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Column, LinearMaster, artificial
from colgen.model.rows import compile_model


def master(sense=pyo.minimize, sign=1.0):
    """Rows of every kind, a variable with bounds, one without in a single row, one without in two."""
    m = pyo.ConcreteModel()
    m.boxed = pyo.Var(bounds=(0, 2))
    m.free = pyo.Var(domain=pyo.NonNegativeReals)
    m.pair = pyo.Var(domain=pyo.NonNegativeReals)
    m.missing = artificial()
    m.least = pyo.Constraint(expr=m.boxed + m.pair + m.missing >= 1)
    m.most = pyo.Constraint(expr=m.boxed + m.pair <= 4)
    m.equal = pyo.Constraint(expr=2 * m.free + m.boxed == 3)
    m.between = pyo.Constraint(expr=(1, m.boxed, 5))
    m.total = pyo.Objective(expr=sign * (6 * m.free + m.boxed + 2 * m.pair) + 7, sense=sense)
    return LinearMaster(compile_model(m))


def by_name(linking, array, owner):
    return dict(zip([key[0] for key in owner.rows.names.keys], array.tolist(), strict=True))


@pytest.mark.parametrize(("sense", "sign"), [(pyo.minimize, 1.0), (pyo.maximize, -1.0)])
def test_projected_dual_values_give_finite_bounds(sense, sign):
    owner = master(sense, sign)
    linking = owner.rows.linking()
    low, high = (by_name(linking, side, owner) for side in (linking.lower, linking.upper))
    # Minimising: a lower side pulls upwards, an upper side downwards; 6 - 2π of `free` must not be negative.
    expected = {
        "least": (0.0, math.inf),
        "most": (-math.inf, 0.0),
        "equal": (-math.inf, 3.0),
        "between": (-math.inf, math.inf),
    }
    for name, (down, up) in expected.items():
        assert (low[name], high[name]) == ((down, up) if sign > 0 else (-up, -down))


def test_projection_mends_variables_in_several_rows():
    owner = master()
    linking = owner.rows.linking()
    position = owner.rows.names.position
    duals = np.zeros(4)
    duals[position["least", None]] = 10.0  # the reduced cost of `pair` would be 2 - 10
    mended = linking.project(duals)
    assert 2.0 - mended[position["least", None]] - mended[position["most", None]] >= -1e-9
    assert (mended >= linking.lower).all()
    assert (mended <= linking.upper).all()


def test_variables_take_their_better_bounds():
    owner = master()
    linking = owner.rows.linking()
    names = {key[0]: k for k, key in enumerate(owner.formulation.column_keys)}
    values = linking.own_values(owner.rows.guess({"least": 5.0}))
    shown, _ = linking.named(values)
    assert shown[("boxed", None)] == 2.0  # 1 - 5 improves
    assert "missing" in names
    assert ("missing", None) not in shown
    assert linking.own_cost(values) == 7.0 + 2.0


def test_slopes_are_row_violations():
    owner = master()
    linking = owner.rows.linking()
    activity = np.array([0.0, 6.0, 2.0, 3.0])
    order = [owner.rows.names.position[name, None] for name in ("least", "most", "equal", "between")]
    at_zero = linking.slope(np.zeros(4), activity[np.argsort(order)])
    assert at_zero[order].tolist() == [1.0, -2.0, 1.0, 0.0]
    duals = np.zeros(4)
    duals[owner.rows.names.position["between", None]] = -1.0  # its upper side pulls
    assert linking.slope(duals, activity[np.argsort(order)])[order].tolist() == [1.0, -2.0, 1.0, 2.0]


def test_activity_of_columns():
    owner = master()
    linking = owner.rows.linking()
    columns = [Column(1.0, {("least", None): 1.0}), Column(2.0, {("least", None): 3.0, ("equal", None): -1.0})]
    activity = by_name(linking, linking.activity(columns, np.array([2.0, 1.0])), owner)
    assert (activity["least"], activity["equal"], activity["most"]) == (5.0, -1.0, 0.0)
    assert linking.costs_of(columns).tolist() == [1.0, 2.0]
    assert not linking.holds(np.zeros(4))
