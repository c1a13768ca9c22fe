r"""Cuts that separate vertices from the root: sets S without the root and with Σ_{h not in S, m in S} w_hm < 1.

The flow from the root to each vertex is increased by shortest augmenting paths (Edmonds and Karp, 1972) until it
reaches 1.  If it stays below, S consists of the vertices that the root cannot reach in the residual graph.  Each set is
returned once.  Time O(n · n³) in the worst case, far less on sparse weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_float, as_numbers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def violated_cuts(weights: ArrayLike, tolerance: float = 1e-6) -> list[tuple[int, ...]]:
    """Return the sets of vertices entered by arcs of total weight below 1 - tolerance.

    ``weights`` is an (n + 1, n + 1) array w_hm ≥ 0 by tail and head, root 0.
    """
    w = as_numbers(weights, "weights")
    tolerance = as_float(tolerance, "tolerance")
    if w.ndim != 2 or w.shape[0] != w.shape[1]:
        raise ValueError(f"weights: expected a square matrix, got shape {w.shape}")
    if not (w >= 0.0).all():
        raise ValueError("weights: expected numbers of at least 0")
    sets = _cuts(w, tolerance)
    return list(dict.fromkeys(tuple(np.flatnonzero(row).tolist()) for row in sets))


@njit(cache=True)
def _cuts(weights: Floats, tolerance: float) -> Mask:
    size = weights.shape[0]
    found = np.zeros((size, size), dtype=np.bool_)
    count = 0
    residual = np.empty((size, size))
    before = np.empty(size, dtype=np.int64)
    queue = np.empty(size, dtype=np.int64)
    for sink in range(1, size):
        known = False
        for k in range(count):  # does an earlier set separate this vertex as well?
            if found[k, sink]:
                known = True
        if known:
            continue
        for u in range(size):
            overwrite(residual[u], weights[u])
        flow = 0.0
        while flow < 1.0 - tolerance:
            before[:] = -1
            before[0] = 0
            queue[0] = 0
            head, tail = 0, 1
            while head < tail and before[sink] < 0:
                u = queue[head]
                head += 1
                for v in range(size):
                    if before[v] < 0 and residual[u, v] > 1e-12:
                        before[v] = u
                        queue[tail] = v
                        tail += 1
            if before[sink] < 0:
                break
            amount = np.inf
            v = sink
            while v != 0:
                amount = min(amount, residual[before[v], v])
                v = before[v]
            v = sink
            while v != 0:
                residual[before[v], v] -= amount
                residual[v, before[v]] += amount
                v = before[v]
            flow += amount
        if flow < 1.0 - tolerance:
            for v in range(size):
                found[count, v] = before[v] < 0
            count += 1
    return found[:count]
