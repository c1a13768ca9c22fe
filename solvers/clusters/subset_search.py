"""Depth-first search for :mod:`colgen.solvers.clusters.subset`: stack, bounds and resumption."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.clusters.concave import compute_curvature, concave_bound, raise_low_scores
from colgen.solvers.clusters.shares import move_shares
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner, int64

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

TINY = 1e-12
"""Shares below this, relative to the largest number, are not moved; this only weakens a bound."""

ROUNDING = 1e-9
"""Allowance for rounding errors in a sum, relative to the largest number in it."""

_CURVED_LEVELS = 3
"""In a long search, levels with at least this many included items inherit the curvature of the concave bound."""

_FEW = 8
"""Nodes with fewer candidates are closed faster without a bound of quadratic cost."""

_TRIED, _PAYS, _RARELY = 256, 4, 64
"""A bound is computed this many times; then at every node while it closes 1 in ``_PAYS``; else at 1 in ``_RARELY``."""


@njit(cache=True, no_cpython_wrapper=True)
def anchored(scores: Floats, profits: Floats, least: Floats, nodes: int) -> tuple[Floats, Mask, Mask]:
    """Search inside other kernels: return the best value and subset of each anchor, and which anchors are unfinished.

    ``scores`` and ``profits`` are as for :func:`colgen.solvers.clusters.subset.search`; ``nodes`` is the node limit.
    Each anchor has an entry of ``least``: subsets of at most this value are not sought.  It is returned if no better
    one exists.
    """
    largest = 0.0
    for i in range(len(profits)):
        largest = max(largest, abs(profits[i]))
        for j in range(i):
            largest = max(largest, abs(scores[i, j]))
    stack = begin(scores, profits, least, int64(0))
    resume(scores, stack, -ROUNDING * largest, TINY * largest, nodes, np.iinfo(np.int64).max)
    return stack.values, stack.members, unfinished(stack)


class Stack(NamedTuple):
    """A resumable search.

    Level d holds the candidates ``candidates[d, :size[d]]``.  For all items it holds g (``gain``), the sum of their
    positive scores with the candidates (``attraction``), and their share of it (``share``).  Level 0 chooses the
    anchors.  Levels below ``len(shares) - 1`` compute the best shares.  Deeper levels inherit them.  If there are such
    levels the search is long, and concave bounds are used as well.
    """

    candidates: Ints
    size: Ints
    gain: Floats
    attraction: Floats
    share: Floats
    shares: Floats
    # value, included: value of the included items, and the items
    value: Floats
    included: Ints
    # values, members: best value and subset of each anchor so far
    values: Floats
    members: Mask
    rest: Floats  # bound on the packings of the remaining anchors
    # curvature, curved, point, attracted: for the concave bound: D of the first levels; the level whose D each level
    # uses, or -1; points; work array
    curvature: Floats
    curved: Ints
    point: Floats
    attracted: Floats
    raised: Floats  # scores of the concave bound
    # place: current level (-1 when complete); whether it is new; number of nodes; number of item visits.  Then, for
    # shares and for the concave bound: how often it was computed, and how often it closed a node
    place: Ints


LEVEL, FRESH, NODES, VISITS, SHARED, CONCAVE = 0, 1, 2, 3, 4, 6


@njit(cache=True)
def begin(scores: Floats, profits: Floats, least: Floats, levels: int) -> Stack:
    """Return a search at its start.  ``levels`` is the number of levels that compute the best shares."""
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
        raise_low_scores(scores),
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
    """Return which anchors are not finished."""
    left = np.zeros(len(stack.values), dtype=np.bool_)
    if stack.place[LEVEL] >= 0:
        left[stack.candidates[0, : stack.size[0]]] = True
        if stack.place[LEVEL] > 0:
            left[stack.included[0]] = True
    return left


@njit(cache=True, borrows=True)
def resume(scores: Floats, stack: Stack, slack: float, tiny: float, node_limit: int, visit_limit: int) -> bool:
    """Resume a search.  Return whether it is complete rather than stopped by a limit."""
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
        # Level 0 bounds a packing, to which only shares apply.
        inside = d > 0 and branch >= 0 and bound > worth
        if fresh:
            stack.curved[d] = stack.curved[d - 1] if d > 0 else -1
        if inside and levels > 0 and size[d] >= _FEW and _should_compute(stack.place, CONCAVE, nodes):
            visits += _update_curvature(stack, d, fresh)
            if stack.curved[d] >= 0:
                visits += size[d] * size[d]
                bound = min(bound, _concave(stack, d, worth))
        if fresh and d < levels and branch >= 0 and bound > worth and _should_compute(stack.place, SHARED, nodes):
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
    """Include a candidate on the next level and drop it from this one.  Return the number of visits."""
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
def _should_compute(place: Ints, bound: int, nodes: int) -> bool:
    """Return whether to compute a bound, and count it if so: one that rarely closes a node costs more than it saves."""
    computed, closed = place[bound], place[bound + 1]
    if computed >= _TRIED and computed > _PAYS * closed and nodes % _RARELY:
        return False
    place[bound] += 1
    return True


@njit(cache=True, no_cpython_wrapper=True)
def _update_curvature(stack: Stack, d: int, fresh: bool) -> int:
    """Compute the curvature of a level that is new or has inherited none.  Return the number of visits."""
    if d < len(stack.curvature) and (fresh or stack.curved[d] < 0):
        stack.curved[d] = d
        return int(
            compute_curvature(stack.raised, stack.candidates[d], stack.size[d], stack.gain[d], stack.curvature[d])
        )
    return 0


@folded
def _concave(stack: Stack, d: int, worth: float) -> float:
    """Return the concave bound on a node, and count it if it closes the node."""
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
    """Repeatedly drop candidates that violate fact 1 in every subset."""
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
    """Return a bound on the node, and the candidate to branch on, or -1 if the node is closed.

    The candidate has the largest gain plus half its attraction.  Branching by the best shares works less well.
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
    """Keep the candidates of level 1 that a path of positive scores joins to the anchor (fact 2)."""
    m = size[1]
    reached = 0  # candidates[:reached] are joined; those from ``done`` on are not expanded yet
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
    size[1] = reached  # the others have no positive score with these: attractions and shares stay valid
