"""Arguments of the kernels on a knapsack network: validation, and division of the work into short portions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_floats
from colgen.solvers.packing.network import PORTION, Floats, Ints, PackingNetwork

SWEEPS = 8
"""Maximum number of copies of an item that are swept one by one.  Others use chains of arcs."""


def as_profits(net: PackingNetwork, profits: ArrayLike) -> Floats:
    """Return the validated profits of the arcs."""
    floats: Floats = as_floats(profits, "profits", shape=(net.num_arcs,))
    return floats


def check(net: PackingNetwork, values: Floats, profits: Floats) -> None:
    """Check the shapes and types of a table and profits of :func:`best_from`."""
    for name, array, shape in (
        ("values", values, (net.num_items + 1, net.num_states)),
        ("profits", profits, (net.num_arcs,)),
    ):
        if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
            got = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise ArrayError(f"{name}: expected an array of float64 and shape {shape}, got {got}")


class Arcs(NamedTuple):
    """Fields of a :class:`~colgen.solvers.packing.network.PackingNetwork` for the kernels."""

    capacity: int
    widths: Ints
    copies: Ints
    first_arc: Ints
    tails: NDArray[np.int32]
    heads: NDArray[np.int32]


def arcs_of(net: PackingNetwork) -> Arcs:
    """Return a network's fields for the kernels."""
    return Arcs(net.capacity, net.widths, net.copies, net.first_arc, net.tails, net.heads)


def _work(net: PackingNetwork) -> Ints:
    """Return the elementary steps of :func:`best_from` for each item."""
    return net.num_states + np.diff(net.first_arc) * np.clip(net.copies, 1, SWEEPS)


def portions_of(net: PackingNetwork) -> list[tuple[int, int]]:
    """Return ranges of items, last first, in portions of a few hundredths of a second."""
    if net.num_items * net.num_states + SWEEPS * net.num_arcs <= PORTION:  # a quick test, as this is called every round
        return [(0, net.num_items)]
    steps = _work(net)
    if steps.sum() <= PORTION:
        return [(0, net.num_items)]
    portions, last, taken = [], net.num_items, 0
    for i in range(net.num_items - 1, -1, -1):
        taken += int(steps[i])
        if taken >= PORTION or i == 0:
            portions.append((i, last))
            last, taken = i, 0
    return portions
