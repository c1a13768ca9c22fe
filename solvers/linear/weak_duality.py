r"""A safe lower bound on the optimum of a linear program, from any dual values.

    min cᵀx    subject to    rᴸ ≤ A x ≤ rᵁ,    l ≤ x ≤ u.

For any y every point costs at least Σ_i y_i r_i + Σ_j d_j b_j with d = c - Aᵀy, where r_i and b_j are the sides and
bounds that minimise it.  A bound on the rounding error of the sum is subtracted.

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
    """Return a lower bound on the costs of all points; -inf if a required bound is infinite.

    ``transposed`` is the transposed matrix, shape (columns, rows).  Dual values have any sign.  One without a finite
    side in its direction counts as zero.  ``row_sides`` and ``bounds`` are pairs, lower and upper.
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
    sizes = np.where(pulls > 0.0, np.abs(costs) + pulls, 0.0)  # without dual values in its rows, d equals c exactly
    largest = np.maximum(np.abs(bounds[0]), np.abs(bounds[1]))
    largest = np.where(np.isfinite(largest), largest, np.abs(ends))
    # The error of a sum of k terms is at most k units of the sum of magnitudes; d has one term per entry of a column.
    terms = np.diff(transposed.indptr) + 2
    count = len(duals) + len(costs)
    paid = np.abs(duals * sides)
    off = _UNIT * float((terms * sizes * largest).sum() + count * (paid.sum() + np.abs(reduced * ends).sum()))
    return float((duals * sides).sum() + (reduced * ends).sum()) - off
