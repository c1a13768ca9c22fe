"""The oracle's columns: a batch equals its routes encoded one by one."""

import pytest

from colgen import PricingContext, Record, Sense, solve
from colgen.problems.vehicle_routing import VehicleRouting, random


@pytest.mark.parametrize("windows", [True, False])
def test_a_batch_equals_its_encoded_routes(windows):
    instance = random(4, customers=7, windows=windows)
    problem = VehicleRouting(instance, cuts=False, neighbours=2)
    duals = solve(problem, relaxation=True, record=Record(duals=True)).iterations[-1].duals
    costs = problem.oracle.reduced_costs(duals, PricingContext(Sense.MINIMIZE))
    found = problem.layout.solver.price(costs, routes=200, cutoff=1e4)
    batch, reduced = problem.oracle.batch(found, duals)
    assert len(batch) == len(reduced) > 10
    batch = batch.over(list(problem_rows(duals)), {})
    repeated = 0
    for k in range(len(batch)):
        column, alone = batch[k], problem.oracle.encode(batch.meanings.of(k))
        assert (column.cost, column.coefficients, column.key) == (alone.cost, alone.coefficients, alone.key)
        repeated += max(alone.coefficients.values()) > 1.0
    assert repeated


def problem_rows(duals):
    """The keys of the master's rows in the order of their numbers."""
    numbered = {int(number): (block, member) for block in ("visit", "fleet")
                for number, member in zip(duals.rows(block), duals.members(block), strict=True)}  # fmt: skip
    return [numbered[k] for k in sorted(numbered)]
