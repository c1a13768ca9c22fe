"""The dual problem of parsing with grandparent parts: the bound of the linear relaxation without a linear program.

Over arborescences z and parts u, with scores s_hm of arcs and r_gpc of parts (g, p, c), the relaxation is

    max Σ s_hm z_hm + Σ r_gpc u_gpc    subject to    Σ_g u_gpc = z_pc  [π_pc, for p > 0],    0 ≤ u_gpc ≤ z_gp  [ρ_gpc],

with z in the arborescence polytope.  The best ρ for given π is max(0, r_gpc - π_pc), which leaves

    D(π) = max_tree Σ w_hm z_hm,     w_hm = s_hm + π_hm + Σ_c max(0, r_hmc - π_mc)     (π_0m = 0),

one maximum arborescence.  Its minimum over π equals the optimum of the relaxation, and each D(π) bounds all trees from
above.  If a tree's score equals it, the tree is optimal and solves the relaxation.

*Descent.*  Take the tree that attains D(π), with g the head of p.  If (p, c) is in the tree and π_pc > r_gpc, lowering
π_pc lowers D; if it is not and π_pc < r_gpc, raising π_pc does.  If there is no such arc, D(π) is the tree's score.
Steps have Polyak's length with the best tree's score in place of the optimum.

*Lazy scores.*  A part that has not been scored counts with an upper bound B_pc, so D remains an upper bound.  π starts
at B, where no part can have a positive reduced cost.  Only two kinds of parts are scored: parts of the trees on the
way, and parts of the same arcs into p that their dual values do not price out.  This is pricing, restricted to parts
whose arc a solution of the dual problem uses.  Bounds are lazy too: B starts from cheap bounds
(:mod:`colgen.problems.grandparent_parsing.kernels.token_bounds`), which are improved for arcs of the trees on the way.

An iteration takes time O(n) for each dual value that changes, and O(n²) where the best heads form no tree.

Source: the relaxation of S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), with cuts for
connectivity; B. T. Polyak, *Minimization of unsmooth functionals*, USSR Computational Mathematics 9 (1969).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.factored_scores import score_triple
from colgen.problems.grandparent_parsing.kernels.deadlines import STEPS, expired
from colgen.problems.grandparent_parsing.kernels.dual_state import (
    NO_SOURCE,
    Dual,
    Source,
    begin,
    move,
    refine,
    set_score,
    touch,
)
from colgen.problems.grandparent_parsing.kernels.token_bounds import loose_bounds
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import boolean, inner, int64, overwrite
from colgen.solvers.trees.arborescence import is_tree, solve_arborescence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EPSILON = 1e-9
"""Tolerance between a bound and a tree's score, relative to the larger of the score and the unit."""

PATIENCE = 15
"""Number of iterations without progress after which steps become shorter."""

SHORTEST = 1e-3
"""The descent stops when steps are shorter than this, relative to Polyak's: the bound will not meet a tree's score."""


# --- trees -----------------------------------------------------------------------------------------------------------


@njit(cache=True, no_cpython_wrapper=True)
def _best_tree(dual, single_root, stale, tops, args, mark):  # type: ignore[no-untyped-def]
    """Write the tree that attains D(π) to ``dual.heads``; return D(π), and whether there is a tree.

    ``tops`` and ``args``: the best head of each modifier (excluding the root if ``single_root``), updated where
    ``stale``.
    """
    n = dual.arcs.shape[0] - 1
    value, margin, root = 0.0, -np.inf, -1
    whole = True
    for m in range(1, n + 1):
        if stale[m]:
            stale[m] = False
            row = dual.weights[m]
            top, arg = -np.inf, -1
            for h in range(1 if single_root else 0, n + 1):
                if row[h] > top:
                    top, arg = row[h], h
            tops[m], args[m] = top, arg
        top, arg = tops[m], args[m]
        dual.heads[m] = arg
        if arg >= 0:
            value += top
        elif not single_root:
            whole = False
        if single_root and dual.weights[m, 0] > -np.inf and dual.weights[m, 0] - top > margin:
            margin, root = dual.weights[m, 0] - top, m
    if root >= 0:  # exactly one token is attached to the root
        dual.heads[root] = 0
        value += margin if margin < np.inf else dual.weights[root, 0]
    if single_root:
        whole = dual.heads[1:].min() >= 0
    if whole and is_tree(dual.heads, mark):
        return value, True
    weights = dual.weights.T.copy()
    weights[:, 0] = -np.inf
    heads, value, _, feasible = solve_arborescence(weights, single_root)
    overwrite(dual.heads, heads)
    return value, feasible


