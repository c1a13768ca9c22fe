"""Improving pairs of labels, found by maxima of the tables without computing all reduced costs.

The reduced cost of a pair is R = S(x) + τ(x, y) + T(y) (:mod:`colgen.problems.chain_map.kernels.pair_prices`).
Candidates for y satisfy T(y) + max S + max_x τ(x, y) > 0. Candidates for x then satisfy S(x) + max T + max_y τ(x, y) >
0, with the maximum of T over the candidates. The maxima of the tables are precomputed. Reduced costs are computed only
for pairs of candidates.

The messages of all labels are computed here from those of the domains, tree by tree, and discarded. The messages of a
batch would not fit into the processor's cache, and loading them would take longer than computing them.

Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), section 4.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.chain_map.kernels.pair_prices import (
    PairCandidates,
    PairList,
    Prices,
    Side,
    allocate_side,
    append_end,
    append_pairs,
    greatest,
)
from colgen.solvers.chains.forest import NONE, Forest, Offsets
from colgen.solvers.chains.tree_domains import Domains
from colgen.solvers.chains.tree_messages import fill_message, fill_scores
from colgen.solvers.kernels import inner, kernel
from colgen.solvers.vectors import WIDTH, above, lowest_bit, padded, row_max

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]


class Scratch(NamedTuple):
    """Working memory for the tree that is being priced; an interrupted call continues from it."""

    scores: Values  # θ of the tree's nodes
    up: Values  # its messages, for all labels
    down: Values
    left: Values  # S of an edge, padded by -inf
    right: Values  # T of an edge, padded by -inf
    lower: Side  # candidate labels of an edge
    upper: Side
    held: Flags  # marks the labels of a domain; all false between two calls


def allocate_scratch(forest: Forest, num: int) -> Scratch:
    """Allocate working memory for the largest tree, with ``num`` labels."""
    shape, width = (int(np.diff(forest.starts).max()), num), padded(num)
    return Scratch(
        np.empty(shape),
        np.empty(shape),
        np.empty(shape),
        np.full(width, -np.inf),
        np.full(width, -np.inf),
        allocate_side(width),
        allocate_side(width),
        np.zeros(num, dtype=np.bool_),
    )


@kernel
def price(
    prices: Prices,
    split: bool,
    scratch: Scratch,
    pairs: PairList,
    position: Offsets,
    gaps: Values,
    work: float,
) -> tuple[int, int, int, bool]:
    """List the pairs of positive reduced cost, and lower the dual bounds.

    One tree with many labels can take seconds. So a call may stop within a tree, and the next one continues there.

    Parameters
    ----------
    split
        Use halved local scores, equation (9), if messages flow one way; equal up to rounding.
    pairs
        Written. Pairs within the domains and differences explained by rounding are left out.
    position, gaps
        State between calls, zeros at first: the finished trees and the steps of the current one; the gap of its nodes
        so far.
    work
        A call ends after about this many additions, after the last tree, or if the pairs of a node do not fit.

    Returns
    -------
    found, priced, computed, full
        Pairs written, edges priced, reduced costs computed, and whether the list of pairs is full.
    """
    forest, model, duals, row_bounds, column_bounds, active, values, size, shares, beyond, bounds = prices
    num = model.scores.shape[1]
    domains = duals.domains
    parents, table = forest.parent, forest.table
    starts, labels, below = domains
    scores, up, down, left, right, lower, upper, held = scratch
    found, priced, computed, full = 0, 0, 0, False
    rounding = 16 * np.finfo(np.float64).eps
    done = 0.0
    while position[0] < len(active) and done < work and not full:
        tree = active[position[0]]
        first, root = forest.starts[tree], forest.starts[tree + 1] - 1
        length = root + 1 - first
        tolerance = rounding * (size + abs(values[tree]))
        while position[1] < length and done < work:
            node, row = first + position[1], position[1]
            fill_scores(model.scores, model.tops, model.low, node, scores, row)
            done += num
            if node != root:
                begin, entries = starts[node], starts[node + 1] - starts[node]
                fill_message(model.tables, table[node] * num, labels, begin, below, begin, entries, up, row)
                done += num * entries
            if beyond[node] < 1:  # otherwise messages flow up only
                begin, entries = duals.starts[node], duals.starts[node + 1] - duals.starts[node]
                at = starts[parents[node]]
                fill_message(model.transposed, table[node] * num, labels, at, duals.outside, begin, entries, down, row)
                done += num * entries
            position[1] += 1
        for node in range(first + position[1] - length, root + 1):
            if done >= work:
                break
            done += 1
            here, gap = found, 0.0  # pairs and gap including this node's: committed when all its pairs fit
            if shares[node] > 0:  # the term of an end in the bound
                done += num
                most, where = _best_belief(forest, first, node, scores, up, down, left)
                excess = most - values[tree]
                if excess > tolerance:
                    gap = shares[node] * excess
                    if not _contains(domains, node, where):
                        here = append_end(node, where, gap, pairs, here)
                        full = here < 0
                        if full:
                            break
            if parents[node] != NONE:
                _sides(forest, first, scores, up, down, node, beyond[node], split, left, right)
                known_above, num_above = _candidates(
                    domains, parents[node], right, column_bounds, table[node], tolerance - row_max(left), held, upper
                )
                done += 8 * num
                if num_above:
                    least = tolerance - greatest(upper.sums, num_above)
                    known, num_below = _candidates(domains, node, left, row_bounds, table[node], least, held, lower)
                    some, others = (
                        PairCandidates(lower, known, num_below),
                        PairCandidates(upper, known_above, num_above),
                    )
                    most, here = append_pairs(
                        model.tables, table[node] * num, node, some, others, tolerance, pairs, here
                    )
                    full = here < 0
                    if full:
                        break
                    gap += most
                    seen = num_below * num_above - known * known_above
                    computed += seen
                    done += seen
                priced += 1
            gaps[0] += gap
            found = here
            position[1] += 1
        if position[1] == 2 * length:
            bounds[tree] = min(bounds[tree], values[tree] + gaps[0])
            position[0] += 1
            position[1] = 0
            gaps[0] = 0.0
    return found, priced, computed, full


@inner
def _contains(domains: Domains, node: int, label: int) -> bool:
    """Return whether a label is in a node's domain."""
    found = False
    for k in range(domains.starts[node], domains.starts[node + 1]):
        found |= domains.labels[k] == label
    return found


