"""Identical pricing problems are solved once, and prove the bound of all of them."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from colgen import InputError, Method, Pricing, PricingContext, PricingResult, Sense, solve
from colgen.core.columns import Column
from colgen.core.duals import Duals, RowNames
from colgen.core.solution import Solution
from colgen.pricing.derived import Identical, Unlimited, merge_identical
from colgen.testing.conformance import check_problem
from tests.amounts import examples
from tests.zoo import Listed, Partitioning


class Machine(Pricing):
    def __init__(self, sizes, speed, multiplicity=1.0, same_as=None, total=None):
        self.sizes, self.speed, self.multiplicity = sizes, speed, multiplicity
        self.same_as, self.total = same_as, total

    def price(self, duals, context):
        return PricingResult(bound=-2.0, total=self.total)


SIZES = np.array([3, 1, 2])


def test_equal_objects_are_one():
    one, other = Machine(SIZES, 1.0, 2.0), Machine(SIZES.copy(), 1.0, 3.0)
    different = Machine(SIZES, 2.0)
    assert [type(oracle) for oracle in merge_identical([one, other, different])] == [
        Machine,
        Machine,
        Machine,
    ]  # multiplicities
    other.multiplicity = 2.0
    group, rest = merge_identical([one, different, other])
    assert isinstance(group, Identical)
    assert (group.count, group.multiplicity, group.name) == (2, 4.0, "Machine (of 2)")
    assert rest is different


def test_the_same_object_given_twice_is_one():
    class Bare(Pricing):
        def price(self, duals, context):
            return PricingResult()

    bare = Bare()
    (group,) = merge_identical([bare, bare, bare])
    assert group.count == 3
    assert group.multiplicity == math.inf
    # Two objects that have nothing to be equal in may still be different.
    assert len(merge_identical([Bare(), Bare()])) == 2


@pytest.mark.parametrize(
    "pair",
    [
        (Machine([3, 1, 2], 1.0), Machine([3, 1, 2], 1.0)),  # lists may change
        (Machine(SIZES, 1.0), Machine(SIZES.astype(float), 1.0)),
        (Machine(SIZES, 1.0), Machine(SIZES[::-1], 1.0)),
        (Machine((SIZES, 1), 1.0), Machine((SIZES, 2), 1.0)),
        (Machine(SIZES, 1.0, same_as="a"), Machine(SIZES, 1.0, same_as="b")),
        (Machine(SIZES, 1.0, same_as="a"), Machine(SIZES, 1.0)),
    ],
)
def test_oracles_that_may_differ_are_not_merged(pair):
    assert merge_identical(pair) == pair


def test_same_as_is_not_verified():
    one, other = Machine([1], 1.0, 1.0, "truck"), Machine([2], 1.0, 2.0, "truck")
    (group,) = merge_identical([one, other])
    assert (group.oracle, group.multiplicity) == (one, 3.0)
    assert len(merge_identical([Machine((SIZES, 1), 1.0), Machine((SIZES, 1), 1.0)])) == 1
    other.cost_bound = 4.0
    with pytest.raises(InputError, match=r"'truck'.* cost_bound = None and 4\.0"):
        merge_identical([one, other])


def test_totals_are_multiplied_by_the_number_of_oracles():
    names = RowNames()
    duals, context = Duals(np.zeros(0), names), PricingContext(Sense.MINIMIZE)
    (group,) = merge_identical([Machine(SIZES, 1.0, total=-3.0)] * 4)
    result = group.price(duals, context)
    assert (result.bound, result.total) == (-2.0, -12.0)


@dataclass
class Bins(Partitioning):
    """One oracle for each set of an answer, all of them the same; or one for all."""

    each: bool = True

    def pricing(self):
        problem = self
        problem.asked = 0

        class One(Listed):
            multiplicity = 1.0 if problem.each else float(problem.size)

            def price(self, duals, context):
                problem.asked += 1
                return super().price(duals, context)

        return [One(self) for _ in range(self.size if self.each else 1)]


@pytest.mark.parametrize("maximize", [False, True])
def test_the_bound_is_that_of_all_of_them(maximize):
    many, one = (Bins(size=7, maximize=maximize, each=each, cuts=False) for each in (True, False))
    results = [solve(problem, method=Method(heuristics=())) for problem in (many, one)]
    assert all(result.is_optimal for result in results)
    assert len(results[0].nodes) > 1
    assert many.asked == one.asked
    bounds = [[(i.phase, i.objective, i.dual_bound) for i in result.iterations] for result in results]
    assert bounds[0] == bounds[1]


def test_the_conformance_kit_puts_them_together_as_well():
    report = check_problem(Bins(size=5, cuts=False), seconds=examples(1.0, 4.0))
    assert report.ok, report


COLUMN = Column(2.0, {("row", 0): 1.0}, "a")


class Claiming(Pricing):
    multiplicity = 3.0
    cost_bound = 1.0

    def price(self, duals, context):
        return PricingResult(
            [COLUMN], -1.0, [-1.0], total=-2.0, attained=lambda: ((COLUMN,), [1.0]), answers=[Solution(2.0, ())]
        )


def test_claims_about_columns_stay_and_claims_about_answers_go():
    oracle = Unlimited(Claiming())
    assert oracle.multiplicity == math.inf
    assert (oracle.cost_bound, oracle.name) == (1.0, "Claiming")
    result = oracle.price(None, None)
    assert result.columns == [COLUMN]
    assert result.bound == pytest.approx(-1.0)
    assert (result.total, result.attained, result.answers) == (None, None, ())
