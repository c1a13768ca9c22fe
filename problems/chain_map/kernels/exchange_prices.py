"""Reduced costs of label pairs in trees, bounded by what exchanging labels can gain: most edges need no look at pairs.

The reduced cost of a pair is R = w A + (1 - w) B (:mod:`problems.chain_map.kernels.tree_prices`).  Let x* be the label
of the domain of node c that has the best F_c, y* that of the domain of its parent p with the best G_c, and

    E(x*, x) = max_y τ(x, y) - τ(x*, y)          E'(y*, y) = max_x τ(x, y) - τ(x, y*)

the most that exchanging a label gains across the edge, known beforehand.  As up_c(y) is at least F_c(x*) + τ(x*, y),
and down_c(x) at least G_c(y*) + τ(x, y*),

    A(x, y) ≤ a(x) = F_c(x) + E(x*, x) - F_c(x*)      B(x, y) ≤ b(y) = G_c(y) + E'(y*, y) - G_c(y*),

and A(x, y) ≤ 0 for all x of the domain of c, B(x, y) ≤ 0 for all y of that of p.  So where neither w a(x) nor
(1 - w) b(y) is positive outside the domains, no pair improves; elsewhere the pairs to look at are few.

Bounds are computed in the precision of the scores, with what rounding may have done in them; reduced costs of pairs
that these leave, in double precision.  With one label at the other end of each edge a message is a row of τ, and a
bound is the maximum of a sum of three rows.

Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), whose bound on
the same reduced cost is by maxima of τ over rows and columns; Goldstein, Efficient rotamer elimination applied to
protein side-chains (1994) for the bound by exchanges.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from problems.chain_map.kernels.tree_prices import down_message, longer, up_message
from solvers.chains.forest import NONE, Forest, Ints, Offsets
from solvers.chains.tree_messages import Duals, Model, shifted
from solvers.chains.vectors import WIDTH, above, leaf, lowest_bit, max_sum, row_max, sum_rows
from solvers.literals import whole

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
    left, right
        S of the labels of the node that are looked at, and T of those of its parent.
    lower, upper
        These labels.
    """

    rows: Rows
    message: Rows
    nothing: Rows
    left: Values
    right: Values
    lower: Ints
    upper: Ints


def room_for(exchanges: Exchanges) -> Room:
    """Room for an edge of these tables."""
    width, num, dtype = exchanges.gains.shape[1], exchanges.rows.shape[1], exchanges.rows.dtype
    return Room(
        np.full((2, width), -np.inf, dtype=dtype),
        np.empty(num, dtype=dtype),
        np.zeros((1, num), dtype=dtype),
        np.empty(width),
        np.empty(width),
        np.empty(width, dtype=np.int32),
        np.empty(width, dtype=np.int32),
    )


