"""Paths in networks are recognized, and priced as HiGHS and enumeration price them."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import decompose, solve
from colgen.decomposition.blocks.shortest_path import ShortestPath, shortest_path_of
from colgen.solvers.linear.highs import LPStatus
from tests.amounts import examples
from tests.decomposition import models
from tests.decomposition.pricing import compare


@pytest.mark.parametrize("circuits", [False, True])
@pytest.mark.parametrize("seed", range(examples(6, 60)))
def test_points_and_bounds_agree_with_enumeration_and_highs(seed, circuits):
    sub = decompose(models.flows(seed, circuits), "commodity", aggregate=False).splitting.subproblems[0]
    kernel = shortest_path_of(sub)
    assert isinstance(kernel, ShortestPath)
    assert circuits or kernel.place is not None
    compare(sub, kernel, np.random.default_rng(seed))


@pytest.mark.parametrize("circuits", [False, True])
def test_kernels_and_highs_prove_the_same(circuits):
    for seed in range(3):
        by_kernel, by_highs = (
            solve(decompose(models.flows(seed, circuits), "commodity", recognize=flag)) for flag in (True, False)
        )
        assert by_kernel.termination is by_highs.termination
        assert by_kernel.objective == by_highs.objective


def test_one_call_returns_several_paths():
    sub = decompose(models.flows(1, nodes=6), "commodity", aggregate=False).splitting.subproblems[0]
    costs = np.ones(len(sub.costs))
    assert len(shortest_path_of(sub).points(costs, sub.lower, sub.upper).points) > 1


def test_unbounded_arcs_carry_one_unit_in_acyclic_networks():
    m = models.flows(0)
    for v in m.uses.values():
        v.domain, v.lower, v.upper = pyo.NonNegativeReals, 0, None
    by_kernel = decompose(m, "commodity")
    sub = by_kernel.splitting.subproblems[0]
    found = shortest_path_of(sub).points(sub.costs, sub.lower, sub.upper)
    assert found.status is LPStatus.OPTIMAL
    assert found.bound == pytest.approx(found.points[0] @ sub.costs)
    assert solve(by_kernel).objective == pytest.approx(solve(decompose(m, "commodity", recognize=False)).objective)


def test_other_blocks_are_not_recognized_as_paths():
    def two_units(m):
        m.conserved[0, 0].set_value(m.conserved[0, 0].body == 2 * m.conserved[0, 0].upper)

    def at_most(m):
        m.conserved[0, 0].set_value(m.conserved[0, 0].body <= m.conserved[0, 0].upper)

    def beside(m):
        m.pair = pyo.Constraint(expr=m.uses[0, 0] + m.uses[0, 1] + m.uses[0, 2] <= 1)

    def least(m):
        m.uses[0, 0].setlb(1)

    def leaking(m):
        m.conserved[0, 0].set_value(m.conserved[0, 0].body + 0.5 * m.uses[0, 0] == m.conserved[0, 0].upper)

    for change in (two_units, at_most, beside, least, leaking):
        model = models.flows(1)
        change(model)
        subs = decompose(model, "commodity", aggregate=False).splitting.subproblems
        assert shortest_path_of(subs[0]) is None, change.__name__
        assert shortest_path_of(subs[1]) is not None
