"""Solutions are immutable data."""

import dataclasses

import pytest

from colgen import Column, Solution


def test_a_solution_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Solution(1.0).objective = 2.0


def test_defaults_are_empty_and_not_shared():
    first, second = Solution(0.0), Solution(0.0)
    assert (tuple(first.columns), dict(first.variables), first.integer) == ((), {}, frozenset())
    assert first == second


def test_equal_data_are_equal_solutions():
    column = Column(1.0, {("cover", 0): 1.0})
    assert Solution(1.0, ((column, 1.0),)) == Solution(1.0, ((Column(1.0, {("cover", 0): 1.0}), 1.0),))
    assert Solution(1.0, ((column, 1.0),)) != Solution(1.0, ((column, 0.5),))
