"""Whether a graph has a colouring with a number of colours, by a dynamic program over an order of its vertices.

The *frontier* of a prefix of the order are its vertices with a neighbour outside.  Two colourings of the prefix that
agree on the frontier, up to names of colours, have the same completions, so one state is kept for both.  Sparse graphs
of small pathwidth have few states, although searches need many nodes: graphs of large girth, for instance.

Source: S. Arnborg, A. Proskurowski, *Linear time algorithms for NP-hard problems restricted to partial k-trees*,
Discrete Applied Mathematics 23 (1989).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_integer
from colgen.solvers.graphs.stable_set import as_graph
from colgen.solvers.stopping import Expired, never

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def is_colourable(
    adjacency: ArrayLike, colours: int, *, states: int = 20_000, starts: int = 12, expired: Expired = never
) -> bool | None:
    """Return whether a graph has a colouring with at most ``colours`` colours; None if that takes too many states.

    Parameters
    ----------
    adjacency
        Symmetric mask with a false diagonal, shape (n, n).
    states
        Maximum number of states after a vertex.
    starts
        Number of first vertices from which orders are tried; the one with the smallest frontier is used.
    """
    near = as_graph(adjacency)
    colours, states = as_integer(colours, "colours", low=0), as_integer(states, "states", low=1)
    firsts = np.unique(np.linspace(0, len(near) - 1, min(starts, len(near))).astype(np.int64)).tolist()
    widest = max(states.bit_length(), 1)  # a frontier of more vertices has more states, but for few colours
    found = [order for order in (_order(near, first, widest) for first in firsts if not expired()) if order is not None]
    if not found:
        return None if len(near) else True
    return _colour(near, min(found)[1], colours, states, expired)


def _order(near: Mask, first: int, widest: int) -> tuple[int, list[int]] | None:
    """Return the largest frontier of a greedy order, and the order; None for a larger frontier than ``widest``."""
    left = np.ones(len(near), dtype=np.bool_)
    open_ = near.sum(axis=1)  # neighbours outside the prefix
    frontier, order, most = np.zeros(len(near), dtype=np.bool_), list[int](), 0
    following = first
    while True:
        left[following] = False
        order.append(following)
        open_ -= near[following]
        frontier[following] = True
        frontier &= open_ > 0
        most = max(most, int(frontier.sum()))
        if most > widest:
            return None
        if not left.any():
            return most, order
        candidates = np.flatnonzero(left & near[frontier].any(axis=0)) if frontier.any() else np.flatnonzero(left)
        # the change of the frontier: the vertex enters it, and its neighbours with no other open neighbour leave
        leaving = (near[candidates] & frontier & (open_ == 1)).sum(axis=1)
        growth = (open_[candidates] > 0) - leaving
        inside = (near[candidates] & ~left).sum(axis=1)
        following = int(candidates[np.lexsort((-inside, growth))[0]])


def _colour(near: Mask, order: list[int], colours: int, limit: int, expired: Expired) -> bool | None:
    left = np.ones(len(near), dtype=np.bool_)
    frontier, states = list[int](), set[tuple[int, ...]]({()})
    for vertex in order:
        left[vertex] = False
        beside = [k for k, u in enumerate(frontier) if near[u, vertex]]
        members = [*frontier, vertex]
        kept = [k for k, u in enumerate(members) if (near[u] & left).any()]
        following = set[tuple[int, ...]]()
        for state in states:
            taken = {state[k] for k in beside}
            for colour in range(min(max(state, default=-1) + 2, colours)):
                if colour not in taken:
                    longer, names = (*state, colour), dict[int, int]()
                    following.add(tuple(names.setdefault(longer[k], len(names)) for k in kept))
        states, frontier = following, [members[k] for k in kept]
        if not states:
            return False
        if len(states) > limit or expired():
            return None
    return True
