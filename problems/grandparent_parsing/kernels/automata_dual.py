r"""Trees with scores of arcs, grandparents and consecutive siblings: Lagrangian bounds from head automata and trees.

Over arborescences y of candidate arcs, with the score s_hm of an arc, r_gpc of a grandparent part and q_hsm of two
consecutive modifiers of one side (s = h: none before; m = h: none after, on a side that has modifiers):

    max Σ_hm s_hm y_hm + Σ_gpc r_gpc y_gp y_pc + Σ_hsm q_hsm [s, m consecutive under h].

Give each vertex p its own copies of the arcs it touches: the one that enters it and those that leave it.  For a fixed
entering arc the best leaving ones are a path on either side, found by a dynamic program over their order (a *head
automaton*).  A third copy of the arcs has to be an arborescence.  Dualising that the copies agree,

    L(λ, μ) = max_tree Σ (s + λ + μ) y  +  Σ_p max_{arcs of p} ( r + q - Σ_leaving λ - Σ_entering μ )

is an upper bound for all λ, μ.  It is minimised by subgradient steps of Polyak's length; each tree on the way is a
candidate for the answer.  Where the copies agree, or the bound meets the best tree, that tree is proved optimal.

*Reduced-cost fixing.*  The three problems are independent, so that what each of them loses if an arc is forced in adds
up: a tree with the arc scores at most L minus the sum.  Arcs for which that is not above the best tree are deleted.

An iteration takes time O(a + Σ_p a_p d_p²) for a candidate arcs, a_p of them into p and d_p out of it; the sum is over
the vertices that touch an arc whose multipliers the last step moved, less than half of them in the middle.  Deleting
arcs needs reduced costs of the arborescence, O(n²).

Source: T. Koo, A. M. Rush, M. Collins, T. Jaakkola, D. Sontag, *Dual decomposition for parsing with non-projective head
automata*, EMNLP (2010), with the grandparent inside the automaton; the fixing is this project's own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.problems.grandparent_parsing.kernels.deadlines import STEPS, expired
from colgen.problems.grandparent_parsing.kernels.head_automata import Automata, backward, forward, tree_score
from colgen.solvers.copying import overwrite
from colgen.solvers.kernel_cache import njit
from colgen.solvers.literals import truth, whole
from colgen.solvers.trees.arborescence import is_tree, solve_arborescence
from colgen.solvers.trees.sparse_arborescence import best_of_arcs, workspace

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

EPSILON = 1e-9
"""Trees that are better by no more than this, relative to the unit of the scores, are not looked for."""

_ARBORESCENCE = 20
"""Elementary steps of the best arborescence for each pair of vertices, about."""

ENUMERATED = 256
"""So many choices of heads that are left are tried one by one."""


@njit(cache=True)
def best_tree(weights, single_root, heads):  # type: ignore[no-untyped-def]
    """Best arborescence: its bound, whether there is one, and its reduced costs; ``heads`` is filled.

    The best head of each modifier will do if these make a tree already.
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
    """What each arc of the root has to cost for the best arborescence, ``heads`` with a single root, to be the best.

    The smallest such price K: max over trees of (weight - K (roots - 1)) falls in K until it meets the weight of the
    best tree with one root, and is the upper envelope of lines.  Each step goes to where two of them meet.
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
        others, _, _, _ = solve_arborescence(charged, truth(False))
        roots, total = 0, 0.0
        for m in range(1, n + 1):
            total += weights[others[m], m]
            if others[m] == 0:
                roots += 1
        if roots == 1 or total - price * (roots - 1) <= least + EPSILON * unit:
            break
        price = (total - least) / (roots - 1)
    return price


@njit(cache=True)
def force(a, alive, values, enters, local, steps, forced):  # type: ignore[no-untyped-def]
    """The most that the automaton of an arc's head is worth with the arc, for each arc alive, in ``forced``.

    ``values``: -λ of the arcs in their ``order``; ``enters``: worth of the automaton that each arc enters if it does;
    ``local``: the best of these.  Elementary steps since the last look at the clock, and whether it had to end.
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


