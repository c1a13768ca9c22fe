r"""The best second-order tree without scoring most parts: a few candidate arcs, head automata, prices for the rest.

1. A few candidate heads of each modifier make a small problem for the Lagrangian of :mod:`solvers.head_automata`; its
   best tree is the incumbent, which as a rule it proves to be the best of the candidates.
2. All other arcs are *priced* against the Lagrangian's multipliers (:func:`price_arcs`), with upper bounds in place of
   the scores of their parts.  If no automaton is worth more with them, then the incumbent is the best tree of all.
3. Where one is, bounds on its best path are replaced by scores.  Arcs that still improve it become candidates, and the
   Lagrangian goes on.

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
from solvers.head_automata import EPSILON, Automata, best_tree, forward, lay_out, optimistic, relax, root_price

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
    refined
        Whether those of siblings are maxima over scored parts.
    """

    grandparents: Floats
    siblings: Floats
    last: Floats
    refined: Mask


class Parts(NamedTuple):
    """Where scores of parts come from, and those that have been asked for.

    Attributes
    ----------
    codes, grandparents, siblings
        A sentence and the weights of its parts (:mod:`solvers.factored_scores`); looked at if ``dense`` is False.
    grandparent_pairs, sibling_pairs
        Bound tables of parent and child, and of head and modifier; without keys: there are none.
    dense
        All scores are in the arrays from the start.
    grandparent_values
        By parent, grandparent and child: scores where ``grandparent_known``, elsewhere upper bounds, if there are any.
    sibling_values
        Scores by head, modifier and sibling where ``sibling_known``: sibling = head says none before, and sibling =
        modifier stands for the part of a last modifier.
    scored
        Parts of either kind that have been asked for, shape (2,).
    """

    codes: Codes
    grandparents: Table
    siblings: Table
    grandparent_pairs: Table
    sibling_pairs: Table
    dense: bool
    grandparent_values: Floats
    grandparent_known: Mask
    sibling_values: Floats
    sibling_known: Mask
    scored: Ints


def lazy_parts(
    codes: Codes,
    grandparents: Table,
    siblings: Table,
    grandparent_pairs: Table | None = None,
    sibling_pairs: Table | None = None,
    bounds: Floats | None = None,
) -> Parts:
    """The parts of a sentence, none of them scored yet.

    Parameters
    ----------
    bounds
        On grandparent parts, by parent and child; for :func:`search`, as are the tables of pairs.
    """
    vertices = codes.shape[1] - 2
    shape = (vertices, vertices, vertices)
    values = np.empty(shape)  # memory that is never touched costs nothing
    if bounds is not None:
        values[:] = bounds[:, None, :]
    no_pairs = empty_table(np.zeros((1, 2), np.int64), np.ones(1, np.int64), weights=1, relations=2, capacity=0)
    return Parts(
        codes,
        grandparents,
        siblings,
        no_pairs if grandparent_pairs is None else grandparent_pairs,
        no_pairs if sibling_pairs is None else sibling_pairs,
        False,
        values,
        np.zeros(shape, dtype=np.bool_),
        np.empty(shape),
        np.zeros(shape, dtype=np.bool_),
        np.zeros(2, dtype=np.int64),
    )


def given_parts(vertices: int, grandparents: Floats | None, siblings: Floats | None) -> Parts:
    """Parts with scores from arrays, by grandparent, parent, child and head, sibling, modifier; None: all are 0."""
    shape = (vertices, vertices, vertices)
    table = empty_table(np.zeros((1, 3), np.int64), np.ones(1, np.int64), weights=1, relations=RELATIONS, capacity=2)
    pairs = empty_table(np.zeros((1, 2), np.int64), np.ones(1, np.int64), weights=1, relations=2, capacity=0)
    by_parent, by_modifier = np.zeros(shape), np.zeros(shape)
    if grandparents is not None:
        by_parent[:] = np.swapaxes(grandparents, 0, 1)
    if siblings is not None:
        by_modifier[:] = np.swapaxes(siblings, 1, 2)
        each = np.arange(vertices)
        by_modifier[:, each, each] = siblings[each, :, each]
    return Parts(
        np.zeros((1, vertices + 2), dtype=np.int32),
        *(table, table, pairs, pairs),
        True,
        by_parent,
        np.zeros(shape, dtype=np.bool_),
        by_modifier,
        np.zeros(shape, dtype=np.bool_),
        np.zeros(2, dtype=np.int64),
    )


