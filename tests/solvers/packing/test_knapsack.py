"""Knapsack kernels against enumeration of all packings."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.packing.knapsack import (
    NEVER,
    NetworkTooLargeError,
    arc_values,
    best_from,
    best_packing,
    bounded_knapsack,
    network,
    packings_above,
    packings_by_first_item,
    restricted,
)
from tests.sweeps import seeds

SEEDS = seeds(60)


def draw(seed):
    """A random network with random profits by arc, often negative, sometimes tied, sometimes with forbidden arcs."""
    rng = np.random.default_rng(seed)
    items, capacity = int(rng.integers(1, 5)), int(rng.integers(0, 15))
    widths = rng.integers(1, max(capacity, 1) + 2, items)
    kinds = rng.integers(0, 4, items)
    # The cases of the kernels: none, one, limited by the number, limited by the capacity alone.
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
def test_many_arcs_are_found_like_single_ones(seed):
    net, *_ = draw(seed)
    items, positions = np.array(list(np.ndindex(net.num_items, net.capacity + 3))).T
    assert net.arcs(items, positions).tolist() == [
        net.arc(int(item), int(position)) for item, position in zip(items, positions, strict=True)
    ]


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


@pytest.mark.parametrize("seed", seeds(40, fast=8))
def test_many_copies_slide_along_chains(seed):
    # More than eight copies, limited by their number, with many states: a case of its own.
    rng = np.random.default_rng(seed)
    capacity = int(rng.integers(30, 60))
    widths, copies = np.array([1, 2, 3])[rng.permutation(3)], rng.integers(9, 12, 3)
    allowed = rng.random((3, capacity + 1)) < 0.95 if seed % 2 else None
    net = network(widths, copies, capacity, allowed)
    profits = rng.normal(0.2, 1.0, net.num_arcs) if seed % 3 else rng.integers(-1, 3, net.num_arcs).astype(float)
    every = list(packings(net, copies, allowed, profits))
    values = best_from(net, profits)
    optimum = max(value for _, value, _ in every)
    assert values[0, 0] == pytest.approx(optimum)
    assert profit_of(net, profits, best_packing(net, values, profits)) == pytest.approx(optimum)
    through = np.full(net.num_arcs, NEVER)
    for _, value, arcs in every:
        for arc in arcs:
            k = net.arc(*arc)
            through[k] = max(through[k], value)
    assert arc_values(net, values, profits) == pytest.approx(through)


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_networks_that_are_restricted(seed):
    net, limits, allowed, profits = draw(seed)
    rng = np.random.default_rng(1000 + seed)
    fewer, mask = rng.integers(0, 3, net.num_items), rng.random(net.num_arcs) < 0.8
    left = restricted(net, fewer, mask)
    free = np.ones((net.num_items, net.capacity + 1), np.bool_) if allowed is None else allowed.copy()
    free[net.items[~mask], net.positions[~mask]] = False
    limits = np.minimum(limits, fewer)
    optimum = max(value for _, value, _ in packings(net, limits, free, profits))
    assert best_from(left, profits[left.origin])[0, 0] == pytest.approx(optimum)
    assert (left.items == net.items[left.origin]).all()
    assert (left.positions == net.positions[left.origin]).all()


@pytest.mark.parametrize("power", [-30, -1, 30])
def test_profits_of_another_scale(power):
    for seed in range(20):
        net, _, _, profits = draw(seed)
        packing = best_packing(net, best_from(net, profits), profits)
        scaled = np.ldexp(profits, power)
        assert best_packing(net, best_from(net, scaled), scaled).tolist() == packing.tolist()


def test_effort_depends_on_reachable_sums_and_not_on_the_capacity():
    net = network([4_000_000_000, 3_000_000_001, 7], [2, 3, 4], 10**10)
    assert net.num_states < 60
    value, packing = bounded_knapsack([4.0, 3.0, 1e-3], [4_000_000_000, 3_000_000_001, 7], [2, 3, 4], 10**10)
    assert value == pytest.approx(9.004)
    assert packing.tolist() == [0, 3, 4]


def test_too_many_reachable_sums_raise_before_memory_is_allocated():
    with pytest.raises(NetworkTooLargeError, match="reachable sums"):
        network([1], [10**10], 10**10)
    with pytest.raises(NetworkTooLargeError, match="a knapsack of 3 items and capacity 9000"):
        network([1, 2, 3], [9000] * 3, 9000, cells=30_000)


def test_exceptions_of_look_propagate():
    class EnoughError(Exception):
        pass

    def look():
        raise EnoughError

    with pytest.raises(EnoughError):
        bounded_knapsack([1.0], [1], [10**6], 10**6, look=look)


@pytest.mark.parametrize(
    ("profits", "widths", "copies", "capacity", "words"),
    [
        ([1.0], [50.5], [97], 100, "widths: expected .*50.5"),
        ([1.0], [33.4], [49], 100, "widths"),
        ([1.0], [50], [1.5], 100, "copies"),
        ([1.0], [50], [1], 100.5, "capacity"),
        ([np.nan], [50], [1], 100, "profits"),
        ([np.inf], [50], [1], 100, "profits"),
        ([1.0], [0], [1], 100, "widths"),
        ([1.0], [-3], [1], 100, "widths"),
        ([1.0], [3], [-1], 100, "copies"),
        ([1.0], [3], [1], -1, "capacity"),
        ([1.0], [3], [1], 2**63, "capacity"),
        ([1.0], [3, 4], [1], 100, "copies"),
        ([1.0, 2.0], [3], [1], 100, "profits"),
        ([1.0], [2**64], [1], 100, "widths"),
        (["a"], [3], [1], 100, "profits"),
        ([1j], [3], [1], 100, "profits"),
    ],
)
def test_numbers_that_a_cast_would_change_raise(profits, widths, copies, capacity, words):
    with pytest.raises(ArrayError, match=words):
        bounded_knapsack(profits, widths, copies, capacity)


def test_tables_of_another_network_raise():
    net, other = network([3], [2], 10), network([3, 2], [2, 2], 10)
    profits = net.spread(np.ones(1))
    values = best_from(net, profits)
    for function in (best_packing, arc_values):
        with pytest.raises(ArrayError, match="values"):
            function(other, values, other.spread(np.ones(2)))
        with pytest.raises(ArrayError, match="profits"):
            function(net, values, profits[:1])


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
