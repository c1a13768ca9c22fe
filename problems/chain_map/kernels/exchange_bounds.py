"""Bounds on the gain of exchanging labels at the ends of an edge, over all labels.

These are the bounds a(x) and b(y) of :mod:`colgen.problems.chain_map.kernels.exchange_prices`, in the precision of the
scores. Rows are sums of θ and of messages up to a constant, so only differences within a row have a meaning.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.chain_map.kernels.pair_prices import Side, allocate_side
from colgen.solvers.chains.forest import NONE, Forest, Ints
from colgen.solvers.chains.tree_messages import Duals
from colgen.solvers.kernels import folded, inner, int64
from colgen.solvers.vectors import WIDTH, above, lowest_bit, max_sum, row_max, sum_rows

Rows = NDArray[Any]
Values = NDArray[np.float64]


class Exchanges(NamedTuple):
    """Scores of pairs and gains of exchanges across an edge, in the precision of the scores.

    Rows are numbered ``table · labels + label``. The padding and the diagonal of gains are -inf.
    """

    rows: Rows  # τ by the node's label
    transposed: Rows  # τ by its parent's label
    gains: Rows  # E by x*
    gains_above: Rows  # E' by y*
    size: float  # largest magnitude of θ
    size_of_pairs: float  # largest magnitude of τ


class EdgeScratch(NamedTuple):
    """Working memory for one edge."""

    rows: Rows  # F and G, padded by -inf
    message: Rows  # of a domain of several labels
    nothing: Rows  # zeros
    lower: Side  # candidate labels of the node, with S
    upper: Side  # candidate labels of its parent, with T


def allocate_edge_scratch(exchanges: Exchanges) -> EdgeScratch:
    """Allocate the working memory for an edge of these tables."""
    width, num, dtype = exchanges.gains.shape[1], exchanges.rows.shape[1], exchanges.rows.dtype
    return EdgeScratch(
        np.full((2, width), -np.inf, dtype=dtype),
        np.empty(num, dtype=dtype),
        np.zeros((1, num), dtype=dtype),
        allocate_side(width),
        allocate_side(width),
    )


# --- a node whose neighbours have one label each ----------------------------------------------------------------------


@inner
def max_of_rows(left: Rows, i: int, right: Rows, j: int, table: Rows, h: int) -> Any:
    """Return the maximum of a sum of three rows; a function of its own, so that vector code is inlined only once."""
    return max_sum(left, i, right, j, table, h)


@inner
def _write_row(left: Rows, i: int, scores: Rows, node: int, row: Rows) -> None:
    """Write θ plus one message, up to a constant."""
    sum_rows(row.dtype.type(0), left, i, scores, node, row)


class End(NamedTuple):
    """One end of an edge whose domain, and that of its neighbour away from the edge, has a single label."""

    node: int
    label: int
    messages: Rows
    i: int  # row of the message from the neighbour, up to a constant; -1 without a neighbour
    gains: Rows
    h: int  # row of the gain of exchanging the label across the edge


@folded
def largest_gain(end: End, scores: Rows, nothing: Rows) -> float:
    """Return the largest bound among the other labels of a node, minus that of its own label."""
    node, label, left, i, gains, h = end
    if i < 0:
        return np.float64(max_of_rows(nothing, int64(0), scores, node, gains, h)) - np.float64(scores[node, label])
    most = np.float64(max_of_rows(left, i, scores, node, gains, h))
    return most - np.float64(left[i, label] + scores[node, label])


@inner
def list_candidates(
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
    """List the label of a one-label domain and all labels whose bound is within a slack of its own.

    S is relative to F of the domain's label, so that R is 0 for the pair in the domains. Parameters are those of the
    lower node. For the upper node, swap rows and columns and the shares of the roots: its T is then S. Row ``other`` of
    ``across`` is τ for the label at the other end. Return the number of labels.
    """
    node, label, left, i, gains, h = end
    if i < 0:
        _write_row(nothing, int64(0), scores, node, row)
    else:
        _write_row(left, i, scores, node, row)
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
    forest: Forest, scores: Rows, exchanges: Exchanges, duals: Duals, scratch: EdgeScratch, error: float, node: int
) -> bool:
    """Return whether the only label of an end of a tree is proved best; false if the simple bound does not decide."""
    starts, labels, _ = duals.domains
    num, table, row, nothing = scores.shape[1], forest.table, scratch.rows[0], scratch.nothing
    parent, child = forest.parent[node], forest.first_child[node]
    if starts[node + 1] - starts[node] > 1:
        return False
    label = labels[starts[node]]
    if child == NONE and parent == NONE:
        _write_row(nothing, int64(0), scores, node, row)
    elif child == NONE:
        if starts[parent + 1] - starts[parent] > 1:
            return False
        _write_row(exchanges.transposed, table[node] * num + labels[starts[parent]], scores, node, row)
    else:
        if parent != NONE or forest.next_sibling[child] != NONE or starts[child + 1] - starts[child] > 1:
            return False
        _write_row(exchanges.rows, table[child] * num + labels[starts[child]], scores, node, row)
    value = np.float64(row[label])
    row[label] = -np.inf
    return bool(np.float64(row_max(row)) < value - error)


# --- any node ---------------------------------------------------------------------------------------------------------


@inner
def error_at(forest: Forest, exchanges: Exchanges, epsilon: float, node: int) -> float:
    """Return a bound on the rounding error of a bound at a node.

    The bound adds k messages, each a maximum of sums of two numbers, to θ, then E. It is compared with a sum of the
    same kind.
    """
    k = 1
    child = forest.first_child[node]
    while child != NONE:
        k += 1
        child = forest.next_sibling[child]
    return epsilon * (k + 8) * (exchanges.size + (k + 4) * exchanges.size_of_pairs)


@inner
def first_best(values: Values, begin: int, end: int) -> int:
    """Return the position of the largest value, the first if several are equal."""
    best = begin
    for k in range(begin + 1, end):
        if values[k] > values[best]:
            best = k
    return best


@inner
def write_below(
    forest: Forest,
    scores: Rows,
    exchanges: Exchanges,
    duals: Duals,
    scratch: EdgeScratch,
    node: int,
    skipped: int,
    out: Rows,
) -> None:
    """Write θ plus the messages of all children but one, up to a constant."""
    num = scores.shape[1]
    starts, labels, below = duals.domains
    for x in range(num):
        out[x] = scores[node, x]
    child = forest.first_child[node]
    while child != NONE:
        if child != skipped:
            _add(
                exchanges.rows, forest.table[child] * num, labels, starts[child], below, starts[child],
                starts[child + 1] - starts[child], scratch.message, out,
            )  # fmt: skip
        child = forest.next_sibling[child]


@inner
def add_above(forest: Forest, exchanges: Exchanges, duals: Duals, scratch: EdgeScratch, node: int, out: Rows) -> None:
    """Add the message from the parent to a node, up to a constant."""
    starts, labels, _ = duals.domains
    begin = duals.starts[node]
    _add(
        exchanges.transposed, forest.table[node] * exchanges.rows.shape[1], labels, starts[forest.parent[node]],
        duals.outside, begin, duals.starts[node + 1] - begin, scratch.message, out,
    )  # fmt: skip


@inner
def _add(
    tables: Rows, first_row: int, labels: Ints, at: int, sums: Values, begin: int, size: int, message: Rows, out: Rows
) -> None:
    """Add ``max_k sums[begin + k] + τ(labels[at + k], y)``, minus the largest of the sums."""
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
    """Append the labels x with ``row[x] + gains[i, x] > bound``, and return the new number of labels."""
    least = row.dtype.type(bound)
    for k in range(0, len(row), WIDTH):
        bits = above(row, k, gains, i, least)
        while bits:
            out[found] = k + lowest_bit(bits)
            found += 1
            bits &= bits - 1
    return found