@njit(cache=True)
def _score_grandparents(parts, p, c, wanted, row):  # type: ignore[no-untyped-def]
    """Score the parts of the arc (p, c) with the grandparents wanted, none of which is known; ``row`` is for work."""
    if not parts.dense:
        score_row(parts.codes, parts.grandparents, parts.grandparent_pairs, 0, p, c, wanted, row)
    for g in range(wanted.shape[0]):
        if wanted[g]:
            parts.grandparent_known[p, g, c] = True
            parts.scored[0] += 1
            if not parts.dense:
                parts.grandparent_values[p, g, c] = row[g]


@njit(cache=True)
def _score_siblings(parts, h, m, wanted, row):  # type: ignore[no-untyped-def]
    """The same for the parts of the arc (h, m) with siblings, and for that of m as the last modifier."""
    if not parts.dense:
        score_row(parts.codes, parts.siblings, parts.sibling_pairs, 1, h, m, wanted, row)
    for s in range(wanted.shape[0]):
        if wanted[s]:
            parts.sibling_known[h, m, s] = True
            parts.scored[1] += 1
            if not parts.dense:
                parts.sibling_values[h, m, s] = row[s]
    if not parts.sibling_known[h, m, m]:
        parts.sibling_known[h, m, m] = True
        parts.scored[1] += 1
        if not parts.dense:
            parts.sibling_values[h, m, m] = score_triple(parts.codes, parts.siblings, 1, h, m, h)


@njit(cache=True)
def automata_of(candidates: Mask, arcs: Floats, parts: Parts) -> Automata:
    """The automata of candidate arcs, with the scores of all parts that they can form."""
    a = lay_out(candidates, arcs)
    n = candidates.shape[0] - 1
    wanted, row = np.zeros(n + 1, dtype=np.bool_), np.empty(n + 1)
    tails, modifiers, order, incoming, outgoing = a.heads, a.modifiers, a.order, a.incoming, a.outgoing
    grandparents, siblings = a.grandparents, a.siblings
    grandparent_values, grandparent_known = parts.grandparent_values, parts.grandparent_known
    sibling_values, sibling_known = parts.sibling_values, parts.sibling_known
    for p in range(n + 1):
        start, stop = outgoing[p], outgoing[p + 1]
        position = a.grandparent_at[p]
        for k in range(start, stop):
            c = modifiers[order[k]]
            missing = False
            for e in range(incoming[p], incoming[p + 1]):
                g = tails[e]
                if g != c and not grandparent_known[p, g, c]:
                    wanted[g] = missing = True
            if missing:
                _score_grandparents(parts, p, c, wanted, row)
                wanted[:] = False
            for i in range(incoming[p + 1] - incoming[p]):
                g = tails[incoming[p] + i]
                value = -np.inf if g == c else grandparent_values[p, g, c]
                grandparents[position + i * (stop - start) + k - start] = value
        for side in range(2):
            low, high = (start, a.split[p]) if side == 0 else (a.split[p], stop)
            width = high - low + 1
            at = a.sibling_at[p, side]
            for k in range(1, width):
                m = modifiers[order[low + k - 1]]
                missing = not sibling_known[p, m, p]
                wanted[p] = missing
                for j in range(1, k):
                    s = modifiers[order[low + j - 1]]
                    if not sibling_known[p, m, s]:
                        wanted[s] = missing = True
                if missing:
                    _score_siblings(parts, p, m, wanted, row)
                    wanted[:] = False
                siblings[at + k] = sibling_values[p, m, p]
                siblings[at + k * width] = sibling_values[p, m, m]
                for j in range(1, k):
                    siblings[at + j * width + k] = sibling_values[p, m, modifiers[order[low + j - 1]]]
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


class _Pricing(NamedTuple):
    """What is known of the arcs that are no candidates, by head and modifier.

    ``local``: value of each automaton over candidates.  ``usual``: the most it is worth if another arc enters it.
    ``costs``, ``pays``: λ and μ, +inf λ where an arc is not to be looked at.  ``exact``: μ is from scored parts.
    ``short``: the arc has to become a candidate.
    The others are for work.
    """

    a: Automata
    bounds: Bounds
    parts: Parts
    possible: Mask
    local: Floats
    usual: Floats
    costs: Floats
    pays: Floats
    exact: Mask
    short: Mask
    wanted: Mask
    row: Floats
    gained: Floats
    path: Floats
    back: Ints


