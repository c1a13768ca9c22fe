"""Solutions checked by the rows alone, and the messages about violations."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from colgen import Column, Row, Solution, solve
from colgen.branching.rules import Bound
from colgen.core.columns import RowFamily
from colgen.core.errors import ReducedCostError, UnknownRowError
from colgen.master.answer_check import COST, contributions, itemised
from colgen.master.statement import restricted_master
from tests.master.programs import col, covering
from tests.toys import CuttingStock


def test_an_answer_is_checked_against_rows_that_its_columns_would_bring():
    master = covering(demands=(3.0, 0.0))
    link = Row(("link", 7), upper=0.0, coefficients={("y", None): -1.0})
    column = Column(0.5, {("demand", 0): 1.0, ("link", 7): 1.0}, "linked", rows=(link,))
    # Cost 1, 5 a unit of y, 0.5 a unit of the column; each of them covers a unit.
    assert master.rows.violation(Solution(1 + 3 * 0.5 + 3 * 5.0, ((column, 3.0),), {("y", None): 3.0})) is None
    fault = master.rows.violation(Solution(1 + 3 * 0.5 + 5.0, ((column, 3.0),), {("y", None): 1.0}))
    assert "('link', 7) has activity 2" in fault
    unknown = Column(0.5, {("demand", 0): 1.0, ("other", 7): 1.0}, "unknown", rows=(link,))
    with pytest.raises(UnknownRowError, match="other"):
        master.rows.violation(Solution(2.5, ((unknown, 3.0),)))


@pytest.mark.parametrize(
    ("solution", "fault"),
    [
        (Solution(4.0, ((col((1, 1)), 3.0),)), None),
        (Solution(4.5, ((col((1, 1)), 3.5),)), "fractional"),
        (Solution(3.0, ((col((1, 1)), 2.0),)), r"row \('demand', 0\)"),
        (Solution(5.0, ((col((1, 1)), 3.0),)), "objective"),
        (Solution(4.0, ((col((1, 1), upper=2.0), 3.0),)), "bounds"),
        (Solution(8.0, ((col((1, 1)), 2.0),), {("y", None): 1.0}), None),
        (Solution(5.5, ((col((1, 1)), 2.0),), {("y", None): 0.5}), "row|fraction"),
        (Solution(28.0, ((col((0, 1)), 2.0),), {("y", None): 5.0}), "bounds"),
        (Solution(3.0, ((col((1, 1)), 2.0),), {("unmet", 0): 1.0}), "artificial"),
    ],
)
def test_violation(solution, fault):
    found = covering().rows.violation(solution)
    if fault is None:
        assert found is None
    else:
        assert found is not None
        assert re.search(fault, found)


def test_rows_of_decisions_do_not_count_as_violated():
    master = covering()
    master.add([col((1, 1))])
    master.node.apply([Bound(("branch", 0), -math.inf, 1.0, lambda c: 1.0)])
    master.solve()
    assert master.rows.violation(Solution(4.0, ((col((1, 1)), 3.0),))) is None


class _Counted(RowFamily):
    """Rows that record how many columns they compute at a time."""

    def __init__(self):
        super().__init__("counted")
        self.asked = []

    def coefficients(self, columns, indices):
        self.asked.append(len(columns))
        return np.ones((len(columns), len(indices)))


def test_rows_compute_all_columns_of_a_solution_at_once():
    master, family = covering(demands=(3.0, 3.0)), _Counted()
    columns = [col(pattern) for pattern in ((1, 1), (1, 0), (0, 1), (2, 0), (0, 2), (2, 1))]
    master.add(columns)
    master.add((), [family.row(0, upper=6.0)])
    solved = Solution(0.0, tuple((column, 1.0) for column in columns))
    solved = Solution(master.rows.objective_of(solved), solved.columns)
    family.asked.clear()
    assert master.rows.violation(solved) is None
    assert family.asked == [6]
    family.asked.clear()
    rounded = master.integer.round(Solution(solved.objective, tuple((column, 0.6) for column in columns)))
    assert rounded is not None
    assert set(family.asked) <= {6}  # coefficients of the same columns are cached


PARTS = {COST: 10.0, "demand": -6.0, "cut": -1.0}


def test_parts_add_up_to_the_reduced_cost():
    master = restricted_master(CuttingStock().master())
    column = Column(1.0, {("demand", 0): 2.0, ("demand", 3): 1.0}, structure="pattern")
    duals = master.rows.guess({"demand": [0.25, 0.5, 0.5, 0.125]})
    parts = contributions(column, master.rows.entries(column), duals, 1.0)
    assert parts == {COST: 1.0, "demand": -0.625}
    assert sum(parts.values()) == pytest.approx(master.price([column], duals)[0])
    assert contributions(column, master.rows.entries(column), duals, 0.0)[COST] == 0.0


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (9.0, "block 'demand' were left out"),
        (15.0, "block 'demand' were counted with the opposite sign"),
        (4.0, "block 'cut' were left out"),
        (-7.0, "the cost were left out"),
    ],
)
def test_one_part_that_accounts_for_the_difference_is_named(stated, said):
    assert itemised(stated, PARTS).endswith(f"as if {said}")


@pytest.mark.parametrize("stated", [3.5, 1e9, math.inf, math.nan])
def test_parts_that_do_not_explain_the_difference_are_not_named(stated):
    words = itemised(stated, PARTS)
    assert "as if" not in words
    assert "the cost 10, block 'demand' -6, block 'cut' -1" in words


def test_the_message_of_a_run_lists_the_parts():
    class Forgetful(CuttingStock):
        def pricing(self):
            oracle = super().pricing()
            best = oracle.best

            def without_cost(duals, context):
                found = best(duals, context)
                return None if found is None else type(found)(found.structure, found.reduced_cost - 1.0)

            oracle.best = without_cost
            return oracle

    with pytest.raises(ReducedCostError, match=r"of the .*the cost 0, block 'demand' .*differs by -1"):
        solve(Forgetful())
