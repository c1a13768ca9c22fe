"""Packings with charges for counts, and networks of full packings, against enumeration."""

import itertools
import math

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.packing.counted_network import ChargedCounts, best_counted_packings
from colgen.solvers.packing.knapsack import (
    NEVER,
    arc_values,
    best_from,
    best_packing,
    filled,
    network,
    packings_above,
    packings_by_first_item,
    restricted,
)
from tests.sweeps import seeds


def drawn(seed):
    """Return a network, perhaps with a least end, and all packings with their lengths; few widths, ties."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 6))
    widths, copies = np.sort(rng.integers(1, 8, m))[::-1], rng.integers(0, 4, m)
    capacity = int(rng.integers(3, 18))
    least = int(rng.integers(0, capacity + 1)) if seed % 2 else 0
    every = np.array(list(itertools.product(*(range(b + 1) for b in copies.tolist()))))
    lengths = every @ widths
    every = every[(lengths <= capacity) & (lengths >= least)]
    return rng, filled(network(widths, copies, capacity), least), every


def counts(rng, items, scale):
    """Counts as arrays, and each one's weights by item."""
    number = int(rng.integers(1, 5))
    starts, members, weights, divisors = [0], [], [], rng.integers(2, 6, number)
    table = np.zeros((number, items), dtype=np.int64)
    for k in range(number):
        mine = rng.choice(items, rng.integers(1, items + 1), replace=False)
        members += mine.tolist()
        weights += rng.integers(1, divisors[k], len(mine)).tolist()
        table[k, mine] = weights[starts[-1] :]
        starts.append(len(members))
    return ChargedCounts(starts, members, weights, divisors, rng.integers(0, 4, number) * scale), table


@pytest.mark.parametrize("seed", seeds(200))
def test_the_best_packing_equals_enumeration(seed):
    rng, net, every = drawn(seed)
    scale = rng.choice([1.0, 1e-8, 1e8])
    worth = rng.integers(-2, 8, net.num_items) * scale
    profits = net.spread(worth)
    values = best_from(net, profits)
    given, table = counts(rng, net.num_items, scale)
    earned = every @ worth - (every @ table.T // given.divisors) @ given.charges
    best = earned.max(initial=NEVER)
    for threshold in (-1e9 * scale, 0.0, best - scale, best - 0.5 * scale, best, best + scale):
        threshold = max(float(threshold), -1e20)
        found = best_counted_packings(net, values, profits, given, threshold)
        assert not found.overflowed
        assert found.bound >= best - 1e-9 * scale
        for profit, packing in zip(found.profits, found.packings, strict=True):
            assert (every == packing).all(axis=1).any()
            assert profit == pytest.approx(packing @ worth - (table @ packing // given.divisors) @ given.charges)
            assert profit > threshold
        if best > threshold + 1e-9 * scale and every[earned == best].any():  # the empty packing is none
            assert found.profits.max() == pytest.approx(best) == pytest.approx(found.bound)
        if best <= threshold - 1e-9 * scale:
            assert not len(found.profits)
            assert found.bound <= max(threshold, values[0, 0])


@pytest.mark.parametrize("seed", seeds(100))
def test_a_filled_network_has_only_the_packings_beyond_the_least_end(seed):
    rng, net, every = drawn(2 * seed + 1)
    worth = rng.integers(-2, 8, net.num_items).astype(float)
    profits = net.spread(worth)
    values = best_from(net, profits)
    best = (every @ worth).max(initial=NEVER)
    assert values[0, 0] == pytest.approx(best) if len(every) else values[0, 0] < 0.5 * NEVER
    if not len(every) or best <= 0:
        return
    assert best_packing(net, values, profits) @ worth == pytest.approx(best)
    firsts, packings = packings_by_first_item(net, values, profits, 0.5)
    for item in np.flatnonzero(firsts > 0.5).tolist():
        begin = every[(every[:, :item] == 0).all(axis=1) & (every[:, item] > 0)]
        assert firsts[item] == pytest.approx((begin @ worth).max())
        assert (begin == packings[item]).all(axis=1).any()
    listed = packings_above(net, values, profits, 1.0, 10_000)
    assert sorted(map(tuple, listed.tolist())) == sorted(map(tuple, every[every @ worth >= 1.0].tolist()))
    through = arc_values(net, values, profits)
    assert through.max() == pytest.approx(best)
    again = filled(restricted(net, net.copies), net.least)
    assert again.num_arcs == net.num_arcs


def test_each_arc_of_single_pieces_is_in_a_full_packing():
    rng = np.random.default_rng(5)
    widths = np.sort(rng.choice(np.arange(3, 60), 14, replace=False))[::-1]
    net = filled(network(widths, np.ones(14), 60), 60)
    lengths = best_from(net, net.spread(widths.astype(float)))
    assert net.num_arcs < network(widths, np.ones(14), 60).num_arcs
    assert (arc_values(net, lengths, net.spread(widths.astype(float))) == 60.0).all()


def test_a_search_with_too_many_labels_returns_the_bound_without_charges():
    widths = np.arange(40, 20, -1)
    net = network(widths, np.ones(20), 200)
    profits = net.spread(widths + 0.5)
    values = best_from(net, profits)
    members = np.arange(20)
    given = ChargedCounts(np.arange(0, 21, 5), members, np.ones(20), np.full(4, 2), np.full(4, 3.0))
    whole = best_counted_packings(net, values, profits, given, 0.0)
    short = best_counted_packings(net, values, profits, given, 0.0, labels=3)
    assert not whole.overflowed
    assert short.overflowed
    assert not len(short.profits)
    assert short.bound == values[0, 0] >= whole.bound


def test_the_clock_is_checked():
    net = network([3, 2], [2, 2], 7)
    profits = net.spread(np.array([3.0, 1.0]))
    looks = []
    counts = ChargedCounts([0, 1], [0], [1], [2], [1.0])
    best_counted_packings(net, best_from(net, profits), profits, counts, 0.0, look=lambda: looks.append(1))
    assert looks


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": [0, 1]}, "starts"),
        ({"members": [0, 5]}, "members"),
        ({"members": [1, 1]}, "at most once per count"),
        ({"weights": [1, 2]}, "less than its count's divisor"),
        ({"weights": [1, 0.5]}, "weights"),
        ({"divisors": [1]}, "divisors"),
        ({"charges": [-1.0]}, "charges"),
        ({"charges": [math.nan]}, "charges"),
        ({"threshold": math.nan}, "threshold"),
        ({"labels": 0}, "labels"),
    ],
)
def test_invalid_arguments_raise(change, message):
    net = network([3, 2], [2, 2], 7)
    profits = net.spread(np.array([3.0, 1.0]))
    given = {"starts": [0, 2], "members": [0, 1], "weights": [1, 1], "divisors": [2], "charges": [1.0]}
    counts = ChargedCounts(**(given | {name: value for name, value in change.items() if name in given}))
    call = {"threshold": 0.0} | {name: value for name, value in change.items() if name not in given}
    with pytest.raises(ArrayError, match=message):
        best_counted_packings(net, best_from(net, profits), profits, counts, **call)
    with pytest.raises(ArrayError, match="least"):
        filled(net, -1)
