import math
from fractions import Fraction

import numpy as np
import pytest

from colgen import solve
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, bin_packing
from colgen.problems.cutting_stock.dual_feasible import dual_feasible
from tests.sweeps import seeds
from tests.twins.cutting_stock import optimum, patterns, tiny


@pytest.mark.parametrize("seed", seeds(200))
def test_no_pattern_is_worth_more_than_its_roll(seed):
    instance = tiny(np.random.default_rng(seed), roll=40)
    values = dual_feasible(instance)
    assert max(sum(values[item] * copies for item, copies in pattern) for pattern in patterns(instance)) <= 1
    total = sum((value * demand for value, demand in zip(values, instance.demands, strict=True)), Fraction(0))
    assert instance.material_bound <= math.ceil(total) <= optimum(instance)


def test_functions_of_both_families_exceed_the_material_bound():
    # Two pieces of 51 never share a roll, and narrow ones do not count.
    wide = CuttingStockInstance(100, (51, 2), (10, 1))
    assert (wide.material_bound, math.ceil(sum(np.array(dual_feasible(wide)) * np.array(wide.demands)))) == (6, 10)
    # Thirds and a bit: two on a roll.
    thirds = CuttingStockInstance(100, (34,), (10,))
    assert (thirds.material_bound, math.ceil(dual_feasible(thirds)[0] * 10)) == (4, 5)


@pytest.mark.parametrize("seed", seeds(20))
def test_values_do_not_depend_on_the_unit_of_width(seed):
    instance = tiny(np.random.default_rng(seed), roll=40)
    unit = 2**53 // instance.roll  # sums of products exceed 64 bits
    fine = CuttingStockInstance(
        unit * instance.roll, tuple(unit * width for width in instance.widths), instance.demands
    )
    assert dual_feasible(fine) == dual_feasible(instance)


def test_wide_pieces_are_proved_in_one_round():
    runs = [solve(CuttingStock(bin_packing(300, seed, widths=(300, 900)))) for seed in range(8)]
    assert all(run.is_optimal for run in runs)
    assert sum(len(run.iterations) == 1 for run in runs) >= 3  # none of them by the material
