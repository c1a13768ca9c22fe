"""Reduced costs of label pairs: all that improve are found, and what they leave is a bound."""

import numpy as np
import pytest

from problems.chain_map.kernels.tree_labels import best_labels
from problems.chain_map.kernels.tree_prices import price, reduced_costs, root_shares, roots_beyond
from solvers.chains.forest import NONE
from solvers.chains.vectors import padded
from tests.solvers.small_forests import labellings, messages_of, restricted, rows
from tests.sweeps import seeds


def whole():
    return np.zeros(2, dtype=np.int64), np.zeros(1), np.inf


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize("seed", seeds(60))
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
    arguments = (forest, scores, rows(tables), row_maxima, column_maxima, messages, member, trees, values, 5.0)
    nodes, lower, upper, found, _, _ = price(*arguments, shares, beyond, False, best_on, bounds, *whole())

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
            forest, scores, rows(tables), *maxima, messages, member, np.arange(2), values, 5.0, shares,
            roots_beyond(forest, shares), split, np.zeros(forest.num_nodes), bounds, *whole(),
        )  # fmt: skip
        found.append((pairs[0].tolist(), pairs[1].tolist(), pairs[2].tolist(), pytest.approx(bounds.tolist())))
    assert found[0][:3] == found[1][:3]
    assert found[1][3] == found[0][3].expected


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_messages_and_prices_in_pieces_are_those_of_one_call(seed, both_ways):
    forest, scores, tables, member, domains = restricted(seed)
    num, trees = scores.shape[1], np.arange(2)
    pad = ((0, 0), (0, padded(num) - num))
    maxima = [np.pad(tables.max(axis=axis), pad, constant_values=-np.inf) for axis in (2, 1)]
    shares = root_shares(forest, both_ways)
    found = []
    for work in (np.inf, 1.0):
        messages, computed = messages_of(forest, scores, tables, domains, both_ways=both_ways, work=work)
        labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2)
        best_labels(forest, scores, rows(tables), domains, trees, labels, values)
        best_on, bounds = np.zeros(forest.num_nodes), np.full(2, np.inf)
        position, gaps, parts, calls = np.zeros(2, dtype=np.int64), np.zeros(1), [], 0
        while position[0] < len(trees):
            parts.append(
                price(
                    forest, scores, rows(tables), *maxima, messages, member, trees, values, 5.0, shares,
                    roots_beyond(forest, shares), False, best_on, bounds, position, gaps, work,
                )
            )  # fmt: skip
            calls += 1
        assert calls == (1 if work == np.inf else forest.num_nodes)
        pairs = [np.concatenate([part[k] for part in parts]).tolist() for k in range(4)]
        sums = [sum(part[k] for part in parts) for k in (4, 5)]
        found.append((computed, pairs, sums, best_on.tolist(), bounds.tolist(), labels.tolist(), values.tolist()))
    assert found[0] == found[1]
