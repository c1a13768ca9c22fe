r"""Prices of arcs that are no candidates, against a Lagrangian of those that are, without scoring most of their parts.

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
    look_at_grandparent,
    look_at_siblings,
    score_grandparents,
)
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import boolean, folded, inner, int64, overwrite

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

    def copied(self) -> Bounds:
        """Bounds of their own to be refined."""
        return Bounds(self.grandparents.copy(), self.siblings.copy(), self.last.copy(), self.refined.copy())


class _Pricing(NamedTuple):
    """What is known of the arcs that are no candidates, by head and modifier.

    ``local``: value of each automaton over candidates.  ``usual``: the most it is worth if another arc enters it.
    ``costs``, ``pays``: λ and μ, +inf λ where an arc is not to be looked at.  ``exact``: μ is from scored parts.
    ``short``: the arc has to become a candidate.  ``met``, ``scores``: grandparent parts of the arc that enters, which
    is no candidate, as far as they have been scored; few are looked at again, and to keep them would take a row for
    each arc.  ``epsilon``: differences that do not count.  ``steps``: since the last look at the time.
    The others are for work.
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
    """A vertex's arcs, by modifier but for ``modifiers``, which goes by arc.

    ``arc``: number of each candidate.  ``before``, ``last``, ``gained``: bounds on sibling parts, on last ones, and
    grandparent parts or bounds on these.  ``costs``, ``short``: see :class:`_Pricing`.  ``path``: for work.
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
def _extended(
    v: _Vertex, p: int, step: int, order: Ints, siblings: Floats, all_arcs: bool, back: Ints
) -> tuple[float, int]:
    """Upper bound on the best path of p's modifiers in one direction; its last one, those before it are in ``back``.

    ``order``, ``siblings``: those of the side.  ``all_arcs``: not candidates alone.
    """
    arc, costs, gained, path = v.arc, v.costs, v.gained, v.path
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
    """Replace the bounds on an arc's sibling parts by the largest of them."""
    bounds, parts = s.bounds, s.parts
    bounds.refined[h, m] = True
    s.steps[0] += WORK * abs(h - m)
    first, last = min(h, m) + 1, max(h, m)
    s.wanted[h] = True
    for k in range(first, last):
        s.wanted[k] = s.possible[h, k]
    look_at_siblings(parts, h, m, s.wanted, s.row)  # most of them are never candidates: they are kept nowhere
    s.wanted[:] = False
    top = s.row[h]
    for k in range(first, last):
        if s.possible[h, k]:
            top = max(top, s.row[k])
    bounds.siblings[h, m] = top
    bounds.last[h, m] = s.row[m]


@inner
def _write_gains(s, g, p, gained):  # type: ignore[no-untyped-def]
    """Write what p's arcs gain with g as its head, by modifier: candidates scores, others bounds if they have none."""
    parts = s.parts
    begun = parts.begun[p, g]
    overwrite(gained, parts.grandparent_values[p, g] if begun else parts.bounds[p])
    if s.a.arc[g, p] < 0 and not parts.dense:
        a = s.a
        for k in range(a.outgoing[p], a.outgoing[p + 1]):
            c = a.modifiers[a.order[k]]
            if c != g and not (begun and parts.grandparent_known[p, g, c]):
                gained[c] = look_at_grandparent(parts, g, p, c)
    gained[g] = -np.inf  # (g, p) and (p, g) are a cycle


@inner
def _refine_entering(s, g, p):  # type: ignore[no-untyped-def]
    """Let the arc (g, p), no candidate, pay for its own parts instead of the best."""
    a = s.a
    s.exact[g, p] = True
    s.steps[0] += a.arc.shape[0] * (2 + a.outgoing[p + 1] - a.outgoing[p])
    _write_gains(s, g, p, s.gained)
    v = _Vertex(a.arc[p], a.modifiers, s.bounds.siblings[p], s.bounds.last[p], s.gained, s.costs[p], s.short[p], s.path)
    value = -s.local[p]
    for side in range(2):
        low, high = (a.outgoing[p], a.split[p]) if side == 0 else (a.split[p], a.outgoing[p + 1])
        siblings = a.siblings[a.sibling_at[p, side] :]
        value += _extended(v, p, 2 * side - 1, a.order[low:high], siblings, boolean(False), s.passing)[0]
    # What it does not pay at p it can pay at g.
    s.costs[g, p] += s.pays[g, p] - value
    s.pays[g, p] = value


