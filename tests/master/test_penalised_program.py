"""The best dual values of a master where distance from a point is paid for."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen.core.budget import Budget
from colgen.master.penalised_program import Interval, PenalisedProgram
from tests.master.programs import col, covering


def interval(centre, width, slope):
    centre = np.array(centre, dtype=float)
    return Interval(centre - width, centre + width, np.full(len(centre), float(slope)))


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_dual_values_leave_an_interval_as_far_as_pays(sense):
    master = covering(sense=sense)
    sign = master.sense.sign
    master.add([col((0, 1), sign * 1.0)])
    assert master.solve().duals["demand"] == pytest.approx([5 * sign, sign])  # demands are 3 and 2
    program = PenalisedProgram(master, 1)
    found = program.duals([interval((2 * sign, sign), 1.0, math.inf)], Budget())
    assert found == pytest.approx([3 * sign, sign])
    assert program.duals([interval((2 * sign, 0), 0.5, 2.9)], Budget()) == pytest.approx([5 * sign, 0.5 * sign])
    assert program.duals([interval((2 * sign, 0), 0.5, 3.1)], Budget()) == pytest.approx([2.5 * sign, 0.5 * sign])


def test_it_grows_with_the_master():
    master = covering()
    master.add([col((0, 1), 1.0)])
    master.solve()
    program = PenalisedProgram(master, 2)
    wide = [interval((0, 0), 100.0, 1.0), interval((0, 0), 200.0, math.inf)]
    assert program.duals(wide, Budget()) == pytest.approx([5.0, 1.0])
    master.add([col((1, 1), 4.0)])
    assert program.duals(wide, Budget()) == pytest.approx(master.solve().duals.values)
