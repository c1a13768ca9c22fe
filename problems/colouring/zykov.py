"""The graph of a node: vertices that have one colour merged, vertices that have two made neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import PricingContext
from colgen.solvers.scaling import integer_scale

VERTEX = "vertex"
"""Block of the rows; their indices are the numbers of the vertices."""

EXPONENT = 40
"""Dual values are rounded up to multiples of 2 to the minus this, relative to the largest of them."""

Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Zykov:
    """Stable sets of the graph that decisions leave.

    Attributes
    ----------
    groups
        Which place (of a vertex among those that are left) belongs to which merged vertex: shape (merged, places).
    adjacency
        Of the merged vertices.  One that holds neighbours can be in no stable set.
    possible
        Which merged vertices hold no neighbours.
    """

    groups: Mask
    adjacency: Mask
    possible: Mask

    def weights(self, whole: Ints) -> Ints:
        """Of the merged vertices, from whole numbers for each place: zero where it is better to leave one out."""
        return np.where(self.possible, np.maximum(self.groups @ whole, 0), 0)

    def places(self, members: Mask) -> Mask:
        """Sets of merged vertices as sets of places: shape (sets, places)."""
        return members @ self.groups

    def maximal(self, members: Mask) -> Mask:
        """Stable sets with whatever can be added to them."""
        return maximal(self.adjacency, members, self.possible)


def zykov(vertices: Sequence[int], adjacency: Mask, context: PricingContext) -> Zykov:
    """The graph of a node.

    Parameters
    ----------
    vertices
        Numbers of the vertices that are left, in the order of ``adjacency``.
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
    """Stable sets with whatever can be added to them, vertices of few neighbours first: shape (sets, vertices)."""
    members = members.copy()
    for v in np.argsort(adjacency.sum(axis=1), kind="stable").tolist():
        if possible is None or possible[v]:
            members[:, v] |= ~members[:, adjacency[v]].any(axis=1)
    return members


def whole_numbers(duals: NDArray[np.float64]) -> tuple[Ints, float]:
    """Dual values as whole numbers w, rounded up, and a power of two s: w / s is no less than the dual value."""
    largest = float(np.max(np.abs(duals), initial=0.0))
    scale = integer_scale(largest, EXPONENT) if largest else 1.0
    return np.ceil(duals * scale).astype(np.int64), scale


def _number(vertex: Any) -> int:
    return int(vertex)
