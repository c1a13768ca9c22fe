"""The projection against its optimality conditions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.linear.simplex_projection import project

vectors = st.lists(st.floats(-100.0, 100.0), min_size=1, max_size=8)


@given(q=vectors)
def test_it_lies_in_the_simplex_and_is_nearest(q):
    p = project(q)
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0)
    # For the nearest point, no vertex v of the simplex has (q - p)ᵀ(v - p) > 0.
    outward = np.array(q) - p
    assert (outward <= outward @ p + 1e-9 * max(1.0, np.abs(outward).max())).all()


@given(q=vectors)
def test_points_of_the_simplex_stay(q):
    p = project(q)
    assert project(p) == pytest.approx(p)


@given(q=vectors, shift=st.floats(-10.0, 10.0))
def test_a_shift_changes_nothing(q, shift):
    assert project(np.array(q) + shift) == pytest.approx(project(q), abs=1e-9)


def test_by_hand():
    assert project([0.5, 0.7]) == pytest.approx(np.array([0.4, 0.6]))
    assert project([2.0, 0.0, 0.0]) == pytest.approx(np.array([1.0, 0.0, 0.0]))
    assert project([0.6, 0.6, -5.0]) == pytest.approx(np.array([0.5, 0.5, 0.0]))
    assert project([-3.0]) == pytest.approx(np.array([1.0]))


@pytest.mark.parametrize("bad", [[], [np.nan], [np.inf, 0.0], [[1.0, 2.0]]])
def test_bad_input_is_refused(bad):
    with pytest.raises(ValueError, match="finite number"):
        project(bad)
