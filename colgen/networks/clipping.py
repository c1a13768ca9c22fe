"""Resources of acyclic networks with values clipped where they no longer decide anything.

A label whose value is so low that no continuation can exceed a limit is as good as any lower one.  Raising its value to
this safe level changes no path, and makes more labels comparable.  A limit that no continuation could keep is lowered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from colgen.networks.graph import Floats, Ints
from colgen.solvers.paths.labelling import Network, Resource


def clipped(network: Network, level: Ints, resources: Sequence[Any]) -> list[Any]:
    """Return resources with the same paths; those with waiting or penalties are unchanged.

    Parameters
    ----------
    level
        Greatest number of arcs from the source to each vertex.
    """
    order = np.argsort(-level[network.tails], kind="stable")
    found: list[Any] = []
    for resource in resources:
        if not isinstance(resource, Resource):
            found.append(resource)
            continue
        count = network.num_vertices
        lower, upper = (np.broadcast_to(side, (count,)) for side in (resource.lower, resource.upper))
        waits = resource.waiting and bool((lower > -math.inf).any())
        if waits or resource.rate.any():
            found.append(resource)
            continue
        if (upper < math.inf).any():
            found.append(_one_sided(network, order, level, resource.consumption, upper, resource.start, resource.name))
        if (lower > -math.inf).any():
            name = f"minimum of {resource.name}"
            found.append(_one_sided(network, order, level, -resource.consumption, -lower, -resource.start, name))
    return found


def _one_sided(
    network: Network, order: Ints, level: Ints, consumption: Floats, upper: Floats, start: float, name: str
) -> Resource:
    """Return a resource with upper limits alone, with safe levels as lower limits."""
    tails, heads = network.tails[order], network.heads[order]
    consumed, ends = consumption[order], np.flatnonzero(np.diff(level[network.tails[order]], append=-1))
    safe = np.where(np.arange(len(upper)) == network.sink, upper, math.inf)
    most = np.where(np.arange(len(upper)) == network.sink, upper, -math.inf)
    first = 0
    for end in (ends + 1).tolist():  # all arcs out of the vertices of one level
        part = slice(first, end)
        np.minimum.at(safe, tails[part], safe[heads[part]] - consumed[part])
        np.maximum.at(most, tails[part], most[heads[part]] - consumed[part])
        mine = np.unique(tails[part])
        safe[mine], most[mine] = np.minimum(safe[mine], upper[mine]), np.minimum(most[mine], upper[mine])
        first = end
    safe = np.minimum(safe, most)
    return Resource(consumption, most, safe, start=start, name=name)
