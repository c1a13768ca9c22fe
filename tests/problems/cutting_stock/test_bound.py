"""The exact bound never says more than is true, and says all that the duals prove."""

import math
from fractions import Fraction

import numpy as np
import pytest

from colgen import solve
from problems.cutting_stock import CuttingStock, Instance, uniform
from problems.cutting_stock.bound import exact_bound, verify
from tests.problems.cutting_stock.naive import optimum, patterns, tiny
from tests.sweeps import seeds


def naive_bound(instance, duals):
    """The same bound over all patterns, for duals that are fractions with a small power of two below."""
    worth = [Fraction(duals.get(i, 0)) for i in range(instance.num_items)]
    most = max(sum((worth[item] * n for item, n in pattern), Fraction(0)) for pattern in patterns(instance))
    total = sum(w * d for w, d in zip(worth, instance.demands, strict=True))
    return total / most if most else Fraction(0)


@pytest.mark.parametrize("seed", seeds(40))
def test_bound_of_random_duals_is_exact(seed):
    rng = np.random.default_rng(seed)
    instance = tiny(rng)
    duals = {i: int(rng.integers(0, 64)) / 64 for i in range(instance.num_items)}
    assert exact_bound(instance, duals) == naive_bound(instance, duals)
    assert exact_bound(instance, duals) <= optimum(instance)


@pytest.mark.parametrize("seed", range(20))
def test_certificate_of_a_run_proves_its_bound(seed):
    instance = tiny(np.random.default_rng(seed))
    result = solve(CuttingStock(instance), relaxation=True)
    duals = {item: value for (_, item), value in result.certificate.duals.items()}
    assert float(exact_bound(instance, duals)) == pytest.approx(result.dual_bound, rel=1e-9)
    assert verify(instance, result.certificate) <= optimum(instance)


def test_certificate_at_real_size():
    instance = uniform(50, 1)
    result = solve(CuttingStock(instance))
    assert verify(instance, result.certificate) == math.ceil(result.root_bound - 1e-6) == result.objective


@pytest.mark.parametrize("duals", [{}, {0: 0.0, 1: 0.0}, {0: -1.0}, {0: float("nan")}, {0: float("inf")}])
def test_duals_that_prove_nothing(duals):
    assert exact_bound(Instance(10, (4, 3), (2, 2)), duals) == 0


def test_a_run_without_a_certificate_says_so():
    with pytest.warns(UserWarning, match="has no certificate"):
        assert verify(Instance(10, (6, 5), (2, 2)), None) == 3


def test_a_wide_roll_of_few_pieces_is_verified_as_sharply():
    instance = Instance(10**10, (5 * 10**9 + 1, 3 * 10**9), (4, 6))
    duals = {0: 2 / 3, 1: 1 / 3}
    assert exact_bound(instance, duals) >= Fraction(4666, 1000)
