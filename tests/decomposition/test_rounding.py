"""First stages that are tried once, and only where they may be of interest."""

from types import SimpleNamespace

import numpy as np

from colgen import Sense, decompose
from colgen.decomposition.rounding import Rounding
from tests.decomposition.test_benders import two_stage
from tests.decomposition.test_stage_rows import at


def context(model, x, prunes):
    run = SimpleNamespace(expired=False, sense=Sense.MINIMIZE, prunes=prunes)
    return SimpleNamespace(relaxation=at(model, x), run=run)


def test_a_first_stage_is_tried_once():
    model = decompose(two_stage(4), "scenario", method="benders").model
    rounding, x = Rounding(model), np.full(len(model.first), 0.7)
    found = rounding.search(context(model, x, lambda bound: False))
    assert found is not None
    assert rounding.search(context(model, x, lambda bound: False)) is None


def test_a_first_stage_that_is_hopeless_is_not_solved_for():
    model = decompose(two_stage(4), "scenario", method="benders").model
    assert Rounding(model).search(context(model, np.full(len(model.first), 0.7), lambda bound: True)) is None
