"""Shares of the work of a run: a part that gains nothing does at most its share."""

import dataclasses
import math
import threading

import numpy as np
import pytest

from colgen import InputError, Method, Parallel, RestrictedMIP, StrongBranching, solve
from colgen.core.allotment import PART_FEATURES, Allotment
from colgen.core.budget import Budget
from colgen.enumeration import Enumeration
from colgen.parallel.threads import Threads
from colgen.solvers.work import SECOND, add_work, work
from tests.zoo import Partitioning


def play(gains, rounds=200):
    """Let a part ask for all that it may do each time, between calls of other parts; return the largest overrun."""
    allotment, worst = Allotment(), 0.0
    with allotment.counting():
        for _ in range(rounds):
            add_work(SECOND)
            if allotment.left("part") > 0.0:
                with allotment.turn("part") as turn:
                    add_work(allotment.remaining)
                    turn.gained = gains
            worst = max(worst, allotment.spent("part") / allotment.total)
    return allotment, worst


def test_a_part_that_gains_nothing_does_at_most_its_share():
    allotment, _ = play(gains=False)
    assert allotment.spent("part") <= 0.05 * allotment.total + 5 * SECOND + 1
    assert allotment.total == 200 * SECOND + allotment.spent("part")


def test_a_part_that_gains_may_do_half():
    allotment, _ = play(gains=True)
    assert 0.4 * allotment.total < allotment.spent("part") <= 0.5 * allotment.total + 5 * SECOND + 1


def test_the_work_of_a_nested_turn_is_its_own():
    allotment = Allotment()
    with allotment.counting(), allotment.turn("outer"):
        add_work(10)
        with allotment.turn("inner"):
            add_work(7)
        add_work(1)
    assert (allotment.spent("outer"), allotment.spent("inner"), allotment.total) == (11, 7, 18)
    add_work(5)
    assert allotment.total == 18  # done by something else than the run


def test_a_part_has_no_limit_outside_of_turns_and_none_is_left_when_it_is_used_up():
    allotment = Allotment()
    assert allotment.remaining == float("inf")
    with allotment.counting(), allotment.turn("part"):
        add_work(100 * SECOND)
        assert allotment.remaining == 0.0


def test_parts_of_a_budget_share_its_allotment_and_a_search_beside_it_does_not():
    budget = Budget(60.0)
    assert budget.cap(1.0).allotment is budget.allotment
    assert budget.extend(0.1).allotment is budget.allotment
    assert budget.apart().allotment is not budget.allotment
    assert budget.apart().deadline == budget.deadline


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_work_of_helpers_is_that_of_the_caller(count):
    with Threads(count) as threads:
        before = work()
        threads.each(add_work, [3, 5, 7, 11])
        assert work() - before == 26


def test_work_is_counted_by_thread():
    before = work()
    other = threading.Thread(target=add_work, args=(9,))
    other.start()
    other.join()
    assert work() == before


class Fruitless(Enumeration):
    """Works as long as it may and lists nothing."""

    def __init__(self):
        self.done = []

    def enumerate(self, context):
        allotment = context.budget.allotment
        self.done.append(allotment.remaining)
        add_work(allotment.remaining)
        return None


def test_an_enumeration_without_success_is_limited_in_the_same_way_for_any_number_of_workers():
    done = []
    for workers in (1, 2):
        how = Fruitless()

        class Listed(Partitioning):
            def method(self, how=how):
                return dataclasses.replace(super().method(), enumeration=how)

        result = solve(Listed(size=9, seed=4, cuts=False), parallel=Parallel(workers=workers))
        assert result.is_optimal
        assert len(result.nodes) > 10
        done.append(how.done)
    assert done[0] == done[1]
    assert 5.0 * SECOND <= sum(done[0]) <= 6.0 * SECOND  # the grant, and a share of little other work