@njit(cache=True)
def automata_values(a, leaving, entering, values, enters, local):  # type: ignore[no-untyped-def]
    """Worth of each automaton with each arc into it (``enters``) and at best (``local``); ``values``: -λ by order."""
    n = a.arc.shape[0] - 1
    path, back = np.empty(n + 2), np.empty(n + 2, dtype=np.int64)
    for k in range(a.order.shape[0]):
        values[k] = -leaving[a.order[k]]
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
            if p > 0:
                enters[e] = value
            local[p] = max(local[p], value)


@njit(cache=True)
def marginals(a: Automata, leaving: Floats, entering: Floats, single_root: bool) -> Floats:
    """The most that a tree of candidate arcs with each of them can score, by the Lagrangian; shape (arcs,).

    All +inf if it had to end before its time.
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
    automata_values(a, leaving, entering, values, enters, local)
    if force(a, np.ones(arcs, dtype=np.bool_), values, enters, local, whole(0), forced)[1]:
        return found
    bound += local.sum()
    for e in range(arcs):
        h, m = a.heads[e], a.modifiers[e]
        found[e] = bound + min(reduced[h, m], 0.0) + (forced[e] - local[h]) + (enters[e] - local[m])
    return found


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
    """Minimise the Lagrangian bound over the arcs that are alive; look for better trees and delete arcs on the way.

    Parameters
    ----------
    alive
        Arcs in play; deleted ones are switched off here.
    leaving, entering
        λ and μ of each arc; the best that were found are left in them.
    lower
        Score of the best tree known, -inf if none is.
    best_heads
        Its heads, shape (n + 1,); a better tree is written here.
    iterations
        At most so many.
    fix
        Delete arcs by reduced costs.
    unit
        Typical size of a score: what tolerances are relative to.

    Returns
    -------
    tuple[float, float, int]
        Upper bound on trees of arcs alive at the start that are better than the best tree (-inf: there is none), score
        of the best tree, and iterations taken.  The tree is optimal if the bound is not above its score.  If
        :func:`~colgen.problems.grandparent_parsing.kernels.deadlines.expired` says so it ends before its time; bound
        and tree hold all the same.
    """
    n = a.arc.shape[0] - 1
    arcs = a.heads.shape[0]
    tails, modifiers, scores, incoming = a.heads, a.modifiers, a.scores, a.incoming
    outgoing, order, split, arc = a.outgoing, a.order, a.split, a.arc
    grandparent_at, grandparents, sibling_at, siblings = a.grandparent_at, a.grandparents, a.sibling_at, a.siblings
    weights = np.empty((n + 1, n + 1))
    reduced = weights
    values = np.empty(arcs)  # of the arcs in ``order``
    heads = np.full(n + 1, -1)
    worth, work = np.empty(arcs), workspace(n + 1)
    chosen = np.full(n + 1, -1)
    taken = np.zeros(arcs, dtype=np.bool_)
    changed = np.ones(n + 1, dtype=np.bool_)
    path = np.empty(n + 2)
    back = np.empty(n + 2, dtype=np.int64)
    forced = np.empty(arcs)
    enters = np.empty(arcs)
    local = np.empty(n + 1)
    upper = np.inf
    best_leaving = leaving.copy()
    best_entering = entering.copy()
    scale = 1.0
    since = 0
    epsilon = EPSILON * unit
    steps, ended = 0, False
    for iteration in range(iterations):
        # --- the arborescence
        for e in range(arcs):
            worth[e] = scores[e] + leaving[e] + entering[e] if alive[e] else -np.inf
        if fix:
            steps += _ARBORESCENCE * n * n
            weights[:, :] = -np.inf
            for e in range(arcs):
                weights[tails[e], modifiers[e]] = worth[e]
            bound, feasible, reduced = best_tree(weights, single_root, heads)
        else:
            steps += _ARBORESCENCE * arcs
            bound, feasible = best_of_arcs(tails, modifiers, incoming, worth, single_root, heads, work)
        if not feasible:
            return -np.inf, lower, iteration
        # --- head automata, of the vertices whose arcs have other multipliers than before
        for p in range(n + 1):
            start, middle, stop = outgoing[p], split[p], outgoing[p + 1]
            if not changed[p]:
                bound += local[p]
                continue
            left, right = middle - start + 1, stop - middle + 1
            steps += (incoming[p + 1] - incoming[p] + 1) * (left * left + right * right)
            if steps > STEPS:
                steps, ended = 0, expired()
                if ended:
                    break
            changed[p] = False
            for k in range(start, stop):
                e = order[k]
                values[k] = -leaving[e] if alive[e] else -np.inf
                taken[e] = False
            top, arg, row = -np.inf, -1, -1
            if p == 0:
                top = forward(siblings, sibling_at[0, 1], right, grandparents, whole(-1), values, middle, path, back)[0]
            for e in range(incoming[p], incoming[p + 1]):
                if alive[e]:
                    row = grandparent_at[p] + (e - incoming[p]) * (stop - start)
                    value = -entering[e]
                    if left > 1:
                        at = sibling_at[p, 0]
                        value += forward(siblings, at, left, grandparents, row, values, start, path, back)[0]
                    if right > 1:
                        at, row = sibling_at[p, 1], row + left - 1
                        value += forward(siblings, at, right, grandparents, row, values, middle, path, back)[0]
                    enters[e] = value
                    if value > top:
                        top, arg = value, e
            chosen[p] = arg
            local[p] = top
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
        # --- the tree as an answer
        score = tree_score(a, heads)
        if score > lower:
            lower = score
            overwrite(best_heads, heads)
        if ended:
            break
        if upper == np.inf or bound < upper - 1e-6 * abs(upper - lower):
            since = 0
        else:
            since += 1
        improved = bound < upper
        if improved:
            upper = bound
            overwrite(best_leaving, leaving)
            overwrite(best_entering, entering)
        if upper <= lower + epsilon:
            overwrite(leaving, best_leaving)
            overwrite(entering, best_entering)
            return upper, lower, iteration + 1
        # --- reduced-cost fixing
        if fix and (improved or bound - lower < 0.5 * scale * unit) and iteration % 3 == 0:
            steps, ended = force(a, alive, values, enters, local, steps, forced)
            if ended:
                break
            deleted = 0
            for e in range(arcs):
                if alive[e]:
                    h, m = tails[e], modifiers[e]
                    with_arc = bound + min(reduced[h, m], 0.0) + (forced[e] - local[h]) + (enters[e] - local[m])
                    if with_arc <= lower + epsilon:
                        alive[e] = False
                        changed[h] = changed[m] = True
                        deleted += 1
            if deleted > 0:
                done, lower = _enumerate(a, alive, lower, best_heads, single_root)
                if done:
                    overwrite(leaving, best_leaving)
                    overwrite(entering, best_entering)
                    return lower, lower, iteration + 1
        # --- Polyak's step
        norm = 0.0
        for m in range(1, n + 1):
            e = arc[heads[m], m]
            if not taken[e]:
                norm += 1.0
            if chosen[m] != e:
                norm += 2.0
        for e in range(arcs):
            if taken[e] and heads[modifiers[e]] != tails[e]:
                norm += 1.0
        if norm == 0.0:  # all copies agree: the bound is this tree's score
            overwrite(leaving, best_leaving)
            overwrite(entering, best_entering)
            return min(upper, lower), lower, iteration + 1
        if since >= 8:
            scale *= 0.7
            since = 0
        step = scale * (bound - lower) / norm
        for m in range(1, n + 1):
            e = arc[heads[m], m]
            if not taken[e]:
                leaving[e] -= step
                changed[heads[m]] = True
            if chosen[m] != e:
                entering[e] -= step
                entering[chosen[m]] += step
                changed[m] = True
        for e in range(arcs):
            if taken[e] and heads[modifiers[e]] != tails[e]:
                leaving[e] += step
                changed[tails[e]] = True
    overwrite(leaving, best_leaving)
    overwrite(entering, best_entering)
    return upper, lower, iterations


@njit(cache=True)
def _enumerate(a, alive, lower, best_heads, single_root):  # type: ignore[no-untyped-def]
    """Try all trees of the arcs alive if they are few: whether that was done, and the best score known."""
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
