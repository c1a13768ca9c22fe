"""Dual values by name."""

import re

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


def test_extend_equals_repeated_append(names):
    more = [("demand", 5), ("demand", 7), ("limit", 1), ("demand", 9)]
    names.block("demand")  # cached, and stale after the extension
    together = RowNames()
    together.extend(names.keys)
    together.extend(more)
    for key in more:
        names.append(key)
    assert (together.keys, together.position) == (names.keys, names.position)
    for block in ("demand", "limit"):
        assert together.block(block).tolist() == names.block(block).tolist()
        assert together.members(block) == names.members(block)


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
    with pytest.raises(UnknownRowError, match=r"did you mean 'demand'. The master has rows named 'demand', 'limit'"):
        duals["demnad"]
    with pytest.raises(UnknownRowError, match="demnad"):
        duals["demnad", 0]
    assert duals.get(("demnad", 0)) == 0.0
    assert duals.get(("demnad", 0), -1.0) == -1.0
    assert list(duals.items("demnad")) == []


def test_members_are_accessed_by_name(names):
    names.append(("demand", ("Oslo", 1)))
    duals = Duals(np.array([1.0, 2.0, 3.0, 4.0]), names)
    assert duals.members("demand") == (2, 0, ("Oslo", 1))
    assert duals["demand"].tolist() == [duals["demand", i] for i in duals.members("demand")]
    assert duals["demand", [0, ("Oslo", 1), 0]].tolist() == [3.0, 4.0, 3.0]
    assert duals["demand", np.array([0, 2])].tolist() == [3.0, 1.0]
    assert duals["demand", []].tolist() == []
    assert dict(duals.items("demand")) == {2: 1.0, 0: 3.0, ("Oslo", 1): 4.0}


def test_blocks_without_rows_are_empty_arrays(names):
    duals = Duals(np.array([1.0, 2.0, 3.0]), names)
    assert duals.array("cut").tolist() == []
    assert duals.members("cut") == ()
    names.append(("cut", 7))
    assert duals.array("cut").tolist() == []  # added later
    assert duals.members("cut") == ()
    assert list(duals.items("cut")) == []
    assert duals.array("limit").tolist() == [2.0]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (("limit", 0), "'limit' is a scalar constraint: its key is ('limit', None)"),
        (("demand", "2"), "did you mean ('demand', 2)?"),
        (("demand", 5), "the rows of 'demand' have the indices 2, 0"),
        (("demand", [5]), "the rows of 'demand' have the indices 2, 0"),
        (("demand", None), "the rows of 'demand' have the indices 2, 0"),
        (("limits", None), "did you mean 'limit'? The master has rows named 'demand', 'limit'"),
        (("demand", 2, 0), "the rows of 'demand' have the indices 2, 0"),
        (("demand", {}), "the rows of 'demand' have the indices 2, 0"),
        ("limts", "did you mean 'limit'?"),
        (5, "the master has rows named 'demand', 'limit'"),
    ],
)
def test_an_unknown_key_gets_a_suggestion(names, key, said):
    with pytest.raises(UnknownRowError, match=re.escape(said)):
        Duals(np.zeros(3), names)[key]


def test_long_lists_of_indices_are_shortened():
    names = RowNames()
    for k in range(9):
        names.append(("visit", k))
    assert names.suggest(("visit", -1)) == "; the rows of 'visit' have the indices 0, 1, 2, 3, 4, ..."
    assert RowNames().suggest("visit") == "; the master has none"


def test_immutable(names):
    duals = Duals(np.zeros(3), names)
    with pytest.raises(ValueError, match="read-only"):
        duals.values[0] = 1.0
    other = duals.replace(np.ones(3))
    assert other["limit"] == 1.0
    assert duals["limit"] == 0.0
