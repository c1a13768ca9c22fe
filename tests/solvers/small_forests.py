"""Small trees at random, with all their labellings, and messages over domains that hold some of the labels."""

import itertools

import numpy as np

from colgen.solvers.chains.forest import NONE, from_parents
from colgen.solvers.chains.tree_domains import Domains
from colgen.solvers.chains.tree_messages import Model, fill_message, no_messages, pass_messages


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


def model_of(scores, tables):
    return Model(scores, np.zeros(len(scores)), -np.inf, rows(tables), rows(tables.swapaxes(1, 2)))


def messages_of(forest, scores, tables, domains, both_ways=True, work=np.inf):
    """Messages over the domains, and the best labellings within them."""
    model, duals = model_of(scores, tables), no_messages(forest, domains)
    trees, position = np.arange(len(forest.starts) - 1), np.zeros(2, dtype=np.int64)
    labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(len(trees))
    calls = 0
    while position[0] < len(trees):
        pass_messages(forest, model, duals, trees, both_ways, labels, values, position, work)
        calls += 1
    return model, duals, labels, values, calls


def all_messages(forest, model, duals, both_ways=True):
    """Messages of all labels, up and down every edge; NaN at roots."""
    num, domains = model.tables.shape[1], duals.domains
    up, down = np.full((forest.num_nodes, num), np.nan), np.full((forest.num_nodes, num), np.nan)
    for node in np.flatnonzero(forest.parent != NONE).tolist():
        begin, first_row = domains.starts[node], forest.table[node] * num
        size = domains.starts[node + 1] - begin
        fill_message(model.tables, first_row, domains.labels, begin, domains.below, begin, size, up, node)
        if both_ways:
            begin, at = duals.starts[node], domains.starts[forest.parent[node]]
            size = duals.starts[node + 1] - begin
            fill_message(model.transposed, first_row, domains.labels, at, duals.outside, begin, size, down, node)
    return up, down