@njit(cache=True)
def price_by_exchanges(
    forest: Forest,
    model: Model,
    exchanges: Exchanges,
    row_bounds: Values,
    column_bounds: Values,
    duals: Duals,
    active: Offsets,
    values: Values,
    size: float,
    shares: Values,
    beyond: Values,
    bounds: Values,
    room: Room,
    position: Offsets,
    gaps: Values,
    work: float,
) -> tuple[Offsets, Ints, Ints, Values, int, int]:
    """Pairs of positive reduced cost, and what they leave of the dual bound, at messages in both directions.

    Parameters and results are those of :func:`problems.chain_map.kernels.tree_prices.price`, and so are the numbers.
    """
    num = exchanges.rows.shape[1]
    parents, first_child, next_sibling = forest.parent, forest.first_child, forest.next_sibling
    # Arrays are named here, once: to fetch one from a tuple takes longer than some of the loops below.
    scores, nothing = model.scores, room.nothing
    rows, transposed, gains, gains_above, size_of_scores, size_of_pairs = exchanges
    starts, labels, below = duals.domains
    table, beside = forest.table, duals.starts
    tables, transposed_tables = model.tables, model.transposed
    both, row0, row1 = room.rows, room.rows[0], room.rows[1]
    left, right, some, others = room.left, room.right, room.lower, room.upper
    outside = duals.outside
    nodes = np.empty(64, dtype=np.int64)
    lower = np.empty(64, dtype=np.int32)
    upper = np.empty(64, dtype=np.int32)
    reduced = np.empty(64, dtype=np.float64)
    found, priced, looked_at = 0, 0, 0
    rounding = 16 * np.finfo(np.float64).eps
    epsilon = np.float64(np.finfo(scores.dtype).eps)
    small = epsilon * 10.0 * (size_of_scores + 6.0 * size_of_pairs)  # the doubt at nodes of chains
    done = 0.0
    while position[0] < len(active) and done < work:
        tree = active[position[0]]
        first, root = forest.starts[tree], forest.starts[tree + 1] - 1
        length = root + 1 - first
        tolerance = rounding * (size + abs(values[tree]))
        gap = gaps[0]
        for node in range(first + position[1], root + 1):
            if done >= work:
                break
            position[1] += 1
            parent = parents[node]
            if shares[node] > 0:  # the end's own term of the bound
                done += num
                excess = 0.0
                if not _is_best(
                    parents, first_child, next_sibling, table, starts, labels, scores, rows, transposed, nothing,
                    small, node, row0,
                ):  # fmt: skip
                    done += 4 * num
                    doubt = _doubt(forest, exchanges, epsilon, node)
                    most, where, inside = _best_end(forest, model, exchanges, duals, room, doubt, node)
                    excess = most - values[tree]
                if excess > tolerance:
                    gap += shares[node] * excess
                    if not inside:
                        if found == len(nodes):
                            nodes, lower, upper, reduced = longer(nodes, lower, upper, reduced)
                        nodes[found], lower[found], upper[found] = node, where, NONE
                        reduced[found] = shares[node] * excess
                        found += 1
            if parent == NONE:
                continue
            priced += 1
            w, v = beyond[node], 1.0 - beyond[node]
            child, above_it = first_child[node], parents[parent]
            row, column = table[node] * num, table[parent] * num
            done += num
            single = (
                starts[node + 1] - starts[node] == 1
                and starts[parent + 1] - starts[parent] == 1
                and first_child[parent] == node
                and next_sibling[node] == NONE
                and (child == NONE or (next_sibling[child] == NONE and starts[child + 1] - starts[child] == 1))
                and (above_it == NONE or starts[above_it + 1] - starts[above_it] == 1)
            )
            if single:  # what happens at most edges of chains
                x, y = labels[starts[node]], labels[starts[parent]]
                under = table[child] * num + labels[starts[child]] if child != NONE else -1
                over = column + labels[starts[above_it]] if above_it != NONE else -1
                a = _most(rows, under, scores, node, gains, row + x, nothing, x)
                b = _most(transposed, over, scores, parent, gains_above, row + y, nothing, y)
                if a < -small and b < -small:
                    continue
                done += num
                a, b = w * a, v * b
                known, known_above = 1, 1
                num_lower = _look_at(
                    rows, under, scores, node, gains, row + x, nothing, x, (max(b, 0.0) + small) / w, row0,
                    transposed_tables, row + y, w, left, some,
                )  # fmt: skip
                num_upper = _look_at(
                    transposed, over, scores, parent, gains_above, row + y, nothing, y, (max(a, 0.0) + small) / v, row0,
                    tables, row + x, v, right, others,
                )  # fmt: skip
            else:
                done += 4 * num
                doubt = max(_doubt(forest, exchanges, epsilon, node), _doubt(forest, exchanges, epsilon, parent))
                _lay_below(forest, scores, exchanges, duals, room, node, NONE, row0)
                x = labels[_first_best(below, starts[node], starts[node + 1])]
                from_x = np.float64(both[0, x])
                for k in range(starts[node], starts[node + 1]):
                    both[0, labels[k]] = -np.inf
                i = table[node] * num + x
                a = w * (np.float64(_max_sum(both, whole(0), nothing, whole(0), gains, i)) - from_x)
                _lay_below(forest, scores, exchanges, duals, room, parent, node, row1)
                if above_it != NONE:
                    _lay_above(forest, exchanges, duals, room, parent, row1)
                y = labels[starts[parent] + _first_best(outside, beside[node], beside[node + 1]) - beside[node]]
                from_y = np.float64(both[1, y])
                for k in range(starts[parent], starts[parent + 1]):
                    both[1, labels[k]] = -np.inf
                j = table[node] * num + y
                b = v * (np.float64(_max_sum(both, whole(1), nothing, whole(0), gains_above, j)) - from_y)
                if a < -doubt and b < -doubt:
                    continue
                known, known_above = starts[node + 1] - starts[node], starts[parent + 1] - starts[parent]
                for k in range(known):
                    some[k] = labels[starts[node] + k]
                for k in range(known_above):
                    others[k] = labels[starts[parent] + k]
                num_lower = _candidates(row0, gains, i, from_x - (max(b, 0.0) + doubt) / w, some, known)
                num_upper = _candidates(row1, gains_above, j, from_y - (max(a, 0.0) + doubt) / v, others, known_above)
                _weigh(forest, model, duals, node, w, num_lower, num_upper, room)
            highest = _greatest(right, num_upper)
            num_lower = _kept(left, some, known, num_lower, row_bounds, table[node], tolerance - highest)
            highest = _greatest(left, num_lower)
            num_upper = _kept(right, others, known_above, num_upper, column_bounds, table[node], tolerance - highest)
            seen = num_lower * num_upper - known * known_above
            most, count = _improving(
                tables, row, known, known_above, num_lower, num_upper, left, right, some, others, tolerance
            )
            if count:
                while found + count > len(nodes):
                    nodes, lower, upper, reduced = longer(nodes, lower, upper, reduced)
                found = _note(
                    tables, row, known, known_above, num_lower, num_upper, left, right, some, others, tolerance, node,
                    found, nodes, lower, upper, reduced,
                )  # fmt: skip
                gap += most
            looked_at += seen
            done += 4 * seen
        gaps[0] = gap
        if position[1] == length:
            bounds[tree] = min(bounds[tree], values[tree] + gap)
            position[0] += 1
            position[1] = 0
            gaps[0] = 0.0
    return nodes[:found], lower[:found], upper[:found], reduced[:found], priced, looked_at


