"""The scale that a linear program is solved at: powers of two, which lose nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.solvers.scaling import power_of_two, powers_of_two

Floats = NDArray[np.float64]

_NEAR = 2.0**-3
"""Costs are scaled again where those of the present answer are smaller than this share of their scale ..."""

FAR = 2.0**20
"""... or larger than so many times their scale.  In between, tolerances are as tight as they should be, or tighter."""

_WIDEST = 2.0**34
"""Costs that are so much smaller than others are what rounding has left of sums: they set no scale."""

_KEPT = 2.0**26
"""A row is divided by so many times its largest entry at most: solvers drop entries of less than 1e-9."""

SCALINGS = 4
"""So often are costs scaled again in one solve, at most."""


def row_sizes(matrix: sparse.sparray, lower: Floats, upper: Floats) -> Floats:
    """The size of each row: the power of two next below its largest finite side or entry, 0 if all are zero.

    Beside a side that is larger than all entries by far, it is what leaves the largest entry one that solvers keep.
    Entries of a row that has none yet are taken for 1.

    Parameters
    ----------
    matrix
        Shape (rows, columns).
    lower, upper
        One entry a row.
    """
    entries = sparse.csc_array(matrix)
    return sizes_of_rows(entries.indices, entries.data, lower, upper)


def sizes_of_rows(rows: NDArray[np.integer], values: Floats, lower: Floats, upper: Floats) -> Floats:
    """The same of entries that are given one by one: row and value of each."""
    entries = np.zeros(len(lower))
    np.maximum.at(entries, rows, np.abs(values))
    sizes = entries
    for sides in (lower, upper):
        sizes = np.maximum(sizes, np.where(np.isfinite(sides), np.abs(sides), 0.0))
    entries = np.where(entries > 0.0, entries, 1.0)  # those that columns will bring
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
    """What continuous columns are best counted in: powers of two, 1 in a program whose numbers are of similar size.

    Solvers accept an absolute violation of bounds and rows, which means nothing beside values of 1e-6, and too much
    precision beside values of 1e9.  The units make the entries of a row, its sides, and the bounds of its columns as
    similar as possible: their logarithms are fitted by least squares, by turns for rows and for columns.

    References
    ----------
    A. R. Curtis, J. K. Reid, *On the automatic scaling of matrices for Gaussian elimination*, IMA Journal of Applied
    Mathematics 10 (1972).
    """
    units = np.ones(len(lower))
    entries = sparse.coo_array(matrix)
    count, width = entries.shape
    rows, columns, values = [entries.row], [entries.col], [entries.data]
    for sides in (row_lower, row_upper):  # entries of a column that is counted in 1
        mine = np.flatnonzero(np.isfinite(sides) & (sides != 0.0))
        rows, columns, values = [*rows, mine], [*columns, np.full(len(mine), width)], [*values, sides[mine]]
    for bounds in (lower, upper):  # rows of their own, of an entry of 1 and a side
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
"""A column whose unit would be less than 2^8 away from 1 stays as it is."""

_FITS = 20
"""So often are rows and columns fitted to each other."""


def typical_size(costs: Floats, default: float = 1.0) -> float:
    """A power of two to begin with as the scale of an objective; ``default`` if all costs are zero.

    The size of the smallest cost, zeros left out, or a millionth of the largest where that is larger.  Which costs
    matter, and which are penalties that no answer pays, is known once there is an answer.
    """
    sizes = np.abs(costs[costs != 0.0])
    return float(powers_of_two(np.maximum(sizes.min(), sizes.max() / FAR))) if len(sizes) else default


def better_scale(costs: Floats, used: float, scale: float) -> float | None:
    """A power of two as the size of the objective, if it is far from the present scale.

    Parameters
    ----------
    used
        The median of the costs that an optimum is made of; 0 if it is made of none.
    """
    if used:
        typical = power_of_two(used)
    else:  # made of nothing: perhaps because what could improve it is too small to be seen
        sizes = np.abs(costs[costs != 0.0])
        typical = float(powers_of_two(np.maximum(sizes.min(), sizes.max() / _WIDEST))) if len(sizes) else scale
    return typical if typical < _NEAR * scale or typical > FAR * scale else None


def scaled(matrix: sparse.csc_array, rows: Floats, units: Floats) -> sparse.csc_array:
    """A matrix with its rows multiplied, and its columns counted in other units."""
    values = matrix.data * rows[matrix.indices] * np.repeat(units, np.diff(matrix.indptr))
    return sparse.csc_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
