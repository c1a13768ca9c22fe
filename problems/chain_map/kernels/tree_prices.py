"""Reduced costs of label pairs in trees: the pairs that would improve restricted domains, found without looking at all.

Along the edge of node c to its parent p, with the messages of :mod:`solvers.chains.tree_messages`, each pair of labels
has two slacks, one for each direction in which messages can pass the edge:

    A(x, y) = F_c(x) + τ(x, y) - up_c(y)          B(x, y) = G_c(y) + τ(x, y) - down_c(x)

Choose any node r as the root.  Summed over the edges of a labelling, A on edges whose messages flow up to r and B on
the others, the messages cancel: its score is b_r(x_r) + Σ_e (A or B), where b_r = θ_r + all messages into r.
So r gives dual values with these reduced costs, and so does every convex combination of roots.  With the share w_e
of roots beyond the edge, the reduced cost is R_e = w_e A + (1 - w_e) B: for roots at both ends of a chain w = 1/2,
which is equation (12) halved; for its last node alone w = 1, equation (8).  The optimum is at most

    Σ_r share_r max_x b_r(x) + Σ_e max(0, max R_e).

R_e(x, y) = S(x) + τ(x, y) + T(y) with S = w F - (1 - w) down and T = (1 - w) G - w up.  Candidates for y are those
with T(y) + max S + max_x τ(x, y) > 0, then those for x with S(x) + max T + max_y τ(x, y) > 0, the maximum of T taken
over the candidates: maxima of tables are known beforehand.  Only pairs of candidates are looked at.

Messages of all labels are made here, tree by tree, from those of the domains, and forgotten: a batch's would not fit
into a processor's memory, and to fetch them would take longer than to make them.

Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), sections 3.1 and
4.3.  Its equation (9), which halves local scores between edges, has the same reduced cost as (8): the message to a
label then holds half of that label's own local score, whatever the maximum is taken over, and the halves add up again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.arrays import as_floats
from solvers.chains.forest import NONE, Forest, Ints, Offsets
from solvers.chains.tree_domains import Domains
from solvers.chains.tree_messages import Duals, Model, fill_message, fill_scores, shifted
from solvers.chains.vectors import WIDTH, above, leaf, lowest_bit, row_max
from solvers.literals import truth

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]


def root_shares(forest: Forest, both_ways: bool) -> Values:
    """Shares of the roots that messages are taken to flow to, one a node; a tree's sum to 1.

    Parameters
    ----------
    both_ways
        All ends of a tree (nodes with one neighbour, or none), with equal shares; otherwise the root alone.
    """
    shares = np.zeros(forest.num_nodes)
    if both_ways:
        _ends(forest, shares)
    else:
        shares[forest.starts[1:] - 1] = 1.0
    return shares


def roots_beyond(forest: Forest, shares: Values) -> Values:
    """Share of the roots beyond the edge of each node to its parent, w; 1 at a root."""
    shares = as_floats(shares, "shares", shape=(forest.num_nodes,))
    beyond = np.empty(forest.num_nodes)
    _beyond(forest, shares, beyond)
    return beyond


@njit(cache=True)
def _ends(forest: Forest, shares: Values) -> None:
    for tree in range(len(forest.starts) - 1):
        first, end = forest.starts[tree], forest.starts[tree + 1]
        count = 0
        for node in range(first, end):
            child = forest.first_child[node]
            neighbours = int(forest.parent[node] != NONE)
            while child != NONE:
                neighbours += 1
                child = forest.next_sibling[child]
            if neighbours <= 1:
                shares[node] = 1.0
                count += 1
        for node in range(first, end):
            shares[node] /= count


@njit(cache=True)
def _beyond(forest: Forest, shares: Values, beyond: Values) -> None:
    within = shares.copy()
    for node in range(len(shares)):
        beyond[node] = 1.0 - within[node]
        if forest.parent[node] != NONE:
            within[forest.parent[node]] += within[node]
        else:
            beyond[node] = 1.0


class Scratch(NamedTuple):
    """Room for the tree that is being priced; a call that stops within a tree finds there what it needs to go on.

    Attributes
    ----------
    scores, up, down
        θ of its nodes, and its messages, for all labels.
    """

    scores: Values
    up: Values
    down: Values


def scratch_for(forest: Forest, num: int) -> Scratch:
    """Room for the largest tree, with so many labels."""
    shape = (int(np.diff(forest.starts).max()), num)
    return Scratch(np.empty(shape), np.empty(shape), np.empty(shape))


@njit(cache=True)
def price(
    forest: Forest,
    model: Model,
    row_bounds: Values,
    column_bounds: Values,
    duals: Duals,
    active: Offsets,
    values: Values,
    size: float,
    shares: Values,
    beyond: Values,
    split: bool,
    bounds: Values,
    scratch: Scratch,
    position: Offsets,
    gaps: Values,
    work: float,
) -> tuple[Offsets, Ints, Ints, Values, int, int]:
    """Pairs of positive reduced cost, and what they leave of the dual bound.

    Many labels make one tree take seconds, so that a call stops within a tree and the next one goes on from there.

    Parameters
    ----------
    row_bounds, column_bounds
        max_y τ(x, y) and max_x τ(x, y), shape (tables, labels), padded by -inf to a multiple of 16.
    values
        Of the trees' best labellings.
    size
        The largest magnitude among scores and tables: with that of a tree's value, what rounding is relative to.
    split
        Compute with halved local scores, equation (9), where messages flow one way; the same up to rounding.
    bounds
        One a tree, lowered where the dual values prove more.
    position, gaps
        Where to go on, zeros at first: the trees that are done and the steps of the next one; and the sum of what its
        nodes have left of the bound, one number.  Rewritten.
    work
        A call ends after about so many sums, or with the last tree.

    Returns
    -------
    nodes, lower, upper, reduced_costs
        A pair each: the edge's node, its label and its parent's; or, for the term of an end, the node, its label and
        ``NONE``.  Pairs that are within the domains are left out, and so are differences that rounding explains.
    priced, looked_at
        Edges whose reduced costs were bounded, and pairs that were looked at.
    """
    num, width = model.scores.shape[1], row_bounds.shape[1]
    domains = duals.domains
    # Arrays are named here, once: to fetch one from a tuple takes longer than some of the loops below.
    parents, first_child, next_sibling, table = forest.parent, forest.first_child, forest.next_sibling, forest.table
    given, tops, tables, transposed = model.scores, model.tops, model.tables, model.transposed
    starts, labels, below = domains
    low = model.low
    above_starts, outside = duals.starts, duals.outside
    scores, up, down = scratch
    nodes = np.empty(64, dtype=np.int64)
    lower = np.empty(64, dtype=np.int32)
    upper = np.empty(64, dtype=np.int32)
    reduced = np.empty(64, dtype=np.float64)
    found = 0
    left = np.full(width, -np.inf)  # S
    right = np.full(width, -np.inf)  # T
    some = np.empty((2, width + 1), dtype=np.int32)
    inside, above_it = np.zeros(num, dtype=np.bool_), np.zeros(num, dtype=np.bool_)
    priced, looked_at = 0, 0
    rounding = 16 * np.finfo(np.float64).eps
    done = 0.0
    while position[0] < len(active) and done < work:
        tree = active[position[0]]
        first, root = forest.starts[tree], forest.starts[tree + 1] - 1
        length = root + 1 - first
        tolerance = rounding * (size + abs(values[tree]))
        while position[1] < length and done < work:
            node, row = first + position[1], position[1]
            fill_scores(given, tops, low, node, scores, row)
            done += num
            if node != root:
                begin, entries = starts[node], starts[node + 1] - starts[node]
                fill_message(tables, table[node] * num, labels, begin, below, begin, entries, up, row)
                done += num * entries
            if beyond[node] < 1:  # otherwise messages flow up only
                begin, entries = above_starts[node], above_starts[node + 1] - above_starts[node]
                at = starts[parents[node]]
                fill_message(transposed, table[node] * num, labels, at, outside, begin, entries, down, row)
                done += num * entries
            position[1] += 1
        gap = gaps[0]
        for node in range(first + position[1] - length, root + 1):
            if done >= work:
                break
            position[1] += 1
            done += 1
            parent = parents[node]
            if shares[node] > 0:  # the end's own term of the bound
                done += num
                most, where = _best_belief(forest, first, node, scores, up, down, left)
                excess = most - values[tree]
                if excess > tolerance:
                    gap += shares[node] * excess
                    if not _holds(domains, node, where):
                        if found == len(nodes):
                            nodes, lower, upper, reduced = longer(nodes, lower, upper, reduced)
                        nodes[found], lower[found], upper[found] = node, where, NONE
                        reduced[found] = shares[node] * excess
                        found += 1
            if parent == NONE:
                continue
            priced += 1
            _sides(parents, first_child, next_sibling, first, scores, up, down, node, beyond[node], split, left, right)
            _mark(starts, labels, node, inside, truth(True))
            _mark(starts, labels, parent, above_it, truth(True))
            seen, count, most = _pairs(
                table[node], tables, row_bounds, column_bounds, inside, above_it, tolerance, left, right,
                some,
            )  # fmt: skip
            looked_at += seen
            done += 8 * num + seen + 4 * count
            gap += most
            if count:
                while found + count > len(nodes):
                    nodes, lower, upper, reduced = longer(nodes, lower, upper, reduced)
                _note_pairs(
                    table[node],
                    tables,
                    inside,
                    above_it,
                    node,
                    tolerance,
                    left,
                    right,
                    some,
                    nodes[found : found + count],
                    lower[found : found + count],
                    upper[found : found + count],
                    reduced[found : found + count],
                )
                found += count
            _mark(starts, labels, node, inside, truth(False))
            _mark(starts, labels, parent, above_it, truth(False))
        gaps[0] = gap
        if position[1] == 2 * length:
            bounds[tree] = min(bounds[tree], values[tree] + gap)
            position[0] += 1
            position[1] = 0
            gaps[0] = 0.0
    return nodes[:found], lower[:found], upper[:found], reduced[:found], priced, looked_at


@leaf
def _holds(domains: Domains, node: int, label: int) -> bool:
    """Whether a label is in a node's domain."""
    found = False
    for k in range(domains.starts[node], domains.starts[node + 1]):
        found |= domains.labels[k] == label
    return found


