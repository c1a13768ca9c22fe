"""Bases of linear programs to which rows or columns were added, or which are not solved yet."""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray

from colgen.solvers.linear.highs import Ints

_AT_LOWER, _BASIC = highspy.HighsBasisStatus.kLower, highspy.HighsBasisStatus.kBasic


def extend_basis(
    basis: highspy.HighsBasis, num_columns: int, num_rows: int, places: Ints | None = None
) -> highspy.HighsBasis:
    """Extend a basis to more columns and rows: new columns at their lower bounds, slacks of new rows basic.

    ``places`` are the current positions of its columns, -1 for deleted ones (which must not be basic); by default
    unchanged.
    """
    columns = list(basis.col_status)
    rows = list(basis.row_status)
    if places is not None:
        known = dict(zip(places.tolist(), columns, strict=True))
        columns = [known.get(place, _AT_LOWER) for place in range(num_columns)]
    columns += [_AT_LOWER] * (num_columns - len(columns))
    rows += [_BASIC] * (num_rows - len(rows))
    return _make_basis(columns, rows)


def basis_of(columns: NDArray[np.bool_], rows: NDArray[np.bool_]) -> highspy.HighsBasis:
    """Return the basis of these basic columns and slacks.  All others are at their lower bounds."""
    return _make_basis(
        [_BASIC if is_in else _AT_LOWER for is_in in columns.tolist()],
        [_BASIC if is_in else _AT_LOWER for is_in in rows.tolist()],
    )


def _make_basis(columns: list[highspy.HighsBasisStatus], rows: list[highspy.HighsBasisStatus]) -> highspy.HighsBasis:
    basis = highspy.HighsBasis()
    basis.col_status, basis.row_status, basis.valid = columns, rows, True
    return basis
