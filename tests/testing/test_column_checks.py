"""Identification of the mistake of an oracle that its own columns contradict."""

import dataclasses

import numpy as np
import pytest

from colgen import (
    Best,
)
from colgen.master.statement import restricted_master
from colgen.testing.column_checks import Claim, PricedColumns, forgetful
from colgen.testing.conformance import check_problem
from tests.assignment import Knapsack
from tests.testing.kit import (
    GENEROUS,
    CuttingStock,
    Patterns,
    Sets,
    Silent,
    assert_found,
    check,
    findings,
    packing,
)


def test_wrong_sign_of_all_duals():
    class Wrong(Silent):
        def value(self, tasks, duals, context):
            return super().value(tasks, duals.replace(-duals.values), context)

    assert_found(check(Wrong), "sign", "duals of the opposite sign")


def test_wrong_sign_of_all_duals_where_they_must_be_nonnegative():
    class Wrong(Patterns):
        def value(self, pattern, duals):
            return -super().value(pattern, duals)

    class Broken(CuttingStock):
        def pricing(self):
            return Wrong(self)

    # At all dual values that the rows can have it returns the empty pattern, with the right reduced cost.
    report = check_problem(Broken(50, [23, 17, 11], [9, 12, 7]), seconds=GENEROUS)
    assert any("no column improves" in note and "sign of the dual values" in note for note in report.notes), report


def test_wrong_sign_where_the_objective_is_maximised():
    class Wrong(Sets):
        sign = 1.0

    assert_found(
        check_problem(packing(Wrong), seconds=GENEROUS), "sign", "c_j - πᵀa_j when minimising and when maximising"
    )


def test_wrong_sign_of_one_block_of_duals_in_a_stated_reduced_cost():
    class Wrong(Knapsack):
        def value(self, tasks, duals, context):
            return super().value(tasks, duals, context) + 2 * duals["use", self.machine]

    assert_found(check(Wrong), "reduced cost", "the dual values of block 'use' had the opposite sign")


def test_a_block_of_duals_left_out():
    class Wrong(Knapsack):
        def value(self, tasks, duals, context):
            return super().value(tasks, duals, context) + duals["use", self.machine]

    assert_found(check(Wrong), "reduced cost", "the dual values of block 'use' were zero")


@pytest.mark.parametrize("base", [Knapsack, Silent])
def test_wrong_cost_of_a_column(base):
    class Wrong(base):
        def encode(self, structure):
            column = super().encode(structure)
            return dataclasses.replace(column, cost=column.cost + 7.0 * (len(structure[1]) > 1))

    if base is Knapsack:
        assert_found(
            check(Wrong),
            "reduced cost",
            r"the cost alone explains it: the column of .* has \S+, the oracle uses",
        )
    else:
        assert_found(check(Wrong), "not exact", r"encode\(\) does not match what best\(\) optimises")


@pytest.mark.parametrize("base", [Knapsack, Silent])
def test_wrong_coefficients_of_a_column(base):
    class Wrong(base):
        def encode(self, structure):
            column = super().encode(structure)
            rows = {key: 2.0 if key == ("assign", 1) else value for key, value in column.coefficients.items()}
            return dataclasses.replace(column, coefficients=rows)

    if base is Knapsack:
        assert_found(check(Wrong), "reduced cost", r"in row \('assign', 1\) the column of .* has 2, the oracle uses 1")
    else:
        assert_found(check(Wrong), "not exact", "where only dual values of 'assign' are nonzero")


@pytest.mark.parametrize("base", [Knapsack, Silent])
def test_cost_weight_ignored(base):
    class Wrong(base):
        def value(self, tasks, duals, context):
            return super().value(tasks, duals, dataclasses.replace(context, cost_weight=1.0))

    kind = "reduced cost" if base is Knapsack else "cost weight"
    assert_found(check(Wrong), kind, "multiply costs by context.cost_weight")


def test_a_formula_with_equal_values_for_all_columns_explains_nothing():
    # The engine stops in phase 1: without the duals of 'assign' every column would cost the same there.
    class Greedy(Knapsack):
        def best(self, duals, context):
            own = self.problem
            gains = duals["assign"] - context.cost_weight * own.costs[self.machine]
            tasks, room = [], own.capacities[self.machine]
            for task in np.argsort(-gains / own.sizes[self.machine]).tolist():
                if gains[task] > 0 and own.sizes[self.machine][task] <= room:
                    tasks.append(task)
                    room -= own.sizes[self.machine][task]
            return Best((self.machine, tuple(tasks)), -gains[tasks].sum() - duals["use", self.machine])

    report = check(Greedy)
    assert not findings(report, "row left out"), report
    assert_found(report, "not exact", "either best.. is not exact")


@pytest.mark.parametrize(("bound", "named"), [(0.0, False), (-1.0, True)])
def test_a_bound_that_proves_that_no_column_improves_is_not_too_weak(bound, named):
    """At zero duals the best column costs 1: a bound of 0 suffices there, and one of -1 is that of costs forgotten."""
    problem = CuttingStock(9, [3], [2])
    master = restricted_master(problem.master())
    column = problem.pricing().encode((1,))
    master.add([column])
    duals = master.solve().duals
    weight = 1.0 if bound == 0.0 else 2.0
    values = np.where(bound == 0.0, 0.0, 1.0) * np.ones(len(duals.values))
    claim = Claim("a point", duals.replace(values), weight, (), frozenset({"demand"}), (column,), bound, (None,))
    assert (forgetful(PricedColumns(master, [column]), [claim]) is not None) is named
