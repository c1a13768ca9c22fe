"""Bounds of second stages are valid everywhere, and tight where they were computed."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from colgen.decomposition.benders.second_stage import SecondStage


def stage(seed):
    rng = np.random.default_rng(seed)
    own = sparse.csc_array(rng.integers(-1, 4, (3, 4)).astype(float))
    first = sparse.csc_array(rng.integers(-2, 3, (3, 2)).astype(float))
    lower = rng.integers(0, 6, 3).astype(float)
    upper = np.where(rng.integers(0, 2, 3) == 1, lower + 2.0, np.inf)
    costs = rng.integers(1, 9, 4).astype(float)
    return costs, SecondStage(costs, np.zeros(4), np.full(4, 3.0), own, first, lower, upper)


@pytest.mark.parametrize("seed", range(12))
def test_a_bound_holds_for_every_first_stage_and_is_tight_at_its_own(seed):
    costs, second = stage(seed)
    grid = [np.array([a, b]) for a in (0.0, 1.0, 2.5, 4.0) for b in (0.0, 1.0, 3.0)]
    best = [second.solve(x)[0] for x in grid]
    for x, y in zip(grid, best, strict=True):
        bound = second.bound(x)
        assert bound.feasible is (y is not None)
        at = bound.constant - bound.slopes @ x
        if y is None:  # excludes this first stage, and none that is feasible
            assert at > 1e-6
        else:
            assert at == pytest.approx(costs @ y)
        for other, z in zip(grid, best, strict=True):
            if z is not None:
                there = bound.constant - bound.slopes @ other
                assert there <= (costs @ z if bound.feasible else 0.0) + 1e-7


def test_there_is_no_bound_after_the_time_limit():
    assert stage(0)[1].bound(np.zeros(2), 0.0) is None


def test_rounding_errors_of_dual_values_do_not_invalidate_a_proof_of_infeasibility(monkeypatch):
    own = sparse.csc_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
    first = sparse.csc_array(np.array([[1.0], [1.0]]))
    side = np.array([5.0, -3.0])
    second = SecondStage(np.zeros(2), np.zeros(2), np.full(2, np.inf), own, first, np.array([5.0, -np.inf]), side)
    solve = second._least_violation

    def with_errors(x, seconds):
        solved = solve(x, seconds)
        return dataclasses.replace(solved, duals=solved.duals + np.array([1e-12, 0.0]))

    monkeypatch.setattr(second, "_least_violation", with_errors)
    bound = second.bound(np.array([0.0]))  # the second row wants a variable of at most -3
    assert not bound.feasible
    assert bound.constant - bound.slopes @ np.array([0.0]) == pytest.approx(3.0)
