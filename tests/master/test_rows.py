"""Rows that have been slack for long leave the linear program, and nothing but its size changes."""

from __future__ import annotations

import math

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import Column, Duals, LinearMaster, Method, Row, Sense, artificial, solve
from colgen.core.columns import RowFamily
from colgen.core.errors import FormulationError
from colgen.master.protocol import MasterStatus
from colgen.master.rows import IdleRows, MasterRows
from colgen.model.rows import compile_model
from tests.master.programs import covering
from tests.zoo import TRIPLE, Partitioning, Triples


class Weighted(RowFamily):
    """Coefficients by a table of the column's number and the row's."""

    def __init__(self, table, idle_after):
        super().__init__("weight", idle_after=idle_after)
        self.table = table

    def coefficients(self, columns, indices):
        return self.table[np.ix_([column.structure for column in columns], list(indices))]


def master(maximize=False):
    m = pyo.ConcreteModel()
    m.missing = artificial(range(4))
    m.cover = pyo.Constraint(range(4), rule=lambda m, i: m.missing[i] >= 1)
    m.cost = pyo.Objective(expr=0)
    return LinearMaster(compile_model(m))


@pytest.mark.parametrize("seed", range(12))
def test_every_optimum_is_that_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    count, width = 30, 8
    table = rng.integers(0, 4, (count, width)).astype(float)
    costs, cover = rng.integers(1, 20, count), rng.random((count, 4)) < 0.5
    upper = rng.integers(2, 9, width).astype(float)
    columns = [
        Column(float(costs[j]), {("cover", i): 1.0 for i in np.flatnonzero(cover[j]).tolist()}, j, ("x", j))
        for j in range(count)
    ]
    lazy, plain = master(), master()
    families = Weighted(table, 1), Weighted(table, None)
    left = 0
    for step in range(10):
        for linear, family in zip((lazy, plain), families, strict=True):
            rows = [family.row(step, upper=float(upper[step]))] if step < width else []
            linear.add(columns[3 * step : 3 * step + 3], rows)
        one, other = lazy.solve(), plain.solve()
        assert one.status is other.status
        assert one.phase == other.phase
        if one.phase == 1:
            continue
        assert one.objective == pytest.approx(other.objective)
        assert lazy.rows.violation(lazy.solution(one)) is None or "fraction" in lazy.rows.violation(lazy.solution(one))
        at = [lazy.rows.names.position[key] for key in lazy.rows.idle]
        assert (one.duals.values[at] == 0.0).all()
        assert lazy.bound(one.duals, (), ()) == pytest.approx(one.objective)
        left += len(at)
    assert not plain.rows.idle
    assert left


def test_a_row_comes_back_as_soon_as_it_is_violated():
    table = np.array([[1.0], [3.0]])
    family = Weighted(table, 2)
    linear = master()
    linear.add([Column(9.0, {("cover", i): 1.0 for i in range(4)}, 0)], [family.row(0, upper=2.0)])
    for out in ((), (("weight", 0),), (("weight", 0),)):
        assert linear.solve().objective == pytest.approx(9.0)
        assert linear.rows.idle == out
    linear.add([Column(1.0, {("cover", i): 1.0 for i in range(4)}, 1)])
    # The second column alone weighs 3: half of either column is what the row allows.
    assert linear.solve().objective == pytest.approx(5.0)
    assert linear.rows.idle == ()


def test_integer_programs_have_all_rows():
    family = Weighted(np.array([[1.0], [3.0]]), 1)
    linear = master()
    linear.add([Column(9.0, {("cover", i): 1.0 for i in range(4)}, 0)], [family.row(0, upper=2.0)])
    linear.solve()
    assert linear.rows.idle
    linear.add([Column(1.0, {("cover", i): 1.0 for i in range(4)}, 1)])
    answer, _ = linear.integer.solve()
    assert answer.objective == pytest.approx(9.0)
    columns = [Column(cost, {("cover", i): 1.0 for i in range(4)}, k) for k, cost in enumerate((9.0, 1.0))]
    for any_will_do in (False, True):
        status, answer = linear.integer.solve_over(columns, {}, 20.0, 60.0, any_will_do=any_will_do)
        assert (status, answer.objective) == (MasterStatus.OPTIMAL, pytest.approx(9.0))
        assert linear.integer.solve_over(columns, {}, 8.0, 60.0, any_will_do=any_will_do)[0] is MasterStatus.INFEASIBLE


