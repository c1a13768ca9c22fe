"""The choice of oracles for blocks."""

import pyomo.environ as pyo

from colgen import decompose
from colgen.decomposition.blocks.knapsack import Knapsack
from colgen.decomposition.blocks.lot_sizing import LotSizing
from colgen.decomposition.blocks.merged import JoinedPricing
from colgen.decomposition.blocks.mixed_integer import MixedIntegerPricing
from colgen.decomposition.blocks.oracles import KernelPricing, kernel_of
from tests.decomposition import models


def kinds(problem):
    return [type(oracle) for oracle in problem.pricing()]


def test_a_block_has_the_kernel_of_its_kind():
    assert isinstance(kernel_of(decompose(models.assignment(0), "machine").splitting.subproblems[0]), Knapsack)
    assert isinstance(kernel_of(decompose(models.lots(0), "item").splitting.subproblems[0]), LotSizing)


def test_blocks_of_a_kind_share_an_oracle():
    model = models.assignment(0)
    model.pair = pyo.Constraint(expr=model.x[0, 0] + model.x[0, 1] <= 1)  # the first is a knapsack no longer
    problem = decompose(model, "machine")
    assert kinds(problem) == [JoinedPricing, MixedIntegerPricing]
    assert sorted(sub.name for sub in problem.pricing()[0].subs) == ["1", "2"]


def test_identical_blocks_are_priced_once():
    assert kinds(decompose(models.packing(0), "bin")) == [KernelPricing]


def test_highs_prices_all_blocks_without_recognition():
    problem = decompose(models.lots(0, items=3), "item", recognize=False)
    assert kinds(problem) == [MixedIntegerPricing] * 3
