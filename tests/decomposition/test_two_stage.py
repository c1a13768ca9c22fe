"""A two-stage model taken apart."""

import numpy as np
import pytest

from colgen import compile_model, decompose, solve_complete
from tests.decomposition.test_benders import two_stage


def parts(seed):
    return decompose(two_stage(seed), "scenario", method="benders").model


def test_the_first_stage_and_one_cost_a_stage_are_the_master():
    model = parts(4)
    master = model.master()
    assert len(master.costs) == len(model.first) + len(model.recourse.stages)
    assert len(master.row_lower) == len(model.kept) == 1
    assert (master.lower[len(model.first) :] * model.units == model.least).all()
    assert (master.costs[len(model.first) :] == model.units).all()


@pytest.mark.parametrize("seed", [0, 4, 5, 8])
def test_a_first_stage_costs_what_it_is_made_of_and_no_less_than_the_optimum(seed):
    model, best = parts(seed), solve_complete(compile_model(two_stage(seed))).objective
    x = np.ones(len(model.first))
    assert model.is_first_stage(x)
    found = model.solution(x)
    assert found is not None
    stages = range(len(model.recourse.stages))
    costs = sum(model.units[k] * found.variables.get((model.cost_name, k), 0.0) for k in stages)
    assert model.sign * found.objective == pytest.approx(model.first_cost(x) + model.sign * costs)
    assert model.sign * found.objective >= model.sign * best - 1e-6


def test_rows_over_the_first_stage_say_what_is_none():
    model = parts(4)
    assert not model.is_first_stage(np.zeros(len(model.first)))  # something is built
    half = np.full(len(model.first), 0.5)
    assert model.rounded(half, np.ceil).max() == 1.0
