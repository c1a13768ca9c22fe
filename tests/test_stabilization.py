"""Smoothing: its points, and that it always reaches the master's duals."""

import copy

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Directional, Duals, LinearMaster, Method, NoStabilization, TimeLimit, Wentges, solve
from colgen.core.budget import Budget
from colgen.core.duals import RowNames
from colgen.model.rows import compile_model
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed
from tests.toys import CuttingStock


def duals(*values):
    names = RowNames()
    for i in range(len(values)):
        names.append(("row", i))
    return Duals(np.array(values, dtype=float), names)


def no_subgradient():
    return None


def test_none_prices_at_the_masters_duals():
    out = duals(1, 2)
    stabilization = NoStabilization()
    assert stabilization.propose(out) is out
    assert not stabilization.misprice()


def test_first_proposal_is_the_masters_duals():
    out = duals(1, 2)
    wentges = Wentges(0.9)
    assert wentges.propose(out) is out
    assert not wentges.misprice()


def started(alpha, *centre):
    wentges = Wentges(alpha)
    wentges.propose(duals(*centre))
    wentges.update(True, no_subgradient)
    return wentges


def test_proposal_lies_between_centre_and_duals():
    assert started(0.75, 0, 8).propose(duals(4, 0)).values.tolist() == [1, 6]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 0.9, 0.99])
def test_misprices_end_at_the_masters_duals(alpha):
    wentges, out = started(alpha, 0, 8), duals(4, 0)
    distance = np.inf
    for _ in range(200):
        proposal = wentges.propose(out)
        now = abs(proposal.values - out.values).max()
        assert now < distance  # nearer each time
        distance = now
        if not wentges.misprice():
            break
    assert proposal is out  # so the engine can tell that no column was missed


def test_nodes_below_the_root_are_smoothed_only_if_asked_for():
    usual, everywhere, none = Wentges(), Wentges(below_root=True), NoStabilization()
    assert usual.at(0) is usual
    assert isinstance(usual.at(1), NoStabilization)
    assert everywhere.at(7) is everywhere
    assert none.at(3) is none


def test_centre_moves_only_with_a_better_bound():
    wentges = started(0.5, 0, 0)
    wentges.propose(duals(4, 4))
    wentges.update(False, no_subgradient)
    assert wentges.propose(duals(4, 4)).values.tolist() == [2, 2]
    wentges.update(True, no_subgradient)
    assert wentges.propose(duals(4, 4)).values.tolist() == [3, 3]


def test_rows_added_since_were_zero_at_the_centre():
    assert started(0.5, 2, 2).propose(duals(4, 4, 6)).values.tolist() == [3, 3, 3]


def test_smoothing_may_end_when_rows_are_added():
    wentges = Wentges(0.75, after_rows=False)
    wentges.propose(duals(0, 8))
    wentges.update(True, no_subgradient)
    assert wentges.propose(duals(4, 0)).values.tolist() == [1, 6]
    out = duals(4, 0, 1)
    assert wentges.propose(out) is out
    assert not wentges.misprice()
    wentges.reset()  # another node begins with these rows
    wentges.propose(out)
    wentges.update(True, no_subgradient)
    assert wentges.propose(duals(8, 0, 1)).values.tolist() == [5, 0, 1]


def test_misprices_do_not_last_beyond_a_round():
    wentges, out = started(0.8, 0), duals(10)
    wentges.propose(out)
    wentges.misprice()
    assert wentges.propose(out).values == pytest.approx([4.0])
    wentges.update(False, no_subgradient)
    assert wentges.propose(out).values == pytest.approx([2.0])


@pytest.mark.parametrize(("direction", "grows"), [(-1.0, True), (1.0, False)])
def test_automatic_parameter(direction, grows):
    """Centre at 0, duals at 10: a subgradient of -1 says that the bound improves towards the centre."""
    wentges = started(None, 0)
    before = wentges.alpha
    wentges.propose(duals(10))
    wentges.update(False, lambda: np.array([direction]))
    assert (wentges.alpha > before) is grows
    for _ in range(200):
        wentges.propose(duals(10))
        wentges.update(False, lambda: np.array([direction]))
    assert wentges.alpha == pytest.approx(0.99 if grows else 0.0)


