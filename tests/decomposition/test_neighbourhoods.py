"""Neighbourhoods in the compact model: which variables are fixed, when they are searched, and what they find."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Method, NodeLimit, decompose, solve
from colgen.core.solution import Solution
from colgen.decomposition import neighbourhoods
from colgen.decomposition.neighbourhoods import LargeNeighbourhoods
from colgen.model.rows import compile_model
from colgen.reporting.compared import solve_complete
from colgen.solvers.work import SECOND
from tests.decomposition import models


@pytest.mark.parametrize("seed", range(3))
def test_there_is_an_incumbent_after_the_root(seed):
    model = models.lots(seed, items=4, periods=7)
    best = solve_complete(compile_model(model)).objective
    problem = decompose(model, "item")
    found = solve(problem, method=Method(heuristics=(LargeNeighbourhoods(problem.splitting, ()),)), stop=NodeLimit(1))
    assert best <= found.objective * (1 + 1e-6)
    assert found.objective <= 1.2 * best


def test_identical_blocks_receive_their_points():
    model = models.lots(1, items=3, periods=4)
    for t in model.period:
        for i in (1, 2):
            before = (model.kept[i, t - 1] if t else 0) + model.made[i, t]
            model.balance[i, t].set_value(before == 3 * (t + 1) + model.kept[i, t])
            model.setup[i, t].set_value(model.made[i, t] <= 40 * model.ready[i, t])
    model.cost.set_value(sum(model.made.values()) + sum((9 + i // 2) * v for (i, _), v in model.ready.items()))
    model.overtime.fix(6)
    problem = decompose(model, "item", recognize=False)
    found = solve(problem, method=Method(heuristics=(LargeNeighbourhoods(problem.splitting, ()),)))
    assert max(sub.count for sub in problem.splitting.subproblems) >= 1
    assert found.is_optimal
    assert found.objective == pytest.approx(solve_complete(compile_model(model)).objective)


class Asked:
    def __init__(self):
        self.times = 0

    def search(self, context):
        self.times += 1


def test_other_heuristics_run_if_it_finds_nothing(monkeypatch):
    problem, other = decompose(models.lots(0, items=4, periods=7), "item"), Asked()
    method = Method(heuristics=(LargeNeighbourhoods(problem.splitting, (other,)),))
    solve(problem, method=method, stop=NodeLimit(1))
    assert other.times == 0
    monkeypatch.setattr(neighbourhoods, "_SECONDS", 0.0)
    monkeypatch.setattr(neighbourhoods, "_CALL", 0.0)
    solve(problem, method=method, stop=NodeLimit(1))
    assert other.times == 1


# --- between rounds of column generation -----------------------------------------------------------------------------


class Watched(LargeNeighbourhoods):
    """Records each neighbourhood: its name, the number of fixed variables, and what it found."""

    def __init__(self, *args):
        super().__init__(*args)
        self.searched = []

    def _fix(self, kind, context, known):
        fixed, values = super()._fix(kind, context, known)
        self.searched.append((kind, int(fixed.sum())))
        return fixed, values


@pytest.fixture
def eager(monkeypatch):
    """Work of HiGHS that makes a neighbourhood due at each round: every look at it sees one unit more."""
    seen = []
    monkeypatch.setattr(neighbourhoods, "work", lambda: seen.append(0) or SECOND * len(seen) ** 2)


@pytest.mark.parametrize(
    ("make", "by"),
    [(models.assignment, "machine"), (models.packing, "bin"), (models.cutting, "roll"), (models.lots, "item")],
)
def test_each_solution_is_feasible_and_the_optimum_is_the_same(eager, make, by):
    problem = decompose(make(2), by)
    near = Watched(problem.splitting)
    found = solve(problem, method=Method(heuristics=(near,)))  # the engine verifies each solution
    assert near.searched
    assert found.is_optimal
    assert found.objective == pytest.approx(solve_complete(compile_model(make(2))).objective)
    assert not any("failed" in note for note in found.notes)


def test_all_neighbourhoods_have_their_turn(eager):
    problem = decompose(models.assignment(4, machines=4, tasks=24), "machine")
    near = Watched(problem.splitting)
    solve(problem, method=Method(heuristics=(near,)), stop=NodeLimit(40))
    kinds = {kind for kind, _ in near.searched}
    assert kinds >= {"agreeing", "blocks", "rows", "whole"}
    assert kinds & {"rounded", "whole"}
    assert all(0 < fixed < 96 for kind, fixed in near.searched if kind in ("blocks", "rows"))


def test_it_waits_until_the_run_has_done_enough_work(monkeypatch):
    monkeypatch.setattr(neighbourhoods, "work", lambda: 0.0)
    problem = decompose(models.assignment(4, machines=4, tasks=24), "machine")
    near = Watched(problem.splitting)
    solve(problem, method=Method(heuristics=(near,)), stop=NodeLimit(20))
    assert near.searched == []


def test_a_linear_program_has_no_neighbourhoods(eager):
    model = models.assignment(4, machines=4, tasks=12)
    for variable in model.x.values():
        variable.domain = pyo.UnitInterval
    problem = decompose(model, "machine")
    near = Watched(problem.splitting)
    assert solve(problem, method=Method(heuristics=(near,))).is_optimal
    assert near.searched == []


def test_two_runs_of_the_same_object_are_equal(eager):
    problem = decompose(models.assignment(1, machines=3, tasks=15), "machine")
    near, traces = Watched(problem.splitting), []
    for _ in range(2):
        near.searched.clear()
        result = solve(problem, method=Method(heuristics=(near,)), stop=NodeLimit(9))
        traces.append((len(result.nodes), result.objective, list(near.searched)))
    assert traces[0] == traces[1]


def test_identical_blocks_keep_the_points_that_a_relaxation_uses_entirely():
    problem = decompose(models.packing(0), "bin")
    splitting, near = problem.splitting, LargeNeighbourhoods(problem.splitting)
    (sub,) = splitting.subproblems
    full, half = np.zeros((2, len(sub.costs)))
    full[:2], half[:1] = 1.0, 1.0
    columns = [(splitting.column(sub, full), 1.0), (splitting.column(sub, half), 2.5)]
    values = near._rounded(Solution(0.0, columns))
    points = values[sub.columns]
    assert sub.count == 5
    assert [point.tolist() for point in points[:3]] == [half.tolist(), half.tolist(), full.tolist()]
    assert (points[3:] == 0.5).all()
    known = np.zeros(len(values))
    known[sub.columns[[1, 2, 4]]] = half
    distance = near._distance(Solution(0.0, columns), known)[sub.columns]
    # The third copy of the point is used by half; empty blocks are not used.
    assert distance[:, 0].tolist() == [1.0, 0.0, 0.0, 1.0, 0.5]
