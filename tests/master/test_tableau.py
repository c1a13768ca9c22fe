"""What a linear master consists of, before anything has joined."""

import pytest

from colgen.master.tableau import tableau_of
from tests.master.programs import (
    covering,
)


@pytest.mark.parametrize("dual_first", [False, True])
def test_the_program_is_built_with_the_present_data(dual_first):
    table, rows, program, objective = tableau_of(covering().formulation, {"options": {"random_seed": 3}}, dual_first)
    assert (len(table), len(rows), program.is_built) == (3, 2, False)
    objective.enter(1)
    assert (program.lp.num_columns, program.is_built) == (3, True)
    assert program.lp.backend.highs.getOptionValue("random_seed")[1] == 3
    assert objective.costs.tolist() == table.weights.tolist()
