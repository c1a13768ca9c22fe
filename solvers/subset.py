r"""Subsets of largest value, where items have profits and pairs of items have scores of any sign.

    max over subsets S    Σ_{i<j in S} w_ij + Σ_{i in S} c_i

(unconstrained quadratic zero-one optimisation, boolean quadratic programming; NP-hard).  With d_S(i) = Σ_{j in S} w_ij
it is the pricing problem of clustering, and what is asked is shaped by that use: not the best subset alone, but a proof
over all *packings*, families of disjoint subsets, whose values add up.  Three facts about a packing of largest value
make the exact search fast.  Each holds because otherwise the packing could be changed for the better, or at no loss:

1.  d_S(i) + c_i ≥ 0 for every i in one of its subsets S: leaving i out of S loses just that.
2.  Each of its subsets is connected by positive scores: two parts with none between them can be two subsets.
3.  Each subset has one item that comes first in some order of the items: its *anchor*.  The subsets anchored at v,
    with the items before v excluded, are searched on their own; if z_v is the best value among those that satisfy 1
    and 2, then the packing is worth at most Σ_v max(0, z_v).

The exact search is depth first over the items to include.  With P the items included, C the candidates and
g_j = c_j + d_P(j), a node is worth at most

    value(P) + Σ_{j in C} max(0, g_j + ½ Σ_{k in C} max(0, w_jk)).

A candidate j with g_j + Σ_{k in C} max(0, w_jk) < 0 violates 1 whatever is added, and is dropped; if an included item
violates 1 in the same way then the node is closed.  Dropping one item makes others drop.  A node takes O(|C|) time for
each item that it drops or includes; their number is exponential in the worst case.

Sources: P. Hansen, *Methods of nonlinear 0-1 programming*, Annals of Discrete Mathematics 5 (1979), for the bound;
A. Mehrotra and M. A. Trick, *Cliques and clustering: a combinatorial approach*, Operations Research Letters 22 (1998),
for the pricing problem; B. W. Kernighan and S. Lin, *An efficient heuristic procedure for partitioning graphs*, Bell
System Technical Journal 49 (1970).  The use of facts 1 to 3 together is this module's own; the tests check it against
enumeration.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_CHUNK = 1 << 20
"""Nodes between two looks at the clock: less than a second."""

_PATIENCE = 25
"""A chain of flips ends after so many without a new best value."""

_ROUNDING = 1e-9
"""What rounding errors may take from a sum, relative to the largest number in it."""


class Subsets(NamedTuple):
    """What a search found, and what it proves.

    Attributes
    ----------
    members
        One row a subset, best first; shape (subsets, n).
    values
        Of the rows.
    best
        No subset that satisfies 1 and 2 is worth more than this, or than zero; infinite for a heuristic.
    total
        No packing is worth more than this.
    nodes
        Of the search.
    complete
        Whether the search came to its end; if not, ``best`` and ``total`` are bounds all the same.
    """

    members: Mask
    values: Floats
    best: float
    total: float
    nodes: int
    complete: bool


def ascend(scores: Floats, profits: Floats, items: Ints, *, least: float = 1e-9) -> Subsets:
    """For each of some items a good subset that holds it, by chains of flips (Kernighan and Lin, 1970).

    A chain includes or leaves out one item after the other, each at most once, always the one that gains most or loses
    least: a cluster is worth little before half of it is there.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    profits
        c, shape (n,).
    items
        Which stay included, one in each search: their subsets differ where local optima alone would be few.
    least
        Subsets of at most this value are not returned.

    Returns
    -------
    Subsets
        Distinct subsets.
    """
    members, values = _ascend(np.ascontiguousarray(scores), np.ascontiguousarray(profits), items.astype(np.int64))
    better = np.flatnonzero(values > least)
    _, first = np.unique(np.packbits(members[better], axis=1), axis=0, return_index=True)
    chosen = better[first]
    chosen = chosen[np.argsort(-values[chosen], kind="stable")]
    return Subsets(members[chosen], values[chosen], np.inf, np.inf, 0, False)


def search(
    scores: Floats,
    profits: Floats,
    *,
    least: float = 1e-9,
    seconds: float = np.inf,
    enough: int | None = None,
    most: int | None = None,
) -> Subsets:
    """Exact search: the best subset of each anchor that has one worth more than ``least``.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    profits
        c, shape (n,).
    least
        Subsets of at most this value are not looked for; ``best`` and ``total`` account for them.
    seconds
        The search ends after about so long, with what it has.
    enough
        It ends after so many nodes, too, if it has found a subset by then.
    most
        And after so many nodes whatever it has found.
    """
    started = time.monotonic()
    n = len(profits)
    members, values = np.zeros((n, n), dtype=np.bool_), np.full(n, least)
    left = np.flatnonzero(promising(scores, profits))
    allowance = len(left) * least  # an anchor without a subset here may have one of that value
    slack = -_rounding(scores, profits)
    nodes, rest, limit = 0, 0.0, min(_CHUNK, enough or _CHUNK, most or _CHUNK)
    while len(left):
        within = np.ix_(left, left)
        worth, found, spent, rest, open_ = _search(scores[within], profits[left], values[left], slack, limit)
        nodes += spent
        better = worth > values[left]
        values[left] = worth
        members[np.ix_(left[better], left)] = found[better]
        elapsed = time.monotonic() - started
        if open_.all():  # not one anchor was finished: try longer, but not much longer than there is time
            limit = min(4 * limit, 1 + int(min(nodes / max(elapsed, 1e-9) * (seconds - elapsed), 1e15)))
        left = left[open_]
        found_enough = enough is not None and nodes >= enough and bool((values > least).any())
        if elapsed >= seconds or found_enough or (most is not None and nodes >= most):
            break
    anchors = np.flatnonzero(values > least)
    chosen = anchors[np.argsort(-values[anchors], kind="stable")]
    best = max(least, float(values.max(initial=least)))
    total = float(values[chosen].sum()) + allowance
    if len(left):
        best, total = max(best, rest), total + rest
    return Subsets(members[chosen], values[chosen], best, total, nodes, not len(left))


def promising(scores: Floats, profits: Floats) -> Mask:
    """Which items are left when those that violate fact 1 in every subset are dropped, one after the other.

    Items that attract nothing and are worth nothing by themselves are dropped as well.
    """
    slack = -_rounding(scores, profits)
    left = np.ones(len(profits), dtype=np.bool_)
    attractions = np.maximum(scores, 0.0)
    while True:
        attraction = attractions[np.ix_(left, left)].sum(axis=1)
        here = (attraction + profits[left] >= slack) & ((attraction > 0.0) | (profits[left] > 0.0))
        if here.all():
            return left
        left[left] = here


def _rounding(scores: Floats, profits: Floats) -> float:
    return _ROUNDING * max(float(np.abs(scores).max(initial=0.0)), float(np.abs(profits).max(initial=0.0)))


@njit(cache=True)
def _ascend(scores: Floats, profits: Floats, items: Ints) -> tuple[Mask, Floats]:
    rows, n = len(items), len(profits)
    members = np.zeros((rows, n), dtype=np.bool_)
    values = np.empty(rows)
    gains = np.empty(n)  # of having an item included
    flipped = np.empty(n, dtype=np.int64)
    free = np.empty(n, dtype=np.bool_)
    for r in range(rows):
        chosen = members[r]
        stays = items[r]
        chosen[stays] = True
        value = profits[stays]
        for i in range(n):
            gains[i] = profits[i] + scores[stays, i]
        improved = True
        while improved:
            # A chain of flips, each item at most once, cut where it was best.
            free[:] = True
            free[stays] = False
            best, best_length, length, fallow = value, 0, 0, 0
            while length < n - 1 and fallow < _PATIENCE:
                flip, most = -1, -np.inf
                for i in range(n):
                    if free[i]:
                        gain = -gains[i] if chosen[i] else gains[i]
                        if gain > most:
                            flip, most = i, gain
                free[flip] = False
                value += most
                _flip(scores, chosen, gains, flip)
                flipped[length] = flip
                length += 1
                fallow += 1
                if value > best + 1e-12:
                    best, best_length, fallow = value, length, 0
            improved = best_length > 0
            for k in range(length - 1, best_length - 1, -1):
                _flip(scores, chosen, gains, flipped[k])
            value = best
        values[r] = value
    return members, values


@njit(cache=True)
def _flip(scores: Floats, chosen: Mask, gains: Floats, item: int) -> None:
    if chosen[item]:
        gains -= scores[item]
    else:
        gains += scores[item]
    chosen[item] = not chosen[item]


@njit(cache=True)
def _search(
    scores: Floats, profits: Floats, least: Floats, slack: float, node_limit: int
) -> tuple[Floats, Mask, int, float, Mask]:
    """Best value and subset of each anchor above ``least``, nodes, a bound on what is left, and which anchors are left.

    Level d of the stack holds the candidates ``candidates[d, :size[d]]``, and for all items g and the sum of their
    positive scores with the candidates (``attraction``).  Level 0 chooses the anchors.
    """
    n = len(profits)
    candidates = np.empty((n + 1, n), dtype=np.int64)
    size = np.zeros(n + 1, dtype=np.int64)
    gain = np.empty((n + 1, n))
    attraction = np.empty((n + 1, n))
    value = np.zeros(n + 1)
    included = np.empty(n + 1, dtype=np.int64)
    values = least.copy()
    members = np.zeros((n, n), dtype=np.bool_)
    left = np.zeros(n, dtype=np.bool_)
    for j in range(n):
        candidates[0, j] = j
        gain[0, j] = profits[j]
        total = 0.0
        for k in range(n):
            total += max(scores[j, k], 0.0)
        attraction[0, j] = total
    size[0] = n
    nodes, d, rest = 0, 0, 0.0
    while d >= 0:
        nodes += 1
        _drop(scores, candidates[d], size, d, gain[d], attraction[d], included, slack)
        bound, branch = _bound(scores, candidates[d], size[d], gain[d], attraction[d], included, d, value[d], slack)
        if d == 0:
            rest = bound
        worth = values[included[0]] if d > 0 else 0.0
        if branch < 0 or bound <= worth:
            d -= 1
            continue
        if nodes > node_limit:
            left[candidates[0, : size[0]]] = True
            if d > 0:
                left[included[0]] = True
            return values, members, nodes, rest, left
        # Include one candidate on the next level; this level goes on without it.
        m = size[d] - 1
        j = candidates[d, branch]
        candidates[d, branch] = candidates[d, m]
        candidates[d, m] = j
        size[d] = m
        included[d] = j
        row, here, there = scores[j], attraction[d], attraction[d + 1]
        own = 0.0
        for k in range(m):
            i = candidates[d, k]
            candidates[d + 1, k] = i
            gain[d + 1, i] = gain[d, i] + row[i]
            positive = max(row[i], 0.0)
            here[i] -= positive
            there[i] = here[i]
            own += positive
        for q in range(d):
            i = included[q]
            gain[d + 1, i] = gain[d, i] + row[i]
            here[i] -= max(row[i], 0.0)
            there[i] = here[i]
        size[d + 1] = m
        gain[d + 1, j] = gain[d, j]
        there[j] = own
        value[d + 1] = value[d] + gain[d, j]
        d += 1
        if d == 1:
            _keep_connected(scores, candidates[1], size, attraction[1], j)
        anchor = included[0]
        if value[d] > values[anchor]:
            values[anchor] = value[d]
            members[anchor] = False
            for q in range(d):
                members[anchor, included[q]] = True
    return values, members, nodes, 0.0, left


@njit(cache=True)
def _drop(
    scores: Floats, candidates: Ints, size: Ints, d: int, gain: Floats, attraction: Floats, included: Ints, slack: float
) -> None:
    """Drop the candidates that violate fact 1 whatever else is included, until there is none."""
    m = size[d]
    dropped = True
    while dropped:
        dropped = False
        k = 0
        while k < m:
            j = candidates[k]
            if gain[j] + attraction[j] >= slack:
                k += 1
                continue
            m -= 1
            candidates[k] = candidates[m]
            row = scores[j]
            for q in range(m):
                i = candidates[q]
                attraction[i] -= max(row[i], 0.0)
            for q in range(d):
                i = included[q]
                attraction[i] -= max(row[i], 0.0)
            dropped = True
    size[d] = m


@njit(cache=True)
def _bound(
    scores: Floats,
    candidates: Ints,
    m: int,
    gain: Floats,
    attraction: Floats,
    included: Ints,
    d: int,
    value: float,
    slack: float,
) -> tuple[float, int]:
    """A bound on the node, and which candidate to branch on: the one that adds most to it; -1 if the node is closed."""
    for q in range(d):
        i = included[q]
        if gain[i] + attraction[i] < slack:
            return -1.0, -1
    bound, branch, most = value, -1, -np.inf
    for k in range(m):
        j = candidates[k]
        share = gain[j] + 0.5 * attraction[j]
        if share > 0.0:
            bound += share
        if share > most:
            branch, most = k, share
    return bound, branch


@njit(cache=True)
def _keep_connected(scores: Floats, candidates: Ints, size: Ints, attraction: Floats, anchor: int) -> None:
    """Of the candidates of level 1 keep those that a path of positive scores joins to the anchor (fact 2)."""
    m = size[1]
    reached = 0  # candidates[:reached] are joined; those from ``done`` on have not been looked at
    row = scores[anchor]
    for k in range(m):
        if row[candidates[k]] > 0.0:
            candidates[k], candidates[reached] = candidates[reached], candidates[k]
            reached += 1
    done = 0
    while done < reached:
        row = scores[candidates[done]]
        done += 1
        for k in range(reached, m):
            if row[candidates[k]] > 0.0:
                candidates[k], candidates[reached] = candidates[reached], candidates[k]
                reached += 1
    size[1] = reached  # no positive score leads to those left out: attraction stays as it is
