"""Zeros that take memory when they are written to."""

import mmap

import numpy as np
import pytest

from colgen.core.budget import resident_bytes
from colgen.solvers.reserved import sparse_zeros


@pytest.mark.parametrize("dtype", [np.float64, np.bool_, np.int32])
@pytest.mark.parametrize("shape", [(0, 0), (3, 4), (300, 200, 100)])
def test_zeros_are_zeros(shape, dtype):
    found = sparse_zeros(shape, dtype)
    assert found.shape == shape
    assert found.dtype == dtype
    assert not found.any()
    found[...] = 1
    assert found.all()


@pytest.mark.skipif(not hasattr(mmap, "MAP_PRIVATE"), reason="memory is reserved in full here")
def test_unused_zeros_take_no_memory():
    held = resident_bytes()
    found = sparse_zeros((2000, 2000, 2000))  # 64 GB
    for row in range(0, 2000, 10):
        found[row, row] = 1.0
    assert found[10, 10].all()
    assert not found[10, 11].any()
    assert resident_bytes() - held < 50e6
