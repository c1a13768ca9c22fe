"""Branching decisions as data: which columns they allow, and groups of pairs."""

from __future__ import annotations

import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import Column, Decision, Row, Solution
from colgen.core.decision import Apart, DecisionPath, Together, admits, groups_of, screen_of
from colgen.core.tolerances import fractionality

A, B, C = ("cover", 0), ("cover", 1), ("cover", 2)


def covering(*rows):
    return Column(1.0, dict.fromkeys(rows, 1.0), structure=rows)


@pytest.mark.parametrize(
    ("value", "expected"), [(0.5, 0.5), (2.25, 0.25), (-0.75, 0.25), (3.0, 0.0), (1 - 1e-9, 0.0), (7 + 1e-9, 0.0)]
)
def test_fractionality(value, expected):
    assert fractionality(value) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("rows", "together", "apart"),
    [((), True, True), ((A,), False, True), ((B, C), False, True), ((A, B), True, False), ((C,), True, True)],
)
def test_a_pair_is_in_one_column_or_in_two(rows, together, apart):
    assert Together(A, B).allows(covering(*rows)) is together
    assert Apart(A, B).allows(covering(*rows)) is apart


def test_a_zero_coefficient_covers_nothing():
    assert Apart(A, B).allows(Column(1.0, {A: 1.0, B: 0.0}))
    assert not Together(A, B).allows(Column(1.0, {A: 1.0, B: 0.0}))


class AtMost(Decision):
    def __init__(self, upper, x=None):
        self.upper, self.x = upper, x

    def row(self):
        return Row("count", upper=self.upper, coefficient=lambda column: 1.0)

    def bounds(self):
        return {} if self.x is None else {"x": self.x}


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ((), True),
        ((Together(A, B),), True),
        ((Apart(A, B),), False),
        ((AtMost(2.0),), True),
        ((AtMost(1.0),), False),
        ((AtMost(2.0, (0.0, 3.0)),), True),
        ((AtMost(2.0, (0.0, 2.0)),), False),
        ((Together(A, B), AtMost(1.0)), False),
    ],
)
def test_a_solution_is_admitted_if_it_satisfies_all_decisions(decisions, expected):
    solution = Solution(2.0, ((covering(A, B), 1.0), (covering(C), 1.0)), {"x": 3.0})
    assert admits(decisions, solution) is expected


def test_rounding_errors_are_admitted():
    solution = Solution(1.0, ((covering(A), 1.0 + 1e-9),), {"x": 2.0 + 1e-9})
    assert admits([AtMost(1.0, (0.0, 2.0))], solution)


def test_pairs_make_groups():
    pairs = [(A, B), ("d", "e"), (B, C), ("e", "e")]
    assert groups_of(pairs) == [(A, B, C), ("d", "e")]
    assert groups_of([]) == []


def test_a_screen_checks_only_relevant_decisions():
    rows = [("cover", k) for k in range(5)]
    looked = []

    class Counted(Apart):
        def allows(self, column):
            looked.append(self)
            return super().allows(column)

    class Cheap(Decision):
        def allows(self, column):
            return column.cost < 10.0

    decisions = (Together(rows[0], rows[1]), Counted(rows[1], rows[2]), Counted(rows[3], rows[4]), Cheap())
    screen = screen_of(decisions)
    assert screen_of(decisions) is screen
    for chosen in range(2**5):
        column = Column(1.0, {row: 1.0 for k, row in enumerate(rows) if chosen >> k & 1})
        objection = screen.objection(column)
        assert (objection is None) == all(decision.allows(column) for decision in decisions)
        assert objection is None or not objection.allows(column)
    assert screen.objection(Column(11.0, {})) is decisions[3]
    looked.clear()
    screen.objection(Column(1.0, {rows[3]: 1.0}))
    assert looked == [decisions[2]]
    assert screen_of(()) is not screen


def apart(k):
    return Apart(("row", k), ("row", k + 1))


@given(st.lists(st.lists(st.integers(0, 9).map(apart), max_size=3), max_size=6))
def test_a_path_lists_all_decisions_in_order(steps):
    path = DecisionPath()
    for own in steps:
        path = path.below(own)
    every = tuple(decision for own in steps for decision in own)
    assert path.decisions == every
    assert path == DecisionPath(every)
    assert hash(path) == hash(DecisionPath(every))
    assert path != path.below([apart(0)])


def test_siblings_share_the_path_above():
    parent = DecisionPath([apart(0)])
    left, right = parent.below([apart(1)]), parent.below([apart(2)])
    assert left.decisions[0] is right.decisions[0]
    assert parent.below(()) is parent
    assert parent.decisions == (apart(0),)


def test_a_deep_path_can_be_pickled_and_freed():
    path, deep = DecisionPath(), 20 * sys.getrecursionlimit()
    for k in range(deep):
        path = path.below([apart(k)])
    assert len(pickle.loads(pickle.dumps(path)).decisions) == deep
    del path
