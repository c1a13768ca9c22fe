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

Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), sections 3.1 and
4.3.  Its equation (9), which halves local scores between edges, has the same reduced cost as (8): the message to a
label then holds half of that label's own local score, whatever the maximum is taken over, and the halves add up again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.arrays import as_floats
from solvers.chains.forest import NONE, Forest, Ints, Offsets
from solvers.chains.tree_messages import Flags, Messages
from solvers.chains.vectors import WIDTH, above, lowest_bit, row_max

Scores = NDArray[Any]
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


@njit(cache=True)
def price(
    forest: Forest,
    scores: Scores,
    tables: Scores,
    row_bounds: Scores,
    column_bounds: Scores,
    messages: Messages,
    member: Flags,
    active: Offsets,
    values: Values,
    size: float,
    shares: Values,
    beyond: Values,
    split: bool,
    best_on: Values,
    bounds: Values,
    position: Offsets,
    gaps: Values,
    work: float,
) -> tuple[Offsets, Ints, Ints, Values, int, int]:
    """Pairs of positive reduced cost, and what they leave of the dual bound.

    Many labels make one tree take seconds, so that a call stops within a tree and the next one goes on from there.

    Edges none of whose messages have changed keep what was found for them last time.

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
    best_on
        One a node, written: max(0, max R) on its edge.
    bounds
        One a tree, lowered where the dual values prove more.
    position, gaps
        Where to go on, zeros at first: the trees that are done and the nodes of the next one; and the sum of what its
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
    num, width = scores.shape[1], row_bounds.shape[1]
    up, down, up_change, down_change, _ = messages
    nodes = np.empty(64, dtype=np.int64)
    lower = np.empty(64, dtype=np.int32)
    upper = np.empty(64, dtype=np.int32)
    reduced = np.empty(64, dtype=np.float64)
    found = 0
    left = np.full(width, -np.inf, dtype=scores.dtype)  # S
    right = np.full(width, -np.inf, dtype=scores.dtype)  # T
    some = np.empty((2, width + 1), dtype=np.int32)
    priced, looked_at = 0, 0
    rounding = 16 * np.finfo(scores.dtype).eps
    done = 0.0
    while position[0] < len(active) and done < work:
        tree = active[position[0]]
        first, root = forest.starts[tree], forest.starts[tree + 1] - 1
        tolerance = scores.dtype.type(rounding * (size + abs(values[tree])))
        gap = gaps[0]
        for node in range(first + position[1], root + 1):
            if done >= work:
                break
            position[1] += 1
            done += 1
            parent = forest.parent[node]
            if shares[node] > 0:  # the end's own term of the bound
                done += num
                most, where = -np.inf, 0
                for x in range(num):
                    belief = scores[node, x]
                    if parent != NONE:
                        belief += down[node, x]
                    child = forest.first_child[node]
                    while child != NONE:
                        belief += up[child, x]
                        child = forest.next_sibling[child]
                    if belief > most:
                        most, where = np.float64(belief), x
                excess = most - values[tree]
                if excess > tolerance:
                    gap += shares[node] * excess
                    if not member[node, where]:
                        if found == len(nodes):
                            nodes, lower, upper, reduced = _longer(nodes, lower, upper, reduced)
                        nodes[found], lower[found], upper[found] = node, where, NONE
                        reduced[found] = shares[node] * excess
                        found += 1
            if parent == NONE:
                continue
            stale = up_change[node] | down_change[node]
            if parent != root:
                stale |= down_change[parent]
            child = forest.first_child[node]
            while child != NONE:
                stale |= up_change[child]
                child = forest.next_sibling[child]
            sibling = forest.first_child[parent]
            while sibling != NONE:
                stale |= up_change[sibling]
                sibling = forest.next_sibling[sibling]
            if not stale:
                gap += best_on[node]
                continue
            priced += 1
            _sides(forest, scores, messages, node, beyond[node], split, left, right)
            seen, count, most = _pairs(
                forest.table[node],
                tables,
                row_bounds,
                column_bounds,
                member,
                node,
                parent,
                tolerance,
                left,
                right,
                some,
            )
            looked_at += seen
            done += 8 * num + seen + 4 * count
            best_on[node] = most
            gap += most
            if count:
                while found + count > len(nodes):
                    nodes, lower, upper, reduced = _longer(nodes, lower, upper, reduced)
                _note_pairs(
                    forest.table[node],
                    tables,
                    member,
                    node,
                    parent,
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
        gaps[0] = gap
        if position[1] == root + 1 - first:
            bounds[tree] = min(bounds[tree], values[tree] + gap)
            position[0] += 1
            position[1] = 0
            gaps[0] = 0.0
    return nodes[:found], lower[:found], upper[:found], reduced[:found], priced, looked_at


@njit(cache=True)
def _pairs(
    table: int,
    tables: Scores,
    row_bounds: Scores,
    column_bounds: Scores,
    member: Flags,
    node: int,
    parent: int,
    tolerance: Any,
    left: Scores,
    right: Scores,
    some: Ints,
) -> tuple[int, int, float]:
    """Look at the candidate pairs of an edge.

    Parameters
    ----------
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
    improving, best, others = 0, tolerance * 0, 0
    for k in range(0, width, WIDTH):
        bits = above(left, k, row_bounds, table, tolerance - highest)
        while bits:
            x = k + lowest_bit(bits)
            bits &= bits - 1
            others += 1
            some[1, others] = x
            inside = member[node, x]
            for j in range(1, candidates + 1):
                y = some[0, j]
                cost = left[x] + tables[table * num + x, y] + right[y]
                best = max(best, cost)
                improving += cost > tolerance and not (inside and member[parent, y])
    some[1, 0] = others
    return candidates * others, improving, np.float64(best) if best > tolerance else 0.0


