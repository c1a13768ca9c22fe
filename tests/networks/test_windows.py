"""Least and greatest levels of resources against enumeration of walks."""

import math

import numpy as np
import pytest

from colgen.networks import Resource
from colgen.networks.graph import Graph
from colgen.networks.windows import earliest, latest, limited, obstacles


def draw(seed):
    rng = np.random.default_rng(seed)
    arcs = [(i, j) for i in range(5) for j in range(1, 6) if i != j and (rng.random() < 0.6 or j == i + 1)]
    graph = Graph(tuple(zip(*arcs, strict=True)), 0, 5)
    lower = rng.integers(0, 4, 6)
    upper = lower + rng.integers(1, 8, 6)
    return graph, Resource(rng.integers(1, 4, len(arcs)), upper, lower * rng.integers(0, 2, 6), start=0.0)


@pytest.mark.parametrize("seed", range(20))
def test_levels_are_those_of_walks(seed):
    graph, resource = draw(seed)
    (row,) = limited(graph, resource)
    arcs = np.arange(len(graph.tails))
    least, most = np.full(6, math.inf), np.full(6, -math.inf)

    def ahead(vertex, level):
        least[vertex] = min(least[vertex], level)
        for arc in np.flatnonzero(graph.tails == vertex).tolist():
            head = graph.heads[arc]
            after = max(row.lower[head], level + row.consumption[arc])
            if after <= row.upper[head] and (after < least[head]):
                ahead(head, after)

    def back(vertex, level):
        most[vertex] = max(most[vertex], level)
        for arc in np.flatnonzero(graph.heads == vertex).tolist():
            tail = graph.tails[arc]
            before = min(row.upper[tail], level - row.consumption[arc])
            if before >= row.lower[tail] and before > most[tail]:
                back(tail, before)

    ahead(0, max(0.0, row.lower[0]))
    back(5, row.upper[5])
    assert earliest(graph, row, arcs).tolist() == least.tolist()
    assert latest(graph, row, arcs).tolist() == most.tolist()


def test_levels_that_fall_in_a_cycle_fall_to_the_lower_limit():
    graph = Graph(([0, 1, 2, 2], [1, 2, 1, 3]), 0, 3)
    for lower, expected in ((-3.0, -3.0), (-math.inf, -math.inf)):
        (row,) = limited(graph, Resource([0, -1, 0, 0], 5.0, lower))
        assert earliest(graph, row, np.arange(4)).tolist() == [0.0, expected, expected, expected]


@pytest.mark.parametrize(
    ("resource", "reason"),
    [
        (Resource({1: 5}, 4, name="load"), "resource 'load' is at least 5 there, but its limit is 4"),
        (Resource([3, 3], {1: 9, 2: 4}, name="time"), "resource 'time' is at least 3 there, but at most 1 lets"),
        (Resource([1, 1], 9, {2: 4}, waiting=False, name="work"), "is at most 1 there, but at least 3 lets a path"),
        (Resource([1, 1], 9, {2: 2}, waiting=False, name="work"), ""),
    ],
)
def test_the_reason_names_the_resource_and_its_levels(resource, reason):
    graph = Graph(([0, 1], [1, 2]), 0, 2)
    found = obstacles(graph, [resource], np.arange(2))[1]
    assert reason in found if reason else not found


def test_closed_arcs_are_a_reason():
    graph = Graph(([0, 1, 0], [1, 2, 2]), 0, 2)
    assert obstacles(graph, [], np.array([0, 2])) == ["", "no open arcs lead through it", ""]
