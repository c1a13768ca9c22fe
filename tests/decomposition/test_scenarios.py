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
    result = solve(decompose(compact, aggregate=False, method="dantzig-wolfe"), time_limit=20, method=ALONE)
    assert result.termination.name == status
    if status == "OPTIMAL":
        assert result.objective == pytest.approx(objective, rel=2e-6, abs=2e-6)
        assert result.bound_source == OWN


def test_the_first_bound_is_at_least_that_of_the_linear_program():
    problem = decompose(two_stage(np.random.default_rng(16)), aggregate=False, method="dantzig-wolfe")
    first = solve(problem).iterations[0]
    f = problem.compact.formulation
    constraint = optimize.LinearConstraint(f.matrix.toarray(), f.row_lower, f.row_upper)
    bounds = optimize.Bounds(f.lower, f.upper)
    truth = optimize.milp(f.sense.sign * f.costs, constraints=constraint, bounds=bounds).fun
    assert f.sense.sign * first.dual_bound >= truth + f.sense.sign * f.offset - 1e-6


def test_bounds_of_a_first_stage_variable_hold_for_all_its_copies():
    problem = decompose(two_stage(np.random.default_rng(16)), aggregate=False, method="dantzig-wolfe")
    stage, splitting = problem.stage, problem.splitting
    relaxation = ExtensiveRelaxation(splitting, stage)
    decisions = tuple(stage.within(np.zeros(len(stage.keys)), np.ones(len(stage.keys)), np.array([0])))
    _, upper = relaxation.bounds(decisions)
    assert all(upper[sub.columns[0][stage.places[sub.number, 0]]] <= 1.0 for sub in splitting.subproblems)


def test_copies_have_no_points_or_solvers():
    problem = decompose(two_stage(np.random.default_rng(16)), aggregate=False, method="dantzig-wolfe")
    bounding = problem.method().bounding
    assert isinstance(bounding, ScenarioBounding)
    solve(problem, method=Method(bounding=bounding))
    assert bounding.evaluated
    assert not copy.deepcopy(bounding).evaluated


def test_the_exact_relaxation_is_that_of_column_generation():
    problem = decompose(two_stage(np.random.default_rng(16)), aggregate=False, method="dantzig-wolfe")
    result = solve(problem, relaxation=True)
    assert result.termination is Termination.OPTIMAL
    assert result.dual_bound == pytest.approx(result.objective)


def test_first_stages_that_violate_their_rows_are_not_evaluated():
    problem = decompose(two_stage(np.random.default_rng(5)), aggregate=False, method="dantzig-wolfe")
    bounding, f = ScenarioBounding(problem.splitting, problem.stage), problem.compact.formulation
    rows = problem.compact.blocks.of_row == -1
    width = len(problem.stage.keys)
    seen = set()
    for first in np.random.default_rng(0).integers(0, 6, (50, width)).astype(float):
        moved = (f.matrix.toarray()[rows, :width] * first).sum(axis=1)
        holds = bool((moved <= f.row_upper[rows]).all() and (moved >= f.row_lower[rows]).all())
        assert bounding.holds(first) == holds
        seen.add(holds)
    assert seen == {True, False}
