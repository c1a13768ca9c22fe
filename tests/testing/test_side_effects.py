"""Data that an oracle changes."""

from tests.assignment import Knapsack
from tests.testing.kit import (
    assert_found,
    check,
)


def test_oracle_that_writes_into_the_problem():
    class Wrong(Knapsack):
        def best(self, duals, context):
            self.problem.sizes[self.machine].sort()
            return super().best(duals, context)

    assert_found(check(Wrong, seed=3), "mutation", "the attribute 'sizes' of the problem changed")
