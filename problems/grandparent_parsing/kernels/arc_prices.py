"""Prices of non-candidate arcs against a Lagrangian of the candidates, without scoring most of their parts.

Source: the bounds are those of S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), section 4.3,
used here without a linear program; the theorem of :func:`price_arcs` is this project's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.grandparent_parsing.kernels.automata_dual import (
    EPSILON,
    automata_values,
    best_tree,
    root_price,
)
from colgen.problems.grandparent_parsing.kernels.deadlines import STEPS, expired
from colgen.problems.grandparent_parsing.kernels.head_automata import Automata
from colgen.problems.grandparent_parsing.kernels.tree_parts import (
    WORK,
    TreeParts,
    compute_grandparent,
    compute_siblings,
    score_grandparents,
)
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import boolean, folded, inner, int64, overwrite

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Bounds(NamedTuple):
    """Upper bounds on the parts that an arc closes, by head and modifier, shape (n + 1, n + 1) each.

    Attributes
    ----------
    grandparents
        On the grandparent part; 0 for arcs of the root.
    siblings, last
        On the sibling part with the modifier before, or none; and on the part that ends the side after the modifier.
    refined
        Where ``siblings`` and ``last`` are maxima over scored parts.
    """

    grandparents: Floats
    siblings: Floats
    last: Floats
    refined: Mask

    def copy(self) -> Bounds:
        return Bounds(self.grandparents.copy(), self.siblings.copy(), self.last.copy(), self.refined.copy())


class _Pricing(NamedTuple):
    """State of pricing non-candidate arcs, by head and modifier.

    ``local``: value of each automaton over candidates.  ``usual``: its largest value if a non-candidate enters it.
    ``costs``, ``pays``: λ and μ; λ = +inf where an arc is excluded.  ``exact``: μ is computed from scored parts.
    ``short``: the arc must become a candidate.  ``met``, ``scores``: scored grandparent parts of the entering
    non-candidate; they are not stored longer, because few are needed again and each arc would take a row.  ``epsilon``:
    tolerance.  ``steps``: steps since the last time check.  The others are workspace.
    """

    a: Automata
    bounds: Bounds
    parts: TreeParts
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
    met: Mask
    scores: Floats
    path: Floats
    back: Ints
    passing: Ints
    epsilon: float
    steps: Ints


class _Vertex(NamedTuple):
    """A vertex's arcs, by modifier except ``modifiers``, which is by arc.

    ``arc``: number of each candidate.  ``before``, ``last``, ``gained``: bounds on sibling parts and last parts, and
    scores of or bounds on grandparent parts.  ``costs``, ``short``: see :class:`_Pricing`.  ``path``: workspace.
    """

    arc: Ints
    modifiers: Ints
    before: Floats
    last: Floats
    gained: Floats
    costs: Floats
    short: Mask
    path: Floats


@folded
def _extend_path(
    v: _Vertex, p: int, step: int, order: Ints, siblings: Floats, all_arcs: bool, back: Ints
) -> tuple[float, int]:
    """Return an upper bound on the best path of p's modifiers in one direction, and the path's last modifier.

    ``back`` links each modifier to the one before.  ``order``, ``siblings``: those of the side.  ``all_arcs``: include
    non-candidates.
    """
    arc, costs, gained, path = v.arc, v.costs, v.gained, v.path
    n = arc.shape[0] - 1
    width = order.shape[0] + 1
    value, last = 0.0, 0
    reach, reached = 0.0, 0  # best path so far
    other, others = -np.inf, 0  # best path so far that ends in a non-candidate
    k = 0
    m = p + step
    while 1 <= m <= n:
        if arc[m] >= 0:
            k += 1
            top, arg = siblings[k], 0
            for j in range(1, k):
                before = v.modifiers[order[j - 1]]
                through = path[before] + siblings[j * width + k]
                if through > top:
                    top, arg = through, before
            if other + v.before[m] > top:
                top, arg = other + v.before[m], others
            path[m] = top + gained[m] - costs[m]
            back[m] = arg
            end = path[m] + siblings[k * width]
        elif all_arcs and costs[m] < np.inf and not v.short[m]:
            path[m] = reach + v.before[m] + gained[m] - costs[m]
            back[m] = reached
            end = path[m] + v.last[m]
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


@inner
def _refine_siblings(s, h, m):  # type: ignore[no-untyped-def]
    """Replace the bounds on an arc's sibling parts by the largest score."""
    bounds, parts = s.bounds, s.parts
    bounds.refined[h, m] = True
    s.steps[0] += WORK * abs(h - m)
    first, last = min(h, m) + 1, max(h, m)
    s.wanted[h] = True
    for k in range(first, last):
        s.wanted[k] = s.possible[h, k]
    compute_siblings(parts, h, m, s.wanted, s.row)  # scores are not stored: most arcs never become candidates
    s.wanted[:] = False
    top = s.row[h]
    for k in range(first, last):
        if s.possible[h, k]:
            top = max(top, s.row[k])
    bounds.siblings[h, m] = top
    bounds.last[h, m] = s.row[m]


