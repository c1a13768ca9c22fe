"""Two-stage programs with integer second stages by prices of copies of the first stage."""

import copy

import numpy as np
import pytest
from scipy import optimize

from colgen import Method, Termination, decompose, solve
from colgen.core.result import OWN
from colgen.decomposition.scenarios import ExtensiveRelaxation, ScenarioBounding
from tests.decomposition.two_stages import optimum, two_stage

ALONE = Method(complete=lambda nodes, budget: None)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_have_the_optimum_of_the_extensive_form(seed):
    compact = two_stage(np.random.default_rng(seed))
    status, objective = optimum(compact)
    result = solve(decompose(compact, aggregate=False), time_limit=20, method=ALONE)
    assert result.termination.name == status
    if status == "OPTIMAL":
        assert result.objective == pytest.approx(objective, rel=2e-6, abs=2e-6)
        assert result.bound_source == OWN


def test_the_first_bound_is_at_least_that_of_the_linear_program():
    problem = decompose(two_stage(np.random.default_rng(16)), aggregate=False)
    first = solve(problem).iterations[0]
    f = problem.compact.formulation
    constraint = optimize.LinearConstraint(f.matrix.toarray(), f.row_lower, f.row_upper)
    bounds = optimize.Bounds(f.lower, f.upper)
    truth = optimize.milp(f.sense.sign * f.costs, constraints=constraint, bounds=bounds).fun
    assert f.sense.sign * first.dual_bound >= truth + f.sense.sign * f.offset - 1e-6


def test_bounds_of_a_first_stage_variable_hold_for_all_its_copies():
    problem = decompose(two_stage(np.random.default_rng(16)), aggregate=False)
    stage, splitting = problem.stage, problem.splitting
    relaxation = ExtensiveRelaxation(splitting, stage)
    decisions = tuple(stage.within(np.zeros(len(stage.keys)), np.ones(len(stage.keys)), np.array([0])))
    _, upper = relaxation.bounds(decisions)
    assert all(upper[sub.columns[0][stage.places[sub.number, 0]]] <= 1.0 for sub in splitting.subproblems)


def test_copies_have_no_points_or_solvers():
    problem = decompose(two_stage(np.random.default_rng(16)), aggregate=False)
    bounding = problem.method().bounding
    assert isinstance(bounding, ScenarioBounding)
    solve(problem, method=Method(bounding=bounding))
    assert bounding.evaluated
    assert not copy.deepcopy(bounding).evaluated


def test_the_exact_relaxation_is_that_of_column_generation():
    problem = decompose(two_stage(np.random.default_rng(16)), aggregate=False)
    result = solve(problem, relaxation=True)
    assert result.termination is Termination.OPTIMAL
    assert result.dual_bound == pytest.approx(result.objective)
