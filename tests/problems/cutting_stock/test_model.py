import numpy as np
import pytest

from colgen import InputError
from colgen.model.rows import compile_model
from colgen.problems.cutting_stock import CuttingStockInstance, Stock
from colgen.problems.cutting_stock.model import full, master
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.lp import LPStatus
from tests.twins.cutting_stock import NON_IRUP, optimum, tiny


@pytest.mark.parametrize("formulation", ["arc_flow", "assignment"])
@pytest.mark.parametrize("seed", range(12))
def test_complete_models_have_the_optimum_of_enumeration(seed, formulation):
    instance = tiny(np.random.default_rng(seed))
    solution = solve_complete(full(instance, formulation))
    assert solution.status is LPStatus.OPTIMAL
    assert solution.objective == pytest.approx(optimum(instance))


@pytest.mark.parametrize("formulation", ["arc_flow", "assignment"])
def test_items_of_one_width(formulation):
    model = full(CuttingStockInstance(10, (5, 5, 3), (1, 2, 2)), formulation)
    assert solve_complete(model).objective == pytest.approx(3)


@pytest.mark.parametrize(("instance", "expected"), NON_IRUP)
def test_optima_above_the_rounded_relaxation(instance, expected):
    assert solve_complete(full(instance, "arc_flow")).objective == pytest.approx(expected)


def test_too_few_rolls_are_infeasible():
    f = compile_model(full(CuttingStockInstance(10, (6,), (3,)), "assignment", rolls=2))
    assert f.matrix.shape == (3, 4)
    from colgen.solvers.linear.mip import solve_mip
    from colgen.solvers.linear.program import Program

    program = Program(False, f.matrix, f.costs, f.lower, f.upper, f.row_lower, f.row_upper)
    assert solve_mip(program, f.integer).status is LPStatus.INFEASIBLE


def test_unknown_formulations_are_refused():
    with pytest.raises(ValueError, match=r"arc_flow.*assignment"):
        full(CuttingStockInstance(10, (6,), (3,)), "patterns")


@pytest.mark.parametrize("part", [{"stock": Stock((10, 5), (1.0, 1.0))}, {"conflicts": ((0, 0),)}, {"patterns": 3}])
def test_parts_without_a_complete_model_are_refused(part):
    with pytest.raises(InputError, match="rolls of one width"):
        full(CuttingStockInstance(10, (6,), (3,), **part))


def test_master_has_one_row_per_item():
    f = master(CuttingStockInstance(10, (6, 4), (3, 2)))
    assert f.row_keys == (("demand", 0), ("demand", 1))
    assert f.row_lower.tolist() == [3, 2]
    assert f.artificial.all()
