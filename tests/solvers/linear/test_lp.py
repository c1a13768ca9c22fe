"""The linear programs against scipy's."""

import math
import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, sparse

from colgen.solvers.linear.backends import highs as module
from colgen.solvers.linear.highs import run
from colgen.solvers.linear.lp import LinearProgram, LPStatus, SolverError
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program


@st.composite
def arrays(draw):
    """``maximize, matrix, costs, lower, upper, row_lower, row_upper`` of a small program."""
    m, n = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    matrix = rng.integers(-2, 5, (m, n)) * rng.integers(0, 2, (m, n)).astype(float)
    costs = rng.integers(-5, 10, n).astype(float)
    lower = rng.choice([0.0, -2.0, -math.inf], n, p=[0.7, 0.2, 0.1])
    upper = rng.choice([math.inf, 3.0], n)
    row_lower = rng.integers(-2, 6, m).astype(float)
    row_upper = row_lower + rng.integers(0, 5, m)
    kind = rng.integers(0, 3, m)
    row_lower[kind == 1], row_upper[kind == 2] = -math.inf, math.inf
    return draw(st.booleans()), matrix, costs, lower, upper, row_lower, row_upper


def scipy_solves(problem, integer=None):
    maximize, matrix, costs, lower, upper, row_lower, row_upper = problem
    sign = -1 if maximize else 1
    answer = optimize.milp(
        sign * costs,
        constraints=optimize.LinearConstraint(matrix, row_lower, row_upper),
        bounds=optimize.Bounds(lower, upper),
        integrality=np.zeros(len(costs)) if integer is None else integer.astype(int),
        options={"mip_rel_gap": 0.0},
    )
    return answer.status, sign * answer.fun if answer.status == 0 else math.nan


STATUS = {0: {LPStatus.OPTIMAL}, 2: {LPStatus.INFEASIBLE}, 3: {LPStatus.UNBOUNDED}}
STATUS[4] = STATUS[2] | STATUS[3]  # scipy cannot distinguish the two


def program(problem, offset=0.0):
    maximize, matrix, *rest = problem
    return LinearProgram(Program(maximize, sparse.csc_array(matrix), *rest, offset))


@given(arrays())
def test_status_and_optimum(problem):
    solved, (status, optimum) = program(problem, offset=7.0).solve(), scipy_solves(problem)
    assert solved.status in STATUS[status]
    if status == 0:
        assert solved.objective == pytest.approx(optimum + 7)


@given(arrays())
def test_duals_in_both_senses(problem):
    maximize, matrix, costs, lower, upper, row_lower, row_upper = problem
    solved = program(problem).solve()
    assume(solved.status is LPStatus.OPTIMAL)
    assert solved.reduced_costs == pytest.approx(costs - matrix.T @ solved.duals, abs=1e-7)
    # Strong duality: π pays for the sides, reduced costs for the bounds, each on the side that binds.
    sign = -1 if maximize else 1

    def pays(multipliers, low, high):
        sides = np.where(sign * multipliers > 0, low, high)
        return sum(p * s for p, s in zip(multipliers, sides, strict=True) if abs(p) > 1e-9)

    dual = pays(solved.duals, row_lower, row_upper) + pays(solved.reduced_costs, lower, upper)
    assert dual == pytest.approx(solved.objective, abs=1e-6)


@given(arrays(), st.booleans())
def test_mixed_integer(problem, mixed):
    maximize, matrix, costs, lower, upper, row_lower, row_upper = problem
    lower = np.maximum(lower, -20.0)  # integer variables without bounds on both sides may keep a solver busy forever
    upper = np.minimum(upper, 20.0)
    integer = np.arange(len(costs)) % 2 == 0 if mixed else np.ones(len(costs), dtype=bool)
    data = (maximize, matrix, costs, lower, upper, row_lower, row_upper)
    status, optimum = scipy_solves(data, integer)
    found = solve_mip(Program(maximize, sparse.csc_array(matrix), *data[2:], offset=1.0), integer)
    assert found.status in STATUS[status]
    if status == 0:
        assert found.objective == pytest.approx(optimum + 1)
        assert found.bound == pytest.approx(optimum + 1)
        assert found.values[integer] == pytest.approx(np.round(found.values[integer]), abs=1e-6)
        assert costs @ found.values + 1 == pytest.approx(found.objective)
    else:
        assert found.values is None
        assert found.objective == (-math.inf if maximize else math.inf)
    # The program itself stays linear.
    lp = program(data)
    before = lp.solve()
    again = lp.solve_mip(integer)
    assert again.status is found.status
    assert lp.solve().objective == pytest.approx(before.objective, nan_ok=True)


