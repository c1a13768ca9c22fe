"""Programs of HiGHS as arrays with names."""

import math

import highspy
import numpy as np
import pytest

from colgen.solvers.linear.named import ModelError, named_program, read_program


def test_a_model_of_highs_becomes_arrays():
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.addVars(2, np.array([0.0, -math.inf]), np.array([4.0, 5.0]))
    model.changeColIntegrality(1, highspy.HighsVarType.kInteger)
    model.addRow(1.0, math.inf, 2, np.array([0, 1], dtype=np.int32), np.array([2.0, -3.0]))
    model.changeObjectiveSense(highspy.ObjSense.kMaximize)
    model.changeObjectiveOffset(1.5)
    program, integer, columns, rows = named_program(model)
    assert (program.maximize, program.offset) == (True, 1.5)
    assert program.matrix.toarray().tolist() == [[2.0, -3.0]]
    assert (program.lower.tolist(), program.upper.tolist()) == ([0.0, -math.inf], [4.0, 5.0])
    assert (program.row_lower.tolist(), program.row_upper.tolist()) == ([1.0], [math.inf])
    assert (integer.tolist(), columns, rows) == ([False, True], ("x0", "x1"), ("c0",))
    assert named_program(model.getLp()).program.costs.tolist() == [0.0, 0.0]


def test_what_is_no_model_of_highs_is_refused():
    with pytest.raises(ModelError, match="not int"):
        named_program(3)


def test_the_first_warning_of_highs_is_the_error(tmp_path):
    path = tmp_path / "m.lp"
    path.write_text("min\n obj: x\nst\n c: x + y + x >= 1\nend\n")
    with pytest.raises(ModelError, match="occurs 2 times in row 0"):
        read_program(path)
