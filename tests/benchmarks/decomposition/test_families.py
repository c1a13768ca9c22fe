"""Each family at its smallest size is compared with HiGHS."""

import pytest

from benchmarks.decomposition.families import FAMILIES
from colgen import IterationLimit, decompose, solve
from colgen.decomposition.detection import find_blocks
from colgen.model.rows import compile_model
from colgen.reporting.compared import solve_complete


@pytest.mark.parametrize(
    ("name", "size"), [("assignment", 9), ("packing", 9), ("lots", 3), ("cutting", 3), ("median", 7)]
)
def test_each_family_has_the_optimum_of_highs(name, size):
    family = FAMILIES[name]
    model = family.build(size, 1)
    assert len(find_blocks(model).partition.names) > 1
    result = solve(decompose(model, family.by))
    assert result.is_optimal
    assert result.objective == pytest.approx(solve_complete(compile_model(model)).objective)


def test_a_dive_keeps_the_needed_bins():
    # Of 21 bins 17.4 are in use at the root, and 18 are needed: to round up what is closed left 17.
    result = solve(decompose(FAMILIES["packing"].build(50, 1), "bin"), stop=IterationLimit(600))
    assert result.is_optimal
    assert result.objective == 18
    assert len(result.nodes) == 1
