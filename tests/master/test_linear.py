"""The linear master: phases, growing, nodes, deletion, and its way back to Pyomo."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import optimize

from colgen import (
    Apart,
    Bound,
    Column,
    LinearMaster,
    MasterStatus,
    Row,
    Solution,
    TemplateBound,
    Together,
    compile_model,
)
from colgen.core.errors import FormulationError, UnknownRowError
from tests.master.programs import (
    col,
    covering,
    used,
)
from tests.toys import CuttingStock, cutting_column


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_phases(sense):
    master = covering(sense=sense)
    sign = master.sense.sign
    solved = master.solve()
    assert solved.status is MasterStatus.OPTIMAL
    # Phase 1: y covers the first row for nothing, the second row's two units are missing, all of a row of that size.
    assert solved.phase == 1
    assert solved.objective == pytest.approx(sign)
    assert solved.duals["demand", 1] == pytest.approx(sign / 2)
    assert master.reduced_costs([col((0, 1), sign)], solved.duals) == pytest.approx([-sign / 2])  # no cost in phase 1

    master.add([col((0, 1), sign * 1.0)])
    solved = master.solve()
    assert solved.phase == 2
    assert solved.objective == pytest.approx(sign * (3 * 5 + 2 * 1) + 1)
    assert solved.duals["demand"] == pytest.approx([5 * sign, sign])

    # A row that nothing satisfies takes it back to phase 1, a column that does out of it again.
    master.add([], [Row(("cut", 0), lower=4.0, coefficients={("x", 1): 2.0})])
    solved = master.solve()
    assert solved.phase == 1
    assert solved.objective == pytest.approx(sign)  # four of four
    master.add([Column(sign * 7.0, {}, "late", key=("x", 1))])
    solved = master.solve()
    assert solved.phase == 2
    assert solved.objective == pytest.approx(sign * (17 + 14) + 1)


def test_row_whose_sides_cross_is_refused():
    m = pyo.ConcreteModel()
    m.y = pyo.Var()
    m.row = pyo.Constraint(expr=(0, m.y, 1))
    m.cost = pyo.Objective(expr=m.y)
    formulation = compile_model(m).with_data(row_lower={"row": 2.0})
    with pytest.raises(FormulationError, match="row"):
        LinearMaster(formulation)
    with pytest.raises(FormulationError, match="expected lower"):
        covering().add([], [Row(("cut", 0), lower=2.0, upper=1.0)])


def test_numbers_that_are_not_finite_are_refused():
    for column in (col((math.nan, 1)), col((-math.inf, 1))):
        with pytest.raises(FormulationError, match="finite"):
            covering().add([column])
    for cost in (math.inf, -math.inf, math.nan):
        with pytest.raises(FormulationError, match=rf"the column of \(1, 1\) costs {cost}, expected a finite number"):
            col((1, 1), cost)


@pytest.mark.parametrize(
    "bounds", [(2.0, 1.0), (math.nan, 1.0), (0.0, math.nan), (math.inf, math.inf), (-math.inf, -math.inf)]
)
def test_a_column_whose_bounds_leave_no_value_is_refused_where_it_is_made(bounds):
    with pytest.raises(FormulationError, match=r"the column of 'odd' has the bounds .* expected lower ≤ upper"):
        Column(1.0, {}, "odd", lower=bounds[0], upper=bounds[1])


def test_unknown_row_is_named_and_guessed():
    with pytest.raises(UnknownRowError, match=r"demnad.* did you mean 'demand'"):
        covering().add([Column(1.0, {("demnad", 0): 1.0})])
    for key in ("limit", ("limit", 0)):
        m = pyo.ConcreteModel()
        m.x = pyo.Var(bounds=(0, 1))
        m.limit = pyo.Constraint(expr=m.x <= 1)
        m.cost = pyo.Objective(expr=m.x)
        with pytest.raises(UnknownRowError, match=r"a scalar constraint: its key is \('limit', None\)"):
            LinearMaster(compile_model(m)).add([Column(1.0, {key: 1.0})])


def test_columns_are_added_in_batches_and_once():
    master = covering()
    before = master.num_columns
    assert master.add([col((1, 0)), col((0, 1)), col((1, 0))]) == 2
    assert master.add([col((1, 0)), col((1, 1))]) == 1
    assert master.num_columns == before + 3
    assert [c.structure for c in master.columns] == [(1, 0), (0, 1), (1, 1)]
    assert master.holds(col((1, 1)))
    assert not master.holds(col((1, 1), cost=2.0))  # another cost: another column
    assert master.solve().objective == pytest.approx(3 + 1)


def test_rows_reach_columns_before_and_after():
    """By key and by function; present, future, and deleted in between."""
    rows = [
        Row(("by key", 0), upper=1.0, coefficients={("x", 0): 1.0, ("x", 1): 2.0, ("y", None): 1.0}),
        Row(("by function", 0), upper=5.0, coefficient=lambda c: 3.0 * c.structure[0]),
        # By key for one column, by function for the others.
        Row(("both", 0), upper=9.0, coefficients={("x", 0): 7.0}, coefficient=lambda c: 1.0),
    ]
    first, second = col((1, 0), key=("x", 0)), col((2, 1), key=("x", 1))
    own = Column(1.0, {("demand", 0): 1.0, ("by function", 0): 8.0}, (4, 0))

    def coefficients(master, column):
        positions, values = master.entries(column)
        found = {master.names.keys[r]: v for r, v in zip(positions, values, strict=True)}
        columns, where, entries = master.table.entry_lists()
        position = master.table.where(column.identity)
        in_lp = {master.names.keys[r]: v for c, r, v in zip(columns, where, entries, strict=True) if c == position}
        assert found == in_lp  # what is said of a column is what the linear program has
        return found

    for order in ("rows first", "columns first"):
        master = covering()
        if order == "rows first":
            master.add_rows(rows)
        master.add([first, second])
        master.add_rows(rows)
        master.add([own])
        expected = {("demand", 0): 1.0, ("by key", 0): 1.0, ("by function", 0): 3.0, ("both", 0): 7.0}
        assert coefficients(master, first) == expected
        expected = {
            ("demand", 0): 2.0,
            ("demand", 1): 1.0,
            ("by key", 0): 2.0,
            ("by function", 0): 6.0,
            ("both", 0): 1.0,
        }
        assert coefficients(master, second) == expected
        # A column's own word on a row comes first.
        assert coefficients(master, own) == {("demand", 0): 1.0, ("by function", 0): 8.0, ("both", 0): 1.0}


def test_an_idle_column_gets_its_coefficients_back():
    master = covering(demands=(3.0, 0.0))
    poor, good = col((1, 0), cost=9.0, key=("x", 0)), col((1, 0), cost=1.0, key=("x", 1))
    master.add([poor, good])
    # Poor is there when a row speaks of it.
    master.add_rows([Row(("cut", 0), upper=100.0, coefficients={("x", 0): 4.0})])
    for _ in range(3):
        master.solve()
    assert master.remove_stale(2) > 0
    assert master.holds(poor)
    assert master.table.num_idle == 1
    assert master.violation(Solution(28.0 + 1 - 1, ((poor, 3.0), (good, 1.0)))) is not None
    assert master.add([poor]) == 0
    assert master.table.num_idle == 0
    rows, values = master.entries(poor)
    assert {master.names.keys[r]: v for r, v in zip(rows, values, strict=True)}["cut", 0] == 4.0
    fault = master.violation(Solution(30 * 9.0 + 1, ((poor, 30.0),)))
    assert fault is not None
    assert "cut" in fault


def test_columns_that_bring_rows():
    master = covering(demands=(3.0, 0.0))
    link = Row(("link", 7), upper=0.0, coefficients={("y", None): -1.0})
    column = Column(0.5, {("demand", 0): 1.0, ("link", 7): 1.0}, "linked", rows=(link,))
    master.add([col((1, 0), cost=100.0)])
    solved = master.solve()
    # A row that is not there yet has no dual value.
    assert master.reduced_costs([column], solved.duals) == pytest.approx([0.5 - solved.duals["demand", 0]])
    before = master.num_rows
    assert master.add([column]) == 1
    assert master.num_rows == before + 1
    # x ≤ y costs 5.5 a unit instead of 5 for y alone, which covers a unit as well: y = 1.5 with x = 1.5.
    assert master.solve().objective == pytest.approx(1 + 1.5 * 5.5)
    other = Column(0.25, {("demand", 0): 1.0, ("link", 7): 1.0}, "other", rows=(link,))
    master.add([other])
    assert master.num_rows == before + 1  # the row is there already
    assert master.solve().objective == pytest.approx(1 + 1.5 * 5.25)


def test_a_column_keeps_the_rows_that_it_brought():
    """A solution's columns can be checked against, and taken into, a master that has never seen their rows."""
    master = covering(demands=(3.0, 0.0))
    link = Row(("link", 7), upper=0.0, coefficients={("y", None): -1.0})
    column = Column(0.5, {("demand", 0): 1.0, ("link", 7): 1.0}, "linked", key=("x", 7), integer=False, rows=(link,))
    assert master.add([column, col((1, 0), cost=100.0)]) == 2
    solution = master.solution(master.solve())
    assert [used for used, _ in solution.columns] == [column]
    whole = Solution(1 + 2 * 5.0 + 2 * 0.5, ((solution.columns[0][0], 2.0),), {("y", None): 2.0})
    assert covering(demands=(3.0, 0.0)).violation(whole) is None
    other = covering(demands=(3.0, 0.0))
    assert other.add([used for used, _ in solution.columns]) == 1
    assert ("link", 7) in other.names.position


