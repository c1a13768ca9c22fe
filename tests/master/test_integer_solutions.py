"""Columns of a program over a master's rows: computed in batches."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Column, Columns, Sense, Solution, artificial
from colgen.core.budget import Budget
from colgen.core.columns import RowFamily
from colgen.core.errors import FormulationError
from colgen.master import integer_solutions
from colgen.master.linear_master import LinearMaster
from colgen.master.protocol import MasterStatus
from colgen.model.rows import compile_model
from colgen.solvers.stopping import never
from tests.master.programs import col, covering


class Lengths(RowFamily):
    """Each column's first amount; it records how many columns it computes at a time."""

    def __init__(self):
        super().__init__("length")
        self.asked = []

    def coefficients(self, columns, indices):
        self.asked.append(len(columns))
        return np.array([[float(column.structure[0]) for _ in indices] for column in columns])


def master_and_family():
    master, family = covering(), Lengths()
    master.add((), [family.row(0, upper=50.0)])
    return master, family


def test_rows_compute_columns_in_batches(monkeypatch):
    monkeypatch.setattr(integer_solutions, "_BATCH", 4)
    master, family = master_and_family()
    columns = [col((k + 1, 2), cost=float(k)) for k in range(10)]
    found = master.integer.list_columns(columns, lambda: False)
    assert family.asked[-3:] == [4, 4, 2]
    for k, column in enumerate(columns):
        rows, values = master.rows.entries(column)
        dense = np.zeros(master.num_rows)
        dense[rows] = values
        assert found.matrix[:, [k]].toarray()[:, 0].tolist() == dense.tolist()
    assert found.costs.tolist() == [column.cost for column in columns]


def test_a_batch_is_worth_its_columns(monkeypatch):
    monkeypatch.setattr(integer_solutions, "_BATCH", 3)
    master, _ = master_and_family()
    columns = [col((k + 1, 2), cost=float(k + 1)) for k in range(5)]
    entries = [master.rows.entries(column) for column in columns]
    named = [[(row, value) for row, value in zip(*each, strict=True) if row < 2] for each in entries]
    rows, values = zip(*(pair for each in named for pair in each), strict=True)
    starts = np.cumsum([0, *map(len, named)])
    batch = Columns([column.cost for column in columns], starts, rows, values, [c.structure for c in columns])
    one, other = (master.integer.solve_over(given, {}, 100.0, 60.0) for given in (columns, batch))
    assert one[0] is other[0] is MasterStatus.OPTIMAL
    assert one[1].objective == other[1].objective
    (mine, _), (theirs, _) = (found.columns[0] for _, found in (one, other))
    assert (mine.structure, mine.coefficients) == (theirs.structure, theirs.coefficients)


def test_it_ends_with_the_time(monkeypatch):
    monkeypatch.setattr(integer_solutions, "_BATCH", 2)
    master, _ = master_and_family()
    columns, looks = [col((k + 1, 2)) for k in range(10)], []

    def stopped():
        looks.append(True)
        return len(looks) > 2

    assert master.integer.solve_over(columns, {}, 100.0, 60.0, stopped=stopped) == (MasterStatus.LIMIT, None)
    assert len(looks) == 3
    assert master.integer.solve_over(columns, {}, 100.0, 0.0) == (MasterStatus.LIMIT, None)


def test_no_columns_are_a_program_too():
    master, _ = master_and_family()
    assert master.integer.list_columns([], lambda: False).matrix.shape == (master.num_rows, 0)


def test_solve_integer():
    master = covering(demands=(3.0, 0.0))
    master.add([col((2, 0)), col((1, 0), cost=0.8)])
    assert master.solve().objective == pytest.approx(1 + 1.5)
    found, bound = master.integer.solve()
    assert found.objective == pytest.approx(1 + 1.8)
    assert bound == pytest.approx(1 + 1.8)
    assert master.rows.violation(found) is None
    # The linear program is unchanged.
    assert master.solve().objective == pytest.approx(1 + 1.5)
    assert master.lp.simplex_iterations == 0


def test_solve_integer_without_answer():
    master = covering(demands=(30.0, 0.0))
    master.solve()
    assert master.integer.solve()[0] is None  # still in phase 1


def test_rounding_errors_of_zero_are_removed(monkeypatch):
    """Row 1 would have that as its only term, and miss its side by all of it."""
    master = covering(demands=(3.0, 0.0))
    master.add([col((2, 0)), Column(1.0, {("demand", 1): 1e7}, "part", integer=False, lower=-1.0)])
    master.solve()
    original = master.lp.solve_mip

    def inexact(*arguments):
        found = original(*arguments)
        return dataclasses.replace(found, values=np.where(found.values == 0.0, -5e-16, found.values))

    monkeypatch.setattr(type(master.lp), "solve_mip", lambda self, *arguments: inexact(*arguments))
    found, _ = master.integer.solve()
    assert all(abs(value) > 1e-9 for _, value in found.columns)
    assert master.rows.violation(found) is None


def rows(n, lower=1):
    m = pyo.ConcreteModel()
    m.i = pyo.RangeSet(0, n - 1)
    m.missing = artificial(m.i)
    m.cover = pyo.Constraint(m.i, rule=lambda m, i: m.missing[i] >= lower)
    m.cost = pyo.Objective(expr=0, sense=pyo.minimize)
    return m


def column(items, cost=1.0, entry=1.0):
    return Column(cost, {("cover", i): entry for i in items}, tuple(items))


def searched(columns, values, target, **how):
    master = LinearMaster(compile_model(rows(4)))
    prices = {("cover", i): value for i, value in enumerate(values)}
    return master.integer.solve_over(columns, {}, target, 60.0, values=prices, **how)