@inner
def _write_gains(s, g, p, gained):  # type: ignore[no-untyped-def]
    """Write the scores of the parts (g, p, m) by modifier m; upper bounds are allowed where (p, m) is no candidate."""
    parts = s.parts
    begun = parts.begun[p, g]
    overwrite(gained, parts.grandparent_values[p, g] if begun else parts.bounds[p])
    if s.a.arc[g, p] < 0 and not parts.dense:
        a = s.a
        for k in range(a.outgoing[p], a.outgoing[p + 1]):
            c = a.modifiers[a.order[k]]
            if c != g and not (begun and parts.grandparent_known[p, g, c]):
                gained[c] = compute_grandparent(parts, g, p, c)
    gained[g] = -np.inf  # (g, p) and (p, g) form a cycle


@inner
def _refine_entering(s, g, p):  # type: ignore[no-untyped-def]
    """Set μ of the non-candidate (g, p) to the gain of its own parts instead of the largest gain of any arc."""
    a = s.a
    s.exact[g, p] = True
    s.steps[0] += a.arc.shape[0] * (2 + a.outgoing[p + 1] - a.outgoing[p])
    _write_gains(s, g, p, s.gained)
    v = _Vertex(a.arc[p], a.modifiers, s.bounds.siblings[p], s.bounds.last[p], s.gained, s.costs[p], s.short[p], s.path)
    value = -s.local[p]
    for side in range(2):
        low, high = (a.outgoing[p], a.split[p]) if side == 0 else (a.split[p], a.outgoing[p + 1])
        siblings = a.siblings[a.sibling_at[p, side] :]
        value += _extend_path(v, p, 2 * side - 1, a.order[low:high], siblings, boolean(False), s.passing)[0]
    # The difference can be paid at g.
    s.costs[g, p] += s.pays[g, p] - value
    s.pays[g, p] = value


@inner
def _refine_grandparents(s, p, m, g):  # type: ignore[no-untyped-def]
    """Score the parts of the arc (p, m) with g and with all candidate heads of p."""
    a, known = s.a, s.parts.grandparent_known[p]
    s.steps[0] += WORK * (a.incoming[p + 1] - a.incoming[p])
    if a.arc[g, p] < 0:
        s.met[m], s.scores[m] = True, compute_grandparent(s.parts, g, p, m)
    for e in range(a.incoming[p], a.incoming[p + 1]):
        head = a.heads[e]
        s.wanted[head] = head != m and not known[head, m]
    score_grandparents(s.parts, p, m, s.wanted, s.row)
    s.wanted[:] = False


@folded
def _refine_path(s: _Pricing, p: int, g: int, first: int, second: int, final: bool, repay: bool) -> bool:
    """Replace bounds on p's best path, which ends in these two modifiers, by scores; return whether any changed.

    Only the cheapest kind of bound on the path is replaced per call; see :func:`_settle`.
    """
    arc, refined, exact, short, back = s.a.arc[p], s.bounds.refined[p], s.exact[p], s.short[p], s.back
    begun, known, met = s.parts.begun[p], s.parts.grandparent_known[p], s.met
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
                        if g >= 0 and not met[m] and not (begun[g] and known[g, m]):
                            _refine_grandparents(s, p, m, g)
                            changed = True
                    elif stage == 2:
                        if repay and not exact[m]:
                            _refine_entering(s, p, m)
                            changed = True
                    elif final:
                        short[m] = changed = True
                m = back[m]
        if changed:
            break
    return changed


