"""Floating-point numbers as integers over a power of two."""

from fractions import Fraction

import numpy as np
import pytest

from colgen.certificate.scaling import places, to_integer_lists


@pytest.mark.parametrize("values", [[0.0], [1.5, -3.0], [0.1, 1e-300, -np.inf], [1e300, 2.0**-60], []])
def test_nothing_is_rounded(values):
    array = np.array(values)
    shift = places(array)
    for value, whole in zip(values, to_integer_lists(array, shift), strict=True):
        assert (whole is None) == np.isinf(value)
        assert whole is None or Fraction(whole, 2**shift) == Fraction(value)