def test_integer_programs_without_cuts_end_at_the_target():
    linear = master()
    columns = [Column(float(cost), {("cover", i): 1.0 for i in range(4)}, cost) for cost in (3, 5)]
    for target, expected in ((4.0, MasterStatus.OPTIMAL), (3.0, MasterStatus.OPTIMAL), (2.9, MasterStatus.INFEASIBLE)):
        status, answer = linear.integer.solve_over(columns, {}, target, 60.0)
        assert status is expected
        assert answer is None or answer.objective == pytest.approx(3.0)


def test_rows_are_counted_by_solves_in_a_row():
    idle = IdleRows()
    idle.append(1, 2)
    idle.append(2, 3)
    low, high, ones = np.full(3, -math.inf), np.full(3, 5.0), np.ones(3)
    slack, tight = np.array([9.0, 1.0, 1.0]), np.array([9.0, 5.0, 1.0])
    assert idle.take_out(slack, low, high, ones).tolist() == []
    assert idle.take_out(tight, low, high, ones).tolist() == []
    assert idle.take_out(slack, low, high, ones).tolist() == [2]
    assert idle.take_out(slack, low, high, ones).tolist() == [1]
    assert idle.out.tolist() == [1, 2]
    assert idle.put_back(np.array([0.0, 5.5, 5.0]), low, high, ones).tolist() == [1]
    assert idle.put_back(None, low, high, ones).tolist() == [2]
    assert idle.out.tolist() == []


class TripleRows(RowFamily):
    def coefficients(self, columns, indices):
        return [[len(index.intersection(column.structure)) // 2 for index in indices] for column in columns]


class AsFamily(Triples):
    idle_after = None

    def __init__(self, problem):
        super().__init__(problem)
        family = TripleRows(TRIPLE, idle_after=self.idle_after)
        self.family = [family.row(row.key[1], upper=1.0) for row in self.rows]

    def separate(self, solution):
        found = {row.key for row in super().separate(solution)}
        return [row for row in self.family if row.key in found]


class LeavesAtOnce(AsFamily):
    idle_after = 1


@pytest.mark.parametrize("separation", [AsFamily, LeavesAtOnce])
@pytest.mark.parametrize("seed", range(3))
def test_complete_runs_prove_the_same(separation, seed):
    class Cut(Partitioning):
        def separation(self):
            return [separation(self)]

    result = solve(Cut(size=7, seed=seed), method=Method(heuristics=()))
    expected = solve(Partitioning(size=7, seed=seed), method=Method(heuristics=()))
    assert result.is_optimal
    assert result.rows_generated
    assert result.objective == pytest.approx(expected.objective)
    assert result.root_bound == pytest.approx(expected.root_bound)


def test_crossing_sides_raise_an_error():
    m = pyo.ConcreteModel()
    m.y = pyo.Var()
    m.row = pyo.Constraint(expr=(0, m.y, 1))
    m.cost = pyo.Objective(expr=m.y)
    formulation = compile_model(m)
    formulation.change_rows("row", lower=2.0)
    with pytest.raises(FormulationError, match="row"):
        LinearMaster(formulation)
    with pytest.raises(FormulationError, match="expected lower"):
        covering().add([], [Row(("cut", 0), lower=2.0, upper=1.0)])


def rows():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, None))
    m.least = pyo.Constraint(range(2), rule=lambda m, i: 4.0 * m.x[i] >= i)
    m.most = pyo.Constraint(expr=m.x[0] + m.x[1] <= 3)
    m.cost = pyo.Objective(expr=m.x[0])
    return MasterRows(compile_model(m))


@pytest.mark.parametrize("sense", Sense)
def test_dual_values_have_the_signs_of_their_sides(sense):
    s = sense.sign
    values = np.array([-1.0, 2.0, 3.0])
    assert (s * rows().signed(s * values, sense)).tolist() == [0.0, 2.0, 0.0]


def test_guesses_are_read_by_blocks_and_by_rows():
    here = rows()
    found = here.guess({"least": [1.0, 2.0], ("most", None): -3.0, ("unknown", 7): 5.0}, Sense.MINIMIZE)
    assert {key: found[k] for key, k in here.names.position.items()} == {
        ("least", 0): 1.0,
        ("least", 1): 2.0,
        ("most", None): -3.0,
    }
    here.names.append(("young", None))
    here.extend(np.array([0.0]), np.array([9.0]), np.array([0.0]))
    assert here.guess(Duals(found, here.names), Sense.MINIMIZE).tolist() == [1.0, 2.0, -3.0, 0.0]
    assert (here.sizes[-1], here.unsized.tolist()) == (1.0, [False, False, False, True])
