"""The exact bound is valid and as large as the duals allow."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from colgen import PricingContext, Sense, solve
from colgen.branching.rules import Bound
from colgen.core.errors import InvalidBoundError
from colgen.master.statement import restricted_master
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, uniform
from colgen.problems.cutting_stock.bound import exact_bound, round_exactly, verify
from colgen.problems.cutting_stock.pricing import ARC
from tests.sweeps import seeds
from tests.twins.cutting_stock import optimum, patterns, plans, tiny


def naive_bound(instance, duals):
    """The bound over all enumerated patterns, for duals whose denominator is a small power of two."""
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
    assert exact_bound(CuttingStockInstance(10, (4, 3), (2, 2)), duals) == 0


def test_verifying_a_run_without_a_certificate_warns():
    with pytest.warns(UserWarning, match="no certificate"):
        assert verify(CuttingStockInstance(10, (6, 5), (2, 2)), None) == 3


def test_a_wide_roll_of_few_pieces_is_verified_as_sharply():
    instance = CuttingStockInstance(10**10, (5 * 10**9 + 1, 3 * 10**9), (4, 6))
    duals = {0: 2 / 3, 1: 1 / 3}
    assert exact_bound(instance, duals) >= Fraction(4666, 1000)


@pytest.mark.parametrize("seed", seeds(40))
def test_rounded_node_bounds_are_valid(seed):
    rng = np.random.default_rng(seed)
    instance = tiny(rng, items=3, roll=12, demand=2)
    problem = CuttingStock(instance)
    layout = problem.model.layout
    arcs = [(int(k), int(p)) for k, p in zip(layout.network.items, layout.network.positions, strict=True)]
    arc = arcs[int(rng.integers(len(arcs)))]
    decision = Bound((ARC, arc), 1.0, np.inf, lambda column: problem.model.layout.arcs(column).get(arc, 0.0))
    master = restricted_master(problem.master())
    master.node.apply((decision,))
    duals = master.solve().duals
    values = rng.random(len(duals.values))  # prices of a row with a lower side
    context = PricingContext(Sense.MINIMIZE, decisions=(decision,))
    sharp = round_exactly(problem.model.oracles[0], 0.0, duals.replace(values), context)

    def uses(plan):
        return any(problem.model.layout.arcs_of(pattern).get(arc) for pattern in plan)

    least = next((k for k in range(optimum(instance), 6) if any(uses(plan) for plan in plans(instance, k))), 6)
    assert sharp <= least
    assert sharp == math.ceil(sharp)


class OneTooMany(CuttingStock):
    """One piece more than the two million that fit onto a roll: 1.0000005 rolls, which rounding takes as 1."""

    claim = None

    def __init__(self):
        super().__init__(CuttingStockInstance(2_000_000, (1,), (2_000_001,)))

    def branching(self):
        return ()

    def method(self):
        found = dataclasses.replace(super().method(), heuristics=(), reductions=(), enumeration=())
        if self.claim is None:
            return found
        return dataclasses.replace(found, rounding=lambda bound, duals, context: self.claim)


def test_a_bound_just_within_the_tolerance_is_rounded_exactly_before_branching():
    result = solve(OneTooMany())
    assert result.is_optimal
    assert result.objective == 2.0
    assert result.root_bound < 1.000001
    assert len(result.nodes) == 1


def test_a_bound_cannot_be_rounded_to_more_than_the_next_step():
    problem = OneTooMany()
    problem.claim = 3.0
    with pytest.raises(InvalidBoundError, match=r"3 for node 0.*1\.0000005"):
        solve(problem)
