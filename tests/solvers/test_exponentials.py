"""Exponentials of compiled code, compared with those of NumPy."""

import numpy as np
from numba import njit

from colgen.solvers.exponentials import exponential


@njit
def exponentials(values, found):
    for k in range(len(values)):
        found[k] = exponential(values[k])


def test_they_are_accurate_to_the_last_digits():
    rng = np.random.default_rng(0)
    special = [0.0, -0.0, 1.0, -1.0, 708.0, -708.0, 1e-320, 5e-324, 1e-17, 0.5 * np.log(2.0), -0.5 * np.log(2.0)]
    values = np.concatenate([special, *(rng.normal(size=3000) * size for size in (1e-9, 1.0, 30.0, 200.0))])
    values = values[np.abs(values) <= 708.0]
    found = np.empty(len(values))
    exponentials(values, found)
    np.testing.assert_allclose(found, np.exp(values), rtol=3e-16)
    assert found[0] == found[1] == 1.0


def test_small_arguments_give_zero():
    found = np.empty(5)
    exponentials(np.array([-np.inf, -1e308, -1e17, -745.0, -708.1]), found)
    assert (found == 0.0).all()


def test_complex_numbers_are_those_of_numpy():
    values = np.array([1.0 + 2.0j, -3.0 + 1e-100j])
    found = np.empty(2, complex)
    exponentials(values, found)
    np.testing.assert_allclose(found, np.exp(values), rtol=1e-15)
    assert exponential(1.0) == np.exp(1.0)
