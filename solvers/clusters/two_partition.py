r"""Two-partition inequalities of an equivalence relation, and their heuristic separation.

For an item i and a set T of other items,

    Σ_{t in T} x_it - Σ_{s<t in T} x_st ≤ 1.

If m items of T are related to i then they are related to each other.  The left-hand side is then at most m - m(m - 1)/2
≤ 1.  With two items in T it is a triangle inequality.  With three or more it defines a facet that triangle inequalities
do not imply.  The heuristic grows T greedily, in O(n²) time; exact separation is NP-hard.

Source: M. Grötschel and Y. Wakabayashi, *A cutting plane algorithm for a clustering problem*, Mathematical Programming
45 (1989), and *Facets of the clique partitioning polytope*, Mathematical Programming 47 (1990).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_float, as_floats, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_WHOLE = 1e-6
"""A set starts only from pairs at least this far from 0 and from 1."""


def violated_stars(x: Floats, size: int, tolerance: float, starts: int) -> tuple[Ints, Ints, Floats]:
    """Return violated inequalities with at most ``size`` ≥ 3 items in T, found greedily and each returned once.

    The results are the centres i, the items of T (ascending, padded with -1 up to ``size``) and the violations.

    Parameters
    ----------
    x : (n, n) array, symmetric, entries in [0, 1], zero diagonal
    tolerance : an inequality is violated if its left-hand side exceeds 1 by more than this
    starts : number of first items per item i from which a set T is grown
    """
    x = as_floats(x, "x", shape=("n", "n"))
    size, starts = as_integer(size, "size", low=3), as_integer(starts, "starts", low=0)
    tolerance = as_float(tolerance, "tolerance")
    centres, members, violations = _stars(np.ascontiguousarray(x, dtype=np.float64), size, tolerance, starts)
    whole, kept = np.unique(np.column_stack([centres, members]), axis=0, return_index=True)
    return whole[:, 0], whole[:, 1:], violations[kept]


@njit(cache=True)
def _stars(x, size, tolerance, starts):  # type: ignore[no-untyped-def]
    n = len(x)
    centres = np.empty(n * starts, np.int64)
    members = np.empty((n * starts, size), np.int64)
    violations = np.empty(n * starts)
    count = 0
    near = np.empty(n, np.int64)
    chosen = np.empty(size, np.int64)
    for i in range(n):
        m = 0
        for j in range(n):
            if j != i and _WHOLE < x[i, j] < 1.0 - _WHOLE:
                near[m] = j
                m += 1
        if m < 3:
            continue
        order = np.argsort(-x[i, near[:m]])
        for start in range(min(starts, m)):
            # Spread the first items from the nearest to i to the farthest.
            t = near[order[start * m // min(starts, m)]]
            gain = x[i].copy()
            taken = 0
            total = 0.0
            while True:
                total += gain[t]
                chosen[taken] = t
                taken += 1
                if taken == size:
                    break
                gain -= x[t]
                gain[t] = 0.0  # t cannot be added again
                best = _WHOLE
                for k in near[:m]:
                    if gain[k] > best:
                        best, t = gain[k], k
                if best == _WHOLE:
                    break
            if taken >= 3 and total > 1.0 + tolerance:
                centres[count] = i
                members[count, :] = -1
                overwrite(members[count, :taken], np.sort(chosen[:taken]))
                violations[count] = total - 1.0
                count += 1
    return centres[:count], members[:count], violations[:count]
