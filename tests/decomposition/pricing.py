"""Points and bounds of kernels, compared with enumeration and HiGHS."""

import itertools

import numpy as np
import pytest

from colgen.solvers.linear.highs import LPStatus
from colgen.solvers.linear.recosted import RecostedMIP

ROOM = 2.0**-40
"""Relative to the sizes of costs: rounding."""


def all_points(sub):
    """Return every point of a block of integer variables."""
    ranges = [range(int(low), int(high) + 1) for low, high in zip(sub.lower, sub.upper, strict=True)]
    points = np.array(list(itertools.product(*ranges)), dtype=float)
    moved = points @ sub.matrix.T.toarray()
    slack = 1e-6
    return points[((moved >= sub.row_lower - slack) & (moved <= sub.row_upper + slack)).all(axis=1)]


def costs_of(sub, rng):
    """Return costs of any sign and scale, many of them zero or equal."""
    size = len(sub.costs)
    kind = rng.integers(0, 3)
    drawn = rng.normal(size=size) if kind else rng.integers(-3, 4, size).astype(float)
    drawn = np.abs(drawn) if kind == 2 else drawn
    return drawn * rng.integers(0, 2, size) * rng.choice([1e-9, 1 / 3, 1.0, 1e8])


def bounds_of(sub, rng):
    """Return bounds as after branching: some integer variables are fixed."""
    lower, upper = sub.lower.copy(), sub.upper.copy()
    share = rng.choice([0.0, 0.15, 0.4])
    for k in np.flatnonzero(sub.integer & (rng.random(len(lower)) < share)):
        lower[k] = upper[k] = rng.integers(sub.lower[k], sub.upper[k] + 1)
    return lower, upper


def compare(sub, kernel, rng, calls=6, enumerated=True):
    """Check the best point, the bound and the other points at random costs and bounds."""
    program = RecostedMIP(sub.matrix, sub.lower, sub.upper, sub.row_lower, sub.row_upper, sub.integer)
    every = all_points(sub) if enumerated else None
    for _ in range(calls):
        costs, (lower, upper) = costs_of(sub, rng), bounds_of(sub, rng)
        room = ROOM * np.abs(costs).sum()
        found = kernel.points(costs, lower, upper)
        program.set_bounds(lower, upper)
        by_highs = program.solve(costs)
        if every is not None:
            inside = every[((every >= lower) & (every <= upper)).all(axis=1)]
            assert (found.status is LPStatus.INFEASIBLE) == (not len(inside))
        assert (found.status is LPStatus.INFEASIBLE) == (by_highs.status is LPStatus.INFEASIBLE)
        if found.status is LPStatus.INFEASIBLE:
            continue
        values = found.points @ costs
        if every is not None:
            best = float((inside @ costs).min())
            assert found.bound <= best + room / 1024
            assert found.bound == pytest.approx(best, abs=room)
            assert values[0] == pytest.approx(best, abs=room)
            known = {point.tobytes() for point in inside + 0.0}
            assert all(point.tobytes() in known for point in found.points)
        assert found.bound == pytest.approx(by_highs.bound, abs=1e-6 * np.abs(costs).sum())
        assert values.min() == values[0]
        assert len(np.unique(found.points, axis=0)) == len(found.points)
