"""The rows of a linear master: sides, sizes, dual values."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    Duals,
    LinearMaster,
    Row,
    Sense,
    compile_model,
)
from colgen.core.errors import FormulationError
from colgen.master.rows import Rows
from tests.master.programs import (
    covering,
)


def test_row_whose_sides_cross_is_refused():
    m = pyo.ConcreteModel()
    m.y = pyo.Var()
    m.row = pyo.Constraint(expr=(0, m.y, 1))
    m.cost = pyo.Objective(expr=m.y)
    formulation = compile_model(m).with_data(row_lower={"row": 2.0})
    with pytest.raises(FormulationError, match="row"):
        LinearMaster(formulation)
    with pytest.raises(FormulationError, match="expected lower"):
        covering().add([], [Row(("cut", 0), lower=2.0, upper=1.0)])


def rows():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, None))
    m.least = pyo.Constraint(range(2), rule=lambda m, i: 4.0 * m.x[i] >= i)
    m.most = pyo.Constraint(expr=m.x[0] + m.x[1] <= 3)
    m.cost = pyo.Objective(expr=m.x[0])
    return Rows(compile_model(m))


@pytest.mark.parametrize("sense", Sense)
def test_dual_values_have_the_signs_of_their_sides(sense):
    s = sense.sign
    values = np.array([-1.0, 2.0, 3.0])
    assert (s * rows().signed(s * values, sense)).tolist() == [0.0, 2.0, 0.0]


def test_guesses_are_read_by_blocks_and_by_rows():
    here = rows()
    found = here.guessed({"least": [1.0, 2.0], ("most", None): -3.0, ("unknown", 7): 5.0}, Sense.MINIMIZE)
    assert {key: found[k] for key, k in here.names.position.items()} == {
        ("least", 0): 1.0,
        ("least", 1): 2.0,
        ("most", None): -3.0,
    }
    here.names.append(("young", None))
    here.extend(np.array([0.0]), np.array([9.0]), np.array([0.0]))
    assert here.guessed(Duals(found, here.names), Sense.MINIMIZE).tolist() == [1.0, 2.0, -3.0, 0.0]
    assert (here.sizes[-1], here.unsized.tolist()) == (1.0, [False, False, False, True])
