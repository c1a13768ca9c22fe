import numpy as np
import pytest

from benchmarks.cutting_stock.complete_orders import solve_full
from benchmarks.cutting_stock.orders import conflicting, few_patterns, several_bins, several_lengths
from colgen import solve
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, Stock
from colgen.solvers.linear.lp import LPStatus
from tests.sweeps import seeds
from tests.twins.orders import cheapest


def drawn(seed, kind):
    """A tiny instance."""
    rng = np.random.default_rng([seed, kind])
    roll = int(rng.integers(5, 20))
    n = int(rng.integers(1, 4))
    widths = tuple(rng.integers(1 + roll // 6, roll + 1, n).tolist())
    demands = tuple(rng.integers(1, 3 if kind else 5, n).tolist())
    stock, conflicts, patterns = None, (), None
    if kind in (0, 2):
        others = rng.integers(1, roll + 1, int(rng.integers(0, 3))).tolist()
        supplies = tuple(None if rng.random() < 0.6 else int(rng.integers(0, 4)) for _ in [roll, *others])
        stock = Stock((roll, *others), tuple(rng.integers(0, 7, len(others) + 1).tolist()), supplies)
    if kind in (1, 2):
        conflicts = tuple((i, j) for i in range(n) for j in range(i + 1) if rng.random() < 0.4)
    if kind == 3:
        patterns = int(rng.integers(1, 3))
    return CuttingStockInstance(roll, widths, demands, stock=stock, conflicts=conflicts, patterns=patterns)


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("seed", seeds(60, 10))
def test_complete_models_have_the_optimum_of_enumeration(seed, kind):
    order = drawn(seed, kind)
    best, found = cheapest(order), solve_full(order)
    if best is None:
        assert found.status is LPStatus.INFEASIBLE
    else:
        assert found.status is LPStatus.OPTIMAL
        assert found.objective == pytest.approx(best)


@pytest.mark.parametrize(
    "order",
    [
        several_bins(20, 0),
        several_bins(8, 1, concave=True),
        several_lengths(8, 0),
        several_lengths(8, 1, supplies=False),
        conflicting(24, 0.2, 0),
        conflicting(24, 0.6, 1),
        conflicting(20, 0.4, 2, kinds=3),
        pytest.param(few_patterns(5, 5, 1), marks=pytest.mark.slow),
        few_patterns(3, 3, 1),
    ],
    ids=lambda order: f"{order.name}-{len(order.widths)}",
)
def test_column_generation_agrees_with_the_complete_model(order):
    result = solve(CuttingStock(order))
    compact = solve_full(order, 60.0)
    assert result.is_optimal
    assert order.check(result.answer) == result.objective == pytest.approx(result.dual_bound)
    assert compact.status is LPStatus.OPTIMAL
    assert result.objective == pytest.approx(compact.objective)
