"""Reduced costs of label pairs in trees: what they are, what they are taken at, and the list of those that improve.

Along the edge of node c to its parent p, with the messages of :mod:`colgen.solvers.chains.tree_messages`, each pair of
labels has two slacks, one for each direction in which messages can pass the edge:

    A(x, y) = F_c(x) + τ(x, y) - up_c(y)          B(x, y) = G_c(y) + τ(x, y) - down_c(x)

Choose any node r as the root.  Summed over the edges of a labelling, A on edges whose messages flow up to r and B on
the others, the messages cancel: its score is b_r(x_r) + Σ_e (A or B), where b_r = θ_r + all messages into r.
So r gives dual values with these reduced costs, and so does every convex combination of roots.  With the share w_e
of roots beyond the edge, the reduced cost is R_e = w_e A + (1 - w_e) B: for roots at both ends of a chain w = 1/2,
which is equation (12) halved; for its last node alone w = 1, equation (8).  The optimum is at most

    Σ_r share_r max_x b_r(x) + Σ_e max(0, max R_e),

and no R_e of a pair whose labels are both in the domains is positive: messages are maxima over these.

R_e(x, y) = S(x) + τ(x, y) + T(y) with S = w F - (1 - w) down and T = (1 - w) G - w up.  Two oracles find the pairs:
:mod:`~colgen.problems.chain_map.kernels.tree_prices` and :mod:`~colgen.problems.chain_map.kernels.exchange_prices`.

Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), sections 3.1 and
4.3.  Its equation (9), which halves local scores between edges, has the same reduced cost as (8): the message to a
label then holds half of that label's own local score, whatever the maximum is taken over, and the halves add up again.
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
    """What pairs are priced at, and what that proves of their trees.

    Attributes
    ----------
    row_bounds, column_bounds
        max_y τ(x, y) and max_x τ(x, y), shape (tables, labels), padded by -inf to a multiple of 16.
    active
        The trees that are priced.
    values
        Of the trees' best labellings.
    size
        The largest magnitude among scores and tables: with that of a tree's value, what rounding is relative to.
    shares, beyond
        Of the roots: :mod:`colgen.problems.chain_map.kernels.roots`.
    bounds
        One a tree, lowered where the dual values prove more.
    """

    forest: Forest
    model: Model
    duals: Duals
    row_bounds: Values
    column_bounds: Values
    active: Offsets
    values: Values
    size: float
    shares: Values
    beyond: Values
    bounds: Values


class PairList(NamedTuple):
    """Pairs that improve, a row each: the edge's node, its label and its parent's, and the reduced cost.

    For the term of an end of a tree: the node, its label and ``NONE``.
    """

    nodes: Offsets
    lower: Ints
    upper: Ints
    reduced: Values

    def first(self, count: int) -> PairList:
        """The first pairs, as arrays of their own."""
        nodes, lower, upper, reduced = self
        return PairList(nodes[:count].copy(), lower[:count].copy(), upper[:count].copy(), reduced[:count].copy())


def room_for_pairs(count: int) -> PairList:
    """Room for so many pairs."""
    nodes, (lower, upper) = np.empty(count, dtype=np.int64), np.empty((2, count), dtype=np.int32)
    return PairList(nodes, lower, upper, np.empty(count))


class Side(NamedTuple):
    """Labels of one end of an edge that are looked at, those of the domain first; and S of them, or T.

    They are as many as the rows of maxima are long, and one more.
    """

    labels: Ints
    sums: Values


def room_for_side(width: int) -> Side:
    """Room for the labels of a row that is padded to a width."""
    return Side(np.empty(width + 1, dtype=np.int32), np.empty(width + 1))


class LookedAt(NamedTuple):
    """How many labels of a side are looked at: those of the domain, which come first, and all."""

    side: Side
    known: int
    num: int


@inner
def greatest(sums: Values, count: int) -> float:
    """The greatest of the first of some sums."""
    most: float = sums[0]
    for k in range(1, count):
        most = max(most, sums[k])
    return most


@inner
def note_end(node: int, label: int, cost: float, pairs: PairList, found: int) -> int:
    """Write down the label of an end of a tree; how many pairs there are by then, -1 where it does not fit."""
    if found == len(pairs.nodes):
        return -1
    pairs.nodes[found], pairs.lower[found], pairs.upper[found], pairs.reduced[found] = node, label, NONE, cost
    return found + 1


@inner
def note_pairs(
    tables: Values,
    first_row: int,
    node: int,
    below: LookedAt,
    above: LookedAt,
    tolerance: float,
    pairs: PairList,
    found: int,
) -> tuple[float, int]:
    """Look at the pairs of an edge, and write down those of positive reduced cost.

    Parameters
    ----------
    first_row
        Of the edge's table.
    below, above
        Pairs of labels that are both in the domains are passed over.

    Returns
    -------
    most, found
        The greatest reduced cost, or 0, and how many pairs are written by then; -1 where they do not all fit.
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


# --- of one label ----------------------------------------------------------------------------------------------------


@inner
def up_message(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """The message up of a node, for one label of its parent."""
    starts, candidates, below = duals.domains
    first_row, most = forest.table[node] * model.scores.shape[1], -np.inf
    for k in range(starts[node], starts[node + 1]):
        most = max(most, below[k] + model.tables[first_row + candidates[k], label])
    return most


@inner
def down_message(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """The message down to a node, for one of its labels."""
    starts, candidates, _ = duals.domains
    begin, row, most = starts[forest.parent[node]], forest.table[node] * model.scores.shape[1] + label, -np.inf
    for k in range(duals.starts[node], duals.starts[node + 1]):
        most = max(most, duals.outside[k] + model.tables[row, candidates[begin + k - duals.starts[node]]])
    return most


@inner
def below_edge(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """F of a label of the edge's node."""
    total = shifted(model, node, label)
    child = forest.first_child[node]
    while child != NONE:
        total += up_message(forest, model, duals, child, label)
        child = forest.next_sibling[child]
    return total


@inner
def above_edge(forest: Forest, model: Model, duals: Duals, node: int, label: int) -> float:
    """G of a label of the parent of the edge's node."""
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
    """θ and all messages into a node, for one of its labels."""
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
    """Reduced costs of pairs, as the module's head defines them; of ends' labels where ``upper`` is ``NONE``.

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