@given(arrays(), arrays())
def test_growing_equals_building(first, second):
    """Columns and rows appended in batches, sides, bounds and costs changed: as if built in one piece."""
    maximize, matrix, costs, lower, upper, row_lower, row_upper = first
    m, n = matrix.shape
    lp = LinearProgram(
        Program(
            maximize, sparse.csc_array(matrix[:1, :1]), costs[:1], lower[:1], upper[:1], row_lower[:1], row_upper[:1]
        ),
    )
    lp.solve()
    rest = sparse.csc_array(matrix[:1, 1:])
    lp.add_columns(costs[1:], lower[1:], upper[1:], rest.indptr, rest.indices, rest.data.astype(float))
    lp.solve()
    below = sparse.csr_array(matrix[1:])
    lp.add_rows(row_lower[1:], row_upper[1:], below.indptr, below.indices, below.data.astype(float))
    assert (lp.num_rows, lp.num_columns) == (m, n)
    solved, (status, optimum) = lp.solve(), scipy_solves(first)
    assert solved.status in STATUS[status]
    if status == 0:
        assert solved.objective == pytest.approx(optimum)

    k = min(n, len(second[2]))
    costs, lower, upper = costs.copy(), lower.copy(), upper.copy()
    costs[:k], lower[:k], upper[:k] = second[2][:k], second[3][:k], second[4][:k]
    where = np.arange(k)
    lp.change_objective(costs, 3.0)
    lp.change_bounds(where, lower[:k], upper[:k])
    lp.change_row_bounds(np.array([0]), np.array([-math.inf]), np.array([math.inf]))
    row_lower, row_upper = row_lower.copy(), row_upper.copy()
    row_lower[0], row_upper[0] = -math.inf, math.inf
    status, optimum = scipy_solves((maximize, matrix, costs, lower, upper, row_lower, row_upper))
    solved = lp.solve()
    assert solved.status in STATUS[status]
    if status == 0:
        assert solved.objective == pytest.approx(optimum + 3)


def covering(n=30, seed=0, maximize=False):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 3, (n, 3 * n)).astype(float)
    costs = rng.uniform(1, 5, 3 * n)
    zero, inf = np.zeros(3 * n), np.full(3 * n, math.inf)
    return maximize, matrix, -costs if maximize else costs, zero, inf, np.full(n, 10.0), np.full(n, math.inf)


def test_second_solve_starts_from_the_basis():
    lp = program(covering())
    first = lp.solve()
    assert lp.simplex_iterations > 0
    assert lp.solve().objective == first.objective
    assert lp.simplex_iterations == 0


def test_deleting_columns_outside_the_basis():
    lp = program(covering())
    first = lp.solve()
    lp.delete_columns(np.flatnonzero(~lp.basic_columns()))
    again = lp.solve()
    assert again.objective == pytest.approx(first.objective)
    assert lp.simplex_iterations == 0
    assert len(again.values) == lp.num_columns


def test_basis_set_after_growing():
    lp = program(covering())
    first = lp.solve()
    basis = lp.basis()
    lp.change_bounds(np.arange(5), np.full(5, 2.0), np.full(5, math.inf))
    assert lp.solve().objective > first.objective
    lp.change_bounds(np.arange(5), np.zeros(5), np.full(5, math.inf))
    dear = np.array([1e3])
    lp.add_columns(dear, np.zeros(1), np.full(1, math.inf), np.array([0, 1]), np.array([0]), np.ones(1))
    lp.add_rows(np.array([-math.inf]), np.array([1e6]), np.array([0, 1]), np.array([0]), np.ones(1))
    lp.set_basis(basis)
    assert lp.solve().objective == pytest.approx(first.objective)
    assert lp.simplex_iterations == 0


def test_time_limit():
    lp = program(covering(n=200))
    assert lp.solve(time_limit=0.0).status is LPStatus.LIMIT
    # The limit is one for each solve, not for the program's life.
    assert lp.solve(time_limit=60.0).status is LPStatus.OPTIMAL
    found = solve_mip(Program(*with_sparse(covering(n=100, seed=1))), np.ones(300, dtype=bool), time_limit=0.0)
    assert found.status is LPStatus.LIMIT


