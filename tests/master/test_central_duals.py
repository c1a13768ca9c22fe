"""Which of several optimal dual values a master takes: those from the middle."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Column, InputError, LinearMaster, WarmStart, artificial, solve
from colgen.master.central_duals import Centrality
from colgen.model.rows import compile_model
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed
from tests.master.programs import covering

DEGENERATE = {(0, 1, 2): 3.0, (0,): 2.5, (1,): 2.5, (2,): 2.5, (0, 1): 2.9, (1, 2): 2.9}
senses = pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])


def partitioning(sense, clusters, size=3, *, central):
    """Set partitioning of ``range(size)``; costs are those of minimising, negated if it is to be maximised."""
    m = pyo.ConcreteModel()
    m.item = pyo.RangeSet(0, size - 1)
    m.missing = artificial(m.item)
    m.cover = pyo.Constraint(m.item, rule=lambda m, i: m.missing[i] == 1)
    m.cost = pyo.Objective(expr=0, sense=sense)
    master = LinearMaster(compile_model(m), central=central)
    sign = 1.0 if sense == pyo.minimize else -1.0
    master.add([Column(sign * c, {("cover", i): 1.0 for i in members}, members) for members, c in clusters.items()])
    return master


def assert_optimal_duals(master, solved):
    """Feasible for all columns, with the objective of the primal, tight where a column is used."""
    gains = master.sense.gains(np.array(master.price(master.columns, solved.duals)))
    assert (gains <= 1e-7).all()
    assert sum(solved.duals.values) == pytest.approx(solved.objective)
    for column, _ in master.solution(solved).columns:
        assert master.price([column], solved.duals) == pytest.approx([0.0], abs=1e-9)


@senses
def test_central_duals_are_optimal_and_no_corner(sense):
    corner, middle = (partitioning(sense, DEGENERATE, central=central) for central in (False, True))
    first, second = corner.solve(), middle.solve()
    assert first.objective == pytest.approx(second.objective)
    for master, solved in ((corner, first), (middle, second)):
        assert_optimal_duals(master, solved)
    assert np.abs(first.duals.values - second.duals.values).max() > 0.1
    # In the middle no column that is not used binds.
    unused = [column for column in middle.columns if len(column.structure) < 3]
    assert (np.abs(middle.price(unused, second.duals)) > 0.01).all()


@senses
@pytest.mark.parametrize("seed", range(10))
def test_central_duals_of_random_partitionings(sense, seed):
    rng = np.random.default_rng(seed)
    clusters = {(i,): 3.0 for i in range(6)}
    for _ in range(20):
        members = tuple(sorted(rng.choice(6, int(rng.integers(2, 5)), replace=False).tolist()))
        clusters[members] = float(rng.integers(3, 12))
    master = partitioning(sense, clusters, 6, central=True)
    solved = master.solve()
    assert solved.objective == pytest.approx(partitioning(sense, clusters, 6, central=False).solve().objective)
    assert_optimal_duals(master, solved)


@senses
@pytest.mark.parametrize("nonsense", [None, [9.0, -50.0, 9.0], [0.0, 0.0, 0.0]], ids=str)
def test_vertex_if_the_interior_method_fails(sense, nonsense, monkeypatch):
    duals = None if nonsense is None else np.array(nonsense)
    master = partitioning(sense, DEGENERATE, central=True)
    monkeypatch.setattr(master.lp, "interior_duals", lambda time_limit: duals)
    assert_optimal_duals(master, master.solve())


def test_vertex_if_an_expensive_column_would_improve(monkeypatch):
    # 0.075 is little beside 2e6, and much beside 1: a bound at these dual values would prove nothing.
    dear = {(0,): 1.0, (1,): 2e6, (2,): 2e6, (1, 2): 4e6 - 0.01}
    master = partitioning(pyo.minimize, dear, central=True)
    monkeypatch.setattr(master.lp, "interior_duals", lambda time_limit: np.array([1.0, 2e6 + 0.05, 2e6 - 0.1]))
    assert_optimal_duals(master, master.solve())


def test_vertex_if_a_slack_row_has_a_dual_value(monkeypatch):
    # No reduced cost tells that they are not optimal: they pay for five clusters, and one is used.
    m = pyo.ConcreteModel()
    m.item = pyo.RangeSet(0, 2)
    m.missing = artificial(m.item)
    m.cover = pyo.Constraint(m.item, rule=lambda m, i: m.missing[i] == 1)
    m.spare = pyo.Var(domain=pyo.NonNegativeReals)
    m.limit = pyo.Constraint(expr=m.spare <= 5)
    m.cost = pyo.Objective(expr=0 * m.spare)
    master = LinearMaster(compile_model(m), central=True)
    for members, cost in DEGENERATE.items():
        master.add([Column(cost, {("limit", None): 1.0, **{("cover", i): 1.0 for i in members}}, members)])
    names = [master.rows.names.position[key] for key in [("cover", 0), ("cover", 1), ("cover", 2), ("limit", None)]]
    guess = np.zeros(4)
    guess[names] = 2.0, 2.0, 2.0, -3.0
    monkeypatch.setattr(master.lp, "interior_duals", lambda time_limit: guess)
    solved = master.solve()
    assert solved.duals["limit"] == 0.0
    assert sum(solved.duals["cover"]) == pytest.approx(solved.objective)


def test_a_column_at_its_upper_bound_improves_at_central_dual_values(monkeypatch):
    master = partitioning(pyo.minimize, {}, central=True)
    for members, cost in DEGENERATE.items():
        master.add([Column(cost, {("cover", i): 1.0 for i in members}, members, upper=1.0)])
    monkeypatch.setattr(master.lp, "interior_duals", lambda time_limit: np.zeros(3))
    solved = master.solve()
    (used,) = (column for column, _ in master.solution(solved).columns)
    assert float(master.price([used], solved.duals)[0]) <= 1e-9


def test_phase_1_takes_the_corner(monkeypatch):
    master = partitioning(pyo.minimize, {(0, 1): 1.0}, central=True)
    monkeypatch.setattr(master.lp, "interior_duals", lambda time_limit: pytest.fail("asked for in phase 1"))
    solved = master.solve()
    assert solved.phase == 1
    assert solved.duals["cover", 2] == pytest.approx(1.0)


@senses
@pytest.mark.parametrize("central", [False, True])
@pytest.mark.parametrize("power", [28, 30, 33, 40])
def test_unused_penalties_are_in_no_dual_value(sense, power, central):
    # Its column is basic at zero: a bound at dual values of that size is too inexact to prune by.
    costs = {(0,): 3.0, (3,): 2.0, (1, 2, 3): 7.0}
    penalties = dict.fromkeys([(1,), (2,), (0, 2, 3), (0, 1)], 2.0**power)
    master = partitioning(sense, costs | penalties, 4, central=central)
    solved = master.solve()
    assert np.abs(solved.duals.values).max() <= 100.0
    assert_optimal_duals(master, solved)


def test_columns_of_the_master_improve_by_no_tolerance_of_a_smaller_scale(monkeypatch):
    """The engine may price to a tolerance relative to less than the median of the costs in use."""
    clusters = {(0, 1): 40.0, (2,): 40.0, (0,): 20.0, (1,): 30.0, (0, 2): 60.0}
    master = partitioning(pyo.minimize, clusters, central=True)
    # Exact at what is used, and 1e-6 too much for one column that is not.
    monkeypatch.setattr(master.lp, "interior_duals", lambda time_limit: np.array([20.0 + 1e-6, 20.0 - 1e-6, 40.0]))
    solved = master.solve()
    assert master.precision.scale >= 16.0
    assert master.sense.gains(np.array(master.price(master.columns, solved.duals))).max() <= 1e-7


def choices(gains, count, sign=1.0):
    """The choices in a number of solves, given the gains after a vertex and after central values."""
    centrality, objective, found = Centrality("auto"), 1000.0 * sign, []
    for _ in range(count):
        found.append(centrality.next(objective, sign))
        objective -= sign * gains[found[-1]]
    return found


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("middle", "kept"), [(5.0, True), (1.2, False), (0.0, False)])
def test_the_choice_of_a_trial_is_used_until_the_next(middle, kept, sign):
    found = choices({False: 1.0, True: middle}, 8 + 24 + 8 + 48, sign)
    assert found[:8] == [False, True, True, False] * 2
    assert found[8:32] == [kept] * 24
    assert found[32:40] == found[:8]
    assert found[40:] == [kept] * 48


def test_an_objective_that_gets_worse_does_not_count():
    centrality = Centrality("auto")
    for objective in (10.0, 9.0, 50.0, 49.0, 48.0, 47.0, 46.0, 45.0):
        centrality.next(objective, 1.0)
    assert not centrality.next(44.0, 1.0)


@pytest.mark.parametrize("central", [True, False])
def test_a_fixed_choice_runs_no_trials(central):
    centrality = Centrality(central)
    assert [centrality.next(float(k), 1.0) for k in range(30)] == [central] * 30


@pytest.mark.parametrize("central", ["always", None, 2])
def test_other_values_raise_errors(central):
    with pytest.raises(InputError, match="central: expected True, False or 'auto'"):
        LinearMaster(covering().formulation, central=central)


def test_a_run_comes_out_the_same_every_time():
    class Automatic(Unguessed):
        def master(self):
            return LinearMaster(super().master(), central="auto")

    def rounds():
        found = solve(Automatic(random(4, 16, 1)), relaxation=True, start=WarmStart())
        return found.dual_bound, [(i.objective, i.dual_bound, i.new_columns) for i in found.iterations]

    first = rounds()
    assert rounds() == first
    assert first[0] == pytest.approx(solve(Unguessed(random(4, 16, 1)), relaxation=True).dual_bound)
