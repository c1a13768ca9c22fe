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

    value(P) + Σ_{j in C} max(0, g_j + Σ_{k in C} y_jk)    for any shares y_jk + y_kj = max(0, w_jk), y ≥ 0.

Equal shares are cheap and do for most searches.  A search that lasts looks for the best shares near its root: they are
a maximum flow from items with a surplus, g_j + Σ_k y_jk > 0, to items without, whose arcs' capacities are the shares.

A candidate j with g_j + Σ_{k in C} max(0, w_jk) < 0 violates 1 whatever is added, and is dropped; if an included item
violates 1 in the same way then the node is closed.  Dropping one item makes others drop.  A node takes O(|C|) time for
each item that it drops or includes; their number is exponential in the worst case.

Sources: P. Hansen, *Methods of nonlinear 0-1 programming*, Annals of Discrete Mathematics 5 (1979), for the bound, and
P. L. Hammer, P. Hansen, B. Simeone, *Roof duality, complementation and persistency in quadratic 0-1 optimization*,
Mathematical Programming 28 (1984), for the best shares as a flow;
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

from solvers.arrays import as_floats, as_indices
from solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_CHUNK = 1 << 20
"""A search that lasts longer than so many nodes looks for the best shares."""

_LEVELS = 40
"""Below so many included items shares are inherited, in a search that looks for the best."""

_SHARING_CHUNK = 1 << 18
"""Nodes after which such a search asks whether it has found enough."""

_LOOK = 0.05
"""Seconds between two looks at the clock."""

_FIRST_LOOK = 1 << 18
"""The first look comes after so many visits of items at the nodes."""

_FLIPS = 1 << 24
"""Chains of flips are grown between two looks at the clock that look at so many items."""

_PATIENCE = 25
"""A chain of flips ends after so many without a new best value."""

_TINY = 1e-12
"""Shares are moved down to this, relative to the largest number; what is left of them only weakens a bound."""

_ROUNDING = 1e-9
"""What rounding errors may take from a sum, relative to the largest number in it."""

_LEAST = 1e-9
"""Subsets that are worth no more than this, relative to the largest number, are worth nothing."""


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


