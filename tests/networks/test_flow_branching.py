"""Branching on the arcs of an unsplittable commodity."""

import numpy as np

from colgen import Column, Solution
from colgen.networks.flow_branching import OnLeavingArcs
from tests.networks.test_flow_block import square


def test_the_children_divide_the_arcs_where_paths_part():
    block = square(unsplittable=True, capacities=np.full(5, 9.0))
    flows = block.near(block.costs, 1.0, {}, 6.1, 10)
    columns = [(Column(float(flows.costs[k]), {}, flows.routing(k)), 0.5) for k in (0, 1)]
    (first,), (second,) = OnLeavingArcs([block]).branch(Solution(9.0, columns))
    assert {first.arcs, second.arcs} == {frozenset([0]), frozenset([2])}
    assert [first.allows(column) for column, _ in columns] != [second.allows(column) for column, _ in columns]
    assert first.forbids("arcs of commodities") == [(0, 0, *first.arcs)]
    assert first.forbids("others") == ()


def test_whole_paths_need_no_branching():
    block = square(unsplittable=True, capacities=np.full(5, 9.0))
    flows = block.flows(np.array([0, 1]), block.search(block.costs))
    columns = [(Column(0.0, {}, flows.routing(k)), 1.0) for k in (0, 1)]
    assert OnLeavingArcs([block]).branch(Solution(0.0, columns)) == ()
