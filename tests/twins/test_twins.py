"""Brute force agrees with results known by hand."""

import numpy as np
import pytest

from colgen.problems.assignment import AssignmentInstance as Tasks
from colgen.problems.chain_map import ChainInstance
from colgen.problems.colouring import ColouringInstance
from colgen.problems.cutting_stock import CuttingStockInstance
from colgen.problems.title_path import PathInstance
from colgen.problems.vehicle_routing import RoutingInstance
from tests.fuzz import routes
from tests.twins import vehicle_routing
from tests.twins.assignment import all_answers
from tests.twins.chain_map import best_scores, scores_of
from tests.twins.colouring import fewest_colours
from tests.twins.coreference import partitions
from tests.twins.cutting_stock import optimum as fewest_rolls
from tests.twins.title_path import answers
from tests.twins.trees import all_trees, grandparent_parts, is_projective, sibling_parts


def test_number_of_partitions_is_a_bell_number():
    assert [len(list(partitions(n))) for n in range(1, 7)] == [1, 2, 5, 15, 52, 203]


@pytest.mark.parametrize("tokens", [1, 2, 3, 4])
def test_number_of_trees_is_given_by_cayley(tokens):
    assert len(all_trees(tokens)) == (tokens + 1) ** (tokens - 1)
    assert len(all_trees(tokens, single_root=True)) == tokens ** (tokens - 1)
    assert {tuple(t) for t in all_trees(tokens, True).tolist()} == {
        tuple(t) for t in all_trees(tokens).tolist() if is_projective(tuple(t))
    }


def test_parts_of_a_tree():
    place = next(k for k, tree in enumerate(all_trees(3).tolist()) if tree[1:] == [2, 0, 2])
    parts, there = grandparent_parts(3, False)
    assert parts[place][there[place]].tolist() == [[0, 2, 1], [0, 2, 3]]
    parts, there = sibling_parts(3, False)
    assert sorted(parts[place][there[place]].tolist()) == [
        [0, 0, 2],
        [0, 2, 0],
        [2, 1, 2],
        [2, 2, 1],
        [2, 2, 3],
        [2, 3, 2],
    ]


def test_colours_and_distances_of_small_instances():
    assert fewest_colours(ColouringInstance(5, ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)))) == 3
    matrix = ((0.0, 3.0, 4.0), (3.0, 0.0, 5.0), (4.0, 5.0, 0.0))
    assert vehicle_routing.optimum(RoutingInstance(matrix, (0, 1, 1), 2)) == 12.0
    assert vehicle_routing.optimum(RoutingInstance(matrix, (0, 1, 1), 1)) == 14.0
    assert vehicle_routing.optimum(RoutingInstance(matrix, (0, 1, 1), 1, vehicles=1)) is None


@pytest.mark.parametrize("seed", range(40))
def test_dynamic_program_over_sets_agrees_with_enumeration_of_routes(seed):
    instance = routes._instance(routes.draw(np.random.default_rng([31, seed])))
    if instance.num_customers <= 5:
        by_sets = vehicle_routing._solve_over_sets(instance)
        assert by_sets == pytest.approx(vehicle_routing._enumerate_routes(instance), rel=1e-12)


def test_least_costs_of_assignments():
    costs, sizes = np.array([[1.0, 2.0], [4.0, 8.0]]), np.array([[3, 3], [3, 3]])
    assert all_answers(Tasks(costs, sizes, np.array([6, 6])))[1].min() == 3.0
    assert all_answers(Tasks(costs, sizes, np.array([3, 6])))[1].min() == 6.0
    assert not len(all_answers(Tasks(costs, sizes, np.array([2, 3])))[1])


def test_fewest_rolls_of_a_textbook_example():
    assert fewest_rolls(CuttingStockInstance(10, (6, 5, 4), (2, 2, 2))) == 3


def test_paths_do_not_repeat_a_class():
    weights = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, -np.inf], [1.0, 1.0, 0.0]])
    instance = PathInstance(weights, np.zeros(3), np.array([0.0, 0.5, 0.0]), 2, ("a", "b", "b"))
    assert answers(instance) == [(2.5, (0, 1)), (1.0, (0, 2)), (3.0, (1, 0)), (1.0, (2, 0))]


def test_labellings_of_a_chain():
    instance = ChainInstance.from_chain(np.array([[1.0, 0.0], [0.0, 3.0]]), np.array([[0.0, -4.0], [0.0, 0.0]]))
    assert scores_of(instance, 0) == [3.0, 1.0, 0.0, 0.0]
    assert (best_scores(instance), best_scores(instance, 1)) == ([3.0], [1.0])
    alone = ChainInstance.from_chain(np.zeros((2, 1)), np.zeros((1, 1)))
    assert best_scores(alone, 1) == [-np.inf]
