"""Asking oracles, as many at once as there are workers, and keeping an eye on the clock."""

from __future__ import annotations

import time
from collections.abc import Sequence

from colgen.core.duals import OwnDuals
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult, priced


def call_oracles(oracles: Sequence[Pricing], duals: OwnDuals, context: PricingContext) -> list[PricingResult]:
    """Their results at dual values, in their order; the run's budget is told of a call that outlives the deadline."""
    budget = context.budget

    def ask(oracle: Pricing) -> tuple[PricingResult, float, bool]:
        began = time.monotonic()
        return priced(oracle, duals, context), began, time.monotonic() > budget.deadline

    answers = budget.workers.each(ask, oracles)
    for oracle, (_, began, late) in zip(oracles, answers, strict=True):
        if late:
            budget.outlived(f"{oracle.name}.price", began)
    return [result for result, _, _ in answers]
