"""Heuristics at nodes: those that apply, one that fails is skipped."""

import pytest

from colgen import Heuristic, InputError, Method, solve
from colgen.core.errors import SolverError
from tests.toys import CuttingStock
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
