"""The k best spanning arborescences, by Lawler's partition over the heads of the vertices.

Each set of the partition fixes the heads of some vertices and forbids some heads of one other.  Its best arborescence
is found by the algorithm of Chu, Liu and Edmonds, in O(n²).  So k of them take O(k n³) time.

Source: P. M. Camerini, L. Fratta, F. Maffioli, *The k best spanning arborescences of a network*, Networks 10 (1980),
which divides the sets in the same way and takes O(k n²) time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.ranking import k_best_of_scores
from colgen.solvers.trees.arborescence import check_weights, solve_arborescence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def k_best_arborescences(weights: ArrayLike, k: int, *, single_root: bool = False) -> list[tuple[Ints, float]]:
    """Return the heads and weights of the k best spanning arborescences, best first; fewer if fewer exist.

    Arguments and heads as for :func:`~colgen.solvers.trees.arborescence.arborescence`.
    """
    w = check_weights(weights)
    words = np.arange(len(w) - 1)

    def best(by_head: Floats) -> tuple[float, Ints] | None:
        w[:, 1:] = by_head.T
        heads, _, _, feasible = solve_arborescence(w, single_root)
        return (float(by_head[words, heads[1:]].sum()), heads[1:]) if feasible else None

    ranked = k_best_of_scores(np.ascontiguousarray(w[:, 1:].T), best, k)
    return [(np.concatenate([[-1], heads]), weight) for weight, heads in ranked]
