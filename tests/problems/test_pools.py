"""Pools between runs: what one instance has found, taken to another of the same template."""

import numpy as np
import pytest

from colgen import solve
from problems import assignment, colouring, coreference, cutting_stock, vehicle_routing


def rolls(seed):
    rng = np.random.default_rng(seed)
    widths = np.unique(rng.integers(20, 70, 5 + seed % 2))
    demands = rng.integers(1, 20, len(widths))
    return cutting_stock.CuttingStock(cutting_stock.Instance(100 + seed % 3, tuple(widths), tuple(demands)))


TEMPLATES = {
    "assignment": lambda seed: assignment.Assignment(assignment.random(3, 8 + seed % 2, seed)),
    "colouring": lambda seed: colouring.Colouring(colouring.random(11 + seed % 3, seed, density=0.4)),
    "coreference": lambda seed: coreference.Coreference(
        coreference.random_signs(10 + seed % 3, seed), contracted=False, settled=False
    ),
    "cutting_stock": rolls,
    "vehicle_routing": lambda seed: vehicle_routing.VehicleRouting(
        vehicle_routing.random(seed, customers=6 + seed % 2)
    ),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_pool_of_another_instance_changes_no_value(name):
    pools = [solve(TEMPLATES[name](seed)).pool for seed in range(3)]
    for seed in range(3, 6):
        cold = solve(TEMPLATES[name](seed))
        for pool in pools:
            warm = solve(TEMPLATES[name](seed), pool=pool)
            assert (warm.termination, warm.objective) == (cold.termination, pytest.approx(cold.objective))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_pool_of_the_same_instance_is_taken_whole(name):
    for seed in range(3):
        problem = TEMPLATES[name](seed)
        for column in solve(problem).pool:
            again = TEMPLATES[name](seed).column_of(problem.written(column.structure))
            assert (again.cost, again.coefficients) == (column.cost, column.coefficients)


@pytest.mark.parametrize(
    ("name", "structures"),
    [
        ("assignment", [(9, (0,)), (0, (99,)), (0, (1, 1)), (0, tuple(range(8)))]),
        ("colouring", [(), (-1,), (99,), tuple(range(11))]),
        ("coreference", [(), (99,)]),
        ("cutting_stock", [(), ((0, 99),) * 2, ((99, 1),)]),
        ("vehicle_routing", [(), (1, 1), (99,), (1, 2, 3, 4, 5, 6)]),
    ],
)
def test_what_is_no_column_of_the_instance_is_none(name, structures):
    problem = TEMPLATES[name](0)
    assert [problem.column_of(structure) for structure in structures] == [None] * len(structures)
