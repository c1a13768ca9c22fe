"""Growing arc weights against a table of plain rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.dependency.features.arc_scores import arc_index, score_arcs
from colgen.problems.dependency.features.factored_scores import ROW, distance_bin, empty_table, table_of
from colgen.problems.dependency.features.growing_arcs import GrowingArcs

SIZES = np.array([1, 3, 5, 9])
TEMPLATES = np.array([[0, 0], [1, 0], [0, 2], [1, 1], [2, 3], [3, 3]])
TAGS = 3


def random_sentence(rng):
    """Codes, tags, and two random head arrays."""
    n = int(rng.integers(2, 26))
    codes = np.stack([rng.integers(-1, size, n + 3) for size in SIZES]).astype(np.int32)
    codes[0] = 0
    trees = [np.array([-1, *(int(rng.choice(np.delete(np.arange(n + 1), m))) for m in range(1, n + 1))]) for _ in "ab"]
    return codes, rng.integers(0, TAGS, n + 3), *trees


class Rows:
    """The same steps in Python, with a row of weights and of sums per feature."""

    def __init__(self, table):
        self.table, self.rows = table, {}

    def delta(self, codes, right, found):
        delta = {}
        for heads, other, sign in ((right, found, 1.0), (found, right, -1.0)):
            for m in range(1, len(heads)):
                h = int(heads[m])
                if h == other[m]:
                    continue
                for (a, b), offset, strides in zip(TEMPLATES, self.table.offsets, self.table.strides, strict=True):
                    if codes[a, h] >= 0 and codes[b, m] >= 0:
                        key = int(offset + codes[a, h] * strides[0] + codes[b, m] * strides[1] + (h > m))
                        row = delta.setdefault(key, np.zeros(ROW))
                        row[[0, 1 + distance_bin(h, m)]] += sign
        return delta

    def step(self, delta, step, number):
        for key, change in delta.items():
            weights, sums = self.rows.setdefault(key, np.zeros((2, ROW)))
            weights += step * change
            sums += number * step * change

    def averaged(self, steps):
        held = {key: weights - sums / steps for key, (weights, sums) in self.rows.items()}
        values = np.array(list(held.values()), dtype=np.float32).reshape(-1, ROW)
        return table_of(self.table, np.array(list(held), dtype=np.int64), values)


def sorted_rows(table):
    """Keys and non-zero rows, by key."""
    held = np.flatnonzero((table.keys >= 0) & (table.values != 0.0).any(axis=1))
    held = held[np.argsort(table.keys[held])]
    return table.keys[held], table.values[held]


@given(seed=st.integers(0, 10_000), again=st.booleans())
def test_growing_weights_match_rows(seed, again):
    rng = np.random.default_rng(seed)
    empty = empty_table(TEMPLATES, SIZES, weights=ROW, relations=2)
    growing, plain = GrowingArcs(empty), Rows(empty)
    between = rng.normal(size=(TAGS, TAGS, 2, TAGS)).astype(np.float32)
    for number in range(1, 8):
        codes, tags, right, found = random_sentence(rng)
        delta = plain.delta(codes, right, found)
        assert growing.mark(codes, right, found) == sum(float(row @ row) for row in delta.values())
        length = 0.25 * int(rng.integers(1, 5))  # sums of these are exact
        growing.step(length, float(number))
        plain.step(delta, length, float(number))
        if again and number == 4:
            kept = {name: array.copy() for name, array in growing.state().items()}
            growing = GrowingArcs(empty)
            growing.restore(kept)
        of_moment = plain.averaged(np.inf)
        expected = score_arcs(codes, arc_index(of_moment), tags, between)
        np.testing.assert_allclose(growing.scores(codes, tags, between), expected, atol=1e-12)
    for found_table, expected_table in (
        (growing.averaged(8.0, -1.0), plain.averaged(8.0)),
        (growing.averaged(np.inf, -1.0), of_moment),
    ):
        assert (np.diff(found_table.keys, prepend=-1) > 0).all()
        (keys, rows), (expected_keys, expected_rows) = sorted_rows(found_table), sorted_rows(expected_table)
        assert keys.tolist() == expected_keys.tolist()
        np.testing.assert_allclose(rows, expected_rows, atol=1e-6)


def test_no_steps_give_no_weights():
    growing = GrowingArcs(empty_table(TEMPLATES, SIZES, weights=ROW, relations=2))
    assert growing.least(1.0, 0.15) == 0.0
    assert len(growing.averaged(1.0, 0.0).keys) == len(growing.averaged(np.inf, -1.0).values) == 0
    assert [len(growing.state()[name]) for name in GrowingArcs.KEPT] == [0, 0, 0, 0]


@pytest.mark.parametrize("cutoff", [0.0, 0.5])
def test_small_averages_are_dropped(cutoff):
    rng = np.random.default_rng(1)
    growing = GrowingArcs(empty_table(TEMPLATES, SIZES, weights=ROW, relations=2))
    for number in range(1, 6):
        codes, _, right, found = random_sentence(rng)
        growing.mark(codes, right, found)
        growing.step(rng.random(), float(number))
    every = np.abs(sorted_rows(growing.averaged(6.0, -1.0))[1]).max(axis=1)
    kept = np.abs(sorted_rows(growing.averaged(6.0, growing.least(6.0, cutoff)))[1]).max(axis=1)
    assert sorted(kept) == sorted(every[every > cutoff * np.quantile(every, 0.99)])
    assert (len(kept) < len(every)) == (cutoff > 0.0)