@leaf
def _mark(starts: Offsets, labels: Ints, node: int, flags: Flags, value: bool) -> None:
    """Set the flags of the labels of a node's domain."""
    for k in range(starts[node], starts[node + 1]):
        flags[labels[k]] = value


@leaf
def _best_belief(
    forest: Forest, first: int, node: int, scores: Values, up: Values, down: Values, row: Values
) -> tuple[float, int]:
    """The best of θ and all messages into a node, and whose label's it is."""
    num = scores.shape[1]
    for x in range(num):
        row[x] = scores[node - first, x]
    if forest.parent[node] != NONE:
        for x in range(num):
            row[x] += down[node - first, x]
    child = forest.first_child[node]
    while child != NONE:
        for x in range(num):
            row[x] += up[child - first, x]
        child = forest.next_sibling[child]
    where = int(np.argmax(row[:num]))
    return float(row[where]), where


@leaf
def _pairs(
    table: int,
    tables: Values,
    row_bounds: Values,
    column_bounds: Values,
    inside: Flags,
    above_it: Flags,
    tolerance: float,
    left: Values,
    right: Values,
    some: Ints,
) -> tuple[int, int, float]:
    """Look at the candidate pairs of an edge.

    Parameters
    ----------
    inside, above_it
        Which labels are in the domains of the edge's node and of its parent.
    some
        Written: in either row the number of candidates, and then the candidates, for y and for x.

    Returns
    -------
    looked_at, improving, best
        Pairs looked at, those of them that improve and are not in the domains, and max(0, max R).
    """
    num, width = tables.shape[1], len(left)
    some[0, 0] = some[1, 0] = 0
    candidates = 0
    highest = row_max(left)
    for k in range(0, width, WIDTH):
        bits = above(right, k, column_bounds, table, tolerance - highest)
        while bits:
            candidates += 1
            some[0, candidates] = k + lowest_bit(bits)
            bits &= bits - 1
    if candidates == 0:
        return 0, 0, 0.0
    some[0, 0] = candidates
    highest = right[some[0, 1]]
    for j in range(2, candidates + 1):
        highest = max(highest, right[some[0, j]])
    improving, best, others = 0, 0.0, 0
    for k in range(0, width, WIDTH):
        bits = above(left, k, row_bounds, table, tolerance - highest)
        while bits:
            x = k + lowest_bit(bits)
            bits &= bits - 1
            others += 1
            some[1, others] = x
            for j in range(1, candidates + 1):
                y = some[0, j]
                cost = left[x] + tables[table * num + x, y] + right[y]
                best = max(best, cost)
                improving += cost > tolerance and not (inside[x] and above_it[y])
    some[1, 0] = others
    return candidates * others, improving, best if best > tolerance else 0.0