@inner
def _best_belief(
    forest: Forest, first: int, node: int, scores: Values, up: Values, down: Values, row: Values
) -> tuple[float, int]:
    """Return the best sum of θ and all messages into a node, and its label."""
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


@inner
def _candidates(
    domains: Domains, node: int, row: Values, bounds: Values, table: int, least: float, held: Flags, side: Side
) -> tuple[int, int]:
    """List the labels whose ``row`` plus bound on τ exceeds ``least``; return how many are in the domain, and in total.

    ``held`` is all false before and after.
    """
    starts, labels, _ = domains
    known = 0
    for k in range(starts[node], starts[node + 1]):
        x = labels[k]
        held[x] = True
        if row[x] + bounds[table, x] > least:
            side.labels[known], side.sums[known] = x, row[x]
            known += 1
    count = known
    for k in range(0, len(row), WIDTH):
        bits = above(row, k, bounds, table, least)
        while bits:
            x = k + lowest_bit(bits)
            bits &= bits - 1
            if not held[x]:
                side.labels[count], side.sums[count] = x, row[x]
                count += 1
    for k in range(starts[node], starts[node + 1]):
        held[labels[k]] = False
    return known, count


@inner
def _sides(
    forest: Forest,
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
    """Write S and T of the edge above a node, in one pass each for a node of a chain."""
    parents, first_child, next_sibling = forest.parent, forest.first_child, forest.next_sibling
    num, parent = scores.shape[1], parents[node]
    w, v = share, 1.0 - share
    here, over, child = node - first, parent - first, first_child[node]
    below = child - first if child != NONE else here  # an existing message, or any row, with weight u = 0
    u = w if child != NONE else 0.0
    if v == 0:
        if split:  # equation (9) as published
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
