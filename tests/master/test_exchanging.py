"""Local search over a master's columns: what it returns are answers of the master, no worse than asked for."""

import math

import pyomo.environ as pyo
import pytest

from colgen import Column, Sense, Solution, artificial
from colgen.core.budget import Budget
from colgen.master.linear import LinearMaster
from colgen.model.formulation import compile_model
from solvers.stopping import never


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
    return made.exchanged(
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
    assert made.violation(found) is None


def test_slack_of_one_row_makes_room():
    made = master(slack=2.0)
    found = search(made)
    assert found.objective == 10.0
    assert made.violation(found) is None


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


def test_a_target_that_nothing_meets_ends_without_an_answer():
    assert search(master(), target=9.0) is None
    assert search(master(), target=10.0).objective == 10.0


def test_a_start_of_other_columns_is_no_start():
    made = master()
    made.solve(Budget())
    other = Solution(0.0, ((Column(9.0, {("row", 0): 7.0}, "other"), 1.0),))
    assert made.exchanged(other, math.inf, -math.inf, 1.0, 100, 0, never) is None


@pytest.mark.parametrize("step", [None, 1.0])
def test_without_a_step_each_answer_is_better_than_the_one_before(step):
    assert search(master(), step=step).objective == 10.0
