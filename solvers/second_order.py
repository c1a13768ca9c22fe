r"""The best second-order tree without scoring most parts: optimistic arcs, pruning against an incumbent, head automata.

1. A few candidate heads of each modifier make a small problem for the Lagrangian of :mod:`solvers.head_automata`; its
   best tree is the incumbent, which as a rule it proves to be the best of the candidates.
2. All other arcs are *priced* against the Lagrangian's multipliers (:func:`arc_slacks`), with upper bounds in place of
   the scores of their parts.  If none of them can improve then the incumbent is the best tree of all.
3. For arcs that seem to improve, bounds are replaced by maxima over scored parts: of siblings first, then of
   grandparents.  Those that still do become candidates, and the Lagrangian goes on.

What is not proved in the end is a small problem for branch and bound, over the arcs that are left.

Parts are scored when they are first looked at, and once.

Source: the bounds are those of S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), section 4.3,
used here without a linear program.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.factored_scores import RELATIONS, Codes, Table, empty_table, score_row, score_triple
from solvers.head_automata import EPSILON, Automata, best_tree, forward, lay_out, optimistic, relax

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Bounds(NamedTuple):
    """What the parts that an arc closes can score at most, by head and modifier, shape (n + 1, n + 1) each.

    Attributes
    ----------
    grandparents
        Of the grandparent part; 0 for arcs of the root.
    siblings
        Of the sibling part with the modifier before, or none before.
    last
        Of the part that says that no modifier follows.
    level
        0: bounds; 1: the sibling parts are maxima over scored parts; 2: all are.
    """

    grandparents: Floats
    siblings: Floats
    last: Floats
    level: Ints


class Parts(NamedTuple):
    """Where scores of parts come from, and those that have been asked for.

    Attributes
    ----------
    codes, grandparents, siblings
        A sentence and the weights of its parts (:mod:`solvers.factored_scores`); looked at if ``dense`` is False.
    grandparent_pairs, sibling_pairs
        Bound tables of parent and child, and of head and modifier.
    given_grandparents
        Scores by grandparent, parent and child, if ``dense``; an array of no elements stands for zeros.
    given_siblings
        Scores by head, sibling and modifier, if ``dense``: sibling = head says none before, modifier = head none after.
    cached_grandparents, cached_siblings
        By parent, child and grandparent; and by head, modifier and sibling, where sibling = modifier stands for the
        part of a last modifier.  Valid where the row has been touched, and NaN where the part has not been asked for.
    touched
        Rows in use, shape (2, n + 1, n + 1).
    scored
        Parts of either kind that have been asked for, shape (2,).
    """

    codes: Codes
    grandparents: Table
    siblings: Table
    grandparent_pairs: Table
    sibling_pairs: Table
    dense: bool
    given_grandparents: Floats
    given_siblings: Floats
    cached_grandparents: Floats
    cached_siblings: Floats
    touched: Mask
    scored: Ints


def lazy_parts(
    codes: Codes,
    grandparents: Table,
    siblings: Table,
    grandparent_pairs: Table | None = None,
    sibling_pairs: Table | None = None,
) -> Parts:
    """The parts of a sentence, none of them scored yet.

    Without the tables of pairs parts can be scored one by one, as :func:`restricted` does.
    """
    nothing = np.empty((0, 0, 0))
    tables = grandparents, siblings, grandparent_pairs or grandparents, sibling_pairs or siblings
    return _parts(codes, tables, False, nothing, nothing)


def given_parts(vertices: int, grandparents: Floats | None, siblings: Floats | None) -> Parts:
    """Parts with scores from arrays, by grandparent, parent, child and head, sibling, modifier; None: all are 0."""
    nothing = np.empty((0, 0, 0))
    table = empty_table(np.zeros((1, 3), np.int64), np.ones(1, np.int64), weights=1, relations=RELATIONS, capacity=2)
    return _parts(
        np.zeros((1, vertices + 2), dtype=np.int32),
        (table, table, table, table),
        True,
        # Copies, because numba compiles its functions anew for arrays that may not be written to.
        nothing if grandparents is None else np.array(grandparents, dtype=np.float64, order="C"),
        nothing if siblings is None else np.array(siblings, dtype=np.float64, order="C"),
    )


def _parts(
    codes: Codes, tables: tuple[Table, Table, Table, Table], dense: bool, given: Floats, given_siblings: Floats
) -> Parts:
    vertices = codes.shape[1] - 2
    shape = (vertices, vertices, vertices)
    return Parts(
        codes,
        *tables,
        dense,
        given,
        given_siblings,
        np.empty(shape),  # memory that is never touched costs nothing
        np.empty(shape),
        np.zeros((2, vertices, vertices), dtype=np.bool_),
        np.zeros(2, dtype=np.int64),
    )


@njit(cache=True)
def grandparent_score(parts, g, p, c):  # type: ignore[no-untyped-def]
    """Score of a grandparent part."""
    row = parts.cached_grandparents[p, c]
    if not parts.touched[0, p, c]:
        parts.touched[0, p, c] = True
        row[:] = np.nan
    if np.isnan(row[g]):
        if parts.dense:
            row[g] = parts.given_grandparents[g, p, c] if parts.given_grandparents.size else 0.0
        else:
            row[g] = score_triple(parts.codes, parts.grandparents, 0, g, p, c)
        parts.scored[0] += 1
    return row[g]


@njit(cache=True)
def sibling_score(parts, h, s, m):  # type: ignore[no-untyped-def]
    """Score of a sibling part; m = h: s is the last modifier on its side."""
    end = m == h
    row = parts.cached_siblings[h, s if end else m]
    if not parts.touched[1, h, s if end else m]:
        parts.touched[1, h, s if end else m] = True
        row[:] = np.nan
    if np.isnan(row[s]):
        if parts.dense:
            row[s] = parts.given_siblings[h, s, m] if parts.given_siblings.size else 0.0
        else:
            row[s] = score_triple(parts.codes, parts.siblings, 1, h, s, m)
        parts.scored[1] += 1
    return row[s]


@njit(cache=True)
def automata_of(candidates: Mask, arcs: Floats, parts: Parts) -> Automata:
    """The automata of candidate arcs, with the scores of all parts that they can form."""
    a = lay_out(candidates, arcs)
    n = candidates.shape[0] - 1
    for p in range(n + 1):
        start, stop = a.outgoing[p], a.outgoing[p + 1]
        position = a.grandparent_at[p]
        for e in range(a.incoming[p], a.incoming[p + 1]):
            g = a.heads[e]
            for k in range(start, stop):
                c = a.modifiers[a.order[k]]
                if c != g:
                    a.grandparents[position] = grandparent_score(parts, g, p, c)
                position += 1
        for side in range(2):
            low, high = (start, a.split[p]) if side == 0 else (a.split[p], stop)
            width = high - low + 1
            at = a.sibling_at[p, side]
            for k in range(1, width):
                m = a.modifiers[a.order[low + k - 1]]
                a.siblings[at + k] = sibling_score(parts, p, p, m)
                a.siblings[at + k * width] = sibling_score(parts, p, m, p)
                for j in range(1, k):
                    s = a.modifiers[a.order[low + j - 1]]
                    a.siblings[at + j * width + k] = sibling_score(parts, p, s, m)
    return a


@njit(cache=True)
def restricted(
    arcs: Floats, candidates: Mask, parts: Parts, iterations: int, single_root: bool
) -> tuple[Ints, float, float]:
    """The best tree of candidate arcs as far as a number of iterations finds it: its heads, its score, a bound."""
    n = arcs.shape[0] - 1
    a = automata_of(candidates, arcs, parts)
    alive = np.ones(a.heads.shape[0], dtype=np.bool_)
    heads = np.full(n + 1, -1)
    leaving, entering = optimistic(a, alive), np.zeros(a.heads.shape[0])
    upper, lower, _ = relax(a, alive, leaving, entering, -np.inf, heads, iterations, single_root, True)
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
def _side_requirements(a, p, side, row, values, gained, last, needed, after, path, back, top):  # type: ignore[no-untyped-def]
    """Raise ``needed`` to what arcs out of p that are not alive must cost, given one arc into p; the side's value.

    With the forward values F of the paths of arcs alive, an arc f between two of them costs at least what it gains
    where no F and not the side's value rise.  ``gained``: the most that f and the parts which it closes gain, by
    modifier; of arcs alive, the most of their sibling part alone is in ``after``.  ``last``: the most that the part of
    a last modifier can score.
    """
    n = a.arc.shape[0] - 1
    low, high = (a.outgoing[p], a.split[p]) if side == 0 else (a.split[p], a.outgoing[p + 1])
    width = high - low + 1
    value = forward(a, p, side, row, values, path, back)[0]
    # The most that a path through f may gain at the next modifier alive, from the far end.
    step = -1 if side == 0 else 1
    top[width] = -np.inf
    for k in range(width - 1, 0, -1):
        e = a.order[low + k - 1]
        top[k] = top[k + 1]
        if path[k] > -np.inf:
            weight = values[e]
            if row >= 0:
                weight += a.grandparents[row + low + k - 1 - a.outgoing[p]]
            top[k] = max(top[k], after[a.modifiers[e]] - (path[k] - weight))
    reach = 0.0
    k = 1
    m = p + step
    while 1 <= m <= n:
        if k < width and a.modifiers[a.order[low + k - 1]] == m:
            if path[k] > -np.inf:
                reach = max(reach, path[k])
            k += 1
        e = a.arc[p, m]
        if e < 0 or values[e] == -np.inf:
            needed[m] = max(needed[m], gained[m] + max(0.0, reach + max(top[k], last[m] - value)))
        m += step
    return value


@njit(cache=True)
def _refine(allowed, bounds, parts, p, c, level):  # type: ignore[no-untyped-def]
    """Replace an arc's bounds by maxima over scored parts: those of siblings at level 1, of grandparents at level 2."""
    n = allowed.shape[0] - 1
    if level >= 1 and bounds.level[p, c] < 1:
        top = sibling_score(parts, p, p, c)
        row = parts.cached_siblings[p, c]
        if not parts.dense:
            parts.scored[1] += score_row(parts.codes, parts.siblings, parts.sibling_pairs, 1, p, c, allowed[p], row)
        for s in range(min(p, c) + 1, max(p, c)):
            if allowed[p, s]:
                top = max(top, sibling_score(parts, p, s, c))
        bounds.siblings[p, c] = top
        bounds.last[p, c] = sibling_score(parts, p, c, p)
    if level >= 2 and bounds.level[p, c] < 2 and p > 0:
        top = -np.inf
        row = parts.cached_grandparents[p, c]
        if not parts.dense:
            if not parts.touched[0, p, c]:
                parts.touched[0, p, c] = True
                row[:] = np.nan
            parts.scored[0] += score_row(
                parts.codes, parts.grandparents, parts.grandparent_pairs, 0, p, c, allowed[:, p], row
            )
        for g in range(n + 1):
            if g != c and allowed[g, p]:
                top = max(top, grandparent_score(parts, g, p, c))
        if top > -np.inf:
            bounds.grandparents[p, c] = top
    bounds.level[p, c] = max(level, bounds.level[p, c])


