import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.packing import counted
from colgen.solvers.packing.counted import best_counted
from colgen.solvers.packing.zero_one import best_sets
from tests.solvers.packing.test_zero_one import every_set


def drawn(seed, n, counts):
    """Few different numbers for ties, at odd scales."""
    rng = np.random.default_rng(seed)
    scale = rng.choice([1.0, 1e-8, 1e8])
    profits = rng.integers(-1, 8, (2, n)) * scale
    profits[rng.random((2, n)) < 0.1] = -np.inf
    divisors = rng.integers(2, 6, counts)
    weights = rng.integers(0, divisors[:, None], (counts, n)) * (rng.random((counts, n)) < 0.6)
    charges = rng.integers(0, 6, counts) * scale
    return profits, rng.integers(0, 9, (2, n)), rng.integers(0, 30, 2), weights, divisors, charges


@pytest.mark.parametrize("seed", range(24))
def test_sets_equal_enumeration(seed):
    n = 1 + seed % 8
    profits, sizes, room, weights, divisors, charges = drawn(seed, n, seed % 5)
    for above in (np.full(2, -np.inf), np.zeros(2), profits.max(initial=0.0) * np.ones(2)):
        found = best_counted(profits, sizes, room, weights, divisors, charges, above)
        for j in range(2):
            worth = [w - (weights @ s // divisors) @ charges for s, w in every_set(profits[j], sizes[j], room[j])]
            best = max(worth)
            assert sizes[j][found.chosen[j]].sum() <= room[j]
            mine = profits[j][found.chosen[j]].sum() - (weights @ found.chosen[j] // divisors) @ charges
            assert mine == pytest.approx(found.values[j])
            assert best <= found.bounds[j] * (1.0 + 1e-12)
            if best > above[j]:
                assert best == pytest.approx(found.values[j]) == pytest.approx(found.bounds[j])
            else:
                assert found.values[j] == 0.0
                assert found.bounds[j] <= max(above[j], 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_many_items_and_counts_agree_with_a_mixed_integer_program(seed):
    from scipy import optimize

    rng = np.random.default_rng(seed)
    n, counts = 70, 40
    profits, sizes = rng.integers(1, 40, (1, n)).astype(float), rng.integers(5, 60, (1, n))
    weights = np.zeros((counts, n), dtype=np.int64)
    divisors = rng.choice([2, 3], counts)
    for k in range(counts):
        weights[k, rng.choice(n, 3 + seed % 3, replace=False)] = 1
    charges = rng.integers(1, 12, counts).astype(float)
    found = best_counted(profits, sizes, [400], weights, divisors, charges, [0.0])
    # y counts: divisor · y ≥ Σ w x - (divisor - 1), y integer.
    answer = optimize.milp(
        np.concatenate([-profits[0], charges]),
        constraints=[
            optimize.LinearConstraint(np.concatenate([sizes[0], np.zeros(counts)]), -np.inf, 400),
            optimize.LinearConstraint(np.hstack([weights, -np.diag(divisors)]), -np.inf, divisors - 1),
        ],
        bounds=optimize.Bounds(0, np.concatenate([np.ones(n), np.full(counts, np.inf)])),
        integrality=np.ones(n + counts),
    )
    assert found.values[0] == pytest.approx(-answer.fun) == pytest.approx(found.bounds[0])


def test_without_charges_sets_equal_those_of_the_table():
    profits, sizes, room, weights, divisors, _ = drawn(3, 30, 6)
    found = best_counted(profits, sizes, room, weights, divisors, np.zeros(6), np.zeros(2))
    values, _ = best_sets(profits, sizes, room)
    assert found.values.tolist() == values.tolist()


def test_a_stopped_search_returns_a_bound(monkeypatch):
    rng = np.random.default_rng(1)
    profits, sizes = np.full((1, 30), 10.0), rng.integers(5, 60, (1, 30))
    weights = (rng.random((30, 30)) < 0.2).astype(np.int64)
    arguments = profits, sizes, [300], weights, np.full(30, 2), rng.integers(1, 4, 30), [0.0]
    best = best_counted(*arguments)
    monkeypatch.setattr(counted, "LABELS", 1)
    found = best_counted(*arguments)
    assert found.values[0] <= best.values[0] == best.bounds[0] <= found.bounds[0]
    assert best.bounds[0] < found.bounds[0] <= best_sets(profits, sizes, [300])[0][0]


def test_the_clock_is_checked():
    def look():
        raise InterruptedError

    with pytest.raises(InterruptedError):
        best_counted([[1.0, 2.0]], [[1, 1]], [2], [[1, 1]], [2], [1.0], [0.0], look=look)


def test_weights_as_large_as_their_divisor_raise():
    with pytest.raises(ArrayError, match="weights: expected each to be less"):
        best_counted([[1.0]], [[1]], [1], [[2]], [2], [1.0], [0.0])


def test_without_subgradient_steps_sets_are_the_same(monkeypatch):
    profits, sizes, room, weights, divisors, charges = drawn(7, 25, 12)
    best = best_counted(profits, sizes, 3 * room, weights, divisors, charges, np.zeros(2))
    monkeypatch.setattr(counted, "_CELLS", 0)
    again = best_counted(profits, sizes, 3 * room, weights, divisors, charges, np.zeros(2))
    assert again.values == pytest.approx(best.values)
    assert again.bounds == pytest.approx(best.bounds)


@pytest.mark.parametrize("share", [0.0, 0.9, 0.99, 0.999, 1.001])
@pytest.mark.parametrize("seed", [0, 1, 2, 9, 44, 196, 857, 1456])
def test_required_values_near_the_best(seed, share):
    """Detects bounds that are slightly too low; the last seeds did."""
    rng = np.random.default_rng(seed)
    n, counts = 11, 24
    sets = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    profits, sizes = rng.random((1, n)) * 1e8, rng.integers(1, 20, (1, n))
    divisors = rng.integers(2, 5, counts)
    weights = rng.integers(1, divisors[:, None], (counts, n)) * (rng.random((counts, n)) < 0.35)
    charges = rng.random(counts) * 3e7 * (rng.random(counts) < 0.5)
    worth = np.where(sets @ sizes[0] <= 60, sets @ profits[0] - (sets @ weights.T // divisors) @ charges, -np.inf)
    best = worth.max()
    found = best_counted(profits, sizes, [60], weights, divisors, charges, [share * best])
    assert best <= found.bounds[0] * (1.0 + 1e-12)
    assert found.bounds[0] <= max(best, share * best) * (1.0 + 1e-12)
    assert found.values[0] == (pytest.approx(best) if share < 1.0 else 0.0)
