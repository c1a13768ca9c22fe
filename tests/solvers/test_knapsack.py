"""Knapsack kernels against all packings, written down."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from solvers.knapsack import (
    NEVER,
    arc_values,
    best_from,
    best_packing,
    bounded_knapsack,
    network,
    packings_above,
    packings_by_first_item,
)

SEEDS = range(60)


def draw(seed):
    """A random network with random profits by arc, often negative, sometimes tied, sometimes with forbidden arcs."""
    rng = np.random.default_rng(seed)
    items, capacity = int(rng.integers(1, 5)), int(rng.integers(0, 15))
    widths = rng.integers(1, max(capacity, 1) + 2, items)
    kinds = rng.integers(0, 4, items)
    # Kernels treat the cases apart: none, one, limited by the number, limited by the capacity alone.
    copies = np.choose(
        kinds, [np.zeros_like(widths), np.ones_like(widths), np.full_like(widths, 2), capacity // widths]
    )
    allowed = rng.random((items, capacity + 1)) < 0.8 if seed % 2 else None
    net = network(widths, copies, capacity, allowed)
    tied = rng.integers(-1, 3, net.num_arcs).astype(float)
    profits = rng.normal(0.4, 1.0, net.num_arcs) if seed % 3 else tied
    return net, copies, allowed, profits


def layout(net, copies):
    """The arcs (item, position) of a packing."""
    arcs, position = [], 0
    for item, count in enumerate(copies):
        for _ in range(count):
            arcs.append((item, position))
            position += int(net.widths[item])
    return arcs


def packings(net, limits, allowed, profits):
    """Every packing: copies, profit, arcs."""
    for copies in itertools.product(*(range(b + 1) for b in limits)):
        if sum(int(w) * c for w, c in zip(net.widths, copies, strict=True)) > net.capacity:
            continue
        arcs = layout(net, copies)
        if allowed is None or all(allowed[arc] for arc in arcs):
            numbers = [net.arc(*arc) for arc in arcs]
            assert min(numbers, default=0) >= 0, "an arc of a packing is missing in the network"
            yield copies, sum(profits[k] for k in numbers), arcs


def naive(seed):
    net, limits, allowed, profits = draw(seed)
    return net, profits, list(packings(net, limits, allowed, profits))


def profit_of(net, profits, copies):
    numbers = [net.arc(*arc) for arc in layout(net, copies.tolist())]
    assert all(k >= 0 for k in numbers)
    return sum(profits[k] for k in numbers)


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_best_packing(seed):
    net, profits, every = naive(seed)
    values = best_from(net, profits)
    optimum = max(value for _, value, _ in every)
    assert values[0, 0] == pytest.approx(optimum)

    best = best_packing(net, values, profits)
    assert tuple(best.tolist()) in {copies for copies, _, _ in every}
    assert profit_of(net, profits, best) == pytest.approx(optimum)


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_best_packing_that_begins_with_each_item(seed):
    net, profits, every = naive(seed)
    threshold = 0.5
    earned, rows = packings_by_first_item(net, best_from(net, profits), profits, threshold)
    for item in range(net.num_items):
        beginning = [value for copies, value, _ in every if copies[item] and not any(copies[:item])]
        if not beginning:
            assert earned[item] == NEVER
            continue
        assert earned[item] == pytest.approx(max(beginning))
        if earned[item] <= threshold:
            assert not rows[item].any()
            continue
        assert rows[item, item] > 0
        assert not rows[item, :item].any()
        assert tuple(rows[item].tolist()) in {copies for copies, _, _ in every}
        assert profit_of(net, profits, rows[item]) == pytest.approx(earned[item])


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_best_packing_through_each_arc(seed):
    net, profits, every = naive(seed)
    values = arc_values(net, best_from(net, profits), profits)
    for item in range(net.num_items):
        for k in range(net.first_arc[item], net.first_arc[item + 1]):
            arc = (item, int(net.positions[k]))
            using = [value for _, value, arcs in every if arc in arcs]
            assert values[k] == (pytest.approx(max(using)) if using else NEVER)


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_packings_above_a_threshold(seed):
    net, profits, every = naive(seed)
    profits = np.abs(profits) + 0.1  # thresholds are positive
    every = [(copies, profit_of(net, profits, np.array(copies))) for copies, _, _ in every]
    values = best_from(net, profits)
    threshold = 0.6 * float(values[0, 0])
    if threshold <= 0.0:
        assert packings_above(net, values, profits, threshold, 10) is None
        return
    good = {copies for copies, value in every if value >= threshold}
    close = {copies for copies, value in every if abs(value - threshold) < 1e-9}
    found = packings_above(net, values, profits, threshold, len(every))
    listed = [tuple(row) for row in found.tolist()]
    assert len(listed) == len(set(listed))
    assert good - close <= set(listed) <= good | close
    if len(listed) > 1:
        assert packings_above(net, values, profits, threshold, len(listed) - 1) is None


@pytest.mark.parametrize("copies", [1, 2, 3, 5])
def test_bounded_knapsack(copies):
    value, packing = bounded_knapsack([5.0, 3.0, -1.0], [4, 3, 1], [copies, copies, 9], 21)
    expected = max(5 * a + 3 * b for a in range(copies + 1) for b in range(copies + 1) if 4 * a + 3 * b <= 21)
    assert value == expected
    assert 5 * packing[0] + 3 * packing[1] == expected
    assert packing[2] == 0


def test_nothing_fits():
    value, packing = bounded_knapsack([1.0], [5], [3], 4)
    assert value == 0.0
    assert packing.tolist() == [0]


def test_networks_larger_than_their_first_guess():
    widths = np.arange(1, 8)
    net = network(widths, np.full(7, 400), 400)
    assert net.num_arcs > 1024
    assert best_from(net, net.spread(widths.astype(float)))[0, 0] == 400


@pytest.mark.slow
def test_without_compilation():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", "-k", "naive", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