def test_an_idle_column_that_brought_rows_comes_back():
    master = covering(demands=(3.0, 0.0))
    link = Row(("link", 7), upper=0.0, coefficients={("y", None): -1.0})
    linked = Column(90.0, {("demand", 0): 1.0, ("link", 7): 1.0}, "linked", key=("x", 7), rows=(link,))
    master.add([linked, col((1, 0), cost=1.0)])
    for _ in range(3):
        master.solve()
    assert master.remove_stale(2) > 0
    assert master.table.num_idle == 1
    assert master.add([linked]) == 0
    assert master.table.num_idle == 0


def random_master(rng):
    """A master that has grown in many steps, and the arrays that it should hold."""
    master = covering(tuple(float(d) for d in rng.integers(1, 6, size=3)))
    master.add([col(row, float(c)) for row, c in zip(np.eye(3), rng.integers(1, 9, 3), strict=True)])
    for step in range(4):
        master.add([col(rng.integers(0, 4, 3), float(rng.integers(1, 9))) for _ in range(3)], origin=0)
        weights = rng.integers(0, 3, 3)
        master.add_rows([Row(("extra", step), upper=60.0, coefficient=lambda c, w=weights: float(w @ c.structure))])
        master.solve()
    return master


def as_linprog(master):
    """The master's linear program in phase 2, solved by scipy."""
    table = master.table
    columns, rows, values = table.entry_lists()
    matrix = np.zeros((master.num_rows, len(table)))
    np.add.at(matrix, (rows, columns), values)
    sign = master.sense.sign
    answer = optimize.milp(
        sign * table.costs,
        constraints=optimize.LinearConstraint(matrix, master.row_lower, master.row_upper),
        bounds=optimize.Bounds(table.lower_now, table.upper_now),
    )
    return sign * answer.fun + master.formulation.offset


