"""A run is the same, round by round and to the last bit, whatever the number of its workers."""

import dataclasses

import numpy as np
import pytest

from colgen import ColumnGeneration, IterationLimit, Method, Parallel, Record, solve
from colgen.bounding.subgradient import Subgradient
from colgen.problems.assignment import Assignment, random
from tests.assignment import assignment

_CLOCKS = dict.fromkeys(("seconds", "master_seconds", "pricing_seconds", "separation_seconds"), 0.0)


def told(result):
    """All that a result says, but for the clocks."""
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
def test_oracles_are_asked_side_by_side(workers, share):
    """A knapsack oracle a machine."""
    alone = solve(assignment(4, 12, 3), record=Record(duals=True), method=Method(pricing_share=share))
    assert told(alone) == told(
        solve(
            assignment(4, 12, 3),
            record=Record(duals=True),
            method=Method(pricing_share=share),
            parallel=Parallel(workers=workers),
        )
    )
    assert alone.is_optimal


@pytest.mark.parametrize("cuts", [False, True])
def test_an_oracle_shares_its_machines(cuts):
    """One oracle for all machines, which looks for whoever helps, at nodes and in reductions as well."""
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
        assert told(result) == told(results[0])


def test_boundings_without_a_linear_program_ask_side_by_side():
    one, two = (
        solve(
            assignment(4, 12, 3),
            method=Method(bounding=Subgradient(40)),
            record=Record(duals=True),
            parallel=Parallel(workers=workers),
        )
        for workers in (1, 2)
    )
    assert told(one) == told(two)
