"""Sparse patterns: in order, picked from."""

import numpy as np
import pytest

from colgen.core.patterns import in_order, picked


def compressed(*columns):
    starts = np.cumsum([0, *map(len, columns)]).astype(np.int32)
    rows = np.array([row for column in columns for row, _ in column], dtype=np.int32)
    values = np.array([value for column in columns for _, value in column], dtype=np.float64)
    return starts, rows, values


BATCH = compressed([(0, 1.0), (3, 2.0)], [], [(1, -1.0)], [(0, 1.0), (3, 2.0)])


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


def test_a_slice_is_picked_as_its_numbers_are():
    for part, other in zip(picked(*BATCH, slice(1, 3)), picked(*BATCH, np.array([1, 2])), strict=True):
        assert part.tolist() == other.tolist()
