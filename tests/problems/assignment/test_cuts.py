"""Rank-1 cuts over the rows of tasks, against all assignments."""

import itertools

import numpy as np
import pytest

from colgen import ColumnGeneration, Method, RankOne, Record, TimeLimit, solve
from colgen.certificate.checker import check
from colgen.core.terms import Count
from colgen.problems.assignment import Assignment, AssignmentInstance, random
from colgen.problems.assignment.decisions import ASSIGN
from colgen.testing import check_problem
from tests.amounts import BUSY, examples


class Listening(RankOne):
    """Stores the cuts that it finds."""

    def __init__(self):
        super().__init__(ASSIGN, least=1e-3)
        self.found = []

    def separate(self, solution, context):
        rows = super().separate(solution, context)
        self.found += rows
        return rows


class Listened(Assignment):
    def __init__(self, instance):
        super().__init__(instance, cuts=True)
        self.listening = Listening()

    def separation(self):
        return (self.listening,)


def every_answer(instance):
    """Yield feasible assignments and their costs."""
    m, n = instance.costs.shape
    answers = np.array(list(itertools.product(range(m), repeat=n)))
    fits = np.ones(len(answers), dtype=bool)
    for j in range(m):
        fits &= (answers == j) @ instance.sizes[j] <= instance.capacities[j]
    answers = answers[fits]
    return answers, instance.costs[answers, np.arange(n)].sum(axis=1)


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8])
@pytest.mark.parametrize("seed", range(examples(4, 20)))
def test_cuts_keep_every_solution_and_raise_the_bound(seed, scale):
    drawn = random(3, 9, seed, kind="D" if seed % 2 else "C")
    # Rounded costs make ties.
    instance = AssignmentInstance(np.round(drawn.costs / 5.0) * scale, drawn.sizes, drawn.capacities + 5)
    answers, costs = every_answer(instance)
    plain = solve(Assignment(instance), relaxation=True, method=Method(bounding=ColumnGeneration()))
    problem = Listened(instance)
    cut = solve(problem, relaxation=True)
    optimum = costs.min()
    assert plain.dual_bound <= cut.dual_bound + 1e-7 * abs(optimum)
    assert cut.dual_bound <= optimum + 1e-7 * abs(optimum)
    result = solve(problem)
    assert result.is_optimal
    assert result.objective == instance.check(result.answer) == pytest.approx(optimum)
    for row in problem.listening.found:
        term = row.term()
        assert isinstance(term, Count)
        taken = np.stack([answers == j for j in range(3)], axis=1)[:, :, list(term.members)]
        assert ((taken @ np.array(term.weights) // term.divisor).sum(axis=1) <= row.upper).all()


def test_cuts_close_a_gap_at_the_root():
    instance = random(4, 24, 2)
    plain = solve(Assignment(instance), relaxation=True, method=Method(bounding=ColumnGeneration()))
    problem = Listened(instance)
    cut = solve(problem, relaxation=True)
    best = solve(Assignment(instance)).objective
    assert problem.listening.found
    assert plain.dual_bound + 0.5 * (best - plain.dual_bound) <= cut.dual_bound <= best + 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_certificates_trust_bounds_from_cuts(tmp_path, seed):
    instance = random(3, 14, seed)
    result = solve(Assignment(instance, cuts=True), record=Record(certificate=tmp_path / "proof.jsonl"))
    verdict = check((tmp_path / "proof.jsonl").read_text().splitlines())
    assert result.objective == verdict.objective == solve(Assignment(instance)).objective
    assert verdict.claims.trusted > 0


def test_time_limits_hold_with_many_labels():
    result = solve(Assignment(random(4, 120, 0), cuts=True), stop=TimeLimit(2.0), method=Method(heuristics=()))
    assert result.seconds["total"] < 2.0 + BUSY
    assert result.dual_bound <= result.objective


def test_the_oracle_passes_the_conformance_kit():
    report = check_problem(Assignment(random(3, 6, 0), cuts=True), seconds=examples(1.5, 6.0))
    assert report.ok, report
