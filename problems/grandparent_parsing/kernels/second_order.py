"""The best second-order tree without scoring most parts: few candidate arcs, head automata, prices for the rest.

*Guess* (:func:`ascend`).  A few candidate heads per modifier define a small Lagrangian problem
(:mod:`colgen.problems.grandparent_parsing.kernels.automata_dual`), which yields a tree and multipliers.

*Proof* (:func:`bound_at`).  At any multipliers of candidate arcs, the best arborescence and the best path of each
automaton bound the trees of candidates.  All other arcs are *priced* against these multipliers
(:mod:`colgen.problems.grandparent_parsing.kernels.arc_prices`), with upper bounds in place of part scores.  If no
automaton's value rises with them, the bound holds for all trees.  Arcs that raise a value must become candidates, and
the ascent continues.

A trained model's parts are all scored in advance, by lists (:mod:`colgen.problems.dependency.features.triple_lists`).
In long sentences and during training, a part is scored once, on first use.

Source: after S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), without a linear program.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.grandparent_parsing.kernels.arc_prices import Bounds, price_arcs
from colgen.problems.grandparent_parsing.kernels.automata_dual import best_tree, relax
from colgen.problems.grandparent_parsing.kernels.head_automata import optimistic_multipliers
from colgen.problems.grandparent_parsing.kernels.tree_parts import TreeParts, automata_of
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import boolean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Candidates(NamedTuple):
    """Candidate arcs (``there``) and multipliers λ (``leaving``) and μ (``entering``), shape (n + 1, n + 1) each."""

    there: Mask
    leaving: Floats
    entering: Floats


@njit(cache=True)
def solve_candidates(
    arcs: Floats, candidates: Mask, parts: TreeParts, iterations: int, single_root: bool, unit: float
) -> tuple[Ints, float, float]:
    """Return the best tree of candidate arcs found in a number of iterations: heads, score, bound."""
    n = arcs.shape[0] - 1
    a = automata_of(candidates, arcs, parts)
    alive = np.ones(a.heads.shape[0], dtype=np.bool_)
    heads = np.full(n + 1, -1)
    leaving, entering = optimistic_multipliers(a, alive), np.zeros(a.heads.shape[0])
    upper, lower, _ = relax(a, alive, leaving, entering, -np.inf, heads, iterations, single_root, boolean(True), unit)
    return heads, lower, max(upper, lower)


@njit(cache=True)
def select_heads(scores: Floats, width: int) -> Mask:
    """Return the ``width`` best heads of each modifier, plus the arcs of the best arborescence."""
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
    _, feasible, _ = best_tree(scores, boolean(False), heads)
    if feasible:
        for m in range(1, n + 1):
            candidates[heads[m], m] = True
    return candidates


@njit(cache=True)
def first_candidates(arcs: Floats, bounds: Bounds, single_root: bool, width: int) -> tuple[Mask, bool]:
    """Return the most promising heads of each modifier, including those of a tree; and whether a tree exists."""
    n = arcs.shape[0] - 1
    heads = np.full(n + 1, -1)
    if not best_tree(arcs, single_root, heads)[1]:
        return arcs > -np.inf, False
    candidates = select_heads(arcs + bounds.grandparents + bounds.siblings, width)
    for m in range(1, n + 1):
        candidates[heads[m], m] = True
    return candidates, True


@njit(cache=True)
def ascend(
    candidates: Candidates,
    known: Mask,
    arcs: Floats,
    parts: TreeParts,
    lower: float,
    best: Ints,
    iterations: int,
    single_root: bool,
    unit: float,
) -> tuple[float, int]:
    """Improve the multipliers of candidate arcs, and record a better tree if one is found.

    Parameters
    ----------
    candidates, known
        Candidates; multipliers of ``known`` arcs are the starting point, and all are updated in place.
    arcs
        Scores by head and modifier, -inf where there is no arc.
    lower, best
        Score (or -inf) and heads of the best known tree; the heads of a better tree are written to ``best``.
    unit
        Typical size of a score, to which tolerances are relative.

    Returns
    -------
    tuple[float, int]
        The score of the best tree, and the number of iterations taken.
    """
    leaving, entering = candidates.leaving, candidates.entering
    a = automata_of(candidates.there, arcs, parts)
    total = a.heads.shape[0]
    alive = np.ones(total, dtype=np.bool_)
    leaves, enters = optimistic_multipliers(a, alive), np.zeros(total)
    for e in range(total):
        h, m = a.heads[e], a.modifiers[e]
        if known[h, m]:
            leaves[e], enters[e] = leaving[h, m], entering[h, m]
    _, lower, taken = relax(a, alive, leaves, enters, lower, best, iterations, single_root, boolean(False), unit)
    for e in range(total):
        h, m = a.heads[e], a.modifiers[e]
        leaving[h, m], entering[h, m] = leaves[e], enters[e]
    return lower, taken


@njit(cache=True)
def bound_at(
    candidates: Candidates,
    arcs: Floats,
    bounds: Bounds,
    parts: TreeParts,
    single_root: bool,
    lower: float,
    unit: float,
) -> tuple[float, Mask, Floats, Floats]:
    """Return the bound that multipliers of candidate arcs prove; any multipliers are valid.

    ``bounds`` on parts are replaced by maxima of scores where needed.  ``lower`` is the score that trees with other
    arcs must be proved not to exceed; +inf: the bound on trees of candidates.

    Returns
    -------
    tuple[float, Mask, Floats, Floats]
        The bound, the arcs that must become candidates, and λ and μ by head and modifier.  If no arc must become a
        candidate, no tree is better than the larger of the bound and a finite ``lower``.  The bound is +inf if nothing
        is proved, and -inf if there is no tree.
    """
    size, leaving, entering = arcs.shape[0], candidates.leaving, candidates.entering
    short, heads = np.zeros((size, size), dtype=np.bool_), np.full(size, -1)
    if not best_tree(arcs, single_root, heads)[1]:
        return -np.inf, short, leaving, entering
    a = automata_of(candidates.there, arcs, parts)
    total = a.heads.shape[0]
    weights = np.full((size, size), -np.inf)
    leaves, enters = np.empty(total), np.empty(total)
    for e in range(total):
        h, m = a.heads[e], a.modifiers[e]
        leaves[e], enters[e] = leaving[h, m], entering[h, m]
        weights[h, m] = arcs[h, m] + leaves[e] + enters[e]
    if not best_tree(weights, single_root, np.full(size, -1))[1]:  # no tree of candidates
        for m in range(1, size):
            short[heads[m], m] = not candidates.there[heads[m], m]
        return np.inf, short, leaving, entering
    return price_arcs(a, leaves, enters, arcs, bounds, parts, single_root, lower, unit)
