"""Sparse patterns: in order, picked from, told apart."""

import numpy as np
import pytest

from colgen.core.patterns import equal, in_order, picked, signatures


def compressed(*columns):
    starts = np.cumsum([0, *map(len, columns)]).astype(np.int32)
    rows = np.array([row for column in columns for row, _ in column], dtype=np.int32)
    values = np.array([value for column in columns for _, value in column], dtype=np.float64)
    return starts, rows, values


BATCH = compressed([(0, 1.0), (3, 2.0)], [], [(1, -1.0)], [(0, 1.0), (3, 2.0)])
COSTS = np.array([1.0, 1.0, 2.0, 1.0])


def test_entries_are_brought_in_order_of_rows():
    found = in_order(*compressed([(3, 2.0), (0, 1.0)], [], [(1, -1.0)], [(0, 1.0), (3, 2.0)]))
    for part, expected in zip(found, BATCH, strict=True):
        assert part.tolist() == expected.tolist()


def test_a_row_twice_is_refused_with_the_column():
    with pytest.raises(ValueError, match="column 1 of a batch states the row number 4 twice"):
        in_order(*compressed([(4, 1.0)], [(4, 1.0), (2, 1.0), (4, 2.0)]))


def test_columns_are_picked_in_the_order_asked_for():
    found = picked(*BATCH, np.array([2, 0, 1]))
    expected = compressed([(1, -1.0)], [(0, 1.0), (3, 2.0)], [])
    for part, other in zip(found, expected, strict=True):
        assert part.tolist() == other.tolist()


def test_equal_columns_have_equal_numbers_and_others_do_not():
    found = signatures(COSTS, *BATCH)
    assert found[0] == found[3]
    assert len(set(found.tolist())) == 3
    assert signatures(COSTS + 1.0, *BATCH)[0] != found[0]


def test_neither_the_order_of_entries_nor_the_sign_of_zero_counts():
    one = signatures(np.zeros(1), *compressed([(3, 2.0), (0, 1.0)]))
    assert one == signatures(-np.zeros(1), *compressed([(0, 1.0), (3, 2.0)]))


def test_many_patterns_have_as_many_numbers():
    rng = np.random.default_rng(0)
    columns = {tuple(sorted((int(r), float(rng.integers(1, 3))) for r in rng.permutation(8)[:3])) for _ in range(2000)}
    found = signatures(np.zeros(len(columns)), *compressed(*columns))
    assert len(set(found.tolist())) == len(columns)


def test_a_few_have_the_numbers_that_they_have_among_many():
    rng = np.random.default_rng(1)
    columns = [[(int(r), float(rng.normal())) for r in np.sort(rng.permutation(2**20)[:3])] for _ in range(50)]
    costs = rng.normal(size=50)
    many = signatures(costs, *compressed(*columns))
    few = [int(signatures(costs[k : k + 1], *compressed(columns[k]))[0]) for k in range(50)]
    assert few == many.tolist()


def test_a_slice_is_picked_as_its_numbers_are():
    for part, other in zip(picked(*BATCH, slice(1, 3)), picked(*BATCH, np.array([1, 2])), strict=True):
        assert part.tolist() == other.tolist()


def test_columns_are_compared_number_by_number():
    these, those = np.array([0, 0, 1, 2, 0]), np.array([3, 2, 1, 2, 1])
    assert equal(BATCH, COSTS, these, BATCH, COSTS, those).tolist() == [True, False, True, True, False]
    assert not equal(BATCH, COSTS, these, BATCH, COSTS + 1.0, those).any()