@njit(cache=True)
def arc_slacks(
    a: Automata,
    alive: Mask,
    leaving: Floats,
    entering: Floats,
    arcs: Floats,
    bounds: Bounds,
    parts: Parts,
    single_root: bool,
    lower: float,
    exact: bool,
) -> tuple[float, Floats]:
    """Price the arcs that are not alive: the Lagrangian's bound, and by how much they are too expensive.

    **Theorem.**  Let L be the bound at λ, μ over the arcs alive.  For an arc f = (h, m) that is not alive let λ_f be so
    large that no forward value of the automata of h rises if f is allowed, whatever enters h, and μ_f so large that the
    best value of m does not if f enters it.  With the price of f in the arborescence's dual solution, let
    slack_f = price_f - s_f - λ_f - μ_f.  If no slack is negative, a tree of all arcs scores at most L less the slacks
    of its arcs that are not alive.

    *Proof.*  The arborescence's dual solution stays feasible, with the slacks as reduced costs; by induction over the
    modifiers of a side, the automata's values stay what they are.  ∎

    So if all slacks are at least L less ``lower``, the score of the best known tree, no tree with such an arc is
    better.  The arcs alive must hold a tree.

    If ``exact`` then where a bound on all grandparents does not suffice, parts of this very arc are scored.

    Returns
    -------
    tuple[float, Floats]
        L, and the slack by head and modifier; +inf for arcs that are alive and where there is no arc.
    """
    n = arcs.shape[0] - 1
    slack = np.full((n + 1, n + 1), np.inf)
    weights = np.full((n + 1, n + 1), -np.inf)
    values = np.full(a.heads.shape[0], -np.inf)
    least, largest = np.inf, -np.inf
    for e in range(a.heads.shape[0]):
        if alive[e]:
            weight = a.scores[e] + leaving[e] + entering[e]
            weights[a.heads[e], a.modifiers[e]] = weight
            least, largest = min(least, weight), max(largest, weight)
            values[e] = -leaving[e]
    # Arcs that are not alive get a weight that no best tree has, to learn their prices.
    low = least - n * (largest - least) - 1.0
    for h in range(n + 1):
        for m in range(1, n + 1):
            if arcs[h, m] > -np.inf and weights[h, m] == -np.inf:
                weights[h, m] = low
    heads = np.full(n + 1, -1)
    bound, _, reduced = best_tree(weights, single_root, heads)
    path, top = np.empty(n + 3), np.empty(n + 3)
    back = np.empty(n + 3, dtype=np.int64)
    gained = np.empty(n + 1)
    needed = np.empty(n + 1)
    local = np.zeros(n + 1)
    # An arc into p that is not alive: what its best grandparent would do, or what it does itself.
    optimist = np.zeros(n + 1)
    virtual = Automata(
        a.heads,
        a.modifiers,
        a.scores,
        a.incoming,
        a.outgoing,
        a.order,
        a.split,
        a.grandparent_at,
        np.empty(n + 1),
        a.sibling_at,
        a.siblings,
        a.arc,
    )
    price = np.zeros((n + 1, n + 1))
    leaves = np.zeros((n + 1, n + 1))
    for p in range(n + 1):
        needed[:] = -np.inf
        for m in range(1, n + 1):
            gained[m] = bounds.siblings[p, m] + bounds.grandparents[p, m]
        width = a.outgoing[p + 1] - a.outgoing[p]
        after, last = bounds.siblings[p], bounds.last[p]
        if p == 0:
            local[0] = _side_requirements(a, 0, 1, -1, values, gained, last, needed, after, path, back, top)
        else:
            local[p] = -np.inf
            for e in range(a.incoming[p], a.incoming[p + 1]):
                if alive[e]:
                    row = a.grandparent_at[p] + (e - a.incoming[p]) * width
                    value = -entering[e]
                    for side in range(2):
                        value += _side_requirements(
                            a, p, side, row, values, gained, last, needed, after, path, back, top
                        )
                    local[p] = max(local[p], value)
            for k in range(width):
                virtual.grandparents[k] = bounds.grandparents[p, a.modifiers[a.order[a.outgoing[p] + k]]]
            for side in range(2):
                optimist[p] += _side_requirements(
                    virtual, p, side, 0, values, gained, last, needed, after, path, back, top
                )
        bound += local[p]
        for m in range(1, n + 1):
            leaves[p, m] = needed[m]
    for h in range(n + 1):
        for m in range(1, n + 1):
            if weights[h, m] == low and h != m:
                price[h, m] = low - min(reduced[h, m], 0.0)
                slack[h, m] = price[h, m] - arcs[h, m] - leaves[h, m] - (optimist[m] - local[m])
    gap = max(bound - lower, 0.0)
    if not exact:
        return bound, slack
    for p in range(1, n + 1):
        width = a.outgoing[p + 1] - a.outgoing[p]
        if width == 0:
            continue
        needed[:] = -np.inf
        raised = False
        for m in range(1, n + 1):
            gained[m] = bounds.siblings[p, m] + bounds.grandparents[p, m]
        after, last = bounds.siblings[p], bounds.last[p]
        for g in range(n + 1):
            if weights[g, p] != low or g == p or slack[g, p] >= gap:
                continue
            for k in range(width):
                c = a.modifiers[a.order[a.outgoing[p] + k]]
                known = c != g and values[a.order[a.outgoing[p] + k]] > -np.inf
                virtual.grandparents[k] = grandparent_score(parts, g, p, c) if known else 0.0
            value = 0.0
            for side in range(2):
                value += _side_requirements(virtual, p, side, 0, values, gained, last, needed, after, path, back, top)
            slack[g, p] = price[g, p] - arcs[g, p] - leaves[g, p] - (value - local[p])
            raised = True
        if raised:
            for m in range(1, n + 1):
                if needed[m] > leaves[p, m]:
                    if slack[p, m] < np.inf:
                        slack[p, m] -= needed[m] - leaves[p, m]
                    leaves[p, m] = needed[m]
    return bound, slack


