"""Each family, at its smallest, against HiGHS."""

import pytest

from colgen import compile_model, decompose, find_blocks, solve, solve_complete
from problems.compact.families import FAMILIES


@pytest.mark.parametrize(
    ("name", "size"), [("assignment", 9), ("packing", 9), ("lots", 3), ("cutting", 3), ("median", 7)]
)
def test_each_family_is_solved_as_highs_solves_it(name, size):
    family = FAMILIES[name]
    model = family.build(size, 1)
    assert len(find_blocks(model).partition.names) > 1
    result = solve(decompose(model, family.by))
    assert result.is_optimal
    assert result.objective == pytest.approx(solve_complete(compile_model(model)).objective)
