"""Tables of points: the cheapest points within tenders, and prices of the tenders from convex envelopes.

A part of a program takes one of its points p, of cost c_p, which needs r_pi of tender i.  Over a box l ≤ χ ≤ u of the
tenders only the points with r_p ≤ u count, and needs below l count as l.  The convex envelope of the part's cost is

    min_λ  Σ_p λ_p c_p    subject to    Σ_p λ_p = 1,    Σ_p λ_p max(r_p, l) ≤ χ   [-π].

A part has few points and few tenders, so the simplex method has a dense inverse here.  Kernels of one program only;
see :mod:`colgen.decomposition.tenders`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_PIVOTS = 60
"""Maximum number of pivots of a part: all prices are valid, those at the end are the best."""

_PIVOT, _REDUCED, _AMOUNT = 1e-10, 1e-10, 1e-9
"""Least pivot, least reduced cost relative to the costs of the part, and least share λ of a point that scores."""


class Points(NamedTuple):
    """The points of all parts, those of a part sorted by cost.

    Attributes
    ----------
    starts
        Part k has the points ``starts[k] : starts[k + 1]``.
    costs, needs
        Cost of each point, and its needs by place.
    tenders
        Number of the tender at each place of a part; unused places have a tender that is always 0, and no needs.
    """

    starts: Ints
    costs: Floats
    needs: Floats
    tenders: Ints


class _Basis(NamedTuple):
    """Basis of a part: the places of the tenders, then the sum of the shares.  Members are points, then slacks."""

    inverse: Floats
    members: Ints
    paid: Floats
    amounts: Floats
    duals: Floats
    column: Floats


@njit(cache=True)
def undominated(needs: Floats) -> Mask:
    """Return which points, sorted by cost, need less of a tender than each cheaper one."""
    count, tenders = needs.shape
    kept = np.ones(count, dtype=np.bool_)
    for p in range(count):
        for q in range(p):
            if kept[q]:
                worse = True
                for i in range(tenders):
                    worse = worse and needs[q, i] <= needs[p, i]
                if worse:
                    kept[p] = False
                    break
    return kept


@njit(cache=True)
def cheapest_points(points: Points, offered: Floats, near: Floats) -> Ints:
    """Return the cheapest point of each part within tenders, or -1; needs may exceed a tender by ``near``."""
    starts, _, needs, tenders = points
    chosen = np.full(len(tenders), -1)
    for k in range(len(tenders)):
        for p in range(starts[k], starts[k + 1]):
            fits = True
            for i in range(tenders.shape[1]):
                fits = fits and needs[p, i] <= offered[tenders[k, i]] + near[tenders[k, i]]
            if fits:
                chosen[k] = p
                break
    return chosen


@njit(cache=True)
def envelope_prices(
    points: Points, least: Floats, most: Floats, offered: Floats, near: Floats, chosen: Ints
) -> tuple[Floats, Floats, Floats]:
    """Return prices π of the tenders for each part, the least cost at these, and scores of the tenders.

    So a part costs at least ``lows[k] - prices[k] @ χ`` at tenders χ of the box, with equality at ``offered`` up to
    rounding.  The score of a tender is what parts pay for its excess over ``offered`` by the points that they combine.

    Parameters
    ----------
    least, most, offered : tenders: the box, and where the envelopes are supported
    near : excess of a need over each tender that is no excess
    chosen : a point of each part within ``offered``, from :func:`cheapest_points`
    """
    starts, all_costs, needs, tenders = points
    parts, width = tenders.shape
    prices, lows, scores = np.zeros((parts, width)), np.zeros(parts), np.zeros(len(offered))
    raised, counts = needs.copy(), np.ones(len(needs), np.bool_)
    height = width + 1
    basis = _Basis(
        np.zeros((height, height)),
        np.zeros(height, np.int64),
        np.zeros(height),
        np.zeros(height),
        np.zeros(height),
        np.zeros(height),
    )
    for k in range(parts):
        begin, end = starts[k], starts[k + 1]
        size = 0.0
        for p in range(begin, end):
            size = max(size, abs(all_costs[p]))
            for i in range(width):
                j = tenders[k, i]
                counts[p] = counts[p] and needs[p, i] <= most[j] + near[j]
                raised[p, i] = max(needs[p, i], least[j])
        costs, mine, usable = all_costs[begin:end], raised[begin:end], counts[begin:end]
        _start(basis, costs, mine, chosen[k] - begin, offered, tenders[k])
        for _ in range(_PIVOTS):
            entering = _entering(basis, costs, mine, usable, _REDUCED * size)
            if entering < 0 or not _pivot(basis, costs, mine, entering):
                break
        for i in range(width):
            prices[k, i] = max(-basis.duals[i], 0.0)
        low = math.inf
        for p in range(end - begin):
            if usable[p]:
                own = costs[p]
                for i in range(width):
                    own += prices[k, i] * mine[p, i]
                low = min(low, own)
        lows[k] = low
        _add_scores(basis, mine, prices[k], offered, near, tenders[k], scores)
    return prices, lows, scores


@inner
def _start(basis, costs, raised, point, offered, tenders):  # type: ignore[no-untyped-def]
    """Begin with a point that fits, and the slacks of all places."""
    width = len(tenders)
    for i in range(width + 1):
        for j in range(width + 1):
            basis.inverse[i, j] = 1.0 if i == j else 0.0
    for i in range(width):
        basis.inverse[i, width] = -raised[point, i]
        basis.members[i], basis.paid[i] = len(costs) + i, 0.0
        basis.amounts[i] = max(offered[tenders[i]] - raised[point, i], 0.0)
    basis.members[width], basis.paid[width], basis.amounts[width] = point, costs[point], 1.0


@inner
def _entering(basis, costs, raised, usable, least):  # type: ignore[no-untyped-def]
    """Set the dual values.  Return the point or slack of smallest reduced cost below ``-least``, or -1."""
    height = len(basis.duals)
    width = height - 1
    for j in range(height):
        basis.duals[j] = 0.0
        for i in range(height):
            basis.duals[j] += basis.paid[i] * basis.inverse[i, j]
    reduced, entering = -least, -1
    for p in range(len(costs)):
        if usable[p]:
            own = costs[p] - basis.duals[width]
            for i in range(width):
                own -= basis.duals[i] * raised[p, i]
            if own < reduced:
                reduced, entering = own, p
    for i in range(width):
        if -basis.duals[i] < reduced:
            reduced, entering = -basis.duals[i], len(costs) + i
    return entering


@inner
def _pivot(basis, costs, raised, entering):  # type: ignore[no-untyped-def]
    """Exchange a member of the basis.  Return whether there was one."""
    inverse, members, paid, amounts, _, column = basis
    height, count = len(members), len(costs)
    width = height - 1
    leaving, ratio = -1, math.inf
    for i in range(height):
        if entering < count:
            column[i] = inverse[i, width]
            for j in range(width):
                column[i] += inverse[i, j] * raised[entering, j]
        else:
            column[i] = inverse[i, entering - count]
        if column[i] > _PIVOT and amounts[i] < ratio * column[i]:
            ratio, leaving = amounts[i] / column[i], i
    if leaving < 0:
        return False
    for i in range(height):
        amounts[i] = max(amounts[i] - ratio * column[i], 0.0)
    amounts[leaving] = ratio
    for j in range(height):
        inverse[leaving, j] /= column[leaving]
    for i in range(height):
        if i != leaving and column[i] != 0.0:
            for j in range(height):
                inverse[i, j] -= column[i] * inverse[leaving, j]
    members[leaving] = entering
    paid[leaving] = costs[entering] if entering < count else 0.0
    return True


@inner
def _add_scores(basis, raised, prices, offered, near, tenders, scores):  # type: ignore[no-untyped-def]
    for i in range(len(basis.members)):
        if basis.members[i] < len(raised) and basis.amounts[i] > _AMOUNT:
            for t in range(len(tenders)):
                over = raised[basis.members[i], t] - offered[tenders[t]]
                if over > near[tenders[t]]:
                    scores[tenders[t]] += prices[t] * basis.amounts[i] * over
