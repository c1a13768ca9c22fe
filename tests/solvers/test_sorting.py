"""Sorting in kernels against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from colgen.solvers.sorting import median, order_by

pytestmark = pytest.mark.timeout(60)


def test_keys_are_sorted_as_numpy_does() -> None:
    rng = np.random.default_rng(0)
    for number in (0, 1, 2, 7, 24, 25, 200, 3000):
        keys = rng.integers(0, max(number // 2, 1), number + 3).astype(float)
        keys[number:] = -1.0
        order = np.full(number + 3, -7, dtype=np.int64)
        order_by(keys, number, order)
        assert (order[number:] == -7).all()
        assert sorted(order[:number]) == list(range(number))
        assert (keys[order[:number]] == np.sort(keys[:number])).all()
        if number < 25:
            assert (order[:number] == np.argsort(keys[:number], kind="stable")).all()


def test_the_median_is_numpys() -> None:
    rng = np.random.default_rng(1)
    for number in (1, 2, 3, 4, 7, 24, 201, 3000):
        for values in (rng.random(number + 3), rng.integers(0, 3, number + 3).astype(float)):
            expected = np.median(values[:number])
            assert median(values, number) == expected