@njit(cache=True, no_cpython_wrapper=True)
def _recompute_bound(dual, single_root, mark):  # type: ignore[no-untyped-def]
    """Return D at the best π without accumulated rounding errors."""
    n = dual.arcs.shape[0] - 1
    weights = dual.weights
    for m in range(1, n + 1):
        weights[m, 0] = dual.arcs[m, 0]
        for h in range(1, n + 1):
            weights[m, h] = dual.arcs[m, h] + dual.best_pi[h, m]
    for k in range(dual.used[0]):
        p, c = dual.pairs[k]
        own = weights[p, c]
        for g in range(n + 1):
            weights[p, g] += max(0.0, dual.scores[p, c, g] - dual.best_pi[p, c])
        weights[p, c] = own
    stale = np.ones(n + 1, dtype=np.bool_)
    heads = dual.heads.copy()
    value, _ = _best_tree(dual, single_root, stale, np.empty(n + 1), np.empty(n + 1, dtype=np.int64), mark)
    overwrite(dual.heads, heads)
    return value


# --- descent ---------------------------------------------------------------------------------------------------------
@njit(cache=True)
def _descend(dual, source, lazy, iterations, single_root, lower, state, unit):  # type: ignore[no-untyped-def]
    n = dual.arcs.shape[0] - 1
    wanted = np.empty((0 if lazy else (n + 1) * (n + 1), 3), dtype=np.int64)  # untouched pages use no memory
    stale = np.ones(n + 1, dtype=np.bool_)
    tops, args, mark = np.empty(n + 1), np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    upper, lower, number = _iterate(
        dual, source, lazy, iterations, single_root, lower, state, unit, wanted, stale, tops, args, mark
    )
    return upper, lower, wanted[:number]


