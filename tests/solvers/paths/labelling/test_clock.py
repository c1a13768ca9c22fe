"""Limits of a search: kernels count whole steps."""

import math

import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.labelling.clock import EFFORT, Clock, OutOfEffortError, OutOfTimeError
from colgen.solvers.stopping import never


def test_a_limit_is_used_up_when_less_than_one_step_is_left():
    with pytest.raises(OutOfEffortError):
        Clock(never, left=7.5).charge(7, 0)
    with pytest.raises(OutOfTimeError):
        Clock(never, most=7.5).charge(7, 0)
    clock = Clock(never, left=7.5, most=9.5)
    clock.charge(6, 0)
    assert clock.effort == 1


def test_without_limits_kernels_return_to_check_the_time():
    clock = Clock(never)
    clock.charge(EFFORT, 0)
    assert (clock.effort, clock.spent) == (EFFORT, EFFORT)
    with pytest.raises(OutOfTimeError):
        Clock(lambda: True).charge(1, 0)


@pytest.mark.parametrize("effort", [-1.0, math.nan])
def test_effort_is_not_negative(effort):
    for limits in ({"left": effort}, {"most": effort}):
        with pytest.raises(ArrayError, match="effort: expected a number of at least 0"):
            Clock(never, **limits)
