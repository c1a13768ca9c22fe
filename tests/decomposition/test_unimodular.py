"""Blocks whose vertices are whole are priced by a linear program as HiGHS and enumeration price them."""

import dataclasses

import numpy as np
import pytest

from colgen import decompose, solve
from colgen.decomposition.recognized import kernel_of
from colgen.decomposition.unimodular import Unimodular, unimodular_of
from solvers.linear.highs import LPStatus
from tests.amounts import examples
from tests.decomposition import models
from tests.decomposition.pricing import compare


@pytest.mark.parametrize("seed", range(examples(6, 60)))
def test_points_and_bounds_are_those_of_all_points_and_of_highs(seed):
    sub = decompose(models.shifts(seed), "crew", aggregate=False).splitting.subproblems[0]
    kernel = kernel_of(sub)
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


def test_others_do_without_something_of_the_best():
    sub = decompose(models.shifts(0), "crew", aggregate=False).splitting.subproblems[0]
    costs = -np.ones(len(sub.costs))
    assert len(unimodular_of(sub).points(costs, sub.lower, sub.upper).points) > 1


def test_sides_that_are_not_whole_make_no_whole_vertices():
    sub = decompose(models.shifts(0), "crew", aggregate=False).splitting.subproblems[0]
    assert unimodular_of(dataclasses.replace(sub, row_upper=sub.row_upper + 0.5)) is None
    assert unimodular_of(dataclasses.replace(sub, upper=sub.upper + 0.5)) is None
    assert unimodular_of(dataclasses.replace(sub, upper=sub.upper + np.inf)) is None
    assert unimodular_of(dataclasses.replace(sub, integer=~sub.integer)) is None


def test_points_that_are_not_whole_all_the_same_are_left_to_others():
    sub = decompose(models.shifts(0), "crew", aggregate=False).splitting.subproblems[0]
    halved = dataclasses.replace(sub, row_upper=sub.row_upper + 0.5)  # as if what recognized it had been wrong
    assert Unimodular(halved).points(-np.ones(len(sub.costs)), sub.lower, sub.upper) is None


def test_a_limit_is_no_proof():
    sub = decompose(models.shifts(0), "crew", aggregate=False).splitting.subproblems[0]
    found = Unimodular(sub).points(sub.costs, sub.lower, sub.upper, 0.0)
    assert found.status is not LPStatus.OPTIMAL or found.bound <= 0.0
