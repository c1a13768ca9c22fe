"""Messages over restricted domains, against their definition."""

import numpy as np
import pytest

from colgen.solvers.chains.forest import NONE
from colgen.solvers.chains.tree_domains import Domains
from colgen.solvers.chains.tree_messages import grow, no_messages, pass_messages
from tests.solvers.small_forests import all_messages, labellings, messages_of, model_of, restricted
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


@pytest.mark.parametrize("seed", seeds(40))
def test_messages_are_maxima_over_domains(seed):
    forest, scores, tables, member, domains = restricted(seed)
    model, duals, labels, values, _ = messages_of(forest, scores, tables, domains)
    inner = forest.parent != NONE
    wanted = naive_messages(forest, scores, tables, member)
    for found, expected in zip(all_messages(forest, model, duals), wanted, strict=True):
        np.testing.assert_allclose(found[inner], expected[inner], atol=1e-12)
    for tree in range(2):
        first, end = forest.starts[tree : tree + 2]
        best = max(
            score
            for score, chosen in labellings(forest, scores, tables, tree)
            if member[np.arange(first, end), chosen].all()
        )
        assert values[tree] == pytest.approx(best)
        assert member[np.arange(first, end), labels[first:end]].all()
        by_labels = {chosen: score for score, chosen in labellings(forest, scores, tables, tree)}
        assert by_labels[tuple(labels[first:end].tolist())] == pytest.approx(best)


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_messages_in_pieces_are_those_of_one_call(seed, both_ways):
    forest, scores, tables, _, domains = restricted(seed)
    found = []
    for work in (np.inf, 1.0):
        _, duals, labels, values, calls = messages_of(forest, scores, tables, domains, both_ways, work)
        outside = duals.outside.tolist() if both_ways else []
        found.append((duals.domains.below.tolist(), outside, labels.tolist(), values.tolist()))
        assert calls == 1 if work == np.inf else calls > 2
    assert found[0] == found[1]


def test_scores_are_shifted_and_bounded_below_while_they_are_read():
    forest, scores, tables, _, domains = restricted(5)
    plain = messages_of(forest, np.maximum(scores - 1.0, -1.5), tables, domains)
    model = model_of(scores.astype(np.float32).astype(float), tables)._replace(tops=np.ones(len(scores)), low=-1.5)
    duals = no_messages(forest, domains)
    labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2)
    pass_messages(forest, model, duals, np.arange(2), True, labels, values, np.zeros(2, dtype=np.int64), np.inf)
    np.testing.assert_allclose(values, plain[3], rtol=1e-6)


@pytest.mark.parametrize("seed", seeds(40))
def test_domains_grow_by_labels_that_they_lack(seed):
    forest, scores, _, member, domains = restricted(seed)
    rng, num = np.random.default_rng(seed), scores.shape[1]
    for _ in range(3):
        nodes = rng.integers(0, forest.num_nodes, size=4)
        labels = rng.integers(0, num, size=4).astype(np.int32)
        before, domains = domains, Domains(*grow(domains, num, nodes, labels))
        member[nodes, labels] = 1
        for i in range(forest.num_nodes):
            mine = domains.labels[slice(*domains.starts[i : i + 2])].tolist()
            assert sorted(mine) == np.flatnonzero(member[i]).tolist()
            old = before.labels[slice(*before.starts[i : i + 2])].tolist()
            assert mine[: len(old)] == old
