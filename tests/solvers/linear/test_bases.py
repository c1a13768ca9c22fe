"""Bases that are made, and that grow."""

import highspy
import numpy as np

from colgen.solvers.linear.bases import basis_of, extend_basis

AT_LOWER, BASIC = highspy.HighsBasisStatus.kLower, highspy.HighsBasisStatus.kBasic


def made():
    return basis_of(np.array([True, False]), np.array([False]))


def test_a_basis_has_the_given_basic_columns():
    basis = made()
    assert basis.valid
    assert list(basis.col_status) == [BASIC, AT_LOWER]
    assert list(basis.row_status) == [AT_LOWER]


def test_new_columns_are_at_their_bounds_and_new_rows_basic():
    basis = extend_basis(made(), 3, 2)
    assert basis.valid
    assert list(basis.col_status) == [BASIC, AT_LOWER, AT_LOWER]
    assert list(basis.row_status) == [AT_LOWER, BASIC]


def test_columns_are_found_where_they_are_now():
    basis = extend_basis(made(), 3, 1, np.array([2, -1]))
    assert list(basis.col_status) == [AT_LOWER, AT_LOWER, BASIC]
