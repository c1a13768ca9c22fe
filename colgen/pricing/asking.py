"""Asking oracles, one after the other, and keeping an eye on the clock."""

from __future__ import annotations

import time
from collections.abc import Iterable

from colgen.core.duals import OwnDuals
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult


def asked(oracles: Iterable[Pricing], duals: OwnDuals, context: PricingContext) -> list[PricingResult]:
    """Their results at dual values; the run's budget is told of a call that outlives the deadline."""
    results = []
    for oracle in oracles:
        began = time.monotonic()
        results.append(oracle.price(duals, context))
        if time.monotonic() > context.budget.deadline:
            context.budget.outlived(f"{oracle.name}.price", began)
    return results