@njit(cache=True)
def _extended(  # type: ignore[no-untyped-def]
    p, step, arc, modifiers, order, siblings, before_bounds, last_bounds, gained, costs, short, all_arcs, path, back
):
    """Upper bound on the best path of p's modifiers in one direction; its last one, those before it are in ``back``.

    All but ``order`` and ``siblings``, those of the side, goes by modifier.  ``gained``: grandparent parts, or bounds.
    ``all_arcs``: not candidates alone.
    """
    n = arc.shape[0] - 1
    width = order.shape[0] + 1
    value, last = 0.0, 0
    reach, reached = 0.0, 0  # best path so far
    other, others = -np.inf, 0  # best path so far that ends in an arc that is no candidate
    k = 0
    m = p + step
    while 1 <= m <= n:
        if arc[m] >= 0:
            k += 1
            top, arg = siblings[k], 0
            for j in range(1, k):
                before = modifiers[order[j - 1]]
                through = path[before] + siblings[j * width + k]
                if through > top:
                    top, arg = through, before
            if other + before_bounds[m] > top:
                top, arg = other + before_bounds[m], others
            path[m] = top + gained[m] - costs[m]
            back[m] = arg
            end = path[m] + siblings[k * width]
        elif all_arcs and costs[m] < np.inf and not short[m]:
            path[m] = reach + before_bounds[m] + gained[m] - costs[m]
            back[m] = reached
            end = path[m] + last_bounds[m]
            if path[m] > other:
                other, others = path[m], m
        else:
            m += step
            continue
        if path[m] > reach:
            reach, reached = path[m], m
        if end > value:
            value, last = end, m
        m += step
    return value, last


@njit(cache=True)
def _refine_siblings(s, h, m):  # type: ignore[no-untyped-def]
    """Replace the bounds on an arc's sibling parts by the largest of them."""
    bounds, parts = s.bounds, s.parts
    bounds.refined[h, m] = True
    known, values = parts.sibling_known[h, m], parts.sibling_values[h, m]
    first, last = min(h, m) + 1, max(h, m)
    s.wanted[h] = not known[h]
    for k in range(first, last):
        s.wanted[k] = s.possible[h, k] and not known[k]
    _score_siblings(parts, h, m, s.wanted, s.row)
    s.wanted[:] = False
    top = values[h]
    for k in range(first, last):
        if s.possible[h, k]:
            top = max(top, values[k])
    bounds.siblings[h, m] = top
    bounds.last[h, m] = values[m]


@njit(cache=True)
def _refine_entering(s, g, p):  # type: ignore[no-untyped-def]
    """Let the arc (g, p), no candidate, pay for its own parts instead of the best."""
    a, known = s.a, s.parts.grandparent_known[p, g]
    s.exact[g, p] = True
    s.wanted[g] = True
    for k in range(a.outgoing[p], a.outgoing[p + 1]):
        c = a.modifiers[a.order[k]]
        if c != g and not known[c]:
            _score_grandparents(s.parts, p, c, s.wanted, s.row)
    s.wanted[:] = False
    s.gained[:] = s.parts.grandparent_values[p, g]
    s.gained[g] = -np.inf  # (g, p) and (p, g) are a cycle
    value = -s.local[p]
    for side in range(2):
        low, high = (a.outgoing[p], a.split[p]) if side == 0 else (a.split[p], a.outgoing[p + 1])
        value += _extended(
            p, 2 * side - 1, a.arc[p], a.modifiers, a.order[low:high], a.siblings[a.sibling_at[p, side] :],
            s.bounds.siblings[p], s.bounds.last[p], s.gained, s.costs[p], s.short[p], False, s.path, s.back,
        )[0]  # fmt: skip
    # What it does not pay at p it can pay at g.
    s.costs[g, p] += s.pays[g, p] - value
    s.pays[g, p] = value


@njit(cache=True)
def _refine_grandparents(s, p, m, g):  # type: ignore[no-untyped-def]
    """Score the parts of the arc (p, m) with g and with all candidate heads of p."""
    a, known = s.a, s.parts.grandparent_known
    s.wanted[g] = True
    for e in range(a.incoming[p], a.incoming[p + 1]):
        head = a.heads[e]
        s.wanted[head] = head != m and not known[p, head, m]
    _score_grandparents(s.parts, p, m, s.wanted, s.row)
    s.wanted[:] = False


