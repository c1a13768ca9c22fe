r"""Trees with scores of arcs and grandparent parts: the linear relaxation's dual problem, without a linear program.

Over arborescences z and parts u, with scores s_hm of arcs and r_gpc of parts (g, p, c), the relaxation is

    max Σ s_hm z_hm + Σ r_gpc u_gpc    subject to    Σ_g u_gpc = z_pc  [π_pc, for p > 0],    0 ≤ u_gpc ≤ z_gp  [ρ_gpc],

with z in the arborescence polytope.  The best ρ for given π is max(0, r_gpc - π_pc), which leaves

    D(π) = max_tree Σ w_hm z_hm,     w_hm = s_hm + π_hm + Σ_c max(0, r_hmc - π_mc)     (π_0m = 0),

one maximum arborescence.  Its minimum over π *is* the optimum of the relaxation, and each D(π) bounds all trees from
above.  Where a tree's score meets it, the tree is optimal, the relaxation has no better solution, and no linear program
is needed.

*Descent.*  For the tree that attains D(π), with g the head of p: where (p, c) is in the tree and π_pc > r_gpc,
lowering π_pc lowers D; where it is not and π_pc < r_gpc, raising it does.  If there is no such arc then D(π) is the
tree's score.  Steps have Polyak's length with the best tree's score in place of the optimum.

*Lazy scores.*  A part that has not been scored counts with an upper bound B_pc of its score, which leaves D an upper
bound.  π starts at B, where no part can have a positive reduced cost.  Scored are only parts of the trees on the way,
and those of the same arcs into p that their dual values do not price out: it is pricing, of parts whose arc a solution
of the dual problem wants.  Bounds are lazy as well: B starts from cheap bounds
(:mod:`problems.grandparent_parsing.kernels.token_bounds`), and only arcs of the trees on the way get better ones.

An iteration takes time O(n) for each dual value that changes, and O(n²) where the best heads are no tree.

Source: the relaxation of S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), with cuts for
connectivity; B. T. Polyak, *Minimization of unsmooth functionals*, USSR Computational Mathematics 9 (1969).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from problems.dependency.features.factored_scores import RELATIONS, Codes, Table, empty_table, score_triple
from problems.grandparent_parsing.kernels.patience import STEPS, expired
from problems.grandparent_parsing.kernels.token_bounds import TokenBounds, loose_bounds, pair_bound
from solvers.arrays import as_floats
from solvers.trees.arborescence import solve_arborescence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

EPSILON = 1e-9
"""A bound so near to a tree's score, relative to the larger of it and the unit of the scores, meets it."""

PATIENCE = 15
"""After so many iterations without progress the steps become shorter."""

SHORTEST = 1e-3
"""Steps shorter than this, relative to Polyak's, are given up: the bound will not meet a tree's score."""


class Dual(NamedTuple):
    """Where a descent is; all arrays are written to.

    Attributes
    ----------
    arcs
        Scores of the arcs by *modifier and head*, -inf where there is no arc, shape (n + 1, n + 1).
    bounds, entering
        No part (g, p, c) scores more than ``bounds[p, c]``, nor more than ``entering[p, g]``.
    refined, entered
        Which of them cannot be made better.
    pi
        π by parent and child; at its bound where the pair has not been touched.
    scores
        Of parts by parent, child and grandparent: exact where ``known``, else an upper bound; meaningful where the pair
        has been ``touched``.
    known, touched
        Shapes (n + 1, n + 1, n + 1) and (n + 1, n + 1).
    pairs, used
        Parents and children that have been touched, shape (n², 2), and how many they are, shape (1,).
    weights
        w by modifier and head.
    heads, best
        The tree that attains the present D(π), and the best tree so far, shape (n + 1,).
    best_pi
        Where the best bound was found.
    """

    arcs: Floats
    bounds: Floats
    entering: Floats
    refined: Mask
    entered: Mask
    pi: Floats
    scores: Floats
    known: Mask
    touched: Mask
    pairs: Ints
    used: Ints
    weights: Floats
    heads: Ints
    best: Ints
    best_pi: Floats


