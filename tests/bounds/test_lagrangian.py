"""The Lagrangian dual function: every value bounds the optimum, and slopes are subgradients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import PricingContext, Sense
from colgen.bounds.lagrangian import LagrangianDual, NoLagrangianError
from colgen.master.lagrangian import LagrangianMaster
from tests.bounds.lagrangians import largest, programs
from tests.toys import Enumerated


def dual_of(program):
    problem = Enumerated(program)
    master, oracles = problem.restricted_master(), problem.pricing()
    oracles = oracles if isinstance(oracles, list | tuple) else [oracles]
    return LagrangianDual(master, oracles, PricingContext(master.sense), master.sense.hopeless)


@given(program=programs(), seed=st.integers(0, 1000))
def test_slopes_are_supergradients(program, seed):
    """q(y) ≤ q(x) + slope(x)·(y - x), in units in which the problem minimises."""
    dual, rng = dual_of(program), np.random.default_rng(seed)
    points = [dual.start(None)]
    points += [points[0] + rng.normal(size=len(points[0])) * largest(program) for _ in range(2)]
    found = [dual.evaluate(point) for point in points]
    size = max(largest(program), *(abs(each.value) for each in found if np.isfinite(each.value)))
    for here in found:
        for there in found:
            if np.isfinite(here.value) and np.isfinite(there.value):
                step = there.point - here.point
                size_of_step = float(np.abs(here.slope * step).sum())
                assert there.value <= here.value + here.slope @ step + 1e-7 * max(size, size_of_step)


def test_a_master_without_a_linear_program_has_none():
    with pytest.raises(NoLagrangianError, match="no linking rows"):
        LagrangianDual(LagrangianMaster(Sense.MINIMIZE), (), PricingContext(Sense.MINIMIZE), 0.0)
