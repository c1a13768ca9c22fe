"""Trees of bounds of blocks: their bound is the optimum of the block, by the checker's arithmetic."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from colgen.certificate.checker_block_trees import gain_of_tree
from colgen.certificate.checker_pricing import NO, CheckerState, holds
from colgen.decomposition.block_trees import BoundingTree
from tests.certificate.test_checker_block_trees import drawn


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_of_a_tree_is_the_best_gain(seed):
    chance = random.Random(seed)
    block = drawn(chance)
    block.integer = [True] * len(block.costs)
    gains, limits = [chance.randint(-9, 9) for _ in block.costs], block.limits(CheckerState())
    low, high = chance.randint(-1, 1), chance.choice([None, 1])
    boxes = [] if seed % 2 else [(block.box([[0, low, high]]), chance.choice([-5, 7, NO]))]
    best = NO
    for point in itertools.product(*(range(math.ceil(low), math.floor(high) + 1) for low, high in limits)):
        if all(holds(sum(a * point[v] for v, a in terms.items()), sides) for sides, terms in block.rows):
            paid = sum(gain for box, gain in boxes if all(holds(point[v], ends) for v, *ends in box))
            best = max(best, paid + sum(g * x for g, x in zip(gains, point, strict=True)))
    tree, gain = BoundingTree(block).grow(gains, boxes, limits, 1, -100.0, 0.0, 1000)
    bound = gain_of_tree(block.rows, block.integer, gains, boxes, limits, tree)
    if best == NO:
        assert bound <= -100
    else:
        assert (gain, float(bound)) == pytest.approx((best, best))
        coarse, _ = BoundingTree(block).grow(gains, boxes, limits, 1, float(best), 5.0, 1000)
        assert len(coarse) <= len(tree)
        assert (
            best
            <= gain_of_tree(block.rows, block.integer, gains, boxes, limits, coarse)
            <= best + 5 + Fraction(1, 10**6)
        )


def test_large_trees_and_unbounded_variables_have_none():
    chance = random.Random(3)
    block = next(each for each in iter(lambda: drawn(chance), None) if len(each.costs) == 3 and len(each.rows) == 3)
    limits = block.limits(CheckerState())
    assert BoundingTree(block).grow([1, 2, 3], [], limits, 1, -100.0, 0.0, 0) is None
    assert BoundingTree(block).grow([1, 2, 3], [], [(NO, -NO)] * 3, 1, -100.0, 0.0, 1000) is None
