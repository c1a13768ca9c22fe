"""What a round asks of columns: reduced costs, those that improve, the best that is known."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    Column,
    LinearMaster,
)
from colgen.core.errors import RepeatedColumnError
from tests.master.programs import (
    col,
    covering,
)
from tests.master.test_batches import ITEMS, as_batch, master
from tests.toys import Pool


def test_improving_columns_of_a_batch():
    linear, oracle = master(), Pool([])
    present = [Column(1.0, {("demand", i): 1.0}, i) for i in range(ITEMS)]
    linear.add(present)
    duals = linear.solve().duals
    batch = as_batch([present[1], Column(0.5, {("demand", 0): 1.0}, "good"), Column(9.0, {}, "bad")], linear)
    chosen = linear.improving(oracle, batch, linear.reduced_costs(batch, duals), 1e-7)
    assert [column.structure for column in chosen] == ["good"]
    assert linear.add(chosen, (), 0) == 1
    assert linear.add(chosen, (), 0) == 0
    with pytest.raises(RepeatedColumnError, match="the column of 1 as improving"):
        linear.improving(oracle, batch, np.array([-1.0, 0.0, 0.0]), 1e-7)


def test_columns_of_many_pricing_problems_are_looked_up_together():
    """They are those that each alone would let in, the same objects, and join as such."""
    linear, oracles = master(), [Pool([]), Pool([]), Pool([])]
    present = [Column(1.0, {("demand", i): 1.0}, i) for i in range(ITEMS)]
    linear.add(present)
    first, second, third = (Column(cost, {("demand", 0): 1.0}, cost) for cost in (0.25, 0.5, 9.0))
    found, reduced = [[first, present[0]], (), [third, second, first]], [[-0.75, 0.0], [], [8.0, -0.5, -0.75]]
    arrays = [np.array(mine) for mine in reduced]
    together = linear.improving_of_each(oracles, found, arrays, 1e-7)
    assert [list(mine) for mine in together] == [[first], [], [second, first]]
    alone = [list(linear.improving(*one, 1e-7)) for one in zip(oracles, found, arrays, strict=True)]
    assert [[column.structure for column in mine] for mine in alone] == [[0.25], [], [0.5, 0.25]]
    assert linear.add_results(together) == 2
    assert [linear.origin(column) for column in (first, second)] == [0, 2]
    with pytest.raises(RepeatedColumnError, match="the column of 1 as improving"):
        linear.improving_of_each(oracles, [[], [present[1]], []], [np.empty(0), np.array([-1.0]), np.empty(0)], 1e-7)


def test_who_decides_otherwise_of_one_pricing_problem_is_asked_of_each():
    class Takes(LinearMaster):
        def improving(self, oracle, columns, reduced_costs, tolerance):
            return columns

    linear = Takes(master().formulation)
    linear.add([Column(1.0, {("demand", i): 1.0}, i) for i in range(ITEMS)])
    useless = Column(9.0, {}, "useless")
    found = [[useless], []]
    assert linear.improving_of_each([Pool([]), Pool([])], found, [np.array([9.0]), np.empty(0)], 1e-7) == found


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_the_best_known_is_asked_of_each_pricing_problem(sense):
    master = covering(sense=sense)
    s = master.sense.sign
    every = [col((1, 0), s), col((0, 1), s), col((1, 1), 9.0 * s)]
    master.add(every[:1])
    for origin, column in enumerate(every[1:]):
        master.add([column], origin=origin)
    solved = master.solve()
    of_each = master.reduced_costs(every, solved.duals)
    assert master.best_known(solved.duals, 2) == pytest.approx(of_each[1:])
    # What was given may be the only pricing problem's own.
    assert master.best_known(solved.duals, 1) == pytest.approx([s * min(s * of_each)])


def test_many_columns_are_priced_as_each_alone():
    master = covering()
    master.add([col((1, 0)), col((0, 1))])
    duals = master.solve().duals
    many = [col((i, j), float(i + j)) for i in range(6) for j in range(6)]
    alone = [float(master.reduced_costs([column], duals)[0]) for column in many]
    assert master.reduced_costs(many, duals) == pytest.approx(alone)
    assert not len(master.reduced_costs([], duals))