@inner
def _settle(s, p, sources, limits, all_arcs, final, repay):  # type: ignore[no-untyped-def]
    """Compute upper bounds on p's automaton with arcs from ``sources``, refined until they meet the limits if possible.

    While a value exceeds its limit, bounds on the best path are replaced by scores.  If ``final``, fully scored arcs on
    it are then excluded, so that the limit is met.  Source -1: any non-candidate arc.  The values overwrite ``limits``.
    ``repay``: μ of arcs on the path may fall to the gain of their own parts, because the automata that they enter are
    examined again.  Returns whether time ran out.
    """
    a, bounds, gained, met = s.a, s.bounds, s.gained, s.met
    v = _Vertex(a.arc[p], a.modifiers, bounds.siblings[p], bounds.last[p], gained, s.costs[p], s.short[p], s.path)
    left, right = a.order[a.outgoing[p] : a.split[p]], a.order[a.split[p] : a.outgoing[p + 1]]
    left_siblings, right_siblings = a.siblings[a.sibling_at[p, 0] :], a.siblings[a.sibling_at[p, 1] :]
    for k in range(sources.shape[0]):
        g = sources[k]
        met[:] = False
        while True:
            if g >= 0:
                _write_gains(s, g, p, gained)
                for m in range(met.shape[0]):
                    if met[m]:
                        gained[m] = s.scores[m]
            else:
                overwrite(gained, bounds.grandparents[p])
            value, first = _extend_path(v, p, int64(-1), left, left_siblings, all_arcs, s.back)
            more, second = _extend_path(v, p, int64(1), right, right_siblings, all_arcs, s.back)
            value += more
            s.steps[0] += a.arc.shape[0] * (left.shape[0] + right.shape[0] + 2)
            if s.steps[0] > STEPS:
                s.steps[0] = 0
                if expired():
                    return True
            if value <= limits[k] + s.epsilon or not all_arcs:
                break
            if not _refine_path(s, p, g, first, second, final, repay):
                break
        limits[k] = value
    return False


@njit(cache=True, no_cpython_wrapper=True)
def _pricing_of(a, bounds, parts, possible, local, leaving, entering, unit):  # type: ignore[no-untyped-def]
    size = possible.shape[0]
    costs, pays = np.full((size, size), np.inf), np.zeros((size, size))
    for e in range(a.heads.shape[0]):
        costs[a.heads[e], a.modifiers[e]] = leaving[e]
        pays[a.heads[e], a.modifiers[e]] = entering[e]
    return _Pricing(
        a,
        bounds,
        parts,
        possible,
        local,
        np.full(size, np.inf),
        costs,
        pays,
        np.zeros((size, size), dtype=np.bool_),
        np.zeros((size, size), dtype=np.bool_),
        np.zeros(size, dtype=np.bool_),
        np.empty(size),
        np.empty(size),
        np.zeros(size, dtype=np.bool_),
        np.empty(size),
        np.empty(size + 1),
        np.zeros(size + 1, dtype=np.int64),
        np.zeros(size + 1, dtype=np.int64),  # the path in ``back`` is being followed while others are looked at
        EPSILON * unit,
        np.zeros(1, dtype=np.int64),
    )


@njit(cache=True, no_cpython_wrapper=True)
def _tree_prices(a, leaving, entering, possible, single_root, unit):  # type: ignore[no-untyped-def]
    """Return the best arborescence's bound, a weight too low for any best tree, and reduced costs at that weight."""
    n = possible.shape[0] - 1
    weights = np.full((n + 1, n + 1), -np.inf)
    least, largest = np.inf, -np.inf
    for e in range(a.heads.shape[0]):
        weight = a.scores[e] + leaving[e] + entering[e]
        weights[a.heads[e], a.modifiers[e]] = weight
        least, largest = min(least, weight), max(largest, weight)
    heads = np.full(n + 1, -1)
    bound, _, reduced = best_tree(weights, single_root, heads)
    # Give non-candidates a weight that keeps them out of the best tree, so that their reduced costs are their prices.
    charge = root_price(weights, heads, unit) if single_root else 0.0
    never = least - n * (largest - least) - charge - unit
    for h in range(n + 1):
        for m in range(1, n + 1):
            if possible[h, m] and a.arc[h, m] < 0:
                weights[h, m] = never
    for m in range(1, n + 1):
        weights[0, m] -= charge
    _, _, reduced = best_tree(weights, boolean(False), heads)
    return bound, never, reduced


@folded
def _list_sources(
    s: _Pricing, p: int, phase: int, entering: Floats, rises: Floats, sources: Ints, limits: Floats
) -> int:
    """List the heads of the arcs into p that a phase examines (-1: any non-candidate); return their number.

    ``limits`` receives, for each of these arcs, the value that p's automaton should not exceed.
    """
    a, local, pays = s.a, s.local, s.pays
    count, kind = 0, (phase - 1) % 3
    if phase == 0 or kind == 1:  # any non-candidate arc into p
        if p > 0:
            sources[0], limits[0], count = -1, s.usual[p], 1
    elif kind == 0:  # the candidates
        if p == 0:
            sources[0], limits[0], count = -1, local[0], 1
        for e in range(a.incoming[p], a.incoming[p + 1]):
            sources[count], limits[count] = a.heads[e], local[p] + entering[e]
            count += 1
    else:  # non-candidate arcs into p that have, or need, a price of their own
        for g in range(local.shape[0]):
            if a.arc[g, p] < 0 and s.possible[g, p] and not s.short[g, p]:
                if s.exact[g, p] or (phase > 3 and rises[p] > 0.0):
                    sources[count], limits[count] = g, local[p] + pays[g, p]
                    count += 1
                elif rises[p] > 0.0:
                    pays[g, p] += rises[p]
                    s.costs[g, p] -= rises[p]
    return count


