"""Mixed-integer programs in HiGHS."""

import threading
import time

import highspy
import numpy as np
import pytest
from scipy import sparse

from colgen.solvers.linear import highs
from colgen.solvers.linear.lp import LinearProgram, LPStatus
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program
from colgen.solvers.work import work
from tests.amounts import examples


@pytest.mark.timeout(60, method="thread")  # presolve handles no signals
def test_presolve_comes_to_an_end():
    matrix = [
        [0, -3, 3, -3, -2, 0],
        [0, 0, -1, -2, 1, 0],
        [-2, 2, 2, 0, -2, 0],
        [0, 0, -2, -1, -1, 0],
        [1, 0, 0, 3, 0, 1],
        [1, 1, 1, 1, 1, 0],
    ]
    found = solve_mip(
        Program(
            False,
            sparse.csc_array(np.array(matrix, dtype=float)),
            np.array([2_000_009.0, 2_000_002.0, 1_000_009.0, 1_000_008.0, 1_000_004.0, -9.0]),
            np.array([0.0, 0.0, 0.0, 0.0, 0.0, -np.inf]),
            np.array([np.inf, np.inf, np.inf, np.inf, np.inf, 3.0]),
            np.array([-8.0, -1.0, 0.0, -2.0, -np.inf, -np.inf]),
            np.array([-8.0, -1.0, 2.0, np.inf, 6.0, 3.0]),
        ),
        np.array([True, False, False, True, False, True]),
    )
    assert found.status is LPStatus.OPTIMAL
    assert found.objective == pytest.approx(3_999_987.0)


@pytest.mark.parametrize("shift", [0.0, 0.5, 0.9, -1e-11])
def test_fractional_bounds_of_integer_columns_change_nothing(shift):
    """HiGHS 1.15 calls 1 the optimum of the second program, which is 2."""
    programs = (
        ([[2, 3], [1, 1]], [-np.inf, 2.0], [11.0, 4.0], [3.0, -2.0]),
        ([[-1, 3], [1, 1]], [-np.inf, -np.inf], [5.0, 3.0], [0.0, 1.0]),
    )
    for matrix, low, high, costs in programs:
        rows = (sparse.csc_array(np.array(matrix, dtype=float)), np.array(costs))
        sides, integer = (np.array(low), np.array(high)), np.ones(2, dtype=np.bool_)
        right = solve_mip(Program(True, *rows, np.array([1.0, 0.0]), np.array([5.0, 3.0]), *sides), integer)
        found = solve_mip(
            Program(True, *rows, np.array([1.0, 0.0]) - shift, np.array([5.0, 3.0]) + shift, *sides), integer
        )
        assert found.status is right.status
        assert found.objective == right.objective


def test_unbounded_programs_have_an_integer_point():
    """max x + y over 2x - 2y = side: the relaxation has a ray, and where the side is odd the program no solution."""
    matrix, integer = sparse.csc_array(np.array([[2.0, -2.0]])), np.ones(2, dtype=np.bool_)
    for side in (2.0, 1.0):
        sides, ends = (np.full(1, side), np.full(1, side)), (np.zeros(2), np.full(2, np.inf))
        found = solve_mip(Program(True, matrix, np.ones(2), *ends, *sides), integer, time_limit=5.0, nodes=100)
        if side == 2.0:
            assert found.status is LPStatus.UNBOUNDED
            assert found.values[0] - found.values[1] == pytest.approx(1.0)
            assert found.objective == pytest.approx(found.values.sum())
        else:
            assert found.status in (LPStatus.INFEASIBLE, LPStatus.LIMIT)


_FREE = [np.inf, np.inf]
"""Upper bounds of columns that have no end."""


