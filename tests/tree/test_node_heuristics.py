"""Heuristics at nodes: those that apply, one that fails is skipped."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

from colgen import Heuristic, InputError, Method, RestrictedMIP, WarmStart, solve
from colgen.core import allotment
from colgen.core.errors import SolverError
from colgen.tree import node_heuristics
from tests.toys import CuttingStock, Partition, SetPartitioning
from tests.zoo import Partitioning


class Failing(Heuristic):
    quick = False

    def search(self, context):
        raise SolverError("kSolveError")


class Counting(Heuristic):
    def __init__(self, quick):
        self.quick = quick
        self.depths = []

    def applies(self, depth):
        return depth <= 1

    def search(self, context):
        self.depths.append(context.depth)


def test_a_failing_heuristic_is_skipped_with_a_note():
    result = solve(Partitioning(size=9, seed=4, cuts=False), method=Method(heuristics=[Failing()]))
    assert result.is_optimal
    assert any(note.startswith("Failing failed at node 0") for note in result.notes)


def test_heuristics_run_where_they_apply():
    quick, slow = Counting(True), Counting(False)
    result = solve(Partitioning(size=9, seed=4, cuts=False), method=Method(heuristics=[slow, quick]))
    assert result.is_optimal
    for heuristic in (quick, slow):
        assert heuristic.depths[0] == 0
        assert max(heuristic.depths) <= 1


def test_a_node_closed_by_a_quick_heuristic_runs_no_other():
    best = solve(CuttingStock())

    class Optimal(Heuristic):
        quick = True

        def search(self, context):
            context.master.add([column for column, _ in best.solution.columns])
            return best.solution

    slow = Counting(False)
    assert solve(CuttingStock(), method=Method(heuristics=[Optimal(), slow])).is_optimal
    assert slow.depths == []


def test_a_heuristic_that_returns_no_solution_object_is_refused():
    class Yielding(Heuristic):
        def search(self, context):
            yield None

    with pytest.raises(InputError, match=r"Yielding .*generator"):
        solve(Partitioning(size=9, seed=4, cuts=False), method=Method(heuristics=[Yielding()]))


class Between(Heuristic):
    """Returns a known solution between the first rounds of column generation."""

    joins = True

    def __init__(self, best):
        self.best, self.relaxations = best, []

    def applies(self, depth):
        return False

    def is_due(self, run):
        return not self.relaxations

    def search(self, context):
        self.relaxations.append(context.relaxation)
        self.master, self.before = context.master, context.master.num_columns
        return self.best


def test_a_solution_found_between_rounds_is_the_incumbent_and_its_columns_join_the_master():
    best = solve(CuttingStock())
    heuristic = Between(best.solution)
    result = solve(CuttingStock(), method=Method(heuristics=[heuristic]))
    assert result.is_optimal
    assert result.objective == best.objective
    assert len(heuristic.relaxations) == 1
    assert (heuristic.master.find([column for column, _ in best.solution.columns]) >= 0).all()
    assert len(result.iterations) < len(best.iterations)


def test_no_heuristic_runs_between_rounds_if_only_the_relaxation_is_wanted():
    heuristic = Between(solve(CuttingStock()).solution)
    solve(CuttingStock(), method=Method(heuristics=[heuristic]), relaxation=True)
    assert heuristic.relaxations == []


class Needed(Heuristic):
    """Applies nowhere, and runs when the work of the run has doubled; returns ``best`` while there is no solution.

    ``seen`` holds number of rounds, depth, work so far, and limit on its work, ``later`` the same with an incumbent.
    """

    by_need = True

    def __init__(self, best=None):
        self.best, self.seen, self.later = best, [], []

    def applies(self, depth):
        return False

    def search(self, context):
        run = context.run
        found = self.seen if run.incumbent is None else self.later
        found.append((len(run.iterations), context.depth, run.budget.allotment.total, context.work))
        assert not context.relaxation.is_integral
        return self.best if run.incumbent is None else None


class Hidden(Partitioning):
    """No heuristic of the engine finds its solutions."""

    def method(self):
        return Method(heuristics=())


def test_a_first_solution_is_searched_before_rows_are_separated(monkeypatch):
    monkeypatch.setattr(node_heuristics, "_FIRST", 0.0)
    best = solve(Partitioning(size=12, seed=3))
    needed = Needed(best.solution)
    result = solve(Hidden(size=12, seed=3), method=Method(heuristics=[needed]))
    assert result.is_optimal
    assert result.objective == best.objective
    ((rounds, depth, total, work),) = needed.seen
    assert depth == 0
    assert result.iterations[rounds - 1].new_columns == 0
    assert result.iterations[rounds - 1].new_rows > 0
    assert work == total / 2


@pytest.mark.parametrize("more", [1.0, 2.0])
def test_a_search_without_success_is_repeated_when_the_work_has_grown_also_below_the_root(monkeypatch, more):
    monkeypatch.setattr(node_heuristics, "_FIRST", 0.0)
    monkeypatch.setattr(node_heuristics, "_MORE", more)
    needed = Needed()
    result = solve(Hidden(size=9, seed=1, cuts=False), method=Method(heuristics=[needed]))
    assert result.is_optimal
    totals = [total for _, _, total, _ in needed.seen]
    assert all(more * one <= other for one, other in pairwise(totals))
    assert (max(depth for _, depth, _, _ in needed.seen) > 0) == (more == 1.0)


@pytest.mark.parametrize("share", [1.0, 0.0])
def test_better_solutions_are_searched_with_a_tenth_of_the_work_unless_the_share_is_used_up(monkeypatch, share):
    class Fixed:
        def share(self, history):
            return share

    monkeypatch.setattr(node_heuristics, "_FIRST", 0.0)
    monkeypatch.setattr(node_heuristics, "_MORE", 1.0)
    monkeypatch.setattr(allotment, "_GRANT", 0)
    best = solve(Partitioning(size=9, seed=1, cuts=False)).solution
    needed = Needed()
    result = solve(
        Hidden(size=9, seed=1, cuts=False),
        method=Method(heuristics=[needed], work_shares=Fixed()),
        start=WarmStart(answers=(best,)),
    )
    assert result.is_optimal
    assert needed.seen == []
    assert bool(needed.later) == (share == 1.0)
    assert all(work == pytest.approx(total / 10) for _, _, total, work in needed.later)


@pytest.mark.parametrize(("share", "last", "work"), [(50.0, 40, 10.0), (50.0, 41, 0.0), (2.0, 8, 2.0), (-1.0, 0, 0.0)])
def test_a_search_for_a_better_solution_is_left_out_if_its_last_call_did_much_more(share, last, work):
    allotment = SimpleNamespace(total=100.0, left_of_share=lambda name: share, last_work=lambda name: last)
    heuristics = object.__new__(node_heuristics.NodeHeuristics)
    heuristics.run = SimpleNamespace(budget=SimpleNamespace(allotment=allotment))
    assert heuristics._work_to_improve("Diving") == work


def test_no_solution_is_searched_if_too_little_was_done():
    best = solve(Partitioning(size=12, seed=3)).solution
    for start in (WarmStart(answers=(best,)), None):
        needed = Needed()
        assert solve(Hidden(size=12, seed=3), method=Method(heuristics=[needed]), start=start).is_optimal
        assert needed.seen == needed.later == []


def test_a_limit_that_ends_a_heuristic_leaves_an_answer():
    """The known columns are combined in the grace time, as when a limit ends a round."""

    class Waiting(Heuristic):
        def search(self, context):
            while not context.run.expired:
                pass

    subsets = [(2.0, frozenset(pair)) for pair in ((0, 1), (1, 2), (0, 2))] + [(9.0, frozenset(range(3)))]
    problem = SetPartitioning(Partition(3, tuple(subsets)))
    start = WarmStart(columns=problem.columns)  # the first linear program is fractional
    result = solve(problem, time_limit=1.0, start=start, method=Method(heuristics=(Waiting(), RestrictedMIP())))
    assert result.objective == 9.0
