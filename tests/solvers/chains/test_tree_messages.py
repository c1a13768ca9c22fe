"""Messages over restricted domains, against their definition."""

import numpy as np
import pytest

from solvers.chains.forest import NONE
from solvers.chains.tree_domains import Domains
from solvers.chains.tree_messages import grow
from tests.solvers.small_forests import messages_of, restricted
from tests.sweeps import seeds


def naive_messages(forest, scores, tables, member):
    """By their definition, each on its own."""
    children = [np.flatnonzero(forest.parent == i) for i in range(forest.num_nodes)]
    up, down = np.full(scores.shape, np.nan), np.full(scores.shape, np.nan)
    for c in range(forest.num_nodes):
        p = forest.parent[c]
        if p != NONE:
            inside = scores[c] + sum(up[d] for d in children[c])
            up[c] = np.where(member[c][:, None], inside[:, None] + tables[forest.table[c]], -np.inf).max(axis=0)
    for c in range(forest.num_nodes - 1, -1, -1):
        p = forest.parent[c]
        if p != NONE:
            outside = scores[p] + sum(up[d] for d in children[p] if d != c)
            outside = outside + (down[p] if forest.parent[p] != NONE else 0.0)
            down[c] = np.where(member[p][None, :], outside[None, :] + tables[forest.table[c]], -np.inf).max(axis=1)
    return up, down


def agree(forest, messages, expected):
    inner = forest.parent != NONE
    for found, wanted in zip((messages.up, messages.down), expected, strict=True):
        np.testing.assert_allclose(found[inner], wanted[inner], atol=1e-12)


@pytest.mark.parametrize("seed", seeds(40))
def test_messages_are_maxima_over_domains(seed):
    forest, scores, tables, member, domains = restricted(seed)
    messages, computed = messages_of(forest, scores, tables, domains)
    agree(forest, messages, naive_messages(forest, scores, tables, member))
    assert computed == 2 * (forest.parent != NONE).sum()
    assert messages_of(forest, scores, tables, domains, messages)[1] == 0  # nothing has changed


@pytest.mark.parametrize("seed", seeds(40))
def test_messages_stay_right_when_domains_grow(seed):
    forest, scores, tables, member, domains = restricted(seed)
    messages, all_of_them = messages_of(forest, scores, tables, domains)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        nodes = rng.integers(0, forest.num_nodes, size=2)
        labels = rng.integers(0, scores.shape[1], size=2).astype(np.int32)
        domains = Domains(*grow(domains, member, messages.grown, nodes, labels))
        assert member[nodes, labels].all()
        for i in range(forest.num_nodes):
            mine = domains.labels[slice(*domains.starts[i : i + 2])]
            assert sorted(mine.tolist()) == np.flatnonzero(member[i]).tolist()
        _, computed = messages_of(forest, scores, tables, domains, messages)
        assert computed <= all_of_them
        agree(forest, messages, naive_messages(forest, scores, tables, member))
