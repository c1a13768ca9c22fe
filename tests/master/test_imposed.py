"""What a node and a dive impose: columns that are forbidden, variables with tighter bounds, columns that are fixed."""

import pytest

from colgen import Decision
from colgen.core.errors import UnknownRowError
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
    master.apply([Without(cheap.structure)])
    assert master.solve().objective > best
    master.apply(())
    assert master.solve().objective == pytest.approx(best)


def test_a_column_that_comes_below_a_decision_is_judged_too():
    master = covering()
    dear, cheap = col((2, 2), 9.0), col((1, 1), 1.0)
    master.add([dear])
    master.apply([Without(cheap.structure)])
    worse = master.solve().objective
    master.add([cheap])
    assert master.solve().objective == pytest.approx(worse)


def test_bounds_of_what_the_master_does_not_have_are_refused_by_name():
    master = covering()
    with pytest.raises(UnknownRowError, match="'nothing'"):
        master.apply([Bounding(("nothing", 0), 0.0, 1.0)])


def test_only_columns_of_the_master_can_be_fixed():
    master = covering()
    master.add([col((1, 1))])
    with pytest.raises(UnknownRowError, match="to fix"):
        master.fix({"absent": 1.0})
