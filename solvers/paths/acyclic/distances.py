"""Shortest paths in a state graph without memory."""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import kernel
from colgen.solvers.paths.acyclic.states import Floats, Graph, Ints, Shorts


@kernel
def costs_of_arcs(given: Floats, arcs: Shorts, extra: Floats, weight: float, found: Floats) -> None:
    """Write the costs of arcs: those of the network's arcs, and their own times a weight."""
    for k in range(len(arcs)):
        found[k] = weight * extra[k] + (given[arcs[k]] if arcs[k] >= 0 else 0.0)


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


@njit(cache=True, nogil=True)
def paths_below(graph: Graph, costs: Floats, to_sink: Floats, cutoff: float, limit: int) -> list[Ints]:
    """Return all paths that cost less than a cutoff, or ``limit`` + 1 of them if there are more.

    ``to_sink`` is the least cost of a path from each state to the sink, so every step leads to such a path.
    """
    last, first, out = len(graph.first) - 2, graph.first_out, graph.out
    path, place = np.empty(last + 1, dtype=np.int64), np.empty(last + 2, dtype=np.int64)
    paid = np.empty(last + 2)
    found = [path[:0].copy() for _ in range(0)]
    size, state = 0, 0
    paid[0], place[0] = 0.0, first[0]
    while size >= 0:
        if place[size] == first[state + 1] or state == last:
            if state == last:
                found.append(path[:size].copy())
                if len(found) > limit:
                    break
            size -= 1
            if size >= 0:
                state = graph.tails[path[size]]
            continue
        arc = out[place[size]]
        place[size] += 1
        total = paid[size] + costs[arc]
        if total + to_sink[graph.heads[arc]] < cutoff:
            path[size] = arc
            size += 1
            state = graph.heads[arc]
            paid[size], place[size] = total, first[state]
    return found
