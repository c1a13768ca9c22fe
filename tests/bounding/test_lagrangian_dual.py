"""The Lagrangian dual as a function: concave, its slopes are slopes, and its bound is the engine's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import Column, PricingContext, Sense
from colgen.bounding.lagrangian_dual import LagrangianDual, NoLagrangianError, _merge
from colgen.core.column_batch import Columns
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.master.statement import restricted_master
from tests.assignment import assignment
from tests.bounding.lagrangians import largest, programs
from tests.toys import CuttingStock, Enumerated


def dual_of(problem, objective=np.inf):
    master = restricted_master(problem.master())
    oracles = problem.pricing()
    oracles = oracles if isinstance(oracles, (list, tuple)) else [oracles]
    context = PricingContext(master.sense, price=master.price)
    return master, LagrangianDual(master, oracles, context, objective)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_slopes_lie_above_the_function(data):
    """q(p) ≤ q(p0) + g·(p - p0) at any two points, in both senses and for rows of all kinds."""
    program = data.draw(programs())
    master, dual = dual_of(Enumerated(program))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    size = largest(program) or 1.0
    with master.rows.real_costs():
        points = [dual.evaluate(dual.start(None) + size * rng.normal(size=len(dual.lower))) for _ in range(4)]
    finite = [here for here in points if np.isfinite(here.value)]
    for here in finite:
        for other in finite:
            above = here.value + float(here.slope @ (other.point - here.point))
            assert other.value <= above + 1e-9 * max(size, abs(here.value), abs(above))


@pytest.mark.parametrize("seed", range(3))
def test_values_are_the_engines_bounds(seed):
    master, dual = dual_of(assignment(3, 6, seed))
    with master.rows.real_costs():
        here = dual.evaluate(dual.start({"assign": [20.0] * 6}))
    assert here.value == dual.bound


def test_an_incumbent_bounds_how_many_columns_count():
    """A cutting plan of 500 rolls uses no more than 500 patterns; and Farley's bound is there as well."""
    master, dual = dual_of(CuttingStock(), objective=500.0)
    with master.rows.real_costs():
        here = dual.evaluate(dual.start({"demand": [0.5, 0.4, 0.3, 0.15]}))
    assert np.isfinite(here.value)
    assert here.value <= 452.25 + 1e-9
    assert 0.0 < dual.bound <= 452.25 + 1e-9


def test_masters_without_rows_have_no_such_function():
    with pytest.raises(NoLagrangianError, match="LagrangianMaster has no linking rows"):
        LagrangianDual(LagrangianMaster(Sense.MINIMIZE), [], PricingContext(Sense.MINIMIZE), np.inf)


def test_batches_are_merged_as_columns_are():
    one = Columns([1.0, 2.0], [0, 1, 3], [0, 0, 1], [1.0, 1.0, 1.0])
    other = Columns([2.0, 3.0], [0, 2, 3], [0, 1, 2], [1.0, 1.0, 1.0])
    merged = _merge([(one, np.array([0.5, 0.25])), (other, np.array([0.5, 1.0]))])
    assert [(columns.costs.tolist(), values.tolist()) for columns, values in merged] == [
        ([1.0, 2.0], [0.5, 0.75]),
        ([3.0], [1.0]),
    ]
    single = [Column(1.0, {("row", 0): 1.0}), Column(1.0, {("row", 0): 1.0})]
    ((columns, values),) = _merge([(single, np.array([0.5, 0.25]))])
    assert len(columns) == 1
    assert values.tolist() == [0.75]
