"""Dual-optimal inequalities are correct, and answers do not depend on them."""

import numpy as np
import pytest

from colgen import InputError, WarmStart, solve
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, bin_packing, uniform
from colgen.problems.cutting_stock.exchanges import ranks, subsets
from tests.twins.cutting_stock import optimum, tiny


def test_exchanges_of_four_widths():
    instance = CuttingStockInstance(10, (3, 8, 5, 2), (1, 1, 1, 1))
    assert ranks(instance) == ((1, (2,)), (2, (0,)), (0, (3,)))
    # 8 is filled by 3 and 5, 5 by 2 and 3; an item is exchanged for two different items.
    assert set(subsets(instance)) - set(ranks(instance)) == {(1, (0, 2)), (2, (3, 0))}


def test_no_piece_is_exchanged_for_more_than_its_width():
    instance = uniform(30, 3)
    for whole, parts in subsets(instance):
        assert whole not in parts
        assert sum(instance.widths[part] for part in parts) <= instance.widths[whole]


@pytest.mark.parametrize("exchanges", ["ranks", "subsets"])
@pytest.mark.parametrize("seed", range(6))
def test_optima_are_those_of_enumeration(seed, exchanges):
    instance = tiny(np.random.default_rng(seed))
    found = solve(CuttingStock(instance, exchanges))
    assert found.is_optimal
    assert found.objective == optimum(instance)
    assert not found.relaxation or not any(name == "cut_down" for name, _ in found.relaxation.variables)


@pytest.mark.parametrize("instance", [bin_packing(40, 1), uniform(25, 1)], ids=["packing", "widths"])
def test_relaxations_do_not_change(instance):
    plain = solve(CuttingStock(instance), relaxation=True, start=WarmStart())
    for exchanges in ("ranks", "subsets"):
        found = solve(CuttingStock(instance, exchanges), relaxation=True, start=WarmStart())
        assert found.is_optimal
        assert found.objective == pytest.approx(plain.objective)
        assert found.dual_bound == pytest.approx(plain.objective)
        assert not found.solution.variables


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="expected 'ranks', 'subsets' or None, not 'all'"):
        CuttingStock(uniform(5, 0), "all")
