"""Oracles asked at many dual values: a claim of exactness that is not true is found there."""

import zlib

import numpy as np

from tests.assignment import Knapsack
from tests.testing.kit import (
    assert_found,
    check,
)


def test_claim_of_exactness_that_is_not_true():
    class Greedy(Knapsack):
        def best(self, duals, context):
            rng = np.random.default_rng(zlib.crc32(duals.values.tobytes()))  # not hash(), which differs from run to run
            some = [s for s in self.sets() if rng.random() < 0.5 and self.allowed(s, context)] or [()]
            best = min(some, key=lambda s: self.value(s, duals, context))
            return (self.machine, best)

    # The engine's own check of exactness comes first: the kit reports what it says.
    assert_found(check(Greedy), "diagnostic", r"OracleBeatenError: .* it is not exact")


def test_a_heuristic_that_claims_nothing_is_no_mistake():
    class Heuristic(Knapsack):
        exact = False

    report = check(Heuristic)
    assert report.ok, report
    assert any("no oracle stated a bound" in note for note in report.notes)
