"""Numbers from users: accepted types, and errors with the name."""

from __future__ import annotations

import math

import numpy as np
import pytest

from colgen import InputError
from colgen.core.numbers import integer, numbers_of, real, to_integer


@pytest.mark.parametrize("value", [7, 7.0, np.int32(7), np.float64(7.0), np.array(7)])
def test_integers_are_accepted(value):
    found = to_integer(value, "the roll width")
    assert found == 7
    assert type(found) is int


@pytest.mark.parametrize("value", [7.5, "7", True, None, float("nan"), float("inf"), [7], np.array([7, 8])])
def test_other_values_are_refused_by_name(value):
    with pytest.raises(InputError, match="the roll width must be an integer, not ") as caught:
        to_integer(value, "the roll width")
    assert len(str(caught.value)) < 100


def test_integers_of_more_than_64_bits_are_accepted():
    assert to_integer(10**400, "a score") == 10**400


def test_an_answer_has_an_integer_per_item():
    assert numbers_of((1, np.int64(2), 0), "a colour for each vertex") == [1, 2, 0]


@pytest.mark.parametrize("answer", [[1, 2.0], [None], None, 3, "ab"])
def test_answers_with_other_entries_are_refused(answer):
    with pytest.raises(ValueError, match="expected a colour for each vertex, an integer: "):
        numbers_of(answer, "a colour for each vertex")


@pytest.mark.parametrize("value", [0, 0.5, np.float32(0.5), np.int64(3)])
def test_all_types_of_numbers_are_accepted(value):
    assert real(value, "alpha") == float(value)


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, "much", None, 1j, [1.0]])
def test_numbers_outside_the_domain_are_refused(value):
    with pytest.raises(InputError, match=r"^alpha") as raised:
        real(value, "alpha")
    assert "\n" not in str(raised.value)


def test_infinity_is_accepted_where_it_is_allowed():
    assert real(math.inf, "seconds", finite=False) == math.inf


@pytest.mark.parametrize("value", [3, np.int8(3), 3.0])
def test_integers(value):
    assert integer(value, "rounds") == 3


@pytest.mark.parametrize("value", [2.5, -1, math.nan, "3", None])
def test_values_that_are_not_integers(value):
    with pytest.raises(InputError, match=r"^rounds"):
        integer(value, "rounds")


def test_ends_are_included():
    assert integer(0, "k", high=4) == 0
    assert integer(4, "k", high=4) == 4
    with pytest.raises(InputError, match=r"^k"):
        integer(5, "k", high=4)
