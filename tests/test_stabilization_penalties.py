"""A box and a penalty function around the stability centre."""

import copy
import math

import numpy as np
import pytest

from colgen import Method, NoStabilization, solve
from colgen.core.budget import Budget
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed
from colgen.stabilization import BoxStep, Penalty
from tests.master.programs import col, covering
from tests.toys import CuttingStock


def improving():
    raise AssertionError("a penalty asks for no subgradient")


def suited(stabilization, *centre):
    """Prepare a stabilization for a master with dual values 5 and 1."""
    master = covering()
    master.add([col((0, 1), 1.0)])
    solved = master.solve()
    stabilization.suit(master, Budget())
    stabilization.reset(np.array(centre, dtype=float) if centre else None)
    return solved.duals


def test_without_a_centre_the_masters_duals_are_priced_at():
    box = BoxStep()
    out = suited(box)
    assert box.propose(out) is out
    assert not box.misprice()


def test_a_guess_is_proposed_first_and_then_a_point_in_its_box():
    box = BoxStep(0.5)
    out = suited(box, 2.0, 1.0)
    np.testing.assert_array_equal(box.propose(out).values, [2.0, 1.0])
    box.update(True, improving)
    np.testing.assert_allclose(box.propose(out).values, [3.0, 1.0])


def test_after_a_misprice_the_masters_duals_are_proposed_and_the_box_is_twice_as_large():
    box = BoxStep(0.5)
    out = suited(box, 2.0, 1.0)
    box.forgo_centre()
    np.testing.assert_allclose(box.propose(out).values, [3.0, 1.0])
    assert box.misprice()
    assert box.propose(out) is out
    assert not box.misprice()
    box.update(False, improving)
    np.testing.assert_allclose(box.propose(out).values, [4.0, 1.0])


def test_a_slope_lets_dual_values_leave_that_gain_more():
    penalty = Penalty(3, width=0.5, slope=0.9)  # of demands of 3 and 2
    out = suited(penalty, 2.0, 1.0)
    penalty.forgo_centre()
    assert penalty.propose(out) is out
    steep = Penalty(5, width=0.5, slope=0.3)  # beyond twice the first interval it is 1.2
    out = suited(steep, 2.0, 1.0)
    steep.forgo_centre()
    np.testing.assert_allclose(steep.propose(out).values, [5.0, 1.0])
    far = Penalty(5, width=0.125, slope=0.3)
    out = suited(far, 2.0, 1.0)
    far.forgo_centre()
    np.testing.assert_allclose(far.propose(out).values, [3.0, 1.0])


@pytest.mark.parametrize("arguments", [{"pieces": 4}, {"width": 0.0}, {"width": math.inf}, {"slope": 0.0}])
def test_parameters_are_checked(arguments):
    with pytest.raises(ValueError, match=r"piece|width|slope"):
        Penalty(**arguments)


@pytest.mark.parametrize("stabilization", [BoxStep(), Penalty(3), Penalty(5, below_root=True)])
def test_they_prove_the_same_optimum(stabilization):
    problem = Unguessed(random(3, 10, 4))
    found = solve(problem, method=Method(stabilization=stabilization))
    assert found.is_optimal
    assert found.objective == solve(problem, method=Method(stabilization=NoStabilization())).objective
    for cost in (1.0, -1.0):
        toy = CuttingStock(cost=cost)
        expected = solve(toy, relaxation=True, method=Method(stabilization=NoStabilization())).objective
        assert solve(toy, relaxation=True, method=Method(stabilization=stabilization)).objective == pytest.approx(
            expected
        )


@pytest.mark.parametrize("stabilization", [BoxStep(), Penalty()])
def test_a_used_stabilization_can_be_copied_for_another_run(stabilization):
    first = solve(CuttingStock(), relaxation=True, method=Method(stabilization=stabilization))
    again = solve(CuttingStock(), relaxation=True, method=Method(stabilization=copy.deepcopy(stabilization)))
    assert again.objective == pytest.approx(first.objective)