class Source(NamedTuple):
    """Where scores and bounds of a sentence's parts come from, inside the kernel.

    Attributes
    ----------
    codes, grandparents
        See :mod:`problems.dependency.features.factored_scores`.
    parent_child, grandparent_parent
        Bound tables of the two pairs of tokens.
    tokens, entering
        Bounds of these by one token.
    """

    codes: Codes
    grandparents: Table
    parent_child: Table
    grandparent_parent: Table
    tokens: TokenBounds
    entering: TokenBounds


_NOTHING = TokenBounds(*np.zeros((2, 1, 4), dtype=np.int64), *np.zeros((2, 1), dtype=np.float32))
_TABLE = empty_table(np.zeros((1, 3), np.int64), np.ones(1, np.int64), weights=1, relations=RELATIONS, capacity=2)
_NO_SOURCE = Source(
    np.zeros((1, 1), dtype=np.int32),
    _TABLE,
    _TABLE,
    _TABLE,
    _NOTHING,
    _NOTHING,
)


@njit(cache=True)
def _start(arcs, bounds, entering, given):  # type: ignore[no-untyped-def]
    """A descent that has not begun: no part is scored; ``given``: the bounds are the best there are."""
    size = arcs.shape[0]
    pi = bounds.copy()
    pi[0] = 0.0  # what hangs from the root has no grandparent
    by_modifier = arcs.T.copy()
    weights = by_modifier.copy()
    for m in range(1, size):
        for h in range(1, size):
            weights[m, h] += pi[h, m]
    return Dual(
        by_modifier,
        pi.copy(),
        entering.T.copy(),
        np.full((size, size), given),
        np.full((size, size), given),
        pi,
        np.empty((size, size, size)),  # memory that is never touched costs nothing
        np.empty((size, size, size), dtype=np.bool_),
        np.zeros((size, size), dtype=np.bool_),
        np.empty((size * size, 2), dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        weights,
        np.full(size, -1),
        np.full(size, -1),
        pi.copy(),
    )


def start(arcs: Floats, bounds: Floats, entering: Floats) -> Dual:
    """A descent that has not begun: no part is scored.

    Parameters
    ----------
    arcs
        By head and modifier, -inf where there is no arc, in column 0 and on the diagonal; shape (n + 1, n + 1).
    bounds, entering
        Upper bounds of the parts' scores, by parent and child, and by grandparent and parent.
    """
    arcs = as_floats(arcs, "arcs", shape=("n", "n"), minus_infinity=True)
    bounds = as_floats(bounds, "bounds", shape=arcs.shape)
    entering = as_floats(entering, "entering", shape=arcs.shape)
    copies = [np.array(given, dtype=np.float64, order="C") for given in (arcs, bounds, entering)]
    found: Dual = _start(copies[0], copies[1], copies[2], True)
    return found


# --- one dual value, one score ---------------------------------------------------------------------------------------


@njit(cache=True)
def _touch(dual, p, c):  # type: ignore[no-untyped-def]
    """See to it that there is a row of bounds for a parent and a child."""
    if dual.touched[p, c]:
        return
    dual.touched[p, c] = True
    dual.pairs[dual.used[0], 0], dual.pairs[dual.used[0], 1] = p, c
    dual.used[0] += 1
    size = dual.arcs.shape[0]
    most = dual.bounds[p, c]
    for g in range(size):
        bound = dual.entering[p, g]
        dual.scores[p, c, g] = bound if bound < most else most
        dual.known[p, c, g] = False


@njit(cache=True)
def _move(dual, p, c, new):  # type: ignore[no-untyped-def]
    """Change the dual value of a pair that has been touched, and all weights that depend on it."""
    old = dual.pi[p, c]
    dual.pi[p, c] = new
    dual.weights[c, p] += new - old
    scores, row = dual.scores[p, c], dual.weights[p]
    own = row[c]
    for g in range(row.shape[0]):
        before, after = scores[g] - old, scores[g] - new
        row[g] += (after if after > 0.0 else 0.0) - (before if before > 0.0 else 0.0)
    row[c] = own  # c is no grandparent of itself


@njit(cache=True)
def _learn(dual, p, c, g, score):  # type: ignore[no-untyped-def]
    """Put a score in the place of its bound."""
    before, after = dual.scores[p, c, g] - dual.pi[p, c], score - dual.pi[p, c]
    dual.weights[p, g] += max(after, 0.0) - max(before, 0.0)
    dual.scores[p, c, g] = score
    dual.known[p, c, g] = True


@njit(cache=True)
def supply(dual: Dual, triples: Ints, scores: Floats) -> None:
    """Take in scores of parts (g, p, c) that :func:`descend` has asked for, shape (parts, 3)."""
    for k in range(triples.shape[0]):
        g, p, c = triples[k]
        _learn(dual, p, c, g, scores[k])


@njit(cache=True)
def _refine(dual, source, stale):  # type: ignore[no-untyped-def]
    """Better bounds for the present tree's arcs; whether there were any to be had.

    π follows its bound down: no part can have a positive reduced cost there.
    """
    found = False
    for c in range(1, dual.arcs.shape[0]):
        p = dual.heads[c]
        if p > 0 and not dual.refined[p, c]:
            dual.refined[p, c] = True
            better = pair_bound(source.codes, source.parent_child, p, c)
            dual.weights[c, p] += better - dual.pi[p, c]
            dual.bounds[p, c] = dual.pi[p, c] = better
            stale[c] = found = True
        if not dual.entered[c, p]:
            better = np.inf
            for k in range(dual.used[0]):
                if dual.pairs[k, 0] == c:
                    child = dual.pairs[k, 1]
                    bound, paid = dual.scores[c, child, p], dual.pi[c, child]
                    if child != p and not dual.known[c, child, p] and bound > paid:
                        if better == np.inf:
                            dual.entered[c, p] = True
                            better = pair_bound(source.codes, source.grandparent_parent, p, c)
                            dual.entering[c, p] = better
                        if better < bound:
                            dual.weights[c, p] += max(better - paid, 0.0) - (bound - paid)
                            dual.scores[c, child, p] = better
                            stale[c] = found = True
    return found


# --- trees -----------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _is_tree(heads, mark):  # type: ignore[no-untyped-def]
    n = heads.shape[0] - 1
    mark[:] = 0
    mark[0] = -1
    for m in range(1, n + 1):
        vertex = m
        while mark[vertex] == 0:
            mark[vertex] = m
            vertex = heads[vertex]
        if mark[vertex] == m:
            return False
        vertex = m
        while mark[vertex] == m:
            mark[vertex] = -1
            vertex = heads[vertex]
    return True


@njit(cache=True)
def _best_tree(dual, single_root, stale, tops, args, mark):  # type: ignore[no-untyped-def]
    """The tree that attains D(π), left in ``dual.heads``, and D(π); whether there is one.

    ``tops`` and ``args``: the best head of each modifier, with ``single_root`` other than the root; brought up to date
    where ``stale``.
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
    if root >= 0:  # of the best heads exactly one is the root
        dual.heads[root] = 0
        value += margin if margin < np.inf else dual.weights[root, 0]
    if single_root:
        whole = dual.heads[1:].min() >= 0
    if whole and _is_tree(dual.heads, mark):
        return value, True
    weights = dual.weights.T.copy()
    weights[:, 0] = -np.inf
    heads, value, _, feasible = solve_arborescence(weights, single_root)
    dual.heads[:] = heads
    return value, feasible


@njit(cache=True)
def _recomputed(dual, single_root, mark):  # type: ignore[no-untyped-def]
    """D at the best π, without what rounding has done to the weights on the way."""
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
    dual.heads[:] = heads
    return value


# --- descent ---------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _descend(dual, source, lazy, iterations, single_root, lower, state, unit):  # type: ignore[no-untyped-def]
    n = dual.arcs.shape[0] - 1
    heads, pi = dual.heads, dual.pi
    upper, scale, since = state[0], state[1], state[2]
    steps = 0
    wanted = np.empty((n + 1, 3), dtype=np.int64)
    stale = np.ones(n + 1, dtype=np.bool_)
    tops, args, mark = np.empty(n + 1), np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    while state[3] < iterations:
        value, feasible = _best_tree(dual, single_root, stale, tops, args, mark)
        while feasible and _refine(dual, source, stale):
            value, feasible = _best_tree(dual, single_root, stale, tops, args, mark)
        if not feasible:
            return -np.inf, -np.inf, wanted[:0]
        state[3] += 1
        since = 0 if upper == np.inf or value < upper - 1e-6 * abs(upper - lower) else since + 1
        if value < upper:
            upper = value
            dual.best_pi[:] = pi
        # --- the tree's own parts, and those of its arcs that their dual values do not price out
        for c in range(1, n + 1):
            if heads[c] > 0:
                _touch(dual, heads[c], c)
        number = 0
        for k in range(dual.used[0]):
            p, c = dual.pairs[k]
            g = heads[p]
            if g != c and not dual.known[p, c, g] and (heads[c] == p or dual.scores[p, c, g] > pi[p, c]):
                if lazy:
                    _learn(dual, p, c, g, score_triple(source.codes, source.grandparents, 0, g, p, c))
                    state[4] += 1
                    stale[p] = True
                else:
                    if number == wanted.shape[0]:
                        wanted = np.concatenate((wanted, np.empty_like(wanted)))
                    wanted[number, 0], wanted[number, 1], wanted[number, 2] = g, p, c
                    number += 1
        if number > 0:  # the same π again, once they are known
            state[0], state[1], state[2], state[3] = upper, scale, since, state[3] - 1
            return upper, lower, wanted[:number]
        # --- its score, and what D(π) would be if it were the best tree still
        score, exact, violated = 0.0, 0.0, 0
        for m in range(1, n + 1):
            g = heads[m]
            score += dual.arcs[m, g]
            exact += dual.weights[m, g]
            if g > 0:
                score += dual.scores[g, m, heads[g]]
        for k in range(dual.used[0]):
            p, c = dual.pairs[k]
            if heads[p] != c:
                gain = dual.scores[p, c, heads[p]] - pi[p, c]
                if (gain < 0.0) if heads[c] == p else (gain > 0.0):
                    violated += 1
        if score > lower:
            lower = score
            dual.best[:] = heads
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
                p, c = dual.pairs[k]
                if heads[p] == c:
                    continue
                gain = dual.scores[p, c, heads[p]] - pi[p, c]
                child = heads[c] == p
                if (gain < 0.0) if child else (gain > 0.0):
                    _move(dual, p, c, pi[p, c] - step if child else pi[p, c] + step)
                    stale[p] = stale[c] = True
    if upper < np.inf:
        upper = _recomputed(dual, single_root, mark)
    state[0], state[1], state[2] = upper, scale, since
    return upper, lower, wanted[:0]


def descend(
    dual: Dual, iterations: int, single_root: bool, lower: float, state: Floats, unit: float = 1.0
) -> tuple[float, float, Ints]:
    """Minimise D until a tree's score meets it, steps become short, or scores are wanted.

    It ends before its time if :func:`~problems.grandparent_parsing.kernels.patience.expired` says so.

    Parameters
    ----------
    dual
        ``best_pi`` and ``best`` hold the best in the end.
    iterations
        At most so many in all.
    lower
        Score of ``dual.best``, -inf if there is none.
    state
        Best bound so far, length of the steps, iterations since the last progress, iterations in all, and parts scored
        inside: shape (5,), +inf, 1, 0, 0, 0 at the start.
    unit
        Typical size of a score: what tolerances are relative to.

    Returns
    -------
    tuple[float, float, Ints]
        The best bound, the best tree's score (-inf both if there is no tree), and parts (g, p, c) to be given to
        :func:`supply` before the descent can go on, shape (parts, 3).
    """
    found: tuple[float, float, Ints] = _descend(dual, _NO_SOURCE, False, iterations, single_root, lower, state, unit)
    return found


@njit(cache=True)
def descend_lazily(
    arcs: Floats, source: Source, iterations: int, single_root: bool, unit: float
) -> tuple[float, float, Dual, Floats]:
    """The whole descent, with scores and bounds looked up as they are wanted.

    Parameters
    ----------
    arcs, unit
        As for :func:`start` and :func:`descend`.

    Returns
    -------
    tuple[float, float, Dual, Floats]
        The best bound, the best tree's score, where the descent ended, and the state of :func:`descend`.
    """
    entering = loose_bounds(source.codes, source.entering)
    dual = _start(arcs, loose_bounds(source.codes, source.tokens), entering, False)
    state = np.zeros(5)
    state[0], state[1] = np.inf, 1.0
    upper, lower, _ = _descend(dual, source, True, iterations, single_root, -np.inf, state, unit)
    return upper, lower, dual, state
