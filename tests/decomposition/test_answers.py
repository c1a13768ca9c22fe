"""Answers in a model's own variables."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import InfeasibleAnswerError
from colgen.decomposition.answers import Values, checked, load_values, objective_step
from colgen.decomposition.reading import read


def model():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, 5)), pyo.Var(bounds=(0, 2))
    m.row = pyo.Constraint(expr=m.x + 2 * m.y <= 6)
    m.cost = pyo.Objective(expr=4 * m.x + 1)
    return m


@pytest.mark.parametrize(
    ("values", "said"),
    [([6, 0], "variable 'x' is 6"), ([0.5, 0], "which is not whole"), ([5, 1], "constraint 'row' has the body 7")],
)
def test_what_is_no_answer_is_said(values, said):
    reading = read(model())
    with pytest.raises(InfeasibleAnswerError, match=said):
        checked(reading, Values(reading, np.array(values, dtype=float)))


def test_an_answer_is_counted_and_loaded():
    m = model()
    reading = read(m)
    answer = Values(reading, np.array([3.0, 1.5]))
    assert (checked(reading, answer), answer["y"], len(answer)) == (13.0, 1.5, 2)
    load_values(reading, None)
    assert m.x.value is None
    load_values(reading, answer)
    assert (m.x.value, m.y.value) == (3, 1.5)
    assert objective_step(reading.formulation) == 1.0