@leaf
def _max_sum(left: Rows, i: int, right: Rows, j: int, table: Rows, h: int) -> Any:
    """The maximum of a sum of rows: vector instructions are put where they are called, once a function."""
    return max_sum(left, i, right, j, table, h)


@leaf
def _lay(left: Rows, i: int, scores: Rows, node: int, row: Rows) -> None:
    """θ and one message, up to a constant."""
    sum_rows(row.dtype.type(0), left, i, scores, node, row)


@leaf
def _most(left: Rows, i: int, scores: Rows, node: int, gains: Rows, h: int, nothing: Rows, label: int) -> float:
    """The greatest bound of a node's other labels, less the label's own; -1 for ``i``: there is no message."""
    if i < 0:
        return np.float64(_max_sum(nothing, whole(0), scores, node, gains, h)) - np.float64(scores[node, label])
    most = np.float64(_max_sum(left, i, scores, node, gains, h))
    return most - np.float64(left[i, label] + scores[node, label])


@leaf
def _look_at(
    left: Rows,
    i: int,
    scores: Rows,
    node: int,
    gains: Rows,
    h: int,
    nothing: Rows,
    label: int,
    slack: float,
    row: Rows,
    across: Values,
    other: int,
    weight: float,
    sums: Values,
    labels: Ints,
) -> int:
    """The label of a domain of one, and the others whose bound is within a slack of its own, with S and their number.

    S is counted from F of the domain's label, so that R of the pair in the domains is 0.  Parameters are the lower
    node's; the upper one's T is S with rows and columns in each other's place, and the shares of the roots: ``across``
    is τ by rows of the label at the other end, whose row is ``other``.
    """
    if i < 0:
        _lay(nothing, whole(0), scores, node, row)
    else:
        _lay(left, i, scores, node, row)
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


