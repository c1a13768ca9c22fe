"""Bases of one stage applied to others, compared with linear programs."""

import math

import numpy as np
import pytest
from scipy import optimize, sparse

from colgen.decomposition.benders.dual_pool import KnownDuals
from colgen.decomposition.benders.recourse import Recourse
from colgen.decomposition.benders.second_stage import SecondStage
from tests.decomposition.benders.test_dual_pool import stages


def cost_by_scipy(stage, x):
    """Return the cost of a stage at a first stage; None if it is infeasible."""
    matrix, moved = stage.own.toarray(), stage.first @ x
    sides = np.concatenate([stage.row_upper - moved, moved - stage.row_lower])
    held = np.isfinite(sides)
    solved = optimize.linprog(
        stage.costs,
        np.vstack([matrix, -matrix])[held],
        sides[held],
        bounds=list(zip(stage.lower, stage.upper, strict=True)),
    )
    return float(solved.fun) if solved.status == 0 else None


@pytest.mark.parametrize("seed", range(12))
def test_points_of_settled_stages_are_optimal_and_feasible(seed):
    rng, mine = np.random.default_rng(seed), stages(seed, 6)
    known, settled_in_all = KnownDuals(mine), 0
    for _ in range(8):
        x = rng.uniform(0, 3, 2)
        settled, points = known.settle(x)
        settled_in_all += int(settled.sum())
        for stage, is_settled, point in zip(mine, settled, points, strict=True):
            if is_settled:
                moved = stage.first @ x + stage.own @ point
                assert (moved >= stage.row_lower - 1e-7).all()
                assert (moved <= stage.row_upper + 1e-7).all()
                assert (point >= stage.lower - 1e-7).all()
                assert (point <= stage.upper + 1e-7).all()
                assert float(stage.costs @ point) == pytest.approx(cost_by_scipy(stage, x), abs=1e-7)
        for number, stage in enumerate(mine):
            bound = stage.solve(x)[1]
            if bound is not None:
                known.add(bound.duals, number, stage.basis())
    assert settled_in_all or all(cost_by_scipy(stage, x) is None for stage in mine)


def test_one_linear_program_suffices_if_all_stages_share_a_basis(monkeypatch):
    """Newsvendor: everything is sold in each scenario except the last."""
    costs, one, first = np.array([-3.0]), sparse.csc_array(np.ones((1, 1))), sparse.csc_array(-np.ones((1, 1)))
    least, zero = np.array([-math.inf]), np.zeros(1)
    mine = [SecondStage(costs, zero, np.array([d]), one, first, least, zero) for d in (5.0, 6.0, 7.0, 1.0)]
    solved, solve = [], SecondStage.solve
    monkeypatch.setattr(SecondStage, "solve", lambda self, *args: solved.append(self) or solve(self, *args))
    recourse, x = Recourse(mine), np.array([2.0])
    assert [y.tolist() for y in recourse.best(x)] == [[2.0], [2.0], [2.0], [1.0]]
    assert len(solved) == 2
    assert [y.tolist() for y in recourse.best(np.array([3.0]))] == [[3.0], [3.0], [3.0], [1.0]]
    assert len(solved) == 2
    rows = dict(recourse.bounds(np.array([4.0]), range(4), lambda: math.inf))
    assert [rows[k].constant - float(rows[k].slopes @ [4.0]) for k in range(4)] == [-12.0, -12.0, -12.0, -3.0]


def test_bases_at_infinite_bounds_settle_nothing():
    """A basis at an upper bound does not apply to stages without one."""
    costs, one = np.array([-1.0]), sparse.csc_array(np.ones((1, 1)))
    sides = np.array([-math.inf]), np.array([9.0])
    closed, open_ = (SecondStage(costs, np.zeros(1), np.array([u]), one, one, *sides) for u in (2.0, math.inf))
    known, x = KnownDuals([closed, open_]), np.zeros(1)
    known.add(closed.solve(x)[1].duals, 0, closed.basis())
    assert known.settle(x)[0].tolist() == [True, False]
