"""Local scores against sums of weights; training is tested with the taggers."""

import numpy as np

from colgen.solvers.chains import perceptron


def test_local_scores_are_sums_of_weights():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(7, 3)).astype(np.float32)
    weights[rng.random(weights.shape) < 0.5] = 0.0
    features = rng.integers(-1, 7, size=(5, 4)).astype(np.int32)
    dense, sparse = (np.empty((5, 3), dtype=np.float32) for _ in range(2))
    perceptron.add_up(features, weights, dense)
    rows, labels = np.nonzero(weights)
    starts = np.searchsorted(rows, np.arange(8))
    perceptron.add_up_sparse(features, starts, labels.astype(np.int32), weights[rows, labels], sparse)
    expected = [sum((weights[f] for f in token if f >= 0), np.zeros(3)) for token in features]
    np.testing.assert_allclose(dense, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sparse, expected, rtol=1e-5, atol=1e-6)
