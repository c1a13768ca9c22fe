"""Whether columns are in form, beside a look at each of them."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.columns.forms import in_form

NUMBERS = st.sampled_from([0.0, -1.5, 2.0, math.inf, math.nan])


def asked(starts, rows, values, costs):
    starts, rows = np.array(starts, dtype=np.int64), np.array(rows, dtype=np.int64)
    short = np.empty(len(starts), np.int32), np.empty(len(rows), np.int32)
    found = in_form(starts, rows, np.array(values, dtype=float), np.array(costs, dtype=float), *short)
    return found, short


@given(st.lists(st.tuples(NUMBERS, st.lists(st.tuples(st.integers(-1, 4), NUMBERS), max_size=3)), max_size=4))
def test_columns_are_in_form_if_each_of_them_is(columns):
    starts = np.cumsum([0, *(len(entries) for _, entries in columns)])
    rows, values = (
        [row for _, entries in columns for row, _ in entries],
        [v for _, entries in columns for _, v in entries],
    )
    expected = all(
        math.isfinite(cost)
        and [row for row, _ in entries] == sorted({row for row, _ in entries})
        and all(row >= 0 and math.isfinite(value) for row, value in entries)
        for cost, entries in columns
    )
    found, short = asked(starts, rows, values, [cost for cost, _ in columns])
    assert found == expected
    if found:
        assert short[0].tolist() == starts.tolist()
        assert short[1].tolist() == rows


def test_starts_that_do_not_fit_are_not_followed():
    one = [1.0]
    assert asked([0, 1], [3], one, one)[0]
    for starts in ([1, 1], [0, 2], [0, -1], [0, 0]):
        assert not asked(starts, [3], one, one)[0]
    assert not asked([0, 9, 1], [3], one, [1.0, 1.0])[0]
    assert not asked([0, 1], [2**40], one, one)[0]  # it has no 32 bits
    assert not asked([0, 1], [3], [1.0, 2.0], one)[0]