@folded
def _note_values(s: _Pricing, p: int, phase: int, rises: Floats, sources: Ints, values: Floats) -> bool:
    """Store the values of p's automaton in a phase; return whether μ of non-candidates into p must rise."""
    kind, repetition, risen = (phase - 1) % 3, phase > 3, False
    if phase == 0:
        s.usual[p] = values[0]
    elif kind == 1:
        rises[p] = max(values[0] - s.usual[p] - s.epsilon, 0.0)
        if not repetition:
            s.usual[p] += rises[p]
            risen = rises[p] > 0.0
    elif kind == 2:
        for k in range(sources.shape[0]):
            g = sources[k]
            rise = values[k] - s.local[p] - s.pays[g, p]
            if rise > s.epsilon and repetition:
                s.short[g, p] = True  # the automaton of g is not examined again
            elif rise > s.epsilon:
                risen = True
                s.pays[g, p] += rise
                s.costs[g, p] -= rise
    return risen


@folded
def _share_prices(s: _Pricing, arcs: Floats, reduced: Floats, never: float, gap: float) -> None:
    """Set μ of each non-candidate to the largest gain of its modifier's automaton, and λ to the rest of its price."""
    for h in range(arcs.shape[0]):
        for m in range(1, arcs.shape[0]):
            if s.possible[h, m] and s.a.arc[h, m] < 0:
                s.pays[h, m] = s.usual[m] - s.local[m]
                s.costs[h, m] = never - min(reduced[h, m], 0.0) - arcs[h, m] - gap - s.pays[h, m]


@njit(cache=True)
def price_arcs(
    a: Automata,
    leaving: Floats,
    entering: Floats,
    arcs: Floats,
    bounds: Bounds,
    parts: TreeParts,
    single_root: bool,
    lower: float,
    unit: float,
) -> tuple[float, Mask, Floats, Floats]:
    """Price all non-candidate arcs against the Lagrangian of the candidates.

    **Theorem.**  Let L be the bound at λ, μ over the candidates.  Let every other arc f = (h, m) satisfy λ_f + μ_f ≤
    p_f - s_f - (L - ``lower``), where p_f is its price in the arborescence's dual solution.  If no automaton's value,
    with upper bounds in place of these arcs' parts, is larger with them than without, then no tree that contains one of
    them is better than ``lower``.

    *Proof.*  If λ_f + μ_f is raised by L - ``lower``, the arborescence's dual solution is still feasible, so L bounds
    all trees at these multipliers.  The score of a tree with k such arcs is overestimated there by k (L - ``lower``).
    ∎

    μ_f is the gain of m's automaton by f, initially a bound, and λ_f is the remainder.  If an automaton's value still
    rises, the parts on its best path are scored; a fully scored arc on it is excluded.  Tolerances are relative to
    ``unit``, the typical size of a score.

    Returns
    -------
    tuple[float, Mask, Floats, Floats]
        L; the excluded arcs, which must become candidates; λ and μ by head and modifier.  L is +inf, and nothing is
        proved, if time ran out (:func:`~colgen.problems.grandparent_parsing.kernels.deadlines.expired`).
    """
    n = arcs.shape[0] - 1
    possible = arcs > -np.inf
    bound, never, reduced = _tree_prices(a, leaving, entering, possible, single_root, unit)
    values, enters, local = np.empty(a.heads.shape[0]), np.empty(a.heads.shape[0]), np.empty(n + 1)
    if automata_values(a, leaving, entering, values, enters, local):
        return np.inf, possible, reduced, reduced
    for p in range(n + 1):
        bound += local[p]
    s = _pricing_of(a, bounds, parts, possible, local, leaving, entering, unit)
    gap = max(bound - lower - s.epsilon, 0.0)
    # Call _settle in one place: each call site takes seconds to compile.
    sources, limits, rises = np.empty(n + 1, dtype=np.int64), np.empty(n + 1), np.zeros(n + 1)
    risen = False
    for phase in range(7):
        if phase == 4 and not risen:
            break
        kind = (phase - 1) % 3
        for p in range(n + 1):
            count = _list_sources(s, p, phase, entering, rises, sources, limits)
            if count == 0:
                continue
            final = phase > 0 and (kind == 0 or (kind == 2 and phase > 3))
            if _settle(s, p, sources[:count], limits[:count], phase > 0, final, kind < 2):
                return np.inf, s.short, s.costs, s.pays
            risen |= _note_values(s, p, phase, rises, sources[:count], limits)
        if phase == 0:
            _share_prices(s, arcs, reduced, never, gap)
    return bound, s.short, s.costs, s.pays
