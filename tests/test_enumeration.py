"""Column enumeration: nodes that are closed by a list of all columns of interest."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

import colgen
from colgen import Heuristic, Method, Solution, WarmStart, Wentges, solve
from colgen.core.allotment import Allotment
from colgen.enumeration import Enumerated, Enumeration, PathEnumeration
from colgen.fixing import ReducedCostFixing
from colgen.master.integer_solutions import IntegerSolutions
from colgen.master.protocol import MasterStatus
from colgen.solvers.work import SECOND
from tests.pricing.test_labelling import Routing, arcs_of
from tests.zoo import Listed, Partitioning


class EveryColumn(Enumeration):
    """Lists all columns whose reduced cost is within the slack."""

    def __init__(self, problem, most=None):
        self.problem, self.most = problem, most
        self.asked = 0

    def enumerate(self, context):
        self.asked += 1
        oracle = Listed(self.problem)
        cover, branch = context.duals["cover"], dict(context.duals.items("branch"))
        assert not branch
        columns = [
            oracle.encode(s)
            for s in self.problem.costs
            if context.sense.improvement(0.0, self.problem.costs[s] - sum(cover[i] for i in s)) <= context.slack
        ]
        columns = [column for column in columns if all(d.allows(column) for d in context.decisions)]
        return None if self.most is not None and len(columns) > self.most else Enumerated(columns)


class Enumerating(Partitioning):
    most = None

    def method(self):
        self.lister = EveryColumn(self, self.most)
        return dataclasses.replace(super().method(), enumeration=self.lister)


@pytest.mark.parametrize(("size", "maximize"), list(itertools.product((7, 9), (False, True))))
def test_a_complete_list_closes_the_root(size, maximize):
    plain = solve(Partitioning(size=size, maximize=maximize, cuts=False))
    problem = Enumerating(size=size, maximize=maximize, cuts=False)
    result = solve(problem)
    assert plain.is_optimal
    assert result.is_optimal
    assert result.objective == pytest.approx(plain.objective)
    assert problem.lister.asked
    assert len(result.nodes) <= len(plain.nodes)


def test_too_long_a_list_leaves_the_node_to_branching():
    class Short(Enumerating):
        most = 0

    problem = Short(size=9, cuts=False)
    result = solve(problem)
    assert result.is_optimal
    assert problem.lister.asked > 1
    assert result.objective == pytest.approx(solve(Partitioning(size=9, cuts=False)).objective)


class FromSingles(Enumerating):
    """Has a first answer, which an enumeration needs, and integer costs."""

    objective_step = 1.0

    def warm_start(self, budget):
        singles = [Listed(self).encode((i,)) for i in range(self.size)]
        return WarmStart(answers=(Solution(sum(c.cost for c in singles), tuple((c, 1.0) for c in singles)),))


class Finding(Heuristic):
    """Finds the best answer, and records the state of the run."""

    def __init__(self, answer, happened):
        self.best, self.happened = answer, happened

    def search(self, context):
        self.happened.append("dive")
        return self.best


@pytest.mark.parametrize("finds", [True, False])
def test_a_long_program_comes_after_the_heuristics(monkeypatch, finds):
    happened = []
    solve_over = IntegerSolutions.solve_over

    def slow(self, columns, sides, target, time_limit, *rest, **named):
        happened.append(round(named["work"] / SECOND, 1))
        if named["work"] < SECOND:
            return MasterStatus.LIMIT, None
        return solve_over(self, columns, sides, target, time_limit, *rest, **named)

    monkeypatch.setattr(IntegerSolutions, "solve_over", slow)
    problem = FromSingles(size=8, seed=2, cuts=False)
    best = solve(Partitioning(size=8, seed=2, cuts=False)).solution
    result = solve(
        problem, method=Method(heuristics=[Finding(best if finds else None, happened)], stabilization=Wentges())
    )
    assert result.is_optimal
    assert len(result.nodes) == 1
    assert happened[:2] == [0.5, "dive"]
    assert happened[2:] == ([] if finds else [5.0])


pytestmark = pytest.mark.timeout(120)


class Reduced(Routing):
    """Fixes arcs by their reduced costs, and ends with programs over all paths within the gap."""

    def __init__(self, seed: int, **how) -> None:
        super().__init__(seed, **how)
        self.oracle = super().pricing()
        self.enumerated = []

    def pricing(self):
        return self.oracle

    def method(self):
        fixing = ReducedCostFixing(self.oracle.exactly(), arcs_of, "arc", share=0.0)
        enumeration = Noted(self.oracle, self.enumerated)
        return dataclasses.replace(super().method(), reductions=(fixing,), enumeration=enumeration)


class Noted(PathEnumeration):
    def __init__(self, oracle, lists) -> None:
        super().__init__(oracle)
        self.lists = lists

    def enumerate(self, context):
        self.lists.append(super().enumerate(context))
        return self.lists[-1]


@pytest.mark.parametrize("by", ["arc", "pair"])
def test_fixed_arcs_and_listed_paths_end_at_the_optimum(by: str) -> None:
    listed = 0
    for seed in (0, 1, 2, 6):
        problem = Reduced(seed, by=by, cuts=seed == 2)
        result = colgen.solve(problem)
        assert result.is_optimal
        assert result.objective == pytest.approx(problem.optimum())
        listed += sum(found is not None for found in problem.enumerated)
    assert listed or by == "pair"


def test_parts_without_remaining_work_leave_the_optimum(monkeypatch) -> None:
    monkeypatch.setattr(Allotment, "remaining", property(lambda self: 0.0 if self._turns else math.inf))
    problem = Reduced(0, by="arc", cuts=False)
    result = colgen.solve(problem)
    assert result.is_optimal
    assert result.objective == pytest.approx(problem.optimum())
    assert not any(problem.enumerated)


class RandomShares:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def share(self, history) -> float:
        return float(self.rng.choice([0.0, 0.001, 0.3]))


@pytest.mark.parametrize("seed", range(6))
def test_any_shares_of_work_leave_the_optimum(seed: int, monkeypatch) -> None:
    monkeypatch.setattr("colgen.core.allotment._GRANT", 10.0**seed)
    problem = Reduced(seed, by="arc", cuts=seed % 2 == 0)
    result = colgen.solve(problem, method=dataclasses.replace(problem.method(), work_shares=RandomShares(seed)))
    assert result.is_optimal
    assert result.objective == pytest.approx(problem.optimum())


def test_paths_are_not_listed_where_arcs_touch_rows() -> None:
    plain = Routing(0).pricing()
    oracle = colgen.Labelling(plain.solver, plain.costs, plain.vertex_rows, arc_rows=[(0, ("noise", 0), 1.0)])
    with pytest.raises(colgen.InputError, match="without arc_rows"):
        PathEnumeration(oracle)