@pytest.mark.parametrize("seed", range(5))
def test_grown_master_against_scipy(seed):
    master = random_master(np.random.default_rng(seed))
    solved = master.solve()
    assert solved.phase == 2
    assert solved.objective == pytest.approx(as_linprog(master))
    fault = master.violation(master.solution(solved))
    assert fault is None or "whole" in fault  # rows, bounds and objective hold
    # Basic columns price out at zero, and weak duality is tight.
    for column, value in master.solution(solved).columns:
        if value < column.upper:
            assert master.reduced_costs([column], solved.duals) == pytest.approx([0.0], abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_remove_stale_keeps_the_basis(seed):
    master = random_master(np.random.default_rng(seed))
    for _ in range(3):
        solved = master.solve()
    kept = used(master, solved)
    assert master.remove_stale(2) > 0
    again = master.solve()
    assert master.lp.simplex_iterations == 0
    assert again.objective == pytest.approx(solved.objective)
    assert used(master, again) == kept
    assert again.objective == pytest.approx(as_linprog(master))
    # Everything that follows finds the right columns.
    assert master.lp.num_columns == len(master.table) - master.table.num_idle
    for column in master.columns:
        assert master.table.column(master.table.where(column.identity)) == column
    column = col((3, 3, 3), 0.5)
    assert master.add([column]) == 1
    master.fix({column.identity: 1.0})
    fixed = master.solve()
    assert dict(used(master, fixed))[3, 3, 3] >= 1
    assert fixed.objective == pytest.approx(as_linprog(master))


def test_stale_columns_stay_while_fixed_or_young():
    master = covering(demands=(3.0, 0.0))
    poor, good = col((1, 0), cost=9.0), col((1, 0), cost=1.0)
    master.add([poor, good])
    master.fix({poor.identity: 1.0})
    for _ in range(4):
        master.solve()
    assert master.remove_stale(2) == 0
    master.fix({})
    master.solve()
    assert master.remove_stale(2) == 1
    assert list(master.columns) == [poor, good]  # one of them is idle
    assert (
        master.table.place[master.table.where(poor.identity)]
        < 0
        <= master.table.place[master.table.where(good.identity)]
    )


def test_decisions_are_applied_and_taken_back():
    master = covering(demands=(3.0, 2.0))
    both, first, second = col((1, 1)), col((1, 0)), col((0, 1))
    master.add([both, first, second])
    free = master.solve().objective
    assert free == pytest.approx(1 + 3)

    rows = ("demand", 0), ("demand", 1)
    master.apply([Apart(*rows)])
    assert master.solve().objective == pytest.approx(1 + 5)
    assert not master.is_open(both)
    master.apply([Together(*rows)])
    assert set(used(master, master.solve())) == {(1, 1)}

    master.apply([TemplateBound(("y", None), 2.0, math.inf)])
    assert master.solve().objective == pytest.approx(1 + 2 * 5 + 2)

    few = Bound(("branch", "pairs"), -math.inf, 1.0, lambda c: float(sum(c.structure) == 2))
    many = Bound(("branch", "pairs"), 4.0, math.inf, lambda c: float(sum(c.structure) == 2))
    master.apply([few])
    assert master.solve().objective == pytest.approx(1 + 1 + 2 + 1)
    master.apply([many])
    assert master.solve().objective == pytest.approx(1 + 4)
    master.apply([few, Bound(few.key, -math.inf, 0.0, few.value)])  # the tighter of two counts
    assert master.solve().objective == pytest.approx(1 + 5)

    # Columns that come at a node obey it, and are free at another.
    master.apply([Apart(*rows)])
    cheap = col((2, 2), cost=0.5)
    master.add([cheap])
    assert master.solve().objective == pytest.approx(1 + 5)
    master.apply([])
    assert master.solve().objective == pytest.approx(1 + 0.75)
    assert master.is_open(cheap)


def test_rows_of_decisions_can_be_missed_in_phase_1():
    master = covering(demands=(1.0, 0.0))
    master.add([col((1, 0))])
    assert master.solve().phase == 2
    # No column is counted by this row yet: pricing has to find one.
    master.apply([Bound(("branch", 0), 2.0, math.inf, lambda c: float(c.structure == (1, 1)))])
    solved = master.solve()
    assert solved.phase == 1
    assert solved.objective == pytest.approx(1.0)  # two of two
    master.add([col((1, 1))])
    assert master.solve().objective == pytest.approx(1 + 2)


def test_fixing():
    master = covering(demands=(3.0, 0.0))
    poor, good = col((1, 0), cost=9.0), col((1, 0), cost=1.0)
    master.add([poor, good])
    assert master.solve().objective == pytest.approx(4)
    master.fix({poor.identity: 2.0})
    assert master.solve().objective == pytest.approx(1 + 18 + 1)
    master.fix({})
    assert master.solve().objective == pytest.approx(4)


def test_basis_is_restored():
    master = random_master(np.random.default_rng(1))
    solved = master.solve()
    saved = master.basis()
    master.apply([TemplateBound(("y", None), 3.0, math.inf)])
    assert master.solve().objective != pytest.approx(solved.objective)
    master.add([col((4, 4, 4), 50.0)])  # too dear to enter: the saved basis stays optimal with it
    master.add_rows([Row(("slack", 0), upper=1e4, coefficient=lambda c: 1.0)])
    master.apply([])
    master.restore(saved)
    again = master.solve()
    assert again.objective == pytest.approx(solved.objective)
    assert master.lp.simplex_iterations == 0


def test_basis_from_before_a_deletion_is_not_restored():
    master = random_master(np.random.default_rng(2))
    for _ in range(3):
        solved = master.solve()
    saved = master.basis()
    assert master.remove_stale(2) > 0
    master.restore(saved)  # positions have moved: it must not be used
    assert master.solve().objective == pytest.approx(solved.objective)


def test_column_of_the_textbook():
    assert cutting_column((2, 0, 0, 0)).identity == cutting_column((2, 0, 0, 0)).identity
    assert cutting_column((2, 0, 0, 0)).identity != cutting_column((1, 0, 0, 0)).identity


def test_the_first_column_may_carry_a_key():
    """There is no column at all that its key could be looked up among."""
    m = pyo.ConcreteModel()
    m.total = pyo.Objective(expr=0, sense=pyo.maximize)
    master = LinearMaster(compile_model(m))
    named = Column(-2.0, {}, structure=0, key=("column", 0), upper=1.0)
    assert master.add([named]) == 1
    assert master.add([named]) == 0
    assert master.solve().objective == 0.0


def test_what_all_oracles_have_found_joins_at_once():
    def columns():
        return [[cutting_column((2, 0, 0))], [], [cutting_column((0, 2, 0)), cutting_column((1, 1, 0))]]

    together, one_by_one = LinearMaster(CuttingStock().formulation()), LinearMaster(CuttingStock().formulation())
    found = columns()
    assert together.add_found(found) == 3
    assert together.add_found(found) == 0
    assert (
        together.add_found([[cutting_column((2, 0, 0))], [cutting_column((0, 0, 1)), cutting_column((0, 0, 1))]]) == 1
    )
    for origin, batch in [*enumerate(columns()), (1, [cutting_column((0, 0, 1))])]:
        one_by_one.add(batch, (), origin)
    for name in ("origins", "costs", "starts", "rows", "values", "upper_now"):
        assert getattr(together.table, name).tolist() == getattr(one_by_one.table, name).tolist()
    assert together.solve().objective == one_by_one.solve().objective
