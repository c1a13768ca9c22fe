"""Boxes of routes: those that visit some vertices, and do not visit others, pay for it, or may not be used.

Branching on pairs of vertices and component bounds are of this kind.  Whether a path lies in a box is known where it
ends.  Until then each condition is one more bit of what it remembers, and of two labels one dominates the other if its
bits are among the other's.  What has been visited (or, for a charge outside of the box, has not been) can only lead to
a charge, and the bit says that it has; what has not been visited can only do so where it must not be: the bit then says
that it has not, and a visit clears it.

What a box pays to its routes is given to all routes, and charged to those outside: charges are never negative, and what
a path costs can only grow.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_booleans, as_numbers
from colgen.solvers.kernels import kernel
from colgen.solvers.paths.labelling.network import Network

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class BoxDuals(NamedTuple):
    """Boxes of routes whose dual values are not zero.

    Attributes
    ----------
    visited, unvisited
        By box and vertex, neither source nor sink: whether its routes visit the vertex, or must not.
    charges
        What a route in the box adds to its reduced cost when minimising: minus the dual value, of any sign.  Infinite:
        such routes are forbidden.
    """

    visited: ArrayLike
    unvisited: ArrayLike
    charges: ArrayLike


class BoxFields(NamedTuple):
    """Boxes as the kernels see them.

    Attributes
    ----------
    first
        One more than there are boxes: where the conditions of each begin.
    word, bit, clears, visits
        Of a condition: where its bit is in what labels remember, whether a visit clears it, and whether the box is that
        of routes which visit the vertex.
    charge, outside
        Of a box: what it charges, and whether to routes outside of it.
    """

    first: Ints
    word: Ints
    bit: Words
    clears: Mask
    visits: Mask
    charge: Floats
    outside: Mask


class Boxes(NamedTuple):
    """What labels remember for boxes.

    Attributes
    ----------
    own, kept, refused
        By vertex, in words of its own: the bits that a visit sets, those that it leaves, and those with which a path
        must not come there.
    given
        What every route pays for boxes that pay to theirs: nothing, or less.
    """

    fields: BoxFields
    own: Words
    kept: Words
    refused: Words
    given: float


def boxed(duals: BoxDuals | None, network: Network, before: int) -> Boxes:
    """The boxes as kernels see them, their bits behind so many other words of what labels remember.

    Raises
    ------
    ArrayError
        If arrays do not fit the network or one another.
    """
    n = network.num_vertices
    if duals is None:
        return _nothing(n)
    visited, unvisited, charges = checked(BoxDuals(*duals), network)
    kept_boxes = ~(visited & unvisited).any(axis=1) & (charges != 0)
    visited, unvisited, charges = visited[kept_boxes], unvisited[kept_boxes], charges[kept_boxes]
    if not len(charges):
        return _nothing(n)
    outside = charges < 0
    box, vertex = np.nonzero(visited | unvisited)
    visits = visited[box, vertex]
    clears = visits == outside[box]
    number = np.arange(len(box))
    word, bit = number // 64, np.uint64(1) << (number % 64).astype(np.uint64)
    words = -(-len(box) // 64)
    own, refused = np.zeros((n, words), dtype=np.uint64), np.zeros((n, words), dtype=np.uint64)
    kept = np.full((n, words), _ALL)
    np.bitwise_or.at(own, (vertex[~clears], word[~clears]), bit[~clears])
    np.bitwise_and.at(kept, (vertex[clears], word[clears]), ~bit[clears])
    for end in (network.source, network.sink):  # where paths begin, in either direction, nothing has been visited
        np.bitwise_or.at(own[end], word[clears], bit[clears])
    first = np.searchsorted(box, np.arange(len(charges) + 1)).astype(np.int64)
    for k in np.flatnonzero((charges == math.inf) & (visited.sum(axis=1) == 2) & ~unvisited.any(axis=1)):
        one, other = range(first[k], first[k + 1])
        refused[vertex[one], word[other]] |= bit[other]
        refused[vertex[other], word[one]] |= bit[one]
    fields = BoxFields(first, before + word, bit, clears, visits, np.abs(charges), outside)
    return Boxes(fields, own, kept, refused, float(charges[outside].sum()))


def checked(duals: BoxDuals, network: Network) -> tuple[Mask, Mask, Floats]:
    """The arrays of boxes, refused where they do not fit."""
    charges = as_numbers(duals.charges, "charges", shape=(None,))
    if not (charges > -math.inf).all():  # nor NaN
        raise ArrayError("charges: expected numbers above minus infinity, got something else")
    shape = (len(charges), network.num_vertices)
    visited, unvisited = (as_booleans(each, "boxes", shape=shape) for each in duals[:2])
    if (visited | unvisited)[:, [network.source, network.sink]].any():
        raise ArrayError("boxes: expected vertices between source and sink, got one of these")
    return visited, unvisited, charges


def _nothing(n: int) -> Boxes:
    none, bits = np.zeros(0, dtype=np.int64), np.zeros((n, 0), dtype=np.uint64)
    mask = np.zeros(0, dtype=bool)
    fields = BoxFields(np.zeros(1, dtype=np.int64), none, none.astype(np.uint64), mask, mask, np.zeros(0), mask)
    return Boxes(fields, bits, bits, bits, 0.0)


@kernel
def charged(boxes: BoxFields, memory: int, words: Words, one: int, words_back: Words, other: int) -> float:
    """What boxes charge a route that is joined of two labels; of one alone, if that is said twice."""
    total = 0.0
    for k in range(len(boxes.charge)):
        inside = True
        for c in range(boxes.first[k], boxes.first[k + 1]):
            mine, theirs = words[one, memory + boxes.word[c]], words_back[other, memory + boxes.word[c]]
            seen = (mine & theirs & boxes.bit[c]) == 0 if boxes.clears[c] else ((mine | theirs) & boxes.bit[c]) != 0
            if seen != boxes.visits[c]:
                inside = False
                break
        if inside != boxes.outside[k]:
            total += boxes.charge[k]
    return total


def charges_of(duals: BoxDuals, network: Network, starts: Ints, vertices: Ints) -> Floats:
    """What routes pay, by route."""
    visited, unvisited, charges = checked(duals, network)
    been = np.zeros((len(starts) - 1, network.num_vertices), dtype=np.int64)
    been[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), vertices] = 1
    missed, wrong = (1 - been) @ visited.T.astype(np.int64), been @ unvisited.T.astype(np.int64)
    return np.asarray(np.where((missed == 0) & (wrong == 0), charges, 0.0).sum(axis=1))
