"""Programs with many right-hand sides from one basis, compared with scipy."""

import numpy as np
import pytest
from scipy import optimize, sparse

from colgen.solvers.linear.right_hand_sides import FAILED, INFEASIBLE, OPTIMAL, UNCHANGED, invert, reoptimize


def solve_all(costs, matrix, bounds, limit=1000):
    """Solve all programs from the basis of row variables, which is dual feasible if costs fit the bounds."""
    rows, columns = matrix.shape
    count, size = len(bounds[2]), rows + columns
    by_column = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data
    position = np.append(np.full(columns, -1), np.arange(rows))
    at_upper = np.append(costs < 0.0, np.zeros(rows, dtype=bool))
    start = np.arange(columns, size), position, at_upper, np.append(costs, np.zeros(rows))
    state = tuple(array.copy() for array in start)
    results = (
        np.full(count, -1),
        np.zeros((count, columns)),
        np.zeros((count, rows)),
        np.zeros((count, rows), dtype=np.int64),
        np.zeros((count, size), dtype=bool),
    )
    work = np.zeros(size), np.zeros(rows), np.zeros(rows), np.zeros(size)
    inverses = -np.eye(rows), np.empty((rows, rows))
    reoptimize(by_column, bounds, np.arange(count), start, state, inverses, limit, work, results)
    return results


def drawn(seed, rows=7, columns=15, count=25):
    rng = np.random.default_rng(seed)
    matrix = sparse.csc_array(np.where(rng.random((rows, columns)) < 0.4, rng.integers(-3, 4, (rows, columns)), 0.0))
    upper = np.where(rng.random((1, columns)) < 0.5, rng.integers(1, 6, (1, columns)).astype(float), np.inf)
    costs = np.where(np.isfinite(upper[0]), rng.integers(-4, 9, columns), rng.integers(0, 9, columns)).astype(float)
    low, kinds = rng.integers(-5, 3, (count, rows)).astype(float), rng.integers(0, 3, rows)
    high = np.select([kinds == 0, kinds == 1], [low, low + 3.0], np.inf)
    return costs, matrix, (np.zeros((1, columns)), upper, low, high)


@pytest.mark.parametrize("seed", range(12))
def test_optima_and_infeasible_programs_are_those_of_scipy(seed):
    costs, matrix, bounds = drawn(seed)
    status, points, duals, basics, _ = solve_all(costs, matrix, bounds)
    status[status == UNCHANGED] = OPTIMAL
    dense = matrix.toarray()
    for k, (low, high) in enumerate(zip(*bounds[2:], strict=True)):
        sides = np.append(high, -low)
        held, box = np.isfinite(sides), list(zip(bounds[0][0], bounds[1][0], strict=True))
        right = optimize.linprog(costs, np.vstack([dense, -dense])[held], sides[held], bounds=box)
        assert status[k] == (OPTIMAL if right.status == 0 else INFEASIBLE)
        duals_here = duals[k]
        reduced = (costs if status[k] == OPTIMAL else 0.0) - duals_here @ dense
        ends = np.where(reduced > 0.0, bounds[0][0], bounds[1][0])
        sides = np.where(duals_here > 0.0, low, high)
        proved = reduced[abs(reduced) > 1e-9] @ ends[abs(reduced) > 1e-9]
        proved += duals_here[abs(duals_here) > 1e-9] @ sides[abs(duals_here) > 1e-9]
        if status[k] == OPTIMAL:
            assert costs @ points[k] == pytest.approx(right.fun, abs=1e-8)
            assert proved == pytest.approx(right.fun, abs=1e-8)
            square = np.hstack([dense, -np.eye(len(dense))])[:, basics[k]]
            inverse, order = np.empty(square.shape), np.empty(len(square), dtype=np.int64)
            parts = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data
            assert invert(parts, basics[k], order, inverse, np.empty(len(square))) <= 1e-9
            square = np.hstack([dense, -np.eye(len(dense))])[:, order]
            assert inverse @ square == pytest.approx(np.eye(len(square)), abs=1e-9)
        else:
            assert proved > 1e-9  # a ray


def test_singular_bases_have_no_inverse():
    matrix = np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([1.0, 2.0, 2.0, 4.0])
    assert invert(matrix, np.array([0, 1]), np.empty(2, dtype=np.int64), np.empty((2, 2)), np.empty(2)) == np.inf


def test_programs_beyond_the_limit_and_without_a_bound_fail():
    costs, matrix, bounds = drawn(0)
    assert FAILED in solve_all(costs, matrix, bounds, limit=1)[0]
    assert (
        solve_all(np.append(-1.0, costs[1:]), matrix, (bounds[0], np.full_like(bounds[1], np.inf), *bounds[2:]))[0]
        == FAILED
    ).all()