@njit(cache=True)
def _settle(s, p, sources, limits, all_arcs, final):  # type: ignore[no-untyped-def]
    """Upper bounds on p's automaton with the arcs from ``sources``, brought down to the limits as far as can be done.

    While the value is above the limit, bounds on the best path are replaced by scores; if ``final``, arcs on it of
    which all is known are given up then, so that the limit is met.  Source -1: any arc that is no candidate.  The
    values replace the limits.
    """
    a, bounds, gained, back, path = s.a, s.bounds, s.gained, s.back, s.path
    arc, costs, short, exact = a.arc[p], s.costs[p], s.short[p], s.exact[p]
    sibling_bounds, last_bounds, grandparent_bounds = bounds.siblings[p], bounds.last[p], bounds.grandparents[p]
    refined, known, values = bounds.refined[p], s.parts.grandparent_known[p], s.parts.grandparent_values[p]
    left, right = a.order[a.outgoing[p] : a.split[p]], a.order[a.split[p] : a.outgoing[p + 1]]
    left_siblings, right_siblings = a.siblings[a.sibling_at[p, 0] :], a.siblings[a.sibling_at[p, 1] :]
    modifiers = a.modifiers
    for k in range(sources.shape[0]):
        g = sources[k]
        while True:
            if g >= 0:
                gained[:] = values[g]
                gained[g] = -np.inf  # (g, p) and (p, g) are a cycle
            else:
                gained[:] = grandparent_bounds
            value, first = _extended(
                p, -1, arc, modifiers, left, left_siblings, sibling_bounds, last_bounds,
                gained, costs, short, all_arcs, path, back,
            )  # fmt: skip
            more, second = _extended(
                p, 1, arc, modifiers, right, right_siblings, sibling_bounds, last_bounds,
                gained, costs, short, all_arcs, path, back,
            )  # fmt: skip
            value += more
            if value <= limits[k] + EPSILON or not all_arcs:
                break
            changed = False
            for stage in range(4):
                for m in (first, second):
                    while m > 0:
                        if stage == 0:
                            if not refined[m]:
                                _refine_siblings(s, p, m)
                                changed = True
                        elif arc[m] < 0:
                            if stage == 1:
                                if g >= 0 and not known[g, m]:
                                    _refine_grandparents(s, p, m, g)
                                    changed = True
                            elif stage == 2:
                                if not exact[m]:
                                    _refine_entering(s, p, m)
                                    changed = True
                            elif final:
                                short[m] = changed = True
                        m = back[m]
                if changed:
                    break
            if not changed:
                break
        limits[k] = value


