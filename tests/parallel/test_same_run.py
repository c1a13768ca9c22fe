"""A run is the same, round by round and to the last bit, for any number of workers (promise 5)."""

import dataclasses

import numpy as np
import pytest

from colgen import ColumnGeneration, IterationLimit, Method, Parallel, Record, solve
from colgen.bounding.subgradient import Subgradient
from colgen.problems.assignment import Assignment, random
from tests.assignment import assignment

_CLOCKS = dict.fromkeys(("seconds", "master_seconds", "pricing_seconds", "separation_seconds"), 0.0)


def summary(result):
    """Return everything in a result except times."""
    rounds = [dataclasses.replace(iteration, **_CLOCKS) for iteration in result.iterations]
    duals = [np.asarray(each.duals.values).tobytes() for each in result.iterations if each.duals is not None]
    columns = [] if result.pool is None else [(column.cost, dict(column.coefficients)) for column in result.pool]
    nodes = [(node.number, node.parent, node.bound, node.outcome) for node in result.nodes]
    return (
        result.termination,
        result.objective,
        result.dual_bound,
        result.answer,
        rounds,
        duals,
        nodes,
        columns,
        result.notes,
    )


@pytest.mark.parametrize("workers", [2, 5])
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_oracles_price_in_parallel(workers, share):
    """One knapsack oracle per machine."""
    alone = solve(assignment(4, 12, 3), record=Record(duals=True), method=Method(pricing_share=share))
    assert summary(alone) == summary(
        solve(
            assignment(4, 12, 3),
            record=Record(duals=True),
            method=Method(pricing_share=share),
            parallel=Parallel(workers=workers),
        )
    )
    assert alone.is_optimal


@pytest.mark.parametrize("cuts", [False, True])
def test_one_oracle_divides_its_machines_among_workers(cuts):
    """One oracle for all machines uses the workers, at nodes and in reductions."""
    results = [
        solve(
            Assignment(random(4, 16, 3), cuts=cuts),
            method=Method(bounding=ColumnGeneration()),
            record=Record(duals=True),
            parallel=Parallel(workers=workers),
            stop=IterationLimit(30),
        )
        for workers in (None, 2, 3)
    ]
    assert len(results[0].iterations) > 5
    for result in results[1:]:
        assert summary(result) == summary(results[0])


def test_boundings_without_a_linear_program_price_in_parallel():
    one, two = (
        solve(
            assignment(4, 12, 3),
            method=Method(bounding=Subgradient(40)),
            record=Record(duals=True),
            parallel=Parallel(workers=workers),
        )
        for workers in (1, 2)
    )
    assert summary(one) == summary(two)
