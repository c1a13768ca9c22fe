"""A growing list of sparse vectors: products with a dense vector, and weighted sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices, as_integer
from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Vector = tuple[Ints, Floats]


class SparseRows:
    """A matrix of ``size`` columns that grows by rows.

    An ArrayError is raised if an index is out of range or a value is not finite.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._starts = np.zeros(2, dtype=np.int64)
        self._numbers = np.zeros(8, dtype=np.int32)
        self._values = np.zeros(8)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, numbers: Ints, values: Floats) -> None:
        """Append a row with these entries, each index once."""
        numbers, values = check_vector(numbers, values, self.size)
        begin = int(self._starts[self._count])
        end = begin + len(numbers)
        while end > len(self._numbers):
            self._numbers, self._values = (np.concatenate([old, old]) for old in (self._numbers, self._values))
        if self._count + 2 > len(self._starts):
            self._starts = np.concatenate([self._starts, self._starts])
        self._numbers[begin:end], self._values[begin:end] = numbers, values
        self._count += 1
        self._starts[self._count] = end

    def products(self, dense: Floats) -> Floats:
        """Return the product of each row with a dense vector."""
        return _products(self._starts[: self._count + 1], self._numbers, self._values, dense)

    def combined(self, chosen: Ints, weights: Floats) -> Floats:
        """Return the sum of some rows times their weights."""
        total = np.zeros(self.size)
        _add(self._starts, self._numbers, self._values, chosen, weights, total)
        return total


def check_vector(numbers: Ints, values: Floats, size: int) -> Vector:
    """Return the validated indices and values of a sparse vector.

    An ArrayError is raised if an index is out of range or a value is not finite.
    """
    numbers = as_indices(numbers, "numbers of a sparse vector", upper=as_integer(size, "size", low=1), shape=(None,))
    return numbers, as_floats(values, "values of a sparse vector", shape=(len(numbers),))


@njit(cache=True, nogil=True)
def _products(starts: Ints, numbers: NDArray[np.int32], values: Floats, dense: Floats) -> Floats:
    found = np.zeros(len(starts) - 1)
    for k in range(len(found)):
        total = 0.0
        for e in range(starts[k], starts[k + 1]):
            total += values[e] * dense[numbers[e]]
        found[k] = total
    return found


@njit(cache=True, nogil=True)
def _add(
    starts: Ints, numbers: NDArray[np.int32], values: Floats, chosen: Ints, weights: Floats, total: Floats
) -> None:
    for j in range(len(chosen)):
        k = chosen[j]
        for e in range(starts[k], starts[k + 1]):
            total[numbers[e]] += weights[j] * values[e]
