"""Least and greatest levels of one resource at the vertices of a graph, over all walks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.networks.graph import Floats, Graph, Ints, reached
from colgen.networks.rules import Resource


@dataclass(frozen=True, eq=False)
class Limited:
    """A resource whose levels have a lower limit by waiting, and an upper limit: levels at vertices, costs of arcs.

    Without waiting a lower limit is an upper limit on the negated level.  ``threshold`` and ``rate`` are those of
    penalties.
    """

    name: str
    consumption: Floats
    lower: Floats
    upper: Floats
    start: float
    threshold: Floats
    rate: Floats
    negated: bool = False


def limited(graph: Graph, resource: Resource) -> list[Limited]:
    """Return a resource as one or two with waiting; those that limit and cost nothing are left out."""
    consumption = graph.per_arc(resource.consumption, "consumption")
    upper = graph.per_vertex(resource.upper, "upper", math.inf)
    given = -math.inf if resource.lower is None else resource.lower
    lower = graph.per_vertex(given, "lower", -math.inf)
    nothing = np.full(len(upper), -math.inf)
    pays = penalty(graph, resource)
    found = [Limited(resource.name, consumption, lower if resource.waiting else nothing, upper, resource.start, *pays)]
    if not resource.waiting:
        free = np.zeros(len(upper))
        found.append(Limited(resource.name, -consumption, nothing, -lower, -resource.start, free, free, True))
    return [each for each in found if np.isfinite(each.upper).any() or each.rate.any()]


def penalty(graph: Graph, resource: Resource) -> tuple[Floats, Floats]:
    """Return threshold and rate of a resource's penalty at each vertex; the rate is 0 where there is none."""
    if resource.penalty is None:
        return np.zeros(len(graph.vertices)), np.zeros(len(graph.vertices))
    name = f"penalty of resource {resource.name!r}"
    if not isinstance(resource.penalty, tuple) or len(resource.penalty) != 2:
        raise InputError(f"{name}: expected a pair of thresholds and rates, not {resource.penalty!r}")
    threshold = graph.per_vertex(resource.penalty[0], f"{name}: thresholds", math.inf)
    rate = graph.per_vertex(resource.penalty[1], f"{name}: rates", 0.0)
    wrong = np.flatnonzero(~((rate >= 0.0) & (rate < math.inf) & (threshold > -math.inf)))
    if len(wrong):
        k = int(wrong[0])
        raise InputError(
            f"{name}: vertex {graph.vertices[k]!r} has threshold {threshold[k]:g} and rate {rate[k]:g}, expected "
            "numbers, and a rate of at least 0"
        )
    free = threshold == math.inf
    return np.where(free, 0.0, threshold), np.where(free, 0.0, rate)


def earliest(graph: Graph, resource: Limited, usable: Ints) -> Floats:
    """Return the least level at each vertex over walks from the source along usable arcs; infinite for none."""
    start = max(resource.start, float(resource.lower[graph.source]))
    ends = graph.tails[usable], graph.heads[usable]
    return _least(*ends, graph.source, start, resource.consumption[usable], resource.lower, resource.upper)


def latest(graph: Graph, resource: Limited, usable: Ints) -> Floats:
    """Return the greatest level at each vertex from which a walk reaches the sink; minus infinity for none."""
    ends = graph.heads[usable], graph.tails[usable]
    limits = -resource.upper, -resource.lower
    return -_least(*ends, graph.sink, -float(resource.upper[graph.sink]), resource.consumption[usable], *limits)


def usable_arcs(graph: Graph, resources: Sequence[Any]) -> NDArray[np.bool_]:
    """Return the mask of the arcs that resources, each alone, allow on a walk from source to sink."""
    usable, arcs = np.ones(len(graph.tails), dtype=np.bool_), np.arange(len(graph.tails))
    for resource in (row for each in resources if isinstance(each, Resource) for row in limited(graph, each)):
        low, high = earliest(graph, resource, arcs), latest(graph, resource, arcs)
        usable &= fits(graph, resource, arcs, low, high)
    return usable


def fits(graph: Graph, resource: Limited, arcs: Ints, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Return the mask of arcs whose head has room for the least level at their tail and the consumption."""
    tails, heads = graph.tails[arcs], graph.heads[arcs]
    between = (low < math.inf) & (high > -math.inf)
    found = between[tails] & between[heads]
    room = 1e-9 * np.maximum(1.0, np.abs(high[heads][found]))
    found[found] = low[tails][found] + resource.consumption[arcs][found] <= high[heads][found] + room
    return np.asarray(found)


def _least(
    tails: Ints, heads: Ints, origin: int, start: float, consumption: Floats, lower: Floats, upper: Floats
) -> Floats:
    """Bellman and Ford's algorithm; a level that still falls after one round per vertex falls to its lower limit."""
    count = len(lower)
    room = 1e-9 * np.where(np.isfinite(upper), np.maximum(1.0, np.abs(upper)), 0.0)
    level = np.full(count, math.inf)
    level[origin] = start if start <= upper[origin] + room[origin] else math.inf
    changed = np.isfinite(level) | (level == -math.inf)
    for number in range(2 * count):
        arcs = np.flatnonzero(changed[tails])
        if not len(arcs):
            break
        into = heads[arcs]
        reached = np.maximum(level[tails[arcs]] + consumption[arcs], lower[into])
        better = reached < np.minimum(level[into], np.nextafter(upper[into] + room[into], math.inf))
        new = level.copy()
        np.minimum.at(new, into[better], reached[better] if number < count else lower[into[better]])
        changed = new < level
        level = new
    return level


def obstacles(graph: Graph, resources: Sequence[Any], usable: Ints) -> list[str]:
    """Return for each vertex why no path along usable arcs visits it, by one resource; empty if none forbids it."""
    forward = reached(len(graph.vertices), graph.tails[usable], graph.heads[usable], graph.source)
    backward = reached(len(graph.vertices), graph.heads[usable], graph.tails[usable], graph.sink)
    found = [
        "" if ahead and back else "no open arcs lead through it" for ahead, back in zip(forward, backward, strict=True)
    ]
    for resource in (row for each in resources if isinstance(each, Resource) for row in limited(graph, each)):
        low, high = earliest(graph, resource, usable), latest(graph, resource, usable)
        arrival = np.full(len(low), math.inf)
        np.minimum.at(arrival, graph.heads[usable], low[graph.tails[usable]] + resource.consumption[usable])
        arrival[graph.source] = resource.start
        arrival = np.maximum(arrival, resource.lower)
        room = 1e-9 * np.where(np.isfinite(arrival), np.maximum(1.0, np.abs(arrival)), 0.0)
        for vertex in np.flatnonzero(arrival - room > high).tolist():
            sign, least, most = (-1, "at most", "at least") if resource.negated else (1, "at least", "at most")
            reason = f"resource {resource.name!r} is {least} {sign * arrival[vertex]:g} there, "
            if arrival[vertex] == math.inf:
                reason = f"the limits of resource {resource.name!r} let no path arrive there"
            elif arrival[vertex] - room[vertex] > resource.upper[vertex]:
                reason += f"but its limit is {sign * resource.upper[vertex]:g}"
            elif high[vertex] == -math.inf:
                reason += "and its limits let no path continue to the sink"
            else:
                reason += f"but {most} {sign * high[vertex]:g} lets a path reach the sink"
            found[vertex] = found[vertex] or reason
    return found
