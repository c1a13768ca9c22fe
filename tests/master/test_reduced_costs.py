"""Columns at dual values: reduced costs, the best that is known."""

import pyomo.environ as pyo
import pytest

from tests.master.programs import col, covering


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_best_known_reduced_costs_per_pricing_problem(sense):
    master = covering(sense=sense)
    s = master.sense.sign
    every = [col((1, 0), s), col((0, 1), s), col((1, 1), 9.0 * s)]
    master.add(every[:1])
    for origin, column in enumerate(every[1:]):
        master.add([column], origins=origin)
    solved = master.solve()
    of_each = master.price(every, solved.duals)
    assert master.rows.best_known(solved.duals, 2) == pytest.approx(of_each[1:])
    # Given columns count as the only pricing problem's own.
    assert master.rows.best_known(solved.duals, 1) == pytest.approx([s * min(s * of_each)])


def test_many_columns_are_priced_as_each_alone():
    master = covering()
    master.add([col((1, 0)), col((0, 1))])
    duals = master.solve().duals
    many = [col((i, j), float(i + j)) for i in range(6) for j in range(6)]
    alone = [float(master.price([column], duals)[0]) for column in many]
    assert master.price(many, duals) == pytest.approx(alone)
    assert not len(master.price([], duals))
