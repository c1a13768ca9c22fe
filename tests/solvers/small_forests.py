"""Small trees at random, with all their labellings, and messages over domains that hold some of the labels."""

import itertools

import numpy as np

from solvers.chains.forest import NONE, from_parents
from solvers.chains.tree_domains import Domains
from solvers.chains.tree_messages import no_messages, pass_messages


def random_forest(rng, trees=2):
    """Trees of up to five nodes whose edges have one of two tables."""
    parent, starts = [], [0]
    for _ in range(trees):
        n = int(rng.integers(1, 6))
        first = starts[-1]
        parent += [first + int(rng.integers(i + 1, n)) for i in range(n - 1)] + [NONE]
        starts.append(first + n)
    # A child must come after all of its own children, which a parent that comes later ensures.
    table = rng.integers(0, 2, size=len(parent)).astype(np.int32)
    return from_parents(np.array(starts), np.array(parent, dtype=np.int32), table)


def draw(seed, dtype=float):
    rng = np.random.default_rng(seed)
    forest, num = random_forest(rng), int(rng.integers(1, 4))
    scores = rng.normal(size=(forest.num_nodes, num)).astype(dtype)
    tables = rng.normal(size=(2, num, num)).astype(dtype)
    if seed % 3 == 0:
        scores, tables = scores.round(), tables.round()
    return forest, scores, tables


def labellings(forest, scores, tables, tree):
    """``[(score, labels), ...]`` of one tree, best first."""
    first, end = forest.starts[tree], forest.starts[tree + 1]
    found = []
    for labels in itertools.product(range(scores.shape[1]), repeat=int(end - first)):
        total = sum(float(scores[first + i, x]) for i, x in enumerate(labels))
        for i, x in enumerate(labels):
            if forest.parent[first + i] != NONE:
                above = labels[forest.parent[first + i] - first]
                total += float(tables[forest.table[first + i], x, above])
        found.append((total, labels))
    return sorted(found, reverse=True)


def rows(tables):
    return np.ascontiguousarray(tables).reshape(-1, tables.shape[2])


def restricted(seed):
    """A model with messages over domains of random labels."""
    forest, scores, tables = draw(seed)
    rng, num = np.random.default_rng(seed + 1000), scores.shape[1]
    member = (rng.random(scores.shape) < 0.5).astype(np.uint8)
    member[np.arange(len(member)), rng.integers(0, num, size=len(member))] = 1
    nodes, labels = np.nonzero(member)
    starts = np.searchsorted(nodes, np.arange(forest.num_nodes + 1))
    domains = Domains(starts, labels.astype(np.int32), np.empty(len(labels)))
    return forest, scores, tables, member, domains


def messages_of(forest, scores, tables, domains, messages=None, both_ways=True, work=np.inf):
    messages = no_messages(scores) if messages is None else messages
    transposed = rows(tables.swapaxes(1, 2))
    trees = np.arange(len(forest.starts) - 1)
    position, computed = np.zeros(2, dtype=np.int64), 0
    while position[0] < len(trees):
        computed += pass_messages(
            forest, scores, rows(tables), transposed, domains, messages, trees, both_ways, position, work
        )
    return messages, computed
