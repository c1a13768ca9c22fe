"""Whether a decomposition can pay: where its bound is no better than that of the compact model's relaxation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from colgen.decomposition.subproblem import Subproblem


def is_hull(sub: Subproblem) -> bool:
    """Whether the rows of a block are known to describe the convex hull of its points already.

    They do where nothing must be whole, and where bounds and sides are whole and the matrix is totally unimodular: that
    of a network (entries of 1 and -1, at most one of each in a column, or in a row), or a single row of such entries.
    A block of which nothing of the kind is known may still be one.
    """
    if not sub.integer.any():
        return True
    if not sub.integer.all():
        return False
    matrix = sparse.coo_array(sub.matrix)
    sides = np.concatenate([sub.lower, sub.upper])
    rows = sparse.csr_array(sub.matrix)
    scale = np.asarray(abs(rows).max(axis=1).toarray()).ravel() if rows.nnz else np.ones(rows.shape[0])
    scale[scale == 0.0] = 1.0
    units = matrix.data / scale[matrix.row]
    sides = np.concatenate([sides, sub.row_lower / scale, sub.row_upper / scale])
    if (np.abs(units) != 1.0).any() or (sides[np.isfinite(sides)] != np.round(sides[np.isfinite(sides)])).any():
        return False
    if matrix.shape[0] <= 1:
        return True
    return any(
        np.bincount(place[units == sign], minlength=size).max(initial=0) <= 1
        and np.bincount(place[units == -sign], minlength=size).max(initial=0) <= 1
        for place, size, sign in ((matrix.col, matrix.shape[1], 1.0), (matrix.row, matrix.shape[0], 1.0))
    )


def remarks(subs: Sequence[Subproblem]) -> tuple[str, ...]:
    """Why a decomposition cannot pay, a sentence each; nothing where it may."""
    said = []
    blocks = sum(sub.count for sub in subs)
    if blocks == 1:
        said.append("This decomposition cannot pay: of one block the pricing problem is the model less what links it.")
    if all(map(is_hull, subs)):
        said.append(
            "This decomposition cannot pay by its bound: the rows of every block describe the hull of its points "
            "already, so that it is no better than the linear relaxation's."
        )
    return tuple(said)