def test_a_long_program_is_taken_up_once_and_can_be_stopped_all_the_same(monkeypatch):
    runs, optimum = [], program(covering(n=150)).solve().objective

    def counted(highs, *way):
        runs.append(len(way))
        return run(highs, *way)

    monkeypatch.setattr(module, "run", counted)
    monkeypatch.setattr(module, "_SLICE", 1e-6)  # every program is long
    lp = program(covering(n=150))
    assert lp.solve(stopped=lambda: False).objective == pytest.approx(optimum)
    assert runs == [0, 1]
    asked = []

    def second_time():
        asked.append(True)
        return len(asked) > 1

    far = program(covering(n=600, seed=1))
    assert far.solve(stopped=second_time).status in (LPStatus.LIMIT, LPStatus.OPTIMAL)
    assert far.solve(time_limit=1e-3, stopped=lambda: False).status is LPStatus.LIMIT


def partitioning(seed, rows=12, columns=60, equal=True):
    """A degenerate set partitioning or covering program, with artificial columns and equal rows."""
    rng = np.random.default_rng(seed)
    matrix = (rng.random((rows, columns)) < 0.25).astype(float)
    matrix[rows // 2 :] = matrix[: rows - rows // 2]  # each of these rows equals another
    matrix = np.hstack([matrix, np.eye(rows)])
    costs = np.concatenate([rng.integers(1, 4, columns), np.full(rows, 50)]).astype(float)
    n = len(costs)
    upper = np.ones(rows) if equal else np.full(rows, math.inf)
    return False, matrix, costs, np.zeros(n), np.full(n, math.inf), np.ones(rows), upper


def every_run_is_long(monkeypatch):
    monkeypatch.setattr(module, "_SLICE", 1e-6)
    monkeypatch.setattr(module, "_LEAST_STEPS", 2)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("equal", [True, False])
def test_interior_point_method_ends_in_an_optimal_basis(monkeypatch, seed, equal):
    every_run_is_long(monkeypatch)
    maximize, matrix, costs, lower, upper, row_lower, row_upper = partitioning(seed, equal=equal)
    first = np.r_[0:20, 60:72]
    lp = program((maximize, matrix[:, first], costs[first], lower[first], upper[first], row_lower, row_upper))
    used = set()
    for chosen in (range(20, 40), range(40, 60)):
        lp.solve(stopped=lambda: False)
        used.add(lp.backend.highs.getInfo().ipm_iteration_count > 0)
        added = sparse.csc_array(matrix[:, list(chosen)])
        lp.add_columns(
            costs[list(chosen)], np.zeros(20), np.full(20, math.inf), added.indptr, added.indices, added.data
        )
    found = lp.solve(stopped=lambda: False)
    assert True in used
    assert found.objective == pytest.approx(scipy_solves(partitioning(seed, equal=equal))[1], abs=1e-9)
    assert lp.basic_columns().sum() <= len(matrix)
    order = np.r_[0:20, 60:72, 20:60]
    reduced = costs[order] - found.duals @ matrix[:, order]
    assert reduced == pytest.approx(found.reduced_costs, abs=1e-8)
    assert reduced.min() >= -1e-8
    assert found.duals @ row_lower == pytest.approx(found.objective, abs=1e-8)
    assert lp.solve(stopped=lambda: False).objective == pytest.approx(found.objective, abs=1e-9)
    assert lp.simplex_iterations == 0  # its basis is that of the optimum


def test_simplex_method_continues_where_the_interior_point_method_fails(monkeypatch):
    every_run_is_long(monkeypatch)
    solvers = []

    def fails(highs, *way):
        solvers.append(highs.getOptionValue("solver")[1])
        return None if solvers[-1] == "ipx" else run(highs, *way)

    monkeypatch.setattr(module, "run", fails)
    lp, optimum = program(partitioning(0)), scipy_solves(partitioning(0))[1]
    before = lp.backend.highs.getOptionValue("solver")[1]
    assert lp.solve(stopped=lambda: False).objective == pytest.approx(optimum, abs=1e-9)
    assert solvers == [before, "ipx", before]
    lp.backend.forget()  # the next long run leaves it out, the one after tries it again
    assert lp.solve(stopped=lambda: False).objective == pytest.approx(optimum, abs=1e-9)
    assert solvers[3:] == [before, before]
    lp.backend.forget()
    lp.solve(stopped=lambda: False)
    assert "ipx" in solvers[5:]


def test_the_simplex_method_does_not_go_on_forever(monkeypatch):
    """On an infeasible program of 1,599 rows it did not end in its last try."""
    every_run_is_long(monkeypatch)
    monkeypatch.setattr(module, "_MOST_STEPS", 0)
    monkeypatch.setattr(module.InteriorTrials, "next", lambda self: False)
    lp = program(partitioning(0))
    with pytest.raises(SolverError):
        lp.solve(stopped=lambda: False)
    monkeypatch.undo()
    assert lp.solve(stopped=lambda: False).objective == pytest.approx(scipy_solves(partitioning(0))[1], abs=1e-9)


def test_a_stated_solver_is_used_for_all_runs(monkeypatch):
    every_run_is_long(monkeypatch)
    data = partitioning(1)
    lp = LinearProgram(Program(*with_sparse(data)), options={"solver": "simplex"})
    assert lp.solve(stopped=lambda: False).objective == pytest.approx(scipy_solves(data)[1], abs=1e-9)
    assert lp.backend.highs.getInfo().ipm_iteration_count <= 0


def test_no_clock_decides_in_which_of_its_solutions_a_program_ends():
    """A run with a time limit would resume at another basis on a slow machine."""
    lp = program(covering(n=20))
    assert lp.solve(stopped=lambda: False).status is LPStatus.OPTIMAL
    assert lp._backend.highs.getOptionValue("time_limit")[1] == math.inf


def with_sparse(problem):
    return problem[0], sparse.csc_array(problem[1]), *problem[2:]


def test_start_of_a_mixed_integer_program():
    data = covering(n=8)
    lp = program(data)
    integer = np.ones(24, dtype=bool)
    best = lp.solve_mip(integer)
    again = lp.solve_mip(integer, start=np.round(best.values))
    assert again.objective == pytest.approx(best.objective)
    # A start that is not feasible does no harm, and upper bounds can be replaced.
    assert lp.solve_mip(integer, start=np.zeros(24)).objective == pytest.approx(best.objective)
    upper = np.full(24, math.inf)
    upper[best.values > 0.5] = 0.0
    assert lp.solve_mip(integer, upper=upper).objective > best.objective


def test_empty_program():
    empty = np.zeros(0)
    lp = LinearProgram(Program(False, sparse.csc_array((0, 0)), empty, empty, empty, empty, empty, 5.0))
    assert lp.solve().objective == 5.0
    one = np.ones(1)
    lp = LinearProgram(Program(False, sparse.csc_array((1, 0)), empty, empty, empty, one, one))
    assert lp.solve().status is LPStatus.INFEASIBLE


def test_wrong_numbers_are_refused():
    maximize, matrix, costs, *rest = covering(n=3)
    for wrong in (math.nan, math.inf):
        bad = costs.copy()
        bad[0] = wrong
        with pytest.raises(SolverError):
            LinearProgram(Program(maximize, sparse.csc_array(matrix), bad, *rest)).solve()
    lp = program(covering(n=3))
    with pytest.raises(SolverError):
        lp.change_bounds(np.array([99]), np.zeros(1), np.ones(1))


# --- dual values from the interior -----------------------------------------------------------------------------------


def pays(duals, reduced_costs, problem):
    """The dual objective: what dual values pay for the sides, and reduced costs for the bounds."""
    maximize, _, _, lower, upper, row_lower, row_upper = problem
    sign, total = -1.0 if maximize else 1.0, 0.0
    for values, low, high in ((duals, row_lower, row_upper), (reduced_costs, lower, upper)):
        sides = np.where(sign * values > 0.0, low, high)
        total += sum(v * side for v, side in zip(values, sides, strict=True) if abs(v) > 1e-6)
    return total


@given(arrays())
def test_interior_duals_are_optimal(problem):
    _, matrix, costs, *_ = problem
    lp = program(problem, offset=3.0)
    solved = lp.solve()
    assume(solved.status is LPStatus.OPTIMAL)
    duals = lp.interior_duals()
    assume(duals is not None)
    assert len(duals) == len(matrix)
    assert pays(duals, costs - matrix.T @ duals, problem) == pytest.approx(solved.objective - 3.0, abs=1e-4)
    # The program and its basis stay as they are.
    again = lp.solve()
    assert lp.simplex_iterations == 0
    assert again.objective == solved.objective
    assert again.duals.tolist() == solved.duals.tolist()


@pytest.mark.parametrize("maximize", [False, True])
def test_interior_duals_lie_in_the_middle(maximize):
    """One column covers two rows at cost 2: any dual values that sum to 2 are optimal, if columns of 1.8 limit them."""
    sign = -1.0 if maximize else 1.0
    lp = LinearProgram(
        Program(
            maximize,
            sparse.csc_array(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])),
            sign * np.array([2.0, 1.8, 1.8]),
            np.zeros(3),
            np.full(3, math.inf),
            np.ones(2),
            np.ones(2),
        ),
    )
    corner = sorted(np.abs(lp.solve().duals))
    assert corner == pytest.approx([0.2, 1.8])
    assert sign * lp.interior_duals() == pytest.approx([1.0, 1.0], abs=0.2)
    lp.solve()
    assert lp.simplex_iterations == 0


