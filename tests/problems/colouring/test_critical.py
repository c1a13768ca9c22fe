import networkx as nx
import numpy as np

from colgen import solve
from colgen.problems.colouring import Colouring, from_networkx
from colgen.problems.colouring.critical import find_critical


def sparse_with_a_hard_part():
    """A wheel with five spokes, which needs four colours, and a dense graph that needs two."""
    return from_networkx(nx.disjoint_union(nx.wheel_graph(6), nx.hypercube_graph(6)))


def test_the_critical_part_is_found():
    instance = sparse_with_a_hard_part()
    part = find_critical(instance.adjacency, 4, lambda: False)
    assert part.tolist() == list(range(6))
    assert find_critical(instance.adjacency, 4, lambda: True).tolist() == list(range(70))
    assert len(find_critical(np.zeros((3, 3), dtype=bool), 1, lambda: False)) == 3


def test_dual_values_of_the_critical_part_close_the_root_in_one_round():
    result = solve(Colouring(sparse_with_a_hard_part()))
    assert result.is_optimal
    assert result.objective == 4.0
    assert len(result.iterations) <= 1
