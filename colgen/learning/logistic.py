"""Logistic regression by L-BFGS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def logistic_regression(features: Any, labels: ArrayLike, strengths: ArrayLike) -> Floats:
    """Return the weights of least loss, Σ log(1 + exp(-y x·w)) + ½ Σ λ w².

    Parameters
    ----------
    features
        x, an array or a sparse matrix of shape (examples, features).
    labels
        True for examples with y = 1.  The others have y = -1.
    strengths
        λ: one for all weights or one per weight.  Use zero for an intercept.
    """
    from scipy import optimize  # takes 0.25 s to import and is needed only in training

    right, count = np.asarray(labels, dtype=np.float64), features.shape[1]
    decay = np.broadcast_to(np.asarray(strengths, dtype=np.float64), (count,))
    if not count:
        return np.zeros(0)

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = features @ weights
        odds = np.exp(-np.abs(scores))
        chances = np.where(scores > 0.0, 1.0, odds) / (1.0 + odds)
        value = np.sum(np.log1p(odds) + np.maximum(scores, 0.0) - right * scores)
        return float(value) + 0.5 * float(decay @ weights**2), features.T @ (chances - right) + decay * weights

    result: Floats = optimize.minimize(loss, np.zeros(count), jac=True, method="L-BFGS-B").x
    return result
