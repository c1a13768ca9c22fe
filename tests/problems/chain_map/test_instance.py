"""Instances: invalid input, trees from graphs, files."""

import networkx as nx
import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.problems.chain_map import ChainInstance, Pairwise, random, read
from tests.twins.chain_map import draw


@pytest.mark.parametrize(
    ("scores", "transitions", "words"),
    [
        (np.zeros((2, 3)), np.zeros((2, 2)), "as many labels"),
        (np.zeros((0, 3)), np.zeros((3, 3)), "at least one token"),
        (np.zeros(3), np.zeros((3, 3)), "expected scores of shape"),
        (np.zeros((2, 3)), np.zeros((3, 2)), "scores of pairs of shape"),
        (np.full((2, 3), np.nan), np.zeros((3, 3)), "NaN"),
        (np.full((2, 3), np.inf), np.zeros((3, 3)), r"\+inf"),
        (np.zeros((2, 3)), np.full((3, 3), np.nan), "NaN"),
        (np.zeros((2, 3)), np.full((3, 3), np.inf), r"\+inf"),
        (np.zeros((2, 3)), np.zeros((2, 3, 3)), r"transitions of shape \(1, 3, 3\)"),
        ([["a", "b"]], np.zeros((2, 2)), "scores: expected numbers"),
        ([[1.0, 2.0], [3.0]], np.zeros((2, 2)), "scores: expected numbers"),
        (np.zeros((2, 2), dtype=complex), np.zeros((2, 2)), "scores: expected numbers"),
    ],
)
def test_invalid_chains_raise(scores, transitions, words):
    with pytest.raises(InputError, match=words):
        ChainInstance.from_chain(scores, transitions)


def test_inconsistent_chains_raise():
    with pytest.raises(InputError, match="at least one chain"):
        ChainInstance.from_chains([], np.zeros((2, 2)))
    with pytest.raises(InputError, match="same labels"):
        ChainInstance.from_chains([np.zeros((2, 2)), np.zeros((2, 3))], np.zeros((2, 2)))
    with pytest.raises(InputError, match="for each of 2 chains"):
        ChainInstance.from_chains([np.zeros((2, 2)), np.zeros((2, 2))], [np.zeros((1, 2, 2))])


def test_names_are_counted():
    with pytest.raises(InputError, match="3 names of labels"):
        ChainInstance.from_chain(np.zeros((2, 3)), np.zeros((3, 3)), labels=["a"])
    with pytest.raises(InputError, match="2 names of nodes"):
        ChainInstance.from_chain(np.zeros((2, 3)), np.zeros((3, 3)), nodes=["a"])


def test_objective_checks_the_labels():
    instance = random(0, length=3, labels=2)
    n = instance.forest.num_nodes
    with pytest.raises(InputError, match=f"expected {n} labels"):
        instance.objective([0])
    with pytest.raises(InputError, match="labels from 0 to 1"):
        instance.objective([2] * n)
    with pytest.raises(InputError, match="as numbers"):
        instance.objective([0.5] * n)
    forbidding = ChainInstance.from_chain(np.array([[0.0, -np.inf]]), np.zeros((2, 2)))
    assert forbidding.check([0]) == 0.0
    with pytest.raises(InputError, match=r"score is -inf"):
        forbidding.check([1])


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (nx.Graph(), "at least one node"),
        (nx.cycle_graph(3), "without cycles"),
        (nx.DiGraph([(0, 0)]), "without cycles"),
    ],
)
def test_graphs_with_cycles_raise(graph, words):
    with pytest.raises(InputError, match=words):
        ChainInstance.from_tree(graph, {v: [0.0] for v in graph}, [[0.0]])


def test_trees_without_scores_raise():
    graph = nx.path_graph(2)
    with pytest.raises(InputError, match="none for 0"):
        ChainInstance.from_tree(graph)
    with pytest.raises(InputError, match="none for 0 - 1"):
        ChainInstance.from_tree(graph, {0: [0.0], 1: [0.0]})
    graph.edges[0, 1]["transitions"] = np.zeros((3, 1))
    with pytest.raises(InputError, match=r"\(1, 1\) for the edge 0 - 1"):
        ChainInstance.from_tree(graph, {0: [0.0], 1: [0.0]})
    with pytest.raises(InputError, match="one row of scores for node 0"):
        ChainInstance.from_tree(graph, {0: [[0.0]], 1: [0.0]})


