"""Bounds of nodes are proved by a pricing round, whatever the bounding claims."""

import dataclasses
import math
import signal

import pytest

from colgen import Column, Decision, Heuristic, Method, NodeLimit, Solution, Termination, WarmStart, solve
from colgen.bounding.protocol import Bounded, Bounding, Outcome
from colgen.fixing import Reduction, ReductionContext
from tests.toys import CuttingStock
from tests.zoo import Partitioning


class Overclaiming(Bounding):
    """Claims a bound without a proof."""

    def __init__(self, duals, bound=1000.0):
        self.duals, self.claimed = duals, bound

    def bound(self, node, parts):
        return Bounded(Outcome.UNPROVED, self.claimed, duals=parts.master.rows.guess(self.duals))


def test_oracles_prove_the_bound_at_the_dual_values():
    relaxed = solve(CuttingStock(), relaxation=True)
    result = solve(CuttingStock(), method=Method(bounding=Overclaiming({("demand", 0): 0.5}), heuristics=()))
    assert result.dual_bound < 453.0
    assert result.root_bound == pytest.approx(0.5 * 97, abs=1.0)  # rounded to a roll
    proved = solve(CuttingStock(), method=Method(bounding=Overclaiming(relaxed.certificate.duals), heuristics=()))
    assert proved.root_bound == pytest.approx(452.25)


def test_reductions_receive_the_bound_and_its_dual_values():
    seen = []

    class Watching(Reduction):
        def reduce(self, context):
            assert isinstance(context, ReductionContext)
            seen.append(context)
            return []

    class Watched(Partitioning):
        def method(self):
            return dataclasses.replace(super().method(), reductions=[Watching()])

    result = solve(Watched(size=9, seed=4, cuts=False))
    assert result.is_optimal
    assert seen
    for context in seen:
        assert context.slack >= 0.0
        assert context.duals is not None
    first = seen[0]
    assert not first.sense.is_better(result.objective, first.bound, 1e-6)


class FewPairs(Decision):
    """Pairs of neighbours alone, so that column generation continues after the relaxation was solved with others."""

    exhaustive = False

    def allows(self, column):
        members = column.structure
        return len(members) != 2 or members[1] == members[0] + 1


def test_heuristics_also_run_between_the_rounds_after_a_reduction():
    class Once(Reduction):
        makes = (FewPairs,)
        found = ()

        def reduce(self, context):
            before, self.found = self.found, (FewPairs(),)
            return () if before else self.found

    class Due(Heuristic):
        def applies(self, depth):
            return False

        def is_due(self, run):
            return bool(once.found)

        def search(self, context):
            rounds.append(len(context.run.iterations))

    once, rounds = Once(), []

    class Reduced(Partitioning):
        def method(self):
            return dataclasses.replace(super().method(), reductions=[once], heuristics=[Due()])

    best = solve(Partitioning(size=9, seed=1, cuts=False)).solution
    result = solve(Reduced(size=9, seed=1, cuts=False), start=WarmStart(answers=(best,)), stop=NodeLimit(1))
    assert rounds
    assert max(rounds) <= len(result.iterations)


def test_reductions_apply_again_after_a_heuristic_improved_the_incumbent():
    size, targets, searches = 9, [], []
    best = solve(Partitioning(size, seed=1, cuts=False)).solution

    class Pairs(Reduction):
        """Fixes as soon as the best solution is known."""

        makes = (FewPairs,)

        def reduce(self, context):
            targets.append(context.target)
            known = any(isinstance(decision, FewPairs) for decision in context.decisions)
            return (FewPairs(),) if context.target <= best.objective and not known else ()

    class Improving(Heuristic):
        def search(self, context):
            searches.append(context.run.incumbent.objective)
            return best

    class Reduced(Partitioning):
        def method(self):
            return dataclasses.replace(super().method(), reductions=[Pairs()], heuristics=[Improving()])

    problem = Reduced(size, seed=1, cuts=False)
    alone = [Column(problem.costs[(i,)], {("cover", i): 1.0}, (i,)) for i in range(size)]
    start = Solution(sum(column.cost for column in alone), [(column, 1.0) for column in alone])
    result = solve(problem, start=WarmStart(answers=(start,)), stop=NodeLimit(1))
    assert len(searches) == 1
    assert searches[0] > best.objective
    assert targets == [searches[0], best.objective]
    assert result.objective == best.objective


def test_an_interrupt_during_a_bounding_proves_no_bound():
    class Interrupted(Bounding):
        def bound(self, node, parts):
            signal.raise_signal(signal.SIGINT)
            return Bounded(Outcome.SOLVED, 1.0, duals={("demand", 0): 0.5}, solution=Solution(400.0))

    result = solve(CuttingStock(), method=Method(bounding=Interrupted()))
    assert result.termination is Termination.INTERRUPTED
    assert result.dual_bound == -math.inf
    assert result.certificate is None
