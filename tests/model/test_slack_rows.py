"""Rows that templates state as arrays are those that their models are compiled to."""

import dataclasses

import numpy as np
import pytest

from colgen.model.formulation import compile_model
from colgen.problems.assignment import instance as tasks
from colgen.problems.assignment.template import Assignment
from colgen.problems.colouring import instance as graphs
from colgen.problems.colouring.template import Colouring
from colgen.problems.vehicle_routing import instance as customers
from colgen.problems.vehicle_routing.template import VehicleRouting

PROBLEMS = {
    "routes": VehicleRouting(customers.random(3, customers=8)),
    "colours": Colouring(graphs.random(12, 0)),
    "colours, cuts": Colouring(graphs.random(12, 0), cuts=True),
    "tasks": Assignment(tasks.random(3, 8, 0)),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_formulation_is_the_compiled_model(name):
    by_hand, compiled = PROBLEMS[name].formulation(), compile_model(PROBLEMS[name].master())
    assert (by_hand.matrix != compiled.matrix).nnz == 0
    for field in dataclasses.fields(compiled):
        mine, theirs = getattr(by_hand, field.name), getattr(compiled, field.name)
        if field.name in ("row_blocks", "column_blocks"):
            assert list(mine) == list(theirs)
            for block in mine:
                assert mine[block].indices == theirs[block].indices
                assert mine[block].positions.tolist() == theirs[block].positions.tolist()
        elif field.name != "matrix":
            assert np.array_equal(mine, theirs), field.name
            assert getattr(mine, "dtype", None) == getattr(theirs, "dtype", None), field.name


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_subclass_has_the_rows_of_its_own_model(name):
    kind = type(PROBLEMS[name])

    class Own(kind):
        def master(self):
            raise LookupError

    own = object.__new__(Own)
    own.__dict__.update(PROBLEMS[name].__dict__)
    with pytest.raises(LookupError):
        own.restricted_master()
