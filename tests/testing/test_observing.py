"""What the conformance checks ask of an oracle, and when they do not ask."""

import numpy as np
import pytest

from colgen import Column, Pricing, PricingContext, PricingResult, Sense
from colgen.testing.findings import Findings
from colgen.testing.observing import Observer


class Fickle(Pricing):
    """Returns another column each time, as an oracle does that ends with what it has."""

    def __init__(self):
        self.asked = 0

    def price(self, duals, context):
        self.asked += 1
        return PricingResult([Column(1.0, {}, self.asked, ("column", self.asked))])


@pytest.mark.parametrize(("deadline", "asked"), [(np.inf, 2), (0.0, 1)])
def test_an_oracle_is_asked_again_while_there_is_time(deadline, asked):
    findings, oracle = Findings(), Fickle()
    context = PricingContext(Sense.MAXIMIZE, deadline=deadline)
    result = oracle.price({}, context)
    Observer(findings, np.random.default_rng(0), 1).again(oracle, {}, context, result, "some duals")
    assert oracle.asked == asked
    assert [finding.kind for finding in findings.list()] == ["not deterministic"] * (asked - 1)
