"""Dual values by name."""

import numpy as np
import pytest

from colgen import Duals
from colgen.core.duals import RowNames
from colgen.core.errors import UnknownRowError


@pytest.fixture
def names():
    names = RowNames()
    for key in [("demand", 2), ("limit", None), ("demand", 0)]:
        names.append(key)
    return names


def test_blocks_and_single_rows(names):
    duals = Duals(np.array([1.0, 2.0, 3.0]), names)
    assert duals["demand"].tolist() == [1.0, 3.0]  # in the order in which the rows were added
    assert duals["demand", 0] == 3.0
    assert duals["limit"] == 2.0
    assert isinstance(duals["limit"], float)
    assert duals["limit", None] == 2.0
    assert list(duals.items("demand")) == [(2, 1.0), (0, 3.0)]


def test_rows_added_later_are_zero_in_older_duals(names):
    duals = Duals(np.array([1.0, 2.0, 3.0]), names)
    names.append(("demand", 9))
    names.append(("cut", 0))
    assert duals["demand"].tolist() == [1.0, 3.0]
    assert duals["demand", 9] == 0.0
    assert duals.get(("demand", 9)) == 0.0
    assert list(duals.items("cut")) == []
    newer = Duals(np.arange(5.0), names)
    assert newer["demand"].tolist() == [0.0, 2.0, 3.0]
    assert newer["cut"].tolist() == [4.0]


def test_block_of_one_indexed_row_is_an_array(names):
    names.append(("single", 5))
    assert Duals(np.arange(4.0), names)["single"].tolist() == [3.0]


def test_unknown_rows(names):
    duals = Duals(np.zeros(3), names)
    with pytest.raises(UnknownRowError, match="demand, limit"):
        duals["demnad"]
    with pytest.raises(UnknownRowError, match="demnad"):
        duals["demnad", 0]
    assert duals.get(("demnad", 0)) == 0.0
    assert duals.get(("demnad", 0), -1.0) == -1.0
    assert list(duals.items("demnad")) == []


def test_immutable(names):
    duals = Duals(np.zeros(3), names)
    with pytest.raises(ValueError, match="read-only"):
        duals.values[0] = 1.0
    other = duals.replace(np.ones(3))
    assert other["limit"] == 1.0
    assert duals["limit"] == 0.0
