"""Mixed-integer rounding: valid by enumeration, violated as stated, and a textbook example."""

import itertools

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.cuts.rounding import round_inequalities


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(8))
def test_every_rounding_is_valid_for_all_integer_points(seed, scale):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-9, 10, (20, 3)) * scale, rng.integers(-20, 30, 20) * scale
    a[::2] += scale * rng.random((10, 3))
    upper = np.array([2.0, 3.0, 4.0])
    values = upper * rng.random(3)
    b[::3] = (a @ values)[::3]  # tight, so that some rounding is violated
    rests = np.maximum(b - a @ values, 0.0)
    violations, found, sides = round_inequalities(a, b, rests, values, upper)
    assert (violations > 0.0).any()
    kept = np.isfinite(violations)
    assert violations[kept] == pytest.approx((sides - found @ values - rests)[kept], abs=1e-9 * scale)
    points = np.array(list(itertools.product(range(3), range(4), range(5))), dtype=float)
    least = np.maximum(b[:, None] - a @ points.T, 0.0)  # of s
    room = 1e-9 * scale
    assert (least[kept] + found[kept] @ points.T >= sides[kept, None] - room).all()


def test_a_rounding_cuts_off_a_fractional_variable():
    # s + 10 z >= 25: at most s of 5 with two, and none with three.
    violations, found, sides = round_inequalities([[10.0]], [25.0], [0.0], [2.5], [np.inf])
    assert (violations[0], found[0, 0], sides[0]) == pytest.approx((2.5, 5.0, 15.0))


def test_integer_values_are_not_rounded():
    assert not np.isfinite(round_inequalities([[10.0]], [25.0], [5.0], [2.0], [8.0])[0]).any()
    assert round_inequalities(np.empty((0, 2)), [], [], [0.5, 0.5], [1.0, 1.0])[0].shape == (0,)


def test_shapes_and_bounds_are_refused():
    with pytest.raises(ArrayError, match="coefficients"):
        round_inequalities([[1.0, 2.0]], [1.0], [0.0], [0.5], [1.0])
    with pytest.raises(ArrayError, match="upper"):
        round_inequalities([[1.0]], [1.0], [0.0], [0.5], [-1.0])
