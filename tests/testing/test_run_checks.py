"""Observed runs of the engine."""

from __future__ import annotations

import dataclasses

import pytest

from colgen import (
    BranchingRule,
    Column,
    Decision,
    Method,
    Pricing,
    PricingResult,
    Problem,
    Sense,
    Solution,
    WarmStart,
    solve,
)
from colgen.bounding.protocol import Bounded, Bounding, Outcome
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.testing.conformance import check_problem
from tests import toys
from tests.assignment import Assignment, assignment
from tests.testing.kit import GENEROUS, assert_found, check


def test_answer_that_fails():
    class Broken(Assignment):
        def answer(self, solution):
            return {"first": solution.columns[99]}

    assert_found(check(kind=Broken), "answer", r"answer\(\): raised IndexError")


class Filled(Pricing):
    """Chooses a subset of numbers of largest total at most a limit; the bound fills what is left in fractions."""

    def __init__(self, problem):
        self.problem = problem

    multiplicity = 1.0

    def price(self, duals, context):
        numbers, chosen = self.problem.numbers, [decision.taken for decision in context.decisions]
        room = self.problem.limit - sum(n for n, taken in zip(numbers, chosen, strict=False) if taken)
        if room < 0:
            return PricingResult(bound=context.sense.hopeless)
        worth = self.problem.limit - room
        bound = worth + min(room, sum(numbers[len(chosen) :])) * self.problem.optimism
        whole = [Solution(worth, ((Column(worth, {}, structure=tuple(chosen)), 1.0),))]
        return PricingResult(bound=bound, answers=whole if len(chosen) == len(numbers) else [])


class Decided(Bounding):
    """Branches on the next number; only the oracle's bound is known."""

    def bound(self, node, parts):
        chosen = tuple(decision.taken for decision in node.decisions)
        solution = Solution(0.0, ((Column(0.0, {}, structure=chosen), 0.5),))
        return Bounded(Outcome.SOLVED, 0.0, solution=solution)


class Next(BranchingRule):
    def branch(self, solution):
        place = len(solution.columns[0][0].structure)
        return [[Taken(place, True)], [Taken(place, False)]]


class Taken(Decision):
    def __init__(self, place, taken):
        self.place, self.taken = place, taken

    def allows(self, column):
        return len(column.structure) > self.place and column.structure[self.place] == self.taken


class Subset(Problem):
    def __init__(self, optimism=1.0):
        self.numbers, self.limit, self.optimism = (7.0, 5.0, 4.0, 3.0), 12.5, optimism

    def master(self):
        return LagrangianMaster(Sense.MAXIMIZE)

    def pricing(self):
        return Filled(self)

    def method(self):
        return Method(bounding=Decided())

    def branching(self):
        return [Next()]

    def check(self, answer):
        return answer[0][0] and float(sum(n for n, taken in zip(self.numbers, answer[0][0], strict=True) if taken))


def test_an_own_bounding_is_checked_by_complete_runs():
    report = check_problem(Subset(), seconds=GENEROUS)
    assert report.ok, report
    assert report.notes == ("the problem bounds its nodes itself: only complete runs were checked",)


def test_an_oracle_whose_bound_is_too_low_is_found():
    report = check_problem(Subset(optimism=0.2), seconds=GENEROUS)
    assert not report.ok


def test_a_bounding_that_fails_is_reported():
    class Undecided(Decided):
        def bound(self, node, parts):
            raise ZeroDivisionError("no bound")

    class Failing(Subset):
        def method(self):
            return Method(bounding=Undecided())

    assert_found(check_problem(Failing(), seconds=GENEROUS), "exception", r"Failing, solve\(method=.*no bound")


def guessing(factor: float, objective: float) -> type[Assignment]:
    """Assignment (2 x 4 tasks, seed 1) with scaled dual values and a worse answer as guesses."""

    class Guessing(Assignment):
        def warm_start(self, budget):
            best, relaxed = solve(assignment(2, 4, 1)), solve(assignment(2, 4, 1), relaxation=True)
            duals = {}
            for (block, _), value in relaxed.certificate.duals.items():
                duals.setdefault(block, []).append(factor * value)
            return WarmStart(duals, [dataclasses.replace(best.solution, objective=best.objective + objective)])

    return Guessing


@pytest.mark.parametrize(
    ("factor", "objective", "expected"),
    [(1.0, 0.0, None), (-3.0, 0.0, None), (1.0, -5.0, r"InfeasibleAnswerError: .*warm_start")],
)
def test_guesses_are_checked(factor, objective, expected):
    report = check(kind=guessing(factor, objective))
    if expected is None:
        assert report.ok, report
        assert report.points > 0  # the engine was run, though the guess is the optimum
    else:
        assert_found(report, "diagnostic", expected)


def test_a_bound_that_is_wrong_at_the_guessed_dual_values_is_found():
    class Hasty(toys.CuttingStock):
        def warm_start(self, budget):
            return WarmStart({"demand": [0.6] * 4})

        def pricing(self):
            oracle = super().pricing()
            price = oracle.price

            def hasty(duals, context):
                found = price(duals, context)
                return found if list(duals["demand"]) != [0.6] * 4 else PricingResult(bound=0.0)

            oracle.price = hasty
            return oracle

    assert not check_problem(Hasty(), seconds=GENEROUS).ok