def test_no_interior_duals_without_time_or_optimum():
    infeasible = LinearProgram(
        Program(
            False,
            sparse.csc_array(np.ones((1, 1))),
            np.ones(1),
            np.zeros(1),
            np.ones(1),
            np.array([2.0]),
            np.array([2.0]),
        )
    )
    duals = infeasible.interior_duals()
    assert duals is None or len(duals) == 1
    duals = infeasible.interior_duals(time_limit=0.0)
    assert duals is None or len(duals) == 1


def test_a_diverging_interior_point_method_is_stopped():
    """With a penalty IPX repeats its last step forever without a limit."""
    lp = LinearProgram(
        Program(
            False,
            sparse.csc_array(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])),
            np.array([1e9, -1.7]),
            np.zeros(2),
            np.full(2, math.inf),
            np.array([-math.inf, -math.inf, 1.0]),
            np.array([1.0, 1.5, math.inf]),
        ),
    )
    lp.solve()
    started = time.monotonic()
    duals = lp.interior_duals(time_limit=10.0)
    assert time.monotonic() - started < 9.0
    assert duals is None or len(duals) == 3


@pytest.mark.parametrize("small", [5e-17, 1e-9, 1.0])
def test_columns_of_other_sizes_bring_their_scale(small):
    """The first columns do not determine the units of HiGHS forever."""
    one = np.ones(1)
    none, free = np.empty(0), np.array([math.inf])
    lp = LinearProgram(Program(True, sparse.csc_array((1, 0)), none, none, none, -free, one))
    for cost in (small, 3.7, 1e6, 2e6):
        lp.add_columns(np.array([cost]), np.zeros(1), free, np.array([0, 1]), np.array([0]), one)
        assert lp.solve().objective == cost


