"""Pools: what one run passes to another."""

import dataclasses
import pickle

import numpy as np
import pytest

from colgen import Method, TimeLimit, WarmStart, Wentges, solve
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.warm_start import Basis
from colgen.master.statement import restricted_master
from tests.assignment import Assignment, assignment
from tests.toys import CuttingStock
from tests.zoo import Partitioning


class Started(Assignment):
    def warm_start(self, budget):
        return self.start


def again(start, seed=1, kind=Started, *, method=Method(), **settings):
    problem = assignment(4, 7, seed, kind)
    problem.start = start
    return solve(problem, method=dataclasses.replace(method, heuristics=()), **settings)


def test_reduced_costs_and_basis_are_those_of_the_relaxation():
    result = solve(assignment(4, 7, 1), relaxation=True, method=Method(heuristics=(), stabilization=Wentges()))
    pool, duals = result.pool, result.certificate.duals
    assert len(pool) == len(pool.reduced_costs) == len(pool.basic) == result.columns_generated
    for column, reduced_cost in zip(pool, pool.reduced_costs, strict=True):
        own = column.cost - sum(a * duals[key] for key, a in column.coefficients.items())
        assert reduced_cost == pytest.approx(own)
        assert reduced_cost > -1e-6
    used = [column for column, _ in result.solution.columns]
    assert all(column in pool.basis.columns for column in used)
    assert [pool[k] for k in np.flatnonzero(pool.basic)] == pool.basis.columns
    assert list(pool[:2]) == [pool[0], pool[1]]
    assert repr(pool) == f"<Pool of {len(pool)} columns, {len(pool.basis.columns)} of them basic>"


@pytest.mark.parametrize("basis_only", [False, True])
def test_another_run_starts_where_this_one_ended(basis_only):
    cold = again(WarmStart(), relaxation=True)
    start = cold.warm_start(basis_only=basis_only)
    assert not start.answers  # fractional
    warm = again(start, relaxation=True)
    assert warm.is_optimal
    assert warm.objective == pytest.approx(cold.objective)
    assert len(warm.iterations) < len(cold.iterations) / 2


def test_an_answer_is_passed_on_with_its_proof():
    cold = again(WarmStart())
    warm = again(cold.warm_start())
    assert cold.is_optimal
    assert warm.is_optimal
    assert warm.objective == cold.objective
    assert warm.columns_generated < cold.columns_generated


def test_the_start_is_a_guess_for_another_instance():
    start = again(WarmStart(), seed=1).warm_start()
    other = again(dataclasses.replace(start, answers=(), columns=()), seed=2)
    assert other.is_optimal
    assert other.objective == again(WarmStart(), seed=2).objective


def test_a_run_starts_from_another_of_other_data():
    """An infeasible answer is dropped with a note if tentative, and an error otherwise."""
    first = solve(CuttingStock())
    more = CuttingStock(demands=(100, 620, 400, 211))
    cold, warm = solve(more), solve(more, start=first)
    assert warm.is_optimal
    assert warm.objective == cold.objective
    assert warm.columns_generated < cold.columns_generated
    assert "left out" in str(warm)
    assert "left out" not in str(solve(CuttingStock(), start=first))
    with pytest.raises(InfeasibleAnswerError, match="start returned an infeasible solution"):
        solve(more, start=dataclasses.replace(first.warm_start(), tentative=False))


def test_dual_values_of_unknown_rows_are_ignored():
    problem = assignment(4, 7, 1)
    master = restricted_master(problem.master())
    guess = {("assign", 2): 3.0, ("cut", "of another run"): -1.0, ("use", 0): -2.0}
    duals = master.rows.guess(guess)
    assert duals["assign", 2] == 3.0
    assert duals["use", 0] == -2.0
    assert np.count_nonzero(duals.values) == 2


def test_runs_with_cuts_and_branching_leave_a_pool_too():
    problem = Partitioning(size=9, seed=4)
    result = solve(problem, method=Method(heuristics=()), stop=TimeLimit(60.0))
    assert len(result.nodes) > 1
    assert {column.structure for column, _ in result.solution.columns} <= {column.structure for column in result.pool}
    assert np.isfinite(result.pool.reduced_costs).all()

    class Again(Partitioning):
        def warm_start(self, budget):
            return result.warm_start()

    warm = solve(Again(size=9, seed=4), method=Method(heuristics=()))
    assert warm.is_optimal
    assert warm.objective == result.objective


def test_nothing_is_basic_where_no_linear_program_was_solved(tmp_path):
    limited = solve(assignment(4, 7, 1), stop=TimeLimit(0.0))
    assert (len(limited.pool), limited.pool.basis) == (0, Basis([], [], []))
    limited.pool.save(tmp_path / "pool")
    assert solve(assignment(4, 7, 1), start=tmp_path / "pool").is_optimal
    assert solve(assignment(4, 7, 1)).pool.basic.any()


def test_a_result_is_pickled_with_its_pool():
    result = solve(assignment(4, 7, 1), method=Method(heuristics=()))
    sent = pickle.loads(pickle.dumps(result.pool))
    assert list(sent) == list(result.pool)
    assert sent.basis == result.pool.basis
    assert (sent.reduced_costs == result.pool.reduced_costs).all()


def test_the_first_linear_program_starts_at_the_basis():
    result = solve(assignment(4, 7, 1), relaxation=True, method=Method(heuristics=()))
    start = result.warm_start()
    iterations = {}
    for basis in (None, start.basis):
        master = restricted_master(assignment(4, 7, 1).master())
        master.add(list(start.columns))
        if basis is not None:
            master.node.restore(basis)
        assert master.solve().objective == pytest.approx(result.objective)
        master = restricted_master(assignment(4, 7, 1).master())
        master.add(list(start.columns))
        if basis is not None:
            master.node.restore(basis)
            master._bases.begin()
        master.lp.solve()
        iterations[basis is not None] = master.lp.simplex_iterations
    assert iterations[True] == 0 < iterations[False]


def test_a_basis_of_other_rows_is_ignored():
    start = solve(assignment(4, 7, 1), relaxation=True, method=Method(heuristics=())).warm_start()
    other = again(dataclasses.replace(start, duals=None, columns=()), seed=2)
    assert other.is_optimal
    assert other.objective == again(WarmStart(), seed=2).objective