def ascend(
    scores: Floats, profits: Floats, items: Ints, *, least: float | None = None, expired: Expired = never
) -> Subsets:
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
        Subsets of at most this value are not returned; by default of what rounding errors may be worth.
    expired
        Asked between searches; those that are left are not begun.

    Returns
    -------
    Subsets
        Distinct subsets.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    profits = as_floats(profits, "profits", shape=(len(scores),))
    items = as_indices(items, "items", upper=len(scores), shape=("items",))
    scores, profits = np.ascontiguousarray(scores), np.ascontiguousarray(profits)
    items = items.astype(np.int64)
    largest = _largest(scores, profits)
    if least is None:
        least = _LEAST * largest
    chunk = max(1, _FLIPS // (1 + len(profits) * len(profits)))
    parts = []
    for begin in range(0, len(items), chunk):
        # what rounding errors gain must not make another chain
        parts.append(_ascend(scores, profits, items[begin : begin + chunk], 1e-11 * largest))
        if expired():
            break
    if not parts:
        return Subsets(np.zeros((0, len(profits)), dtype=np.bool_), np.empty(0), np.inf, np.inf, 0, False)
    members, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    better = np.flatnonzero(values > least)
    _, different = np.unique(np.packbits(members[better], axis=1), axis=0, return_index=True)
    chosen = better[different]
    chosen = chosen[np.argsort(-values[chosen], kind="stable")]
    return Subsets(members[chosen], values[chosen], np.inf, np.inf, 0, False)


def search(
    scores: Floats,
    profits: Floats,
    *,
    least: float | None = None,
    seconds: float = np.inf,
    enough: int | None = None,
    most: int | None = None,
    expired: Expired = never,
) -> Subsets:
    """Exact search: the best subset of each anchor that has one worth more than ``least``.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    profits
        c, shape (n,).
    least
        Subsets of at most this value are not looked for; ``best`` and ``total`` account for them.  By default what
        rounding errors may be worth.
    seconds
        The search ends after about so long, with what it has.
    enough
        It ends after so many nodes, too, if it has found a subset by then.
    most
        And after so many nodes whatever it has found.
    expired
        Asked several times a second; the search ends, with what it has, when the answer is yes.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    profits = as_floats(profits, "profits", shape=(len(scores),))
    clock = _Clock(seconds, expired)
    n, largest = len(profits), _largest(scores, profits)
    if least is None:
        least = _LEAST * largest
    members, values = np.zeros((n, n), dtype=np.bool_), np.full(n, least)
    left = np.flatnonzero(promising(scores, profits))
    # An anchor without a subset here may have one of that value, or a better one that rounding errors hide.
    allowance = len(left) * max(least, 1e-15 * n * largest)
    slack, tiny = -_ROUNDING * largest, _TINY * largest
    nodes, rest, ended = 0, 0.0, False
    short = 0, min(_CHUNK, enough or _CHUNK), False
    for levels, chunk, lasts in (short, (_LEVELS, _SHARING_CHUNK, True)):
        if ended or not len(left):
            break
        within = np.ix_(left, left)
        here = np.ascontiguousarray(scores[within])
        stack = _begin(here, profits[left], values[left], levels)
        limit = 0
        while not ended:
            limit = min(limit + chunk, np.iinfo(np.int64).max if most is None else max(most - nodes, 1))
            done = clock.run(here, stack, slack, tiny, limit)
            spent = nodes + int(stack.place[_NODES])
            found_enough = enough is not None and spent >= enough and bool((stack.values > least).any())
            ended = clock.over or found_enough or (most is not None and spent >= most)
            if done or not lasts:
                break
        nodes += int(stack.place[_NODES])
        better = stack.values > values[left]
        values[left] = stack.values
        members[left[better]] = False  # it may have held an item that is finished by now
        members[np.ix_(left[better], left)] = stack.members[better]
        rest = float(stack.rest[0])
        left = left[_unfinished(stack)]
    anchors = np.flatnonzero(values > least)
    chosen = anchors[np.argsort(-values[anchors], kind="stable")]
    best = max(least, float(values.max(initial=least)))
    total = float(values[chosen].sum()) + allowance
    if len(left):
        best, total = max(best, rest), total + rest
    return Subsets(members[chosen], values[chosen], best, total, nodes, not len(left))


class _Clock:
    """Gives the kernel work for a moment at a time, as much as it has done in that time before."""

    def __init__(self, seconds: float, expired: Expired) -> None:
        self.deadline = time.monotonic() + seconds
        self.expired = expired
        self.over = False

    def run(self, scores: Floats, stack: _Stack, slack: float, tiny: float, limit: int) -> bool:
        """Go on until there have been so many nodes; whether the search has come to its end.

        If it has not, ``over`` says whether time has run out.
        """
        work = _FIRST_LOOK
        while True:
            started, before = time.monotonic(), int(stack.place[_VISITS])
            if _search(scores, stack, slack, tiny, limit, before + work):
                return True
            now = time.monotonic()
            self.over = now >= self.deadline or self.expired()
            if self.over or stack.place[_NODES] >= limit:
                return False
            rate = (int(stack.place[_VISITS]) - before) / max(now - started, 1e-6)
            work = int(min(max(rate * _LOOK, _FIRST_LOOK // 16), 4 * work))


def promising(scores: Floats, profits: Floats) -> Mask:
    """Which items are left when those that violate fact 1 in every subset are dropped, one after the other.

    Items that attract nothing and are worth nothing by themselves are dropped as well.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    profits = as_floats(profits, "profits", shape=(len(scores),))
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
    return _ROUNDING * _largest(scores, profits)


def _largest(scores: Floats, profits: Floats) -> float:
    return max(float(np.abs(scores).max(initial=0.0)), float(np.abs(profits).max(initial=0.0)))


@njit(cache=True)
def _ascend(scores: Floats, profits: Floats, items: Ints, rounding: float) -> tuple[Mask, Floats]:
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
                if value > best + rounding:
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
def anchored(scores: Floats, profits: Floats, least: Floats, nodes: int) -> tuple[Floats, Mask, Mask]:
    """The search, for other kernels: best value and subset of each anchor, and which anchors it has not finished.

    Parameters
    ----------
    scores, profits
        As in :func:`search`.
    least
        For each anchor: subsets of at most this value are not looked for, and it is returned where there is no other.
    nodes
        The search ends after so many.
    """
    largest = 0.0
    for i in range(len(profits)):
        largest = max(largest, abs(profits[i]))
        for j in range(i):
            largest = max(largest, abs(scores[i, j]))
    stack = _begin(scores, profits, least, 0)
    _search(scores, stack, -_ROUNDING * largest, _TINY * largest, nodes, np.iinfo(np.int64).max)
    return stack.values, stack.members, _unfinished(stack)


class _Stack(NamedTuple):
    """A search that can be interrupted and goes on where it was.

    Level d holds the candidates ``candidates[d, :size[d]]``, and for all items g (``gain``), the sum of their positive
    scores with the candidates (``attraction``) and their share of it (``share``).  Level 0 chooses the anchors.  Levels
    below ``len(shares) - 1`` look for the best shares, deeper ones inherit them.

    Attributes
    ----------
    value, included
        Of the items included, and which they are.
    values, members
        Best value and subset of each anchor so far.
    rest
        A bound on the anchors that are left.
    place
        The level, minus one at the end; whether it has just been reached; how many nodes there have been, and how many
        items have been visited at them.
    """

    candidates: Ints
    size: Ints
    gain: Floats
    attraction: Floats
    share: Floats
    shares: Floats
    value: Floats
    included: Ints
    values: Floats
    members: Mask
    rest: Floats
    place: Ints


_LEVEL, _FRESH, _NODES, _VISITS = range(4)


@njit(cache=True)
def _begin(scores: Floats, profits: Floats, least: Floats, levels: int) -> _Stack:
    n = len(profits)
    stack = _Stack(
        np.empty((n + 1, n), dtype=np.int64),
        np.zeros(n + 1, dtype=np.int64),
        np.empty((n + 1, n)),
        np.empty((n + 1, n)),
        np.empty((n + 1, n)),
        np.empty((levels + 1, n, n)),
        np.zeros(n + 1),
        np.zeros(n + 1, dtype=np.int64),
        least.copy(),
        np.zeros((n, n), dtype=np.bool_),
        np.full(1, np.inf),
        np.zeros(4, dtype=np.int64),
    )
    for j in range(n):
        stack.candidates[0, j] = j
        stack.gain[0, j] = profits[j]
        total = 0.0
        for k in range(n):
            positive = max(scores[j, k], 0.0)
            stack.shares[0, j, k] = 0.5 * positive
            total += positive
        stack.attraction[0, j] = total
        stack.share[0, j] = 0.5 * total
    stack.size[0] = n
    stack.place[_FRESH] = 1
    return stack


@njit(cache=True)
def _unfinished(stack: _Stack) -> Mask:
    """Which anchors are left."""
    left = np.zeros(len(stack.values), dtype=np.bool_)
    if stack.place[_LEVEL] >= 0:
        left[stack.candidates[0, : stack.size[0]]] = True
        if stack.place[_LEVEL] > 0:
            left[stack.included[0]] = True
    return left


@njit(cache=True)
def _search(scores: Floats, stack: _Stack, slack: float, tiny: float, node_limit: int, visit_limit: int) -> bool:
    """Go on with a search; whether it has come to its end, and not to a limit."""
    candidates, size, gain, attraction = stack.candidates, stack.size, stack.gain, stack.attraction
    share, shares, value, included = stack.share, stack.shares, stack.value, stack.included
    values, members = stack.values, stack.members
    levels = len(shares) - 1
    d, fresh = stack.place[_LEVEL], stack.place[_FRESH] == 1
    nodes, visits = stack.place[_NODES], stack.place[_VISITS]
    while d >= 0:
        if nodes >= node_limit or visits >= visit_limit:
            break
        nodes += 1
        visits += size[d] + 1
        y = shares[min(d, levels)]
        _drop(scores, y, candidates[d], size, d, gain[d], attraction[d], share[d], included, slack)
        worth = values[included[0]] if d > 0 else 0.0
        bound, branch = _bound(candidates[d], size[d], gain[d], attraction[d], share[d], included, d, value[d], slack)
        if fresh and d < levels and branch >= 0 and bound > worth:
            visits += _share(y, candidates[d], size[d], gain[d], share[d], tiny)
            bound, branch = _bound(
                candidates[d], size[d], gain[d], attraction[d], share[d], included, d, value[d], slack
            )
        if d == 0:
            stack.rest[0] = bound
        if branch < 0 or bound <= worth:
            d -= 1
            fresh = False
            continue
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
            share[d, i] -= y[i, j]
            share[d + 1, i] = share[d, i]
            own += positive
        for q in range(d):
            i = included[q]
            gain[d + 1, i] = gain[d, i] + row[i]
            here[i] -= max(row[i], 0.0)
            there[i] = here[i]
        if d < levels:
            visits += m * m
            for a in range(m):
                i = candidates[d, a]
                for b in range(m):
                    k = candidates[d, b]
                    shares[d + 1, i, k] = y[i, k]
        size[d + 1] = m
        gain[d + 1, j] = gain[d, j]
        there[j] = own
        value[d + 1] = value[d] + gain[d, j]
        d += 1
        fresh = True
        if d == 1:
            _keep_connected(scores, candidates[1], size, j)
        anchor = included[0]
        if value[d] > values[anchor]:
            values[anchor] = value[d]
            members[anchor] = False
            for q in range(d):
                members[anchor, included[q]] = True
    if d < 0:
        stack.rest[0] = 0.0
    stack.place[_LEVEL], stack.place[_FRESH] = d, 1 if fresh else 0
    stack.place[_NODES], stack.place[_VISITS] = nodes, visits
    return bool(d < 0)


@njit(cache=True)
def _drop(
    scores: Floats,
    shares: Floats,
    candidates: Ints,
    size: Ints,
    d: int,
    gain: Floats,
    attraction: Floats,
    share: Floats,
    included: Ints,
    slack: float,
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
                share[i] -= shares[i, j]
            for q in range(d):
                i = included[q]
                attraction[i] -= max(row[i], 0.0)
            dropped = True
    size[d] = m


@njit(cache=True)
def _bound(
    candidates: Ints,
    m: int,
    gain: Floats,
    attraction: Floats,
    share: Floats,
    included: Ints,
    d: int,
    value: float,
    slack: float,
) -> tuple[float, int]:
    """A bound on the node, and which candidate to branch on; -1 if the node is closed.

    The candidate of largest gain with half of its attraction: of what the best shares say, branching does worse.
    """
    for q in range(d):
        i = included[q]
        if gain[i] + attraction[i] < slack:
            return -1.0, -1
    bound, branch, most = value, -1, -np.inf
    for k in range(m):
        j = candidates[k]
        bound += max(gain[j] + share[j], 0.0)
        if gain[j] + 0.5 * attraction[j] > most:
            branch, most = k, gain[j] + 0.5 * attraction[j]
    return bound, branch


@njit(cache=True)
def _share(shares: Floats, candidates: Ints, m: int, gain: Floats, share: Floats, tiny: float) -> int:
    """Move shares from items with a surplus to items without, along shortest paths, until none is left.

    Returns how many items it has visited.
    """
    n, visits = len(gain), 0
    level = np.empty(n, dtype=np.int64)
    queue = np.empty(m, dtype=np.int64)
    while True:
        # How many steps each item is from one without a surplus.
        tail = 0
        for k in range(m):
            i = candidates[k]
            level[i] = -1
            if gain[i] + share[i] < -tiny:
                level[i] = 0
                queue[tail] = i
                tail += 1
        head = 0
        while head < tail:
            j = queue[head]
            head += 1
            for k in range(m):
                i = candidates[k]
                if level[i] < 0 and shares[i, j] > tiny:
                    level[i] = level[j] + 1
                    queue[tail] = i
                    tail += 1
        arrived = 0.0
        for q in range(tail - 1, -1, -1):  # the farthest first
            i = queue[q]
            surplus = gain[i] + share[i]
            if level[i] <= 0 or surplus <= tiny:
                continue
            for k in range(m):
                j = candidates[k]
                if level[j] != level[i] - 1 or shares[i, j] <= 0.0:
                    continue
                moved = min(surplus, shares[i, j])
                if level[j] == 0:
                    moved = min(moved, -(gain[j] + share[j]))
                    arrived += max(moved, 0.0)
                if moved > 0.0:
                    shares[i, j] -= moved
                    shares[j, i] += moved
                    share[i] -= moved
                    share[j] += moved
                    surplus -= moved
                    if surplus <= tiny:
                        break
        visits += 2 * tail * m
        if arrived <= tiny:
            return visits


@njit(cache=True)
def _keep_connected(scores: Floats, candidates: Ints, size: Ints, anchor: int) -> None:
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
    size[1] = reached  # no positive score leads to those left out: attractions and shares stay as they are
