"""Labels that a best labelling of a tree may need: all others are proved superfluous in one sweep.

    max  Σ_i θ_i(x_i) + Σ_{i, p = parent(i)} τ_i(x_i, x_p)

Let F_i(x) be the best score of the tree below node i if i has label x: its own local score, and of each child c the
message max_{x_c} F_c(x_c) + τ_c(x_c, x).  Above i, the label of i matters through τ_i(x_i, ·) alone.  So

    F_i(x') + E(x, x') ≤ F_i(x),   where  E(x, x') = max_y τ_i(x', y) - τ_i(x, y),

proves that every labelling in which i has label x' can be made no worse by giving i label x, with what is best below
it: x' is left out of the domain of i.  In terms of linear programming: with F as dual values no pair of labels with x'
at node i has a positive reduced cost, whatever the dual values above i may become.  The sweep goes up the tree; the
messages need maximisation over domains only, which mostly hold one label.  E depends on the tables alone and is
computed once for a model, O(L³).  O(n L) where domains stay small; O(n L²), with about the constant of Viterbi's
algorithm, where nothing can be left out.

With a slack Δ, labels stay whose left side exceeds the right one by more than -Δ: then every labelling whose score is
above the optimum less Δ has all its labels in the domains.

Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), whose rule (14)
bounds the same difference by separate maxima and minima over the neighbours' labels; for exchange of one label by
another Goldstein, Efficient rotamer elimination applied to protein side-chains (1994).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.forest import NONE, Forest, Ints, Offsets
from solvers.vectors import WIDTH, above, lowest_bit, padded, reaching, row_max, sum_rows

Scores = NDArray[Any]


class Domains(NamedTuple):
    """The labels that each node may have.

    Attributes
    ----------
    starts
        Node i has the entries ``starts[i]`` to ``starts[i + 1] - 1``.
    labels
        One an entry.
    below
        F of the entry's node and label, in the precision of the scores.
    """

    starts: Offsets
    labels: Ints
    below: Scores


def exchange(tables: Scores) -> Scores:
    """E of each table: what is gained at most above a node by exchanging its label.

    Parameters
    ----------
    tables
        τ, shape (tables, labels, labels), row: the node's label, column: its parent's; -inf forbids a pair.

    Returns
    -------
    array
        Shape (tables · labels, labels made a multiple of 16): row ``table · labels + x``, column x', padded by -inf.
        The diagonal holds -inf: no label leaves room for itself.
    """
    num_tables, num, _ = tables.shape
    out = np.full((num_tables * num, padded(num)), -np.inf, dtype=tables.dtype)
    for k, table in enumerate(tables):
        _exchange(np.ascontiguousarray(table), out[k * num : (k + 1) * num])
    return out


@njit(cache=True)
def _exchange(table: Scores, out: Scores) -> None:
    num = len(table)
    finite = True
    for x in range(num):
        for y in range(num):
            finite = finite and table[x, y] > -np.inf
    for x in range(num):
        for other in range(num):
            gain = table[other, 0] - table[x, 0] if finite else out[x, x]  # which is -inf
            if finite:
                # Maxima of integers in the order of the numbers would be faster, but this is done once for a model.
                a0 = a1 = a2 = a3 = gain
                whole = num - num % 4
                for y in range(0, whole, 4):
                    a0 = max(a0, table[other, y] - table[x, y])
                    a1 = max(a1, table[other, y + 1] - table[x, y + 1])
                    a2 = max(a2, table[other, y + 2] - table[x, y + 2])
                    a3 = max(a3, table[other, y + 3] - table[x, y + 3])
                for y in range(whole, num):
                    a0 = max(a0, table[other, y] - table[x, y])
                gain = max(max(a0, a1), max(a2, a3))
            else:
                for y in range(num):
                    if table[other, y] > -np.inf:
                        if table[x, y] == -np.inf:
                            gain = -out[x, x]
                            break
                        gain = max(gain, table[other, y] - table[x, y])
            if other != x:
                out[x, other] = gain


def sweep(forest: Forest, scores: Scores, tables: Scores, exchanges: Scores, slack: Scores | None = None) -> Domains:
    """The labels that a best labelling may need, by one sweep from the leaves to the roots.

    Parameters
    ----------
    scores
        θ, shape (nodes, labels), C order, float32 or float64; -inf forbids a label.
    tables
        τ of all tables, shape (tables · labels, labels): row ``table · labels + x``, column the parent's label.
    exchanges
        E of the tables, see :func:`exchange`.
    slack
        Δ of each tree; without any, domains keep what the optimum needs.

    Returns
    -------
    Domains
        At least one label a node; where no labelling has a finite score, one whose ``below`` is -inf.
    """
    starts = np.empty(forest.num_nodes + 1, dtype=np.int64)
    slack = np.zeros(len(forest.starts) - 1) if slack is None else slack
    labels, below = _sweep(forest, scores, tables, exchanges, slack.astype(scores.dtype), starts)
    return Domains(starts, labels[: starts[-1]], below[: starts[-1]])


@njit(cache=True)
def add_message(
    tables: Scores, first_row: int, labels: Ints, below: Scores, begin: int, end: int, scratch: Scores, out: Scores
) -> None:
    """Add a child's message, the maximum over its domain for each label of the parent, to ``out``."""
    num = tables.shape[1]
    if end - begin == 1:
        a, i = below[begin], first_row + labels[begin]
        for y in range(num):
            out[y] += a + tables[i, y]
        return
    if end - begin == 2:
        a, i = below[begin], first_row + labels[begin]
        b, j = below[begin + 1], first_row + labels[begin + 1]
        for y in range(num):
            out[y] += max(a + tables[i, y], b + tables[j, y])
        return
    for y in range(num):
        scratch[y] = -np.inf
    whole = end - (end - begin) % 4
    for k in range(begin, whole, 4):  # four at a time: fewer passes over the scratch row
        a, b, c, d = below[k], below[k + 1], below[k + 2], below[k + 3]
        ra, rb = tables[first_row + labels[k]], tables[first_row + labels[k + 1]]
        rc, rd = tables[first_row + labels[k + 2]], tables[first_row + labels[k + 3]]
        for y in range(num):
            scratch[y] = max(scratch[y], max(max(a + ra[y], b + rb[y]), max(c + rc[y], d + rd[y])))
    for k in range(whole, end):
        a, i = below[k], first_row + labels[k]
        for y in range(num):
            scratch[y] = max(scratch[y], a + tables[i, y])
    for y in range(num):
        out[y] += scratch[y]


