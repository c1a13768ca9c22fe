"""Rows of second stages by known dual values and by linear programs."""

import numpy as np
import pytest

from colgen import Sense, Solution, decompose
from colgen.cuts.separation import SeparationContext
from colgen.decomposition.benders.stage_rows import StageRows
from tests.decomposition.benders.test_template import two_stage


def at(model, x):
    """A solution of the master in which second stages have their least costs."""
    keys = model.compact.formulation.column_keys
    values = {keys[k]: float(v) for k, v in zip(model.first.tolist(), x.tolist(), strict=True)}
    return Solution(0.0, variables=values)


@pytest.mark.parametrize("seed", [0, 4, 5])
def test_rows_are_violated_and_hold_at_true_costs(seed):
    model = decompose(two_stage(seed), "scenario", method="benders").model
    x, sense = np.ones(len(model.first)), Sense.MAXIMIZE if seed % 2 else Sense.MINIMIZE
    rows = StageRows(model).separate(at(model, x), SeparationContext(sense, whole=True))
    answer = model.solution(x)
    for row in rows:
        here = at(model, x).variables
        assert sum(v * here.get(key, 0.0) for key, v in row.coefficients.items()) < row.lower
        there = answer.variables
        assert sum(v * there.get(key, 0.0) for key, v in row.coefficients.items()) >= row.lower - 1e-6


def test_below_the_root_only_known_dual_values_are_used(monkeypatch):
    model = decompose(two_stage(4), "scenario", method="benders").model
    rows, solution = StageRows(model), at(model, np.ones(len(model.first)))
    assert not rows.separate(solution, SeparationContext(Sense.MINIMIZE, depth=1))
    found = rows.separate(solution, SeparationContext(Sense.MINIMIZE, depth=1, whole=True))
    assert found
    monkeypatch.setattr(type(model.recourse), "optima", None)
    again = rows.separate(solution, SeparationContext(Sense.MINIMIZE, depth=1))
    assert len(again) == len(found)
