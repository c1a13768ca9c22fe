"""A reduced cost by its parts, in words that name the part that was left out or turned around."""

import math

import pytest

from colgen import Column, LinearMaster, solve
from colgen.core.errors import ReducedCostError
from colgen.master.accounts import COST, contributions, itemised
from tests.toys import CuttingStock

PARTS = {COST: 10.0, "demand": -6.0, "cut": -1.0}


def test_parts_add_up_to_the_reduced_cost():
    master = LinearMaster(CuttingStock().formulation())
    column = Column(1.0, {("demand", 0): 2.0, ("demand", 3): 1.0}, structure="pattern")
    duals = master.guessed({"demand": [0.25, 0.5, 0.5, 0.125]})
    parts = contributions(column, master.known_entries(column), duals, 1.0)
    assert parts == {COST: 1.0, "demand": -0.625}
    assert sum(parts.values()) == pytest.approx(master.reduced_costs([column], duals)[0])
    assert contributions(column, master.known_entries(column), duals, 0.0)[COST] == 0.0


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
def test_nothing_is_named_that_accounts_for_nothing(stated):
    words = itemised(stated, PARTS)
    assert "as if" not in words
    assert "the cost 10, block 'demand' -6, block 'cut' -1" in words


def test_a_run_says_how_it_comes_about():
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
