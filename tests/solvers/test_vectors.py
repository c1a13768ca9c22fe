"""Vector instructions against their plain definitions."""

import numpy as np
import pytest
from numba import njit

from colgen.solvers import vectors
from colgen.solvers.vectors import WIDTH

# Compiled once for each type, in each run: a kernel that is kept would not see that the instructions have changed.


@njit
def summed(a, left, i, right, j, out, table, bound):
    best = vectors.sum_rows(a, left, i, right, j, out)
    bits = np.empty((2, len(out) // WIDTH), dtype=np.int64)
    for k in range(0, len(out), WIDTH):
        bits[0, k // WIDTH] = vectors.reaching(out, k, bound)
        bits[1, k // WIDTH] = vectors.above(out, k, table, 1, bound)
    return best, vectors.row_max(out), bits


@njit
def searched(a, left, right, table, others, bound):
    places, found = np.empty(len(left), dtype=np.int64), np.empty(len(left), dtype=np.bool_)
    either = np.empty(len(left), dtype=np.bool_)
    most, least = np.empty(len(left), dtype=left.dtype), np.empty(len(left), dtype=left.dtype)
    for i in range(len(left)):
        places[i] = vectors.row_argmax(left, i)
        found[i] = vectors.any_above(a, left, i, right, i, table, i, bound)
        either[i] = vectors.any_above_two(a, i, a - a, (i + 1) % len(left), left, right, i, table, i, bound)
        most[i] = vectors.max_sum(left, i, right, i, others, i)
        least[i] = vectors.row_least(left, i)
    return places, found, either, most, least


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("num", [1, 5, 15, 16, 17, 48, 49])
def test_vector_instructions_agree_with_their_definitions(num, dtype):
    rng = np.random.default_rng(num)
    left, right = rng.normal(size=(3, num)).astype(dtype), rng.normal(size=(4, num)).astype(dtype)
    left[0, 0] = -np.inf
    width = vectors.padded(num)
    table = np.full((2, width), -np.inf, dtype=dtype)
    table[:, :num] = rng.normal(size=(2, num))
    table[1, 0] = np.inf

    a, bound = dtype(0.5), dtype(0.25)
    out, plain = (np.full(width, -np.inf, dtype=dtype) for _ in range(2))
    best, most, bits = summed(a, left, 0, right, 2, out, table, bound)
    assert best == vectors.sum_rows(a, left, 0, right, 2, plain)
    np.testing.assert_array_equal(out, plain)
    assert most == vectors.row_max(plain)
    for k in range(0, width, WIDTH):
        assert bits[0, k // WIDTH] == vectors.reaching(plain, k, bound)
        assert bits[1, k // WIDTH] == vectors.above(plain, k, table, 1, bound)
        for word in bits[:, k // WIDTH].tolist():
            if word:
                assert vectors.lowest_bit(word) == min(b for b in range(WIDTH) if word >> b & 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("num", [1, 15, 16, 17, 31, 64, 65, 81])
def test_searches_of_rows_agree_with_their_definitions(num, dtype):
    rng = np.random.default_rng(num)
    rows, others = rng.normal(size=(6, num)).astype(dtype), rng.normal(size=(6, num)).astype(dtype)
    rows[0, -1] = 9.0
    rows[1] = -np.inf
    rows[2] = 0.0
    table = rng.normal(size=(6, vectors.padded(num))).astype(dtype)
    table[3, : num // 2] = np.inf
    more = rng.normal(size=(6, vectors.padded(num))).astype(dtype)
    more[4, : num // 2] = -np.inf

    for bound in (-np.inf, 0.5, 2.0, 4.0):
        places, found, either, most, least = searched(dtype(0.5), rows, others, table, more, dtype(bound))
        assert places.tolist() == [vectors.row_argmax(rows, i) for i in range(6)]
        assert found.tolist() == [
            vectors.any_above(dtype(0.5), rows, i, others, i, table, i, dtype(bound)) for i in range(6)
        ]
        assert either.tolist() == [
            vectors.any_above_two(dtype(0.5), i, dtype(0.0), (i + 1) % 6, rows, others, i, table, i, dtype(bound))
            for i in range(6)
        ]
        assert most.tolist() == [vectors.max_sum(rows, i, others, i, more, i) for i in range(6)]
        assert least.tolist() == [vectors.row_least(rows, i) for i in range(6)]


@njit
def added(column, first, factor, rows, table, row, start):
    vectors.add_outer(column, 1, first, factor, rows, 1, table, start)
    vectors.add_rows(column, 2, first, table, row, 0, start)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("start", [0, WIDTH, 2 * WIDTH])
@pytest.mark.parametrize("first", [0, 3, 5])
def test_rows_are_added_as_in_their_definitions(first, start, dtype):
    rng = np.random.default_rng(first)
    table, rows, row = (rng.normal(size=(size, 2 * WIDTH)).astype(dtype) for size in (5, 3, 1))
    column = rng.normal(size=(4, 5)).astype(dtype).T  # not contiguous
    expected = table.copy(), row.copy()
    vectors.add_outer(column, 1, first, dtype(0.5), rows, 1, expected[0], start)
    vectors.add_rows(column, 2, first, expected[0], expected[1], 0, start)
    added(column, first, dtype(0.5), rows, table, row, start)
    for found, wanted in zip((table, row), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype is np.float32 else 1e-13)
