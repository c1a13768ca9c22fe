"""The bound D(π) at given dual values of grandparent parts, computed from the scores independently of the descent.

D(π) is defined in :mod:`colgen.problems.grandparent_parsing.kernels.grandparent_dual`.  For any π it bounds all trees,
and the relaxation with ``one_gp`` and ``gp_arc`` rows and cuts.  Parts that an upper bound prices out are not scored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.factored_scores import score_triple
from colgen.problems.grandparent_parsing.kernels.dual_state import Source
from colgen.problems.grandparent_parsing.kernels.token_bounds import loose_bounds, pair_bound
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import int64
from colgen.solvers.trees.arborescence import solve_arborescence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, no_cpython_wrapper=True)
def lazy_weights(arcs: Floats, source: Source, pi: Floats) -> tuple[Floats, int]:
    """Return the weights w of a trained model's sentence by head and modifier, and the number of parts scored."""
    size = arcs.shape[0]
    bounds, entering = loose_bounds(source.codes, source.tokens), loose_bounds(source.codes, source.entering)
    refined = np.zeros((size, size), dtype=np.bool_)
    weights = arcs.copy()
    scored = 0
    for p in range(1, size):
        for c in range(1, size):
            if arcs[p, c] == -np.inf:
                continue
            paid = pi[p, c]
            weights[p, c] += paid
            if bounds[p, c] <= paid or pair_bound(source.codes, source.parent_child, p, c) <= paid:
                continue
            for g in range(size):
                if g == c or arcs[g, p] == -np.inf or entering[g, p] <= paid:
                    continue
                if not refined[g, p]:
                    refined[g, p] = True
                    entering[g, p] = pair_bound(source.codes, source.grandparent_parent, g, p)
                if entering[g, p] > paid:
                    gain = score_triple(source.codes, source.grandparents, int64(0), g, p, c) - paid
                    scored += 1
                    if gain > 0.0:
                        weights[g, p] += gain
    return weights, scored


@njit(cache=True)
def lazy_bound(arcs: Floats, source: Source, pi: Floats, single_root: bool) -> tuple[Ints, float, int]:
    """Return the tree that attains D(π), D(π) or -inf if there is no tree, and the number of parts scored."""
    weights, scored = lazy_weights(arcs, source, pi)
    heads, value, _, _ = solve_arborescence(weights, single_root)
    return heads, value, scored
