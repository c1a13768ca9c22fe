"""Batches of rows: selection and validation."""

import numpy as np
import pytest

from colgen.core.errors import FormulationError
from colgen.core.row_batch import RowBatch

KEYS = [("link", 0), ("link", 1), ("link", 2)]


def test_some_of_the_rows_keep_their_entries_and_sides():
    batch = RowBatch(KEYS, [0, 2, 2, 3], [4, 1, 0], [1.0, -1.0, 2.0], lower=[0.0, -1.0, -2.0], upper=5.0)
    some = batch.take(np.array([2, 0]))
    assert some.keys == [("link", 2), ("link", 0)]
    assert some.starts.tolist() == [0, 1, 3]
    assert some.columns.tolist() == [0, 4, 1]
    assert some.values.tolist() == [2.0, 1.0, -1.0]
    assert some.lower.tolist() == [-2.0, 0.0]
    assert some.upper.tolist() == [5.0, 5.0]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([0, 1], [0], [1.0]), "a batch of 3 rows has 2 starts, 1 columns and 1 values: expected 4 starts"),
        (([0, 1, 2, 3], [0, 1], [1.0, 1.0]), "a batch of 3 rows has 4 starts, 2 columns"),
        (([0, 2, 1, 3], [0, 1, 2], [1.0, 1.0, 1.0]), "starts that rise from 0"),
        (([0, 1, 2, 3], [0, 1, 2], [1.0, np.inf, 1.0]), r"row \('link', 1\) has a coefficient"),
    ],
)
def test_arrays_of_wrong_lengths_are_refused(arrays, message):
    with pytest.raises(FormulationError, match=message):
        RowBatch(KEYS, *arrays, upper=0.0)


def test_empty_sides_are_refused():
    with pytest.raises(FormulationError, match=r"row \('link', 0\) has the sides 1.0 and 0.0"):
        RowBatch(KEYS, [0, 0, 0, 0], [], [], lower=1.0, upper=0.0)
