"""Decomposed models compared with HiGHS on the compact ones."""

import gc
import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import InfeasibleAnswerError, InputError, Termination, decompose, solve
from colgen.decomposition.decomposed import Values
from colgen.reporting.compared import solve_complete
from tests.amounts import examples
from tests.decomposition import models
from tests.decomposition.models import FAMILIES


def feasible(model):
    """Return whether a model's values satisfy all of its constraints and domains."""
    for row in model.component_data_objects(pyo.Constraint, active=True):
        body = pyo.value(row.body)
        if row.lower is not None and body < pyo.value(row.lower) - 1e-5:
            return False
        if row.upper is not None and body > pyo.value(row.upper) + 1e-5:
            return False
    for v in model.component_data_objects(pyo.Var):
        low, high = v.bounds
        if (low is not None and v.value < low - 1e-6) or (high is not None and v.value > high + 1e-6):
            return False
        if not v.is_continuous() and v.value != round(v.value):
            return False
    return True


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(examples(2, 12)))
def test_optimum_equals_that_of_the_compact_model_and_is_loaded(family, seed):
    make, by = FAMILIES[family]
    compact = solve_complete(make(seed))
    model = make(seed)
    result = solve(decompose(model, by))
    if compact.values is None:
        assert result.termination is Termination.INFEASIBLE
        return
    assert result.is_optimal
    assert result.objective == pytest.approx(compact.objective)
    assert feasible(model)
    (objective,) = model.component_data_objects(pyo.Objective)
    assert pyo.value(objective) == pytest.approx(compact.objective)


def test_duals_of_linking_constraints_are_those_of_the_root():
    model = models.assignment(0)
    model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    problem = decompose(model, "machine")
    result = solve(problem, relaxation=True)
    assert set(model.dual) == set(model.assign.values())
    # The bound is the dual value of all tasks minus the optima of the machines.
    duals = np.array([model.dual[model.assign[t]] for t in model.task])
    bound = float(duals.sum())
    for sub in problem.splitting.subproblems:
        points = np.array(list(itertools.product([0.0, 1.0], repeat=len(sub.costs))))
        fitting = points[(points @ sub.matrix.T.toarray() <= sub.row_upper).all(axis=1)]
        bound += float((fitting @ (sub.costs - sub.linking @ duals)).min())
    assert bound == pytest.approx(result.objective)


def test_a_fixed_variable_is_a_constant_and_scaling_costs_changes_nothing():
    plain, scaled = models.assignment(2), models.assignment(2)
    for model, factor in ((plain, 1.0), (scaled, 1e-8)):
        model.x[0, 1].fix(1)
        model.cost.expr = factor * model.cost.expr
    one, other = solve(decompose(plain, "machine")), solve(decompose(scaled, "machine"))
    assert one.is_optimal
    assert other.is_optimal
    assert other.objective == pytest.approx(1e-8 * one.objective)
    assert plain.x[0, 1].value == 1


def test_values_are_read_by_name():
    model = models.assignment(0)
    answer = solve(decompose(model, "machine")).answer
    assert {name for name, value in answer.items() if value} == {v.name for v in model.x.values() if v.value}
    assert np.array_equal(answer.array, [v.value for v in model.x.values()])


def test_row_tolerances_are_relative_to_the_size_of_their_terms():
    problem = decompose(models.lots(0), "item")
    answer = solve(problem).answer
    near, off = answer.array.copy(), answer.array.copy()
    idle = [
        k for k, name in enumerate(answer) if name.startswith("made") and answer[name.replace("made", "ready")] == 0
    ]
    near[idle[0]] += 1e-9  # rounding of a continuous amount where nothing is ready
    off[idle[0]] += 0.1
    assert problem.check(Values(problem.compact, near, answer.kept)) == pytest.approx(problem.check(answer))
    with pytest.raises(InfeasibleAnswerError, match=r"constraint '(setup|balance)\[\d,\d\]' has the body"):
        problem.check(Values(problem.compact, off, answer.kept))


def test_gains_that_no_solution_attains_do_not_prevent_a_proof():
    """The dual values that exclude it are 1e9 times the differences of objectives, and nearly cancel out."""
    unit = 3.719974300187675e-07
    m = pyo.ConcreteModel()
    m.block = pyo.RangeSet(0, 1)
    m.x = pyo.Var(m.block, range(2), domain=pyo.NonNegativeIntegers, bounds=(0, 3))
    m.z = pyo.Var(domain=pyo.Integers, bounds=(-2, 4))
    m.own = pyo.Constraint(expr=2 * m.x[1, 0] == 6)
    m.link = pyo.Constraint(expr=2 * m.x[0, 0] + m.x[1, 0] + 2 * m.x[1, 1] == 3)
    m.total = pyo.Objective(expr=-unit * m.x[1, 0] + 1e9 * unit * m.x[1, 1], sense=pyo.maximize)
    result = solve(decompose(m, by="block", aggregate=False))
    assert result.is_optimal
    assert result.objective == pytest.approx(-3.0 * unit)


def test_garbage_collection_continues_after_reading():
    """It is paused while a model is read, also if the model is refused."""
    model = models.assignment(0)
    decompose(model, "machine")
    assert gc.isenabled()
    with pytest.raises(InputError):
        decompose(model, "nothing")
    assert gc.isenabled()


@pytest.mark.parametrize("own", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("static", [1e-6, 1.0, 1e8])
def test_units_of_continuous_variables_do_not_change_results(own, static):
    """Variables of blocks and of no block have units that differ by up to 1e15."""

    def model(own, static):
        m = pyo.ConcreteModel()
        m.k = pyo.RangeSet(0, 1)
        m.n, m.x = pyo.Var(m.k, domain=pyo.Integers, bounds=(0, 3)), pyo.Var(m.k, bounds=(0, 7 * own))
        m.w = pyo.Var(bounds=(-2 * static, 3 * static))
        m.own = pyo.Constraint(m.k, rule=lambda m, k: 3 * m.n[k] + 2 * m.x[k] / own <= 11 + k)
        m.link = pyo.Constraint(expr=sum(m.n[k] + m.x[k] / own for k in m.k) + m.w / static <= 6.5)
        m.total = pyo.Objective(
            expr=sum((2 + k) * m.n[k] + 3 * m.x[k] / own for k in m.k) + 5 * m.w / static, sense=pyo.maximize
        )
        return m

    right, m = solve(decompose(model(1, 1), "k")), model(own, static)
    result = solve(decompose(m, "k"))
    assert result.is_optimal
    assert result.objective == pytest.approx(right.objective)
    assert pyo.value(m.total) == pytest.approx(result.objective)
    assert feasible(m)
