"""Settings that are numbers."""

import math

import numpy as np
import pytest

from colgen import InputError
from colgen.core.domains import real, whole


@pytest.mark.parametrize("value", [0, 0.5, np.float32(0.5), np.int64(3)])
def test_numbers_are_taken_whatever_their_type(value):
    assert real(value, "alpha") == float(value)


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, "much", None, 1j, [1.0]])
def test_what_is_no_number_of_the_domain_is_one_sentence(value):
    with pytest.raises(InputError, match=r"^alpha") as raised:
        real(value, "alpha")
    assert "\n" not in str(raised.value)


def test_infinity_where_it_means_something():
    assert real(math.inf, "seconds", finite=False) == math.inf


@pytest.mark.parametrize("value", [3, np.int8(3), 3.0])
def test_whole_numbers(value):
    assert whole(value, "rounds") == 3


@pytest.mark.parametrize("value", [2.5, -1, math.nan, "3", None])
def test_no_whole_number(value):
    with pytest.raises(InputError, match=r"^rounds"):
        whole(value, "rounds")


def test_ends_are_included():
    assert whole(0, "k", high=4) == 0
    assert whole(4, "k", high=4) == 4
    with pytest.raises(InputError, match=r"^k"):
        whole(5, "k", high=4)
