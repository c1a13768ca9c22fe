"""The depth-first search of :mod:`colgen.solvers.clusters.subset`: its stack, its bound, and how it resumes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.clusters.concave import concave_bound, curve, not_far_below
from colgen.solvers.clusters.shares import move_shares
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner, whole

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

TINY = 1e-12
"""Shares are moved down to this, relative to the largest number; what is left of them only weakens a bound."""

ROUNDING = 1e-9
"""What rounding errors may take from a sum, relative to the largest number in it."""

_CURVED_LEVELS = 3
"""Below so many included items the curvature of a concave bound is inherited, in a search that lasts."""

_FEW = 8
"""A node with fewer candidates is done with before a bound that takes their square."""

_TRIED, _PAYS, _RARELY = 256, 4, 64
"""A bound is asked for so many times; then while it closes one of so many nodes; and else at one of so many."""


@njit(cache=True, no_cpython_wrapper=True)
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
    stack = begin(scores, profits, least, whole(0))
    go_on(scores, stack, -ROUNDING * largest, TINY * largest, nodes, np.iinfo(np.int64).max)
    return stack.values, stack.members, unfinished(stack)


class Stack(NamedTuple):
    """A search that can be interrupted and goes on where it was.

    Level d holds the candidates ``candidates[d, :size[d]]``, and for all items g (``gain``), the sum of their positive
    scores with the candidates (``attraction``) and their share of it (``share``).  Level 0 chooses the anchors.  Levels
    below ``len(shares) - 1`` look for the best shares, deeper ones inherit them.  If there are such levels then the
    search lasts, and asks concave bounds as well.

    Attributes
    ----------
    value, included
        Of the items included, and which they are.
    values, members
        Best value and subset of each anchor so far.
    rest
        A bound on the anchors that are left.
    curvature, curved, point, attracted
        Of the concave bound: D of the first levels; the level whose D holds at each, -1 if none does; points; and room
        to work in.
    raised
        The scores that it is made of.
    place
        The level, minus one at the end; whether it has just been reached; how many nodes there have been, and how many
        items have been visited at them; of shares and of the concave bound how often they have been asked for, and how
        often that has closed a node.
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
    curvature: Floats
    curved: Ints
    point: Floats
    attracted: Floats
    raised: Floats
    place: Ints


LEVEL, FRESH, NODES, VISITS, SHARED, CONCAVE = 0, 1, 2, 3, 4, 6


