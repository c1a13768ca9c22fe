"""Rows that grow against a dense matrix."""

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.quadratic.sparse_rows import SparseRows, check_vector


def test_products_and_means_are_those_of_a_dense_matrix():
    rng = np.random.default_rng(0)
    rows, dense = SparseRows(50), []
    for count in [0, 1, 50, *rng.integers(0, 51, 40)]:
        numbers = rng.permutation(50)[:count]
        values = rng.normal(size=count)
        rows.append(numbers, values)
        dense.append(np.zeros(50))
        dense[-1][numbers] = values
        matrix, vector = np.array(dense), rng.normal(size=50)
        assert rows.products(vector) == pytest.approx(matrix @ vector, abs=1e-12)
        chosen = rng.permutation(len(dense))[:5].astype(np.int64)
        weights = rng.normal(size=len(chosen))
        assert rows.combined(chosen, weights) == pytest.approx(weights @ matrix[chosen], abs=1e-12)
    assert len(rows) == len(dense)


@pytest.mark.parametrize(
    ("numbers", "values"),
    [([3], [1.0]), ([-1], [1.0]), ([0], [np.inf]), ([0, 1], [1.0]), ([0.5], [1.0]), ([[0]], [[1.0]])],
)
def test_invalid_vectors_are_rejected(numbers, values):
    with pytest.raises(ArrayError, match="of a sparse vector"):
        check_vector(np.array(numbers), np.array(values), 3)
