"""``SolverFactory("colgen")`` on annotated models."""

import pyomo.environ as pyo
import pytest
from pyomo.core.expr.visitor import identify_variables
from pyomo.opt import SolverStatus, TerminationCondition
from pyomo.solvers.tests.models.base import all_models

from colgen import InputError
from colgen.model.rows import compile_model
from colgen.reporting.compared import solve_complete
from tests.decomposition import models
from tests.decomposition.benders.test_template import two_stage


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


def test_options_apply_and_unknown_ones_are_refused():
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


def test_infeasible_models_are_reported():
    model = models.assignment(1)
    model.no = pyo.Constraint(expr=sum(model.x[j, 0] for j in model.machine) == 0)
    found = pyo.SolverFactory("colgen").solve(model, options={"by": "machine"})
    assert found.solver.termination_condition == TerminationCondition.infeasible


def two_blocks(least=2.0):
    m = pyo.ConcreteModel()
    m.k = pyo.RangeSet(0, 1)
    m.x, m.y = pyo.Var(m.k, domain=pyo.Binary), pyo.Var(m.k, bounds=(0, 1))
    m.own = pyo.Constraint(m.k, rule=lambda m, k: 2 * m.x[k] + 3 * m.y[k] <= 4)
    m.link = pyo.Constraint(expr=sum(m.x[k] + m.y[k] for k in m.k) >= least)
    m.cost = pyo.Objective(expr=sum((k + 1) * m.x[k] + (3 - k) * m.y[k] for k in m.k))
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def test_misspelt_options_and_arguments_are_refused_wherever_they_are_given():
    with pytest.raises(InputError, match="not 'time_limt'; did you mean 'time_limit'"):
        pyo.SolverFactory("colgen", by="k", time_limt=5).solve(two_blocks())
    with pytest.raises(InputError, match="did you mean 'mipgap'"):
        pyo.SolverFactory("colgen", by="k", options={"mip_gap": 0.1}).options["by"]
    solver = pyo.SolverFactory("colgen", by="k")
    solver.options["metod"] = "benders"
    with pytest.raises(InputError, match="did you mean 'method'"):
        solver.solve(two_blocks())
    with pytest.raises(InputError, match="solver_io: expected None or 'python'"):
        pyo.SolverFactory("colgen", solver_io="lp").solve(two_blocks())
    solver = pyo.SolverFactory("colgen", by="k")
    with pytest.raises(InputError, match="argument 'tme'"):
        solver.solve(two_blocks(), tme=3)
    with pytest.raises(InputError, match="suffixes: expected dual, not 'rc'"):
        solver.solve(two_blocks(), suffixes=["dual", "rc"])


def test_dual_values_of_an_earlier_run_are_removed():
    m, solver = two_blocks(), pyo.SolverFactory("colgen", by="k")
    solver.solve(m)
    assert set(m.dual) == {m.link}
    m.link.set_value(sum(m.x[k] for k in m.k) >= 3)
    assert solver.solve(m).solver.termination_condition == TerminationCondition.infeasible
    assert not len(m.dual)


def test_results_contain_the_model_size():
    found = pyo.SolverFactory("colgen", by="k").solve(two_blocks()).problem
    assert (found.number_of_constraints, found.number_of_variables, found.number_of_nonzeros) == (3, 4, 8)
    assert (found.number_of_binary_variables, found.number_of_continuous_variables) == (2, 2)
    assert (found.number_of_integer_variables, found.number_of_objectives) == (0, 1)


def test_common_arguments_of_pyomo_solvers(capsys):
    solver = pyo.SolverFactory("colgen", by="k", solver_io="python")
    for more in ({"keepfiles": True}, {"symbolic_solver_labels": True}, {"suffixes": ["dual"]}, {"suffixes": "dual"}):
        m = two_blocks()
        assert pyo.check_optimal_termination(solver.solve(m, tee=False, timelimit=60, **more))
        assert pyo.value(m.cost) == pytest.approx(3.0)
    solver.solve(two_blocks(), report_timing=True)
    assert "seconds required for solver" in capsys.readouterr().out
    assert solver.warm_start_capable()


