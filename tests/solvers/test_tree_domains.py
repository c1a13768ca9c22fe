"""Domains, labels, messages and reduced costs of trees, against naive Python on tiny models."""

import itertools

import numpy as np
import pytest

from solvers.forest import NONE, chains, from_parents
from solvers.tree_domains import Domains, count_pairs, exchange, sweep
from solvers.tree_labels import best_flips, best_labels, runner_up
from solvers.tree_messages import grow, no_messages, pass_messages
from solvers.tree_prices import price, reduced_costs, root_shares, roots_beyond
from solvers.tree_pruning import fill_below, prune_by_bounds
from solvers.vectors import padded


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


def everything(forest, num):
    """Domains of all labels."""
    nodes = forest.num_nodes
    starts = np.arange(0, nodes * num + 1, num)
    return Domains(starts, np.tile(np.arange(num, dtype=np.int32), nodes), np.empty(nodes * num))


def rows(tables):
    return np.ascontiguousarray(tables).reshape(-1, tables.shape[2])


@pytest.mark.parametrize("seed", range(10))
def test_exchange_is_the_greatest_gain(seed):
    rng = np.random.default_rng(seed)
    num = int(rng.integers(1, 20))
    tables = rng.normal(size=(2, num, num))
    if seed % 2:
        tables[rng.random(tables.shape) < 0.3] = -np.inf
    found = exchange(tables)
    assert found.shape == (2 * num, padded(num))
    assert (found[:, num:] == -np.inf).all()
    for k, x, other in itertools.product(range(2), range(num), range(num)):
        gains = [
            tables[k, other, y] - tables[k, x, y] if tables[k, x, y] > -np.inf else np.inf
            for y in range(num)
            if tables[k, other, y] > -np.inf
        ]
        expected = -np.inf if x == other else max(gains, default=-np.inf)
        assert found[k * num + x, other] == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [np.float32, float])
@pytest.mark.parametrize("slack", [0.0, 0.7, 100.0])
@pytest.mark.parametrize("seed", range(40))
def test_sweep_keeps_what_is_within_the_slack(seed, slack, dtype):
    forest, scores, tables = draw(seed, dtype)
    domains = sweep(forest, scores, rows(tables), exchange(tables), np.full(2, slack))
    kept = [set(domains.labels[slice(*domains.starts[i : i + 2])].tolist()) for i in range(forest.num_nodes)]
    assert all(len(mine) == size for mine, size in zip(kept, np.diff(domains.starts), strict=True))
    labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, np.arange(2), labels, values)
    others, second = runner_up(forest, scores, rows(tables), domains)
    for tree in range(2):
        first, end = forest.starts[tree : tree + 2]
        found = labellings(forest, scores, tables, tree)
        assert values[tree] == pytest.approx(found[0][0], abs=1e-5)
        for score, chosen in found:
            if score > found[0][0] - slack + 1e-5:
                assert all(x in kept[first + i] for i, x in enumerate(chosen))
        if len(found) > 1 and found[1][0] > found[0][0] - slack + 1e-5:
            assert second[tree] == pytest.approx(found[1][0], abs=1e-5)
            assert {c: s for s, c in found}[tuple(others[first:end].tolist())] == pytest.approx(
                second[tree], abs=1e-5
            )


@pytest.mark.parametrize("seed", range(30))
def test_flips_lose_what_the_best_change_of_one_label_loses(seed):
    forest, scores, tables = draw(seed)
    domains = sweep(forest, scores, rows(tables), exchange(tables))
    labels, values, lost = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, np.arange(2), labels, values)
    best_flips(forest, scores, rows(tables), labels, values, lost)
    for tree in range(2):
        mine = tuple(labels[slice(*forest.starts[tree : tree + 2])].tolist())
        near = [
            values[tree] - score
            for score, other in labellings(forest, scores, tables, tree)
            if sum(a != b for a, b in zip(mine, other, strict=True)) == 1
        ]
        assert lost[tree] == pytest.approx(min(near, default=np.inf))


@pytest.mark.parametrize("slack", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(30))
def test_pruning_by_bounds_keeps_what_is_within_the_slack(seed, slack):
    forest, scores, tables = draw(seed)
    domains = prune_by_bounds(forest, scores, tables, slack)
    fill_below(forest, scores, rows(tables), domains)
    labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, np.arange(2), labels, values)
    for tree in range(2):
        found = labellings(forest, scores, tables, tree)
        assert values[tree] == pytest.approx(found[0][0])
        for score, chosen in found:
            if score > found[0][0] - slack + 1e-9:
                for i, x in enumerate(chosen):
                    node = forest.starts[tree] + i
                    assert x in domains.labels[slice(*domains.starts[node : node + 2])]


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


def messages_of(forest, scores, tables, domains, messages=None, both_ways=True):
    messages = no_messages(scores) if messages is None else messages
    transposed = rows(tables.swapaxes(1, 2))
    trees = np.arange(len(forest.starts) - 1)
    computed = pass_messages(forest, scores, rows(tables), transposed, domains, messages, trees, both_ways)
    return messages, computed


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


