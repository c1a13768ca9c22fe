"""Exchanges of columns: solutions satisfy all rows, and small instances are solved to optimality."""

import itertools
import math

import numpy as np
import pytest
from scipy import sparse

from colgen.solvers.columns.exchanges import _CHUNK, _WORK, IntegerProgram, exchange
from colgen.solvers.work import work


def best_of_all(matrix, costs, lower, upper, most):
    """Return the least cost of an integer solution, by enumeration."""
    choices = itertools.product(*(range(int(m) + 1) for m in most))
    each = (np.array(x) for x in choices)
    feasible = [x for x in each if (matrix @ x >= lower - 1e-9).all() and (matrix @ x <= upper + 1e-9).all()]
    return min((float(costs @ x) for x in feasible), default=math.inf)


def drawn(seed, kind):
    rng = np.random.default_rng(seed)
    m, n = 4, 6
    matrix = rng.integers(0, 3, (m, n)).astype(float)
    costs = rng.integers(1, 5, n).astype(float)
    most = rng.integers(1, 4, n).astype(float)
    inside = np.minimum(rng.integers(0, 3, n), most)
    lower, upper = matrix @ inside, np.full(m, math.inf)
    if kind == "equations":
        upper = lower.copy()
    if kind == "packing":
        lower, upper, costs = np.full(m, -math.inf), matrix @ inside, -costs
    if kind == "mixed":
        matrix[:, ::2] *= -1.0
        lower, upper = matrix @ inside - 1.0, matrix @ inside + 1.0
        costs[::3] *= -1.0
    return matrix, costs, lower, upper, most


def search(matrix, costs, lower, upper, most, **options):
    columns = sparse.csc_array(matrix)
    given = {"target": 1e9, "step": 1.0, "steps": 20_000, **options}
    starts, rows = columns.indptr.astype(np.int64), columns.indices.astype(np.int64)
    program = IntegerProgram(starts, rows, columns.data, costs, most, lower, upper)
    return exchange(program, np.zeros(len(costs), dtype=np.int64), **given)


@pytest.mark.parametrize("kind", ["covering", "equations", "packing", "mixed"])
@pytest.mark.parametrize("seed", range(6))
def test_small_instances_are_solved_to_the_optimum(seed, kind):
    matrix, costs, lower, upper, most = drawn(seed, kind)
    found = search(matrix, costs, lower, upper, most)
    assert found is not None
    assert ((found >= 0) & (found <= most)).all()
    assert (matrix @ found >= lower - 1e-9).all()
    assert (matrix @ found <= upper + 1e-9).all()
    assert float(costs @ found) == best_of_all(matrix, costs, lower, upper, most)


def test_rows_that_cannot_hold_end_without_a_solution():
    matrix = np.array([[2.0, 2.0]])
    assert search(matrix, np.ones(2), np.array([3.0]), np.array([3.0]), np.full(2, 9.0), steps=500) is None


def test_a_solution_at_the_bound_ends_the_search():
    matrix, costs = np.eye(3), np.ones(3)
    looks = []

    def expired():
        looks.append(1)
        return False

    found = search(matrix, costs, np.ones(3), np.full(3, math.inf), np.full(3, 9.0), bound=3.0, expired=expired)
    assert found.tolist() == [1, 1, 1]
    assert len(looks) == 1


def test_the_search_ends_when_time_is_over_and_is_the_same_for_a_seed():
    matrix, costs, lower, upper, most = drawn(1, "mixed")
    assert search(matrix, costs, lower, upper, most, expired=lambda: True) is None
    first, second = (search(matrix, costs, lower, upper, most, seed=3, steps=100) for _ in range(2))
    assert (first is None and second is None) or first.tolist() == second.tolist()


def test_long_rows_have_the_clock_checked_after_few_steps_and_their_work_counted():
    size = 1 << 17
    matrix, looks, before = np.ones((1, size)), [], work()

    def expired():
        looks.append(work() - before)
        return len(looks) > 3

    search(matrix, np.ones(size), np.full(1, 3.0), np.full(1, math.inf), np.full(size, 9.0), step=0.0, expired=expired)
    steps = _CHUNK / size
    assert looks == [_WORK * steps * size * k for k in range(len(looks))]
    assert 1 < len(looks) <= 4
