"""Asking oracles, and who is named where a call outlives the deadline."""

import time

from colgen import Pricing, PricingContext, PricingResult, Sense, TimeLimit, solve
from colgen.core.budget import Budget
from colgen.pricing.calls import call_oracles
from tests.toys import CuttingStock, Knapsack


class Waiting(Pricing):
    """Waits and returns nothing."""

    name = ""

    def __init__(self, name, seconds):
        self.name, self.seconds = name, seconds

    def price(self, duals, context):
        time.sleep(self.seconds)
        return PricingResult()


def test_the_call_is_named_that_was_under_way_at_the_deadline():
    budget = Budget(0.3)
    context = PricingContext(Sense.MINIMIZE, budget=budget, deadline=budget.deadline)
    results = call_oracles((Waiting("quick", 0.0), Waiting("slow", 0.7), Waiting("late", 0.3)), None, context)
    assert len(results) == 3
    (warning,) = budget.warnings
    assert warning.startswith("slow.price ended 0.")
    assert "context.budget" in warning


def test_a_little_late_is_not_worth_a_word():
    budget = Budget(0.2)
    call_oracles(
        (Waiting("slow", 0.22),), None, PricingContext(Sense.MINIMIZE, budget=budget, deadline=budget.deadline)
    )
    assert budget.warnings == ()


def test_a_result_names_the_oracle():
    class Slow(Knapsack):
        def best(self, duals, context):
            time.sleep(1.5)
            return super().best(duals, context)

    result = solve(CuttingStock(oracle=Slow), stop=TimeLimit(1.0))
    assert any(note.startswith("Slow.price ended") for note in result.notes)
