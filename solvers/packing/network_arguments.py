"""What the kernels take of a network, and how much of it at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_floats
from colgen.solvers.packing.network import PORTION, Floats, Ints, PackingNetwork

SWEEPS = 8
"""Items with more copies than this are not swept copy by copy, but along the chains of their arcs."""


def as_profits(net: PackingNetwork, profits: ArrayLike) -> Floats:
    """Profits of the arcs, checked."""
    floats: Floats = as_floats(profits, "profits", shape=(net.num_arcs,))
    return floats


def check(net: PackingNetwork, values: Floats, profits: Floats) -> None:
    """Shapes and types of what :func:`best_from` was given and returned, without a look at the numbers."""
    for name, array, shape in (
        ("values", values, (net.num_items + 1, net.num_states)),
        ("profits", profits, (net.num_arcs,)),
    ):
        if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
            got = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise ArrayError(f"{name}: expected an array of float64 and shape {shape}, got {got}")


class Arcs(NamedTuple):
    """What the kernels take of a network; see :class:`~colgen.solvers.packing.network.PackingNetwork`."""

    capacity: int
    widths: Ints
    copies: Ints
    first_arc: Ints
    tails: NDArray[np.int32]
    heads: NDArray[np.int32]


def arcs_of(net: PackingNetwork) -> Arcs:
    """What the kernels take of a network."""
    return Arcs(net.capacity, net.widths, net.copies, net.first_arc, net.tails, net.heads)


def _work(net: PackingNetwork) -> Ints:
    """Elementary steps that a table of :func:`best_from` takes, for each item."""
    return net.num_states + np.diff(net.first_arc) * np.clip(net.copies, 1, SWEEPS)


def in_portions(net: PackingNetwork) -> list[tuple[int, int]]:
    """Items from the last to the first in portions of a few hundredths of a second."""
    if net.num_items * net.num_states + SWEEPS * net.num_arcs <= PORTION:  # no closer look: this is asked every round
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