@pytest.mark.parametrize(
    ("matrix", "low", "high", "costs", "lower", "upper", "integer"),
    [
        ([[2, -1, 1], [1, 1, -1]], [-np.inf] * 2, [6, 6], [-3, -5, -2], [-1, 0, 0], [1, *_FREE], [0, 1, 1]),
        (
            [[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]],
            [1, -np.inf, -np.inf],
            [np.inf, 3, 3],
            [0, -3, 6, -3],
            [-np.inf, 0, -np.inf, 0],
            [*_FREE, *_FREE],
            [1, 1, 1, 1],
        ),
    ],
)
def test_unbounded_programs_that_presolve_calls_optimal(matrix, low, high, costs, lower, upper, integer):
    rows, right = sparse.csc_array(np.array(matrix, dtype=float)), np.array(costs, dtype=float)
    arrays = [np.array(each, dtype=float) for each in (lower, upper, low, high)]
    for sign in (1.0, -1.0):
        found = solve_mip(Program(sign < 0.0, rows, sign * right, *arrays), np.array(integer) > 0)
        assert found.status is LPStatus.UNBOUNDED
        assert found.bound == -sign * np.inf
        activity = rows @ found.values
        assert ((activity >= arrays[2] - 1e-6) & (activity <= arrays[3] + 1e-6)).all()


@pytest.mark.parametrize("seed", range(examples(40, 1000)))
def test_a_program_is_unbounded_just_if_it_has_a_point_and_its_relaxation_is(seed):
    rng = np.random.default_rng(seed)
    columns, rows = int(rng.integers(2, 8)), int(rng.integers(1, 6))
    matrix = rng.integers(-3, 6, (rows, columns)) * (rng.random((rows, columns)) < 0.7)
    high = rng.integers(-1, 12, rows).astype(float)
    low = np.where(rng.random(rows) < 0.2, high, -np.inf)
    lower = rng.integers(-2, 1, columns).astype(float)
    upper = lower + rng.integers(1, 5, columns)
    upper[rng.random(columns) < 0.4] = np.inf
    lower[rng.random(columns) < 0.15] = -np.inf
    arrays = (
        sparse.csc_array(matrix.astype(float)),
        rng.integers(-6, 7, columns).astype(float),
        lower,
        upper,
        low,
        high,
    )
    integer = rng.random(columns) < 0.6
    found = solve_mip(Program(False, *arrays), integer, time_limit=1.0)
    relaxation = LinearProgram(Program(False, *arrays)).solve()
    if relaxation.status is LPStatus.UNBOUNDED:
        assert found.status in (LPStatus.UNBOUNDED, LPStatus.INFEASIBLE, LPStatus.LIMIT)
    else:
        assert found.status is not LPStatus.UNBOUNDED


def test_an_integer_column_without_an_integer_between_its_bounds_is_infeasible():
    bounds = (np.array([0.3, 0.0]), np.array([0.7, 1.0]))
    sides = (np.array([-np.inf]), np.array([2.0]))
    matrix = sparse.csc_array(np.ones((1, 2)))
    found = solve_mip(Program(False, matrix, np.ones(2), *bounds, *sides), np.array([True, False]))
    assert found.status is LPStatus.INFEASIBLE
    assert found.bound == np.inf


def test_a_solve_that_does_not_stop_at_its_limit_is_given_up(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(highs, "GRACE", 0.1)
    monkeypatch.setattr(highspy.Highs, "run", lambda program: release.wait(60.0))
    started = time.monotonic()
    try:
        matrix = sparse.csc_array(np.array([[2.0, 3.0]]))
        sides = (np.array([7.0]), np.array([np.inf]))
        program = Program(False, matrix, np.ones(2), np.zeros(2), np.full(2, 9.0), *sides)
        found = solve_mip(program, np.ones(2, dtype=bool), time_limit=0.05)
    finally:
        release.set()
    assert time.monotonic() - started < 10.0
    assert found.status is LPStatus.LIMIT
    assert found.values is None
    assert found.bound == -np.inf


def test_the_work_of_a_program_is_the_same_in_each_run():
    rng = np.random.default_rng(3)
    weights = rng.integers(10, 60, (3, 25)).astype(float)
    ones = np.ones(25)
    limit = weights.sum(axis=1) / 2.0
    matrix, low = sparse.csc_array(weights), np.full(3, -np.inf)
    program = Program(True, matrix, rng.integers(10, 60, 25).astype(float), np.zeros(25), ones, low, limit)
    done = []
    for _ in range(2):
        before = work()
        found = solve_mip(program, ones.astype(bool))
        done.append(work() - before)
    assert done[0] == done[1]
    assert done[0] > 0.0
    started = solve_mip(program, ones.astype(bool), nodes=0, start=found.values)
    assert started.objective >= found.objective * (1 - 1e-9)
