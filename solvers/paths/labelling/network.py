"""The network of a labelling problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_indices, as_integer

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_SPARSE = 8
"""Number of cheapest arcs into and out of each vertex."""


class Network:
    """A directed graph with a source and a sink.

    Parameters
    ----------
    vertices : number of vertices: 0, 1, ...
    tails : tail of each arc; parallel arcs are permitted, loops are not
    heads : head of each arc
    source : no arc enters it; split a depot into source and sink
    sink : no arc leaves it; different from the source

    Raises
    ------
    ArrayError
        If the arcs are invalid.
    """

    def __init__(self, vertices: int, tails: ArrayLike, heads: ArrayLike, source: int, sink: int) -> None:
        self.num_vertices = as_integer(vertices, "vertices", low=2)
        self.tails: Ints = as_indices(tails, "tails", upper=self.num_vertices, shape=(None,))
        self.heads: Ints = as_indices(heads, "heads", upper=self.num_vertices, shape=self.tails.shape)
        self.source = as_integer(source, "source", low=0, high=self.num_vertices - 1)
        self.sink = as_integer(sink, "sink", low=0, high=self.num_vertices - 1)
        if self.source == self.sink:
            raise ArrayError(f"sink: expected another vertex than the source, got {self.sink}")
        for wrong, what in (
            (self.tails == self.heads, "no loops"),
            (self.heads == self.source, "no arcs into the source"),
            (self.tails == self.sink, "no arcs out of the sink"),
        ):
            if wrong.any():
                arc = int(np.argmax(wrong))
                raise ArrayError(f"heads: expected {what}, got ({self.tails[arc]}, {self.heads[arc]}) at [{arc}]")

    @classmethod
    def complete(cls, customers: int) -> Network:
        """Return source 0, customers 1, ..., n, sink n + 1, and all arcs but the one from source to sink.

        The arcs are sorted by tail, then by head.
        """
        n = as_integer(customers, "customers", low=1)
        tails, heads = np.nonzero(~np.eye(n + 2, dtype=bool))
        kept = (heads != 0) & (tails != n + 1) & ~((tails == 0) & (heads == n + 1))
        return cls(n + 2, tails[kept], heads[kept], 0, n + 1)

    @property
    def num_arcs(self) -> int:
        return len(self.tails)

    def arc(self, tail: int, head: int) -> int:
        """Return the number of the first arc between two vertices, or -1."""
        found = np.flatnonzero((self.tails == tail) & (self.heads == head))
        return int(found[0]) if len(found) else -1

    def __repr__(self) -> str:
        return f"Network({self.num_vertices} vertices, {self.num_arcs} arcs, {self.source} to {self.sink})"


def cheapest_arcs(network: Network, costs: Floats, usable: Mask) -> Mask:
    """Return the mask of the cheapest arcs out of and into each vertex, and all arcs at source and sink."""
    kept = (network.tails == network.source) | (network.heads == network.sink)
    priced = np.where(usable, costs, np.inf)
    for ends in (network.tails, network.heads):
        order = np.lexsort((priced, ends))
        place = np.arange(len(order)) - np.searchsorted(ends[order], ends[order])
        kept[order[place < _SPARSE]] = True
    return np.asarray(kept)
