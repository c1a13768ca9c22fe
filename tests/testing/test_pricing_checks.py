"""Oracles called at many dual values: false claims of exactness are found."""

import zlib

import numpy as np

from colgen.testing import branching_checks, pricing_checks
from colgen.testing.conformance import check_problem
from colgen.testing.evidence import Evidence
from tests.assignment import Knapsack, assignment
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

    # The engine's own check of exactness fails first; the kit reports its error.
    assert_found(check(Greedy), "diagnostic", r"OracleBeatenError: .* it is not exact")


def test_a_heuristic_without_claims_is_no_finding():
    class Heuristic(Knapsack):
        exact = False

    report = check(Heuristic)
    assert report.ok, report
    assert any("no oracle stated a bound" in note for note in report.notes)


def test_at_least_one_point_is_priced():
    report = check_problem(assignment(2, 4, 1), seconds=1e-6)
    assert report.ok, report
    assert report.points, report


def test_a_sample_of_very_many_columns_is_checked_with_a_note(monkeypatch):
    monkeypatch.setattr(pricing_checks, "_MOST_STATED", 20)
    report = check(Knapsack)
    assert report.ok, report
    assert any("priced points, drawn at random" in note for note in report.notes)


def test_decisions_are_not_priced_at_more_points_than_there_is_time_for(monkeypatch):
    asked = []
    monkeypatch.setattr(branching_checks, "ask_all", lambda *arguments, **options: asked.append(arguments))
    monkeypatch.setattr(Evidence, "left", lambda self, share=1.0: 0.0 if share == 0.9 and asked else 100.0)
    check(Knapsack)
    assert len(asked) <= 2  # the first point of each child of the first node
