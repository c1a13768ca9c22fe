"""The compact model in HiGHS, for trees that would not end."""

from __future__ import annotations

import json

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Method, NodeLimit, Record, Termination, decompose, solve
from colgen.core.budget import Budget
from colgen.decomposition import compact_solver
from colgen.decomposition.compact_solver import SOURCE
from tests.fuzz import compacts
from tests.fuzz.templates import judge


def endless():
    """Equal blocks, an unbounded integer variable and two continuous ones each: hundreds of nodes without a proof."""
    m = pyo.ConcreteModel()
    m.k = pyo.RangeSet(1, 4)
    m.x, m.z = pyo.Var(m.k, bounds=(-5, 5)), pyo.Var(m.k, bounds=(-4, 5))
    m.n = pyo.Var(m.k, domain=pyo.Integers, bounds=(1, None))
    m.y = pyo.Var(domain=pyo.Binary)
    m.own = pyo.Constraint(m.k, rule=lambda m, k: m.z[k] >= -3)
    m.least = pyo.Constraint(expr=sum(m.x[k] + m.n[k] + 5 * m.z[k] for k in m.k) >= 4)
    m.equal = pyo.Constraint(expr=sum(-m.x[k] + 2 * m.n[k] - m.z[k] for k in m.k) - m.y == 4)
    m.total = pyo.Objective(expr=sum(m.x[k] + 3 * m.z[k] for k in m.k) + 3 * m.y, sense=pyo.maximize)
    return m


def test_it_ends_an_infinite_tree_and_its_bound_is_named(tmp_path):
    path = tmp_path / "proof.jsonl"
    result = solve(decompose(endless(), "k"), record=Record(certificate=path), stop=NodeLimit(500))
    assert result.is_optimal
    assert result.objective == pytest.approx(82)
    assert result.bound_source == SOURCE
    assert result.to_dict()["bound_source"] == SOURCE
    assert any("is trusted" in note for note in result.notes)
    assert len(result.nodes) < 100
    claims = [record["claim"] for line in path.read_text().splitlines() if "claim" in (record := json.loads(line))]
    assert [list(claim) for claim in claims] == [["trusted"]]


def test_it_runs_after_the_same_number_of_nodes_in_each_run():
    first, second = (solve(decompose(endless(), "k")) for _ in range(2))
    assert len(first.nodes) == len(second.nodes)


def test_it_does_not_run_without_heuristics():
    result = solve(decompose(endless(), "k"), method=Method(heuristics=[]), stop=NodeLimit(80))
    assert result.bound_source == "colgen"
    assert result.termination is Termination.NODE_LIMIT


def test_a_model_that_is_not_small_is_left_to_the_tree(monkeypatch):
    monkeypatch.setattr(compact_solver, "_MOST_ENTRIES", 3)
    assert decompose(endless(), "k").method().complete(10, Budget()) is None


def test_a_short_run_states_its_own_bound():
    m = endless()
    m.n.setub(2)
    m.x.fix(0)
    result = solve(decompose(m, "k"))
    assert result.is_optimal
    assert result.bound_source == "colgen"
    assert not any("trusted" in note for note in result.notes)


# --- unbounded, or without an integer solution -----------------------------------------------------------------------


def parity(even, *, bounded=False):
    """2x - 2y = side over integers: without a solution where the side is odd, though its relaxation has a ray."""
    m = pyo.ConcreteModel()
    m.b = pyo.Block([0, 1])
    for k in (0, 1):
        m.b[k].x = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, 50 if bounded else None))
        m.b[k].y = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, 50 if bounded else None))
    m.link = pyo.Constraint(expr=2 * m.b[0].x - 2 * m.b[0].y + 4 * m.b[1].x - 4 * m.b[1].y == (2 if even else 1))
    m.total = pyo.Objective(expr=m.b[0].x + m.b[0].y + m.b[1].x, sense=pyo.maximize)
    return m


def test_unboundedness_is_reported_together_with_an_answer():
    result = solve(decompose(parity(even=True)))
    assert result.termination is Termination.UNBOUNDED
    assert result.answer is not None


def test_a_program_without_an_integer_solution_is_not_called_unbounded():
    result = solve(decompose(parity(even=False)))
    assert result.termination in (Termination.UNBOUNDED_OR_INFEASIBLE, Termination.INFEASIBLE)
    alone = solve(decompose(parity(even=False)), method=Method(heuristics=[]))
    assert alone.termination is Termination.UNBOUNDED_OR_INFEASIBLE
    assert not alone.termination.is_proof
    assert alone.answer is None


def test_pyomo_receives_its_own_termination_condition():
    found = pyo.SolverFactory("colgen").solve(parity(even=True))
    assert found.solver.termination_condition == pyo.TerminationCondition.unbounded


def test_a_point_within_a_solvers_tolerance_is_not_accepted():
    """A row with side 4 had the value 3.999999333, which ended the run."""
    failure, _ = judge(compacts.draw(np.random.default_rng([27000, 298])))
    assert failure is None
