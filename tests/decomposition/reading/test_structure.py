"""Recognized matrices are totally unimodular: all square submatrices have determinant 0, 1 or -1."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from colgen.decomposition.reading.structure import signs_of_rows, unimodular
from tests.amounts import examples


def is_unimodular(matrix):
    rows, columns = matrix.shape
    return all(
        abs(round(float(np.linalg.det(matrix[np.ix_(r, c)])))) <= 1
        for k in range(1, min(rows, columns) + 1)
        for r in itertools.combinations(range(rows), k)
        for c in itertools.combinations(range(columns), k)
    )


def shuffled(matrix, rng):
    """Return a matrix in another order, with other signs and units of rows."""
    rows, columns = matrix.shape
    matrix = matrix[rng.permutation(rows)][:, rng.permutation(columns)]
    units = rng.choice([-3.0, -1.0, 0.1, 1.0], rows)
    return matrix * rng.choice([-1.0, 1.0], columns) * units[:, None]


def network(rng):
    matrix = np.zeros((5, 6))
    for k in range(6):
        one, other = rng.permutation(5)[:2]
        matrix[one, k] = 1.0
        matrix[other, k] = -(rng.random() < 0.8)
    return matrix


def intervals(rng):
    matrix = np.zeros((5, 6))
    for row in matrix:
        first, last = np.sort(rng.integers(0, 7, 2))
        row[first:last] = 1.0
    return matrix


@pytest.mark.parametrize("seed", range(examples(15, 150)))
def test_networks_and_intervals_are_recognized_in_any_order(seed):
    rng = np.random.default_rng(seed)
    for matrix in (network(rng), network(rng).T):
        assert unimodular(sparse.csc_array(shuffled(matrix, rng)))
    rows = intervals(rng)
    rows = rows[rows.any(axis=1)]
    for matrix in (rows, rows.T):
        assert unimodular(sparse.csc_array(matrix))
        signs = np.outer(rng.choice([-2.0, 1.0], len(matrix)), rng.choice([-1.0, 1.0], matrix.shape[1]))
        assert unimodular(sparse.csc_array(matrix * signs))


@pytest.mark.parametrize("seed", range(examples(60, 600)))
def test_other_matrices_are_not_recognized(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.choice([-1.0, 0.0, 0.0, 1.0] if seed % 2 else [0.0, 0.0, 1.0], rng.integers(2, 6, 2))
    for given in (matrix, shuffled(matrix, rng), shuffled(network(rng), rng), shuffled(intervals(rng), rng)):
        if unimodular(sparse.csc_array(given)) is not None:
            size = np.abs(given).max(axis=1, keepdims=True)
            assert is_unimodular(given / np.where(size > 0.0, size, 1.0))


def test_an_order_is_found_if_the_model_has_another():
    rng = np.random.default_rng(0)
    chain = np.array([[k <= j <= k + 2 for j in range(9)] for k in range(7)]) * 1.0
    for matrix in (chain, chain.T):
        mixed = matrix[rng.permutation(len(matrix))][:, rng.permutation(matrix.shape[1])]
        assert unimodular(sparse.csc_array(mixed)) == "intervals"


def test_the_result_names_the_proof():
    odd = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    assert unimodular(sparse.csc_array(odd)) is None
    assert unimodular(sparse.csc_array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [-1.0, 0.0, 1.0]])) == "network"
    assert unimodular(sparse.csc_array([[2.0, 0.0], [0.0, 3.0]])) == "bounds"
    assert unimodular(sparse.csc_array([[1.0, 2.0]])) is None
    assert signs_of_rows(sparse.csc_array([[1.0, 1.0], [1.0, -1.0]])) is None
    assert (signs_of_rows(sparse.csc_array([[1.0, 0.0], [1.0, 1.0]])) != 0.0).all()
