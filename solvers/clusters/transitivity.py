r"""Separation of the triangle inequalities x_ik + x_kj - x_ij ≤ 1 of an equivalence relation.

A symmetric 0/1 matrix x is an equivalence relation (a clustering) if and only if it satisfies all 3·C(n, 3) of them.
Every inequality has a *closing* pair ij and a *third* item k.  It can be violated only if x_ik and x_kj are both
positive.  Let each item have d such pairs.  A pass takes O(n²) time to find them and O(n d²) to combine them.

Source: M. Grötschel and Y. Wakabayashi, *A cutting plane algorithm for a clustering problem*, Mathematical Programming
45 (1989).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_float, as_floats
from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_EQUAL = 1e-6
"""Violations that differ by less than this are ties."""


def violated_triangles(x: Floats, tolerance: float) -> tuple[Ints, Floats]:
    """Return the most violated triangle inequality of each closing pair that has one, and the violations.

    Rows are (i, j, k) in the order of the closing pairs i < j, with third item k.  The violations,
    x_ik + x_kj - x_ij - 1, are above ``tolerance``.  ``x`` is symmetric with entries in [0, 1].  Its diagonal is
    ignored.
    """
    x = as_floats(x, "x", shape=("n", "n"))
    tolerance = as_float(tolerance, "tolerance")
    triangles, violations = _violated(np.ascontiguousarray(x, dtype=np.float64), tolerance)
    return triangles, violations


@njit(cache=True)
def _violated(x, tolerance):  # type: ignore[no-untyped-def]
    n = len(x)
    degree = np.zeros(n, np.int64)
    linked = np.empty((n, n), np.int64)
    for i in range(n):
        for k in range(n):
            if k != i and x[i, k] > tolerance:
                linked[i, degree[i]] = k
                degree[i] += 1
    triangles = np.empty((n * (n - 1) // 2, 3), np.int64)
    violations = np.empty(n * (n - 1) // 2)
    count = 0
    most = np.empty(n)
    third = np.empty(n, np.int64)
    priority = np.empty(n, np.int64)
    for i in range(n):
        most[:] = tolerance
        third[:] = -1
        for k in linked[i, : degree[i]]:
            for j in linked[k, : degree[k]]:
                if j <= i:
                    continue
                violation = x[i, k] + x[k, j] - x[i, j] - 1.0
                if violation <= tolerance or violation < most[j] - _EQUAL:
                    continue
                # The choice among ties matters for a batch of rows.  If all rows took the first third item, they would
                # share few pairs; a random choice (by a hash) halves the number of rounds.
                drawn = (104729 * i + 1299709 * j + 7919 * k) % 10007
                if third[j] < 0 or violation > most[j] + _EQUAL or drawn > priority[j]:
                    most[j] = violation
                    third[j] = k
                    priority[j] = drawn
        for j in range(i + 1, n):
            if third[j] >= 0:
                triangles[count, 0], triangles[count, 1], triangles[count, 2] = i, j, third[j]
                violations[count] = most[j]
                count += 1
    return triangles[:count], violations[:count]