@leaf
def _is_best(
    parents: Ints,
    first_child: Ints,
    next_sibling: Ints,
    table: Ints,
    starts: Offsets,
    labels: Ints,
    scores: Rows,
    rows: Rows,
    transposed: Rows,
    nothing: Rows,
    doubt: float,
    node: int,
    row: Rows,
) -> bool:
    """Whether the only label of an end of a tree is the best there; false as well where it takes more to know."""
    num, parent, child = scores.shape[1], parents[node], first_child[node]
    if starts[node + 1] - starts[node] > 1:
        return False
    label = labels[starts[node]]
    if child == NONE and parent == NONE:
        _lay(nothing, whole(0), scores, node, row)
    elif child == NONE:
        if starts[parent + 1] - starts[parent] > 1:
            return False
        _lay(transposed, table[node] * num + labels[starts[parent]], scores, node, row)
    else:
        if parent != NONE or next_sibling[child] != NONE or starts[child + 1] - starts[child] > 1:
            return False
        _lay(rows, table[child] * num + labels[starts[child]], scores, node, row)
    value = np.float64(row[label])
    row[label] = -np.inf
    return bool(np.float64(row_max(row)) < value - doubt)


@leaf
def _doubt(forest: Forest, exchanges: Exchanges, epsilon: float, node: int) -> float:
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


@leaf
def _first_best(values: Values, begin: int, end: int) -> int:
    """The place of the greatest of some values, the first of equals."""
    best = begin
    for k in range(begin + 1, end):
        if values[k] > values[best]:
            best = k
    return best


