"""Nodes that are branched on before column generation has ended: which are, and that nothing is lost but rounds."""

import math

import pytest

from benchmarks.engine.trees import PoolPartition
from colgen import ColumnGeneration, InputError, Method, MostFractional, RyanFoster, solve
from colgen.bounding import column_generation as loop
from colgen.bounding.protocol import Outcome
from colgen.problems.assignment import random as assignment
from colgen.problems.assignment.template import Unguessed
from colgen.problems.cutting_stock import CuttingStock
from colgen.problems.cutting_stock.generators import bin_packing


class Watched(ColumnGeneration):
    """Records its calls and results."""

    def __init__(self, **how):
        super().__init__(**how)
        self.seen = []

    def bound(self, node, parts):
        bounded = super().bound(node, parts)
        whole = bounded.solved is not None and bounded.solved.phase == 2 and bounded.solved.integral
        self.seen.append((node, bounded, parts.settings.round_early, parts.run.objective, whole))
        return bounded


MAKERS = {
    "assignment": lambda seed: Unguessed(assignment(3, 12, seed)),
    "partition": lambda seed: PoolPartition(12, 60, 2, seed),
    "one pool": lambda seed: PoolPartition(14, 120, 1, seed),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("share", [0.05, 1.0, 1e6])
def test_the_same_answers_are_proved(name, seed, share):
    make = MAKERS[name]
    plain = solve(make(seed), method=Method(choice=MostFractional()))
    early = solve(make(seed), method=Method(choice=MostFractional(), bounding=ColumnGeneration(branch_early=share)))
    assert plain.is_optimal
    assert early.is_optimal
    assert early.objective == pytest.approx(plain.objective)
    assert early.dual_bound == pytest.approx(plain.dual_bound)


def test_cutting_stock_proves_the_same():
    for seed in range(3):
        instance = bin_packing(20, seed)
        early = solve(CuttingStock(instance), method=Method(bounding=ColumnGeneration(branch_early=10.0)))
        assert early.is_optimal
        assert early.objective == solve(CuttingStock(instance)).objective


def ended_early(share=1e6):
    """Results of nodes in many runs."""
    seen = []
    for seed in range(4):
        for make in MAKERS.values():
            bounding = Watched(branch_early=share)
            solve(make(seed), method=Method(choice=MostFractional(), bounding=bounding))
            seen += bounding.seen
    return seen


def test_which_nodes_are_ended_early():
    seen = ended_early()
    unfinished = [each for each in seen if each[1].unfinished]
    assert unfinished
    for node, bounded, may, incumbent, whole in unfinished:
        assert node.depth > 0
        assert bounded.outcome is Outcome.SOLVED
        assert may
        assert not whole
        assert math.isfinite(incumbent)
        assert bounded.bound <= bounded.solved.objective + 1e-6
        assert bounded.solved.objective < incumbent
    assert any(bounded.bound < bounded.solved.objective - 1e-3 for _, bounded, _, _, _ in unfinished)


def test_the_share_bounds_the_gap_left():
    for _, bounded, _, incumbent, _ in ended_early(0.5):
        if bounded.unfinished:
            left, lacking = bounded.solved.objective - bounded.bound, incumbent - bounded.solved.objective
            assert left <= 0.5 * lacking + 1e-9


def test_the_bound_is_no_better_than_the_final_one(monkeypatch):
    """A node that is ended early is solved once more to its end: its bound was one of the same relaxation."""
    compared = []

    class Twice(ColumnGeneration):
        def bound(self, node, parts):
            early = super().bound(node, parts)
            if early.unfinished:
                compared.append((early.bound, loop.column_generation(node, parts).bound))
            return early

    for seed in range(6):
        solve(MAKERS["one pool"](seed), method=Method(choice=MostFractional(), bounding=Twice(branch_early=1e6)))
    assert compared
    assert all(early <= end + 1e-6 for early, end in compared)


class Picky(RyanFoster):
    """Sees no fraction in a node that was ended early."""

    def __init__(self, watched):
        super().__init__("cover")
        self.watched = watched
        self.refused = 0

    def candidates(self, solution):
        if self.watched.seen[-1][1].unfinished:
            self.refused += 1
            return ()
        return super().candidates(solution)

    def branch(self, solution):
        if self.watched.seen[-1][1].unfinished:
            self.refused += 1
            return ()
        return super().branch(solution)


def test_a_node_that_cannot_be_branched_on_early_is_solved_to_its_end():
    refused = 0
    for seed in range(4):
        watched = Watched(branch_early=1e6)
        rule = Picky(watched)
        problem = MAKERS["one pool"](seed)
        problem.branching = lambda rule=rule: [rule]
        found = solve(problem, method=Method(choice=MostFractional(), bounding=watched))
        assert found.is_optimal
        assert found.objective == pytest.approx(solve(MAKERS["one pool"](seed)).objective)
        refused += rule.refused
    assert refused


def test_by_default_no_node_ends_early():
    assert not any(bounded.unfinished for _, bounded, _, _, _ in ended_early(0.0))


@pytest.mark.parametrize("share", [-0.1, math.nan, math.inf])
def test_the_share_is_checked(share):
    with pytest.raises(InputError, match="branch_early"):
        ColumnGeneration(branch_early=share)
