"""The oracle by exchanges finds the same pairs and bounds as the oracle by maxima."""

import numpy as np
import pytest

from colgen.problems.chain_map.kernels.exchange_bounds import Exchanges, allocate_edge_scratch
from colgen.problems.chain_map.kernels.exchange_prices import price_by_exchanges
from colgen.problems.chain_map.kernels.pair_prices import Prices, allocate_pairs
from colgen.problems.chain_map.kernels.roots import root_shares, roots_beyond
from colgen.problems.chain_map.kernels.tree_prices import allocate_scratch, price
from colgen.solvers.chains.forest import chains
from colgen.solvers.chains.tree_domains import Domains, exchange
from colgen.solvers.vectors import padded
from tests.solvers.small_forests import messages_of, random_forest, rows
from tests.sweeps import seeds


def drawn(seed, dtype):
    """Return chains or trees, with mostly one label per domain, many in a few seeds, and ties in every third seed."""
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, 3) if seed % 2 else chains(rng.integers(1, 9, size=3))
    num = int(rng.choice([1, 2, 5, 17, 40]))
    scores = 3.0 * rng.normal(size=(forest.num_nodes, num))
    tables = float(rng.choice([0.3, 1.0, 3.0])) * rng.normal(size=(int(forest.table.max()) + 1, num, num))
    if seed % 3 == 0:
        scores, tables = scores.round(), tables.round()
    scores, tables = scores.astype(dtype), tables.astype(dtype)
    member = rng.random(scores.shape) < rng.choice([0.0, 0.0, 0.05, 0.4])
    likely = scores.argmax(axis=1) if seed % 4 else rng.integers(0, num, size=len(scores))
    member[np.arange(len(member)), likely] = True
    nodes, labels = np.nonzero(member)
    starts = np.searchsorted(nodes, np.arange(forest.num_nodes + 1))
    return forest, scores, tables, Domains(starts, labels.astype(np.int32), np.empty(len(labels)))


def both(forest, scores, tables, domains, work=np.inf, most=2000, quiet=None):
    """Return pairs with reduced costs, and bounds, of both oracles; ``quiet`` comes from an earlier call."""
    quiet = np.full(forest.num_nodes, -1) if quiet is None else quiet
    model, duals, _, values, _ = messages_of(forest, scores, tables.astype(float), domains)
    num, trees = scores.shape[1], np.arange(len(forest.starts) - 1)
    pad = ((0, 0), (0, padded(num) - num))
    maxima = [np.pad(tables.astype(float).max(axis=axis), pad, constant_values=-np.inf) for axis in (2, 1)]
    shares = root_shares(forest, True)
    beyond = roots_beyond(forest, shares)
    above = np.ascontiguousarray(tables.swapaxes(1, 2))
    sizes = [float(np.abs(array).max()) for array in (scores, tables)]
    exchanges = Exchanges(rows(tables), rows(above), exchange(tables), exchange(above), *sizes)
    answers = []
    for by_exchanges in (False, True):
        bounds, position, gaps = np.full(len(trees), np.inf), np.zeros(2, dtype=np.int64), np.zeros(1)
        prices = Prices(forest, model, duals, *maxima, trees, values, 9.0, shares, beyond, bounds)
        edge, scratch, pairs, parts = (
            allocate_edge_scratch(exchanges),
            allocate_scratch(forest, num),
            allocate_pairs(most),
            [],
        )
        while position[0] < len(trees):
            if by_exchanges:
                found, _, _, full = price_by_exchanges(prices, exchanges, edge, pairs, position, gaps, work, quiet)
            else:
                found, _, _, full = price(prices, False, scratch, pairs, position, gaps, work)
            parts.append(pairs.first(found))
            if full and not found:
                pairs = allocate_pairs(1 + len(pairs.nodes))
        listed = [np.concatenate(part).tolist() for part in zip(*parts, strict=True)]
        answers.append((dict(map(_keyed, zip(*listed, strict=True))), bounds))
    return answers


def _keyed(entry):
    return tuple(entry[:3]), entry[3]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exchanges_find_the_same_pairs_and_bounds_as_maxima(dtype):
    seen = 0
    for seed in seeds(400):
        (expected, bounds), (found, proved) = both(*drawn(seed, dtype))
        assert found.keys() == expected.keys()
        assert [found[pair] for pair in expected] == pytest.approx(list(expected.values()))
        np.testing.assert_allclose(proved, bounds, rtol=1e-12, atol=1e-12)
        seen += len(expected)
    assert seen


def test_exchanges_in_pieces_equal_one_call():
    for seed in seeds(20):
        forest, scores, tables, domains = drawn(seed, np.float32)
        one, pieces = (both(forest, scores, tables, domains, work)[1] for work in (np.inf, 1.0))
        assert one[0] == pieces[0]
        assert one[1].tolist() == pieces[1].tolist()


def test_pairs_that_do_not_fit_are_found_by_the_next_call():
    for seed in seeds(20):
        forest, scores, tables, domains = drawn(seed, np.float32)
        for one, pieces in zip(
            both(forest, scores, tables, domains), both(forest, scores, tables, domains, most=0), strict=True
        ):
            assert one[0] == pieces[0]
            assert one[1].tolist() == pieces[1].tolist()


@pytest.mark.parametrize("strength", [0.1, 0.3, 0.6])
def test_edges_proved_before_are_priced_again_when_labels_around_them_change(strength):
    """Single labels, then other labels at some nodes, then several labels: results do not depend on ``quiet``."""
    rng, num, forest = np.random.default_rng(1), 17, chains(np.full(60, 7))
    scores = (2.0 * rng.normal(size=(forest.num_nodes, num))).astype(np.float32)
    tables = (strength * rng.normal(size=(1, num, num))).astype(np.float32)
    nodes, best = np.arange(forest.num_nodes), scores.argmax(axis=1)
    quiet = np.full(forest.num_nodes, -1)
    for again in range(20):
        member = np.zeros(scores.shape, dtype=bool)
        second = scores.argsort(axis=1)[:, -2]
        member[nodes, np.where(rng.random(len(best)) < 0.2, second, best)] = True
        if again % 4 == 3:
            member |= rng.random(scores.shape) < 0.02
        owners, labels = np.nonzero(member)
        starts = np.searchsorted(owners, np.arange(forest.num_nodes + 1))
        domains = Domains(starts, labels.astype(np.int32), np.empty(len(labels)))
        (expected, bounds), (found, proved) = both(forest, scores, tables, domains, quiet=quiet)
        assert found.keys() == expected.keys()
        np.testing.assert_allclose(proved, bounds, rtol=1e-12, atol=1e-12)
    assert (quiet >= 0).any()
