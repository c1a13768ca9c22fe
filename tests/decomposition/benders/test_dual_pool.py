"""Bounds by shared dual values, compared with linear programs."""

import numpy as np
import pytest
from scipy import sparse

from colgen.decomposition.benders.dual_pool import KnownDuals, kind
from colgen.decomposition.benders.second_stage import SecondStage


def stages(seed, count=4):
    """Scenarios of one kind: different sides, bounds and probabilities, some of them infeasible."""
    rng = np.random.default_rng(seed)
    rows, own, first = 3, 5, 2
    w, t = rng.integers(-3, 4, (rows, own)).astype(float), rng.integers(-2, 3, (rows, first)).astype(float)
    costs = rng.integers(-4, 9, own).astype(float)
    found = []
    for _ in range(count):
        low = rng.integers(-9, 1, rows).astype(float)
        high = np.where(rng.random(rows) < 0.3, np.inf, low + rng.integers(0, 9, rows))
        upper = rng.integers(1, 6, own).astype(float)
        matrices = sparse.csc_array(w), sparse.csc_array(t)
        found.append(SecondStage(float(rng.random()) * costs, np.zeros(own), upper, *matrices, low, high))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_valid_and_tight_for_own_dual_values(seed):
    rng, mine = np.random.default_rng(seed), stages(seed)
    assert len({kind(stage) for stage in mine}) == 1
    known = KnownDuals(mine)
    for _ in range(6):
        x = rng.uniform(0, 3, 2)
        for number, stage in enumerate(mine):
            values, bound = stage.solve(x)
            if values is not None:
                known.add(bound.duals, number)
                cost = float(stage.costs @ values)
                best, which = known.at(x)
                assert best[number] == pytest.approx(cost)
                constant, slopes = known.row(int(which[number]), number)
                assert constant - float(slopes @ x) == pytest.approx(best[number])
    for _ in range(10):
        x = rng.uniform(0, 3, 2)
        for stage, bound in zip(mine, known.at(x)[0], strict=True):
            values = stage.solve(x)[0]
            assert values is None or bound <= float(stage.costs @ values) + 1e-7


def test_an_empty_pool_has_no_bounds():
    known = KnownDuals(stages(1))
    assert len(known) == 0
    assert (known.at(np.zeros(2))[0] == -np.inf).all()


def test_dual_values_of_infinite_sides_give_no_bound():
    costs, matrix = np.ones(1), sparse.csc_array(np.ones((1, 1)))
    sides = [(2.0, np.inf), (-np.inf, 5.0)]
    known = KnownDuals(
        [
            SecondStage(costs, np.zeros(1), np.full(1, 9.0), matrix, matrix, np.array([a]), np.array([b]))
            for a, b in sides
        ]
    )
    known.add(np.ones(1), 0)  # pays for what must be at least 2: the other stage must be nothing
    assert known.at(np.ones(1))[0].tolist() == [1.0, -np.inf]
