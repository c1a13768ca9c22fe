"""Kernels of stated kinds: compiled at the first call, once, and for arrays that may not be written as well."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.core.column_batch import Columns
from colgen.core.columns import Column
from colgen.core.decision import Apart, Together
from colgen.solvers.columns.compressed import (
    FLOAT,
    FLOATS,
    activities,
    are_integral,
    box_terms,
    copy_if_valid,
    find_covered,
    largest_product,
    least_reduced_costs,
    limit_overlap,
    products,
    side_terms,
    signed_duals,
    sums_by_number,
    typed,
    update_ages,
)
from colgen.solvers.kernel_cache import njit


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_kernel_is_compiled_when_it_is_called_and_once_for_all_kinds_of_arrays(monkeypatch):
    kernels = []

    def compile_unstored(**options):
        def decorate(function):
            kernels.append(njit(**options | {"cache": False})(function))
            return kernels[0]

        return decorate

    monkeypatch.setattr("colgen.solvers.columns.compressed.njit", compile_unstored)

    @typed(FLOAT(FLOATS))
    def total(values):
        """The sum."""
        return values.sum()

    assert kernels[0].signatures == []
    assert (total.__name__, total.__doc__) == ("total", "The sum.")
    frozen = np.ones(3)
    frozen.flags.writeable = False
    assert total(np.ones(2)) + total(frozen) == 5.0
    assert kernels[0].signatures == [(FLOATS,)]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_other_kinds_are_refused():
    assert largest_product(np.array([1.0, -3.0]), np.array([2.0, 2.0])) == 6.0
    with pytest.raises(TypeError, match="No matching definition"):
        largest_product(np.array([1, 3]), np.array([2.0, 2.0]))


KEYS = [("cover", row) for row in range(4)]
POSITION = {key: k for k, key in enumerate(KEYS)}


@pytest.mark.parametrize("seed", range(4))
def test_arrays_cover_the_same_two_rows_as_coefficients(seed):
    random = np.random.default_rng(seed)
    columns = [
        Column(1.0, {KEYS[row]: float(random.integers(-1, 2)) for row in np.flatnonzero(random.random(4) < 0.6)})
        for _ in range(12 * seed)
    ]
    batch = Columns.of(columns).over(KEYS, POSITION)
    for first, one in enumerate(KEYS):
        for second, other in enumerate([*KEYS, ("cover", "elsewhere")]):
            has = [(bool(c.coefficients.get(one)), bool(c.coefficients.get(other))) for c in columns]
            assert batch.covering_of_two(one, other).tolist() == [a + 2 * b for a, b in has]
            if second < len(KEYS):
                found = find_covered(batch.starts, batch.rows, batch.values, first, second)
                assert found.tolist() == [a + 2 * b for a, b in has]
            for decision in (Together(one, other), Apart(one, other)):
                assert decision.allows_each(batch).tolist() == [decision.allows(c) for c in columns]


NUMBERS = st.sampled_from([0.0, -1.5, 2.0, math.inf, math.nan])


def asked(starts, rows, values, costs):
    starts, rows = np.array(starts, dtype=np.int64), np.array(rows, dtype=np.int64)
    short = np.empty(len(starts), np.int32), np.empty(len(rows), np.int32)
    found = copy_if_valid(starts, rows, np.array(values, dtype=float), np.array(costs, dtype=float), *short)
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


@pytest.mark.parametrize("columns", [0, 1, 5, 40])
def test_sums_are_those_of_a_histogram(columns):
    random = np.random.default_rng(columns)
    lengths, amounts = random.integers(0, 5, columns), random.random(columns)
    numbers = random.integers(0, 12, lengths.sum()) << 32 | 7
    expected, where = np.unique(numbers, return_inverse=True)
    found, sums = sums_by_number(numbers, lengths, amounts)
    assert found.tolist() == expected.tolist()
    # To the last bit: what is added is added in the order in which it came.
    assert sums.tolist() == np.bincount(where, np.repeat(amounts, lengths), minlength=len(expected)).tolist()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_wrong_signs_are_taken_away(sign):
    """Minimising, a row without a lower side cannot pull upwards; one with two sides may pull both ways."""
    duals = sign * np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    lower = np.array([0.0, 0.0, -math.inf, -math.inf, 0.0, 0.0, -math.inf])
    upper = np.array([math.inf, math.inf, 0.0, 0.0, 0.0, 0.0, math.inf])
    found = signed_duals(duals, lower, upper, sign)
    assert (sign * found).tolist() == [1.0, 0.0, 0.0, -1.0, 1.0, -1.0, 0.0]
    assert math.isnan(signed_duals(np.array([math.nan]), lower[:1], upper[:1], sign)[0])


def test_the_largest_counts_sizes():
    assert largest_product(np.array([-3.0, 2.0]), np.array([1.0, 4.0])) == 8.0
    assert largest_product(np.empty(0), np.empty(0)) == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_columns_grow_older_while_they_are_out(sign):
    oldest = np.iinfo(np.int16).max
    ages = np.array([4, 4, 4, oldest, 7], dtype=np.int16)
    active = np.array([3, 0, 2, 1], dtype=np.int32)  # the last is idle
    update_ages(ages, active, sign * np.array([1.0, 1.0, 0.1, -1.0]), sign, 0.1)
    assert ages.tolist() == [5, 0, 0, oldest, 7]


def test_integer_columns_have_integer_values():
    values, whole = np.array([1.0, 0.5, 2.0 + 1e-8]), np.array([True, False, True, False])
    assert are_integral(values, whole, 1e-6)
    assert not are_integral(values, whole, 1e-9)
    assert not are_integral(values, ~whole, 1e-6)
    assert not are_integral(np.array([math.nan]), whole, 1e-6)


TEMPLATE = -2


def columns(seed, count=30, rows=7):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, count)) * (rng.random((rows, count)) < 0.4)
    there = np.argwhere(dense.T != 0.0)
    starts = np.searchsorted(there[:, 0], np.arange(count + 1)).astype(np.int32)
    return rng, dense, (starts, there[:, 1].astype(np.int32), dense[there[:, 1], there[:, 0]])


@pytest.mark.parametrize("known", [0, 4, 7, 9])
def test_products_ignore_rows_without_a_dual_value(known):
    rng, dense, entries = columns(known)
    duals = rng.normal(size=known)
    duals.setflags(write=False)
    padded = np.concatenate([duals, np.zeros(9)])[:7]
    assert products(*entries, duals) == pytest.approx(padded @ dense)


@pytest.mark.parametrize("known", [0, 12, 30])
def test_activities_of_the_first_columns(known):
    rng, dense, entries = columns(known)
    amounts = np.where(rng.random(known) < 0.5, 0.0, rng.normal(size=known))
    amounts.setflags(write=False)
    assert activities(*entries, amounts, 9) == pytest.approx([*(dense[:, :known] @ amounts), 0.0, 0.0])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("count", [1, 2])
def test_the_least_reduced_cost_of_each_pricing_problem(sign, count):
    rng = np.random.default_rng(count)
    costs, earned = rng.normal(size=(2, 40))
    upper = np.where(rng.random(40) < 0.3, 1.0, math.inf)
    origins = rng.integers(-2, 3, 40).astype(np.int32)  # 2 belongs to no pricing problem
    first = -1 if count == 1 else 0
    reduced = sign * (costs - earned)
    mine = [(origins >= -1) if count == 1 else origins == k for k in range(count)]
    expected = [reduced[own & (upper == math.inf)].min() for own in mine]
    assert least_reduced_costs(costs, earned, upper, origins, sign, first, count).tolist() == expected


def test_columns_of_no_pricing_problem_leave_infinity():
    one, origins = np.ones(1), np.array([TEMPLATE], dtype=np.int32)
    assert least_reduced_costs(one, one, np.array([math.inf]), origins, 1.0, 0, 2).tolist() == [math.inf, math.inf]


def sides(duals, lower, upper, sign):
    """Their terms, and what these are in size."""
    return side_terms(duals, lower, upper, sign)


def test_sides_are_those_that_dual_values_speak_of():
    duals = np.array([2.0, -3.0, 0.0])
    lower, upper = np.array([5.0, -math.inf, -math.inf]), np.array([math.inf, 4.0, math.inf])
    assert sides(duals, lower, upper, 1.0) == (2.0 * 5.0 - 3.0 * 4.0, 2.0 * 5.0 + 3.0 * 4.0)
    assert sides(-duals, lower, upper, -1.0) == (2.0 * 5.0 - 3.0 * 4.0, 2.0 * 5.0 + 3.0 * 4.0)
    assert math.isinf(sides(-duals, lower, upper, 1.0)[0])  # of sides that are not there
    assert math.isnan(sides(np.array([math.nan]), lower[:1], upper[:1], 1.0)[0])


def boxes(costs, earned, lower, upper, weights, origins, sign, theta, clean, share=1.0, rounding=0.0):
    return box_terms(costs, earned, lower, upper, weights, origins, TEMPLATE, sign, theta, (clean, share, rounding))


def box(reduced, lower, upper, origin=0, weight=0.0, clean=1e-7):
    arrays = (np.array([value]) for value in (reduced, 0.0, lower, upper, weight))
    return boxes(*arrays, np.array([origin], dtype=np.int32), 1.0, 1.0, clean)


def test_box_terms_by_hand():
    assert box(-2.0, 0.0, 3.0) == -6.0
    assert box(2.0, 0.5, 3.0) == 1.0
    assert box(-2.0, 0.0, math.inf) == 0.0  # an oracle answers for it
    assert box(-2.0, 1.0, math.inf) == -2.0  # except for its lower bound
    assert box(-2.0, 0.0, math.inf, TEMPLATE) == -math.inf
    assert box(-1e-8, 0.0, math.inf, TEMPLATE) == 0.0
    assert box(-1e-6, 0.0, math.inf, TEMPLATE) == -math.inf
    assert box(-1e-6, 0.0, math.inf, TEMPLATE, weight=16.0) == 0.0  # rounding of a weight
    assert box(1.0, -math.inf, 1.0) == -math.inf
    assert math.isnan(box(math.nan, 1.0, 3.0))


def test_box_terms_at_a_part_of_the_dual_values():
    costs, earned = np.array([1.0]), np.array([4.0])
    zero, two, origins = np.zeros(1), np.array([2.0]), np.zeros(1, dtype=np.int32)
    assert boxes(costs, earned, zero, two, zero, origins, 1.0, 0.5, 0.0) == -2.0
    assert boxes(-costs, -earned, zero, two, zero, origins, -1.0, 0.5, 0.0) == -2.0


def test_a_reduced_cost_of_an_unbounded_variable_is_small_relative_to_its_cost():
    one, none, origins = np.ones(1), np.zeros(1), np.array([TEMPLATE], dtype=np.int32)

    def left(cost, earned, clean=1.0, share=1e-7, rounding=0.0):
        arrays = (np.array([cost]), np.array([earned]), none, np.inf * one, none, origins)
        return boxes(*arrays, 1.0, 1.0, clean, share, rounding)

    assert left(-0.5, 0.0) == -math.inf  # small only relative to other costs
    assert left(1e8, 1e8 + 0.5) == 0.0
    assert left(1.0, 1.0 + 1e-6) == -math.inf
    assert left(1.0, 1.0 + 1e-6, rounding=1e-5) == 0.0
    assert left(-1e-6, 0.0, rounding=1e-5) == -math.inf  # nothing is subtracted, so there is no rounding error


@given(
    st.lists(st.lists(st.integers(-1, 4), max_size=3, unique=True), max_size=8), st.integers(1, 3), st.integers(0, 8)
)
def test_columns_are_selected_in_order_while_their_rows_have_room(columns, overlap, most):
    starts = np.cumsum([0, *map(len, columns)]).astype(np.int64)
    rows = np.array([row for column in columns for row in column], dtype=np.int64)
    expected = []
    for k, column in enumerate(columns):
        shared = (sum(row in columns[j] for j in expected) for row in column if row >= 0)
        if len(expected) < most and all(count < overlap for count in shared):
            expected.append(k)
    assert limit_overlap(starts, rows, overlap, most).tolist() == expected