@leaf
def _note_pairs(
    table: int,
    tables: Values,
    inside: Flags,
    above_it: Flags,
    node: int,
    tolerance: float,
    left: Values,
    right: Values,
    some: Ints,
    nodes: Offsets,
    lower: Ints,
    upper: Ints,
    reduced: Values,
) -> None:
    """Write down the pairs that :func:`_pairs` counted."""
    num, found = tables.shape[1], 0
    for i in range(1, some[1, 0] + 1):
        x = some[1, i]
        for j in range(1, some[0, 0] + 1):
            y = some[0, j]
            cost = left[x] + tables[table * num + x, y] + right[y]
            if cost > tolerance and not (inside[x] and above_it[y]):
                nodes[found], lower[found], upper[found], reduced[found] = node, x, y, cost
                found += 1


@leaf
def _sides(
    parents: Ints,
    first_child: Ints,
    next_sibling: Ints,
    first: int,
    scores: Values,
    up: Values,
    down: Values,
    node: int,
    share: float,
    split: bool,
    left: Values,
    right: Values,
) -> None:
    """S and T of the edge above a node, in one pass each for a node of a chain."""
    num, parent = scores.shape[1], parents[node]
    w, v = share, 1.0 - share
    here, over, child = node - first, parent - first, first_child[node]
    below = child - first if child != NONE else here  # a message that is there, or anything
    u = w if child != NONE else 0.0
    if v == 0:
        if split:  # equation (9) as it stands
            for x in range(num):
                left[x] = 0.5 * scores[here, x] + (0.5 * scores[here, x] + u * up[below, x])
                right[x] = 0.5 * scores[over, x] - (up[here, x] + 0.5 * scores[over, x])
        else:
            for x in range(num):
                left[x] = scores[here, x] + u * up[below, x]
                right[x] = -up[here, x]
    else:
        for x in range(num):
            left[x] = w * scores[here, x] + u * up[below, x] - v * down[here, x]
        if parents[parent] != NONE:
            for x in range(num):
                right[x] = v * (scores[over, x] + down[over, x]) - w * up[here, x]
        else:
            for x in range(num):
                right[x] = v * scores[over, x] - w * up[here, x]
        sibling = first_child[parent]
        while sibling != NONE:
            if sibling != node:
                for x in range(num):
                    right[x] += v * up[sibling - first, x]
            sibling = next_sibling[sibling]
    child = next_sibling[child] if child != NONE else NONE
    while child != NONE:
        for x in range(num):
            left[x] += w * up[child - first, x]
        child = next_sibling[child]