@pytest.mark.parametrize("seed", range(10))
def test_a_tree_scores_as_its_graph_does(seed):
    """For any root: edges keep their direction."""
    rng = np.random.default_rng(seed)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(6))
    for u, v in nx.random_labeled_tree(6, seed=seed).edges:
        graph.add_edge(*((u, v) if rng.random() < 0.5 else (v, u)), transitions=rng.normal(size=(3, 3)))
    scores = {v: rng.normal(size=3) for v in graph}
    instance = ChainInstance.from_tree(graph, scores)
    labels = rng.integers(0, 3, size=6)
    by_node = dict(zip(instance.nodes, labels.tolist(), strict=True))
    expected = sum(scores[v][by_node[v]] for v in graph)
    expected += sum(tau[by_node[u], by_node[v]] for u, v, tau in graph.edges(data="transitions"))
    assert instance.objective(labels) == pytest.approx(expected)
    assert not instance.is_chains or nx.is_path(graph.to_undirected(), list(instance.nodes))


def test_precision_is_kept():
    single = ChainInstance.from_chain(np.zeros((2, 2), dtype=np.float32), np.zeros((2, 2)))
    assert single.scores.dtype == single.pairwise.tables.dtype == np.float32
    whole = ChainInstance.from_chain(np.zeros((2, 2), dtype=int), np.zeros((2, 2), dtype=bool))
    assert whole.scores.dtype == whole.pairwise.tables.dtype == np.float64
    pairwise = Pairwise(np.zeros((2, 2), dtype=np.float32))
    assert pairwise.astype(np.float32) is pairwise


@pytest.mark.parametrize("seed", range(8))
def test_written_instances_are_read_back(tmp_path, seed):
    instance = draw(seed)
    instance.write(tmp_path / "model.npz")
    again = read(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.scores, instance.scores)
    np.testing.assert_array_equal(again.pairwise.tables, instance.pairwise.tables)
    for mine, theirs in zip(again.forest, instance.forest, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_plain_arrays_are_read(tmp_path):
    rng = np.random.default_rng(0)
    scores, tau = rng.normal(size=(5, 2)), rng.normal(size=(2, 2))
    np.savez(tmp_path / "two.npz", scores=scores, transitions=tau, lengths=[2, 3])
    assert read(tmp_path / "two.npz").num_trees == 2
    np.savez(tmp_path / "one.npz", scores=scores, transitions=tau)
    assert read(tmp_path / "one.npz").num_trees == 1
    np.savez(tmp_path / "bad.npz", scores=scores, transitions=tau, lengths=[2, 2])
    with pytest.raises(InputError, match="sum to 5"):
        read(tmp_path / "bad.npz")
    np.savez(tmp_path / "none.npz", scores=scores)
    with pytest.raises(InputError, match="arrays scores and transitions"):
        read(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("nothing")
    with pytest.raises(InputError, match="expected an instance of chain_map"):
        read(tmp_path / "text.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"table": np.array([9, 0])}, r"table: expected indices from 0 to 0, got 9 at \[0\]"),
        ({"starts": np.array([0, 5])}, "starts: expected offsets from 0 to 2, got 0 to 5"),
        ({"parent": np.array([1, 0])}, "parent: expected a later node of the same tree, and none for its last node"),
        ({"parent": np.array([1.5, -1])}, "parent: expected indices"),
        ({"parent": np.array([7, -1])}, "parent: expected indices from -1 to 1, got 7"),
        ({"scores": np.zeros((2, 2)) * 1j}, "array 'scores': expected numbers or strings, got complex numbers"),
        ({"tables": np.full((1, 2, 2), np.nan)}, "tables: expected finite numbers, or -inf, got nan"),
    ],
)
def test_files_with_invalid_trees_raise(tmp_path, change, message):
    path = tmp_path / "trees.npz"
    ChainInstance.from_chain(np.zeros((2, 2)), np.zeros((2, 2))).write(path)
    with np.load(path) as arrays:
        np.savez(path, **(dict(arrays) | change))
    with pytest.raises(InputError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("lengths", [[1.5, 2.5], [1e308], [4, 0], [2], [[4]], [2**63, 1], [-1, 5]])
def test_invalid_lengths_raise(tmp_path, lengths):
    path = tmp_path / "chains.npz"
    np.savez(path, scores=np.zeros((4, 2)), transitions=np.zeros((2, 2)), lengths=lengths)
    with pytest.raises(InputError, match=r"chains\.npz: .*lengths"):
        read(path)


def test_from_chains_equals_the_constructor():
    rng = np.random.default_rng(4)
    parts, pairs = [rng.normal(size=(n, 3)) for n in (1, 4, 2)], Pairwise(rng.normal(size=(3, 3)))
    short = ChainInstance.from_chains(parts, pairs, nodes=range(7))
    whole = ChainInstance(short.forest, np.concatenate(parts), pairs, (), tuple(range(7)))
    for name in ("labels", "nodes", "size", "scale", "num_trees", "num_labels"):
        assert getattr(short, name) == getattr(whole, name)
    assert np.array_equal(short.scores, whole.scores)
    assert all(np.array_equal(one, other) for one, other in zip(short.forest, whole.forest, strict=True))
    assert short.values([0, 1, 2, 0, 1, 2, 0]).tolist() == whole.values([0, 1, 2, 0, 1, 2, 0]).tolist()
