"""Which oracle prices which block."""

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


def test_a_block_has_the_kernel_of_what_it_is():
    assert isinstance(kernel_of(decompose(models.assignment(0), "machine").splitting.subproblems[0]), Knapsack)
    assert isinstance(kernel_of(decompose(models.lots(0), "item").splitting.subproblems[0]), LotSizing)


def test_blocks_of_a_kind_have_one_oracle_and_others_one_each():
    model = models.assignment(0)
    model.pair = pyo.Constraint(expr=model.x[0, 0] + model.x[0, 1] <= 1)  # the first is a knapsack no longer
    problem = decompose(model, "machine")
    assert kinds(problem) == [JoinedPricing, MixedIntegerPricing]
    assert sorted(sub.name for sub in problem.pricing()[0].subs) == ["1", "2"]


def test_blocks_that_are_the_same_are_priced_as_one():
    assert kinds(decompose(models.packing(0), "bin")) == [KernelPricing]


def test_highs_prices_all_where_nothing_is_to_be_recognized():
    problem = decompose(models.lots(0, items=3), "item", recognize=False)
    assert kinds(problem) == [MixedIntegerPricing] * 3
