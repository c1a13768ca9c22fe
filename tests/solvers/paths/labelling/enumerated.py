"""Enumeration of routes: every walk within the limits and the memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.paths.labelling import Network, RankOneDuals, Resource


class Drawn(NamedTuple):
    """A random problem."""

    network: Network
    resources: list[Resource]
    costs: NDArray[np.float64]
    neighbourhoods: NDArray[np.bool_]
    duals: RankOneDuals


def draw(seed: int, *, scale: float = 1.0, windows: bool = True, parallel: bool = True) -> Drawn:
    """A digraph with up to seven inner vertices, a load, optional times, and costs of both signs with ties."""
    rng = np.random.default_rng(seed)
    inner = int(rng.integers(3, 7))
    complete = Network.complete(inner)
    kept = rng.random(complete.num_arcs) < rng.choice([0.6, 0.9, 1.0])
    tails, heads = complete.tails[kept], complete.heads[kept]
    if parallel:
        again = rng.random(len(tails)) < 0.2
        tails, heads = np.append(tails, tails[again]), np.append(heads, heads[again])
    n = inner + 2
    network = Network(n, tails, heads, 0, n - 1)
    load = rng.integers(2, 7, n).astype(float)
    load[[0, n - 1]] = 0
    resources = [Resource.on_vertices(network, load, float(rng.integers(4, 14)), name="load")]
    if windows:
        lower = rng.integers(0, 12, n).astype(float)
        lower[[0, n - 1]] = 0
        upper = lower + rng.integers(0, 12, n)
        upper[[0, n - 1]] = 30
        times = rng.integers(0, 6, len(tails)).astype(float)
        waiting = bool(rng.random() < 0.8)
        resources.append(Resource(times, upper, lower if waiting else lower * 0.5, waiting=waiting, name="time"))
        if rng.random() < 0.5:
            resources.reverse()
    costs = rng.integers(-9, 8, len(tails)) * scale
    memory = rng.random((n, n)) < 0.4
    count = int(rng.integers(1, 5))
    divisors = rng.choice([2, 2, 3, 4, 5], count)
    numerators = np.where(rng.random((count, n)) < 0.6, rng.integers(1, 4, (count, n)) % divisors[:, None], 0)
    numerators[:, [0, n - 1]] = 0
    kept_states = rng.random((count, n)) < 0.7
    duals = RankOneDuals(numerators, divisors, kept_states, rng.integers(0, 9, count) * scale)
    return Drawn(network, resources, costs, memory, duals)


def walks(
    network: Network,
    resources: list[Resource],
    neighbourhoods: NDArray[np.bool_] | None,
    forbidden: set[int] = frozenset(),
    *,
    own: Callable[[Any, int, int], Any] = lambda state, arc, head: state,
    begin: Any = (),
) -> Iterator[list[int]]:
    """Yield the arcs of every walk from source to sink; None: of elementary ones.

    ``own`` extends a state, at first ``begin``, over an arc to its head; None where that is not allowed.
    """
    n = network.num_vertices
    out = [[a for a in range(network.num_arcs) if network.tails[a] == v and a not in forbidden] for v in range(n)]
    limits = [(np.broadcast_to(r.lower, n), np.broadcast_to(r.upper, n)) for r in resources]
    start = tuple(
        max(r.start, low[network.source]) if r.waiting else r.start
        for r, (low, _) in zip(resources, limits, strict=True)
    )
    ends = [(low[network.source], high[network.source]) for low, high in limits]
    if not all(low <= value <= high for value, (low, high) in zip(start, ends, strict=True)):
        return

    def onwards(
        vertex: int, values: tuple[float, ...], state: Any, memory: frozenset[int], arcs: list[int]
    ) -> Iterator[list[int]]:
        if vertex == network.sink:
            yield list(arcs)
            return
        for arc in out[vertex]:
            head = int(network.heads[arc])
            if head in memory:
                continue
            reached = []
            for resource, value, (low, high) in zip(resources, values, limits, strict=True):
                value = value + resource.consumption[arc]
                if resource.waiting:
                    value = max(value, low[head])
                if not low[head] <= value <= high[head]:
                    break
                reached.append(value)
            else:
                after = own(state, arc, head)
                if after is None:
                    continue
                kept = memory if neighbourhoods is None else frozenset(v for v in memory if neighbourhoods[head, v])
                yield from onwards(head, tuple(reached), after, kept | {head}, [*arcs, arc])

    yield from onwards(network.source, start, begin, frozenset(), [])


def cost(drawn: Drawn, arcs: list[int], *, cuts: bool) -> float:
    """Return the cost of a walk: its arcs and the charges of cuts."""
    total = float(drawn.costs[arcs].sum())
    if not cuts:
        return total
    numerators, divisors, memory, penalties = map(np.asarray, drawn.duals)
    for k in range(len(divisors)):
        state = 0
        for vertex in drawn.network.heads[arcs]:
            if not memory[k, vertex] and not numerators[k, vertex]:
                state = 0
            state += numerators[k, vertex]
            if state >= divisors[k]:
                state -= divisors[k]
                total += penalties[k]
    return total


def best(drawn: Drawn, *, elementary: bool, cuts: bool, forbidden: set[int] = frozenset()) -> float:
    """Return the least cost of a route, infinity without routes."""
    memory = None if elementary else drawn.neighbourhoods
    found = walks(drawn.network, drawn.resources, memory, forbidden)
    return min((cost(drawn, arcs, cuts=cuts) for arcs in found), default=math.inf)
