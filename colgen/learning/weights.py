"""Weights in training, with their average over all steps, and trained weights as models store them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.solvers.arrays import as_floats, as_indices, as_integers, as_offsets
from colgen.solvers.averaging import norm_of_marks, settle_marks, step_of_marks

Singles = NDArray[np.float32]
Shorts = NDArray[np.int32]
Ints = NDArray[np.int64]


class AveragedWeights:
    """Weights that are changed in place, with the sums for their average.

    A step is collected in ``marks`` (:mod:`colgen.solvers.averaging`). Call :meth:`begin`, let kernels write marks, and
    assign their number to ``count``. Then call :meth:`settle` and :meth:`step`.

    Parameters
    ----------
    weights
        Array of any shape; marks refer to places in the flattened array.  A one-dimensional array may be extended in
        place, together with the sums.

    Attributes
    ----------
    weights, sums
        Flattened.
    """

    def __init__(self, weights: NDArray[Any]) -> None:
        self.shape, self.weights = weights.shape, weights if weights.ndim == 1 else weights.reshape(-1)
        self.sums = np.zeros_like(self.weights)
        self.marks = np.empty(0, dtype=np.int64)
        self.count = self._kept = 0

    def begin(self, most: int) -> None:
        """Begin a step, with memory for ``most`` marks."""
        if len(self.marks) < 2 * most:
            self.marks = np.empty(3 * most, dtype=np.int64)
        self.count = 0

    def settle(self) -> float:
        """Add up the marks and return the squared norm of the step."""
        self._kept = settle_marks(self.marks, self.count)
        return float(norm_of_marks(self.marks, self._kept))

    def step(self, length: float, number: float) -> None:
        """Take a step along the marks.  ``number`` is the number of the step."""
        step_of_marks(self.weights, self.sums, self.marks, self._kept, length, number)

    def add(self, places: Ints, changes: NDArray[Any], number: float) -> None:
        """Add changes at distinct places.  ``number`` is the number of the step."""
        self.weights[places] += changes
        self.sums[places] += number * changes

    def mean(self, steps: float) -> NDArray[Any]:
        """Return the average of the weights over ``steps`` steps, in their shape."""
        average: NDArray[Any] = self.sums / self.sums.dtype.type(-max(steps, 1.0))
        average += self.weights
        return average.reshape(self.shape) if len(self.shape) > 1 else average

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which :meth:`restore` continues."""
        return {"weights": self.weights, "sums": self.sums}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the arrays of :meth:`state`."""
        self.weights[:], self.sums[:] = arrays["weights"], arrays["sums"]


def prefixed(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays with names prefixed by ``name.``."""
    return {f"{name}.{key}": array for key, array in arrays.items()}


def part(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with ``name.``, with this prefix removed."""
    return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}


@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """Nonzero weights by feature and label, as models store them.

    The features' ``keys`` are ascending.  ``starts`` has the start of each feature's weights, and the end of the last
    ones.  ``labels`` and ``weights`` have one entry per weight.
    """

    keys: Ints
    starts: Ints
    labels: Shorts
    weights: Singles
    num_labels: int

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.keys)

    @staticmethod
    def of_dense(keys: Ints, weights: NDArray[Any], *, compact: bool = True) -> FeatureWeights:
        """Return the nonzero weights of an array, shape (features, labels).  ``compact`` omits features without any."""
        features, labels = np.nonzero(weights)
        values = weights[features, labels].astype(np.float32)
        kept = np.unique(features) if compact else np.arange(len(weights))
        starts = np.searchsorted(features, np.append(kept, len(weights))).astype(np.int64)
        return FeatureWeights(keys[kept], starts, labels.astype(np.int32), values, weights.shape[1])

    def dense(self) -> Singles:
        """Return weights of shape (features, labels)."""
        result = np.zeros((len(self.keys), self.num_labels), dtype=np.float32)
        result[np.repeat(np.arange(len(self.keys)), np.diff(self.starts)), self.labels] = self.weights
        return result

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the content as arrays for a file."""
        return {"keys": self.keys, "starts": self.starts, "labels": self.labels, "weights": self.weights}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], name: str, num_labels: int) -> FeatureWeights:
        """Return the weights that :meth:`arrays` returned, checked, from arrays whose names begin with ``name.``."""
        keys = as_integers(arrays[f"{name}.keys"], f"{name}.keys", shape=("features",), low=0)
        weights = as_floats(arrays[f"{name}.weights"], f"{name}.weights", shape=("weights",), dtype=np.float32)
        starts = as_offsets(arrays[f"{name}.starts"], f"{name}.starts", total=len(weights))
        if len(starts) != len(keys) + 1 or (np.diff(keys) <= 0).any():
            raise InputError(f"{name}: expected keys in ascending order, and starts with one more entry than keys")
        labels = as_indices(arrays[f"{name}.labels"], f"{name}.labels", upper=num_labels, shape=weights.shape)
        return FeatureWeights(keys, starts, labels.astype(np.int32), weights, num_labels)
