"""Pricing problems as the checker solves them, against enumeration."""

import itertools
import random
from fractions import Fraction

import pytest

from colgen.proof.checker_pricing import Knapsack, State, WrongError, exact, whole


def drawn(seed):
    """A knapsack, its packings with the positions of their pieces, dual values, and what is counted."""
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
    state = State()
    knapsack = Knapsack(0, data, n)
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
def test_knapsacks_and_what_goes_through_a_position(seed):
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
        whole(True)
