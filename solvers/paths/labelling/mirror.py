"""Symmetric networks: one search serves both directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.paths.labelling.custom import CustomResource
from colgen.solvers.paths.labelling.layout import POOLED, VALUES, Floats, Ints, Labels, Side
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.resources import Limits
from colgen.solvers.paths.labelling.rules import Rules

Mask = NDArray[np.bool_]

_ROUNDING = 2.0**-40
"""Rounding tolerance of differences between arcs and their mirror images, relative to their sizes."""


class Mirror(NamedTuple):
    """The mirror image of each arc, and differences of values at vertices."""

    arcs: Ints
    shift: Floats
    total: float


def find_mirror(network: Network, mine: Limits, custom: CustomResource | None, rules: Rules) -> Mirror | None:
    """Return the mirror of a symmetric network with one resource, or None."""
    if custom is not None or len(rules.pickups) or mine.consumption.shape[1] != 1 or mine.critical or not mine.compared:
        return None
    upper, lower, start = mine.upper[:, 0], mine.lower[:, 0], mine.start[0]
    if (upper != upper[0]).any() or (lower > start).any():
        return None
    n = network.num_vertices
    swap = np.arange(n)
    swap[[network.source, network.sink]] = network.sink, network.source
    key, mirrored = network.tails * n + network.heads, swap[network.heads] * n + swap[network.tails]
    order = np.argsort(key)
    if (np.diff(key[order]) == 0).any():
        return None
    places = np.searchsorted(key[order], mirrored)
    if (places == len(key)).any() or (key[order[np.minimum(places, len(key) - 1)]] != mirrored).any():
        return None
    arcs = order[places]
    consumption = mine.consumption[:, 0]
    shift = potential(network, arcs, consumption)
    if shift is None or (shift < 0).any() or (consumption < shift[network.heads]).any():
        return None
    return Mirror(arcs, shift, float(upper[0] - mine.slack[0]))


def with_costs(mirror: Mirror | None, network: Network, costs: Floats, usable: Mask) -> Mirror | None:
    """Return the mirror if costs and usable arcs are symmetric too; else None."""
    if mirror is None or (usable != usable[mirror.arcs]).any():
        return None
    return None if potential(network, mirror.arcs, costs) is None else mirror


def potential(network: Network, mirror: Ints, values: Floats) -> Floats | None:
    """Return p with value(i, j) + p_i = value(j, i) + p_j for all arcs and 0 at the ends, or None.

    The tolerance is relative to each arc: near large penalties, rounding errors of small values must not pass.
    """
    n = network.num_vertices
    shift = np.zeros(n)
    outer = network.tails == network.source
    shift[network.heads[outer]] = values[outer] - values[mirror[outer]]
    shift[[network.source, network.sink]] = 0.0
    differences = values + shift[network.tails] - values[mirror] - shift[network.heads]
    sizes = np.abs(values) + np.abs(values[mirror])
    sizes += np.abs(shift[network.tails]) + np.abs(shift[network.heads])
    return shift if (np.abs(differences) <= _ROUNDING * sizes).all() else None


def reflect(held: Labels, mirror: Mirror, costs: Floats, network: Network, side: Side) -> Labels:
    """Return the backward labels as mirror images of the forward ones."""
    shift = potential(network, mirror.arcs, costs)
    assert shift is not None
    end = int(held.at[POOLED])
    words = held.pool_words[:end].copy()
    numbers = words.view(np.float64)
    first, size = held.pool_first.copy(), held.pool_size.copy()
    for vertex in np.flatnonzero(size):
        rows = slice(first[vertex], first[vertex] + size[vertex])
        numbers[rows, 0] -= shift[vertex]
        numbers[rows, VALUES] -= mirror.shift[vertex] + mirror.total + side.start[0]
    ends = [network.source, network.sink]
    first[ends], size[ends] = first[ends[::-1]], size[ends[::-1]]
    return held._replace(pool_words=words, pool_numbers=numbers, pool_first=first, pool_size=size)
