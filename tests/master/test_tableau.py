"""What a linear master consists of, before anything has joined."""

import pytest

from colgen.master.tableau import tableau_of
from tests.master.programs import (
    covering,
)


@pytest.mark.parametrize("dual_first", [False, True])
def test_it_is_built_as_it_stands_when_it_is_asked_for(dual_first):
    table, rows, program, objective = tableau_of(covering().formulation, {"options": {"random_seed": 3}}, dual_first)
    assert (len(table), len(rows), program.is_built) == (3, 2, False)
    objective.enter(1)
    assert (program.lp.num_columns, program.is_built) == (3, True)
    assert program.lp.backend.highs.getOptionValue("random_seed")[1] == 3
    assert objective.costs.tolist() == table.weights.tolist()
