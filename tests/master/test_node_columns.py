"""What a node and a dive impose: columns that are forbidden, variables with tighter bounds, columns that are fixed."""

from dataclasses import replace

import pytest

from colgen import Decision
from colgen.core.errors import UnknownRowError
from colgen.master.column_table import TEMPLATE
from tests.master.programs import col, covering


class Without(Decision):
    def __init__(self, structure):
        self.structure = structure

    def allows(self, column):
        return column.structure != self.structure


class Bounding(Decision):
    def __init__(self, key, low, high):
        self.key, self.sides = key, (low, high)

    def bounds(self):
        return {self.key: self.sides}


def test_a_forbidden_column_is_not_used_and_comes_back():
    master = covering()
    cheap, dear = col((1, 1), 1.0), col((2, 2), 9.0)
    master.add([cheap, dear])
    best = master.solve().objective
    master.node.apply([Without(cheap.structure)])
    assert master.solve().objective > best
    master.node.apply(())
    assert master.solve().objective == pytest.approx(best)


def test_columns_added_below_a_decision_are_screened():
    master = covering()
    dear, cheap = col((2, 2), 9.0), col((1, 1), 1.0)
    master.add([dear])
    master.node.apply([Without(cheap.structure)])
    worse = master.solve().objective
    master.add([cheap])
    assert master.solve().objective == pytest.approx(worse)


@pytest.mark.parametrize("count", [3, 40])  # looked at one by one, and as a batch
def test_a_decision_screens_columns_added_while_it_was_inactive(count):
    master, first = covering(), Without("first")
    master.node.apply([first])
    master.node.apply(())
    columns = [replace(col((1, 1), 1.0 + k), structure=str(k)) for k in range(count)]
    master.add([*columns, replace(col((2, 2), 0.5), structure="first")])
    master.node.apply([first, Without("0")])
    names = [column.structure for column in master.columns]
    closed = master.table.upper_now[master.table.origins != TEMPLATE] == 0.0
    assert {name for name, shut in zip(names, closed, strict=True) if shut} == {"0", "first"}
    master.node.apply([Without("0")])
    closed = master.table.upper_now[master.table.origins != TEMPLATE] == 0.0
    assert {name for name, shut in zip(names, closed, strict=True) if shut} == {"0"}


class Counting(Without):
    asked = 0

    def allows(self, column):
        self.asked += 1
        return super().allows(column)


def test_a_decision_judges_a_column_once():
    master, decision = covering(), Counting("bad")
    columns = [replace(col((1, 1), 1.0 + k), structure=k) for k in range(3)]
    master.node.apply([decision])
    for column in columns:
        master.add([column])
    master.node.apply([decision, Without("worse")])
    assert decision.asked == len(columns)


def test_a_forbidden_column_among_columns_added_below_a_decision():
    master, decision = covering(), Without("bad")
    master.node.apply([decision])
    for number, structure in enumerate(["good", "bad", "better"]):
        master.add([replace(col((1, 1), 1.0 + number), structure=structure)])
    for decisions in ([decision, Without("better")], [], [decision]):
        master.node.apply(decisions)
        names = [column.structure for column in master.columns]
        closed = master.table.upper_now[master.table.origins != TEMPLATE] == 0.0
        shut = {name for name, is_shut in zip(names, closed, strict=True) if is_shut}
        assert shut == {"bad", "better"} & {each.structure for each in decisions}


def test_bounds_of_unknown_variables_raise_errors():
    master = covering()
    with pytest.raises(UnknownRowError, match="'nothing'"):
        master.node.apply([Bounding(("nothing", 0), 0.0, 1.0)])


def test_only_columns_of_the_master_can_be_fixed():
    master = covering()
    master.add([col((1, 1))])
    with pytest.raises(UnknownRowError, match="to fix"):
        master.node.fix({"absent": 1.0})
