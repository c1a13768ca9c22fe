"""Validation of array arguments: conversions, rejections, and messages."""

import numpy as np
import pytest

from colgen.solvers.arrays import (
    ArrayError,
    as_booleans,
    as_float,
    as_floats,
    as_indices,
    as_integer,
    as_integers,
    as_offsets,
    integral_bounds,
)


class Wrapped:
    """Like a pandas Series: no array, but it can become one."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


class TestFloats:
    def test_a_valid_array_is_returned_without_a_copy(self):
        x = np.arange(6.0).reshape(2, 3)
        assert as_floats(x, "x", shape=(2, None)) is x
        single = x.astype(np.float32)
        assert as_floats(single, "x", dtype=None) is single

    @pytest.mark.parametrize(
        "value",
        [
            [1, 2],
            (1.0, 2.0),
            np.array([1, 2], np.float16),
            np.array([1, 2], ">i2"),
            Wrapped([1, 2]),
            np.arange(1, 5)[::2] - [0, 1],
        ],
    )
    def test_values_that_no_cast_changes_are_accepted(self, value):
        got = as_floats(value, "x", shape=("n",))
        assert got.dtype == np.float64
        assert got.dtype.isnative
        assert got.flags.c_contiguous
        assert got.tolist() == [1.0, 2.0]

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            ([1.0, np.nan], "x: expected finite numbers, got nan at [1]"),
            ([[0.0, np.inf]], "x: expected finite numbers, got inf at [0, 1]"),
            ([1j], "x: expected numbers, got complex numbers"),
            (["1"], "x: expected numbers, got strings"),
            ([None], "x: expected numbers, got objects"),
            (np.zeros(2, dtype=[("a", float)]), "x: expected numbers, got records"),
            (np.zeros(2, dtype="M8[s]"), "x: expected numbers, got dates"),
            ([[1.0], [1.0, 2.0]], "x: expected numbers, got rows of different lengths"),
            ([2**53 + 1], f"x: expected numbers that a float can hold, got {2**53 + 1} at [0]"),
            (np.ma.masked_array([1.0, 2.0], [True, False]), "x: expected numbers, got an array with masked entries"),
        ],
    )
    def test_what_a_cast_would_change_is_refused(self, value, words):
        with pytest.raises(ArrayError) as caught:
            as_floats(value, "x")
        assert str(caught.value) == words

    def test_infinities_only_where_allowed(self):
        assert as_floats([-np.inf, 1.0], "x", minus_infinity=True)[0] == -np.inf
        assert as_floats([-np.inf, 1.0], "x", minus_infinity=True, low=0.0)[0] == -np.inf
        assert as_floats([-np.inf, np.inf], "x", finite=False).tolist() == [-np.inf, np.inf]
        with pytest.raises(ArrayError, match=r"finite numbers, or -inf, got inf at \[0\]"):
            as_floats([np.inf], "x", minus_infinity=True)
        with pytest.raises(ArrayError, match=r"expected numbers, got nan"):
            as_floats([np.nan], "x", finite=False)

    def test_no_number_becomes_infinite(self):
        for kind in ({}, {"finite": False}, {"minus_infinity": True}):
            with pytest.raises(ArrayError, match="-1e\\+300"):
                as_floats([1.0, -1e300], "x", dtype=np.float32, **kind)

    def test_ranges_and_shapes(self):
        assert as_floats([0.0, 1.0], "x", low=0, high=1).tolist() == [0.0, 1.0]
        with pytest.raises(ArrayError, match=r"x: expected finite numbers from 0 to 1, got 1.5 at \[0\]"):
            as_floats([1.5], "x", low=0, high=1)
        with pytest.raises(ArrayError, match=r"x: expected the shape \(n, n\), got \(2, 3\)"):
            as_floats(np.zeros((2, 3)), "x", shape=("n", "n"))
        with pytest.raises(ArrayError, match=r"x: expected the shape \(3,\), got \(2,\)"):
            as_floats([1, 2], "x", shape=(3,))
        assert as_floats(np.zeros((0, 3)), "x", shape=("n", 3)).shape == (0, 3)


class TestIntegers:
    @pytest.mark.parametrize("value", [[1, 2], [1.0, 2.0], np.array([1, 2], np.uint64), np.array([1, 2], ">i4")])
    def test_integers_of_any_type_are_accepted(self, value):
        got = as_integers(value, "k")
        assert got.dtype == np.int64
        assert got.tolist() == [1, 2]

    @pytest.mark.parametrize(
        "value",
        [
            [50.5],
            [np.nan],
            [np.inf],
            [1e308],
            [2.0**53 + 2],
            [2**63],
            [2**64],
            [2**63 + 1, -1],
            [1j],
            ["3"],
            [None],
            [[1], [1, 2]],
        ],
    )
    def test_what_a_cast_would_change_is_refused(self, value):
        with pytest.raises(ArrayError, match=r"^k: expected integers"):
            as_integers(value, "k")

    def test_range_of_the_type(self):
        with pytest.raises(ArrayError, match=f"k: expected integers of 32 bits, got {2**31} at"):
            as_integers([0, 2**31], "k", dtype=np.int32)
        small = np.array([1, 2], np.int32)
        assert as_integers(small, "k", dtype=None) is small

    def test_indices(self):
        assert as_indices([0, 4], "k", upper=5).tolist() == [0, 4]
        assert as_indices([-1, 4], "k", upper=5, low=-1).tolist() == [-1, 4]
        assert not as_indices([], "k", upper=0).size
        for wrong in ([5], [-1], [0.5], [True, False], [2**63]):
            with pytest.raises(ArrayError, match=r"^k: expected indices"):
                as_indices(wrong, "k", upper=5)
        with pytest.raises(ArrayError, match=r"k: expected indices from 0 to 4, got 9 at \[1, 0\]"):
            as_indices([[0], [9]], "k", upper=5)

    def test_offsets(self):
        assert as_offsets([0, 2, 2, 4], "o", total=4).tolist() == [0, 2, 2, 4]
        for wrong in ([], [1, 4], [0, 3], [0, 3, 2, 4], [0.5, 4], [[0, 4]]):
            with pytest.raises(ArrayError, match=r"^o: expected"):
                as_offsets(wrong, "o", total=4)
        with pytest.raises(ArrayError, match=r"o: expected offsets that increase, got 2 after 2 at \[2\]"):
            as_offsets([0, 2, 2, 4], "o", total=4, empty=False)

    def test_booleans(self):
        assert as_booleans([0, 1.0], "m").tolist() == [False, True]
        for wrong in ([2], [0.5], [np.nan], ["a"], [None]):
            with pytest.raises(ArrayError, match=r"^m: expected booleans"):
                as_booleans(wrong, "m")


class TestSingleNumbers:
    @pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3), np.array(3)])
    def test_an_integer(self, value):
        assert as_integer(value, "C") == 3

    @pytest.mark.parametrize("value", [3.5, np.nan, np.inf, 2.0**60, 2**63, "3", None, True, 3j, [3], "x" * 1000])
    def test_anything_else_is_rejected(self, value):
        with pytest.raises(ArrayError, match=r"^C: expected an integer, got ") as caught:
            as_integer(value, "C")
        assert len(str(caught.value)) < 100

    def test_a_number(self):
        assert as_float(np.float32(0.5), "t", low=0) == 0.5
        assert as_float(np.inf, "t", finite=False) == np.inf
        for wrong in (np.nan, np.inf, -1, "1", None, True, 1j, [1.0], 10**400):
            with pytest.raises(ArrayError, match=r"^t: expected a finite number of at least 0, got "):
                as_float(wrong, "t", low=0)


class TestIntegralBounds:
    def test_they_are_rounded_inward_and_those_of_continuous_variables_stay(self):
        lower, upper = np.array([0.5, 0.5, -1.5, -np.inf]), np.array([3.5, 3.5, -0.2, np.inf])
        low, high = integral_bounds(lower, upper, np.array([True, False, True, True]))
        assert low.tolist() == [1.0, 0.5, -1.0, -np.inf]
        assert high.tolist() == [3.0, 3.5, -1.0, np.inf]

    @pytest.mark.parametrize(
        ("bound", "whole"), [(2.9999999999, 3.0), (3.0000000001, 3.0), (1e9 - 1e-7, 1e9), (-1e-9, 0)]
    )
    def test_rounding_loses_no_integer(self, bound, whole):
        low, high = integral_bounds(np.array([bound]), np.array([bound]), np.ones(1, dtype=bool))
        assert low[0] == high[0] == whole
        assert not np.signbit(low[0]) or whole

    def test_large_fractional_bounds_are_rounded_inward_too(self):
        low, high = integral_bounds(np.array([1e9 + 0.3]), np.array([1e9 + 0.9]), np.ones(1, dtype=bool))
        assert (low[0], high[0]) == (1e9 + 1, 1e9)

    def test_integral_bounds_are_returned_themselves(self):
        lower, upper = np.array([0.0, 0.5]), np.array([np.inf, 1.5])
        low, high = integral_bounds(lower, upper, np.array([True, False]))
        assert low is lower
        assert high is upper
