r"""The pairwise classifier: an ensemble of networks with one hidden layer, stored as arrays.

For mentions i < j with unary features u and pair features v, network k of K returns

    p_k(i, j) = σ(c_k + w_k · max(0, b_k + A_k u_i + B_k u_j + C_k v_ij)),

and the ensemble returns the mean of the p_k. A u and B u are computed once per mention. Networks with different initial
weights make different errors, so their mean is more accurate and better calibrated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.problems.coreference.features import Floats, PairFeatures

_CHUNK = 1 << 14
"""Pairs per batch, such that the hidden layer fits into the cache."""


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The weights of K networks with H hidden units each, U unary and V pair features."""

    earlier: Floats  # A, shape (U, K H)
    later: Floats  # B, shape (U, K H)
    pair: Floats  # C, shape (V, K H)
    hidden: Floats  # b, shape (K H,)
    output: Floats  # w, shape (K, H)
    offset: Floats  # c, shape (K,)

    def __post_init__(self) -> None:
        networks, hidden = self.output.shape
        num_unary, num_pair = len(self.earlier), len(self.pair)
        for name, shape in (
            ("earlier", (num_unary, networks * hidden)),
            ("later", (num_unary, networks * hidden)),
            ("pair", (num_pair, networks * hidden)),
            ("hidden", (networks * hidden,)),
            ("offset", (networks,)),
        ):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name}: expected weights of shape {shape}, not {getattr(self, name).shape}")

    def probabilities(self, features: PairFeatures) -> NDArray[np.float64]:
        """Return the probabilities of all pairs: symmetric, shape (n, n), ones on the diagonal."""
        n = len(features.unary)
        first, second = np.triu_indices(n, 1)
        earlier, later = features.unary @ self.earlier, features.unary @ self.later + self.hidden
        values = np.empty(len(first))
        for start in range(0, len(first), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            units = features.pairs[chunk] @ self.pair
            units += earlier[first[chunk]]
            units += later[second[chunk]]
            np.maximum(units, 0.0, out=units)
            units = units.reshape(len(units), *self.output.shape)
            values[chunk] = _sigmoid(np.einsum("pkh,kh->pk", units, self.output) + self.offset).mean(axis=1)
        result = np.eye(n)
        result[first, second] = result[second, first] = values
        return result


def _sigmoid(values: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * values)))  # avoids overflow


def fit(rows: Floats, together: NDArray[np.bool_], num_unary: int, *, seed: int, hidden: int, epochs: int) -> Ensemble:
    """Train one network.

    A row has the ``num_unary`` features of the earlier mention, those of the later one, and those of the pair.
    ``together`` is true if the pair corefers.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    model: Any = MLPClassifier(
        (hidden,),
        alpha=0.01,
        batch_size=int(min(512, max(8, len(rows) // 100))),
        learning_rate_init=1e-3,
        max_iter=epochs,
        n_iter_no_change=epochs + 1,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few epochs are intended
        model.fit(rows, together)
    weights, output = model.coefs_
    weights[~rows.any(axis=0)] = 0.0  # weights of features that never occur are still random
    return Ensemble(
        weights[:num_unary].astype(np.float32),
        weights[num_unary : 2 * num_unary].astype(np.float32),
        weights[2 * num_unary :].astype(np.float32),
        model.intercepts_[0].astype(np.float32),
        output.T.astype(np.float32),
        model.intercepts_[1].astype(np.float32),
    )


def combine(networks: Sequence[Ensemble]) -> Ensemble:
    """Combine ensembles with the same number of hidden units per network."""
    return Ensemble(
        np.hstack([network.earlier for network in networks]),
        np.hstack([network.later for network in networks]),
        np.hstack([network.pair for network in networks]),
        np.concatenate([network.hidden for network in networks]),
        np.vstack([network.output for network in networks]),
        np.concatenate([network.offset for network in networks]),
    )
