"""Pyomo models as arrays: complete and in order of declaration."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest

import colgen
from colgen import Rows, Sense, artificial
from colgen.core.errors import FormulationError
from colgen.model.rows import compile_master, compile_model


def sample():
    m = pyo.ConcreteModel()
    m.z = pyo.Var(["b", "a"], domain=pyo.Binary)  # declared before y, and b before a
    m.y = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(1, 7))
    m.unused = pyo.Var(bounds=(-2, 2))
    m.missing = artificial([3, 1])
    m.second = pyo.Constraint([3, 1], rule=lambda m, i: m.y + m.missing[i] >= i)
    m.first = pyo.Constraint(expr=(1, 2 * m.y - m.z["a"], 5))
    m.equal = pyo.Constraint(expr=m.z["a"] + m.z["b"] == 1)
    m.above = pyo.Constraint(expr=3 * m.y <= 12 + m.z["b"])
    m.cost = pyo.Objective(expr=4 * m.y - m.z["b"] + 10, sense=pyo.maximize)
    return m


def test_everything_in_the_order_of_declaration():
    f = compile_model(sample())
    assert f.sense is Sense.MAXIMIZE
    assert f.offset == 10
    assert f.column_keys == (
        ("z", "b"),
        ("z", "a"),
        ("y", None),
        ("unused", None),
        ("missing", 3),
        ("missing", 1),
    )
    assert f.row_keys == (("second", 3), ("second", 1), ("first", None), ("equal", None), ("above", None))
    assert f.costs.tolist() == [-1, 0, 4, 0, 0, 0]
    assert f.lower.tolist() == [0, 0, 1, -2, 0, 0]
    assert f.upper.tolist() == [1, 1, 7, 2, math.inf, math.inf]
    assert f.integer.tolist() == [True, True, True, False, False, False]
    assert f.artificial.tolist() == [False, False, False, False, True, True]
    assert f.row_lower.tolist() == [3, 1, 1, 1, -math.inf]
    assert f.row_upper.tolist() == [math.inf, math.inf, 5, 1, 12]  # the ranged row is one row
    assert f.matrix.toarray().tolist() == [
        [0, 0, 1, 0, 1, 0],
        [0, 0, 1, 0, 0, 1],
        [0, -1, 2, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [-1, 0, 3, 0, 0, 0],
    ]
    assert f.row_blocks["second"].indices == (3, 1)
    assert f.column_blocks["missing"].positions.tolist() == [4, 5]


def test_constants_move_to_the_sides():
    m = pyo.ConcreteModel()
    m.y = pyo.Var()
    m.row = pyo.Constraint(expr=m.y + 5 >= 7)
    m.range = pyo.Constraint(expr=(1, m.y + 2, 4))
    m.cost = pyo.Objective(expr=m.y)
    f = compile_model(m)
    assert f.row_lower.tolist() == [2, -1]
    assert f.row_upper.tolist() == [math.inf, 2]


def test_fixed_variables_count_as_numbers():
    m = sample()
    m.y.fix(3)
    f = compile_model(m)
    assert ("y", None) not in f.column_keys
    assert f.offset == 10 + 4 * 3
    assert f.row_lower.tolist()[:3] == [0, -2, 1 - 6]
    assert f.row_upper.tolist()[2] == 5 - 6


def test_fixed_variables_of_a_master_are_columns_with_one_value():
    m = sample()
    m.y.fix(3)
    f = compile_master(m)
    y = f.column_keys.index(("y", None))
    assert f.lower[y] == f.upper[y] == 3.0
    assert f.offset == 10
    m.y.set_value(None, skip_validation=True)
    with pytest.raises(FormulationError, match="'y' is fixed without a value"):
        compile_master(m)


def test_an_integer_variable_may_be_fixed_at_a_fraction():
    m = pyo.ConcreteModel()
    m.y = pyo.Var(domain=pyo.Integers)
    m.cost = pyo.Objective(expr=m.y)
    m.y.fix(0.5)
    assert not compile_master(m).integer[0]
    m.y.fix(1)
    assert compile_master(m).integer[0]


def test_variables_of_a_reference_count_once():
    def model(referring):
        m = pyo.ConcreteModel()
        m.b = pyo.Block([1, 2], rule=lambda b, i: setattr(b, "x", pyo.Var([0, 1], bounds=(0, i))))
        if referring:
            m.all = pyo.Reference(m.b[:].x[:])
        m.y = pyo.Var()
        m.row = pyo.Constraint(expr=m.y + m.b[2].x[1] >= 7)
        m.cost = pyo.Objective(expr=m.y)
        return m

    plain, referred = compile_model(model(False)), compile_model(model(True))
    assert sorted(map(str, referred.column_keys)) == sorted(map(str, plain.column_keys))
    where = [referred.column_keys.index(key) for key in plain.column_keys]
    assert referred.upper[where].tolist() == plain.upper.tolist()
    assert (referred.matrix.toarray()[:, where] == plain.matrix.toarray()).all()


def test_inactive_components_are_left_out():
    m = sample()
    m.first.deactivate()
    m.second[1].deactivate()
    m.other = pyo.Objective(expr=m.y)
    m.other.deactivate()
    assert compile_model(m).row_keys == (("second", 3), ("equal", None), ("above", None))


def test_objective_that_is_constant():
    m = sample()
    m.cost.deactivate()
    m.nothing = pyo.Objective(expr=0)
    f = compile_model(m)
    assert f.costs.tolist() == [0] * 6
    assert f.sense is Sense.MINIMIZE


def test_nonlinear_is_refused():
    m = sample()
    m.curved = pyo.Constraint(expr=m.y**2 <= 4)
    with pytest.raises(FormulationError, match="linear"):
        compile_model(m)


@pytest.mark.parametrize("objectives", [0, 2])
def test_one_objective(objectives):
    m = sample()
    if objectives == 0:
        m.cost.deactivate()
    else:
        m.other = pyo.Objective(expr=m.y)
    with pytest.raises(FormulationError, match=f"has {objectives}"):
        compile_model(m)


def test_costs_bounds_and_sides_are_changed_in_a_copy():
    f = compile_model(sample())
    g = f.copy()
    g.change_variables("z", cost=[7, 8])
    g.change_variables(("y", None), cost=9, lower=0)
    g.change_variables("missing", upper=[1, 2])
    g.change_rows("second", lower=[30, 10])
    g.change_rows(("second", 1), lower=11)
    g.change_rows("above", upper=math.inf)
    assert g.costs.tolist() == [7, 8, 9, 0, 0, 0]
    assert g.lower.tolist() == [0, 0, 0, -2, 0, 0]
    assert g.upper.tolist() == [1, 1, 7, 2, 1, 2]
    assert g.row_lower.tolist() == [30, 11, 1, 1, -math.inf]
    assert g.row_upper.tolist()[-1] == math.inf
    assert f.costs.tolist() == [-1, 0, 4, 0, 0, 0]  # the original keeps its numbers
    assert f.row_lower.tolist() == [3, 1, 1, 1, -math.inf]
    assert not g.is_same(f)
    assert f.is_same(compile_model(sample()))


def test_rows_and_variables_are_added():
    f = compile_model(sample())
    g = f.copy()
    more = g.add_variables("more", ["c", "d"], cost=[1.0, 2.0], upper=3.0, integer=True)
    rows = g.add_rows("few", [0, 1], lower=-1.0, upper=[4.0, 5.0], terms={("y", None): 2.0, "more": 1.0})
    g.add_entries(rows[1], more[0], 0.5)
    assert more.tolist() == [6, 7]
    assert g.row_keys[-2:] == (("few", 0), ("few", 1))
    assert g.matrix.toarray()[rows].tolist() == [[0, 0, 2, 0, 0, 0, 1, 1], [0, 0, 2, 0, 0, 0, 1.5, 1]]
    assert g.row_upper.tolist()[-2:] == [4, 5]
    assert g.integer.tolist()[-2:] == [True, True]
    assert g.contains(f)
    assert not f.contains(g)
    assert f.matrix.shape == (5, 6)
    assert compile_model(g.pyomo()).is_same(g)


def test_rows_with_another_side_bound_or_coefficient_differ():
    f = compile_model(sample())
    for change in (
        lambda g: g.change_rows("equal", upper=2),
        lambda g: g.change_variables("y", upper=8),
        lambda g: g.add_entries(0, 0, 1.0),
        lambda g: g.add_entries(*[g.add_rows("new"), g.add_variables("own")], 1.0) or g.add_entries(0, 6, 1.0),
    ):
        g = f.copy()
        change(g)
        assert not g.is_same(f)
        assert not g.contains(f)
    for change in (lambda g: g.change_variables("y", upper=6), lambda g: g.change_variables("y", cost=6)):
        g = f.copy()
        change(g)
        assert not g.is_same(f)
        assert g.contains(f)
    g = f.copy()
    g.offset += 1.0
    assert not g.is_same(f)
    assert not f.contains(Rows(f.sense, offset=f.offset)) or not Rows(f.sense).contains(f)


def test_arrays_shared_by_copies_are_read_only():
    f = compile_model(sample())
    g = f.copy()
    for rows in (f, g):
        with pytest.raises(ValueError, match="read-only"):
            rows.costs[0] = 5.0
        with pytest.raises(ValueError, match="read-only"):
            rows.matrix.data[0] = 5.0
    g.change_variables("y", cost=5.0)
    assert not g.is_same(f)


def test_empty_rows():
    rows = Rows(Sense.MINIMIZE)
    assert rows.matrix.shape == (0, 0)
    rows.add_rows("row", [])
    assert rows.matrix.shape == (0, 0)
    assert rows.row_blocks["row"].indices == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.change_rows("sceond", lower=1), "no rows named 'sceond'; there are above, equal, first, second"),
        (lambda f: f.change_rows(("second", 2), lower=1), "rows 'second' have no index 2"),
        (lambda f: f.change_variables("x", cost=1), "no variables named 'x'; there are missing, unused, y, z"),
        (lambda f: f.change_variables("y", cost=math.nan), "y: expected numbers, not NaN"),
        (
            lambda f: f.change_variables("z", cost=[1, 2, 3]),
            r"z: expected one number or 2, not an array of shape \(3,\)",
        ),
        (lambda f: f.add_variables("z"), "there are variables named 'z' already"),
        (lambda f: f.add_rows("equal"), "there are rows named 'equal' already"),
        (lambda f: f.add_rows("r", [1, 2], lower=[1, 2, 3]), r"r: expected one number or 2, not an array of shape"),
        (lambda f: f.add_rows("r", lower=math.nan), "r: expected numbers, not NaN"),
        (lambda f: f.add_rows("r", terms={("y", None): "1x"}), "r: expected a number for each term, not '1x'"),
        (lambda f: f.add_rows("r", terms={("y", 1): 1.0}), "variables 'y' have no index 1"),
        (lambda f: f.add_rows("r", [1, 2, 1]), "rows 'r' have a repeated index"),
        (lambda f: f.add_entries(5, 0, 1.0), "there is no row at position 5: there are 5"),
        (lambda f: f.add_entries(0, [2, -1], 1.0), "there is no variable at position -1: there are 6"),
        (lambda f: f.add_entries(0, 0, math.inf), "finite coefficients of rows, not inf"),
        (lambda f: f.add_rows("z") is None or f.pyomo(), "both rows and variables are named 'z'"),
    ],
)
def test_invalid_changes_are_refused(change, message):
    with pytest.raises(FormulationError, match=message):
        change(compile_model(sample()))


def test_numbers_are_floats():
    f = compile_model(sample())
    for array in (f.costs, f.lower, f.upper, f.row_lower, f.row_upper, f.matrix.data):
        assert array.dtype == np.float64


def test_bounds_of_integer_variables_are_rounded_inward():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Integers, bounds=(-0.5, 2.9999999999))
    m.y = pyo.Var(domain=pyo.Integers, bounds=(0.5, None))
    m.z = pyo.Var(bounds=(0.5, 1.5))
    m.cost = pyo.Objective(expr=m.x + m.y + m.z)
    f = compile_model(m)
    assert f.lower.tolist() == [0.0, 1.0, 0.5]
    assert f.upper.tolist() == [3.0, math.inf, 1.5]
    f.change_variables("x", upper=1.5)
    assert f.upper.tolist() == [1.0, math.inf, 1.5]


def test_the_old_name_of_rows_reports_the_new_one():
    with pytest.raises(AttributeError, match="no attribute 'Formulation': write Rows"):
        colgen.Formulation  # noqa: B018
