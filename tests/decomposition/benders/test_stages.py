"""Optima and bounds of second stages that share dual values and bases, compared with linear programs."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import optimize, sparse

from colgen.decomposition.benders import stages as module
from colgen.decomposition.benders.recourse import Recourse
from colgen.decomposition.benders.stages import SecondStage, StageFamily, kind


def stages(seed, count=4, same_first=True):
    """Scenarios of one kind: different sides, bounds and probabilities, some of them infeasible."""
    rng = np.random.default_rng(seed)
    rows, own, first = 3, 5, 2
    w, t = rng.integers(-3, 4, (rows, own)).astype(float), rng.integers(-2, 3, (rows, first)).astype(float)
    costs = rng.integers(-4, 9, own).astype(float)
    ranged = rng.random(rows) < 0.3
    found = []
    for _ in range(count):
        low = rng.integers(-9, 1, rows).astype(float)
        high = np.where(ranged, np.inf, low + rng.integers(0, 9, rows))
        upper = rng.integers(1, 6, own).astype(float)
        matrices = sparse.csc_array(w), sparse.csr_array(t if same_first else t + rng.integers(0, 2, (rows, first)))
        share = float(rng.choice([0.0, 0.25, 1e-9, 3e7]))
        found.append(SecondStage((share or 1.0) * costs, np.zeros(own), upper, *matrices, low, high))
    return found


def cost_by_scipy(stage, x):
    """Return the cost of a stage at a first stage; None if it is infeasible."""
    matrix, moved = stage.own.toarray(), stage.first @ x
    sides = np.concatenate([stage.row_upper - moved, moved - stage.row_lower])
    held = np.isfinite(sides)
    solved = optimize.linprog(
        stage.costs / stage.factor,
        np.vstack([matrix, -matrix])[held],
        sides[held],
        bounds=list(zip(stage.lower, stage.upper, strict=True)),
    )
    return float(solved.fun) * stage.factor if solved.status == 0 else None


@pytest.mark.parametrize("in_highs", [False, True])
@pytest.mark.parametrize("same_first", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_optima_are_those_of_scipy_and_bounds_hold_everywhere(seed, same_first, in_highs, monkeypatch):
    if in_highs:
        monkeypatch.setattr(module, "_ROWS", 0)
    rng, mine = np.random.default_rng(seed), stages(seed, 12, same_first)
    assert len({kind(stage) for stage in mine}) == 1
    family, alone = StageFamily(mine), sparse.eye_array(12, format="csr")
    points = [rng.uniform(0, 3, 2) for _ in range(6)]
    costs = [[cost_by_scipy(stage, x) for stage in mine] for x in points]
    for x, right in zip(points, costs, strict=True):
        found = family.optima(x)
        infeasible = {number: (constant, slopes) for number, constant, slopes in found.infeasible}
        rows = family.rows(found.which, alone)
        for number, (stage, best) in enumerate(zip(mine, right, strict=True)):
            if best is None:
                assert found.costs[number] == np.inf
                constant, slopes = infeasible[number]
                assert constant > slopes @ x
                for other, there in zip(points, costs, strict=True):
                    assert there[number] is None or constant <= slopes @ other + 1e-7
                continue
            size = stage.factor
            assert found.costs[number] == pytest.approx(best, abs=1e-7 * size)
            point, moved = found.points[number], stage.first @ x + stage.own @ found.points[number]
            assert ((point >= stage.lower) & (point <= stage.upper)).all()
            assert ((moved >= stage.row_lower - 1e-7) & (moved <= stage.row_upper + 1e-7)).all()
            assert rows[0][number] - rows[1][number] @ x == pytest.approx(best, abs=1e-7 * size)
            for other, there in zip(points, costs, strict=True):
                bound = rows[0][number] - rows[1][number] @ other
                assert there[number] is None or bound <= there[number] + 1e-7 * size
    for x, right in zip(points, costs, strict=True):
        bounds = family.bounds_at(x)[0]
        assert all(
            best is None or bound <= best + 1e-7 * s.factor for bound, best, s in zip(bounds, right, mine, strict=True)
        )
    if family.known:
        over = family.bounds_over(points[0], np.zeros(2), np.full(2, 3.0))
        for right in costs:
            assert all(b is None or low <= b + 1e-7 * s.factor for low, b, s in zip(over, right, mine, strict=True))


def test_forgotten_dual_values_leave_the_recent_ones(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 0)
    monkeypatch.setattr(module, "_FEW", 4)
    rng, family = np.random.default_rng(0), StageFamily(stages(0, 2))
    for _ in range(60):
        x = rng.uniform(0, 9, 2)
        found = family.optima(x)
        solved = np.isfinite(found.costs)
        assert family.bounds_at(x)[0][solved] == pytest.approx(found.costs[solved])
    assert family.known <= 4 + len(family)


def test_an_empty_family_has_no_bounds():
    family = StageFamily(stages(1))
    assert family.known == 0
    assert (family.bounds_at(np.zeros(2))[0] == -np.inf).all()


def test_stages_with_other_infinite_sides_are_of_another_kind():
    one = stages(1)[0]
    assert kind(one) != kind(one._replace(upper=np.full(5, np.inf)))


def test_stages_that_share_a_basis_need_one_linear_program(monkeypatch):
    """Newsvendor: everything is sold in each scenario except the last."""
    costs, one, first = np.array([-3.0]), sparse.csc_array(np.ones((1, 1))), sparse.csr_array(-np.ones((1, 1)))
    least, zero = np.array([-math.inf]), np.zeros(1)
    mine = [SecondStage(costs, zero, np.array([d]), one, first, least, zero) for d in (5.0, 6.0, 7.0, 1.0)]
    solved, solve = [], StageFamily._solve
    monkeypatch.setattr(
        StageFamily, "_solve", lambda self, number, *rest: solved.append(number) or solve(self, number, *rest)
    )
    recourse = Recourse(mine)
    assert [y.tolist() for y in recourse.optima(np.array([2.0])).points] == [[2.0], [2.0], [2.0], [1.0]]
    assert [y.tolist() for y in recourse.optima(np.array([3.0])).points] == [[3.0], [3.0], [3.0], [1.0]]
    assert solved == [0]


def test_there_are_no_optima_after_the_time_limit():
    found = StageFamily(stages(3)).optima(np.zeros(2), lambda: 0.0)
    assert np.isnan(found.costs).all()


def test_rounding_errors_of_dual_values_do_not_invalidate_a_proof_of_infeasibility(monkeypatch):
    own = sparse.csc_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
    first = sparse.csr_array(np.array([[1.0], [1.0]]))
    side = np.array([5.0, -3.0])
    family = StageFamily(
        [SecondStage(np.zeros(2), np.zeros(2), np.full(2, np.inf), own, first, np.array([5.0, -np.inf]), side)]
    )
    solve = family._least_violation

    def with_errors(*arguments):
        solved = solve(*arguments)
        return dataclasses.replace(solved, duals=solved.duals + np.array([1e-12, 0.0]))

    monkeypatch.setattr(family, "_least_violation", with_errors)
    ((number, constant, slopes),) = family.optima(np.array([0.0])).infeasible  # the second row wants at most -3
    assert number == 0
    assert constant - slopes @ np.array([0.0]) == pytest.approx(3.0)


def test_stages_without_rows_take_their_best_bounds():
    own, first = sparse.csc_array((0, 2)), sparse.csr_array((0, 1))
    none = np.empty(0)
    family = StageFamily(
        [SecondStage(np.array([2.0, -1.0]), np.ones(2), np.array([4.0, u]), own, first, none, none) for u in (3.0, 5.0)]
    )
    found = family.optima(np.zeros(1))
    assert found.costs.tolist() == [-1.0, -3.0]
    assert family.bounds_at(np.zeros(1))[0].tolist() == [-1.0, -3.0]


def test_rounding_errors_of_dual_values_are_relative_to_the_largest():
    """A dual value of 1e-12 beside one of 12 does not invalidate a bound, as a large infeasibility does."""
    own, first, none = sparse.csc_array(np.eye(2)), sparse.csr_array((2, 1)), np.zeros(2)
    family = StageFamily(
        [SecondStage(np.array([12.0, 0.0]), none, np.full(2, np.inf), own, first, np.ones(2), np.ones(2))]
    )
    small, large = (family._weak_duality(np.array([[1.0, error]]), np.array([1.0, 0.0]))[2] for error in (1e-12, 1e-3))
    assert small.tolist() == [True]
    assert large.tolist() == [False]
