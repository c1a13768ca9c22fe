"""Logistic regression against its optimality condition."""

import numpy as np
import pytest
from scipy import sparse

from colgen.learning.logistic import logistic_regression


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("strengths", [1.0, [0.5, 2.0, 0.0]])
def test_the_gradient_is_zero(kind, strengths):
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(200, 3)), rng.random(200) < 0.3
    weights = logistic_regression(kind(features), labels, strengths)
    chances = 1.0 / (1.0 + np.exp(-features @ weights))
    np.testing.assert_allclose(features.T @ (chances - labels) + np.array(strengths) * weights, 0.0, atol=1e-2)


def test_large_scores_do_not_overflow():
    weights = logistic_regression(np.array([[1e4], [-1e4]]), [True, False], 1e-9)
    assert 0.0 < weights[0] < np.inf
    assert logistic_regression(np.zeros((2, 0)), [True, False], 1.0).shape == (0,)