@njit(cache=True)
def _sweep(
    forest: Forest, scores: Scores, tables: Scores, exchanges: Scores, slack: Scores, starts: Offsets
) -> tuple[Ints, Scores]:
    num, width = scores.shape[1], exchanges.shape[1]
    capacity = 4 * len(scores) + width
    labels = np.empty(capacity, dtype=np.int32)
    below = np.empty(capacity, dtype=scores.dtype)
    row = np.full(width, -np.inf, dtype=scores.dtype)  # F of the node, padded
    scratch = np.empty(num, dtype=scores.dtype)
    entry, tree = 0, 0
    starts[0] = 0
    for node in range(len(scores)):
        if entry + width > capacity:
            capacity *= 2
            more_labels = np.empty(capacity, dtype=np.int32)
            more_below = np.empty(capacity, dtype=scores.dtype)
            more_labels[:entry] = labels[:entry]
            more_below[:entry] = below[:entry]
            labels, below = more_labels, more_below
        child = forest.first_child[node]
        if child == NONE:
            for y in range(num):
                row[y] = scores[node, y]
            best = row_max(row)
        elif starts[child + 1] - starts[child] == 1 and forest.next_sibling[child] == NONE:
            # What happens at most nodes of chains.
            only = starts[child]
            best = sum_rows(below[only], tables, forest.table[child] * num + labels[only], scores, node, row)
        else:
            for y in range(num):
                row[y] = scores[node, y]
            while child != NONE:
                add_message(
                    tables, forest.table[child] * num, labels, below, starts[child], starts[child + 1], scratch, row
                )
                child = forest.next_sibling[child]
            best = row_max(row)
        label = 0
        for k in range(0, width, WIDTH):
            bits = reaching(row, k, best)
            if bits:
                label = k + lowest_bit(bits)
                break
        labels[entry] = label
        below[entry] = best
        entry += 1
        if forest.parent[node] != NONE:
            i = forest.table[node] * num + label
            for k in range(0, width, WIDTH):
                bits = above(row, k, exchanges, i, best - slack[tree])
                while bits:
                    other = k + lowest_bit(bits)
                    labels[entry] = other
                    below[entry] = row[other]
                    entry += 1
                    bits &= bits - 1
        else:
            if slack[tree] > 0:
                for other in range(num):
                    if other != label and row[other] > best - slack[tree]:
                        labels[entry] = other
                        below[entry] = row[other]
                        entry += 1
            tree += 1
        starts[node + 1] = entry
    return labels, below


@njit(cache=True)
def count_pairs(forest: Forest, starts: Offsets) -> int:
    """Pairs of labels in the domains at both ends of an edge, and labels of the nodes of trees that have no other."""
    total = 0
    for node in range(len(forest.parent)):
        size, parent = starts[node + 1] - starts[node], forest.parent[node]
        if parent != NONE:
            total += size * (starts[parent + 1] - starts[parent])
        elif forest.first_child[node] == NONE:
            total += size
    return total
