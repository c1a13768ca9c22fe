"""Asking a part of the oracles at a time: fewer calls, and the same proofs."""

import math

import numpy as np
import pytest

from colgen import InputError, Method, NoStabilization, PricingResult, Wentges, solve
from colgen.pricing.order import ORACLE_FEATURES
from tests.assignment import Assignment, Knapsack, assignment


class Counted(Knapsack):
    def price(self, duals, context):
        self.problem.asked.append(self.machine)
        return super().price(duals, context)


class Counting(Assignment):
    def pricing(self):
        self.asked = []
        return [Counted(self, machine) for machine in range(len(self.costs))]


@pytest.mark.parametrize("stabilization", [NoStabilization, Wentges])
@pytest.mark.parametrize("relaxation", [True, False])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_bound_is_unchanged(stabilization, relaxation, seed):
    results = {}
    for share in (1.0, 0.5, 0.01):
        problem = assignment(4, 7, seed, Counting)
        results[share] = solve(
            problem,
            relaxation=relaxation,
            method=Method(stabilization=stabilization(), pricing_share=share, heuristics=()),
        )
        assert results[share].is_optimal
        last = [i for i in results[share].iterations if i.phase == 2][-1]
        assert last.dual_bound == pytest.approx(last.objective, abs=1.0)  # rounded bounds may end a node
        assert set(problem.asked) == {0, 1, 2, 3}
    for share in (0.5, 0.01):
        assert results[share].objective == pytest.approx(results[1.0].objective)
        if relaxation:
            assert results[share].dual_bound == pytest.approx(results[1.0].dual_bound)


def test_parts_are_called_in_turn_until_one_finds_a_column():
    problem = assignment(4, 7, 1, Counting)
    result = solve(problem, relaxation=True, method=Method(stabilization=NoStabilization(), pricing_share=0.25))
    rounds = len(result.iterations)
    assert result.is_optimal
    assert len(problem.asked) < 4 * rounds
    assert problem.asked[:4] == [0, 1, 2, 3]  # each finds a column in its round
    assert len(problem.asked[-4:]) == len(set(problem.asked[-4:]))  # the last round asks everybody


class Scripted:
    def __init__(self, answer):
        self.answer, self.seen = answer, []

    def score(self, history):
        self.seen.append(history)
        return self.answer(history)


RNG = np.random.default_rng(0)
ORDERS = {
    "random": lambda history: RNG.normal(size=len(history.names)),
    "always the same": lambda history: [4, 3, 2, 1],
    "the least successful": lambda history: -history.values[:, ORACLE_FEATURES.index("successes")],
    "not a number": lambda history: [math.nan] * 4,
    "infinite": lambda history: [math.inf, -math.inf, math.nan, 1e290],
}


@pytest.mark.parametrize("stabilization", [NoStabilization, Wentges])
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_no_order_changes_a_bound(order, stabilization):
    for relaxation in (True, False):
        found = []
        for share, learner in ((1.0, None), (0.25, Scripted(order)), (0.5, Scripted(order))):
            method = Method(stabilization=stabilization(), pricing_share=share, pricing_order=learner, heuristics=())
            result = solve(assignment(4, 7, 1, Counting), relaxation=relaxation, method=method)
            assert result.is_optimal
            found.append(result.objective)
        assert found == pytest.approx([found[0]] * 3)


def test_the_oracle_with_the_largest_score_is_called_first_and_history_is_counted():
    problem, learner = assignment(4, 7, 1, Counting), Scripted(lambda history: [1, 2, 4, 3])
    method = Method(stabilization=NoStabilization(), pricing_share=0.25, pricing_order=learner)
    assert solve(problem, relaxation=True, method=method).is_optimal
    assert problem.asked[0] == 2
    first, *_, last = (history.values for history in learner.seen)
    assert not first[:, [0, 2, 3, 4]].any()
    assert (first[:, 1] == 1).all()
    assert last[2, 0] == len(learner.seen) - 1  # it was called in every round before
    assert last[:, 0].sum() < 4 * len(learner.seen)
    assert ((last[:, 4] >= 0) & (last[:, 4] <= 1)).all()
    assert len(learner.seen[0].names) == 4


def test_without_a_share_no_order_is_asked_for():
    learner = Scripted(lambda history: None)
    assert solve(assignment(4, 7, 1, Counting), method=Method(pricing_order=learner)).is_optimal
    assert not learner.seen


@pytest.mark.parametrize("answer", [None, 1.0, [1.0, 2.0], [[1.0] * 4], ["first"] * 4])
def test_a_bad_order_is_refused(answer):
    method = Method(pricing_share=0.25, pricing_order=Scripted(lambda history: answer))
    with pytest.raises(InputError, match=r"Scripted.score\(\)"):
        solve(assignment(4, 7, 1, Counting), method=method)


@pytest.mark.parametrize("share", [0.0, 1.5, -1, float("nan"), "half"])
def test_a_share_is_a_share(share):
    with pytest.raises(InputError, match="pricing_share"):
        solve(assignment(), method=Method(pricing_share=share))


class Staged(Knapsack):
    has_quick = True

    def price(self, duals, context):
        self.problem.asked.append((self.machine, context.quick))
        found = super().price(duals, context)
        return PricingResult(found.columns if self.machine == 0 else (), None) if context.quick else found


class Staging(Counting):
    def pricing(self):
        self.asked = []
        return [Staged(self, machine) for machine in range(len(self.costs))]


def test_searches_with_proof_wait_until_no_quick_search_finds_a_column():
    problem = assignment(4, 7, 1, Staging)
    result = solve(problem, method=Method(stabilization=NoStabilization(), heuristics=()))
    assert result.objective == pytest.approx(solve(assignment(4, 7, 1, Counting)).objective)
    quick = sum(asked for _, asked in problem.asked)
    assert len(problem.asked) - quick < quick  # every round begins with quick searches, and some end with them
