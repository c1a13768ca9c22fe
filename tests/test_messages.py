"""Messages of a run: reasons of terminations, and causes of errors with places and numbers."""

import dataclasses
import math
import time

import pytest

from colgen import (
    Column,
    Method,
    NoStabilization,
    PricingResult,
    Row,
    Separation,
    Termination,
    TimeLimit,
    solve,
)
from colgen.core.errors import FormulationError, ReducedCostError, SeparationError
from colgen.master.statement import restricted_master
from tests import zoo
from tests.zoo import Facilities, Listed, Partitioning, Relaxing, Serving


class Patient(Listed):
    """Exact but slow; returns nothing at the deadline."""

    seconds = 0.01
    says_so = False

    def price(self, duals, context):
        started = time.monotonic()
        while time.monotonic() < started + self.seconds:
            if context.seconds_left() == 0.0:
                return PricingResult(cut_off=self.says_so)
            time.sleep(0.001)
        return super().price(duals, context)


class Early(Patient):
    """Stops before the deadline, when too little time is left, and reports that it was cut off."""

    says_so = True

    def price(self, duals, context):
        if context.seconds_left() < 0.008:
            return PricingResult(cut_off=True)
        return super().price(duals, context)


class NoBranching(Partitioning):
    """Its relaxation is fractional, and it has no branching rule."""

    def branching(self):
        return []


# --- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", [Patient, Early])
@pytest.mark.parametrize("kind", [Partitioning, NoBranching])
@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05, 0.1])
def test_an_exact_oracle_cut_off_by_a_limit_is_a_time_limit(kind, oracle, seconds):
    result = solve(kind(size=7, oracle=oracle), stop=TimeLimit(seconds))
    assert result.termination is Termination.TIME_LIMIT, str(result)
    assert result.sense.is_better(result.dual_bound, result.objective) or math.isinf(result.objective)


@pytest.mark.parametrize("seconds", [0.02, 0.1])
def test_a_relaxation_at_its_limit_is_a_time_limit(seconds):
    result = solve(Partitioning(size=7, oracle=Patient), stop=TimeLimit(seconds), relaxation=True)
    assert result.termination is Termination.TIME_LIMIT, str(result)


def test_without_a_limit_the_missing_rule_is_reported():
    result = solve(NoBranching(cuts=False), method=Method(heuristics=()))
    assert result.termination is Termination.NO_BRANCHING


def test_a_limit_that_is_not_reached_changes_no_message():
    result = solve(NoBranching(cuts=False), method=Method(heuristics=()), stop=TimeLimit(60.0))
    assert result.termination is Termination.NO_BRANCHING
    assert solve(Partitioning(), stop=TimeLimit(60.0)).termination is Termination.OPTIMAL


# --- oracles that prove nothing --------------------------------------------------------------------------------------


class Half(zoo.Guess):
    """States no bound, and finds an answer."""


def test_an_oracle_without_a_bound_is_named_with_its_node():
    result = solve(NoBranching(oracle=Half, cuts=False))
    assert result.termination is Termination.NO_BOUND
    assert any("ode 0" in note and "Half states no bound" in note for note in result.notes), result.notes
    assert "cut off" not in str(result)


def test_a_bound_worse_than_the_oracles_own_column_is_reported_with_both_numbers():
    result = solve(NoBranching(oracle=Relaxing, cuts=False))
    assert result.termination is Termination.NO_BOUND
    (note,) = [note for note in result.notes if "ode 0" in note]
    assert "Relaxing" in note
    assert "bounds reduced costs by -" in note
    assert "best column has" in note
    assert result.dual_bound < result.objective


def test_only_oracles_that_prove_nothing_are_named():
    class Both(NoBranching):
        def pricing(self):
            return [Listed(self), Half(self)]

    result = solve(Both(cuts=False))
    assert result.termination is Termination.NO_BOUND
    (note,) = [note for note in result.notes if "ode 0" in note]
    assert "Half" in note
    assert "Listed" not in note


def test_stages_that_end_in_a_proof_add_no_note():
    result = solve(Partitioning(oracle=zoo.Staged))
    assert result.termination is Termination.OPTIMAL
    assert not result.notes


# --- reduced costs by their parts ------------------------------------------------------------------------------------


