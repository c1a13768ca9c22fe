"""Reduced costs of label pairs in trees: their definition, their inputs, and the list of improving pairs.

Consider the edge of node c to its parent p, with the messages of :mod:`colgen.solvers.chains.tree_messages`. Each pair
of labels has two slacks, one per direction of the messages:

    A(x, y) = F_c(x) + τ(x, y) - up_c(y)          B(x, y) = G_c(y) + τ(x, y) - down_c(x)

Choose any node r as the root. Sum A over the edges whose messages flow up to r, and B over the others. The messages
cancel, so the score of a labelling is b_r(x_r) + Σ_e (A or B), where b_r is θ_r plus all messages into r. So r gives
dual values with these reduced costs, and so does every convex combination of roots. With w_e the share of the roots
beyond the edge, the reduced cost is R_e = w_e A + (1 - w_e) B. For roots at both ends of a chain, w = 1/2, which is
half of equation (12). For the last node alone, w = 1, which is equation (8). The optimum is at most

    Σ_r share_r max_x b_r(x) + Σ_e max(0, max R_e).

R_e is not positive for pairs within the domains, because messages are maxima over the domains.

R_e(x, y) = S(x) + τ(x, y) + T(y) with S = w F - (1 - w) down and T = (1 - w) G - w up. Two oracles find the pairs:
:mod:`~colgen.problems.chain_map.kernels.tree_prices` and :mod:`~colgen.problems.chain_map.kernels.exchange_prices`.

Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), sections 3.1 and
4.3. Equation (9) there halves local scores between edges, but has the same reduced cost as (8). The message to a label
then holds half of that label's local score, independent of the maximum, and the halves add up again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.chains.forest import NONE, Forest, Ints, Offsets
from colgen.solvers.chains.tree_messages import Duals, Model, shifted
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner

Values = NDArray[np.float64]


class Prices(NamedTuple):
    """Inputs of pricing, and the bounds that it lowers."""

    forest: Forest
    model: Model
    duals: Duals
    row_bounds: Values  # max_y τ(x, y), shape (tables, labels), padded by -inf to a multiple of 16
    column_bounds: Values  # max_x τ(x, y), in the same shape
    active: Offsets  # trees to price
    values: Values  # scores of the trees' best labellings
    size: float  # largest magnitude of scores and tables; rounding is relative to it plus the tree's value
    shares: Values  # of the roots, as `beyond`: see `kernels.roots`
    beyond: Values
    bounds: Values  # one per tree, lowered if the dual values prove more


class PairList(NamedTuple):
    """Improving pairs, one row each: lower node of the edge, its label, its parent's label, and the reduced cost.

    A term of an end of a tree has the parent's label ``NONE``.
    """

    nodes: Offsets
    lower: Ints
    upper: Ints
    reduced: Values

    def first(self, count: int) -> PairList:
        """Return a copy of the first pairs."""
        nodes, lower, upper, reduced = self
        return PairList(nodes[:count].copy(), lower[:count].copy(), upper[:count].copy(), reduced[:count].copy())


def allocate_pairs(count: int) -> PairList:
    """Allocate memory for ``count`` pairs."""
    nodes, (lower, upper) = np.empty(count, dtype=np.int64), np.empty((2, count), dtype=np.int32)
    return PairList(nodes, lower, upper, np.empty(count))


class Side(NamedTuple):
    """Candidate labels at one end of an edge, those of the domain first, and their S or T."""

    labels: Ints
    sums: Values


def allocate_side(width: int) -> Side:
    """Allocate a side for rows padded to a width."""
    return Side(np.empty(width + 1, dtype=np.int32), np.empty(width + 1))


class PairCandidates(NamedTuple):
    """A side with its number of candidates from the domain, which come first, and in total."""

    side: Side
    known: int
    num: int


@inner
def greatest(sums: Values, count: int) -> float:
    """Return the largest of the first ``count`` sums."""
    most: float = sums[0]
    for k in range(1, count):
        most = max(most, sums[k])
    return most


@inner
def append_end(node: int, label: int, cost: float, pairs: PairList, found: int) -> int:
    """Append the label of an end of a tree; return the new number of pairs, or -1 if it does not fit."""
    if found == len(pairs.nodes):
        return -1
    pairs.nodes[found], pairs.lower[found], pairs.upper[found], pairs.reduced[found] = node, label, NONE, cost
    return found + 1


@inner
def append_pairs(
    tables: Values,
    first_row: int,
    node: int,
    below: PairCandidates,
    above: PairCandidates,
    tolerance: float,
    pairs: PairList,
    found: int,
) -> tuple[float, int]:
    """Compute the reduced costs of the candidate pairs of an edge, and append the positive ones.

    Pairs within the domains are skipped. Return the largest reduced cost, or 0, and the new number of pairs, or -1 if
    they do not fit.
    """
    nodes, lower, upper, reduced = pairs
    (some, costs), (others, more) = below.side, above.side
    most = 0.0
    for k in range(below.num):
        x, cost = some[k], costs[k]
        for h in range(above.known if k < below.known else 0, above.num):
            here = cost + tables[first_row + x, others[h]] + more[h]
            if here > tolerance:
                if found == len(nodes):
                    return most, -1
                nodes[found], lower[found], upper[found], reduced[found] = node, x, others[h], here
                found += 1
                most = max(most, here)
    return most, found


# --- messages and sums of one label ----------------------------------------------------------------------------------


@inner
def up_message(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """Return the message up from a node, for one label of its parent."""
    starts, candidates, below = duals.domains
    first_row, most = forest.table[node] * model.scores.shape[1], -np.inf
    for k in range(starts[node], starts[node + 1]):
        most = max(most, below[k] + model.tables[first_row + candidates[k], label])
    return most


@inner
def down_message(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """Return the message down to a node, for one of its labels."""
    starts, candidates, _ = duals.domains
    begin, row, most = starts[forest.parent[node]], forest.table[node] * model.scores.shape[1] + label, -np.inf
    for k in range(duals.starts[node], duals.starts[node + 1]):
        most = max(most, duals.outside[k] + model.tables[row, candidates[begin + k - duals.starts[node]]])
    return most


@inner
def below_edge(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """Return F_c(label) of node c: its score plus the messages from its children."""
    total = shifted(model, node, label)
    child = forest.first_child[node]
    while child != NONE:
        total += up_message(forest, model, duals, child, label)
        child = forest.next_sibling[child]
    return total


@inner
def above_edge(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """Return G_c(label) of node c: its parent's score plus all messages into the parent except that from c."""
    parent = forest.parent[node]
    total = shifted(model, parent, label)
    if forest.parent[parent] != NONE:
        total += down_message(forest, model, duals, parent, label)
    sibling = forest.first_child[parent]
    while sibling != NONE:
        if sibling != node:
            total += up_message(forest, model, duals, sibling, label)
        sibling = forest.next_sibling[sibling]
    return total


@inner
def belief(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """Return θ plus all messages into a node, for one of its labels."""
    total = below_edge(forest, model, duals, node, label)
    if forest.parent[node] != NONE:
        total += down_message(forest, model, duals, node, label)
    return total


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
    """Return the reduced costs of pairs, as defined in the module, or of labels of ends where ``upper`` is ``NONE``.

    ``values`` holds the score of the best labelling of each node's tree.
    """
    num = model.scores.shape[1]
    out = np.empty(len(nodes))
    for k in range(len(nodes)):
        node, x, y = nodes[k], lower[k], upper[k]
        if y == NONE:
            out[k] = shares[node] * (belief(forest, model, duals, node, x) - values[node])
            continue
        pair = model.tables[forest.table[node] * num + x, y]
        slack = below_edge(forest, model, duals, node, x) + pair - up_message(forest, model, duals, node, y)
        total = beyond[node] * slack
        if beyond[node] < 1:
            slack = above_edge(forest, model, duals, node, y) + pair - down_message(forest, model, duals, node, x)
            total += (1.0 - beyond[node]) * slack
        out[k] = total
    return out
