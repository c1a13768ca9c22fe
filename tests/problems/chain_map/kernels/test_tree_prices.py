"""Reduced costs of label pairs: all improving pairs are found, and the bound is valid."""

import numpy as np
import pytest

from colgen.problems.chain_map.kernels.pair_prices import Prices, allocate_pairs, reduced_costs
from colgen.problems.chain_map.kernels.roots import root_shares, roots_beyond
from colgen.problems.chain_map.kernels.tree_prices import allocate_scratch, price
from colgen.solvers.chains.forest import NONE
from colgen.solvers.vectors import padded
from tests.solvers.small_forests import labellings, messages_of, restricted
from tests.sweeps import seeds


def priced(forest, scores, tables, domains, both_ways, *, split=False, work=np.inf):
    """Return the results of one call, or of calls in pieces, with bounds, messages and their inputs."""
    model, duals, labels, values, _ = messages_of(forest, scores, tables, domains, both_ways)
    num, trees = scores.shape[1], np.arange(2)
    pad = ((0, 0), (0, padded(num) - num))
    maxima = [np.pad(tables.max(axis=axis), pad, constant_values=-np.inf) for axis in (2, 1)]
    shares = root_shares(forest, both_ways)
    beyond = roots_beyond(forest, shares)
    bounds, position, gaps, parts = np.full(2, np.inf), np.zeros(2, dtype=np.int64), np.zeros(1), []
    scratch, pairs = allocate_scratch(forest, num), allocate_pairs(2000)
    prices = Prices(forest, model, duals, *maxima, trees, values, 5.0, shares, beyond, bounds)
    while position[0] < 2:
        found, *counts, full = price(prices, split, scratch, pairs, position, gaps, work)
        assert not full
        parts.append((pairs.first(found), counts))
    found = [np.concatenate(some) for some in zip(*(part for part, _ in parts), strict=True)]
    sums = np.sum([counts for _, counts in parts], axis=0).tolist()
    return found, sums, len(parts), bounds, (model, duals, labels, values, shares, beyond)


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize("seed", seeds(60))
def test_prices_find_all_pairs_of_positive_reduced_cost_and_a_valid_bound(seed, both_ways):
    forest, scores, tables, member, domains = restricted(seed)
    num, trees = scores.shape[1], np.arange(2)
    pairs_found, _, _, bounds, made_of = priced(forest, scores, tables, domains, both_ways)
    nodes, lower, upper, found = pairs_found
    model, duals, _, values, shares, beyond = made_of
    assert np.add.reduceat(shares, forest.starts[:-1]) == pytest.approx(1.0)

    edges = [(i, x, y) for i in np.flatnonzero(forest.parent != NONE) for x in range(num) for y in range(num)]
    ends = [(i, x, NONE) for i in np.flatnonzero(shares > 0) for x in range(num)]
    listed = np.array(edges + ends, dtype=np.int64).reshape(-1, 3)
    tree_of = np.searchsorted(forest.starts, np.arange(forest.num_nodes), side="right") - 1
    exact = reduced_costs(
        forest, model, duals, values[tree_of], shares, beyond,
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
    # The pairs found are the improving pairs outside the domains.
    improving = {
        (i, x, y)
        for (i, x, y), c in cost.items()
        if c > 1e-9 and y != NONE and not (member[i, x] and member[forest.parent[i], y])
    }
    pairs = {(i, x, y) for i, x, y in zip(nodes.tolist(), lower.tolist(), upper.tolist(), strict=True) if y != NONE}
    assert pairs == improving
    for pair, c in zip(zip(nodes.tolist(), lower.tolist(), upper.tolist(), strict=True), found, strict=True):
        assert cost[pair] == pytest.approx(c)
    # With all labels in all domains nothing improves, and the bound is attained.
    if len(improving) == 0 and all(cost[i, x, NONE] <= 1e-9 for i, x, y in ends):
        np.testing.assert_allclose(bounds, [labellings(forest, scores, tables, t)[0][0] for t in trees])


def test_split_local_scores_change_nothing():
    forest, scores, tables, _, domains = restricted(7)
    one, other = (priced(forest, scores, tables, domains, False, split=split) for split in (False, True))
    assert [k.tolist() for k in one[0][:3]] == [k.tolist() for k in other[0][:3]]
    np.testing.assert_allclose(one[3], other[3])


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize("seed", seeds(20))
def test_prices_in_pieces_equal_one_call(seed, both_ways):
    forest, scores, tables, _, domains = restricted(seed)
    one, other = (priced(forest, scores, tables, domains, both_ways, work=work) for work in (np.inf, 1.0))
    assert (one[2], other[2]) == (1, 2 * forest.num_nodes)
    assert [k.tolist() for k in one[0]] == [k.tolist() for k in other[0]]
    assert one[1] == other[1]
    assert one[3].tolist() == other[3].tolist()
