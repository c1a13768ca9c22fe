"""The graph of a node: vertices with the same colour merged, vertices with different colours made neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import PricingContext
from colgen.solvers.scaling import integer_scale

VERTEX = "vertex"
"""Block of the rows; row indices are vertex numbers."""

EXPONENT = 40
"""Dual values are rounded up to multiples of 2^-40 relative to the largest one."""

Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Zykov:
    """The graph that branching decisions define.

    Attributes
    ----------
    groups
        Mask of the original vertices of each merged vertex, shape (merged, vertices).
    adjacency
        Adjacency matrix of the merged vertices.
    possible
        Whether a merged vertex contains no neighbours; otherwise it is in no stable set.
    """

    groups: Mask
    adjacency: Mask
    possible: Mask

    def weights(self, whole: Ints) -> Ints:
        """Return the weights of the merged vertices; negative ones become 0."""
        return np.where(self.possible, np.maximum(self.groups @ whole, 0), 0)

    def places(self, members: Mask) -> Mask:
        """Return sets of merged vertices as sets of original vertices, shape (sets, vertices)."""
        return members @ self.groups

    def maximal(self, members: Mask) -> Mask:
        """Return stable sets extended to maximal ones."""
        return maximal(self.adjacency, members, self.possible)


def zykov(vertices: Sequence[int], adjacency: Mask, context: PricingContext) -> Zykov:
    """Return the graph of a node: vertices together are merged, and vertices apart become neighbours.

    Parameters
    ----------
    vertices
        Numbers of the vertices in the order of ``adjacency``.
    """
    n, place = len(vertices), {vertex: k for k, vertex in enumerate(vertices)}
    first = np.arange(n)
    for group in context.together(VERTEX):
        members = [place[_number(v)] for v in group]
        first[members] = min(members)
    heads, numbers = np.unique(first, return_inverse=True)
    groups = np.zeros((len(heads), n), dtype=np.bool_)
    groups[numbers, np.arange(n)] = True
    near = adjacency.copy()
    for one, other in context.apart(VERTEX):
        u, v = place[_number(one)], place[_number(other)]
        near[u, v] = near[v, u] = True
    if len(heads) == n:
        return Zykov(groups, near, np.ones(n, dtype=np.bool_))
    counts = groups.astype(np.int64) @ near.astype(np.int64) @ groups.T.astype(np.int64)
    merged = counts > 0
    possible = ~merged.diagonal()
    np.fill_diagonal(merged, False)
    return Zykov(groups, merged, possible)


def maximal(adjacency: Mask, members: Mask, possible: Mask | None = None) -> Mask:
    """Return stable sets extended to maximal ones, vertices of small degree first."""
    members = members.copy()
    for v in np.argsort(adjacency.sum(axis=1), kind="stable").tolist():
        if possible is None or possible[v]:
            members[:, v] |= ~members[:, adjacency[v]].any(axis=1)
    return members


def round_up(duals: NDArray[np.float64]) -> tuple[Ints, float]:
    """Return dual values scaled and rounded up to integers w, and a power of two s: w / s ≥ the dual value."""
    largest = float(np.max(np.abs(duals), initial=0.0))
    scale = integer_scale(largest, EXPONENT) if largest else 1.0
    return np.ceil(duals * scale).astype(np.int64), scale


def _number(vertex: Any) -> int:
    return int(vertex)