@inner
def _refine_grandparents(s, p, m, g):  # type: ignore[no-untyped-def]
    """Score the parts of the arc (p, m) with g and with all candidate heads of p."""
    a, known = s.a, s.parts.grandparent_known[p]
    s.steps[0] += WORK * (a.incoming[p + 1] - a.incoming[p])
    if a.arc[g, p] < 0:
        s.met[m], s.scores[m] = True, look_at_grandparent(s.parts, g, p, m)
    for e in range(a.incoming[p], a.incoming[p + 1]):
        head = a.heads[e]
        s.wanted[head] = head != m and not known[head, m]
    score_grandparents(s.parts, p, m, s.wanted, s.row)
    s.wanted[:] = False


@folded
def _refine_path(s: _Pricing, p: int, g: int, first: int, second: int, final: bool, repay: bool) -> bool:
    """Replace bounds on p's best path, which ends in these two modifiers, by scores; whether there were any.

    The cheapest to replace come first, and no others in the same call; see :func:`_settle`.
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
    """Upper bounds on p's automaton with the arcs from ``sources``, brought down to the limits as far as can be done.

    While the value is above the limit, bounds on the best path are replaced by scores; if ``final``, arcs on it of
    which all is known are given up then, so that the limit is met.  Source -1: any arc that is no candidate.  The
    values replace the limits.  ``repay``: μ of arcs on it may fall to what their own parts ask for, because the
    automata that they enter are looked at again.  Whether it had to end before its time.
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
            value, first = _extended(v, p, int64(-1), left, left_siblings, all_arcs, s.back)
            more, second = _extended(v, p, int64(1), right, right_siblings, all_arcs, s.back)
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
    """What is known before any arc has been priced."""
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
    """The best arborescence of candidates, the weight that no other arc may have, and reduced costs at that weight."""
    n = possible.shape[0] - 1
    weights = np.full((n + 1, n + 1), -np.inf)
    least, largest = np.inf, -np.inf
    for e in range(a.heads.shape[0]):
        weight = a.scores[e] + leaving[e] + entering[e]
        weights[a.heads[e], a.modifiers[e]] = weight
        least, largest = min(least, weight), max(largest, weight)
    heads = np.full(n + 1, -1)
    bound, _, reduced = best_tree(weights, single_root, heads)
    # Arcs that are no candidates get a weight that no best tree has, to learn their prices.
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
    """Write heads of arcs into p to look at in a phase, and what its automaton may be worth with them; how many."""
    a, local, pays = s.a, s.local, s.pays
    count, kind = 0, (phase - 1) % 3
    if phase == 0 or kind == 1:  # any arc into p that is no candidate
        if p > 0:
            sources[0], limits[0], count = -1, s.usual[p], 1
    elif kind == 0:  # the candidates
        if p == 0:
            sources[0], limits[0], count = -1, local[0], 1
        for e in range(a.incoming[p], a.incoming[p + 1]):
            sources[count], limits[count] = a.heads[e], local[p] + entering[e]
            count += 1
    else:  # other arcs into p that have a price of their own, or have to
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
    """Take in what p's automaton is worth with the arcs that were looked at; whether others are to pay more for it."""
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
                s.short[g, p] = True  # nobody looks at the automaton of g again
            elif rise > s.epsilon:
                risen = True
                s.pays[g, p] += rise
                s.costs[g, p] -= rise
    return risen


@folded
def _share_prices(s: _Pricing, arcs: Floats, reduced: Floats, never: float, gap: float) -> None:
    """Let each arc that is no candidate pay what its modifier's automaton gains by any: what is left is its λ."""
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
    """Price all arcs that are no candidates against the Lagrangian of those that are.

    **Theorem.**  Let L be the bound at λ, μ over the candidates, and let every other arc f = (h, m) have λ_f + μ_f no
    more than its price in the arborescence's dual solution less s_f and less L - ``lower``.  If no automaton, with
    upper bounds in place of the parts of these arcs, is worth more with them than without, then no tree that has one
    of them is better than ``lower``.

    *Proof.*  With λ_f + μ_f raised by L - ``lower`` the arborescence's dual solution is still feasible, so that L
    bounds all trees at these multipliers.  A tree with k such arcs is counted k (L - ``lower``) too high there.  ∎

    μ_f is what m's automaton gains by f, with bounds at first, and λ_f is what is left.  Where an automaton's value
    rises all the same, the parts on its best path are scored; an arc on it of which all is known is given up.
    Tolerances are relative to ``unit``, the typical size of a score.

    Returns
    -------
    tuple[float, Mask, Floats, Floats]
        L, +inf if it had to end before its time
        (:func:`~colgen.problems.grandparent_parsing.kernels.deadlines.expired`) and nothing is proved; the arcs that
        were given up, which have to become candidates; λ and μ by head and modifier.
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
    # One call of the kernel: each place that it is called from takes seconds to compile.
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