def test_a_mispriced_round_halves_the_automatic_parameter():
    for wentges, expected in ((started(None, 0), 0.25), (started(0.5, 0), 0.5)):
        for misprices in (1, 0):  # for any number of misprices, and only once
            wentges.propose(duals(10))
            if misprices:
                wentges.misprice()
            wentges.update(False, no_subgradient)
        assert wentges.alpha == expected


def test_a_guess_that_misprices_leaves_the_automatic_parameter():
    wentges = Wentges()
    wentges.reset(np.zeros(1))
    wentges.propose(duals(10))
    wentges.misprice()
    wentges.update(True, no_subgradient)
    assert wentges.alpha == 0.5


def test_fixed_parameter_stays():
    wentges = started(0.7, 0)
    wentges.propose(duals(10))
    wentges.update(False, lambda: np.array([-1.0]))
    assert wentges.alpha == 0.7


def test_reset_clears_the_state():
    wentges = started(None, 0)
    wentges.alpha = 0.9
    wentges.reset()
    out = duals(3)
    assert wentges.propose(out) is out
    assert wentges.alpha == 0.5


@pytest.mark.parametrize("alpha", [-0.1, 1.0, 2.0])
def test_parameter_is_checked(alpha):
    with pytest.raises(ValueError, match="alpha"):
        Wentges(alpha)


# --- a guess at the centre -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [None, 0.0, 0.3, 0.9])
def test_a_guess_is_proposed_first(alpha):
    wentges = Wentges(alpha)
    wentges.reset(np.array([0.0, 8.0]))
    assert wentges.propose(duals(4, 0)).values.tolist() == [0, 8]


def test_after_its_round_a_guess_is_a_centre_like_any_other():
    wentges = Wentges(0.75)
    wentges.reset(np.array([0.0, 8.0]))
    wentges.propose(duals(4, 0))
    wentges.update(True, no_subgradient)
    assert wentges.propose(duals(4, 0)).values.tolist() == [1, 6]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 0.9, 0.99])
def test_misprices_from_a_guess_end_at_the_masters_duals(alpha):
    wentges, out = Wentges(alpha), duals(4, 0)
    wentges.reset(np.array([0.0, 8.0]))
    distance, proposals = np.inf, []
    for _ in range(200):
        proposal = wentges.propose(out)
        proposals.append(proposal.values)
        now = abs(proposal.values - out.values).max()
        assert now < distance  # nearer each time
        distance = now
        if not wentges.misprice():
            break
    assert proposal is out
    assert proposals[0].tolist() == [0, 8]
    assert proposals[1] == pytest.approx(alpha * np.array([0.0, 8.0]) + (1 - alpha) * out.values)


def test_a_centre_that_was_priced_at_is_smoothed_at_once():
    wentges = Wentges(0.75)
    wentges.reset(np.array([0.0, 8.0]))
    wentges.forgo_centre()
    assert wentges.propose(duals(4, 0)).values.tolist() == [1, 6]


def test_misprices_from_a_guess_do_not_last_beyond_a_round():
    wentges, out = Wentges(0.8), duals(10)
    wentges.reset(np.zeros(1))
    for expected in (0.0, 2.0, 4.0):
        assert wentges.propose(out).values == pytest.approx([expected])
        assert wentges.misprice()
    wentges.update(False, no_subgradient)
    assert wentges.propose(out).values == pytest.approx([2.0])


def test_a_better_bound_replaces_a_guess():
    wentges = Wentges(0.5)
    wentges.reset(np.zeros(1))
    wentges.propose(duals(8))
    wentges.misprice()
    assert wentges.propose(duals(8)).values.tolist() == [4]
    wentges.update(True, no_subgradient)
    assert wentges.propose(duals(8)).values.tolist() == [6]


