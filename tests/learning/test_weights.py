"""Weights that learn, against averages written out; and weights that have been learned, as arrays for a file."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.core.errors import InputError
from colgen.learning import AveragedWeights
from colgen.learning.weights import FeatureWeights, part, prefixed
from colgen.solvers.arrays import ArrayError


@given(seed=st.integers(0, 10_000))
def test_the_average_is_that_of_the_weights_after_each_step(seed):
    rng = np.random.default_rng(seed)
    model, plain = AveragedWeights(np.zeros((3, 4))), np.zeros(12)
    seen = []
    for number in range(8):
        places, signs = rng.integers(0, 12, 9), rng.integers(0, 2, 9)
        delta = np.bincount(places, 2 * signs - 1, 12)
        model.begin(9)
        model.marks[:9], model.count = 2 * places + signs, 9
        assert model.settle() == pytest.approx(delta @ delta)
        model.step(0.5, number)
        plain += 0.5 * delta
        if number == 4:
            again = AveragedWeights(np.zeros((3, 4)))
            again.restore(part("some", prefixed("some", model.state())))
            model = again
        assert model.weights == pytest.approx(plain)
        seen.append(plain.copy())
    assert model.mean(8) == pytest.approx(np.mean(seen, axis=0).reshape(3, 4))
    model.add(np.array([1, 5]), np.array([2.0, 3.0]), 8)
    assert model.weights[[1, 5]] == pytest.approx(plain[[1, 5]] + [2.0, 3.0])


def random_weights(seed=0):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((20, 3)) < 0.3, rng.normal(size=(20, 3)), 0.0).astype(np.float32)
    return np.cumsum(rng.integers(1, 5, 20)), dense


@pytest.mark.parametrize("compact", [True, False])
def test_weights_are_kept_as_they_are(compact):
    keys, dense = random_weights()
    held = FeatureWeights.of_dense(keys, dense, compact=compact)
    used = dense.any(axis=1) if compact else np.ones(20, dtype=bool)
    assert held.keys.tolist() == keys[used].tolist()
    np.testing.assert_array_equal(held.dense(), dense[used])
    again = FeatureWeights.from_arrays(prefixed("some", held.arrays()), "some", 3)
    np.testing.assert_array_equal(again.dense(), dense[used])
    assert len(FeatureWeights.of_dense(keys[:0], dense[:0])) == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("keys", lambda a: a[::-1].copy()),
        ("keys", lambda a: a[1:]),
        ("starts", lambda a: a + 1),
        ("labels", lambda a: a + 100),
        ("weights", lambda a: a * np.nan),
    ],
)
def test_invalid_arrays_raise_errors(name, value):
    arrays = FeatureWeights.of_dense(*random_weights()).arrays()
    with pytest.raises((InputError, ArrayError), match="some"):
        FeatureWeights.from_arrays(prefixed("some", {**arrays, name: value(arrays[name])}), "some", 3)
