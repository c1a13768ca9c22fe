"""What exchanging labels can gain at the ends of an edge: rows of scores and messages, and bounds over all labels.

The bounds a(x) and b(y) of :mod:`colgen.problems.chain_map.kernels.exchange_prices`, in the precision of the scores.
Rows are sums of θ and of messages up to constants, so that only differences within a row say something.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.chain_map.kernels.pair_prices import Side, room_for_side
from colgen.solvers.chains.forest import NONE, Forest, Ints
from colgen.solvers.chains.tree_messages import Duals
from colgen.solvers.chains.vectors import WIDTH, above, lowest_bit, max_sum, row_max, sum_rows
from colgen.solvers.kernels import folded, inner, int64

Rows = NDArray[Any]
Values = NDArray[np.float64]


class Exchanges(NamedTuple):
    """Scores of pairs as they are, and what exchanges gain across an edge, all in the precision of the scores.

    Attributes
    ----------
    rows, transposed
        τ of all tables, rows ``table · labels + x`` for the node's and for its parent's label.
    gains, gains_above
        E and E', rows ``table · labels + x*`` and ``table · labels + y*``, padded by -inf, which the diagonal holds.
    size, size_of_pairs
        The largest magnitudes of θ and of τ.
    """

    rows: Rows
    transposed: Rows
    gains: Rows
    gains_above: Rows
    size: float
    size_of_pairs: float


class Room(NamedTuple):
    """Room for one edge.

    Attributes
    ----------
    rows
        F and G, padded by -inf.
    message
        A message of a domain of several labels.
    nothing
        A row of zeros.
    lower, upper
        The labels of the node that are looked at, with S, and those of its parent, with T.
    """

    rows: Rows
    message: Rows
    nothing: Rows
    lower: Side
    upper: Side


def room_for(exchanges: Exchanges) -> Room:
    """Room for an edge of these tables."""
    width, num, dtype = exchanges.gains.shape[1], exchanges.rows.shape[1], exchanges.rows.dtype
    return Room(
        np.full((2, width), -np.inf, dtype=dtype),
        np.empty(num, dtype=dtype),
        np.zeros((1, num), dtype=dtype),
        room_for_side(width),
        room_for_side(width),
    )


# --- a node whose neighbours have one label each ---------------------------------------------------------------------


@inner
def max_of_rows(left: Rows, i: int, right: Rows, j: int, table: Rows, h: int) -> Any:
    """The maximum of a sum of rows: vector instructions are put where they are called, once a function."""
    return max_sum(left, i, right, j, table, h)


@inner
def _lay(left: Rows, i: int, scores: Rows, node: int, row: Rows) -> None:
    """θ and one message, up to a constant."""
    sum_rows(row.dtype.type(0), left, i, scores, node, row)


class End(NamedTuple):
    """One end of an edge, with a single label there and at its neighbour beyond.

    Attributes
    ----------
    node, label
        The end and its label.
    messages, i
        The message from beyond is row i, up to a constant; -1: there is none.
    gains, h
        What exchanging the label gains across the edge is row h.
    """

    node: int
    label: int
    messages: Rows
    i: int
    gains: Rows
    h: int


@folded
def most_gained(end: End, scores: Rows, nothing: Rows) -> float:
    """The greatest bound of a node's other labels, less the label's own."""
    node, label, left, i, gains, h = end
    if i < 0:
        return np.float64(max_of_rows(nothing, int64(0), scores, node, gains, h)) - np.float64(scores[node, label])
    most = np.float64(max_of_rows(left, i, scores, node, gains, h))
    return most - np.float64(left[i, label] + scores[node, label])


@inner
def look_at(
    end: End,
    scores: Rows,
    nothing: Rows,
    row: Rows,
    slack: float,
    across: Values,
    other: int,
    weight: float,
    side: Side,
) -> int:
    """The label of a domain of one, and the others whose bound is within a slack of its own, with S and their number.

    S is counted from F of the domain's label, so that R of the pair in the domains is 0.  Parameters are the lower
    node's; the upper one's T is S with rows and columns in each other's place, and the shares of the roots: ``across``
    is τ by rows of the label at the other end, whose row is ``other``.
    """
    node, label, left, i, gains, h = end
    if i < 0:
        _lay(nothing, int64(0), scores, node, row)
    else:
        _lay(left, i, scores, node, row)
    labels, sums = side
    labels[0], sums[0] = label, -(1.0 - weight) * across[other, label]
    least, found = row.dtype.type(np.float64(row[label]) - slack), 1
    for k in range(0, len(row), WIDTH):
        bits = above(row, k, gains, h, least)
        while bits:
            x = k + lowest_bit(bits)
            bits &= bits - 1
            gain = np.float64(scores[node, x]) - np.float64(scores[node, label])
            if i >= 0:
                gain += np.float64(left[i, x]) - np.float64(left[i, label])
            labels[found], sums[found] = x, weight * gain - (1.0 - weight) * across[other, x]
            found += 1
    return found


@inner
def is_best(
    forest: Forest, scores: Rows, exchanges: Exchanges, duals: Duals, room: Room, doubt: float, node: int
) -> bool:
    """Whether the only label of an end of a tree is the best there; false as well where it takes more to know."""
    starts, labels, _ = duals.domains
    num, table, row, nothing = scores.shape[1], forest.table, room.rows[0], room.nothing
    parent, child = forest.parent[node], forest.first_child[node]
    if starts[node + 1] - starts[node] > 1:
        return False
    label = labels[starts[node]]
    if child == NONE and parent == NONE:
        _lay(nothing, int64(0), scores, node, row)
    elif child == NONE:
        if starts[parent + 1] - starts[parent] > 1:
            return False
        _lay(exchanges.transposed, table[node] * num + labels[starts[parent]], scores, node, row)
    else:
        if parent != NONE or forest.next_sibling[child] != NONE or starts[child + 1] - starts[child] > 1:
            return False
        _lay(exchanges.rows, table[child] * num + labels[starts[child]], scores, node, row)
    value = np.float64(row[label])
    row[label] = -np.inf
    return bool(np.float64(row_max(row)) < value - doubt)


# --- any node --------------------------------------------------------------------------------------------------------


@inner
def doubt_at(forest: Forest, exchanges: Exchanges, epsilon: float, node: int) -> float:
    """What rounding may have done in a bound at a node.

    k messages, each the maximum of sums of two numbers, are added to θ, then E; the sum is compared with another of
    this kind.
    """
    k = 1
    child = forest.first_child[node]
    while child != NONE:
        k += 1
        child = forest.next_sibling[child]
    return epsilon * (k + 8) * (exchanges.size + (k + 4) * exchanges.size_of_pairs)


@inner
def first_best(values: Values, begin: int, end: int) -> int:
    """The place of the greatest of some values, the first of equals."""
    best = begin
    for k in range(begin + 1, end):
        if values[k] > values[best]:
            best = k
    return best


@inner
def lay_below(
    forest: Forest,
    scores: Rows,
    exchanges: Exchanges,
    duals: Duals,
    room: Room,
    node: int,
    skipped: int,
    out: Rows,
) -> None:
    """θ and the messages of all children but one, up to constants."""
    num = scores.shape[1]
    starts, labels, below = duals.domains
    for x in range(num):
        out[x] = scores[node, x]
    child = forest.first_child[node]
    while child != NONE:
        if child != skipped:
            _add(
                exchanges.rows, forest.table[child] * num, labels, starts[child], below, starts[child],
                starts[child + 1] - starts[child], room.message, out,
            )  # fmt: skip
        child = forest.next_sibling[child]


@inner
def lay_above(forest: Forest, exchanges: Exchanges, duals: Duals, room: Room, node: int, out: Rows) -> None:
    """Add the message from above, up to a constant."""
    starts, labels, _ = duals.domains
    begin = duals.starts[node]
    _add(
        exchanges.transposed, forest.table[node] * exchanges.rows.shape[1], labels, starts[forest.parent[node]],
        duals.outside, begin, duals.starts[node + 1] - begin, room.message, out,
    )  # fmt: skip


@inner
def _add(
    tables: Rows, first_row: int, labels: Ints, at: int, sums: Values, begin: int, size: int, message: Rows, out: Rows
) -> None:
    """Add ``max_k sums[begin + k] + τ(labels[at + k], y)``, less the greatest of the sums."""
    num = tables.shape[1]
    if size == 1:
        i = first_row + labels[at]
        for y in range(num):
            out[y] += tables[i, y]
        return
    top = sums[first_best(sums, begin, begin + size)]
    for k in range(size):
        less, i = out.dtype.type(sums[begin + k] - top), first_row + labels[at + k]
        if k == 0:
            for y in range(num):
                message[y] = less + tables[i, y]
        else:
            for y in range(num):
                here = less + tables[i, y]
                message[y] = here if here > message[y] else message[y]
    for y in range(num):
        out[y] += message[y]


@inner
def candidates(row: Rows, gains: Rows, i: int, bound: float, out: Ints, found: int) -> int:
    """Add the labels x with ``row[x] + gains[i, x] > bound`` to those that were found; returns how many there are."""
    least = row.dtype.type(bound)
    for k in range(0, len(row), WIDTH):
        bits = above(row, k, gains, i, least)
        while bits:
            out[found] = k + lowest_bit(bits)
            found += 1
            bits &= bits - 1
    return found