def test_covers_match_the_mixed_integer_program():
    rng = np.random.default_rng(0)
    master = LinearMaster(compile_model(rows(5)))
    seen = set()
    for _ in range(30):
        columns = [column(np.flatnonzero(rng.random(5) < 0.5).tolist(), float(rng.integers(1, 9))) for _ in range(7)]
        prices = {("cover", i): float(rng.random()) for i in range(5)}
        for target in (4.0, 9.0, 14.0):
            program, _ = master.integer.solve_over(columns, {}, target, 60.0, any_will_do=True)
            status, solution = master.integer.solve_over(columns, {}, target, 60.0, any_will_do=True, values=prices)
            seen.add(status)
            if status is not MasterStatus.LIMIT:
                assert status is program
            if solution is not None:
                assert solution.objective <= target
                assert master.rows.violation(solution) is None
    assert {MasterStatus.OPTIMAL, MasterStatus.INFEASIBLE} <= seen


def test_a_cover_is_optimal_only_if_any_will_do():
    columns = [column([0, 1]), column([2, 3]), column([0, 1, 2, 3])]
    values = [0.5] * 4
    status, solution = searched(columns, [0.25] * 4, 2.0)
    assert status is MasterStatus.LIMIT
    assert solution is not None
    assert searched(columns[:2], values, 2.0, any_will_do=True)[0] is MasterStatus.OPTIMAL
    assert searched(columns[:2], values, 1.0, any_will_do=True) == (MasterStatus.INFEASIBLE, None)


def test_fractions_and_odd_scales_prove_nothing_wrong():
    for scale in (1e-8, 1.0, 1e8):
        columns = [column([0, 1], 0.1 * scale), column([2, 3], 0.2 * scale)]
        values = [0.05 * scale, 0.05 * scale, 0.1 * scale, 0.1 * scale]
        assert searched(columns, values, 0.3 * scale, any_will_do=True)[0] is MasterStatus.OPTIMAL
        assert searched(columns, values, 0.2999 * scale, any_will_do=True)[0] is MasterStatus.INFEASIBLE


@pytest.mark.parametrize(
    ("lower", "columns", "message"),
    [(2, [column([0])], "values: .*covering rows"), (1, [column([0], entry=2.0)], "values: expected integer columns")],
)
def test_other_programs_raise_errors(lower, columns, message):
    master = LinearMaster(compile_model(rows(2, lower)))
    with pytest.raises(FormulationError, match=message):
        master.integer.solve_over(columns, {}, 3.0, 1.0, values={})


def master(side=3, *, slack=None, maximize=False, domain=pyo.NonNegativeReals):
    m = pyo.ConcreteModel()
    m.row_set = pyo.RangeSet(0, 1)
    m.missing = artificial(m.row_set)
    m.over = pyo.Var(m.row_set, domain=domain, bounds=(0, slack))

    def rule(m, i):
        if maximize:
            return m.missing[i] <= side
        return m.missing[i] >= side if slack is None else m.missing[i] - m.over[i] == side

    m.row = pyo.Constraint(m.row_set, rule=rule)
    m.total = pyo.Objective(expr=5.0, sense=pyo.maximize if maximize else pyo.minimize)
    made = LinearMaster(compile_model(m))
    both = Column(3.0, {("row", 0): 2.0, ("row", 1): 2.0}, "both")
    made.add([Column(1.0, {("row", 0): 1.0}, "first"), Column(1.0, {("row", 1): 1.0}, "second"), both])
    return made


def search(made, target=None, bound=None, step=1.0):
    solved = made.solve(Budget())
    sense = made.sense
    start = made.solution(solved)
    return made.integer.exchange(
        start,
        sense.hopeless if target is None else target,
        sense.ideal if bound is None else bound,
        step,
        5_000,
        0,
        never,
    )


def test_an_answer_is_as_good_as_the_best_one():
    made = master()
    found = search(made)
    assert found.objective == 5.0 + 5.0
    assert made.rows.violation(found) is None


def test_slack_of_one_row_makes_room():
    made = master(slack=2.0)
    found = search(made)
    assert found.objective == 10.0
    assert made.rows.violation(found) is None


def test_variables_in_no_other_row_than_their_own_are_slack_and_others_are_not():
    made = master(slack=1.0, domain=pyo.NonNegativeIntegers)
    assert search(made).objective == 10.0

    m = pyo.ConcreteModel()
    m.y = pyo.Var(bounds=(0, 1))
    m.missing = artificial([0, 1])
    m.row = pyo.Constraint([0, 1], rule=lambda m, i: m.missing[i] + m.y >= 2)
    m.total = pyo.Objective(expr=m.y)
    made = LinearMaster(compile_model(m))
    made.add([Column(1.0, {("row", 0): 1.0, ("row", 1): 1.0}, "both")])
    assert search(made) is None


def test_when_maximising_columns_enter_as_long_as_they_fit():
    made = master(side=5, maximize=True)
    assert made.sense is Sense.MAXIMIZE
    found = search(made)
    assert found.objective == 5.0 + 10.0
    assert search(made, target=16.0) is None


def test_an_unreachable_target_ends_without_a_solution():
    assert search(master(), target=9.0) is None
    assert search(master(), target=10.0).objective == 10.0


def test_a_start_with_unknown_columns_is_ignored():
    made = master()
    made.solve(Budget())
    other = Solution(0.0, ((Column(9.0, {("row", 0): 7.0}, "other"), 1.0),))
    assert made.integer.exchange(other, math.inf, -math.inf, 1.0, 100, 0, never) is None


@pytest.mark.parametrize("step", [None, 1.0])
def test_without_a_step_each_answer_is_better_than_the_one_before(step):
    assert search(master(), step=step).objective == 10.0
