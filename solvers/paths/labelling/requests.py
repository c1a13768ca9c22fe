"""Dominance among paths with open requests.

A path dominates another with more open requests if every continuation remains feasible and becomes no more expensive
without the deliveries of the additional ones: the triangle inequality at deliveries, in cost and in all resources.  It
is checked for each request.  A request that fails must be open in both paths or in neither.

A charge σ at the delivery and -σ at the pickup changes no route's cost.  The least σ that satisfies the inequality is
used.  Backward paths need it at pickups instead, with a charge of their own.  Before joins, costs of backward paths are
therefore converted.

Sources: S. Ropke, J.-F. Cordeau, *Branch and cut and price for the pickup and delivery problem with time windows*,
Transportation Science 43 (2009); T. Gschwind, S. Irnich, A.-K. Rothenbächer, C. Tilk, *Bidirectional labeling in
column-generation algorithms for pickup-and-delivery problems*, European Journal of Operational Research 266 (2018).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colgen.solvers.kernel_cache import njit
from colgen.solvers.paths.labelling.boxes import Boxes
from colgen.solvers.paths.labelling.directions import Direction
from colgen.solvers.paths.labelling.layout import COST, POOLED, Floats, Ints, Labels, Side, Words
from colgen.solvers.paths.labelling.neighbourhoods import Mask
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rank_one import Fields
from colgen.solvers.paths.labelling.rules import Rules


class Requests(NamedTuple):
    """Charges and dominance of requests.

    * ``ahead``, ``back``: charge of each vertex in both directions: at arcs into it, and at arcs out of it if backward.
    * ``joined``: charge of each request that is open where paths are joined.
    * ``free_ahead``, ``free_back``: mask of the requests that may be open in the dominated path only.
    * ``bits``: bits of each request in the words of open requests.
    * ``visited``: bits of each request in the words of neighbourhoods.
    """

    ahead: Floats
    back: Floats
    joined: Floats
    free_ahead: Mask
    free_back: Mask
    bits: Words
    visited: Words


def requests_of(
    network: Network, rules: Rules, ahead: Direction, back: Direction, costs: Floats, usable: Mask, cuts: Fields,
    boxes: Boxes, *, alike: bool, exact: bool, backwards: bool, returns: bool,
) -> Requests:  # fmt: skip
    """Return charges and dominance of the requests.

    ``alike``: all requests must be open in both paths or in neither; ``exact``: whether the checks matter;
    ``backwards``: whether backward paths may leave out pickups; ``returns``: whether paths may return from a delivery
    to the vertex before it.
    """
    n = network.num_vertices
    between = np.full((n, n), -1, dtype=np.int64)
    between[network.tails[usable], network.heads[usable]] = np.flatnonzero(usable)
    single = len(np.unique(network.tails * n + network.heads)) == network.num_arcs
    every = np.bitwise_or.reduce(cuts.keep, axis=0)
    found = []
    for direction, other, table, ends, begins in (
        (ahead, back, between, rules.deliveries, rules.pickups),
        (back, ahead, np.ascontiguousarray(between.T), rules.pickups, rules.deliveries),
    ):
        mine = direction.limits
        saved, free = _savings(
            table, costs, mine.consumption, mine.lower, mine.upper, mine.slack, mine.compared, begins, ends,
            direction.origin, other.origin, returns,
        )  # fmt: skip
        if exact:
            free &= single and not alike
            free &= (cuts.keep[ends] == every).all(axis=1)
            free &= ((boxes.own[ends] == 0) & (~boxes.kept[ends] == 0) & (boxes.refused[ends] == 0)).all(axis=1)
        else:
            free[:] = True
        found.append((saved, free))
    (saved, free), (saved_back, free_back) = found
    charges, charges_back = np.zeros(n), np.zeros(n)
    charges[rules.deliveries], charges[rules.pickups] = saved, -saved
    charges_back[rules.pickups], charges_back[rules.deliveries] = saved_back, -saved_back
    opening = ahead.own[rules.pickups]
    return Requests(
        charges, charges_back, saved + saved_back, free, free_back & (backwards or not exact),
        np.ascontiguousarray(opening[:, : ahead.opens]), np.ascontiguousarray(opening[:, ahead.remembered]),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _savings(
    between: Ints, costs: Floats, consumption: Floats, lower: Floats, upper: Floats, slack: Floats, compared: int,
    begins: Ints, ends: Ints, origin: int, last: int, returns: bool,
) -> tuple[Floats, Mask]:  # fmt: skip
    """Return the largest cost saved by visiting the end of each request, and whether leaving it out is feasible.

    The cost is that of the direct arc minus that of the two arcs.
    """
    n, resources = len(between), consumption.shape[1]
    opens, once = np.zeros(n, dtype=np.bool_), np.full(n, not returns)
    opens[begins], once[begins], once[ends] = True, True, True
    saved, free = np.full(len(ends), -np.inf), np.ones(len(ends), dtype=np.bool_)
    for r in range(len(ends)):
        middle = ends[r]
        for tail in range(n):
            one = between[tail, middle]
            if one < 0 or tail == origin or tail == begins[r]:
                continue
            for head in range(n):
                two, straight = between[middle, head], between[tail, head]
                if two < 0 or head == begins[r] or (opens[tail] and head == last) or (head == tail and once[tail]):
                    continue
                fits = True
                for q in range(resources):
                    value = max(lower[tail, q] + consumption[one, q], lower[middle, q])
                    if value > upper[middle, q] or value + consumption[two, q] > upper[head, q]:
                        fits = False
                        break
                if not fits:
                    continue
                if straight < 0:
                    free[r] = False
                    continue
                for q in range(compared):
                    if consumption[straight, q] > consumption[one, q] + consumption[two, q] + slack[q]:
                        free[r] = False
                saved[r] = max(saved[r], costs[straight] - costs[one] - costs[two])
        if saved[r] == -np.inf:
            saved[r] = 0.0
    return saved, free


def for_joins(held: Labels, requests: Requests, neighbourhoods: Mask, side: Side, rules: Rules) -> Labels:
    """Return backward labels with costs of forward paths and without the memory of open requests."""
    words = held.pool_words[: int(held.at[POOLED])].copy()
    count, memory = len(requests.joined), side.rule.memory
    first, number = memory + requests.bits.shape[1], np.arange(count)
    remembered = slice(first, first + requests.visited.shape[1])
    for vertex in np.flatnonzero(held.pool_size):
        rows = slice(held.pool_first[vertex], held.pool_first[vertex] + held.pool_size[vertex])
        part = words[rows]
        opened = (part[:, memory + number // 64] >> (number % 64).astype(np.uint64) & np.uint64(1)).astype(bool)
        for r in np.flatnonzero(opened.any(axis=0) & neighbourhoods[vertex, rules.pickups]):
            part[opened[:, r], remembered] &= ~requests.visited[r]
        costs = part.view(np.float64)[:, COST]
        costs += opened @ requests.joined - requests.ahead[vertex]
        words[rows] = part[np.argsort(costs, kind="stable")]
    return held._replace(pool_words=words, pool_numbers=words.view(np.float64))
