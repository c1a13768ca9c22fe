"""Scaling of linear programs by powers of two, which is exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.solvers.scaling import power_of_two, powers_of_two

Floats = NDArray[np.float64]

_NEAR = 2.0**-3
"""Costs are scaled again if those in the current solution are below this fraction of their scale ..."""

FAR = 2.0**20
"""... or above this multiple of it.  In between, tolerances are as tight as required, or tighter."""

_WIDEST = 2.0**34
"""Costs smaller than others by this factor are rounding errors of sums and do not determine the scale."""

_KEPT = 2.0**26
"""A row is divided by at most this multiple of its largest entry: solvers drop entries below 1e-9."""

SCALINGS = 4
"""Maximum number of scalings of the costs in one solve."""


def row_sizes(matrix: sparse.sparray, lower: Floats, upper: Floats) -> Floats:
    """Return the size of each row: the largest power of two up to its largest finite side or entry, 0 if all are zero.

    If a side is far larger than all entries, the size is limited so that solvers keep the largest entry.  The entries
    of an empty row are assumed to be 1.  ``matrix`` has shape (rows, columns); sides have one entry per row.
    """
    entries = sparse.csc_array(matrix)
    return sizes_of_rows(entries.indices, entries.data, lower, upper)


def sizes_of_rows(rows: NDArray[np.integer], values: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return the sizes of :func:`row_sizes` from the row and value of each entry."""
    entries = np.zeros(len(lower))
    np.maximum.at(entries, rows, np.abs(values))
    sizes = entries
    for sides in (lower, upper):
        sizes = np.maximum(sizes, np.where(np.isfinite(sides), np.abs(sides), 0.0))
    entries = np.where(entries > 0.0, entries, 1.0)  # assumed size of entries of later columns
    sizes = np.minimum(sizes / _KEPT, entries) * _KEPT
    return np.where(sizes > 0.0, powers_of_two(sizes), 0.0)


def column_units(
    matrix: sparse.sparray,
    lower: Floats,
    upper: Floats,
    row_lower: Floats,
    row_upper: Floats,
    integer: NDArray[np.bool_],
) -> Floats:
    """Return the best units of continuous columns: powers of two, all 1 if the program's numbers are of similar size.

    Solvers tolerate an absolute violation of bounds and rows.  That is too large for values of 1e-6 and too strict for
    values of 1e9.  The units make the entries of a row, its sides, and the bounds of its columns as similar as
    possible: their logarithms are fitted by least squares, alternating between rows and columns.

    References
    ----------
    A. R. Curtis, J. K. Reid, *On the automatic scaling of matrices for Gaussian elimination*, IMA Journal of Applied
    Mathematics 10 (1972).
    """
    units = np.ones(len(lower))
    entries = sparse.coo_array(matrix)
    count, width = entries.shape
    rows, columns, values = [entries.row], [entries.col], [entries.data]
    for sides in (row_lower, row_upper):  # sides are entries of a column with unit 1
        mine = np.flatnonzero(np.isfinite(sides) & (sides != 0.0))
        rows, columns, values = [*rows, mine], [*columns, np.full(len(mine), width)], [*values, sides[mine]]
    for bounds in (lower, upper):  # bounds are rows with an entry 1 and a side
        mine = np.flatnonzero(np.isfinite(bounds) & (bounds != 0.0))
        own = count + np.arange(len(mine))
        rows, columns = [*rows, own, own], [*columns, mine, np.full(len(mine), width)]
        values, count = [*values, np.ones(len(mine)), bounds[mine]], count + len(mine)
    sizes = np.abs(np.concatenate(values))
    used = sizes > 0.0
    if not used.any() or integer.all() or sizes[used].max() < _SIMILAR * sizes[used].min():
        return units
    row, column, logs = np.concatenate(rows)[used], np.concatenate(columns)[used], np.log2(sizes[used])
    of_row, of_column = np.zeros(count), np.zeros(width + 1)
    in_row = np.maximum(np.bincount(row, minlength=count), 1)
    in_column = np.maximum(np.bincount(column, minlength=width + 1), 1)
    fixed = np.append(integer, True)
    for _ in range(_FITS):
        of_row = -np.bincount(row, logs + of_column[column], count) / in_row
        of_column = np.where(fixed, 0.0, -np.bincount(column, logs + of_row[row], width + 1) / in_column)
    found = np.rint(of_column[:width])
    return np.where(np.abs(found) < _OTHER, units, np.exp2(np.clip(found, -1000.0, 1000.0)))


_SIMILAR = 2.0**20
"""Numbers of a program that differ by less than this factor are of similar size."""

_OTHER = 8.0
"""Logarithm (base 2) of the smallest unit change that is applied."""

_FITS = 20
"""Number of alternating fits of rows and columns."""


def typical_size(costs: Floats, default: float = 1.0) -> float:
    """Return an initial scale of an objective, a power of two; ``default`` if all costs are zero.

    It is the size of the smallest nonzero cost, but at least a millionth of the largest.  Only a solution shows which
    costs matter, and which are penalties that no solution pays.
    """
    sizes = np.abs(costs[costs != 0.0])
    return float(powers_of_two(np.maximum(sizes.min(), sizes.max() / FAR))) if len(sizes) else default


def better_scale(costs: Floats, used: float, scale: float) -> float | None:
    """Return a better size of the objective, a power of two, or None if the current scale is close enough.

    ``used`` is the median of the costs in the optimum, or 0 if it has none.
    """
    if used:
        typical = power_of_two(used)
    else:  # no cost in the optimum: possibly because improving columns are too small to be seen
        sizes = np.abs(costs[costs != 0.0])
        typical = float(powers_of_two(np.maximum(sizes.min(), sizes.max() / _WIDEST))) if len(sizes) else scale
    return typical if typical < _NEAR * scale or typical > FAR * scale else None


def scaled(matrix: sparse.csc_array, rows: Floats, units: Floats) -> sparse.csc_array:
    """Return a matrix with rows multiplied, and columns counted in other units."""
    values = matrix.data * rows[matrix.indices] * np.repeat(units, np.diff(matrix.indptr))
    return sparse.csc_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