@njit(cache=True)
def begin(scores: Floats, profits: Floats, least: Floats, levels: int) -> Stack:
    """A search that has not looked at anything yet; ``levels``: how many look for the best shares."""
    n = len(profits)
    stack = Stack(
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
        np.empty((min(levels, _CURVED_LEVELS) + 1, n)),
        np.full(n + 1, -1, dtype=np.int64),
        np.zeros((n + 1, n)),
        np.empty(n),
        not_far_below(scores),
        np.zeros(8, dtype=np.int64),
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
    stack.place[FRESH] = 1
    return stack


@njit(cache=True)
def unfinished(stack: Stack) -> Mask:
    """Which anchors are left."""
    left = np.zeros(len(stack.values), dtype=np.bool_)
    if stack.place[LEVEL] >= 0:
        left[stack.candidates[0, : stack.size[0]]] = True
        if stack.place[LEVEL] > 0:
            left[stack.included[0]] = True
    return left


@njit(cache=True, borrows=True)
def go_on(scores: Floats, stack: Stack, slack: float, tiny: float, node_limit: int, visit_limit: int) -> bool:
    """Go on with a search; whether it has come to its end, and not to a limit."""
    candidates, size, gain, attraction = stack.candidates, stack.size, stack.gain, stack.attraction
    share, shares, value, included = stack.share, stack.shares, stack.value, stack.included
    values, members = stack.values, stack.members
    levels = len(shares) - 1
    d, fresh = stack.place[LEVEL], stack.place[FRESH] == 1
    nodes, visits = stack.place[NODES], stack.place[VISITS]
    while d >= 0:
        if nodes >= node_limit or visits >= visit_limit:
            break
        nodes += 1
        visits += size[d] + 1
        y = shares[min(d, levels)]
        _drop(scores, y, candidates[d], size, d, gain[d], attraction[d], share[d], included, slack)
        worth = values[included[0]] if d > 0 else 0.0
        bound, branch = _bound(candidates[d], size[d], gain[d], attraction[d], share[d], included, d, value[d], slack)
        # Of a packing, which is what level 0 bounds, shares alone speak.
        inside = d > 0 and branch >= 0 and bound > worth
        if fresh:
            stack.curved[d] = stack.curved[d - 1] if d > 0 else -1
        if inside and levels > 0 and size[d] >= _FEW and _worthwhile(stack.place, CONCAVE, nodes):
            visits += _curve(stack, d, fresh)
            if stack.curved[d] >= 0:
                visits += size[d] * size[d]
                bound = min(bound, _concave(stack, d, worth))
        if fresh and d < levels and branch >= 0 and bound > worth and _worthwhile(stack.place, SHARED, nodes):
            visits += move_shares(y, candidates[d], size[d], gain[d], share[d], tiny)
            most, _ = _bound(candidates[d], size[d], gain[d], attraction[d], share[d], included, d, value[d], slack)
            stack.place[SHARED + 1] += 1 if most <= worth else 0
            bound = min(bound, most)
        if d == 0:
            stack.rest[0] = bound
        if branch < 0 or bound <= worth:
            d -= 1
            fresh = False
            continue
        visits += _include(scores, stack, d, branch)
        d += 1
        fresh = True
        if d == 1:
            _keep_connected(scores, candidates[1], size, included[0])
        anchor = included[0]
        if value[d] > values[anchor]:
            values[anchor] = value[d]
            members[anchor] = False
            for q in range(d):
                members[anchor, included[q]] = True
    if d < 0:
        stack.rest[0] = 0.0
    stack.place[LEVEL], stack.place[FRESH] = d, 1 if fresh else 0
    stack.place[NODES], stack.place[VISITS] = nodes, visits
    return bool(d < 0)


@folded
def _include(scores: Floats, stack: Stack, d: int, branch: int) -> int:
    """Include one candidate on the next level; this level goes on without it.  Returns how much has been visited."""
    candidates, size, gain = stack.candidates, stack.size, stack.gain
    share, shares, included = stack.share, stack.shares, stack.included
    levels = len(shares) - 1
    y, m = shares[min(d, levels)], size[d] - 1
    j = candidates[d, branch]
    candidates[d, branch] = candidates[d, m]
    candidates[d, m] = j
    size[d] = m
    included[d] = j
    row, here, there = scores[j], stack.attraction[d], stack.attraction[d + 1]
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
        stack.point[d + 1, i] = stack.point[d, i]
        own += positive
    for q in range(d):
        i = included[q]
        gain[d + 1, i] = gain[d, i] + row[i]
        here[i] -= max(row[i], 0.0)
        there[i] = here[i]
    if d < levels:
        for a in range(m):
            i = candidates[d, a]
            for b in range(m):
                k = candidates[d, b]
                shares[d + 1, i, k] = y[i, k]
    size[d + 1] = m
    gain[d + 1, j] = gain[d, j]
    there[j] = own
    stack.value[d + 1] = stack.value[d] + gain[d, j]
    return int(m * m) if d < levels else 0


@inner
def _worthwhile(place: Ints, bound: int, nodes: int) -> bool:
    """Whether to ask for a bound, which is then counted: one that seldom closes a node costs more than it saves."""
    asked, closed = place[bound], place[bound + 1]
    if asked >= _TRIED and asked > _PAYS * closed and nodes % _RARELY:
        return False
    place[bound] += 1
    return True


@njit(cache=True, no_cpython_wrapper=True)
def _curve(stack: Stack, d: int, fresh: bool) -> int:
    """See to a curvature of its own for a level that is new, or has inherited none; how much has been visited."""
    if d < len(stack.curvature) and (fresh or stack.curved[d] < 0):
        stack.curved[d] = d
        return int(curve(stack.raised, stack.candidates[d], stack.size[d], stack.gain[d], stack.curvature[d]))
    return 0


@folded
def _concave(stack: Stack, d: int, worth: float) -> float:
    """The concave bound on a node; it is counted where that closes the node."""
    curvature, point = stack.curvature[stack.curved[d]], stack.point[d]
    most = concave_bound(
        stack.raised, stack.candidates[d], stack.size[d], stack.gain[d], curvature, stack.value[d], worth, point,
        stack.attracted,
    )  # fmt: skip
    stack.place[CONCAVE + 1] += 1 if most <= worth else 0
    return float(most)


@inner
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


@inner
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


@inner
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
