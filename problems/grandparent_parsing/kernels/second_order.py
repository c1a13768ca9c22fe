r"""The best second-order tree without scoring most parts: a few candidate arcs, head automata, prices for the rest.

1. A few candidate heads of each modifier make a small problem for the Lagrangian of
:mod:`problems.grandparent_parsing.kernels.automata_dual`; its
   best tree is the incumbent, which as a rule it proves to be the best of the candidates.
2. All other arcs are *priced* against the Lagrangian's multipliers
(:mod:`problems.grandparent_parsing.kernels.arc_prices`), with upper bounds in
   place of the scores of their parts.  If no automaton is worth more with them, the incumbent is the best tree of all.
3. Where one is, bounds on its best path are replaced by scores.  Arcs that still improve it become candidates, and the
   Lagrangian goes on.

What is not proved in the end is a small problem for branch and bound, over the arcs that are left.

Parts are scored when they are first looked at, and once.

Source: after S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), without a linear program.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from problems.grandparent_parsing.kernels.arc_prices import Bounds, price_arcs
from problems.grandparent_parsing.kernels.automata_dual import EPSILON, best_tree, relax
from problems.grandparent_parsing.kernels.head_automata import optimistic
from problems.grandparent_parsing.kernels.patience import expired
from problems.grandparent_parsing.kernels.tree_parts import Parts, automata_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_MANY = 100
"""Candidate arcs whose parts may take a while to score."""


@njit(cache=True)
def restricted(
    arcs: Floats, candidates: Mask, parts: Parts, iterations: int, single_root: bool, unit: float
) -> tuple[Ints, float, float]:
    """The best tree of candidate arcs as far as a number of iterations finds it: its heads, its score, a bound."""
    n = arcs.shape[0] - 1
    a = automata_of(candidates, arcs, parts)
    alive = np.ones(a.heads.shape[0], dtype=np.bool_)
    heads = np.full(n + 1, -1)
    leaving, entering = optimistic(a, alive), np.zeros(a.heads.shape[0])
    upper, lower, _ = relax(a, alive, leaving, entering, -np.inf, heads, iterations, single_root, True, unit)
    return heads, lower, max(upper, lower)


@njit(cache=True)
def narrowed(scores: Floats, width: int) -> Mask:
    """The ``width`` best heads of each modifier, and all arcs from the root's best tree on top of that."""
    n = scores.shape[0] - 1
    candidates = np.zeros(scores.shape, dtype=np.bool_)
    for m in range(1, n + 1):
        for _ in range(min(width, n)):
            top, arg = -np.inf, -1
            for h in range(n + 1):
                if scores[h, m] > top and not candidates[h, m]:
                    top, arg = scores[h, m], h
            if arg < 0:
                break
            candidates[arg, m] = True
    heads = np.full(n + 1, -1)
    _, feasible, _ = best_tree(scores, False, heads)
    if feasible:
        for m in range(1, n + 1):
            candidates[heads[m], m] = True
    return candidates


@njit(cache=True)
def search(
    arcs: Floats,
    bounds: Bounds,
    parts: Parts,
    single_root: bool,
    width: int,
    iterations: int,
    rounds: int,
    unit: float,
) -> tuple[Ints, float, float, Mask, Ints]:
    """The best tree, and a bound that usually proves it.

    Parameters
    ----------
    arcs
        Scores by head and modifier, -inf where there is no arc; shape (n + 1, n + 1).
    bounds
        Upper bounds on parts; replaced by maxima where that is needed.
    width
        Candidate heads a modifier at the start.
    iterations
        Of the Lagrangian, each time.
    rounds
        At most so often are arcs added.
    unit
        Typical size of a score: what tolerances are relative to.

    Returns
    -------
    tuple[Ints, float, float, Mask, Ints]
        Heads, shape (n + 1,); the score; an upper bound on all trees (the tree is proved optimal if that is no more
        than the score); the arcs that a better tree can have; and counts: candidate arcs, rounds, iterations.
        The score is -inf if there is no tree at all, or no time to find one: the bound is -inf only if there is none.
    """
    n = arcs.shape[0] - 1
    counts = np.zeros(3, dtype=np.int64)
    best = np.full(n + 1, -1)
    lower, upper = -np.inf, np.inf
    if not best_tree(arcs, single_root, best)[1]:
        return best, -np.inf, -np.inf, arcs > -np.inf, counts
    candidates = narrowed(arcs + bounds.grandparents + bounds.siblings, width)
    for m in range(1, n + 1):
        candidates[best[m], m] = True
    best[:] = -1
    costs, pays = np.zeros((2, n + 1, n + 1))
    known = np.zeros((n + 1, n + 1), dtype=np.bool_)
    for _ in range(rounds):
        a = automata_of(candidates, arcs, parts)
        total = a.heads.shape[0]
        if total > _MANY and expired():
            break
        alive = np.ones(total, dtype=np.bool_)
        leaving, entering = optimistic(a, alive), np.zeros(total)
        for e in range(total):
            h, m = a.heads[e], a.modifiers[e]
            if known[h, m]:
                leaving[e], entering[e] = costs[h, m], pays[h, m]
        # Without fixing: arcs that it deletes would have to be priced with the others.
        _, lower, taken = relax(a, alive, leaving, entering, lower, best, iterations, single_root, False, unit)
        counts[0], counts[1], counts[2] = total, counts[1] + 1, counts[2] + taken
        bound, short, costs, pays = price_arcs(a, leaving, entering, arcs, bounds, parts, single_root, lower, unit)
        if bound == np.inf or (total > _MANY and expired()):
            break
        added = 0
        for h in range(n + 1):
            for m in range(1, n + 1):
                if short[h, m]:
                    candidates[h, m] = True
                    added += 1
                known[h, m] = candidates[h, m]
        if added == 0:  # no better tree has an arc that is not a candidate: what is left is a matter of candidates
            upper = bound
            if upper > lower + EPSILON * unit:
                again, lower, taken = relax(
                    a, alive, leaving, entering, lower, best, 4 * iterations, single_root, True, unit
                )
                upper = min(upper, max(again, lower))
                counts[2] += taken
            allowed = np.zeros((n + 1, n + 1), dtype=np.bool_)
            for e in range(total):
                if alive[e]:
                    allowed[a.heads[e], a.modifiers[e]] = True
            return best, lower, max(lower, upper), allowed, counts
    return best, lower, upper, arcs > -np.inf, counts
