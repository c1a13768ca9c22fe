import networkx as nx
import numpy as np
import pytest

from colgen.solvers.flows.min_cut import violated_cuts
from tests.sweeps import seeds


@pytest.mark.parametrize("seed", seeds(30))
def test_cuts_are_found_exactly_where_networkx_finds_them(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    weights = rng.random((n + 1, n + 1)) * (rng.random((n + 1, n + 1)) < 0.5)
    weights[:, 0] = 0.0
    np.fill_diagonal(weights, 0.0)
    weights /= np.maximum(weights.sum(axis=0), 1e-9)  # one head each, in parts
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n + 1))
    graph.add_edges_from((h, m, {"capacity": weights[h, m]}) for h, m in np.argwhere(weights > 0).tolist())
    separated = {m for m in range(1, n + 1) if nx.maximum_flow_value(graph, 0, m) < 1.0 - 1e-6}
    found = violated_cuts(weights)
    assert bool(found) == bool(separated)
    assert separated <= set().union(*found) if found else not separated
    for members in found:
        inside = np.isin(np.arange(n + 1), members)
        assert 0 not in members
        assert weights[np.ix_(~inside, inside)].sum() < 1.0 - 1e-6
    assert len(set(found)) == len(found)


def test_a_tree_violates_no_cut_and_a_cycle_does():
    tree = np.zeros((4, 4))
    tree[0, 1] = tree[1, 2] = tree[2, 3] = 1.0
    assert violated_cuts(tree) == []
    cycle = np.zeros((4, 4))
    cycle[0, 1] = cycle[2, 3] = cycle[3, 2] = 1.0
    assert violated_cuts(cycle) == [(2, 3)]


@pytest.mark.parametrize("bad", [np.zeros((2, 3)), np.full((2, 2), -1.0), np.full((2, 2), np.nan)])
def test_invalid_weights_are_rejected(bad):
    with pytest.raises(ValueError, match="expected"):
        violated_cuts(bad)
