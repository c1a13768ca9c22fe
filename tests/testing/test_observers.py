"""Checks of an oracle's results, and when they are skipped."""

import dataclasses

import numpy as np
import pytest

from colgen import (
    Column,
    Columns,
    Pricing,
    PricingContext,
    PricingResult,
    Sense,
)
from colgen.testing.findings import Findings
from colgen.testing.observers import Observer
from tests.assignment import Knapsack
from tests.testing.kit import (
    Silent,
    assert_found,
    check,
)


class Fickle(Pricing):
    """Returns another column each time, like an oracle that is stopped by a limit."""

    def __init__(self):
        self.asked = 0

    def price(self, duals, context):
        self.asked += 1
        return PricingResult([Column(1.0, {}, self.asked, ("column", self.asked))])


class FickleInBatches(Fickle):
    def price(self, duals, context):
        self.asked += 1
        return PricingResult(Columns([float(self.asked)], [0, 0], [], [], [f"column {self.asked}"]))


class InBatches(Silent):
    """Returns its columns as a batch with row numbers."""

    def price(self, duals, context):
        found = super().price(duals, context)
        position = {key: k for k, key in enumerate(duals.keys)}
        entries = [(position[key], a) for column in found.columns for key, a in column.coefficients.items()]
        return dataclasses.replace(
            found,
            columns=Columns(
                [column.cost for column in found.columns],
                np.cumsum([0, *(len(column.coefficients) for column in found.columns)]),
                [row for row, _ in entries],
                [a for _, a in entries],
                [column.structure for column in found.columns],
            ),
        )


@pytest.mark.parametrize("kind", [Fickle, FickleInBatches])
@pytest.mark.parametrize(("deadline", "asked"), [(np.inf, 2), (0.0, 1)])
def test_an_oracle_is_called_twice_while_there_is_time(deadline, asked, kind):
    findings, oracle = Findings(), kind()
    context = PricingContext(Sense.MAXIMIZE, deadline=deadline)
    result = oracle.price({}, context)
    Observer(findings, np.random.default_rng(0), 1).again(None, oracle, {}, context, result, "some duals")
    assert oracle.asked == asked
    assert [finding.kind for finding in findings.list()] == ["not deterministic"] * (asked - 1)


def test_columns_of_a_batch_are_read_by_the_names_of_the_rows():
    check(InBatches).raise_if_any()

    class Wrong(InBatches):
        cost_bound = 30.0

    assert_found(check(Wrong), "cost bound", "Farley's bound would be wrong")


def test_cost_bound_that_does_not_hold():
    class Wrong(Knapsack):
        cost_bound = 30.0

    assert_found(check(Wrong), "cost bound", "Farley's bound would be wrong")


def test_oracle_that_is_not_deterministic():
    class Wrong(Knapsack):
        calls = 0

        def best(self, duals, context):
            type(self).calls += 1
            found = super().best(duals, context)
            return (self.machine, ()) if self.calls % 3 == 0 and found is not None else found

    assert_found(check(Wrong), "not deterministic", "random numbers, the order of a set")


def test_coefficient_in_an_unknown_row():
    class Wrong(Knapsack):
        def encode(self, structure):
            column = super().encode(structure)
            return dataclasses.replace(column, coefficients={**column.coefficients, ("asign", 0): 1.0})

    assert_found(check(Wrong), "unknown row", r"\('asign', 0\).*its blocks are: assign, use")


def test_column_that_is_not_finite():
    class Wrong(Knapsack):
        def encode(self, structure):
            return dataclasses.replace(super().encode(structure), cost=float("nan"))

    assert_found(check(Wrong), "diagnostic", "costs nan, expected a finite number")


def test_coefficient_that_is_not_finite():
    class Wrong(Knapsack):
        def encode(self, structure):
            column = super().encode(structure)
            return dataclasses.replace(column, coefficients=dict.fromkeys(column.coefficients, float("inf")))

    assert_found(check(Wrong), "not finite", r"has inf in row \('assign', ")


def test_two_columns_with_one_key():
    class Wrong(Knapsack):
        def encode(self, structure):
            return dataclasses.replace(super().encode(structure), key=("column", (self.machine, len(structure[1]))))

    assert_found(check(Wrong), "key", "two different columns share the key")


def test_columns_that_share_a_dictionary():
    class Wrong(Silent):
        def __init__(self, problem, machine):
            super().__init__(problem, machine)
            self.rows = {}

        def best(self, duals, context):
            self.problem_sets = [s for s in self.sets() if Knapsack.allowed(Fresh(self), s, context)]
            best = min(self.problem_sets, key=lambda s: self.value(s, duals, context), default=None)
            return None if best is None else (self.machine, best)

        def encode(self, structure):
            column = super().encode(structure)
            self.rows.clear()
            self.rows.update(column.coefficients)
            return dataclasses.replace(column, coefficients=self.rows)

    class Fresh(Knapsack):
        def __init__(self, other):
            super().__init__(other.problem, other.machine)

    assert_found(check(Wrong), "mutation", "its own dictionary of coefficients")