@pytest.mark.parametrize("method", ["dantzig-wolfe", "benders"])
def test_solutions_may_be_loaded_later(method):
    model = two_blocks() if method == "dantzig-wolfe" else two_stage(4)
    model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT) if model.component("dual") is None else model.dual
    options = {"by": "k"} if method == "dantzig-wolfe" else {"by": "scenario", "method": method}
    found = pyo.SolverFactory("colgen", **options).solve(model, load_solutions=False)
    assert all(variable.value is None for variable in model.component_data_objects(pyo.Var))
    assert not len(model.dual)
    model.solutions.load_from(found)
    other = model.clone()
    pyo.SolverFactory("colgen", **options).solve(other)
    assert pyo.value(model.cost) == pytest.approx(pyo.value(other.cost))
    assert len(model.dual) == len(other.dual)


@pytest.mark.parametrize("method", ["dantzig-wolfe", "benders"])
def test_a_warm_start_is_the_first_answer(method):
    model = two_blocks() if method == "dantzig-wolfe" else two_stage(4)
    options = {"by": "k"} if method == "dantzig-wolfe" else {"by": "scenario", "method": method}
    solver = pyo.SolverFactory("colgen", **options)
    solver.solve(model)
    best = pyo.value(model.cost)
    assert pyo.check_optimal_termination(solver.solve(model, warmstart=True))
    assert pyo.value(model.cost) == pytest.approx(best)
    for variable in model.component_data_objects(pyo.Var):
        variable.set_value(1e3, skip_validation=True)  # no answer at all
    assert pyo.check_optimal_termination(solver.solve(model, warmstart=True))
    assert pyo.value(model.cost) == pytest.approx(best)


@pytest.mark.parametrize("label", [[1], {1}, ([1],)])
def test_unhashable_names_of_blocks_are_refused(label):
    m = two_blocks()
    m.colgen_block = pyo.Suffix()
    for k in m.k:
        m.colgen_block[m.own[k]] = label
    with pytest.raises(InputError, match="named by numbers"):
        pyo.SolverFactory("colgen").solve(m)
    with pytest.raises(InputError, match="named by numbers"):
        pyo.SolverFactory("colgen", by=lambda row: label).solve(two_blocks())
    m.colgen_block.clear()
    m.colgen_block[None] = 4
    with pytest.raises(InputError, match="has a default"):
        pyo.SolverFactory("colgen").solve(m)


_LINEAR = sorted(
    name
    for name, model in all_models().items()
    if not name.endswith("_kernel") and set(model.capabilities) <= {"linear", "integer"}
)


@pytest.mark.parametrize("load", [True, False])
@pytest.mark.parametrize("name", _LINEAR)
def test_models_that_pyomo_tests_its_solvers_on(name, load):
    """All rows form one block; models without rows have none."""
    case, other = all_models(name)(), all_models(name)()
    for each in (case, other):
        each.generate_model()
        each.warmstart_model()
    model, truth = case.model, other.model
    solver = pyo.SolverFactory("colgen", by=lambda row: 0)
    if name in ("LP_unbounded", "MILP_unbounded"):
        with pytest.raises(InputError, match="blocks"):
            solver.solve(model)
        return
    found = solver.solve(model, load_solutions=load, warmstart=True, symbolic_solver_labels=True)
    if name != "LP_trivial_constraints":  # it looks at the names of rows in a file of the model
        case.post_solve_test_validation(None, found)
    if case.solve_should_fail:
        return
    assert found.solver.status == SolverStatus.ok
    if not load:
        model.solutions.load_from(found)
    rows = [] if name == "LP_compiled" else model.component_data_objects(pyo.Constraint, active=True)
    assert not any(variable.stale for row in rows for variable in identify_variables(row.body, include_fixed=False))
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    assert pyo.value(objective) == pytest.approx(solve_complete(compile_model(truth)).objective)
