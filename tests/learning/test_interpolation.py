"""Gradients of best structures by interpolation, against enumeration."""

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning import Chains, interpolated
from tests.learning.small_examples import programs
from tests.sweeps import seeds


@pytest.mark.parametrize("seed", seeds(6))
def test_interpolated_gradients_are_those_of_the_interpolated_loss(seed):
    rng = np.random.default_rng(seed)
    for oracle, structures in programs(rng):
        scores, derivative, along = rng.normal(size=(3, len(structures[0])))
        length = float(rng.choice([0.5, 10.0]))

        def loss(s, g=derivative, length=length, structures=structures):
            """The interpolated loss of g^T y, up to a constant, by enumeration."""
            return (max(s @ y for y in structures) - max((s - length * g) @ y for y in structures)) / length

        found = interpolated(oracle, scores, length=length)
        np.testing.assert_array_equal(found.means[0], oracle.best(scores))
        slope = (loss(scores + 1e-7 * along) - loss(scores - 1e-7 * along)) / 2e-7
        assert found.gradient(derivative)[0] @ along == pytest.approx(slope, abs=1e-6)
        assert not found.gradient(None)[0].any()


def test_interpolated_gradients_of_several_arrays_and_what_is_refused():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3, 2)), rng.normal(size=(2, 2))
    found = interpolated(Chains(), *scores, length=1.0)
    by_pairs = 50.0 * found.means[1]
    other = Chains().best(scores[0], scores[1] - by_pairs)
    expected = found.means[1].copy()
    np.subtract.at(expected.ravel(), other[1], 1.0)
    np.testing.assert_array_equal(found.gradient(None, by_pairs)[1], expected)
    with pytest.raises(InputError, match="expected at most 2 arrays"):
        found.gradient(None, None, None)
    for length in (0.0, -1.0, np.nan, "1"):
        with pytest.raises(InputError, match="length: expected a positive number"):
            interpolated(Chains(), *scores, length=length)
