"""Packings over large capacities against enumeration and against the table over states."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.arrays import ArrayError
from colgen.solvers.packing import bounded
from colgen.solvers.packing.bounded import PaidArcs, bounded_packings, count_parts
from colgen.solvers.packing.knapsack import NEVER, NetworkTooLargeError, best_from, network
from tests.sweeps import seeds

LARGE = 20_000


def value(packing, profits, widths, paid):
    """Profit and end position of a packing, laid out piece by piece."""
    earned, position = 0.0, 0
    for i, copies in enumerate(packing):
        for _ in range(copies):
            earned += profits[i] + paid.get((i, position), 0.0)
            position += int(widths[i])
    return earned, position


def draw(seed):
    """Profits (some tied or negative), widths in any order, copies, a capacity, and payments by arc."""
    rng = np.random.default_rng(seed)
    items, capacity = int(rng.integers(1, 6)), int(rng.integers(5, 40))
    widths = rng.integers(1, capacity // 2 + 2, items)
    widths = np.sort(widths)[::-1] if seed % 2 else widths
    copies = rng.integers(0, 4, items)
    profits = rng.integers(-1, 6, items).astype(float) if seed % 3 else rng.random(items)
    paid = {}
    if seed % 4 > 1:
        for _ in range(int(rng.integers(1, 5))):
            position = int(rng.choice([0, 0, *widths, *(widths + widths[0])]))
            paid[int(rng.integers(items)), position] = float(rng.choice([NEVER, -2.0, 1.0, 2.5]))
    return profits, widths, copies, capacity, paid


def optimum(profits, widths, copies, capacity, paid):
    """The best profit by enumeration; the empty packing earns nothing."""
    found = (value(packing, profits, widths, paid) for packing in itertools.product(*(range(b + 1) for b in copies)))
    return max(earned for earned, end in found if end <= capacity)


def arcs_of(paid, factor=1):
    return PaidArcs([i for i, _ in paid], [factor * q for _, q in paid], list(paid.values()))


@pytest.mark.parametrize("factor", [1, LARGE])
@pytest.mark.parametrize("seed", seeds(400, fast=60))
def test_packings_and_bounds_against_enumeration(seed, factor):
    profits, widths, copies, capacity, paid = draw(seed)
    best = optimum(profits, widths, copies, capacity, paid)
    wide, room = factor * widths, factor * capacity + factor - 1
    stretched = {(i, factor * q): earned for (i, q), earned in paid.items()}
    for threshold, cells, rounded in itertools.product(
        (0.0, 0.7 * best, max(best - 1e-9, 0.0), best, best + 1.0), (1, 40, 8000), (False, True)
    ):
        found = bounded_packings(
            profits, wide, copies, room, threshold, arcs_of(stretched), rounded=rounded, cells=cells
        )
        assert max(found.bound, threshold) >= best - 1e-9
        for earned, packing in zip(found.profits, found.packings, strict=True):
            again, end = value(packing, profits, wide, stretched)
            assert earned == pytest.approx(again, abs=1e-9)
            assert earned > threshold
            assert end <= room
            assert (packing <= copies).all()
        if found.exact and best > threshold + 1e-8:
            assert found.profits.max() == pytest.approx(best, abs=1e-9)
        if not rounded and best > threshold + 1e-8:
            assert len(found.profits)


@given(data=st.data())
def test_the_optimum_is_that_of_the_table_over_states(data):
    capacity = data.draw(st.integers(1_000_000, 3_000_000))
    number = data.draw(st.integers(1, 6))
    widths = data.draw(st.lists(st.integers(capacity // 9, capacity), min_size=number, max_size=number))
    copies = data.draw(st.lists(st.integers(0, 9), min_size=number, max_size=number))
    profits = data.draw(st.lists(st.floats(0.0, 1.0), min_size=number, max_size=number))
    net = network(widths, copies, capacity)
    best = float(best_from(net, net.spread(np.array(profits)))[0, 0])
    least = 0.0
    while True:
        found = bounded_packings(profits, widths, copies, capacity, least, cells=500)
        assert max(found.bound, least) >= best - 1e-12
        if found.exact or not len(found.profits):
            break
        least = float(found.profits.max())
    assert max(least, float(found.profits.max(initial=0.0))) == pytest.approx(best, abs=1e-12)


def test_equal_widths_and_profits_proportional_to_widths():
    """Every full packing ties: the least rounding error of a bound would be seen."""
    widths, capacity = np.array([500_000, 500_000, 250_000, 250_000, 125_000]), 1_000_000
    found = bounded_packings(widths / capacity, widths, np.full(5, 4), capacity, 1.0 - 1e-12, cells=60)
    assert max(found.profits) == 1.0
    assert not len(bounded_packings(widths / capacity, widths, np.full(5, 4), capacity, 1.0, cells=60).profits)


@pytest.mark.parametrize("size", [1e-290, 1e290])
def test_profits_of_extreme_size(size):
    found = bounded_packings([3 * size, 2 * size], [3, 2], [1, 2], 5, 4.5 * size, cells=4)
    assert found.profits.max() == pytest.approx(5 * size)
    assert found.packings[found.profits.argmax()].tolist() == [1, 1]


def test_no_items_and_no_room():
    assert bounded_packings([], [], [], 10**6, 0.0).bound == 0.0
    assert not len(bounded_packings([1.0], [7], [3], 6, 0.0).profits)


def test_too_many_bits_are_refused(monkeypatch):
    monkeypatch.setattr(bounded, "BITS", 1000)
    assert count_parts([3, 5], [4, 9], 1000) == 7
    with pytest.raises(NetworkTooLargeError, match="2 items and capacity 1000 has 7 parts: expected at most 1000"):
        bounded_packings([0.3, 0.5], [3, 5], [4, 9], 1000, 5.6, cells=1)


def test_an_arc_is_paid_once():
    with pytest.raises(ArrayError, match="each arc at most once"):
        bounded_packings([1.0], [1], [1], 3, 0.0, PaidArcs([0, 0], [1, 1], [1.0, 2.0]))


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("profits", [np.nan, 1.0]),
        ("profits", [1.0]),
        ("widths", [0, 2]),
        ("widths", [1.5, 2]),
        ("copies", [-1, 2]),
        ("capacity", -1),
        ("capacity", 2.5),
        ("threshold", -1.0),
        ("threshold", np.nan),
        ("cells", 0),
        ("arcs", PaidArcs([2], [0], [1.0])),
        ("arcs", PaidArcs([0], [-1], [1.0])),
        ("arcs", PaidArcs([0], [0], [np.nan])),
    ],
)
def test_invalid_arguments_are_refused(name, bad):
    good = {"profits": [1.0, 2.0], "widths": [1, 2], "copies": [1, 2], "capacity": 4, "threshold": 0.0}
    assert bounded_packings(**good).bound == 4.0
    with pytest.raises(ArrayError, match=name if name != "profits" or len(bad) > 1 else "widths"):
        bounded_packings(**good | {name: bad})
