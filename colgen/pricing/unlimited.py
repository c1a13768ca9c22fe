"""An oracle for other rows than those that its claims about whole answers were written for."""

from __future__ import annotations

import dataclasses
import math

from colgen.core.duals import Duals
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult, priced


class Unlimited(Pricing):
    """Another oracle without its multiplicity and totals: how many of its columns an answer uses, the rows decide."""

    multiplicity = math.inf

    def __init__(self, oracle: Pricing) -> None:
        self.oracle = oracle
        self.cost_bound, self.prices = oracle.cost_bound, oracle.prices

    @property
    def name(self) -> str:
        return self.oracle.name

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        return dataclasses.replace(priced(self.oracle, duals, context), total=None, attained=None, answers=())
