"""Rows of one variable are bounds of blocks, and rays of blocks are found."""

import pyomo.environ as pyo
import pytest

from colgen import Record, decompose, solve
from colgen.certificate.checker import check
from tests.decomposition import models


def test_rows_of_one_variable_leave_a_knapsack(tmp_path):
    m = models.assignment(0)
    barred = [(j, t) for j in m.machine for t in m.task if (j + t) % 4 == 0]
    m.limit = pyo.Constraint(m.machine, m.task, rule=lambda m, j, t: 2 * m.x[j, t] <= (1 if (j + t) % 4 == 0 else 2))
    problem = decompose(m, "machine")
    assert [type(oracle).__name__ for oracle in problem.pricing()] == ["JoinedPricing"]
    result = solve(problem, record=Record(certificate=tmp_path / "proof.jsonl"))
    verdict = check((tmp_path / "proof.jsonl").read_text().splitlines())
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    m.limit.deactivate()
    for key in barred:
        m.x[key].fix(0)
    assert result.objective == pytest.approx(solve(decompose(m, "machine")).objective)


def test_a_ray_along_a_free_variable_is_found():
    m = pyo.ConcreteModel()
    m.k = pyo.Set(initialize=["u", "v"])
    m.x = pyo.Var(m.k, domain=pyo.Reals)
    m.y = pyo.Var(m.k, domain=pyo.Reals, bounds=(0, 1))
    m.own = pyo.Constraint(m.k, rule=lambda m, k: m.x[k] + m.y[k] <= 1)
    m.link = pyo.Constraint(expr=m.x["u"] + m.x["v"] == 0)
    m.o = pyo.Objective(expr=m.y["u"])
    assert all(sub.unbounded for sub in decompose(m, "k").splitting.subproblems)
