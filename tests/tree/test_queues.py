"""The orders in which queues hand out the nodes of a complete tree."""

import math

import pytest

from colgen import Sense
from colgen.tree.node import Node
from colgen.tree.queues import BestBound, DepthFirst, LevelWise, Plunging
from tests.tree.scripts import search


def order(queue):
    """Return all nodes of a complete tree in the order of the queue; no bound is ever pruned."""
    script = {"": 0.0, "l": 2.0, "r": 1.0, "ll": 3.0, "lr": 5.0, "rl": 4.0, "rr": 6.0}
    return search(script, queue=queue)[1].visited


def test_best_bound_follows_the_parents_bounds():
    # A child has its parent's bound until it is evaluated: children of r (1) come before those of l (2).
    assert order(BestBound) == ["", "l", "r", "rl", "rr", "ll", "lr"]


def test_plunging_goes_down_the_preferred_child_first():
    visited = order(Plunging)
    assert visited[:3] == ["", "l", "ll"]
    assert visited == ["", "l", "ll", "r", "rl", "rr", "lr"]  # then back to the best bound, the parent's 0


@pytest.mark.parametrize("sense", list(Sense))
def test_a_plunge_pauses_far_from_the_best_bound_once_there_is_an_incumbent(sense):
    nodes = [Node(number=k, bound=sense.sign * bound) for k, bound in enumerate((101.0, 100.0))]
    for objective, worse in ((math.inf, 150.0), (200.0, 101.9), (104.0, 100.9)):
        for far in (0.0, 0.2):
            queue = Plunging(sense)
            queue.objective = sense.sign * objective
            child = Node(number=2, bound=sense.sign * (worse + far))
            queue.push([child, *nodes])
            pauses = far > 0.0 and objective < math.inf
            assert [queue.pop().number for _ in range(3)] == ([1, 0, 2] if pauses else [2, 1, 0])


@pytest.mark.parametrize("sense", list(Sense))
def test_the_best_bound_of_a_queue_counts_the_child_of_a_plunge(sense):
    for kind in (BestBound, Plunging):
        queue = kind(sense)
        assert queue.best == sense.hopeless
        queue.push([Node(number=k, bound=sense.sign * bound) for k, bound in enumerate((1.0, 3.0, 2.0))])
        assert queue.best == sense.sign
        queue.pop()
        assert queue.best == 2 * sense.sign
    assert DepthFirst(sense).best == LevelWise(sense).best == sense.hopeless


def test_depth_first():
    assert order(DepthFirst) == ["", "l", "ll", "lr", "r", "rl", "rr"]


def test_level_wise():
    assert order(LevelWise) == ["", "l", "r", "ll", "lr", "rl", "rr"]
