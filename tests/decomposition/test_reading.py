"""Models read: what is not linear, finite or there at all is refused."""

import pyomo.environ as pyo
import pytest

from colgen import InputError, decompose
from tests.decomposition import models


def nothing():
    m = models.assignment(0)
    m.x.fix(0)
    m.assign.deactivate()
    return m


def two_objectives():
    m = models.assignment(0)
    m.other = pyo.Objective(expr=m.x[0, 0])
    return m


def nonlinear():
    m = models.assignment(0)
    m.bad = pyo.Constraint(expr=m.x[0, 0] * m.x[1, 1] <= 1)
    return m


def crossed():
    m = models.assignment(0)
    m.x[0, 0].setlb(2)
    return m


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: 3, "expected a pyomo ConcreteModel to decompose, not int"),
        (nothing, "has none that is not fixed"),
        (two_objectives, "has 2"),
        (nonlinear, "expected a linear model"),
        (crossed, r"variable 'x\[0,0\]' has none"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(make, said):
    with pytest.raises(InputError, match=said):
        decompose(make(), "machine")
