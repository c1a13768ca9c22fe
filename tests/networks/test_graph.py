"""Graphs as arrays: names and numbers of vertices, and what bad input gets."""

import pytest

from colgen import InputError
from colgen.networks.graph import Graph


def test_vertices_are_sorted_integers_or_in_order_of_appearance():
    assert Graph(([3, 1], [1, 2]), 3, 2).vertices == (1, 2, 3)
    assert Graph((["s", "a"], ["a", "t"]), "s", "t").vertices == ("s", "a", "t")
    depot = Graph(([0, 1], [1, 0]), 0, 0)
    assert depot.vertices == (0, 1, 0)
    assert (depot.source, depot.sink) == (0, 2)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (([0], [0, 1]), "as many heads"),
        (([], []), "at least one arc"),
        ([1, 2, 3, 4], "expected \\(tails, heads\\)"),
        (([0, 1, 1], [1, 1, 2]), "no arc from a vertex to itself, got \\(1, 1\\)"),
        (([0, 1, 1], [1, 0, 2]), "no arc into the source"),
        (([0, 2, 1], [1, 1, 2]), "no arc out of the sink"),
        (([0, 1, 3], [1, 2, 2]), "vertex 3 is not reached from the source"),
        (([0, 1, 1], [1, 2, 3]), "vertex 3 does not reach the sink"),
    ],
)
def test_an_invalid_graph_is_refused(graph, message):
    with pytest.raises(InputError, match=message):
        Graph(graph, 0, 2)


def test_parallel_arcs_need_no_keys():
    assert Graph(([0, 0, 1], [1, 1, 2]), 0, 2).has_parallel_arcs
    assert not Graph(([0, 0, 1], [1, 2, 2]), 0, 2).has_parallel_arcs
