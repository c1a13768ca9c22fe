"""The Pyomo model of rows has their names, and compiles to the same rows."""

import math

import pytest

from colgen import Rows, Sense
from colgen.core.errors import FormulationError
from colgen.model.rows import compile_master


def test_a_pyomo_model_of_rows_has_their_names_and_marks():
    rows = Rows(Sense.MAXIMIZE, objective="worth", offset=2.0, cost_rounding=1e-9, solved_by=len)
    rows.add_variables("missing", [(0, "a"), (1, "b")], artificial=True)
    rows.add_variables("trade", exchange=True)
    rows.add_variables("whole", [0, 1], lower=-2.0, upper=[3.0, math.inf], integer=True, cost=[1.0, 0.0])
    row = rows.add_rows("row", [(0, "a"), (1, "b")], lower=[1.0, -math.inf], upper=[1.0, 4.0])
    rows.add_entries(row, rows.column_blocks["missing"].positions, [1.0, -2.0])
    m = rows.pyomo()
    assert str(m.row[0, "a"].expr) == "missing[0,a]  ==  1.0"
    assert str(m.row[1, "b"].expr) == "-2.0*missing[1,b]  <=  4.0"
    assert str(m.worth.expr) == "whole[0] + 2.0"
    again = compile_master(m)
    assert again.is_same(rows)
    assert (again.objective, again.cost_rounding, again.solved_by) == ("worth", 1e-9, len)
    assert again.exchange.tolist() == rows.exchange.tolist() == [False, False, True, False, False]


def test_a_block_of_integer_and_other_variables_keeps_the_domain_of_each():
    rows = Rows(Sense.MINIMIZE)
    rows.add_variables("x", [1, 2], upper=2.0, integer=True)
    rows.integer[1] = False
    m = rows.pyomo()
    assert (m.x[1].is_integer(), m.x[2].is_integer()) == (True, False)
    assert compile_master(m).is_same(rows)


def test_rows_of_nothing_at_all():
    assert compile_master(Rows(Sense.MAXIMIZE, offset=3.0).pyomo()).is_same(Rows(Sense.MAXIMIZE, offset=3.0))


def test_a_row_that_has_no_variable_cannot_be_rendered():
    rows = Rows(Sense.MINIMIZE)
    rows.add_variables("y")
    rows.add_rows("row", lower=1.0)
    with pytest.raises(FormulationError, match=r"the row \('row', None\) has no variable"):
        rows.pyomo()
