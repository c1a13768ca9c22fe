import networkx as nx
import numpy as np

from colgen import solve
from colgen.problems.colouring import Colouring, from_networkx
from colgen.problems.colouring.critical import critical


def sparse_with_a_hard_part():
    """A wheel of five spokes, which needs four colours, beside a graph of many neighbours that needs two."""
    return from_networkx(nx.disjoint_union(nx.wheel_graph(6), nx.hypercube_graph(6)))


def test_the_part_that_needs_all_colours_is_found():
    instance = sparse_with_a_hard_part()
    part = critical(instance.adjacency, 4, lambda: False)
    assert part.tolist() == list(range(6))
    assert critical(instance.adjacency, 4, lambda: True).tolist() == list(range(70))
    assert len(critical(np.zeros((3, 3), dtype=bool), 1, lambda: False)) == 3


def test_its_dual_values_prove_the_graph_in_one_round():
    result = solve(Colouring(sparse_with_a_hard_part()))
    assert result.is_optimal
    assert result.objective == 4.0
    assert len(result.iterations) <= 1
