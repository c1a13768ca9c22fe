r"""What dual values prove of a linear program, whatever they are and wherever they come from.

    min cᵀx    subject to    rᴸ ≤ A x ≤ rᵁ,    l ≤ x ≤ u.

For any y no point costs less than Σ_i y_i r_i + Σ_j d_j b_j with d = c - Aᵀy, where r_i and b_j are the sides and
bounds that make it least.  What rounding may add to the sum is taken off.

Source: A. Neumaier, O. Shcherbina, *Safe bounds in linear and mixed-integer linear programming*, Mathematical
Programming 99 (2004).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]

_UNIT = float(np.finfo(np.float64).eps)


def least_by_duals(
    costs: Floats,
    transposed: sparse.csr_array,
    duals: Floats,
    row_sides: tuple[Floats, Floats],
    bounds: tuple[Floats, Floats],
) -> float:
    """A number that no point's costs fall below; -inf if bounds that are needed are infinite.

    Parameters
    ----------
    transposed
        Of the matrix: shape (columns, rows).
    duals
        One a row, of any sign: one that no side pays for counts as zero.
    row_sides, bounds
        Lower and upper ones.
    """
    sides = np.where(duals > 0.0, row_sides[0], row_sides[1])
    duals = np.where(np.isfinite(sides), duals, 0.0)
    sides = np.where(duals == 0.0, 0.0, sides)
    reduced = costs - transposed @ duals
    ends = np.where(reduced > 0.0, bounds[0], bounds[1])
    ends = np.where(reduced == 0.0, 0.0, ends)
    if not np.isfinite(ends).all():
        return -np.inf
    pulls = abs(transposed) @ np.abs(duals)
    sizes = np.where(pulls > 0.0, np.abs(costs) + pulls, 0.0)  # where no row has any, d is c
    largest = np.maximum(np.abs(bounds[0]), np.abs(bounds[1]))
    largest = np.where(np.isfinite(largest), largest, np.abs(ends))
    # A sum of k terms is off by at most k units of the sizes of all of them; d has as many as a column has entries.
    terms = np.diff(transposed.indptr) + 2
    count = len(duals) + len(costs)
    paid = np.abs(duals * sides)
    off = _UNIT * float((terms * sizes * largest).sum() + count * (paid.sum() + np.abs(reduced * ends).sum()))
    return float((duals * sides).sum() + (reduced * ends).sum()) - off
