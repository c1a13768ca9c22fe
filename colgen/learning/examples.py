"""Examples that linear models learn from: scores that are products of features and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.errors import InputError
from colgen.learning.oracles import Structure, StructureOracle, right_structure

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Features: TypeAlias = tuple[Ints, Floats]
"""Numbers of features, each once, and their values: a sparse vector."""


class Example(Protocol):
    """An example as trainers see it; write one of your own where features are no matrices."""

    @property
    def oracle(self) -> StructureOracle:
        """Finds structures of largest score."""

    @property
    def right(self) -> Structure:
        """The right structure."""

    def scores(self, weights: Floats) -> tuple[Floats, ...]:
        """The oracle's arrays of scores, linear in the weights."""

    def joint(self, arrays: Sequence[Features]) -> Features:
        """The features of parts, given places and how often they occur for each array of scores."""


@dataclass(frozen=True, eq=False)
class LinearExample:
    """An example whose scores are matrices of features times weights.

    Parameters
    ----------
    oracle
        Finds structures of largest score.
    features
        For each array of scores a matrix (scipy's sparse ones, or arrays) with a row for each of its entries, in order,
        and a column for each weight.
    shapes
        Of the arrays of scores.
    right
        The right structure: labels, or its parts, see :mod:`colgen.learning.oracles`.
    """

    oracle: StructureOracle
    features: Sequence[Any]
    shapes: Sequence[tuple[int, ...]]
    right: Any

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
        object.__setattr__(self, "right", right_structure(self.oracle, self.right, scores))

    def scores(self, weights: Floats) -> tuple[Floats, ...]:
        """Scores, each in its shape."""
        if len(weights) != self.features[0].shape[1]:
            raise InputError(f"expected {self.features[0].shape[1]} weights, as many as features, got {len(weights)}")
        return tuple((f @ weights).reshape(shape) for f, shape in zip(self.features, self.shapes, strict=True))

    def joint(self, arrays: Sequence[Features]) -> Features:
        """The features of parts."""
        numbers, values = [], []
        for matrix, (places, counts) in zip(self.features, arrays, strict=True):
            chosen = matrix[places]
            numbers.append(chosen.indices.astype(np.int64))
            values.append(chosen.data * np.repeat(counts, np.diff(chosen.indptr)))
        return summed(np.concatenate(numbers), np.concatenate(values))


def summed(numbers: Ints, values: Floats) -> Features:
    """A sparse vector, each number once."""
    unique, inverse = np.unique(numbers, return_inverse=True)
    return unique, np.bincount(inverse, values, len(unique)).astype(np.float64)


def less(example: Example, one: Structure, other: Structure) -> Features:
    """The features of one structure less those of another."""
    parts = [
        _without_zeros(*summed(np.concatenate([mine, its]), np.concatenate([counts, -other_counts])))
        for (mine, counts), (its, other_counts) in zip(one.parts, other.parts, strict=True)
    ]  # what they share is not looked up
    return _without_zeros(*example.joint(parts))


def _without_zeros(numbers: Ints, values: Floats) -> Features:
    kept = values != 0.0
    return numbers[kept], values[kept]


def of_arrays(arrays: Sequence[Floats]) -> list[Features]:
    """Places and values of what is not zero in arrays of parts."""
    places = [np.flatnonzero(array).astype(np.int64) for array in arrays]
    return [(where, array.ravel()[where]) for where, array in zip(places, arrays, strict=True)]


def check_examples(examples: Sequence[Example]) -> None:
    """Refuse to learn from nothing.

    Raises
    ------
    InputError
        If there is no example.
    """
    if not len(examples):
        raise InputError("expected examples to learn from, there are none")
