"""Reduced costs of label pairs in trees, bounded by the gain of exchanging labels; most edges need no look at pairs.

The reduced cost of a pair is R = w A + (1 - w) B (:mod:`colgen.problems.chain_map.kernels.pair_prices`). Let x* be the
label with the best F_c in the domain of node c, and y* the label with the best G_c in the domain of its parent p. Then

    E(x*, x) = max_y τ(x, y) - τ(x*, y)          E'(y*, y) = max_x τ(x, y) - τ(x, y*)

are the largest gains of exchanging a label across the edge; they are precomputed. Since up_c(y) ≥ F_c(x*) + τ(x*, y)
and down_c(x) ≥ G_c(y*) + τ(x, y*),

    A(x, y) ≤ a(x) = F_c(x) + E(x*, x) - F_c(x*)      B(x, y) ≤ b(y) = G_c(y) + E'(y*, y) - G_c(y*).

Moreover, A(x, y) ≤ 0 for all x in the domain of c, and B(x, y) ≤ 0 for all y in that of p. So no pair improves if
neither w a(x) nor (1 - w) b(y) is positive outside the domains. Otherwise few pairs remain to be checked.

The bounds are computed in the precision of the scores, with an allowance for rounding. The reduced costs of the
remaining pairs are computed in double precision. If the domain at the other end of each edge has one label, a message
is a row of τ, and a bound is the maximum of a sum of three rows.

Sources: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), who bound the
same reduced cost by maxima of τ over rows and columns; Goldstein, Efficient rotamer elimination applied to protein
side-chains (1994), for the bound by exchanges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.problems.chain_map.kernels.exchange_bounds import (
    EdgeScratch,
    End,
    Exchanges,
    add_above,
    candidates,
    error_at,
    first_best,
    is_best,
    largest_gain,
    list_candidates,
    max_of_rows,
    write_below,
)
from colgen.problems.chain_map.kernels.pair_prices import (
    PairCandidates,
    PairList,
    Prices,
    Side,
    above_edge,
    append_end,
    append_pairs,
    belief,
    below_edge,
    down_message,
    greatest,
    up_message,
)
from colgen.solvers.chains.forest import NONE, Forest, Offsets
from colgen.solvers.chains.tree_messages import Duals, Model
from colgen.solvers.kernels import inner, int64, kernel
from colgen.solvers.vectors import row_max

Rows = NDArray[Any]
Values = NDArray[np.float64]


@kernel
def price_by_exchanges(
    prices: Prices,
    exchanges: Exchanges,
    scratch: EdgeScratch,
    pairs: PairList,
    position: Offsets,
    gaps: Values,
    work: float,
    proved: Offsets,
) -> tuple[int, int, int, bool]:
    """List the pairs of positive reduced cost, and lower the dual bounds, with messages in both directions.

    Parameters and results are those of :func:`colgen.problems.chain_map.kernels.tree_prices.price`. ``proved`` has one
    entry per edge, -1 before the first call. It encodes the single labels around the edge for which the bounds proved
    that no pair improves. For the same labels in the same model, the bounds are not computed again.
    """
    forest, model, duals, row_bounds, column_bounds, active, values, size, shares, beyond, bounds = prices
    rows, transposed, gains, gains_above, size_of_scores, size_of_pairs = exchanges
    parents, first_child, next_sibling, table = forest.parent, forest.first_child, forest.next_sibling, forest.table
    scores, nothing, row0 = model.scores, scratch.nothing, scratch.rows[0]
    starts, labels, _ = duals.domains
    num = rows.shape[1]
    found, priced, computed, full = 0, 0, 0, False
    rounding = 16 * np.finfo(np.float64).eps
    epsilon = np.float64(np.finfo(scores.dtype).eps)
    small = epsilon * 10.0 * (size_of_scores + 6.0 * size_of_pairs)  # the allowance for rounding at nodes of chains
    done = 0.0
    while position[0] < len(active) and done < work and not full:
        tree = active[position[0]]
        first, root = forest.starts[tree], forest.starts[tree + 1] - 1
        tolerance = rounding * (size + abs(values[tree]))
        for node in range(first + position[1], root + 1):
            if done >= work:
                break
            parent = parents[node]
            here, gap = found, 0.0  # pairs and gap including this node's: committed when all its pairs fit
            if shares[node] > 0:  # the term of an end in the bound
                done += num
                excess = 0.0
                if not is_best(forest, scores, exchanges, duals, scratch, small, node):
                    done += 4 * num
                    most, where, inside = _best_end(
                        forest, model, exchanges, duals, scratch, error_at(forest, exchanges, epsilon, node), node
                    )
                    excess = most - values[tree]
                if excess > tolerance:
                    gap = shares[node] * excess
                    if not inside:
                        here = append_end(node, where, gap, pairs, here)
                        full = here < 0
                        if full:
                            break
            if parent != NONE:
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
                known, known_above, num_lower, num_upper = 1, 1, 0, 0
                if single:  # the usual case for edges of chains
                    x, y = int(labels[starts[node]]), int(labels[starts[parent]])
                    lowest = int(labels[starts[child]]) if child != NONE else -1
                    highest = int(labels[starts[above_it]]) if above_it != NONE else -1
                    around = ((x * num + y) * (num + 1) + lowest + 1) * (num + 1) + highest + 1
                    is_new = proved[node] != around
                    under = table[child] * num + lowest if child != NONE else -1
                    over = column + highest if above_it != NONE else -1
                    lower = End(node, x, rows, under, gains, row + x)
                    upper = End(int(parent), y, transposed, over, gains_above, row + y)
                    a = b = -np.inf
                    if is_new:
                        a, b = largest_gain(lower, scores, nothing), largest_gain(upper, scores, nothing)
                    else:
                        priced -= 1
                    if is_new and not (a >= -small or b >= -small):
                        proved[node] = around
                    elif is_new:
                        done += num
                        slack, slack_above = (max(v * b, 0.0) + small) / w, (max(w * a, 0.0) + small) / v
                        num_lower = list_candidates(
                            lower, scores, nothing, row0, slack, model.transposed, row + y, w, scratch.lower
                        )
                        num_upper = list_candidates(
                            upper, scores, nothing, row0, slack_above, model.tables, row + x, v, scratch.upper
                        )
                else:
                    done += 4 * num
                    known, known_above = starts[node + 1] - starts[node], starts[parent + 1] - starts[parent]
                    num_lower, num_upper = _list_around(forest, model, exchanges, duals, scratch, epsilon, w, node)
                if num_lower:
                    least = tolerance - greatest(scratch.upper.sums, num_upper)
                    num_lower = _filter_side(scratch.lower, known, num_lower, row_bounds, table[node], least)
                    least = tolerance - greatest(scratch.lower.sums, num_lower)
                    num_upper = _filter_side(scratch.upper, known_above, num_upper, column_bounds, table[node], least)
                    some = PairCandidates(scratch.lower, known, num_lower)
                    others = PairCandidates(scratch.upper, known_above, num_upper)
                    most, here = append_pairs(model.tables, row, node, some, others, tolerance, pairs, here)
                    full = here < 0
                    if full:
                        break
                    gap += most
                    seen = num_lower * num_upper - known * known_above
                    computed += seen
                    done += 4 * seen
            gaps[0] += gap
            found = here
            position[1] += 1
        if position[1] == root + 1 - first:
            bounds[tree] = min(bounds[tree], values[tree] + gaps[0])
            position[0] += 1
            position[1] = 0
            gaps[0] = 0.0
    return found, priced, computed, full


@inner
def _list_around(
    forest: Forest,
    model: Model,
    exchanges: Exchanges,
    duals: Duals,
    scratch: EdgeScratch,
    epsilon: float,
    w: float,
    node: int,
) -> tuple[int, int]:
    """List the candidate labels of an edge between domains of any size; return their numbers at both ends, or 0."""
    starts, labels, below = duals.domains
    parent, num, both = forest.parent[node], exchanges.rows.shape[1], scratch.rows
    i = j = forest.table[node] * num
    v = 1.0 - w
    error = max(error_at(forest, exchanges, epsilon, node), error_at(forest, exchanges, epsilon, parent))
    write_below(forest, model.scores, exchanges, duals, scratch, node, NONE, both[0])
    x = labels[first_best(below, starts[node], starts[node + 1])]
    from_x = np.float64(both[0, x])
    for k in range(starts[node], starts[node + 1]):
        both[0, labels[k]] = -np.inf
    i += x
    a = w * (np.float64(max_of_rows(both, int64(0), scratch.nothing, int64(0), exchanges.gains, i)) - from_x)
    write_below(forest, model.scores, exchanges, duals, scratch, parent, node, both[1])
    if forest.parent[parent] != NONE:
        add_above(forest, exchanges, duals, scratch, parent, both[1])
    entry = first_best(duals.outside, duals.starts[node], duals.starts[node + 1])
    y = labels[starts[parent] + entry - duals.starts[node]]
    from_y = np.float64(both[1, y])
    for k in range(starts[parent], starts[parent + 1]):
        both[1, labels[k]] = -np.inf
    j += y
    b = v * (np.float64(max_of_rows(both, int64(1), scratch.nothing, int64(0), exchanges.gains_above, j)) - from_y)
    if a < -error and b < -error:
        return 0, 0
    known, known_above = starts[node + 1] - starts[node], starts[parent + 1] - starts[parent]
    some, others = scratch.lower.labels, scratch.upper.labels
    for k in range(known):
        some[k] = labels[starts[node] + k]
    for k in range(known_above):
        others[k] = labels[starts[parent] + k]
    num_lower = candidates(both[0], exchanges.gains, i, from_x - (max(b, 0.0) + error) / w, some, known)
    num_upper = candidates(both[1], exchanges.gains_above, j, from_y - (max(a, 0.0) + error) / v, others, known_above)
    for k in range(num_lower):
        x = some[k]
        inside = below_edge(forest, model, duals, node, x)
        scratch.lower.sums[k] = w * inside - v * down_message(forest, model, duals, node, x)
    for k in range(num_upper):
        y = others[k]
        outside = above_edge(forest, model, duals, node, y)
        scratch.upper.sums[k] = v * outside - w * up_message(forest, model, duals, node, y)
    return num_lower, num_upper


@inner
def _filter_side(side: Side, known: int, count: int, bounds: Values, table: int, least: float) -> int:
    """Drop labels whose sum plus bound on τ is at most ``least``, except the first; return the new number."""
    labels, sums = side
    kept = known
    for k in range(known, count):
        if sums[k] + bounds[table, labels[k]] > least:
            sums[kept], labels[kept] = sums[k], labels[k]
            kept += 1
    return kept


@inner
def _best_end(
    forest: Forest, model: Model, exchanges: Exchanges, duals: Duals, scratch: EdgeScratch, error: float, node: int
) -> tuple[float, int, bool]:
    """Return the best belief at an end of a tree, its label, and whether the domain contains it."""
    starts, labels, _ = duals.domains
    row = scratch.rows[0]
    write_below(forest, model.scores, exchanges, duals, scratch, node, NONE, row)
    if forest.parent[node] != NONE:
        add_above(forest, exchanges, duals, scratch, node, row)
    most, where, inside, highest = -np.inf, 0, True, -np.inf
    for k in range(starts[node], starts[node + 1]):
        here = belief(forest, model, duals, node, labels[k])
        highest = max(highest, np.float64(row[labels[k]]))
        row[labels[k]] = -np.inf
        if here > most:
            most, where = here, labels[k]
    least = model.scores.dtype.type(highest - error)
    if row_max(row) > least:
        for x in range(exchanges.rows.shape[1]):
            if row[x] > least:
                here = belief(forest, model, duals, node, x)
                if here > most:
                    most, where, inside = here, x, False
    return most, where, inside