@pytest.mark.parametrize("unit", [2.0**-30, 1.0, 2.0**30])
@pytest.mark.parametrize("penalty", [1e3, 1e6, 1e12])
def test_penalties_that_nothing_pays_do_not_set_the_scale(unit, penalty):
    """Linear and mixed-integer programs find a small gain despite large costs that no optimum uses."""
    costs = unit * np.array([-penalty, -penalty, 1.5, 1.2])
    arrays = (sparse.csc_array(np.ones((1, 4))), costs, np.zeros(4), np.full(4, math.inf), np.full(1, -math.inf))
    solved = LinearProgram(Program(True, *arrays, np.full(1, 3.0))).solve()
    assert (solved.objective, solved.duals[0]) == (4.5 * unit, 1.5 * unit)
    assert solve_mip(Program(True, *arrays, np.full(1, 3.0)), np.ones(4, dtype=bool)).objective == 4.5 * unit


@pytest.mark.parametrize("ever", [False, True])
def test_a_scale_that_cannot_be_solved_ends_no_run(monkeypatch, ever):
    """With penalties, dual values may be 1e11 times the costs in the solution, and HiGHS fails ("unknown").

    The other method is then tried from a fresh start.  If it fails too, the optimum at the scale of the penalties is
    returned.
    """
    whole = module.HighsBackend.run

    def fails(self, by_dual, *how):
        if max(self.program().col_cost_) > 2.0**21 and (ever or not by_dual):
            return None
        return whole(self, by_dual, *how)

    monkeypatch.setattr(module.HighsBackend, "run", fails)
    matrix = np.hstack([np.eye(4), np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 1, 1]])])
    costs = np.array([0.0] * 4 + [5e-9, 1e3, 2e3, 4e-9])
    upper = np.array([0.0] * 4 + [math.inf] * 4)
    lp = LinearProgram(Program(False, sparse.csc_array(matrix), costs, np.zeros(8), upper, np.ones(4), np.ones(4)))
    for _ in range(2):
        solved = lp.solve()
        assert (solved.status, solved.objective) == (LPStatus.OPTIMAL, 5e-9)
        assert solved.values.tolist() == [0.0] * 4 + [1.0, 0.0, 0.0, 0.0]
        assert (lp.cost_scale > 1e-6) is ever


