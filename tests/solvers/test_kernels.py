import numpy as np
import pytest

from colgen.solvers import kernels
from colgen.solvers.kernel_cache import njit


@njit
def overwrite(target, source):
    kernels.overwrite(target, source)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_entries_are_written_over(dtype):
    rng = np.random.default_rng(0)
    source, target = (rng.integers(0, 2, 7).astype(dtype) for _ in range(2))
    overwrite(target, source)
    assert (target == source).all()


def test_parts_of_arrays():
    table, row = np.zeros((3, 6)), np.arange(6.0)
    overwrite(table[1], row)
    overwrite(table[2, 1:3], row[::-1][:2])
    assert table.tolist() == [[0] * 6, row.tolist(), [0, 5, 4, 0, 0, 0]]


def test_entries_move_towards_the_beginning_of_the_same_array():
    array = np.arange(8)
    overwrite(array[:5], array[3:])
    assert array.tolist() == [3, 4, 5, 6, 7, 5, 6, 7]