def test_a_wrong_reduced_cost_is_itemised_by_block():
    with pytest.raises(
        ReducedCostError, match=r"of the \S+, the cost \S+, block 'cover' \S+, block 'triple' "
    ) as raised:
        solve(Partitioning(oracle=zoo.CutsForgottenInAStatedReducedCost))
    assert "as if block 'triple' were left out" in str(raised.value)


def test_more_reduced_costs_than_columns():
    class Wordy(Listed):
        def price(self, duals, context):
            found = super().price(duals, context)
            return dataclasses.replace(found, reduced_costs=[*found.reduced_costs, 0.0])

    with pytest.raises(ReducedCostError, match="states 2 reduced costs for 1 columns"):
        solve(Partitioning(oracle=Wordy))


# --- columns and rows ------------------------------------------------------------------------------------------------


def test_a_column_with_the_key_of_a_template_variable_is_named():
    class Wrong(Serving):
        def column(self, i):
            return dataclasses.replace(super().column(i), key=("open", self.place))

    with pytest.raises(FormulationError, match=r"the key \('open', 0\), which is a variable of the template"):
        solve(Facilities(oracle=Wrong))


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("by_key", [True, False])
def test_a_row_with_a_coefficient_that_is_not_finite_is_named(value, by_key):
    master = restricted_master(Facilities().master())
    master.add([Column(1.0, {("serve", 0): 1.0})])
    more = {"coefficients": {("open", 1): value}} if by_key else {"coefficient": lambda column: value}
    good = Row(("good", None), upper=1.0, coefficients={("open", 0): 1.0})
    with pytest.raises(FormulationError, match=r"row \('bad', 7\) has a coefficient that is not a finite number"):
        master.add([], [good, Row(("bad", 7), upper=1.0, **more)])


# --- rows with small violations --------------------------------------------------------------------------------------


class Exacting(zoo.Triples):
    """Returns every violated row, however little, and some that hold exactly."""

    def separate(self, solution):
        def excess(row):
            return sum(row.coefficient(column) * value for column, value in solution.columns) - row.upper

        return [row for row in self.rows if excess(row) > -1e-12]


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("seed", range(5))
def test_rows_violated_by_rounding_are_accepted(scale, seed):
    class Cut(Partitioning):
        def separation(self):
            return [Exacting(self)]

    result = solve(Cut(size=6, seed=seed, scale=scale))
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(solve(Partitioning(size=6, seed=seed, scale=scale)).objective)


@pytest.mark.parametrize("unit", [1e-9, 1e-4, 1e4, 1e9])
def test_violations_are_relative_to_the_size_of_a_row(unit):
    class Scaled(Separation):
        def __init__(self, problem):
            self.rows = [
                dataclasses.replace(
                    row, upper=unit * row.upper, coefficient=lambda c, row=row: unit * row.coefficient(c)
                )
                for row in zoo.Triples(problem).rows
            ]

        def separate(self, solution):
            def excess(row):
                return sum(row.coefficient(column) * value for column, value in solution.columns) - row.upper

            return [row for row in self.rows if excess(row) > 1e-6 * unit]

    class Paying(Listed):
        def cuts(self, items, duals):
            return unit * super().cuts(items, duals)

    class Cut(Partitioning):
        def separation(self):
            return [Scaled(self)]

    plain = solve(Partitioning(), relaxation=True)
    result = solve(Cut(oracle=Paying), relaxation=True)
    assert result.rows_generated > 0
    assert result.objective == pytest.approx(plain.objective)


def test_a_row_that_clearly_holds_is_an_error():
    class Idle(Separation):
        def separate(self, solution):
            return [Row(("idle", None), upper=100.0, coefficient=lambda column: 1.0)]

    class Cut(Partitioning):
        def separation(self):
            return [Idle()]

    with pytest.raises(SeparationError, match=r"Idle returned the row \('idle', None\), which the solution satisfies"):
        solve(Cut())


def test_two_rows_with_one_key_are_an_error():
    class Twice(zoo.Triples):
        def separate(self, solution):
            return [
                dataclasses.replace(row, key=("triple", frozenset({0, 1, 2}))) for row in super().separate(solution)
            ]

    class Cut(Partitioning):
        def separation(self):
            return [Twice(self)]

    with pytest.raises(SeparationError, match="two different rows share a key"):
        solve(
            Cut(), method=Method(stabilization=NoStabilization())
        )  # prices at points where the oracle's own check does not fail first