@leaf
def _lay_below(
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


@leaf
def _lay_above(forest: Forest, exchanges: Exchanges, duals: Duals, room: Room, node: int, out: Rows) -> None:
    """Add the message from above, up to a constant."""
    starts, labels, _ = duals.domains
    begin = duals.starts[node]
    _add(
        exchanges.transposed, forest.table[node] * exchanges.rows.shape[1], labels, starts[forest.parent[node]],
        duals.outside, begin, duals.starts[node + 1] - begin, room.message, out,
    )  # fmt: skip


@leaf
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
    top = sums[_first_best(sums, begin, begin + size)]
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


@leaf
def _candidates(row: Rows, gains: Rows, i: int, bound: float, out: Ints, found: int) -> int:
    """Add the labels x with ``row[x] + gains[i, x] > bound`` to those that were found; returns how many there are."""
    least = row.dtype.type(bound)
    for k in range(0, len(row), WIDTH):
        bits = above(row, k, gains, i, least)
        while bits:
            out[found] = k + lowest_bit(bits)
            found += 1
            bits &= bits - 1
    return found


@leaf
def _greatest(values: Values, count: int) -> float:
    """The greatest of the first values."""
    most: float = values[0]
    for k in range(1, count):
        most = max(most, values[k])
    return most


@leaf
def _kept(sums: Values, labels: Ints, known: int, count: int, bounds: Values, table: int, least: float) -> int:
    """Leave out labels whose sum and bound on τ are not above a number, but none of the first; how many are kept."""
    kept = known
    for k in range(known, count):
        if sums[k] + bounds[table, labels[k]] > least:
            sums[kept], labels[kept] = sums[k], labels[k]
            kept += 1
    return kept


@leaf
def _improving(
    tables: Values,
    row: int,
    known: int,
    known_above: int,
    num_lower: int,
    num_upper: int,
    left: Values,
    right: Values,
    lower: Ints,
    upper: Ints,
    tolerance: float,
) -> tuple[float, int]:
    """The greatest reduced cost of the pairs that are looked at, and how many are positive."""
    most, count = 0.0, 0
    for k in range(num_lower):
        i, cost = row + lower[k], left[k]
        for h in range(known_above if k < known else 0, num_upper):
            here = cost + tables[i, upper[h]] + right[h]
            count += here > tolerance
            most = max(most, here)
    return most, count


@leaf
def _note(
    tables: Values,
    row: int,
    known: int,
    known_above: int,
    num_lower: int,
    num_upper: int,
    left: Values,
    right: Values,
    some: Ints,
    others: Ints,
    tolerance: float,
    node: int,
    found: int,
    nodes: Offsets,
    lower: Ints,
    upper: Ints,
    reduced: Values,
) -> int:
    """Write down the pairs of positive reduced cost; returns how many pairs there are by then."""
    for k in range(num_lower):
        x = some[k]
        for h in range(known_above if k < known else 0, num_upper):
            cost = left[k] + tables[row + x, others[h]] + right[h]
            if cost > tolerance:
                nodes[found], lower[found], upper[found], reduced[found] = node, x, others[h], cost
                found += 1
    return found


@leaf
def _weigh(
    forest: Forest, model: Model, duals: Duals, node: int, w: float, num_lower: int, num_upper: int, room: Room
) -> None:
    """S and T of the labels that are looked at."""
    parent = forest.parent[node]
    for k in range(num_lower):
        x = room.lower[k]
        inside = shifted(model, node, x)  # F
        child = forest.first_child[node]
        while child != NONE:
            inside += up_message(forest, model, duals, child, x)
            child = forest.next_sibling[child]
        room.left[k] = w * inside - (1.0 - w) * down_message(forest, model, duals, node, x)
    for k in range(num_upper):
        y = room.upper[k]
        outside = shifted(model, parent, y)  # G
        if forest.parent[parent] != NONE:
            outside += down_message(forest, model, duals, parent, y)
        sibling = forest.first_child[parent]
        while sibling != NONE:
            if sibling != node:
                outside += up_message(forest, model, duals, sibling, y)
            sibling = forest.next_sibling[sibling]
        room.right[k] = (1.0 - w) * outside - w * up_message(forest, model, duals, node, y)


@leaf
def _best_end(
    forest: Forest, model: Model, exchanges: Exchanges, duals: Duals, room: Room, doubt: float, node: int
) -> tuple[float, int, bool]:
    """The best of θ and all messages into an end of a tree, whose label's it is, and whether that is in the domain."""
    starts, labels, _ = duals.domains
    row = room.rows[0]
    _lay_below(forest, model.scores, exchanges, duals, room, node, NONE, row)
    if forest.parent[node] != NONE:
        _lay_above(forest, exchanges, duals, room, node, row)
    most, where, inside, highest = -np.inf, 0, True, -np.inf
    for k in range(starts[node], starts[node + 1]):
        here = _belief(forest, model, duals, node, labels[k])
        highest = max(highest, np.float64(row[labels[k]]))
        row[labels[k]] = -np.inf
        if here > most:
            most, where = here, labels[k]
    least = model.scores.dtype.type(highest - doubt)
    if row_max(row) > least:
        for x in range(exchanges.rows.shape[1]):
            if row[x] > least:
                here = _belief(forest, model, duals, node, x)
                if here > most:
                    most, where, inside = here, x, False
    return most, where, inside


@leaf
def _belief(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """θ and all messages into a node, for one of its labels."""
    total = shifted(model, node, label)
    if forest.parent[node] != NONE:
        total += down_message(forest, model, duals, node, label)
    child = forest.first_child[node]
    while child != NONE:
        total += up_message(forest, model, duals, child, label)
        child = forest.next_sibling[child]
    return total
