"""Lagrangian bounds for trees with arc, grandparent and sibling scores, from head automata and arborescences.

The problem over arborescences y of candidate arcs has scores s_hm of arcs, r_gpc of grandparent parts, and q_hsm of two
consecutive modifiers on one side (s = h: none before; m = h: none after, on a side that has modifiers):

    max Σ_hm s_hm y_hm + Σ_gpc r_gpc y_gp y_pc + Σ_hsm q_hsm [s, m consecutive under h].

Give each vertex p its own copies of the arcs it touches: the entering arc and the leaving arcs.  For a fixed entering
arc the best leaving arcs form a path on each side, found by a dynamic program over their order (a *head automaton*).  A
third copy of the arcs must be an arborescence.  Dualising the agreement of the copies,

    L(λ, μ) = max_tree Σ (s + λ + μ) y  +  Σ_p max_{arcs of p} ( r + q - Σ_leaving λ - Σ_entering μ )

is an upper bound for all λ, μ.  It is minimised by subgradient steps of Polyak's length, and each tree on the way is a
feasible solution.  If the copies agree, or the bound equals the best tree's score, that tree is optimal.

*Reduced-cost fixing.*  The three problems are independent, so their losses when an arc is forced in add up: a tree with
the arc scores at most L minus the sum.  Arcs for which this does not exceed the best tree's score are deleted.

An iteration takes time O(a + Σ_p a_p d_p²) for a candidate arcs, a_p of them into p and d_p out of it.  The sum is over
the vertices that touch an arc whose multipliers changed in the last step, less than half of them on average.  Deleting
arcs needs reduced costs of the arborescence, O(n²).

Source: T. Koo, A. M. Rush, M. Collins, T. Jaakkola, D. Sontag, *Dual decomposition for parsing with non-projective head
automata*, EMNLP (2010), with the grandparent inside the automaton; the fixing is this project's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.grandparent_parsing.kernels.deadlines import STEPS, expired
from colgen.problems.grandparent_parsing.kernels.head_automata import Automata, backward, forward, tree_score
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import boolean, folded, int64, overwrite
from colgen.solvers.trees.arborescence import allocate_sets, is_tree, solve_arborescence
from colgen.solvers.trees.sparse_arborescence import best_of_arcs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

EPSILON = 1e-9
"""Minimum relevant improvement of a tree, relative to the unit of the scores."""

_ARBORESCENCE = 20
"""Approximate number of elementary steps of the best arborescence per pair of vertices."""

ENUMERATED = 256
"""Maximum number of combinations of remaining heads that are enumerated."""


@njit(cache=True, no_cpython_wrapper=True)
def best_tree(weights, single_root, heads):  # type: ignore[no-untyped-def]
    """Return the bound of the best arborescence, whether one exists, and its reduced costs; fills ``heads``.

    The best head of each modifier is used directly if these form a tree.
    """
    n = weights.shape[0] - 1
    total = 0.0
    roots = 0
    for m in range(1, n + 1):
        top, arg = -np.inf, -1
        for h in range(n + 1):
            if weights[h, m] > top:
                top, arg = weights[h, m], h
        if arg < 0:
            return -np.inf, False, weights
        heads[m] = arg
        total += top
        if arg == 0:
            roots += 1
    if is_tree(heads, np.empty(n + 1, dtype=np.int64)) and (roots == 1 or not single_root):
        reduced = weights.copy()
        for m in range(1, n + 1):
            top = weights[heads[m], m]
            for h in range(n + 1):
                reduced[h, m] -= top
        return total, True, reduced
    found, bound, reduced, feasible = solve_arborescence(weights, single_root)
    overwrite(heads, found)
    return bound, feasible, reduced


@njit(cache=True)
def root_price(weights, heads, unit):  # type: ignore[no-untyped-def]
    """Return the cost per root arc at which the best single-root arborescence ``heads`` becomes the best overall.

    This is the smallest such price K.  max over trees of (weight - K (roots - 1)) decreases in K until it equals the
    weight of the best tree with one root, and is the upper envelope of lines.  Each step moves to the intersection of
    two lines.
    """
    n = weights.shape[0] - 1
    least = 0.0
    for m in range(1, n + 1):
        least += weights[heads[m], m]
    price = 0.0
    charged = weights.copy()
    for _ in range(n + 1):
        for m in range(1, n + 1):
            charged[0, m] = weights[0, m] - price
        others, _, _, _ = solve_arborescence(charged, boolean(False))
        roots, total = 0, 0.0
        for m in range(1, n + 1):
            total += weights[others[m], m]
            if others[m] == 0:
                roots += 1
        if roots == 1 or total - price * (roots - 1) <= least + EPSILON * unit:
            break
        price = (total - least) / (roots - 1)
    return price


@njit(cache=True, no_cpython_wrapper=True)
def force(a, alive, values, enters, local, steps, forced):  # type: ignore[no-untyped-def]
    """Write to ``forced`` the value of each live arc's head automaton when the arc is forced in.

    ``values``: -λ of the arcs in their ``order``.  ``enters``: value of the automaton that each arc enters, if it does.
    ``local``: the largest of these.  Returns the steps since the last time check, and whether time ran out.
    """
    n = a.arc.shape[0] - 1
    incoming, outgoing, order, split = a.incoming, a.outgoing, a.order, a.split
    grandparent_at, grandparents, sibling_at, siblings = a.grandparent_at, a.grandparents, a.sibling_at, a.siblings
    path, back, rest = np.empty(n + 2), np.empty(n + 2, dtype=np.int64), np.empty(n + 2)
    forced[:] = -np.inf
    for p in range(n + 1):
        start, stop = outgoing[p], outgoing[p + 1]
        first, final = (0, 1) if p == 0 else (incoming[p], incoming[p + 1])
        steps += 2 * (final - first) * ((split[p] - start) ** 2 + (stop - split[p]) ** 2)
        if steps > STEPS:
            steps = 0
            if expired():
                return steps, True
        for e in range(first, final):
            if p > 0 and not alive[e]:
                continue
            row = -1 if p == 0 else grandparent_at[p] + (e - incoming[p]) * (stop - start)
            whole = local[p] if p == 0 else enters[e]
            for side in range(2):
                low, high = (start, split[p]) if side == 0 else (split[p], stop)
                if low == high:
                    continue
                at, width, own_row = sibling_at[p, side], high - low + 1, row if row < 0 else row + low - start
                own, _ = forward(siblings, at, width, grandparents, own_row, values, low, path, back)
                backward(siblings, at, width, grandparents, own_row, values, low, rest)
                for k in range(1, width):
                    f = order[low + k - 1]
                    if alive[f]:
                        forced[f] = max(forced[f], whole - own + path[k] + rest[k])
    return steps, False


@njit(cache=True, no_cpython_wrapper=True)
def automata_values(a, leaving, entering, values, enters, local):  # type: ignore[no-untyped-def]
    """Compute each automaton's value with each arc into it (``enters``) and its largest value (``local``).

    ``values``: -λ of the arcs in their ``order``.  Returns whether time ran out.
    """
    n, steps = a.arc.shape[0] - 1, 0
    path, back = np.empty(n + 2), np.empty(n + 2, dtype=np.int64)
    for k in range(a.order.shape[0]):
        values[k] = -leaving[a.order[k]]
    for p in range(n + 1):
        start, middle, stop = a.outgoing[p], a.split[p], a.outgoing[p + 1]
        steps += (a.incoming[p + 1] - a.incoming[p] + 1) * ((middle - start) ** 2 + (stop - middle) ** 2)
        if steps > STEPS:
            steps = 0
            if expired():
                return True
        local[p] = -np.inf
        for e in range(a.incoming[p], a.incoming[p + 1]) if p > 0 else range(-1, 0):
            row = a.grandparent_at[p] + (e - a.incoming[p]) * (stop - start) if p > 0 else -1
            value = -entering[e] if p > 0 else 0.0
            for side in range(2):
                low, width = (start, middle - start + 1) if side == 0 else (middle, stop - middle + 1)
                at, own = a.sibling_at[p, side], row if row < 0 else row + low - start
                value += forward(a.siblings, at, width, a.grandparents, own, values, low, path, back)[0]
            if p > 0:
                enters[e] = value
            local[p] = max(local[p], value)
    return False


@njit(cache=True)
def marginals(a: Automata, leaving: Floats, entering: Floats, single_root: bool) -> Floats:
    """Return, for each candidate arc, the Lagrangian bound on trees that contain it; shape (arcs,).

    All +inf if time ran out.
    """
    n = a.arc.shape[0] - 1
    arcs = a.heads.shape[0]
    weights = np.full((n + 1, n + 1), -np.inf)
    for e in range(arcs):
        weights[a.heads[e], a.modifiers[e]] = a.scores[e] + leaving[e] + entering[e]
    bound, feasible, reduced = best_tree(weights, single_root, np.full(n + 1, -1))
    found = np.full(arcs, np.inf if feasible else -np.inf)
    if not feasible:
        return found
    values, enters, forced, local = np.empty(arcs), np.empty(arcs), np.empty(arcs), np.empty(n + 1)
    alive = np.ones(arcs, dtype=np.bool_)
    if (
        automata_values(a, leaving, entering, values, enters, local)
        or (force(a, alive, values, enters, local, int64(0), forced)[1])
    ):
        return found
    bound += local.sum()
    for e in range(arcs):
        h, m = a.heads[e], a.modifiers[e]
        found[e] = bound + min(reduced[h, m], 0.0) + (forced[e] - local[h]) + (enters[e] - local[m])
    return found


class _Copies(NamedTuple):
    """Multipliers, and the best copies of the arcs at these multipliers.

    ``leaving``, ``entering``: λ and μ of each arc.  ``heads``: the best arborescence.  ``chosen``, ``taken``: the arc
    that enters each vertex in its automaton, and whether each arc leaves its head there.  ``changed``: vertices with
    multipliers that changed since their automata were run.  ``values``: -λ of the arcs in their ``order``.  ``enters``:
    value of the automaton that each arc enters, if it does.  ``local``: the largest of these.  The others are
    workspace.
    """

    leaving: Floats
    entering: Floats
    heads: Ints
    chosen: Ints
    taken: Mask
    changed: Mask
    values: Floats
    enters: Floats
    local: Floats
    path: Floats
    back: Ints


@njit(cache=True, no_cpython_wrapper=True)
def _copies_of(a, leaving, entering):  # type: ignore[no-untyped-def]
    n, arcs = a.arc.shape[0] - 1, a.heads.shape[0]
    return _Copies(
        leaving,
        entering,
        np.full(n + 1, -1),
        np.full(n + 1, -1),
        np.zeros(arcs, dtype=np.bool_),
        np.ones(n + 1, dtype=np.bool_),
        np.empty(arcs),
        np.empty(arcs),
        np.empty(n + 1),
        np.empty(n + 2),
        np.empty(n + 2, dtype=np.int64),
    )


@folded
def _run_automata(a: Automata, alive: Mask, s: _Copies, bound: float, steps: int) -> tuple[float, int, bool]:
    """Run the automata of changed vertices; return the bound plus all values, the steps, and whether time ran out."""
    incoming, outgoing, order, split, changed = a.incoming, a.outgoing, a.order, a.split, s.changed
    grandparent_at, grandparents, sibling_at, siblings = a.grandparent_at, a.grandparents, a.sibling_at, a.siblings
    leaving, entering, values, local = s.leaving, s.entering, s.values, s.local
    taken, path, back = s.taken, s.path, s.back
    for p in range(changed.shape[0]):
        start, middle, stop = outgoing[p], split[p], outgoing[p + 1]
        if not changed[p]:
            bound += local[p]
            continue
        left, right = middle - start + 1, stop - middle + 1
        steps += (incoming[p + 1] - incoming[p] + 1) * (left * left + right * right)
        if steps > STEPS:
            steps = 0
            if expired():
                return bound, steps, True
        changed[p] = False
        for k in range(start, stop):
            e = order[k]
            values[k] = -leaving[e] if alive[e] else -np.inf
            taken[e] = False
        top, arg, row = -np.inf, -1, -1
        if p == 0:
            top = forward(siblings, sibling_at[0, 1], right, grandparents, int64(-1), values, middle, path, back)[0]
        for e in range(incoming[p], incoming[p + 1]):
            if alive[e]:
                row = grandparent_at[p] + (e - incoming[p]) * (stop - start)
                value = -entering[e]
                if left > 1:
                    value += forward(siblings, sibling_at[p, 0], left, grandparents, row, values, start, path, back)[0]
                if right > 1:
                    at, row = sibling_at[p, 1], row + left - 1
                    value += forward(siblings, at, right, grandparents, row, values, middle, path, back)[0]
                s.enters[e] = value
                if value > top:
                    top, arg = value, e
        s.chosen[p], local[p] = arg, top
        bound += top
        row = -1 if p == 0 else grandparent_at[p] + (arg - incoming[p]) * (stop - start)
        for side in range(2):
            low, width = (start, left) if side == 0 else (middle, right)
            if width == 1:
                continue
            at, own = sibling_at[p, side], row if row < 0 else row + low - start
            _, k = forward(siblings, at, width, grandparents, own, values, low, path, back)
            while k > 0:
                taken[order[low + k - 1]] = True
                k = back[k]
    return bound, steps, False


@folded
def _weigh(a: Automata, alive: Mask, s: _Copies, worth: Floats) -> None:
    for e in range(worth.shape[0]):
        worth[e] = a.scores[e] + s.leaving[e] + s.entering[e] if alive[e] else -np.inf


@folded
def _write_matrix(a: Automata, worth: Floats, weights: Floats) -> None:
    weights[:, :] = -np.inf
    for e in range(worth.shape[0]):
        weights[a.heads[e], a.modifiers[e]] = worth[e]


@njit(cache=True, no_cpython_wrapper=True)
def _delete(a, alive, s, reduced, bound, limit, steps):  # type: ignore[no-untyped-def]
    """Delete arcs that only worse trees contain; return the steps, whether time ran out, and the number of arcs."""
    forced, deleted = np.empty(alive.shape[0]), 0
    steps, ended = force(a, alive, s.values, s.enters, s.local, steps, forced)
    if ended:
        return steps, True, 0
    for e in range(alive.shape[0]):
        if alive[e]:
            h, m = a.heads[e], a.modifiers[e]
            with_arc = bound + min(reduced[h, m], 0.0) + (forced[e] - s.local[h]) + (s.enters[e] - s.local[m])
            if with_arc <= limit:
                alive[e] = False
                s.changed[h] = s.changed[m] = True
                deleted += 1
    return steps, False, deleted


@folded
def _disagreement(a: Automata, s: _Copies) -> float:
    """Return the squared norm of the subgradient: 0 if all copies agree."""
    norm = 0.0
    for m in range(1, s.heads.shape[0]):
        e = a.arc[s.heads[m], m]
        if not s.taken[e]:
            norm += 1.0
        if s.chosen[m] != e:
            norm += 2.0
    for e in range(s.taken.shape[0]):
        if s.taken[e] and s.heads[a.modifiers[e]] != a.heads[e]:
            norm += 1.0
    return norm


@folded
def _step(a: Automata, s: _Copies, step: float) -> None:
    heads, leaving, entering, changed = s.heads, s.leaving, s.entering, s.changed
    for m in range(1, heads.shape[0]):
        e = a.arc[heads[m], m]
        if not s.taken[e]:
            leaving[e] -= step
            changed[heads[m]] = True
        if s.chosen[m] != e:
            entering[e] -= step
            entering[s.chosen[m]] += step
            changed[m] = True
    for e in range(s.taken.shape[0]):
        if s.taken[e] and heads[a.modifiers[e]] != a.heads[e]:
            leaving[e] += step
            changed[a.heads[e]] = True


@njit(cache=True)
def relax(
    a: Automata,
    alive: Mask,
    leaving: Floats,
    entering: Floats,
    lower: float,
    best_heads: Ints,
    iterations: int,
    single_root: bool,
    fix: bool,
    unit: float,
) -> tuple[float, float, int]:
    """Minimise the Lagrangian bound over the live arcs, searching for better trees and deleting arcs on the way.

    Parameters
    ----------
    alive
        Live arcs; deleted ones are set to False.
    leaving, entering
        λ and μ of each arc; overwritten by the best found.
    lower, best_heads
        Score (or -inf) and heads, shape (n + 1,), of the best known tree; the heads are overwritten by a better tree.
    fix
        Whether to delete arcs by reduced costs.
    unit
        Typical size of a score, to which tolerances are relative.

    Returns
    -------
    tuple[float, float, int]
        Upper bound on trees of initially live arcs that are better than the best tree, or -inf; score of the best tree;
        iterations taken.  The tree is optimal if the bound does not exceed its score.  Bound and tree are also valid if
        time runs out.
    """
    n, arcs, epsilon = a.arc.shape[0] - 1, a.heads.shape[0], EPSILON * unit
    reduced = weights = np.empty((n + 1, n + 1))
    worth, sets, s = np.empty(arcs), allocate_sets(n + 1), _copies_of(a, leaving, entering)
    best_leaving, best_entering = leaving.copy(), entering.copy()
    upper, scale, since, steps, count = np.inf, 1.0, 0, 0, iterations
    for iteration in range(iterations):
        _weigh(a, alive, s, worth)
        if fix:
            steps += _ARBORESCENCE * n * n
            _write_matrix(a, worth, weights)
            bound, feasible, reduced = best_tree(weights, single_root, s.heads)
        else:
            steps += _ARBORESCENCE * arcs
            bound, feasible = best_of_arcs(a.heads, a.modifiers, a.incoming, worth, single_root, s.heads, sets)
        if not feasible:
            return -np.inf, lower, iteration
        bound, steps, ended = _run_automata(a, alive, s, bound, steps)
        score = tree_score(a, s.heads)
        if score > lower:
            lower = score
            overwrite(best_heads, s.heads)
        if ended:
            break
        since = 0 if upper == np.inf or bound < upper - 1e-6 * abs(upper - lower) else since + 1
        improved = bound < upper
        if improved:
            upper = bound
            overwrite(best_leaving, leaving)
            overwrite(best_entering, entering)
        if upper <= lower + epsilon:
            count = iteration + 1
            break
        if fix and (improved or bound - lower < 0.5 * scale * unit) and iteration % 3 == 0:
            steps, ended, deleted = _delete(a, alive, s, reduced, bound, lower + epsilon, steps)
            done, lower = _enumerate(a, alive, lower, best_heads, single_root) if deleted > 0 else (False, lower)
            if done:
                upper, count = lower, iteration + 1
            if ended or done:
                break
        norm = _disagreement(a, s)
        if norm == 0.0:  # all copies agree: the bound is this tree's score
            upper, count = min(upper, lower), iteration + 1
            break
        scale, since = (0.7 * scale, 0) if since >= 8 else (scale, since)
        _step(a, s, scale * (bound - lower) / norm)
    overwrite(leaving, best_leaving)
    overwrite(entering, best_entering)
    return upper, lower, count


@njit(cache=True, no_cpython_wrapper=True)
def _enumerate(a, alive, lower, best_heads, single_root):  # type: ignore[no-untyped-def]
    """Enumerate all trees of the live arcs if they are few; return whether this was done, and the best score."""
    n = a.arc.shape[0] - 1
    count = 1
    for m in range(1, n + 1):
        degree = 0
        for e in range(a.incoming[m], a.incoming[m + 1]):
            if alive[e]:
                degree += 1
        count *= degree
        if count > ENUMERATED:
            return False, lower
    if count == 0:
        return True, lower
    choice, mark = np.zeros((2, n + 1), dtype=np.int64)
    heads = np.full(n + 1, -1)
    for m in range(1, n + 1):
        choice[m] = a.incoming[m] - 1
    m = 1
    while m > 0:  # an odometer over the arcs alive of each modifier
        if m > n:
            if is_tree(heads, mark):
                roots = 0
                for k in range(1, n + 1):
                    if heads[k] == 0:
                        roots += 1
                if roots == 1 or not single_root:
                    score = tree_score(a, heads)
                    if score > lower:
                        lower = score
                        overwrite(best_heads, heads)
            m -= 1
            continue
        e = choice[m] + 1
        while e < a.incoming[m + 1] and not alive[e]:
            e += 1
        if e == a.incoming[m + 1]:
            choice[m] = a.incoming[m] - 1
            m -= 1
        else:
            choice[m] = e
            heads[m] = a.heads[e]
            m += 1
    return True, lower
