"""Bases of a linear program that has grown since, or is yet to be solved."""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray

from colgen.solvers.linear.highs import Ints

_AT_LOWER, _BASIC = highspy.HighsBasisStatus.kLower, highspy.HighsBasisStatus.kBasic


def extended(
    basis: highspy.HighsBasis, num_columns: int, num_rows: int, places: Ints | None = None
) -> highspy.HighsBasis:
    """A basis for so many columns and rows: columns that it does not know are at their lower bounds, rows basic.

    Parameters
    ----------
    places
        Where its columns are now, -1 for those that are gone (which must not be basic); by default the first ones.
    """
    columns = list(basis.col_status)
    rows = list(basis.row_status)
    if places is not None:
        known = dict(zip(places.tolist(), columns, strict=True))
        columns = [known.get(place, _AT_LOWER) for place in range(num_columns)]
    columns += [_AT_LOWER] * (num_columns - len(columns))
    rows += [_BASIC] * (num_rows - len(rows))
    return _made(columns, rows)


def basis_of(columns: NDArray[np.bool_], rows: NDArray[np.bool_]) -> highspy.HighsBasis:
    """The basis of these basic columns and slacks; all others are at their lower bounds."""
    return _made(
        [_BASIC if is_in else _AT_LOWER for is_in in columns.tolist()],
        [_BASIC if is_in else _AT_LOWER for is_in in rows.tolist()],
    )


def _made(columns: list[highspy.HighsBasisStatus], rows: list[highspy.HighsBasisStatus]) -> highspy.HighsBasis:
    basis = highspy.HighsBasis()
    basis.col_status, basis.row_status, basis.valid = columns, rows, True
    return basis
