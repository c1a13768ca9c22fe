"""Answers in a model's own variables."""

import dataclasses

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import InfeasibleAnswerError, InputError, decompose, solve
from colgen.decomposition.answers import Values, load_values, objective_step, recompute_objective
from colgen.decomposition.reading.compact_model import CompactModel
from tests.decomposition import models
from tests.decomposition.benders.test_template import two_stage

NONE = np.empty(0, dtype=np.int64)


def model():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, 5)), pyo.Var(bounds=(0, 2))
    m.row = pyo.Constraint(expr=m.x + 2 * m.y <= 6)
    m.cost = pyo.Objective(expr=4 * m.x + 1)
    return m


@pytest.mark.parametrize(
    ("values", "message"),
    [([6, 0], "variable 'x' is 6"), ([0.5, 0], "expected an integer"), ([5, 1], "constraint 'row' has the body 7")],
)
def test_infeasible_answers_are_refused(values, message):
    compact = CompactModel.from_pyomo(model())
    with pytest.raises(InfeasibleAnswerError, match=message):
        recompute_objective(compact, Values(compact, np.array(values, dtype=float), NONE))


def test_an_answer_is_evaluated_and_loaded():
    m = model()
    compact = CompactModel.from_pyomo(m)
    answer = Values(compact, np.array([3.0, 1.5]), NONE)
    assert (recompute_objective(compact, answer), answer["y"], len(answer)) == (13.0, 1.5, 2)
    load_values(compact.source, None)
    assert m.x.value is None
    load_values(compact.source, answer)
    assert (m.x.value, m.y.value) == (3, 1.5)
    assert objective_step(compact.formulation) == 1.0


def test_to_pyomo_loads_answer_and_dual_values():
    model = models.assignment(0)
    result = solve(decompose(model, "machine"))
    for variable in model.x.values():  # whatever has become of them
        variable.set_value(None)
    assert result.to_pyomo() is model
    assert pyo.value(model.cost) == pytest.approx(result.objective)
    assert set(model.dual) == set(model.assign.values())
    bound = sum(model.dual[row] for row in model.assign.values())
    assert bound >= result.root_bound - 1e-6  # capacities only take away from it
    plan = two_stage(4)
    result = solve(decompose(plan, "scenario", method="benders"))
    assert list(result.to_pyomo().dual) == [plan.some]


def test_to_pyomo_without_an_answer_or_a_model_is_refused():
    model = models.assignment(0)
    model.no = pyo.Constraint(expr=sum(model.x[j, 0] for j in model.machine) == 0)
    with pytest.raises(InputError, match="no answer: Proved inf"):
        solve(decompose(model, "machine")).to_pyomo()
    result = solve(decompose(models.assignment(0), "machine"))
    with pytest.raises(InputError, match=r"to_pyomo.*colgen\.decompose"):
        dataclasses.replace(result, answer=[]).to_pyomo()
    result.to_pyomo().del_component("dual")
    result.answer.compact.source.model.dual = pyo.Var()
    with pytest.raises(InputError, match="component 'dual' is not a suffix"):
        result.to_pyomo()


def test_an_answer_is_written_with_all_values(tmp_path):
    compact = CompactModel.from_pyomo(model())
    Values(compact, np.array([0.0, 0.1]), NONE).write(tmp_path / "answer.sol")
    assert (tmp_path / "answer.sol").read_text() == "=obj= 1\nx 0\ny 0.1\n"


def test_names_with_blanks_are_not_written(tmp_path):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(["a b"], bounds=(0, 1))
    m.cost = pyo.Objective(expr=m.x["a b"])
    answer = Values(CompactModel.from_pyomo(m), np.zeros(1), NONE)
    with pytest.raises(InputError, match=r"answer.sol: a .sol file cannot hold names with blanks, such as 'x\[a b\]'"):
        answer.write(tmp_path / "answer.sol")
    assert not (tmp_path / "answer.sol").exists()


@pytest.mark.parametrize(
    ("costs", "step"),
    [([2.0, 6.0], 2.0), ([0.3, 0.9], 0.3), ([1.25, 0.5], 0.25), ([0.1, 1.0 / 3.0], None), ([2.0**52, 0.1], None)],
)
def test_the_objective_step_divides_costs_of_few_decimals(costs, step):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], domain=pyo.Integers, bounds=(0, 3))
    m.cost = pyo.Objective(expr=sum(cost * m.x[k] for k, cost in enumerate(costs)))
    found = objective_step(CompactModel.from_pyomo(m).formulation)
    assert found == (None if step is None else pytest.approx(step))
    m.x[0].domain = pyo.Reals
    assert objective_step(CompactModel.from_pyomo(m).formulation) is None
