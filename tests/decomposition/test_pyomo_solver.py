"""``SolverFactory("colgen")`` on annotated models."""

import pyomo.environ as pyo
import pytest
from pyomo.opt import TerminationCondition

from colgen import InputError, compile_model, solve_complete
from tests.decomposition import models
from tests.decomposition.test_benders import two_stage


def test_a_solver_of_pyomo_solves_an_annotated_model_in_place():
    model = models.assignment(0)
    model.colgen_block = pyo.Suffix()
    for j in model.machine:
        model.colgen_block[model.room[j]] = j
    model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    found = pyo.SolverFactory("colgen").solve(model)
    assert found.solver.termination_condition == TerminationCondition.optimal
    assert pyo.check_optimal_termination(found)
    best = solve_complete(compile_model(models.assignment(0))).objective
    assert pyo.value(model.cost) == pytest.approx(best)
    assert found.problem.lower_bound == pytest.approx(best)
    assert set(model.dual) == set(model.assign.values())


def test_options_say_how_and_those_that_are_none_are_refused():
    solver = pyo.SolverFactory("colgen", by="machine")
    assert pyo.check_optimal_termination(solver.solve(models.assignment(1), timelimit=60, options={"recognize": False}))
    with pytest.raises(InputError, match="not 'threads'"):
        solver.solve(models.assignment(1), options={"threads": 3})
    with pytest.raises(InputError, match="timelimit"):
        solver.solve(models.assignment(1), timelimit=-1)


def test_a_two_stage_model_by_its_method():
    model, compact = two_stage(4), solve_complete(compile_model(two_stage(4)))
    solver = pyo.SolverFactory("colgen", by="scenario", method="benders")
    assert pyo.check_optimal_termination(solver.solve(model))
    assert pyo.value(model.cost) == pytest.approx(compact.objective)
    with pytest.raises(InputError, match="method: expected 'dantzig-wolfe' or 'benders', not 'lagrange'"):
        solver.solve(model, options={"method": "lagrange"})


def test_what_is_infeasible_is_said_so():
    model = models.assignment(1)
    model.no = pyo.Constraint(expr=sum(model.x[j, 0] for j in model.machine) == 0)
    found = pyo.SolverFactory("colgen").solve(model, options={"by": "machine"})
    assert found.solver.termination_condition == TerminationCondition.infeasible