@njit(cache=True)
def price_arcs(
    a: Automata,
    leaving: Floats,
    entering: Floats,
    arcs: Floats,
    bounds: Bounds,
    parts: Parts,
    single_root: bool,
    lower: float,
) -> tuple[float, Mask, Floats, Floats]:
    """Price all arcs that are no candidates against the Lagrangian of those that are.

    **Theorem.**  Let L be the bound at λ, μ over the candidates, and let every other arc f = (h, m) have λ_f + μ_f no
    more than its price in the arborescence's dual solution less s_f and less L - ``lower``.  If no automaton, with
    upper bounds in place of the parts of these arcs, is worth more with them than without, then no tree that has one
    of them is better than ``lower``.

    *Proof.*  With λ_f + μ_f raised by L - ``lower`` the arborescence's dual solution is still feasible, so that L
    bounds all trees at these multipliers.  A tree with k such arcs is counted k (L - ``lower``) too high there.  ∎

    μ_f is what m's automaton gains by f, with bounds at first, and λ_f is what is left.  Where an automaton's value
    rises all the same, the parts on its best path are scored; an arc on it of which all is known is given up.

    Returns
    -------
    tuple[float, Mask, Floats, Floats]
        L; the arcs that were given up, which have to become candidates; λ and μ by head and modifier.
    """
    n = arcs.shape[0] - 1
    weights = np.full((n + 1, n + 1), -np.inf)
    values = np.empty(a.heads.shape[0])
    least, largest = np.inf, -np.inf
    for e in range(a.heads.shape[0]):
        weight = a.scores[e] + leaving[e] + entering[e]
        weights[a.heads[e], a.modifiers[e]] = weight
        least, largest = min(least, weight), max(largest, weight)
        values[e] = -leaving[a.order[e]]
    possible = arcs > -np.inf
    heads = np.full(n + 1, -1)
    bound, _, reduced = best_tree(weights, single_root, heads)
    # Arcs that are no candidates get a weight that no best tree has, to learn their prices.
    charge = root_price(weights, heads) if single_root else 0.0
    never = least - n * (largest - least) - charge - 1.0
    for h in range(n + 1):
        for m in range(1, n + 1):
            if possible[h, m] and a.arc[h, m] < 0:
                weights[h, m] = never
    weights[0] -= charge
    _, _, reduced = best_tree(weights, False, heads)

    path, back = np.empty(n + 2), np.zeros(n + 2, dtype=np.int64)
    local, usual = np.zeros(n + 1), np.zeros(n + 1)
    for p in range(n + 1):
        start, middle, stop = a.outgoing[p], a.split[p], a.outgoing[p + 1]
        local[p] = -np.inf
        for e in range(a.incoming[p], a.incoming[p + 1]) if p > 0 else range(-1, 0):
            row = a.grandparent_at[p] + (e - a.incoming[p]) * (stop - start) if p > 0 else -1
            value = -entering[e] if p > 0 else 0.0
            for side in range(2):
                low, width = (start, middle - start + 1) if side == 0 else (middle, stop - middle + 1)
                at, own = a.sibling_at[p, side], row if row < 0 else row + low - start
                value += forward(a.siblings, at, width, a.grandparents, own, values, low, path, back)[0]
            local[p] = max(local[p], value)
        bound += local[p]
    gap = max(bound - lower - EPSILON, 0.0)

    square = (n + 1, n + 1)
    costs, pays = np.full(square, np.inf), np.zeros(square)
    for e in range(a.heads.shape[0]):
        costs[a.heads[e], a.modifiers[e]] = leaving[e]
        pays[a.heads[e], a.modifiers[e]] = entering[e]
    s = _Pricing(
        a,
        bounds,
        parts,
        possible,
        local,
        usual,
        costs,
        pays,
        np.zeros(square, dtype=np.bool_),
        np.zeros(square, dtype=np.bool_),
        np.zeros(n + 1, dtype=np.bool_),
        np.empty(n + 1),
        np.empty(n + 1),
        path,
        back,
    )
    nowhere = np.full(1, -1)
    worth = np.empty(n + 1)
    sources = np.empty(n + 1, dtype=np.int64)
    for p in range(1, n + 1):
        usual[p] = np.inf
        _settle(s, p, nowhere, usual[p : p + 1], False, False)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if possible[h, m] and a.arc[h, m] < 0:
                pays[h, m] = usual[m] - local[m]
                costs[h, m] = never - min(reduced[h, m], 0.0) - arcs[h, m] - gap - pays[h, m]
    for repetition in range(2):
        worth[0] = local[0]
        _settle(s, 0, nowhere, worth[:1], True, True)
        for p in range(1, n + 1):
            first, stop = a.incoming[p], a.incoming[p + 1]
            worth[: stop - first] = local[p] + entering[first:stop]
            _settle(s, p, a.heads[first:stop], worth[: stop - first], True, True)
        # Trees with an arc into p and another out of it that are both no candidates.
        risen = False
        for p in range(1, n + 1):
            worth[0] = usual[p]
            _settle(s, p, nowhere, worth[:1], True, False)
            rise = max(worth[0] - usual[p] - EPSILON, 0.0)
            count = 0
            for g in range(n + 1):
                if a.arc[g, p] < 0 and possible[g, p] and not s.short[g, p]:
                    if s.exact[g, p] or (repetition > 0 and rise > 0.0):
                        sources[count] = g
                        worth[count] = local[p] + pays[g, p]
                        count += 1
                    elif rise > 0.0:
                        pays[g, p] += rise
                        costs[g, p] -= rise
            if repetition == 0:
                usual[p] += rise
                risen |= rise > 0.0
            _settle(s, p, sources[:count], worth[:count], True, repetition > 0)
            for k in range(count):
                g = sources[k]
                rise = worth[k] - local[p] - pays[g, p]
                if rise > EPSILON:
                    risen = True
                    pays[g, p] += rise
                    costs[g, p] -= rise
        if not risen:
            break
    return bound, s.short, costs, pays


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
    costs, pays = np.zeros((2, n + 1, n + 1))
    known = np.zeros((n + 1, n + 1), dtype=np.bool_)
    for _ in range(rounds):
        a = automata_of(candidates, arcs, parts)
        total = a.heads.shape[0]
        alive = np.ones(total, dtype=np.bool_)
        leaving, entering = optimistic(a, alive), np.zeros(total)
        for e in range(total):
            h, m = a.heads[e], a.modifiers[e]
            if known[h, m]:
                leaving[e], entering[e] = costs[h, m], pays[h, m]
        # Without fixing: arcs that it deletes would have to be priced with the others.
        _, lower, taken = relax(a, alive, leaving, entering, lower, best, iterations, single_root, False)
        counts[0], counts[1], counts[2] = total, counts[1] + 1, counts[2] + taken
        bound, short, costs, pays = price_arcs(a, leaving, entering, arcs, bounds, parts, single_root, lower)
        added = 0
        for h in range(n + 1):
            for m in range(1, n + 1):
                if short[h, m]:
                    candidates[h, m] = True
                    added += 1
                known[h, m] = candidates[h, m]
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