@inner
def _iterate(  # type: ignore[no-untyped-def]
    dual, source, lazy, iterations, single_root, lower, state, unit, wanted, stale, tops, args, mark
):
    """Run the descent; write requested parts to ``wanted`` and return their number."""
    n = dual.arcs.shape[0] - 1
    heads, pi, pairs = dual.heads, dual.pi, dual.pairs
    arcs, weights, scores, known = dual.arcs, dual.weights, dual.scores, dual.known
    upper, scale, since = state[0], state[1], state[2]
    steps = 0
    while state[3] < iterations:
        value, feasible = _best_tree(dual, single_root, stale, tops, args, mark)
        while feasible and refine(dual, source, stale):
            value, feasible = _best_tree(dual, single_root, stale, tops, args, mark)
        if not feasible:
            return -np.inf, -np.inf, 0
        state[3] += 1
        since = 0 if upper == np.inf or value < upper - 1e-6 * abs(upper - lower) else since + 1
        if value < upper:
            upper = value
            for h in range(n + 1):
                overwrite(dual.best_pi[h], pi[h])
        # --- score the tree's parts, and parts of its arcs that their dual values do not price out
        for c in range(1, n + 1):
            if heads[c] > 0:
                touch(dual, heads[c], c)
        number = 0
        for k in range(dual.used[0]):
            p, c = pairs[k, 0], pairs[k, 1]
            g = heads[p]
            if g != c and not known[p, c, g] and (heads[c] == p or scores[p, c, g] > pi[p, c]):
                if lazy:
                    set_score(dual, p, c, g, score_triple(source.codes, source.grandparents, int64(0), g, p, c))
                    state[4] += 1
                    stale[p] = True
                else:
                    wanted[number, 0], wanted[number, 1], wanted[number, 2] = g, p, c
                    number += 1
        if number > 0:  # repeat the iteration at the same π once they are scored
            state[0], state[1], state[2], state[3] = upper, scale, since, state[3] - 1
            return upper, lower, number
        # --- the tree's score, and its weight, which is D(π) if it is still the best tree
        score, exact, violated = 0.0, 0.0, 0
        for m in range(1, n + 1):
            g = heads[m]
            score += arcs[m, g]
            exact += weights[m, g]
            if g > 0:
                score += scores[g, m, heads[g]]
        for k in range(dual.used[0]):
            p, c = pairs[k, 0], pairs[k, 1]
            if heads[p] != c:
                gain = scores[p, c, heads[p]] - pi[p, c]
                if (gain < 0.0) if heads[c] == p else (gain > 0.0):
                    violated += 1
        if score > lower:
            lower = score
            overwrite(dual.best, heads)
        if since >= PATIENCE:
            scale *= 0.7
            since = 0
        if upper <= lower + EPSILON * max(unit, abs(lower)) or scale < SHORTEST:
            break
        steps += 20 * (n + 1) * (n + 1) + dual.used[0] + violated * (n + 1)
        if steps > STEPS:
            steps = 0
            if expired():
                break
        # --- Polyak's step
        if violated > 0 and exact > lower:
            step = scale * (exact - lower) / violated
            for k in range(dual.used[0]):
                p, c = pairs[k, 0], pairs[k, 1]
                if heads[p] == c:
                    continue
                gain = scores[p, c, heads[p]] - pi[p, c]
                child = heads[c] == p
                if (gain < 0.0) if child else (gain > 0.0):
                    move(dual, p, c, pi[p, c] - step if child else pi[p, c] + step)
                    stale[p] = stale[c] = True
    if upper < np.inf:
        upper = _recompute_bound(dual, single_root, mark)
    state[0], state[1], state[2] = upper, scale, since
    return upper, lower, 0


def descend(
    dual: Dual, iterations: int, single_root: bool, lower: float, state: Floats, unit: float = 1.0
) -> tuple[float, float, Ints]:
    """Minimise D until it equals a tree's score, steps become short, scores are requested, or time runs out.

    Parameters
    ----------
    dual
        State; ``best_pi`` and ``best`` hold the best values at the end.
    lower
        Score of ``dual.best``, or -inf.
    state
        Best bound, step length, iterations since the last progress, total iterations, and parts scored inside: shape
        (5,), initially +inf, 1, 0, 0, 0.
    unit
        Typical size of a score, to which tolerances are relative.

    Returns
    -------
    tuple[float, float, Ints]
        The best bound, the best tree's score (both -inf if there is no tree), and requested parts (g, p, c), shape
        (parts, 3).  Pass their scores to :func:`supply` and call again.
    """
    found: tuple[float, float, Ints] = _descend(dual, NO_SOURCE, False, iterations, single_root, lower, state, unit)
    return found


@njit(cache=True)
def descend_lazily(
    arcs: Floats, source: Source, iterations: int, single_root: bool, unit: float
) -> tuple[float, float, Dual, Floats]:
    """Run the complete descent, reading scores and bounds from a model's tables.

    Returns the best bound, the best tree's score, the final dual, and the ``state`` of :func:`descend`.
    """
    entering = loose_bounds(source.codes, source.entering)
    dual = begin(arcs, loose_bounds(source.codes, source.tokens), entering, boolean(False))
    state = np.zeros(5)
    state[0], state[1] = np.inf, 1.0
    upper, lower, _ = _descend(dual, source, boolean(True), iterations, single_root, -np.inf, state, unit)
    return upper, lower, dual, state