def test_rows_added_since_a_guess_were_zero_at_it():
    wentges = Wentges(0.5)
    wentges.reset(np.array([2.0]))
    assert wentges.propose(duals(4, 6)).values.tolist() == [2, 0]


def test_reset_clears_a_guess():
    wentges, out = Wentges(0.5), duals(3)
    wentges.reset(np.zeros(1))
    wentges.reset()
    assert wentges.propose(out) is out


# --- directional smoothing -------------------------------------------------------------------------------------------


def turning(slope, alpha=0.5, beta=None, centre=(0, 0)):
    directional = Directional(alpha, beta=beta)
    directional.propose(duals(*centre))
    directional.update(True, lambda: None if slope is None else np.array(slope, dtype=float))
    return directional


def test_directional_smoothing_turns_towards_the_subgradient_and_goes_as_far_as_wentges():
    # Centre (0, 0), duals (3, 4), which are 5 away: rho is halfway between (5, 0) and (3, 4), in the direction (2, 1).
    proposal = turning([7, 0], beta=0.5).propose(duals(3, 4)).values
    assert proposal == pytest.approx(2.5 * np.array([2, 1]) / np.sqrt(5))
    assert turning([7, 0], beta=1.0).propose(duals(3, 4)).values == pytest.approx([2.5, 0])


def test_without_beta_the_angle_determines_the_turn():
    cosine = 0.6  # between (1, 0) and (3, 4)
    by_hand = turning([1, 0], beta=cosine).propose(duals(3, 4)).values
    assert turning([1, 0]).propose(duals(3, 4)).values == pytest.approx(by_hand)
    assert turning([6, 8]).propose(duals(3, 4)).values == pytest.approx([1.5, 2])  # they agree
    assert turning([-3, -4]).propose(duals(3, 4)).values.tolist() == [1.5, 2]  # the subgradient is ignored


@pytest.mark.parametrize("slope", [None, [0, 0]])
def test_without_a_direction_it_is_wentges(slope):
    assert turning(slope).propose(duals(3, 4)).values.tolist() == [1.5, 2]


def test_after_a_misprice_it_is_wentges_and_ends_at_the_masters_duals():
    directional, out = turning([1, 0], alpha=0.9), duals(3, 4)
    directional.propose(out)
    assert directional.misprice()
    assert directional.propose(out).values == pytest.approx([0.6, 0.8])
    for _ in range(20):
        if not directional.misprice():
            break
        proposal = directional.propose(out)
    assert proposal is out


def test_signs_of_dual_values_are_kept():
    away = turning([1, -9], beta=1.0, centre=(1, 1)).propose(duals(4, 2)).values
    assert away[0] > 1
    assert away[1] == 0  # both are positive there
    free = turning([1, -9], beta=1.0, centre=(1, 1)).propose(duals(4, -2)).values
    assert free[1] < 0


def test_the_subgradient_is_that_of_the_centre():
    directional = turning([7, 0], beta=1.0)
    longer = directional.propose(duals(3, 4, 0)).values  # a row was added
    assert longer == pytest.approx([2.5, 0, 0])


def test_the_centre_of_directional_smoothing_is_the_last_point_whatever_its_bound():
    directional = turning([7, 0], beta=1.0)
    directional.propose(duals(3, 4))  # priced at (2.5, 0)
    directional.update(False, lambda: np.array([0.0, 1.0]))
    assert directional.propose(duals(2.5, 8)).values == pytest.approx([2.5, 4])


def test_a_guess_is_kept_until_a_better_bound():
    directional = Directional(0.5, beta=0.0)
    directional.reset(np.array([0.0, 8.0]))
    directional.propose(duals(4, 0))
    directional.update(True, no_subgradient)
    assert directional.propose(duals(4, 0)).values.tolist() == [2, 4]
    directional.update(False, no_subgradient)
    assert directional.propose(duals(4, 0)).values.tolist() == [2, 4]
    directional.update(True, no_subgradient)
    assert directional.propose(duals(4, 0)).values.tolist() == [3, 2]


