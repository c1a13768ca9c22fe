import math

import pytest

from colgen.core.columns import Column
from colgen.core.solution import Solution
from colgen.pricing.oracles import Pricing, PricingResult
from colgen.pricing.unlimited import Unlimited

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
