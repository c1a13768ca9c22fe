"""Requirements of the engine on solvers of linear programs: one suite for each installed solver."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from scipy import sparse

from colgen import Method
from colgen.solvers.linear.backends.registry import NAMES, BackendError, check_backend
from colgen.solvers.linear.lp import LinearProgram, LPStatus, SolverError
from colgen.solvers.linear.program import Program
from tests.solvers.linear.test_lp import STATUS, arrays, covering, pays, scipy_solves

quick = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(params=NAMES)
def backend(request):
    try:
        return check_backend(request.param)
    except BackendError as refused:
        pytest.skip(str(refused))


def program(problem, backend, offset=0.0):
    maximize, matrix, *rest = problem
    return LinearProgram(Program(maximize, sparse.csc_array(matrix), *rest, offset), backend=backend)


@quick
@given(problem=arrays())
def test_status_optimum_and_signs(backend, problem):
    """Reduced costs are c - πᵀA in both senses, and dual values pay for sides and bounds: ranges, free rows and all."""
    _, matrix, costs, *_ = problem
    solved, (status, optimum) = program(problem, backend, offset=7.0).solve(), scipy_solves(problem)
    assert solved.status in STATUS[status]
    if status == 0:
        assert solved.objective == pytest.approx(optimum + 7.0)
        assert solved.objective == pytest.approx(costs @ solved.values + 7.0)
        assert solved.reduced_costs == pytest.approx(costs - matrix.T @ solved.duals, abs=1e-7)
        assert pays(solved.duals, solved.reduced_costs, problem) == pytest.approx(optimum, abs=1e-6)


@quick
@given(first=arrays(), second=arrays())
def test_growing_and_changing_equals_building(backend, first, second):
    """Columns, rows, costs, bounds and sides, one after the other with solves between."""
    maximize, matrix, costs, lower, upper, row_lower, row_upper = first
    m, n = matrix.shape
    ends = (lower[:1], upper[:1], row_lower[:1], row_upper[:1])
    lp = program((maximize, matrix[:1, :1], costs[:1], *ends), backend)
    lp.solve()
    rest = sparse.csc_array(matrix[:1, 1:])
    lp.add_columns(costs[1:], lower[1:], upper[1:], rest.indptr, rest.indices, rest.data.astype(float))
    lp.solve()
    below = sparse.csr_array(matrix[1:])
    lp.add_rows(row_lower[1:], row_upper[1:], below.indptr, below.indices, below.data.astype(float))
    assert (lp.num_rows, lp.num_columns) == (m, n)
    agrees(lp, first)

    k, r = min(n, len(second[2])), min(m, len(second[5]))
    costs, lower, upper = costs.copy(), lower.copy(), upper.copy()
    row_lower, row_upper = row_lower.copy(), row_upper.copy()
    costs[:k], lower[:k], upper[:k] = second[2][:k], second[3][:k], second[4][:k]
    row_lower[:r], row_upper[:r] = second[5][:r], second[6][:r]
    lp.change_objective(costs, 3.0)
    lp.change_bounds(np.arange(k), lower[:k], upper[:k])
    lp.change_row_bounds(np.arange(r), row_lower[:r], row_upper[:r])
    changed = (maximize, matrix, costs, lower, upper, row_lower, row_upper)
    agrees(lp, changed, 3.0)

    row_lower[0], row_upper[0] = -math.inf, math.inf
    lp.change_row_bounds(np.array([0]), row_lower[:1], row_upper[:1])
    agrees(lp, (maximize, matrix, costs, lower, upper, row_lower, row_upper), 3.0)
    if m > 1 and n > 1:
        lp.delete_rows(np.array([0]))
        lp.delete_columns(np.array([n - 1]))
        part = (costs[:-1], lower[:-1], upper[:-1], row_lower[1:], row_upper[1:])
        agrees(lp, (maximize, matrix[1:, :-1], *part), 3.0)


def agrees(lp, problem, offset=0.0):
    solved, (status, optimum) = lp.solve(), scipy_solves(problem)
    assert solved.status in STATUS[status]
    if status == 0:
        assert solved.objective == pytest.approx(optimum + offset)
        assert solved.reduced_costs == pytest.approx(problem[2] - problem[1].T @ solved.duals, abs=1e-7)


@pytest.mark.parametrize("maximize", [False, True])
def test_warm_starts(backend, maximize):
    """No iteration is repeated: at once, after deleting nonbasic columns, or from a saved basis."""
    lp = program(covering(maximize=maximize), backend)
    first = lp.solve()
    assert lp.simplex_iterations > 0
    assert lp.solve().objective == pytest.approx(first.objective)
    assert lp.simplex_iterations == 0
    lp.delete_columns(np.flatnonzero(~lp.basic_columns())[::2])
    assert lp.solve().objective == pytest.approx(first.objective)
    assert lp.simplex_iterations == 0

    basis = lp.basis()
    assert np.count_nonzero(lp.basic_columns()) == first_basics(basis)
    three = np.arange(3)
    lp.change_bounds(three, np.full(3, 2.0), np.full(3, math.inf))
    changed = lp.solve()
    assert abs(changed.objective) > abs(first.objective)
    lp.change_bounds(three, np.zeros(3), np.full(3, math.inf))
    dear = np.array([-1e3 if maximize else 1e3])
    lp.add_columns(dear, np.zeros(1), np.full(1, math.inf), np.array([0, 1]), np.array([0]), np.ones(1))
    lp.add_rows(np.array([-math.inf]), np.array([1e6]), np.array([0, 1]), np.array([0]), np.ones(1))
    lp.set_basis(basis)
    assert lp.solve().objective == pytest.approx(first.objective)
    assert lp.simplex_iterations == 0


def first_basics(basis):
    from colgen.solvers.linear.highs import basic_rows

    return len(basis.row_status) - np.count_nonzero(basic_rows(basis))


def test_a_basis_of_named_columns_and_slacks(backend):
    lp = program(covering(), backend)
    first = lp.solve()
    basis = lp.basis()
    other = program(covering(), backend)
    from colgen.solvers.linear.highs import basic_columns, basic_rows

    assert other.begin_at(basic_columns(basis), basic_rows(basis))
    assert other.solve().objective == pytest.approx(first.objective)
    assert other.simplex_iterations == 0
    assert not other.begin_at(np.zeros(90, dtype=bool), np.zeros(30, dtype=bool))


def test_ranges_bind_on_either_side(backend):
    """One row between 1 and 3: the dual value is that of the side where the objective ends, and sides can be moved."""
    one, free = np.ones(1), np.full(1, math.inf)
    for cost, value in ((1.0, 1.0), (-1.0, 3.0)):
        lp = program((False, np.ones((1, 1)), cost * one, -free, free, one, 3.0 * one), backend)
        solved = lp.solve()
        assert (solved.objective, solved.values[0], solved.duals[0]) == pytest.approx((cost * value, value, cost))
        saved = lp.basis()
        lp.change_row_bounds(np.array([0]), 2.0 * one, 2.0 * one)
        assert lp.solve().values[0] == pytest.approx(2.0)
        lp.change_row_bounds(np.array([0]), -one, 5.0 * one)
        lp.set_basis(saved)
        assert lp.solve().values[0] == pytest.approx(-1.0 if cost > 0 else 5.0)
        lp.change_row_bounds(np.array([0]), -free, free)
        assert lp.solve().status is LPStatus.UNBOUNDED


def test_infeasible_and_unbounded_programs_are_left_again(backend):
    """Requirements of the phases of a master: the program continues after a change of sides, bounds or columns."""
    one, free = np.ones(1), np.full(1, math.inf)
    lp = program((False, np.ones((1, 1)), one, np.zeros(1), one, 2.0 * one, free), backend)
    assert lp.solve().status is LPStatus.INFEASIBLE
    lp.add_columns(10.0 * one, np.zeros(1), free, np.array([0, 1]), np.array([0]), one)
    assert lp.solve().objective == pytest.approx(11.0)
    lp.change_objective(np.array([1.0, -1.0]), 0.0)
    assert lp.solve().status is LPStatus.UNBOUNDED
    lp.change_bounds(np.array([1]), np.zeros(1), np.full(1, 4.0))
    assert lp.solve().objective == pytest.approx(-4.0)
    without = lp.solve_without(np.array([1]))
    assert without.status is LPStatus.INFEASIBLE
    assert lp.solve().objective == pytest.approx(-4.0)


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**30])
def test_scaling(backend, unit):
    """Costs and rows in other units: the same values, and dual values in the new units."""
    maximize, matrix, costs, lower, upper, row_lower, row_upper = covering(n=12)
    before = program((maximize, matrix, costs, lower, upper, row_lower, row_upper), backend).solve()
    after = program((maximize, matrix * unit, costs / unit, lower, upper, row_lower * unit, row_upper), backend).solve()
    assert after.values == pytest.approx(before.values, abs=1e-9)
    assert after.objective * unit == pytest.approx(before.objective)
    assert after.duals * unit * unit == pytest.approx(before.duals, abs=1e-9)


def test_limits(backend):
    lp = program(covering(n=100), backend)
    assert lp.solve(time_limit=0.0).status is LPStatus.LIMIT
    assert lp.solve(time_limit=60.0, stopped=lambda: False).status is LPStatus.OPTIMAL


def test_empty_programs_and_wrong_indices(backend):
    empty, one = np.zeros(0), np.ones(1)
    assert (
        LinearProgram(Program(False, sparse.csc_array((0, 0)), *(empty,) * 5, 5.0), backend=backend).solve().objective
        == 5.0
    )
    lp = LinearProgram(Program(False, sparse.csc_array((1, 0)), *(empty,) * 3, one, one), backend=backend)
    assert lp.solve().status is LPStatus.INFEASIBLE
    lp.add_columns(one, 0 * one, 9 * one, np.array([0, 1]), np.array([0]), one)
    assert lp.solve().objective == pytest.approx(1.0)
    with pytest.raises(SolverError):
        lp.change_bounds(np.array([7]), 0 * one, one)


@quick
@given(problem=arrays())
def test_copies_are_of_the_program_as_it_is(backend, problem):
    """Interior dual values and integer solutions come from a copy."""
    lp = program(problem, backend)
    solved = lp.solve()
    assume(solved.status is LPStatus.OPTIMAL)
    assert lp.solve_mip(np.zeros(lp.num_columns, dtype=bool)).objective == pytest.approx(solved.objective, abs=1e-6)


def test_a_whole_run(backend):
    """Column generation, branching, cuts and deleted columns on another solver: the same optimum and bound."""
    from colgen import solve
    from colgen.problems.cutting_stock.generators import uniform
    from colgen.problems.cutting_stock.template import CuttingStock
    from tests.assignment import assignment

    plain, other = solve(assignment()), solve(assignment(), method=Method(lp=backend))
    assert (other.is_optimal, other.objective) == (True, plain.objective)
    instance = uniform(12, 5)
    for relaxation in (True, False):
        plain = solve(CuttingStock(instance), relaxation=relaxation)
        other = solve(CuttingStock(instance), relaxation=relaxation, method=Method(lp=backend, clean_up_after=2))
        assert other.termination is plain.termination
        assert other.objective == pytest.approx(plain.objective)
        assert other.dual_bound == pytest.approx(plain.dual_bound)