@njit(cache=True)
def _note_pairs(
    table: int,
    tables: Scores,
    member: Flags,
    node: int,
    parent: int,
    tolerance: Any,
    left: Scores,
    right: Scores,
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
            if cost > tolerance and not (member[node, x] and member[parent, y]):
                nodes[found], lower[found], upper[found], reduced[found] = node, x, y, cost
                found += 1


@njit(cache=True)
def _sides(
    forest: Forest,
    scores: Scores,
    messages: Messages,
    node: int,
    share: float,
    split: bool,
    left: Scores,
    right: Scores,
) -> None:
    """S and T of the edge above a node, in one pass each for a node of a chain."""
    num, parent = scores.shape[1], forest.parent[node]
    up, down = messages.up, messages.down
    w, v, half = scores.dtype.type(share), scores.dtype.type(1.0 - share), scores.dtype.type(0.5)
    child, sibling = forest.first_child[node], forest.first_child[parent]
    has_above = forest.parent[parent] != NONE
    if v == 0:
        if split:  # equation (9) as it stands
            for x in range(num):
                left[x] = half * scores[node, x] + half * scores[node, x]
                right[x] = half * scores[parent, x] - (up[node, x] + half * scores[parent, x])
        else:
            for x in range(num):
                left[x] = scores[node, x]
                right[x] = -up[node, x]
    elif has_above:
        for x in range(num):
            left[x] = w * scores[node, x] - v * down[node, x]
            right[x] = v * (scores[parent, x] + down[parent, x]) - w * up[node, x]
    else:
        for x in range(num):
            left[x] = w * scores[node, x] - v * down[node, x]
            right[x] = v * scores[parent, x] - w * up[node, x]
    while child != NONE:
        for x in range(num):
            left[x] += w * up[child, x]
        child = forest.next_sibling[child]
    while sibling != NONE:
        if sibling != node and v > 0:
            for x in range(num):
                right[x] += v * up[sibling, x]
        sibling = forest.next_sibling[sibling]


@njit(cache=True)
def _longer(nodes: Offsets, lower: Ints, upper: Ints, reduced: Values) -> tuple[Offsets, Ints, Ints, Values]:
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
    scores: Scores,
    tables: Scores,
    messages: Messages,
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
    num = scores.shape[1]
    up, down = messages.up, messages.down
    out = np.empty(len(nodes))
    for k in range(len(nodes)):
        node, x, y = nodes[k], lower[k], upper[k]
        parent = forest.parent[node]
        inside = np.float64(scores[node, x])  # F
        child = forest.first_child[node]
        while child != NONE:
            inside += np.float64(up[child, x])
            child = forest.next_sibling[child]
        if y == NONE:
            if parent != NONE:
                inside += np.float64(down[node, x])
            out[k] = shares[node] * (inside - values[node])
            continue
        pair = np.float64(tables[forest.table[node] * num + x, y])
        total = beyond[node] * (inside + pair - np.float64(up[node, y]))
        if beyond[node] < 1:
            outside = np.float64(scores[parent, y])  # G
            if forest.parent[parent] != NONE:
                outside += np.float64(down[parent, y])
            sibling = forest.first_child[parent]
            while sibling != NONE:
                if sibling != node:
                    outside += np.float64(up[sibling, y])
                sibling = forest.next_sibling[sibling]
            total += (1.0 - beyond[node]) * (outside + pair - np.float64(down[node, x]))
        out[k] = total
    return out
