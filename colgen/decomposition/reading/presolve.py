"""Presolve: rows of one variable become bounds, fixed variables join the sides of rows, and dominated rows are removed.

Nothing is renumbered: a removed row has no entries and no sides, and a fixed variable no entries.  An answer of the
reduced model is one of the model, and the checker of certificates repeats the reductions in fractions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.decomposition.reading.implied_bounds import SLACK
from colgen.model.rows import Rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def reduced(f: Rows) -> Rows:
    """Return arrays without the rows that are redundant, or the same ones if there is nothing to reduce.

    Bounds or sides that exclude all points are left to the solver: the arrays are then returned as they are.
    """
    matrix = sparse.csr_array(f.matrix)
    matrix.sort_indices()
    lower, upper = f.lower.copy(), f.upper.copy()
    rows, columns = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices.astype(np.int64)
    low, high, data = f.row_lower, f.row_upper, matrix.data
    kept = data != 0.0
    while True:
        fixed = kept & (lower == upper)[columns]
        moved = np.bincount(rows[fixed], (data * lower[columns])[fixed], minlength=len(low))
        low, high, kept = low - moved, high - moved, kept & ~fixed
        count = np.bincount(rows[kept], minlength=len(low))
        empty = np.flatnonzero((count == 0) & ~(np.isinf(low) & np.isinf(high)))
        room = SLACK * (1.0 + np.bincount(rows, np.abs(data), minlength=len(low)))
        if (low[empty] > room[empty]).any() or (high[empty] < -room[empty]).any():
            return f
        low, high = np.where(count == 0, -np.inf, low), np.where(count == 0, np.inf, high)
        single = np.flatnonzero(kept & (count == 1)[rows])
        if not len(single):
            break
        v, a = columns[single], data[single]
        ends = np.sort([low[rows[single]] / a, high[rows[single]] / a], axis=0)
        whole = f.integer[v]
        ends[0, whole], ends[1, whole] = np.ceil(ends[0, whole] - SLACK), np.floor(ends[1, whole] + SLACK)
        np.maximum.at(lower, v, ends[0])
        np.minimum.at(upper, v, ends[1])
        if (lower > upper).any():
            return f
        kept[single], low[rows[single]], high[rows[single]] = False, -np.inf, np.inf
    gone = _dominated(rows[kept], columns[kept], data[kept], low, high)
    kept, low, high = kept & ~gone[rows], np.where(gone, -np.inf, low), np.where(gone, np.inf, high)
    if kept.all() and (low == f.row_lower).all() and (high == f.row_upper).all():
        return f
    entries = (data[kept], (rows[kept], columns[kept]))
    return Rows.of_arrays(
        f.sense,
        sparse.csc_array(entries, shape=matrix.shape),
        columns=(f.column_keys, f.costs, lower, upper),
        rows=(f.row_keys, low, high),
        integer=f.integer,
        artificial=f.artificial,
        exchange=f.exchange,
        offset=f.offset,
    )


def _dominated(rows: Ints, columns: Ints, data: Floats, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Return which rows are multiples of another row that is at least as tight; the first of equal ones stays."""
    gone = np.zeros(len(low), dtype=np.bool_)
    if not len(rows):
        return gone
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    mine, sizes = rows[starts], np.diff(np.append(starts, len(rows)))
    first = data[starts]
    scaled = data / np.repeat(first, sizes)
    draws = np.random.default_rng(0).random(int(columns.max()) + 1)
    _, group, counts = np.unique(
        np.add.reduceat(scaled * draws[columns], starts), return_inverse=True, return_counts=True
    )
    ends = np.sort([low[mine] / first, high[mine] / first], axis=0)
    places = np.flatnonzero(counts[group.reshape(-1)] > 1)
    tightest: dict[bytes, list[int]] = {}
    for k in places[np.lexsort((places, np.abs(first[places]), ends[1, places], -ends[0, places]))].tolist():
        span = slice(starts[k], starts[k] + sizes[k])
        same = tightest.setdefault(columns[span].tobytes() + scaled[span].tobytes(), [])
        if any(ends[0, other] >= ends[0, k] and ends[1, other] <= ends[1, k] for other in same):
            gone[mine[k]] = True
        else:
            same.append(k)
    return gone
