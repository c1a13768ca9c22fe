"""Examples for linear models, whose scores are products of features and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.errors import InputError
from colgen.learning.oracles import Structure, StructureOracle, gold_structure

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Features: TypeAlias = tuple[Ints, Floats]
"""Indices of features, each once, and their values: a sparse vector."""


class Example(Protocol):
    """The interface of examples.  Implement it if features are not matrices."""

    @property
    def oracle(self) -> StructureOracle:
        """Oracle that finds structures of largest score."""

    @property
    def gold(self) -> Structure:
        """The gold structure."""

    def scores(self, weights: Floats) -> tuple[Floats, ...]:
        """Return the oracle's arrays of scores, which are linear in the weights."""

    def joint(self, arrays: Sequence[Features]) -> Features:
        """Return the features of parts, given as places and counts for each array of scores."""


@dataclass(frozen=True, eq=False)
class LinearExample:
    """An example whose scores are matrices of features times weights.

    Parameters
    ----------
    oracle
        Finds structures of largest score.
    features
        One matrix per array of scores (sparse or dense), with a row per score in C order and a column per weight.
    shapes
        Shapes of the arrays of scores.
    gold
        The gold structure: labels or parts, see :mod:`colgen.learning.oracles`.
    """

    oracle: StructureOracle
    features: Sequence[Any]
    shapes: Sequence[tuple[int, ...]]
    gold: Any

    def __post_init__(self) -> None:
        if len(self.features) != len(self.shapes) or not self.shapes:
            raise InputError(
                f"expected a shape for each matrix of features, got {len(self.shapes)} for {len(self.features)}"
            )
        matrices = [sparse.csr_matrix(matrix, dtype=np.float64) for matrix in self.features]
        for matrix, shape in zip(matrices, self.shapes, strict=True):
            if matrix.shape[0] != int(np.prod(shape)) or matrix.shape[1] != matrices[0].shape[1]:
                raise InputError(
                    f"features: expected {int(np.prod(shape))} rows for scores of shape {tuple(shape)} and "
                    f"{matrices[0].shape[1]} columns, got {matrix.shape[0]} and {matrix.shape[1]}"
                )
        object.__setattr__(self, "features", tuple(matrices))
        scores = [np.zeros(shape) for shape in self.shapes]
        object.__setattr__(self, "gold", gold_structure(self.oracle, self.gold, scores))

    def scores(self, weights: Floats) -> tuple[Floats, ...]:
        if len(weights) != self.features[0].shape[1]:
            raise InputError(f"expected {self.features[0].shape[1]} weights, one per feature, got {len(weights)}")
        return tuple((f @ weights).reshape(shape) for f, shape in zip(self.features, self.shapes, strict=True))

    def joint(self, arrays: Sequence[Features]) -> Features:
        numbers, values = [], []
        for matrix, (places, counts) in zip(self.features, arrays, strict=True):
            chosen = matrix[places]
            numbers.append(chosen.indices.astype(np.int64))
            values.append(chosen.data * np.repeat(counts, np.diff(chosen.indptr)))
        return sum_entries(np.concatenate(numbers), np.concatenate(values))


def sum_entries(numbers: Ints, values: Floats) -> Features:
    """Return a sparse vector with repeated indices summed."""
    unique, inverse = np.unique(numbers, return_inverse=True)
    return unique, np.bincount(inverse, values, len(unique)).astype(np.float64)


def subtract_features(example: Example, one: Structure, other: Structure) -> Features:
    """Return the features of one structure minus those of another."""
    parts = [
        _drop_zeros(*sum_entries(np.concatenate([mine, its]), np.concatenate([counts, -other_counts])))
        for (mine, counts), (its, other_counts) in zip(one.parts, other.parts, strict=True)
    ]  # shared parts cancel out and need no features
    return _drop_zeros(*example.joint(parts))


def _drop_zeros(numbers: Ints, values: Floats) -> Features:
    kept = values != 0.0
    return numbers[kept], values[kept]


def nonzero_entries(arrays: Sequence[Floats]) -> list[Features]:
    """Return places and values of the nonzero entries of each array."""
    places = [np.flatnonzero(array).astype(np.int64) for array in arrays]
    return [(where, array.ravel()[where]) for where, array in zip(places, arrays, strict=True)]


def check_examples(examples: Sequence[Example]) -> None:
    """Raise an InputError if there is no example."""
    if not len(examples):
        raise InputError("examples: expected one example or more, got none")
