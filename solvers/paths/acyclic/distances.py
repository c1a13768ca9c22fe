"""Shortest paths in a state graph without memory."""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import kernel
from colgen.solvers.paths.acyclic.states import Floats, Graph, Ints, Shorts


@kernel
def distances_from_source(graph: Graph, costs: Floats, found: Floats, over: Shorts) -> None:
    """Write the least cost of a path to each state, and its last arc; -1 at the source."""
    first, tails = graph.first, graph.tails
    found[0], over[0] = 0.0, -1
    for state in range(1, len(first) - 1):
        least, best = np.inf, -1
        for arc in range(first[state], first[state + 1]):
            cost = found[tails[arc]] + costs[arc]
            if cost < least:
                least, best = cost, arc
        found[state], over[state] = least, best


@kernel
def distances_to_sink(graph: Graph, costs: Floats, found: Floats, over: Shorts) -> None:
    """Write the least cost of a path from each state to the sink, and its first arc; -1 at the sink."""
    first, tails = graph.first, graph.tails
    count = len(first) - 1
    for state in range(count):
        found[state], over[state] = np.inf, -1
    if count:
        found[count - 1] = 0.0
    for state in range(count - 1, 0, -1):
        here = found[state]
        for arc in range(first[state], first[state + 1]):
            cost = here + costs[arc]
            if cost < found[tails[arc]]:
                found[tails[arc]], over[tails[arc]] = cost, arc


@kernel
def least_through(graph: Graph, costs: Floats, ahead: Floats, back: Floats, found: Floats) -> None:
    """Write the least cost of a path over each arc to ``found``, which holds upper limits."""
    tails, heads = graph.tails, graph.heads
    for arc in range(len(tails)):
        cost = ahead[tails[arc]] + costs[arc] + back[heads[arc]]
        if cost < found[arc]:
            found[arc] = cost


@njit(cache=True, nogil=True)
def paths_through(graph: Graph, ahead: Shorts, back: Shorts, states: Ints, wanted: int) -> list[Ints]:
    """Return shortest paths through states in this order, each over a state that no earlier path visits."""
    count = len(graph.first) - 1
    covered = np.zeros(count, dtype=np.bool_)
    path = np.empty(count, dtype=np.int64)
    found = [path[:0].copy() for _ in range(0)]
    for state in states:
        if len(found) == wanted:
            break
        if covered[state]:
            continue
        size, here = 0, state
        while ahead[here] >= 0:
            path[size] = ahead[here]
            size += 1
            here = graph.tails[ahead[here]]
        for k in range(size // 2):
            path[k], path[size - 1 - k] = path[size - 1 - k], path[k]
        here = state
        while back[here] >= 0:
            path[size] = back[here]
            size += 1
            here = graph.heads[back[here]]
        for k in range(size):
            covered[graph.heads[path[k]]] = True
        covered[0] = True
        found.append(path[:size].copy())
    return found