@pytest.mark.parametrize("seed", range(40))
def test_messages_are_maxima_over_domains(seed):
    forest, scores, tables, member, domains = restricted(seed)
    messages, computed = messages_of(forest, scores, tables, domains)
    agree(forest, messages, naive_messages(forest, scores, tables, member))
    assert computed == 2 * (forest.parent != NONE).sum()
    assert messages_of(forest, scores, tables, domains, messages)[1] == 0  # nothing has changed


@pytest.mark.parametrize("seed", range(40))
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


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_prices_find_all_pairs_of_positive_reduced_cost_and_a_valid_bound(seed, both_ways):
    forest, scores, tables, member, domains = restricted(seed)
    messages, _ = messages_of(forest, scores, tables, domains, both_ways=both_ways)
    num, trees = scores.shape[1], np.arange(2)
    labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, trees, labels, values)
    shares = root_shares(forest, both_ways)
    beyond = roots_beyond(forest, shares)
    assert np.add.reduceat(shares, forest.starts[:-1]) == pytest.approx(1.0)
    pad = ((0, 0), (0, padded(num) - num))
    row_maxima = np.pad(tables.max(axis=2), pad, constant_values=-np.inf)
    column_maxima = np.pad(tables.max(axis=1), pad, constant_values=-np.inf)
    best_on, bounds = np.zeros(forest.num_nodes), np.full(2, np.inf)
    arguments = (forest, scores, rows(tables), row_maxima, column_maxima, messages, member, trees, values)
    nodes, lower, upper, found, _, _ = price(*arguments, shares, beyond, False, best_on, bounds)

    edges = [(i, x, y) for i in np.flatnonzero(forest.parent != NONE) for x in range(num) for y in range(num)]
    ends = [(i, x, NONE) for i in np.flatnonzero(shares > 0) for x in range(num)]
    listed = np.array(edges + ends, dtype=np.int64).reshape(-1, 3)
    tree_of = np.searchsorted(forest.starts, np.arange(forest.num_nodes), side="right") - 1
    exact = reduced_costs(
        forest, scores, rows(tables), messages, values[tree_of], shares, beyond,
        listed[:, 0], listed[:, 1].astype(np.int32), listed[:, 2].astype(np.int32),
    )  # fmt: skip
    cost = {tuple(pair): c for pair, c in zip(listed.tolist(), exact.tolist(), strict=True)}
    # Reduced costs of a labelling and the value within the domains sum to its score.
    for tree in trees:
        first, end = forest.starts[tree : tree + 2]
        for score, chosen in labellings(forest, scores, tables, tree):
            total = values[tree]
            for i in range(first, end):
                x, p = chosen[i - first], forest.parent[i]
                total += cost[i, x, chosen[p - first]] if p != NONE else 0.0
                total += cost[i, x, NONE] if shares[i] > 0 else 0.0
            assert total == pytest.approx(score)
        assert bounds[tree] >= labellings(forest, scores, tables, tree)[0][0] - 1e-9
    # Pairs that were found are those that improve and are not in the domains.
    improving = {
        (i, x, y)
        for (i, x, y), c in cost.items()
        if c > 1e-9 and y != NONE and not (member[i, x] and member[forest.parent[i], y])
    }
    pairs = {(i, x, y) for i, x, y in zip(nodes.tolist(), lower.tolist(), upper.tolist(), strict=True) if y != NONE}
    assert pairs == improving
    for pair, c in zip(zip(nodes.tolist(), lower.tolist(), upper.tolist(), strict=True), found, strict=True):
        assert cost[pair] == pytest.approx(c)
    # With all labels in all domains nothing improves, and the bound is met.
    if len(improving) == 0 and all(cost[i, x, NONE] <= 1e-9 for i, x, y in ends):
        np.testing.assert_allclose(bounds, [labellings(forest, scores, tables, t)[0][0] for t in trees])


def test_split_local_scores_change_nothing():
    forest, scores, tables, member, domains = restricted(7)
    messages, _ = messages_of(forest, scores, tables, domains, both_ways=False)
    labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, np.arange(2), labels, values)
    shares = root_shares(forest, False)
    pad = ((0, 0), (0, padded(scores.shape[1]) - scores.shape[1]))
    maxima = [np.pad(tables.max(axis=axis), pad, constant_values=-np.inf) for axis in (2, 1)]
    found = []
    for split in (False, True):
        bounds = np.full(2, np.inf)
        pairs = price(
            forest, scores, rows(tables), *maxima, messages, member, np.arange(2), values, shares,
            roots_beyond(forest, shares), split, np.zeros(forest.num_nodes), bounds,
        )  # fmt: skip
        found.append((pairs[0].tolist(), pairs[1].tolist(), pairs[2].tolist(), pytest.approx(bounds.tolist())))
    assert found[0][:3] == found[1][:3]
    assert found[1][3] == found[0][3].expected


def test_pairs_are_counted():
    forest = chains(np.array([3, 1]))
    assert count_pairs(forest, np.array([0, 2, 5, 6, 10])) == 2 * 3 + 3 * 1 + 4


def test_chains_are_trees_that_end_in_their_roots():
    forest = chains(np.array([2, 1]))
    assert forest.parent.tolist() == [1, NONE, NONE]
    assert forest.first_child.tolist() == [NONE, 0, NONE]
    again = from_parents(forest.starts, forest.parent, forest.table)
    assert again.first_child.tolist() == forest.first_child.tolist()
