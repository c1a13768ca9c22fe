"""Blocks whose rows describe the hull of their points."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import decompose, solve
from colgen.decomposition.blocks.oracles import kernel_of
from colgen.decomposition.blocks.unimodular import Unimodular, is_hull, unimodular_of
from colgen.solvers.linear.highs import LPStatus
from tests.amounts import examples
from tests.decomposition import models
from tests.decomposition.pricing import compare


def block(rule, domain=pyo.Binary):
    m = pyo.ConcreteModel()
    m.k = pyo.Set(initialize=["only"])
    m.x = pyo.Var(m.k, range(4), domain=domain, bounds=(0, 1))
    m.own = pyo.Constraint(range(3), rule=lambda m, r: rule(m.x, r))
    m.o = pyo.Objective(expr=m.x["only", 0] - m.x["only", 1])
    return decompose(m, "k").splitting.subproblems[0]


@pytest.mark.parametrize(
    ("rule", "domain", "expected"),
    [
        (lambda x, r: x["only", r] - x["only", r + 1] <= 0, pyo.Binary, True),
        (lambda x, r: 3 * x["only", r] + 3 * x["only", (r + 2) % 4] <= 3, pyo.Binary, True),
        (lambda x, r: x["only", r] + x["only", (r + 1) % 3] <= 1, pyo.Binary, False),
        (lambda x, r: x["only", min(r, 1)] + x["only", min(r, 1) + 1] + x["only", 3] <= 1, pyo.Binary, True),
        (lambda x, r: 2 * x["only", r] + 3 * x["only", r + 1] <= 4, pyo.Binary, False),
        (lambda x, r: 2 * x["only", r] + 3 * x["only", r + 1] <= 4, pyo.Reals, True),
        (lambda x, r: x["only", r] - x["only", r + 1] <= 0.5, pyo.Binary, False),
    ],
)
def test_networks_and_continuous_blocks_are_hulls(rule, domain, expected):
    assert is_hull(block(rule, domain)) is expected


@pytest.mark.parametrize("seed", range(examples(6, 60)))
def test_points_and_bounds_agree_with_enumeration_and_highs(seed):
    sub = decompose(models.shifts(seed), "crew", aggregate=False).splitting.subproblems[0]
    kernel = unimodular_of(sub)
    assert isinstance(kernel, Unimodular)
    compare(sub, kernel, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(examples(3, 30)))
def test_flows_of_any_amount_are_linear_programs(seed):
    sub = decompose(models.flows(seed, circuits=True), "commodity", aggregate=False).splitting.subproblems[0]
    twice = dataclasses.replace(sub, row_lower=2 * sub.row_lower, row_upper=2 * sub.row_upper)
    assert isinstance(kernel_of(twice), Unimodular)
    compare(twice, kernel_of(twice), np.random.default_rng(seed))


def test_kernels_and_highs_prove_the_same():
    for seed in range(3):
        by_kernel, by_highs = (solve(decompose(models.shifts(seed), "crew", recognize=flag)) for flag in (True, False))
        assert by_kernel.is_optimal
        assert by_kernel.objective == by_highs.objective


def test_other_points_avoid_a_variable_of_the_best():
    sub = decompose(models.shifts(0), "crew", aggregate=False).splitting.subproblems[0]
    costs = -np.ones(len(sub.costs))
    assert len(unimodular_of(sub).points(costs, sub.lower, sub.upper).points) > 1


def test_fractional_sides_give_fractional_vertices():
    sub = decompose(models.shifts(0), "crew", aggregate=False).splitting.subproblems[0]
    assert unimodular_of(dataclasses.replace(sub, row_upper=sub.row_upper + 0.5)) is None
    assert unimodular_of(dataclasses.replace(sub, upper=sub.upper + 0.5)) is None
    assert unimodular_of(dataclasses.replace(sub, upper=sub.upper + np.inf)) is None
    assert unimodular_of(dataclasses.replace(sub, integer=~sub.integer)) is None


def test_fractional_points_are_left_to_highs():
    sub = decompose(models.shifts(0), "crew", aggregate=False).splitting.subproblems[0]
    halved = dataclasses.replace(sub, row_upper=sub.row_upper + 0.5)  # as if what recognized it had been wrong
    assert Unimodular(halved).points(-np.ones(len(sub.costs)), sub.lower, sub.upper) is None


def test_there_is_no_proof_after_a_limit():
    sub = decompose(models.shifts(0), "crew", aggregate=False).splitting.subproblems[0]
    found = Unimodular(sub).points(sub.costs, sub.lower, sub.upper, 0.0)
    assert found.status is not LPStatus.OPTIMAL or found.bound <= 0.0
