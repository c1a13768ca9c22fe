"""Derivations as arrays: one per tree, and the best has the score of the best tree."""

import numpy as np
import pytest

from colgen.solvers.trees.eisner import best_tree
from colgen.solvers.trees.eisner_hypergraph import hypergraph
from tests.solvers.projective import all_trees, random_parts


def totals(graph):
    """Number of derivations and the best value of each item, children first."""
    ways = {}
    for item, first, second, score in zip(graph.item, graph.first, graph.second, graph.score, strict=True):
        ways.setdefault(int(item), []).append((int(first), int(second), float(score)))
    known = {-1: (1, 0.0)}

    def of(item):
        if item not in known:
            counts, values = zip(
                *((of(a)[0] * of(b)[0], of(a)[1] + of(b)[1] + score) for a, b, score in ways[item]), strict=True
            )
            known[item] = sum(counts), max(values)
        return known[item]

    return of(0)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_every_tree_is_derived_once(order, single_root):
    rng = np.random.default_rng(order)
    for n in range(1, 6):
        parts = random_parts(order, n, rng)
        graph = hypergraph(parts, single_root=single_root)
        number, value = totals(graph)
        assert number == len(all_trees(n, single_root=single_root))
        assert value == pytest.approx(best_tree(parts, single_root=single_root)[0])
        arcs = graph.arc[graph.arc >= 0]
        assert set(arcs.tolist()) <= {h * (n + 1) + m for h in range(n + 1) for m in range(1, n + 1) if h != m}


def test_forbidden_arcs_are_in_no_derivation():
    parts = random_parts(3, 4, np.random.default_rng(0))
    allowed = np.ones((5, 5), dtype=bool)
    allowed[2, 3] = False
    graph = hypergraph(parts, allowed=allowed)
    assert 2 * 5 + 3 not in graph.arc
    trees = all_trees(4)
    assert totals(graph)[0] == (trees[:, 3] != 2).sum()
    allowed[:, 3] = False
    assert hypergraph(parts, allowed=allowed).num_items == 0