@njit(cache=True)
def longer(nodes: Offsets, lower: Ints, upper: Ints, reduced: Values) -> tuple[Offsets, Ints, Ints, Values]:
    """Arrays of pairs with twice the room."""
    nothing = np.empty(len(nodes), dtype=np.int32)
    return (
        np.concatenate((nodes, np.empty(len(nodes), dtype=np.int64))),
        np.concatenate((lower, nothing)),
        np.concatenate((upper, nothing)),
        np.concatenate((reduced, np.empty(len(nodes), dtype=np.float64))),
    )


@njit(cache=True)
def reduced_costs(
    forest: Forest,
    model: Model,
    duals: Duals,
    values: Values,
    shares: Values,
    beyond: Values,
    nodes: Offsets,
    lower: Ints,
    upper: Ints,
) -> Values:
    """Reduced costs of pairs, as the module's head defines them; of ends' labels where ``upper`` is ``NONE``.

    ``values`` holds the score of the best labelling of each node's tree.
    """
    num = model.scores.shape[1]
    out = np.empty(len(nodes))
    for k in range(len(nodes)):
        node, x, y = nodes[k], lower[k], upper[k]
        parent = forest.parent[node]
        inside = shifted(model, node, x)  # F
        child = forest.first_child[node]
        while child != NONE:
            inside += up_message(forest, model, duals, child, x)
            child = forest.next_sibling[child]
        if y == NONE:
            if parent != NONE:
                inside += down_message(forest, model, duals, node, x)
            out[k] = shares[node] * (inside - values[node])
            continue
        pair = model.tables[forest.table[node] * num + x, y]
        total = beyond[node] * (inside + pair - up_message(forest, model, duals, node, y))
        if beyond[node] < 1:
            outside = shifted(model, parent, y)  # G
            if forest.parent[parent] != NONE:
                outside += down_message(forest, model, duals, parent, y)
            sibling = forest.first_child[parent]
            while sibling != NONE:
                if sibling != node:
                    outside += up_message(forest, model, duals, sibling, y)
                sibling = forest.next_sibling[sibling]
            total += (1.0 - beyond[node]) * (outside + pair - down_message(forest, model, duals, node, x))
        out[k] = total
    return out


@leaf
def up_message(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """The message up of a node, for one label of its parent."""
    starts, candidates, below = duals.domains
    first_row, most = forest.table[node] * model.scores.shape[1], -np.inf
    for k in range(starts[node], starts[node + 1]):
        most = max(most, below[k] + model.tables[first_row + candidates[k], label])
    return most


@leaf
def down_message(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """The message down to a node, for one of its labels."""
    starts, candidates, _ = duals.domains
    begin, row, most = starts[forest.parent[node]], forest.table[node] * model.scores.shape[1] + label, -np.inf
    for k in range(duals.starts[node], duals.starts[node + 1]):
        most = max(most, duals.outside[k] + model.tables[row, candidates[begin + k - duals.starts[node]]])
    return most