@njit(cache=True)
def search(
    arcs: Floats,
    bounds: Bounds,
    parts: Parts,
    single_root: bool,
    width: int,
    iterations: int,
    rounds: int,
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

    Returns
    -------
    tuple[Ints, float, float, Mask, Ints]
        Heads, shape (n + 1,); the score; an upper bound on all trees (the tree is proved optimal if that is no more
        than the score); the arcs that a better tree can have; and counts: candidate arcs, rounds, iterations.
        The score is -inf if there is no tree at all.
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
    possible = arcs > -np.inf
    costs = np.zeros((2, n + 1, n + 1))
    known = np.zeros((n + 1, n + 1), dtype=np.bool_)
    for _ in range(rounds):
        a = automata_of(candidates, arcs, parts)
        total = a.heads.shape[0]
        alive = np.ones(total, dtype=np.bool_)
        leaving, entering = optimistic(a, alive), np.zeros(total)
        for e in range(total):
            h, m = a.heads[e], a.modifiers[e]
            if known[h, m]:
                leaving[e], entering[e] = costs[0, h, m], costs[1, h, m]
        # Without fixing: arcs that it deletes would have to be priced with the others.
        _, lower, taken = relax(a, alive, leaving, entering, lower, best, iterations, single_root, False)
        counts[0], counts[1], counts[2] = total, counts[1] + 1, counts[2] + taken
        for e in range(total):
            h, m = a.heads[e], a.modifiers[e]
            known[h, m] = True
            costs[0, h, m], costs[1, h, m] = leaving[e], entering[e]
            _refine(possible, bounds, parts, h, m, 1)
        added = 0
        for level in range(1, 4):
            bound, slack = arc_slacks(a, alive, leaving, entering, arcs, bounds, parts, single_root, lower, True)
            short = 0
            for h in range(n + 1):
                for m in range(1, n + 1):
                    if slack[h, m] < bound - lower - EPSILON:
                        short += 1
                        if level < 3:
                            _refine(possible, bounds, parts, h, m, level)
                        else:
                            candidates[h, m] = True
                            added += 1
            if short == 0:
                break
            if level == 2:
                for e in range(total):
                    _refine(possible, bounds, parts, a.heads[e], a.modifiers[e], 2)
        if added == 0:  # no better tree has an arc that is not a candidate: what is left is a matter of candidates
            upper = bound
            if upper > lower + EPSILON:
                upper, lower, taken = relax(a, alive, leaving, entering, lower, best, 4 * iterations, single_root, True)
                counts[2] += taken
            allowed = np.zeros((n + 1, n + 1), dtype=np.bool_)
            for e in range(total):
                if alive[e]:
                    allowed[a.heads[e], a.modifiers[e]] = True
            return best, lower, max(lower, upper), allowed, counts
    return best, lower, upper, arcs > -np.inf, counts
