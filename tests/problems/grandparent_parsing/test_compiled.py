"""The master as arrays is what compiling the Pyomo model gives."""

from itertools import product

import numpy as np
import pytest

from colgen.model.formulation import compile_model
from colgen.problems.grandparent_parsing.compiled import compiled_master
from colgen.problems.grandparent_parsing.model import master

VARIANTS = list(product((1, 2, 5), ("all", "one_gp+no_gp"), ("cuts", "flow"), (False, True), (False, True)))


@pytest.mark.parametrize(("tokens", "formulation", "connectivity", "siblings", "single_root"), VARIANTS)
def test_the_arrays_are_those_of_the_model(tokens, formulation, connectivity, siblings, single_root):
    settings = {
        "formulation": formulation,
        "connectivity": connectivity,
        "siblings": siblings,
        "single_root": single_root,
    }
    ours, model = compiled_master(tokens, **settings), compile_model(master(tokens, **settings))
    assert (ours.sense, ours.offset) == (model.sense, model.offset)
    assert (ours.column_keys, ours.row_keys) == (model.column_keys, model.row_keys)
    np.testing.assert_array_equal(ours.matrix.toarray(), model.matrix.toarray())
    for name in ("costs", "lower", "upper", "integer", "artificial", "row_lower", "row_upper"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(model, name))
        assert getattr(ours, name).dtype == getattr(model, name).dtype
    for name in ("row_blocks", "column_blocks"):
        mine, theirs = getattr(ours, name), getattr(model, name)
        assert list(mine) == list(theirs)
        for block in mine:
            assert mine[block].indices == theirs[block].indices
            np.testing.assert_array_equal(mine[block].positions, theirs[block].positions)
