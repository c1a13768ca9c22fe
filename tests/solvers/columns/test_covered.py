"""Columns that cover rows, against a look at their coefficients."""

import numpy as np
import pytest

from colgen.core.batches import Columns
from colgen.core.columns import Column
from colgen.core.decision import Apart, Together
from solvers.columns.covered import covered_of_two

KEYS = [("cover", row) for row in range(4)]
POSITION = {key: k for k, key in enumerate(KEYS)}


@pytest.mark.parametrize("seed", range(4))
def test_arrays_say_of_two_rows_what_coefficients_say(seed):
    random = np.random.default_rng(seed)
    columns = [
        Column(1.0, {KEYS[row]: float(random.integers(-1, 2)) for row in np.flatnonzero(random.random(4) < 0.6)})
        for _ in range(12 * seed)
    ]
    batch = Columns.of(columns, KEYS, POSITION)
    for first, one in enumerate(KEYS):
        for second, other in enumerate([*KEYS, ("cover", "elsewhere")]):
            has = [(bool(c.coefficients.get(one)), bool(c.coefficients.get(other))) for c in columns]
            assert batch.covering_of_two(one, other).tolist() == [a + 2 * b for a, b in has]
            if second < len(KEYS):
                found = covered_of_two(batch.starts, batch.rows, batch.values, first, second)
                assert found.tolist() == [a + 2 * b for a, b in has]
            for decision in (Together(one, other), Apart(one, other)):
                assert decision.allows_each(batch).tolist() == [decision.allows(c) for c in columns]
