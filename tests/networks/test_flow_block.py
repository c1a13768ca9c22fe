"""Blocks of commodities: shortest paths, groups and flows."""

import numpy as np
import pytest

from colgen.core.errors import FormulationError
from tests.networks.flow_programs import Network, network


def square(**named):
    """Return a square a-b-d, a-c-d with two commodities from a to d and from d to a."""
    tails, heads = np.array([0, 1, 0, 2, 3]), np.array([1, 3, 2, 3, 0])
    costs, capacities = np.array([1.0, 1.0, 2.0, 2.0, 1.0]), np.array([2.0, 9.0, 9.0, 9.0, 9.0])
    made = Network(4, tails, heads, costs, capacities, np.array([0, 3]), np.array([3, 0]), np.array([3.0, 1.0]))
    for name, value in named.items():
        setattr(made, name, value)
    return made.problem().blocks[0]


def test_shortest_paths_with_costs_and_limits_of_a_commodity():
    own = np.zeros((2, 5))
    own[0, 1] = 5.0
    assert square(own_costs=own).search(square().costs).distances.tolist() == [4.0, 1.0]
    closed = np.full((2, 5), np.inf)
    closed[0, 0] = 0.0
    assert square(limits=closed).search(square().costs).arcs.tolist() == [2, 3, 4]


def test_an_unsplittable_commodity_uses_no_arc_with_too_little_capacity():
    block = square(unsplittable=True)
    assert block.search(block.costs).arcs.tolist() == [2, 3, 4]


def test_negative_costs_are_handled_by_potentials():
    block = square()
    found = block.search(np.array([3.0, -2.0, 1.0, 2.0, 1.0]))
    assert found.distances.tolist() == [1.0, 1.0]
    assert found.arcs.tolist() == [0, 1, 4]
    with pytest.raises(FormulationError, match="negative total cost"):
        block.search(np.array([1.0, -3.0, 1.0, 1.0, 1.0]))


def test_near_paths_are_within_the_slack():
    block = square(unsplittable=True, capacities=np.full(5, 9.0))
    assert len(block.near(block.costs, 1.0, {}, 5.9, 10).groups) == 2  # 3 units times 2 are 6
    flows = block.near(block.costs, 1.0, {}, 6.1, 10)
    assert flows.groups.tolist() == [0, 0, 1]
    assert sorted(flows.costs.tolist()) == [1.0, 6.0, 12.0]
    assert block.near(block.costs, 1.0, {}, 6.1, 2) is None
    assert len(block.nearest(np.zeros(5)).groups) == 3


def test_the_flow_to_start_from_has_a_path_of_each_commodity():
    block = network(5, commodities=9).problem().blocks[0]
    flows = block.start_flows()
    assert set(flows.groups.tolist()) == set(range(block.num_groups))
    assert (flows.table.sum(axis=1) > 0).all()


def test_given_paths_are_checked():
    block = square()
    assert block.given(0, [np.array([0, 1])]).costs.tolist() == [6.0]
    assert block.given(0, [np.array([0, 3])]) is None
    assert block.given(0, [np.array([4])]) is None
    assert block.given(0, []) is None
