"""The checker's pricing problems against enumeration."""

import itertools
import random
from fractions import Fraction

import pytest

from colgen.certificate import checker_pricing
from colgen.certificate.checker_pricing import (
    CheckerState,
    KnapsackPricing,
    UnreadableError,
    WrongError,
    check_count,
    exact,
    integer,
)


def drawn(seed):
    """A knapsack, its packings with the positions of their pieces, dual values, and counts."""
    chance = random.Random(seed)
    n, capacity = chance.randint(1, 4), chance.randint(4, 14)
    sizes, copies = [chance.randint(1, 7) for _ in range(n)], [chance.randint(1, 3) for _ in range(n)]
    data = {"capacity": capacity, "sizes": sizes, "copies": copies, "rows": list(range(n)), "cost": 3, "costs": []}
    if seed % 2:
        data["costs"] = [chance.randint(-3, 3) for _ in range(n)]
    packings = []
    for chosen in itertools.product(*(range(most + 1) for most in copies)):
        if sum(size * pieces for size, pieces in zip(sizes, chosen, strict=True)) <= capacity:
            position, laid = 0, []
            for item, pieces in enumerate(chosen):
                for _ in range(pieces):
                    laid.append((item, position))
                    position += sizes[item]
            packings.append(laid)
    state = CheckerState()
    knapsack = KnapsackPricing(0, data, n)
    for item in range(n):
        if chance.random() < 0.5:
            knapsack.close(state, item, {p for p in range(capacity) if chance.random() < 0.3})
    packings = [laid for laid in packings if all(p in knapsack._positions(item, state) for item, p in laid)]
    counts = {(0, chance.randrange(n), low, low + chance.randint(0, 4)): chance.randint(-5, 5) for low in (0, 3)}
    return knapsack, state, packings, [chance.randint(-4, 9) for _ in range(n)], counts


def reduced(knapsack, laid, duals, counts):
    cost = 2 * (3 + sum(knapsack.costs[item] for item, _ in laid)) - sum(duals[item] for item, _ in laid)
    return cost - sum(
        dual for item, p in laid for (_, i, low, high), dual in counts.items() if i == item and low <= p <= high
    )


@pytest.mark.parametrize("seed", range(60))
def test_knapsacks_and_columns_through_a_position(seed):
    knapsack, state, packings, duals, counts = drawn(seed)
    least = min(reduced(knapsack, laid, duals, counts) for laid in packings)
    assert knapsack.least(duals, Fraction(2), counts, state) == least
    again, through = knapsack.through(duals, Fraction(2), counts, state)
    assert again == least
    found = {(item, p): 2 * knapsack.cost - earned for item, values in through for p, earned in values}
    expected = {}
    for laid in packings:
        for arc in laid:
            expected[arc] = min(expected.get(arc, 10**9), reduced(knapsack, laid, duals, counts))
    assert found == expected


def test_numbers_are_exact():
    assert exact("-131/2") == Fraction(-131, 2)
    for value in (0.5, True, "1.5", None, "1e3", "", "nan"):
        with pytest.raises((WrongError, ValueError)):
            exact(value)
    with pytest.raises(WrongError):
        integer(True)


def test_tables_of_fixings_are_counted_before_they_are_made(monkeypatch):
    data = {"capacity": 30, "sizes": [1], "copies": [30], "rows": [0], "cost": 1, "costs": []}
    knapsack = KnapsackPricing(0, data, 1)
    assert knapsack.through([1], Fraction(1), {}, CheckerState())[0] == -29
    monkeypatch.setattr(checker_pricing, "TABLE_LIMIT", 100)
    with pytest.raises(UnreadableError, match="copies times positions of at most 100"):
        knapsack.through([1], Fraction(1), {}, CheckerState())


def test_labels_are_counted():
    check_count(10, None, "walks")
    check_count(10, 10, "walks")
    with pytest.raises(WrongError, match="more walks than the limit"):
        check_count(11, 10, "walks")
    with pytest.raises(UnreadableError, match="at most 8,388,608 routes"):
        check_count(2**23 + 1, None, "routes")