def test_a_run_is_the_same_for_any_number_of_workers():
    results = [solve(Partitioning(size=12, seed=3), parallel=Parallel(workers=workers)) for workers in (1, 2)]
    rounds = [[(each.node, each.objective, each.dual_bound, each.columns) for each in r.iterations] for r in results]
    assert rounds[0] == rounds[1]


class Scripted:
    __hash__ = None  # learners need not be hashable

    def __init__(self, answer):
        self.answer, self.seen = answer, []

    def share(self, history):
        self.seen.append(history)
        return self.answer(history)


def test_a_learner_decides_the_share_of_the_next_turn():
    learner = Scripted(lambda history: 0.75)
    allotment = Allotment(learner)
    with allotment.counting():
        add_work(1_000)
        for gained in (False, True, False):
            with allotment.turn("part") as turn:
                add_work(100)
                assert turn.done + allotment.remaining == 5 * SECOND + 0.75 * allotment.total - allotment.spent("part")
                turn.gained = gained
            add_work(10)
        assert allotment.left("other") == 5 * SECOND + 0.75 * allotment.total
    assert [history.part for history in learner.seen] == ["part"] * 3 + ["other"]
    found = [dict(zip(PART_FEATURES, history.values, strict=True)) for history in learner.seen]
    assert [each["total"] for each in found] == [1_000, 1_110, 1_220, 1_330]
    assert [each["spent"] for each in found] == [0, 100, 200, 0]
    assert [each["turns"] for each in found] == [0, 1, 2, 0]
    assert [each["gains"] for each in found] == [0, 0, 1, 0]
    assert [each["since_gain"] for each in found] == [0, 1, 0, 0]
    assert [each["last_work"] for each in found] == [0, 100, 100, 0]
    assert [each["share"] for each in found] == [0.25, 0.75, 0.75, 0.25]


def test_every_turn_halves_or_doubles_the_share_also_if_nobody_asks_for_it():
    allotment, shares = Allotment(), []
    with allotment.counting():
        add_work(1_000)
        for gained in (False, False, True, True, True):
            with allotment.turn("part") as turn:
                turn.gained = gained
            shares.append((allotment.left("part") - 5 * SECOND) / 1_000)
            with allotment.turn("unobserved") as turn:
                turn.gained = gained
        assert allotment.left("unobserved") == 5 * SECOND + 1_000 * shares[-1]
    assert shares == pytest.approx([0.125, 0.0625, 0.125, 0.25, 0.5])


RANDOM = np.random.default_rng(0)
ADVERSARIES = {"nothing": lambda _: 0.0, "everything": lambda _: 1, "random": lambda _: RANDOM.random()}


def method(learner):
    return Method(work_shares=learner, choice=StrongBranching(), heuristics=[RestrictedMIP(every=1)])


@pytest.mark.parametrize("answer", ADVERSARIES.values(), ids=ADVERSARIES)
def test_no_learner_changes_an_optimum(answer):
    expected = solve(Partitioning(size=9, seed=4, cuts=False)).objective
    learner = Scripted(answer)
    result = solve(Partitioning(size=9, seed=4, cuts=False), method=method(learner))
    assert result.is_optimal
    assert result.objective == pytest.approx(expected, abs=1e-6)
    assert {history.part for history in learner.seen} >= {"branching", "RestrictedMIP"}
    assert all(np.isfinite(history.values).all() for history in learner.seen)


@pytest.mark.parametrize("answer", [None, -0.1, 1.5, math.nan, math.inf, "half", True, [0.5]])
def test_bad_shares_are_refused(answer):
    with pytest.raises(InputError, match=r"Scripted.share\(\)"):
        solve(Partitioning(size=9, seed=4, cuts=False), method=method(Scripted(lambda _: answer)))


def test_a_search_beside_another_one_has_the_same_learner():
    budget = Budget(60.0)
    budget.allotment.rule = Scripted(lambda _: 0.5)
    assert budget.apart().allotment.rule is budget.allotment.rule
