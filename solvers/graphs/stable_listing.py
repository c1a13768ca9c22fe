"""Enumeration of maximal stable sets of at least a given weight.

The depth-first search of :mod:`colgen.solvers.graphs.stable_set` also keeps the excluded vertices.  A set to which one
of them can be added is not maximal.

Source: C. Bron, J. Kerbosch, *Algorithm 457: finding all cliques of an undirected graph*, Communications of the ACM 16,
1973.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_integer
from colgen.solvers.graphs.bits import Words, put, unpack
from colgen.solvers.graphs.stable_set import StableSetSearch, as_graph, as_weights, begin, next_included
from colgen.solvers.kernel_cache import njit
from colgen.solvers.stopping import Expired, never
from colgen.solvers.work import NODE, add_work

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_CHUNK = 1 << 14


def maximal(
    adjacency: ArrayLike, weights: ArrayLike, *, least: int = 0, limit: int = 10_000, expired: Expired = never
) -> Mask | None:
    """Return the maximal stable sets with weight at least ``least``, shape (sets, n).  None if there are too many.

    ``adjacency`` is a symmetric mask with a false diagonal; ``weights`` are nonnegative integers.
    """
    conflict = as_graph(adjacency)
    weight = as_weights(weights, len(conflict))
    least, limit = as_integer(least, "least", low=0), as_integer(limit, "limit", low=1)
    n = len(weight)
    if not n:
        return np.zeros((1 if least == 0 else 0, 0), dtype=np.bool_)
    order = np.argsort(-weight, kind="stable")
    search = begin(conflict[np.ix_(order, order)], weight[order], least - 1)
    passed = np.zeros_like(search.candidates)
    listed = np.zeros((limit, search.candidates.shape[1]), dtype=np.uint64)
    finished = False
    while not finished:
        finished = bool(continue_listing(search, passed, listed, _CHUNK))
        if not finished and (search.state[2] > limit or expired()):
            break
    add_work(NODE * int(search.state[3]))
    if not finished:
        return None
    count = int(search.state[2])
    if count > limit:
        return None
    members = np.zeros((count, n), dtype=np.bool_)
    members[:, order] = unpack(listed[:count], n)
    return members


@njit(cache=True)
def continue_listing(search: StableSetSearch, passed: Words, listed: Words, nodes: int) -> bool:
    """Search ``nodes`` more nodes.  Return whether the search is completed or ``listed`` is full."""
    state, weights, words = search.state, search.weights, search.candidates.shape[1]
    level, limit, above = state[0], state[3] + nodes, state[1]
    while level >= 0 and state[3] < limit:
        v = next_included(search, level, above)
        if v < 0:
            level -= 1
            continue
        value = search.value[level] + weights[v]
        some, others = np.uint64(0), np.uint64(0)
        for w in range(words):
            inside = search.candidates[level, w] & search.others[v, w]
            outside = passed[level, w] & search.others[v, w]
            search.candidates[level + 1, w], passed[level + 1, w] = inside, outside
            some |= inside
            others |= outside
        put(passed[level], v)
        if some != 0:
            level += 1
            search.value[level] = value
            search.place[level] = -2
        elif others == 0 and value > above:
            if state[2] >= len(listed):
                state[2] += 1
                return True
            row = state[2]
            listed[row, :] = 0
            for one in range(level + 1):
                put(listed[row], search.chosen[one])
            state[2] += 1
    state[0] = level
    return bool(level < 0)
