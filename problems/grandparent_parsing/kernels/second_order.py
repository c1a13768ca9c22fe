r"""The best second-order tree without looking at most parts: a few candidate arcs, head automata, prices for the rest.

*Guessing* (:func:`ascend`).  A few candidate heads of each modifier make a small problem for the Lagrangian of
:mod:`colgen.problems.grandparent_parsing.kernels.automata_dual`; what it ends with is a tree and multipliers.

*Proving* (:func:`bound_at`).  At any multipliers of the copies of candidate arcs, the best arborescence and the best
path of each automaton bound the trees of candidates, and all other arcs are *priced* against these multipliers
(:mod:`colgen.problems.grandparent_parsing.kernels.arc_prices`), with upper bounds in place of the scores of their
parts.  If no automaton is worth more with them, that bounds all trees.  Arcs that make one worth more have to become
candidates, and the Lagrangian goes on.

A trained model's parts are all scored beforehand, by lists (:mod:`colgen.problems.dependency.features.triple_lists`);
those of a long sentence, and while a model learns, when they are first looked at, and once.

Source: after S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), without a linear program.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.grandparent_parsing.kernels.arc_prices import Bounds, price_arcs
from colgen.problems.grandparent_parsing.kernels.automata_dual import best_tree, relax
from colgen.problems.grandparent_parsing.kernels.head_automata import optimistic
from colgen.problems.grandparent_parsing.kernels.tree_parts import TreeParts, automata_of
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import boolean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Candidates(NamedTuple):
    """Candidate arcs and their multipliers, by head and modifier, shape (n + 1, n + 1) each.

    Attributes
    ----------
    there
        Which arcs are candidates.
    leaving, entering
        λ and μ.
    """

    there: Mask
    leaving: Floats
    entering: Floats


@njit(cache=True)
def restricted(
    arcs: Floats, candidates: Mask, parts: TreeParts, iterations: int, single_root: bool, unit: float
) -> tuple[Ints, float, float]:
    """The best tree of candidate arcs as far as a number of iterations finds it: its heads, its score, a bound."""
    n = arcs.shape[0] - 1
    a = automata_of(candidates, arcs, parts)
    alive = np.ones(a.heads.shape[0], dtype=np.bool_)
    heads = np.full(n + 1, -1)
    leaving, entering = optimistic(a, alive), np.zeros(a.heads.shape[0])
    upper, lower, _ = relax(a, alive, leaving, entering, -np.inf, heads, iterations, single_root, boolean(True), unit)
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
    _, feasible, _ = best_tree(scores, boolean(False), heads)
    if feasible:
        for m in range(1, n + 1):
            candidates[heads[m], m] = True
    return candidates


@njit(cache=True)
def first_candidates(arcs: Floats, bounds: Bounds, single_root: bool, width: int) -> tuple[Mask, bool]:
    """Candidates to begin with: the most promising heads of each modifier, a tree among them; whether there is one."""
    n = arcs.shape[0] - 1
    heads = np.full(n + 1, -1)
    if not best_tree(arcs, single_root, heads)[1]:
        return arcs > -np.inf, False
    candidates = narrowed(arcs + bounds.grandparents + bounds.siblings, width)
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
    """Better multipliers of candidate arcs, and a better tree of these if one is met.

    Parameters
    ----------
    candidates, known
        Multipliers of arcs ``known`` are started from; better ones are left in them.
    arcs
        Scores by head and modifier, -inf where there is no arc.
    lower, best
        Score and heads of the best tree known, -inf if none is; a better tree's heads are written there.
    iterations
        At most so many.
    unit
        Typical size of a score: what tolerances are relative to.

    Returns
    -------
    tuple[float, int]
        The score of the best tree, and iterations taken.
    """
    leaving, entering = candidates.leaving, candidates.entering
    a = automata_of(candidates.there, arcs, parts)
    total = a.heads.shape[0]
    alive = np.ones(total, dtype=np.bool_)
    leaves, enters = optimistic(a, alive), np.zeros(total)
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
    """What multipliers of candidate arcs prove, whatever they are.

    Parameters
    ----------
    candidates, arcs
        See :func:`ascend`.
    bounds
        Upper bounds on parts; replaced by maxima where that is needed.
    lower
        Trees with other arcs than candidates are to be proved no better than this; with +inf, no better than the bound.

    Returns
    -------
    tuple[float, Mask, Floats, Floats]
        The bound: no tree is better than the larger of it and a finite ``lower``, if no arc has to become a candidate;
        +inf if nothing is proved; -inf if there is no tree at all.  Which arcs have to become candidates; λ and μ by
        head and modifier.
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
