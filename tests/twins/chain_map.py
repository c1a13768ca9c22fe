"""Random tiny chains and trees, and all their labellings."""

from functools import cache

import networkx as nx
import numpy as np

from colgen.problems.chain_map import ChainInstance
from colgen.solvers.chains.forest import NONE


@cache
def _labellings(nodes, labels):
    return np.stack(np.meshgrid(*[np.arange(labels)] * nodes, indexing="ij"), axis=-1).reshape(-1, nodes)


def scores_of(instance, tree):
    """Return the scores of all labellings of one tree, best first, computed from the instance's arrays."""
    first, end = (int(k) for k in instance.forest.starts[tree : tree + 2])
    chosen = _labellings(end - first, instance.num_labels)
    total = np.zeros(len(chosen))
    for i in range(end - first):
        total += instance.scores[first + i, chosen[:, i]].astype(float)
        parent = int(instance.forest.parent[first + i])
        if parent != NONE:
            total += instance.table_of(first + i)[chosen[:, i], chosen[:, parent - first]].astype(float)
    return np.sort(total)[::-1].tolist()


def best_scores(instance, rank=0):
    """Return the score of each tree after ``rank`` better labellings; minus infinity if there is none."""
    return np.array([([*scores_of(instance, k), -np.inf])[rank] for k in range(instance.num_trees)])


def draw(seed, forbidden=True, dtype=float):
    """Draw one chain, several, several with transitions per step, or a tree; with ties, flat and peaked scores."""
    rng = np.random.default_rng(seed)
    labels = int(rng.integers(1, 5))
    forbid = forbidden and rng.random() < 0.3

    def scores(*shape):
        integer, scale = rng.random() < 0.5, rng.choice([0.1, 1.0, 5.0])
        array = (
            rng.integers(-3, 4, size=shape).astype(dtype) if integer else (scale * rng.normal(size=shape)).astype(dtype)
        )
        if forbid:
            array[rng.random(shape) < 0.15] = -np.inf
        return array

    lengths = rng.integers(1, 5, size=3).tolist()
    match seed % 4:
        case 0:
            return ChainInstance.from_chain(scores(lengths[0], labels), scores(labels, labels))
        case 1:
            return ChainInstance.from_chains([scores(n, labels) for n in lengths], scores(labels, labels))
        case 2:
            steps = [scores(n - 1, labels, labels) for n in lengths]
            return ChainInstance.from_chains([scores(n, labels) for n in lengths], steps)
        case _:
            tree = nx.random_labeled_tree(int(rng.integers(1, 6)), seed=seed)
            graph = nx.DiGraph()
            graph.add_nodes_from(tree)
            graph.add_edges_from(tree.edges)
            return ChainInstance.from_tree(graph, {v: scores(labels) for v in graph}, scores(labels, labels))
