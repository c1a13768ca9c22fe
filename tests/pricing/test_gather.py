"""Columns of several results as one batch, and those of them that join a master."""

import numpy as np
import pytest

from colgen import Column, PricingResult, Row
from colgen.bounding.pricing_round import select_improving
from colgen.core.errors import RepeatedColumnError
from colgen.pricing.calls import gather
from tests.master.test_batches import ITEMS, as_batch, master
from tests.toys import Pool


def demand(cost, *items, **more):
    return Column(cost, {("demand", i): 1.0 for i in items}, (cost, items), **more)


def whole(linear, *parts):
    duals = linear.solve().duals
    return gather([PricingResult(part) for part in parts], duals), duals


def test_single_columns_of_many_oracles_are_one_batch():
    first, second, third = demand(1.0, 0), demand(2.0, 1, 0), demand(3.0)
    found, _ = whole(master(), [first, second], [], (third,))
    assert list(found.columns) == [first, second, third]
    assert found.columns[1] is second
    assert found.origins.tolist() == [0, 0, 2]
    assert [part.tolist() for part in found.split(np.array([1.0, 2.0, 3.0]))] == [[1.0, 2.0], [], [3.0]]


def test_a_single_batch_is_returned_unchanged():
    linear = master()
    batch = as_batch([demand(1.0, 0)], linear)
    assert whole(linear, (), batch)[0].columns is batch
    assert whole(linear, [], ())[0].columns == ()


@pytest.mark.parametrize("keyed", [False, True])
def test_batches_and_single_columns_are_one_batch_over_the_master_s_rows(keyed):
    linear = master()
    keys = [("x", k) if keyed else None for k in range(4)]
    few = [demand(1.0, 0, key=keys[0]), demand(2.0, 4, 1, key=keys[1])]
    single, other = demand(3.0, 2, 0, upper=2.0, key=keys[2]), demand(4.0, 3, key=keys[3])
    found, duals = whole(linear, as_batch(few, linear), [single], as_batch([other], linear))
    alone = master()
    assert linear.price(found.columns, duals) == pytest.approx(alone.price([*few, single, other], alone.solve().duals))
    assert found.origins.tolist() == [0, 0, 1, 2]
    assert linear.add(found.columns, (), found.origins) == 4
    assert alone.add([*few, single, other], (), np.array([0, 0, 1, 2])) == 4
    assert list(linear.columns) == list(alone.columns) == [*few, single, other]
    assert linear.columns[2] is single
    assert linear.table.entry_lists() == alone.table.entry_lists()
    assert linear.origins.tolist() == [0, 0, 1, 2]


def test_a_batch_is_defined_over_rows_that_other_columns_bring():
    linear = master()
    link = Row(("link", 7), upper=0.0, coefficients={("y", None): -1.0})
    linked = Column(0.5, {("demand", 0): 1.0, ("link", 7): 1.0}, "linked", rows=(link,))
    plain = demand(1.0, 2)
    found, duals = whole(linear, as_batch([plain], linear), [linked])
    assert linear.price(found.columns, duals) == pytest.approx([-duals["demand", 2], -duals["demand", 0]])  # phase 1
    assert linear.find(found.columns).tolist() == [-1, -1]
    assert linear.add(found.columns, (), found.origins) == 2
    assert ("link", 7) in linear.rows
    assert list(linear.columns) == [plain, linked]
    assert linear.columns[1] is linked


def full():
    linear = master()
    present = [demand(1.0, i) for i in range(ITEMS)]
    linear.add(present)
    return linear, present


def test_columns_improve_that_gain_and_are_not_there():
    linear, present = full()
    batch = as_batch([present[1], demand(0.5, 0), demand(9.0)], linear)
    found, duals = whole(linear, batch)
    chosen = select_improving(linear, [Pool([])], found, linear.price(batch, duals), 1e-7)
    assert [column.structure for column in chosen.columns] == [(0.5, (0,))]
    assert linear.add(chosen.columns, (), chosen.origins) == 1
    assert linear.add(chosen.columns, (), chosen.origins) == 0
    with pytest.raises(RepeatedColumnError, match=r"the column of \(1.0, \(1,\)\) as improving"):
        select_improving(linear, [Pool([])], found, np.array([-1.0, 0.0, 0.0]), 1e-7)


def test_columns_of_many_pricing_problems_improve_as_each_alone():
    linear, present = full()
    first, second, third = (demand(cost, 0) for cost in (0.25, 0.5, 9.0))
    oracles, found = [Pool([])] * 3, whole(linear, [first, present[0]], (), [third, second, first])[0]
    chosen = select_improving(linear, oracles, found, np.array([-0.75, 0.0, 8.0, -0.5, -0.75]), 1e-7)
    assert list(chosen.columns) == [first, second, first]
    assert chosen.origins.tolist() == [0, 2, 2]
    assert linear.add(chosen.columns, (), chosen.origins) == 2
    assert [linear.at(where).origin for where in linear.find([first, second])] == [0, 2]


def test_columns_that_join_together_need_not_improve():
    linear, present = full()
    useless = demand(9.0)
    duals = linear.solve().duals
    found = gather([PricingResult([demand(8.0)]), PricingResult([present[0], useless], together=True)], duals)
    chosen = select_improving(linear, [Pool([])] * 2, found, np.array([8.0, -1.0, 9.0]), 1e-7)
    assert list(chosen.columns) == [useless]
    assert chosen.origins.tolist() == [1]
