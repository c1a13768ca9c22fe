"""What a round asks of columns: reduced costs, those that improve, the best that is known."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    Column,
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
