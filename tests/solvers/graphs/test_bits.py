import numpy as np
import pytest

from colgen.solvers.graphs.bits import draw, drop, holds, lowest, pack, put, seeded, unpack


@pytest.mark.parametrize("n", [1, 63, 64, 65, 130])
def test_packing_and_unpacking(n):
    mask = np.random.default_rng(n).random((5, n)) < 0.4
    words = pack(mask)
    assert words.dtype == np.uint64
    assert np.array_equal(unpack(words, n), mask)
    assert [[holds(row, v) for v in range(n)] for row in words] == mask.tolist()
    assert unpack(words[:0], n).shape == (0, n)


def test_single_bits():
    words = pack(np.zeros((1, 100), dtype=bool))[0]
    put(words, 70)
    put(words, 99)
    assert lowest(words[1]) == 6
    drop(words, 70)
    assert lowest(words[1]) == 35
    assert lowest(np.uint64(2**63)) == 63


def test_draws_repeat():
    one, other = seeded(3), seeded(3)
    drawn = [draw(one, 10) for _ in range(50)]
    assert drawn == [draw(other, 10) for _ in range(50)]
    assert set(drawn) == set(range(10))