def test_an_unbounded_program_with_a_penalty_is_not_optimal():
    """The cost of the unbounded column is negligible at the scale of the penalty, but not at that of other costs."""
    one, free = np.ones(1), np.full(1, math.inf)
    matrix = sparse.csc_array(np.array([[2.0]]))
    lp = LinearProgram(
        Program(True, matrix, np.array([-1e6]), np.zeros(1), free, np.full(1, -math.inf), np.full(1, 3.0))
    )
    assert lp.solve().status is LPStatus.OPTIMAL
    lp.add_columns(np.array([0.0016]), np.zeros(1), free, np.array([0, 1]), np.array([0]), 3.0 * one)
    lp.add_columns(np.array([0.0004]), np.zeros(1), free, np.zeros(2, dtype=int), np.zeros(0, dtype=int), np.zeros(0))
    assert lp.solve().status is LPStatus.UNBOUNDED


@given(arrays(), st.integers(-30, 30), st.integers(-30, 30))
def test_units_change_nothing(problem, of_costs, of_rows):
    """Costs and rows multiplied by powers of two give the same values, and duals in the new units, to the last bit."""
    maximize, matrix, costs, lower, upper, row_lower, row_upper = problem
    before = program(problem).solve()
    unit, size = 2.0**of_costs, 2.0**of_rows
    after = program((maximize, matrix * size, costs * unit, lower, upper, row_lower * size, row_upper * size)).solve()
    assert after.status is before.status
    if before.status is LPStatus.OPTIMAL:
        assert after.values.tolist() == before.values.tolist()
        assert after.objective == before.objective * unit
        assert (after.duals * size).tolist() == (before.duals * unit).tolist()


def test_a_basis_that_is_still_there_need_not_be_set():
    """After columns are appended the saved basis is still the current one: restoring it changes nothing."""
    lp = LinearProgram(
        Program(
            False,
            sparse.csc_array(np.eye(2)),
            np.ones(2),
            np.zeros(2),
            np.full(2, np.inf),
            np.array([3.0, 4.0]),
            np.full(2, np.inf),
        ),
    )
    assert lp.solve().objective == 7.0
    basis = lp.basis()
    lp.add_columns(np.array([0.5]), np.zeros(1), np.full(1, np.inf), np.array([0, 1]), np.array([1]), np.ones(1))
    lp.set_basis(basis)
    assert lp.solve().objective == 5.0
    lp.set_basis(basis)  # another one by now: the new column leaves it
    assert lp.solve().objective == 5.0
    assert lp.simplex_iterations > 0
    lp.set_basis(lp.basis())
    lp.solve()
    assert lp.simplex_iterations == 0


@pytest.mark.parametrize("row", [-1, 3])
def test_entries_in_rows_that_are_not_there(row):
    lp = program(covering())
    with pytest.raises(SolverError, match="outside its"):
        lp.add_columns(np.ones(1), np.zeros(1), np.ones(1), np.array([0, 1]), np.array([row * lp.num_rows]), np.ones(1))


def test_a_program_that_fails_at_the_scale_of_other_costs_is_solved_at_its_own():
    """Some costs are rounding errors: at their scale the simplex methods fail."""
    matrix = sparse.csc_array(
        np.array([[0, -1, 0, 0, -1], [1, 1, 0, -1, 0], [-1, 0, -1, 0, 1], [0, 0, 1000, 1000, 0]], dtype=float)
    )
    left = 2.0**-55
    costs = np.array([0.28571428571428586, -2.0 * left, -left, -left, 2.0 * left - 0.28571428571428586])
    bounds = np.array([0.0, 0.0, -1.0, 0.0, 0.0]), np.array([3.0, 0.0, 0.0, 1.0, 1.0])
    side = np.array([-1.0, 0.0, 0.0, 1000.0])
    program = LinearProgram(Program(False, matrix, costs, *bounds, side, side), scale=left)
    found = program.solve()
    assert found.status is LPStatus.OPTIMAL
    assert matrix @ found.values == pytest.approx(side)