def test_the_automatic_parameter_of_directional_smoothing_falls_faster_than_it_grows():
    directional = Directional()
    for slope, expected in ((-1.0, 0.37), (1.0, 0.37 / 1.6), (1.0, 0.37 / 1.6**2)):
        directional.reset(np.zeros(1)) if slope < 0 else None
        directional.forgo_centre()
        directional.propose(duals(10))
        directional.update(False, lambda slope=slope: np.array([slope]))
        assert directional.alpha == pytest.approx(expected)


@pytest.mark.parametrize("beta", [None, 0.3, 1.0])
def test_scaling_a_row_changes_nothing(beta):
    """A row that is multiplied by four has a dual value of a quarter, and lacks four times as much."""
    model = pyo.ConcreteModel()
    model.some = pyo.Var(bounds=(0, 1))
    model.first = pyo.Constraint(expr=model.some >= 0)
    model.second = pyo.Constraint(expr=4 * model.some >= 0)
    model.cost = pyo.Objective(expr=model.some)
    master = LinearMaster(compile_model(model))
    assert master.tableau.rows.sizes.tolist() == [1.0, 4.0]
    plain = turning([7, 2], beta=beta).propose(duals(3, 4)).values
    scaled = turning([7, 8], beta=beta)
    scaled.suit(master, Budget())
    assert scaled.propose(duals(3, 1)).values.tolist() == (plain / [1, 4]).tolist()
    assert copy.deepcopy(scaled)._master is None  # a copy is for another run


@pytest.mark.parametrize("beta", [-0.1, 1.1])
def test_directional_parameter_is_checked(beta):
    with pytest.raises(ValueError, match="beta"):
        Directional(beta=beta)


@pytest.mark.parametrize(
    "stabilization",
    [Directional(), Directional(0.7, beta=0.4, below_root=True), Directional(beta=None), Wentges(real_costs=True)],
)
def test_directional_smoothing_proves_the_same_optimum(stabilization):
    problem = Unguessed(random(3, 10, 4))
    found = solve(problem, method=Method(stabilization=stabilization))
    assert found.is_optimal
    assert found.objective == solve(problem, method=Method(stabilization=NoStabilization())).objective


def test_patient_smoothing_starts_after_rounds_without_progress():
    wentges, out = Wentges(0.5, patient=True), duals(4)
    wentges.propose(duals(2))
    wentges.update(True, no_subgradient)
    for improved in (False, False, True, False, False, True, False, False, False, False, False):
        assert wentges.propose(out) is out
        assert not wentges.misprice()
        wentges.update(improved, no_subgradient)
    np.testing.assert_allclose(wentges.propose(duals(8)).values, [6.0])  # the centre is where the bound was best: at 4
    wentges.reset()
    wentges.propose(duals(2))
    wentges.update(True, no_subgradient)
    assert wentges.propose(out) is out


def test_patient_smoothing_starts_at_once_from_a_guess():
    wentges = Wentges(0.5, patient=True)
    wentges.reset(np.array([0.0]))
    np.testing.assert_array_equal(wentges.propose(duals(4)).values, [0.0])
    wentges.update(True, no_subgradient)
    np.testing.assert_allclose(wentges.propose(duals(4)).values, [2.0])


# --- stabilizations that never finish ---------------------------------------------------------------------------------


class Stubborn(NoStabilization):
    """Always proposes zero duals."""

    def propose(self, duals):
        return duals.replace(0.0 * duals.values)

    def misprice(self):
        return True


class Repeating(Wentges):
    """Calls the master's own dual values a misprice as well."""

    def misprice(self):
        super().misprice()
        return True


@pytest.mark.parametrize("stabilization", [Stubborn(), Repeating(), Repeating(0.999), Wentges(0.9999)])
def test_a_round_ends_at_the_masters_duals_after_any_number_of_misprices(stabilization):
    problem = CuttingStock(branching=False)
    result = solve(problem, relaxation=True, method=Method(stabilization=stabilization), stop=TimeLimit(20))
    assert result.is_optimal
    assert result.objective == pytest.approx(452.25)
    assert max(iteration.misprices for iteration in result.iterations) <= 100
