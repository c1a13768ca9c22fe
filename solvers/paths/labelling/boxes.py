"""Boxes: routes that visit some vertices and avoid others pay a charge or are forbidden.

Branching on pairs of vertices and component bounds use boxes.  Membership of a path in a box is decided at its end.
Until then, each condition is one bit of the label's memory.  A label dominates another only if its bits are a subset of
the other's.  A set bit means that the condition moves the path towards a charge.  For a charge inside the box, a visit
of a required vertex sets the bit.  The bit of an avoided vertex is set initially, and a visit clears it.  For a charge
outside the box it is the reverse.

A negative charge is given to all routes and charged to those outside the box.  So charges are nonnegative, and never
decrease the costs of paths.
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
    """Boxes of routes with nonzero dual values.

    ``visited`` and ``unvisited`` are the vertices that routes of each box must visit, and must avoid, shape (boxes,
    vertices); not the source or sink.  ``charges`` are added to the reduced cost of a route in the box when minimising:
    minus the dual value, of any sign.  Infinity forbids the routes.
    """

    visited: ArrayLike
    unvisited: ArrayLike
    charges: ArrayLike


class BoxFields(NamedTuple):
    """Boxes in the form of the kernels.

    * ``first``: start of the conditions of each box, shape (boxes + 1,).
    * ``word``, ``bit``: word and bit of each condition.
    * ``clears``, ``visits``: whether a visit clears the bit, and whether the condition requires a visit.
    * ``charge``, ``outside``: charge of each box, and whether routes outside the box pay it.
    """

    first: Ints
    word: Ints
    bit: Words
    clears: Mask
    visits: Mask
    charge: Floats
    outside: Mask


class Boxes(NamedTuple):
    """Boxes as labels need them: the bits that visits change, and a constant cost.

    * ``own``, ``kept``, ``refused``: words of each vertex: bits that a visit sets, that it keeps, and that forbid it.
    * ``given``: cost of every route for boxes with a negative charge, at most 0.
    """

    fields: BoxFields
    own: Words
    kept: Words
    refused: Words
    given: float


def lay_out(duals: BoxDuals | None, network: Network, before: int) -> Boxes:
    """Return the boxes in the form of the kernels.  Their bits follow ``before`` other words."""
    n = network.num_vertices
    if duals is None:
        return _nothing(n)
    visited, unvisited, charges = validate(BoxDuals(*duals), network)
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
    for end in (network.source, network.sink):  # at the origin of either direction nothing has been visited
        np.bitwise_or.at(own[end], word[clears], bit[clears])
    first = np.searchsorted(box, np.arange(len(charges) + 1)).astype(np.int64)
    for k in np.flatnonzero((charges == math.inf) & (visited.sum(axis=1) == 2) & ~unvisited.any(axis=1)):
        one, other = range(first[k], first[k + 1])
        refused[vertex[one], word[other]] |= bit[other]
        refused[vertex[other], word[one]] |= bit[one]
    fields = BoxFields(first, before + word, bit, clears, visits, np.abs(charges), outside)
    return Boxes(fields, own, kept, refused, float(charges[outside].sum()))


def validate(duals: BoxDuals, network: Network) -> tuple[Mask, Mask, Floats]:
    """Return the validated arrays of boxes."""
    charges = as_numbers(duals.charges, "charges", shape=(None,))
    if not (charges > -math.inf).all():  # nor NaN
        raise ArrayError("charges: expected numbers above minus infinity")
    shape = (len(charges), network.num_vertices)
    visited, unvisited = (as_booleans(each, "boxes", shape=shape) for each in duals[:2])
    if (visited | unvisited)[:, [network.source, network.sink]].any():
        raise ArrayError("boxes: expected vertices other than source and sink")
    return visited, unvisited, charges


def _nothing(n: int) -> Boxes:
    none, bits = np.zeros(0, dtype=np.int64), np.zeros((n, 0), dtype=np.uint64)
    mask = np.zeros(0, dtype=bool)
    fields = BoxFields(np.zeros(1, dtype=np.int64), none, none.astype(np.uint64), mask, mask, np.zeros(0), mask)
    return Boxes(fields, bits, bits, bits, 0.0)


@kernel
def box_charge(boxes: BoxFields, memory: int, words: Words, one: int, words_back: Words, other: int) -> float:
    """Return the box charges of a route joined from two labels; for one complete label pass it twice."""
    total = 0.0
    for k in range(len(boxes.charge)):
        inside = True
        for c in range(boxes.first[k], boxes.first[k + 1]):
            mine, theirs = words[one, memory + boxes.word[c]], words_back[other, memory + boxes.word[c]]
            visited = (mine & theirs & boxes.bit[c]) == 0 if boxes.clears[c] else ((mine | theirs) & boxes.bit[c]) != 0
            if visited != boxes.visits[c]:
                inside = False
                break
        if inside != boxes.outside[k]:
            total += boxes.charge[k]
    return total


def route_charges(duals: BoxDuals, network: Network, starts: Ints, vertices: Ints) -> Floats:
    """Return the box charges of each route."""
    visited, unvisited, charges = validate(duals, network)
    visits = np.zeros((len(starts) - 1, network.num_vertices), dtype=np.int64)
    visits[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), vertices] = 1
    missed, wrong = (1 - visits) @ visited.T.astype(np.int64), visits @ unvisited.T.astype(np.int64)
    return np.asarray(np.where((missed == 0) & (wrong == 0), charges, 0.0).sum(axis=1))
