"""Reduced label domains of trees: one sweep proves that all other labels are not needed for an optimal labelling.

    max  Σ_i θ_i(x_i) + Σ_{i, p = parent(i)} τ_i(x_i, x_p)

Let F_i(x) be the best score of the subtree of node i if i has label x.  It is the local score plus the message
max_{x_c} F_c(x_c) + τ_c(x_c, x) of each child c.  Above i, the label of i matters only through τ_i(x_i, ·).  So

    F_i(x') + E(x, x') ≤ F_i(x),   where  E(x, x') = max_y τ_i(x', y) - τ_i(x, y),

proves that replacing x' at i by x, with the best labels below, loses nothing.  Then x' is removed from the domain of i.
In terms of linear programming, take F as dual values.  Then no pair of labels with x' at i has a positive reduced cost,
for any dual values above i.  The sweep goes up the tree.  Messages are maxima over domains only, which mostly contain
one label.  E depends on the tables only and is computed once per model, O(L³).  A sweep takes O(n L) while domains are
small.  If no label can be removed it takes O(n L²), with about the constant of Viterbi's algorithm.

x may be any label.  The label of best local score does not depend on the subtree, so a processor can overlap several
nodes.  This is tried first, at nodes with a single child with one or two labels.  Otherwise x is the label of best F.

With a slack Δ, labels are kept if the left side exceeds the right one by more than -Δ.  Then every labelling with a
score above the optimum minus Δ has all its labels in the domains.

The slack includes a bound on rounding errors, so removals are proved in single precision too.  Kept labels are then
compared in double precision.  F is measured from the best label's, so that numbers do not grow along a tree.  Let u be
half the distance from 1 to the next number, T the largest |τ|, and k the number of sums in which a number takes part.
Let a be the sum of T - min F_c over the children c of a node, with F_c over c's domain.  The error that a node adds to
F(x') or F(x) is at most u k (|θ(x)| + 3 a + 4 T) for the label x and every x' in doubt.  Partial sums are no larger:
|θ(x')| is at most |F(x')| + a, and F(x') at least F(x) - 4 T.  Values below F(x) - 4 T have a margin of half their
distance.  The errors of the nodes below add up.

Sources: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012).  Its rule (14)
bounds the same difference by separate maxima and minima over the neighbours' labels.  For exchange of one label by
another: Goldstein, Efficient rotamer elimination applied to protein side-chains (1994).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats
from colgen.solvers.chains.forest import NONE, Forest, Ints, Offsets
from colgen.solvers.chains.magnitudes import largest
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner
from colgen.solvers.vectors import (
    WIDTH,
    above,
    any_above,
    any_above_two,
    lowest_bit,
    padded,
    reaching,
    row_argmax,
    row_max,
    sum_rows,
)

Scores = NDArray[Any]
Values = NDArray[np.float64]


class Domains(NamedTuple):
    """Label domains of all nodes."""

    starts: Offsets  # node i has the entries ``starts[i]`` to ``starts[i + 1] - 1``
    labels: Ints  # one label per entry
    below: Scores  # F of the entry minus F of the node's best label, in double precision if found by a sweep


_CHUNK = 2**24
"""Approximate number of label pairs times parent labels between two checks of the time."""


def exchange(tables: Scores, require: Callable[[], None] = lambda: None) -> Scores:
    """Return E of each table: the largest gain above a node from exchanging its label.

    Row ``table · labels + x``, column x'.  The number of columns is a multiple of 16, padded with -inf.  The diagonal
    is -inf: no label removes itself.  A table τ has the node's label as row, its parent's as column; -inf forbids a
    pair.  ``require`` is called several times per second, and raises an exception if time is up.
    """
    tables = as_floats(tables, "tables", shape=("tables", "labels", "labels"), minus_infinity=True, dtype=None)
    num_tables, num, _ = tables.shape
    out = np.full((num_tables * num, padded(num)), -np.inf, dtype=tables.dtype)
    chunk = max(_CHUNK // max(num * num, 1), 1)
    for k, table in enumerate(tables):
        whole, part = np.ascontiguousarray(table), out[k * num : (k + 1) * num]
        finite = bool((whole > -np.inf).all())
        for first in range(0, num, chunk):
            require()
            _exchange(whole, part, first, min(first + chunk, num), finite)
    return out


@njit(cache=True)
def _exchange(table: Scores, out: Scores, first: int, last: int, finite: bool) -> None:
    """Compute E of the labels ``first`` to ``last`` - 1."""
    num = len(table)
    for x in range(first, last):
        for other in range(num):
            gain = table[other, 0] - table[x, 0] if finite else out[x, x]  # the latter is -inf
            if finite:
                # Maxima of integers in the order of floats would be faster, but this runs once per model.
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


class _Model(NamedTuple):
    """Input of a sweep, see :class:`Sweep`."""

    forest: Forest
    scores: Scores
    tables: Scores
    exchanges: Scores
    slack: Values
    size: float


class _Passed(NamedTuple):
    """Results for the nodes that a sweep has passed."""

    # starts, labels: their domains
    starts: Offsets
    labels: Ints
    # near, below: F in the precision of the scores, and in double precision
    near: Scores
    below: Values
    lowest: Values  # smallest F of each node
    position: Offsets  # next node, number of entries, tree, and number of labels kept only for rounding
    error: Values  # bound on the rounding error in the current tree, one number


class _Workspace(NamedTuple):
    """F of a node's labels, padded; a work row; and a row of zeros."""

    row: Scores
    scratch: Scores
    nothing: Scores


class Sweep:
    """A sweep from the leaves to the roots, possible in parts.

    Parameters
    ----------
    forest : trees, numbered as in :mod:`colgen.solvers.chains.forest`
    scores : (nodes, labels) array θ, C order, float32 or float64; -inf forbids a label
    tables : (tables · labels, labels) array τ
        Row ``table · labels + x``; column: the parent's label.
    exchanges : E of the tables, see :func:`exchange`
    slack : Δ of each tree; by default 0: domains keep only labels that the optimum needs
    size : largest magnitude of the finite numbers in ``tables``, by default computed

    Attributes
    ----------
    doubtful : number of labels kept only because of possible rounding errors
    """

    def __init__(
        self,
        forest: Forest,
        scores: Scores,
        tables: Scores,
        exchanges: Scores,
        slack: Values | None = None,
        size: float | None = None,
    ) -> None:
        slack = np.zeros(len(forest.starts) - 1) if slack is None else np.asarray(slack, dtype=np.float64)
        size = largest(tables) if size is None else size
        self._model = _Model(forest, scores, tables, exchanges, slack, size)
        capacity = 2 * len(scores) + exchanges.shape[1]
        self._passed = _Passed(
            np.zeros(forest.num_nodes + 1, dtype=np.int64),
            np.empty(capacity, dtype=np.int32),
            np.empty(capacity, dtype=scores.dtype),
            np.empty(capacity),
            np.empty(forest.num_nodes),
            np.zeros(4, dtype=np.int64),
            np.zeros(1),
        )

    @property
    def nodes(self) -> int:
        """Number of nodes passed."""
        return int(self._passed.position[0])

    @property
    def is_done(self) -> bool:
        return self.nodes == self._model.forest.num_nodes

    @property
    def trees(self) -> int:
        """Number of trees finished."""
        return int(self._passed.position[2])

    @property
    def doubtful(self) -> int:
        return int(self._passed.position[3])

    def advance(self, nodes: int) -> None:
        """Pass up to ``nodes`` more nodes."""
        end = min(self.nodes + nodes, self._model.forest.num_nodes)
        _sweep(self._model, self._passed, end)
        while self.nodes < end:
            self._passed = _extend(self._passed)
            _sweep(self._model, self._passed, end)

    @property
    def domains(self) -> Domains:
        """Domains of all passed nodes, at least one label each.

        If no labelling below has a finite score, the domain is one label with ``below`` -inf.
        """
        starts, labels, _, below, _, position, _ = self._passed
        return Domains(starts, labels[: position[1]], below[: position[1]])


def sweep(
    forest: Forest,
    scores: Scores,
    tables: Scores,
    exchanges: Scores,
    slack: Values | None = None,
    size: float | None = None,
) -> Domains:
    """Return the domains of all nodes after one complete sweep; parameters as for :class:`Sweep`."""
    scores = as_floats(scores, "scores", shape=(forest.num_nodes, "labels"), minus_infinity=True, dtype=None)
    tables = as_floats(tables, "tables", shape=("rows", scores.shape[1]), minus_infinity=True, dtype=scores.dtype)
    exchanges = as_floats(exchanges, "exchanges", shape=(len(tables), "labels"), finite=False, dtype=scores.dtype)
    if slack is not None:
        slack = as_floats(slack, "slack", shape=(len(forest.starts) - 1,), finite=False)
    whole = Sweep(forest, scores, tables, exchanges, slack, size)
    whole.advance(forest.num_nodes)
    return whole.domains


@inner
def add_message(
    tables: Scores, first_row: int, labels: Ints, below: Scores, begin: int, end: int, scratch: Scores, out: Scores
) -> None:
    """Add a child's message to ``out``: the maximum over the child's domain, for each label of the parent."""
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
    for k in range(begin, whole, 4):  # four at a time: fewer passes over the work row
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
def _sweep(model: _Model, passed: _Passed, end: int) -> None:
    """Continue to node ``end``, or until the labels of the next node may not fit."""
    num, width, dtype = model.scores.shape[1], model.exchanges.shape[1], model.scores.dtype
    row = np.full(width, -np.inf, dtype=dtype)
    workspace = _Workspace(row, np.empty(num, dtype=dtype), np.zeros((1, num), dtype=dtype))
    _pass_nodes(model, passed, workspace, end)


@inner
def _pass_nodes(model: _Model, passed: _Passed, workspace: _Workspace, end: int) -> None:
    forest, scores, tables, exchanges, slack, size = model
    starts, labels, near, below, lowest, position, errors = passed
    row, scratch, _ = workspace
    num, width = scores.shape[1], exchanges.shape[1]
    parents, first_child, next_sibling, table = forest.parent, forest.first_child, forest.next_sibling, forest.table
    epsilon = np.float64(np.finfo(scores.dtype).eps)
    node, entry, tree, doubtful = position[0], position[1], position[2], position[3]
    error = errors[0]
    while node < end and entry + width <= len(labels):
        last = min(end, node + len(labels) - entry)
        ahead, error = _by_local_scores(model, passed, workspace.nothing, slack[tree], node, last, error)
        entry += ahead - node
        node = ahead
        if node == end or entry + width > len(labels):
            break
        child = first_child[node]
        reach, sums = 0.0, 4
        if child == NONE:
            for y in range(num):
                row[y] = scores[node, y]
            best = row_max(row)
        elif starts[child + 1] - starts[child] == 1 and next_sibling[child] == NONE:
            # The common case in chains.
            only = starts[child]
            best = sum_rows(near[only], tables, table[child] * num + labels[only], scores, node, row)
            reach, sums = size - lowest[child], 6
        else:
            for y in range(num):
                row[y] = scores[node, y]
            while child != NONE:
                add_message(tables, table[child] * num, labels, near, starts[child], starts[child + 1], scratch, row)
                reach, sums = reach + size - lowest[child], sums + 2
                child = next_sibling[child]
            best = row_max(row)
        label = 0
        for k in range(0, width, WIDTH):
            bits = reaching(row, k, best)
            if bits:
                label = k + lowest_bit(bits)
                break
        first = entry
        labels[entry] = label
        entry += 1
        if best > -np.inf:
            # Twice the error bound of the module's docstring, for two sums are compared; u is half of epsilon.
            error += epsilon * sums * (abs(np.float64(scores[node, label])) + 3.0 * reach + 4.0 * size)
            least = np.float64(best) - slack[tree]
            # With a large slack, the compared numbers are as large as the slack.
            bound = scores.dtype.type(least - error - 2.0 * epsilon * slack[tree])
            if parents[node] != NONE:
                i = table[node] * num + label
                for k in range(0, width, WIDTH):
                    bits = above(row, k, exchanges, i, bound)
                    while bits:
                        other = k + lowest_bit(bits)
                        labels[entry] = other
                        entry += 1
                        doubtful += np.float64(row[other]) + np.float64(exchanges[i, other]) <= least
                        bits &= bits - 1
            else:
                for k in range(0, width, WIDTH):
                    bits = reaching(row, k, bound)
                    while bits:
                        other = k + lowest_bit(bits)
                        if other != label and row[other] > -np.inf:
                            labels[entry] = other
                            entry += 1
                        bits &= bits - 1
        near[first] = best if best == -np.inf else best - best
        below[first] = near[first]
        lowest[node] = 0.0
        if entry - first > 1:
            for k in range(first, entry):
                near[k] = row[labels[k]] - best
                below[k] = inside(forest, scores, tables, starts, labels, below, node, labels[k])
                lowest[node] = min(lowest[node], np.float64(near[k]))
            highest = below[first]
            for k in range(first + 1, entry):
                highest = max(highest, below[k])
            for k in range(first, entry):
                below[k] -= highest
        node += 1
        starts[node] = entry
        if parents[node - 1] == NONE:
            tree += 1
            error = 0.0
    position[0], position[1], position[2], position[3] = node, entry, tree, doubtful
    errors[0] = error


@folded
def _by_local_scores(
    model: _Model, passed: _Passed, nothing: Scores, slack: float, node: int, end: int, error: float
) -> tuple[int, float]:
    """Pass nodes, except roots, while the label of best local score provably suffices.  Return next node and error."""
    forest, scores, tables, exchanges, _, size = model
    starts, labels, near, below, lowest, _, _ = passed
    parents, first_child, next_sibling, table = forest.parent, forest.first_child, forest.next_sibling, forest.table
    num = scores.shape[1]
    epsilon = np.float64(np.finfo(scores.dtype).eps)
    while node < end and parents[node] != NONE:
        entry, child = starts[node], first_child[node]
        label = row_argmax(scores, node)
        row = table[node] * num + label
        reach = abs(np.float64(scores[node, label])) + 4.0 * size
        if child == NONE:
            value, sums = scores[node, label], 4
        else:
            only, several = starts[child], starts[child + 1] - starts[child]
            if several > 2 or next_sibling[child] != NONE:
                break
            i = table[child] * num + labels[only]
            value, sums = near[only] + tables[i, label] + scores[node, label], 6
            if several == 2:
                j = table[child] * num + labels[only + 1]
                value = max(value, near[only + 1] + tables[j, label] + scores[node, label])
            reach += 3.0 * (size - lowest[child])
        if not value > -np.inf:
            break
        after = error + epsilon * sums * reach
        bound = scores.dtype.type(np.float64(value) - slack - after - 2.0 * epsilon * slack)
        if child == NONE:
            doubtful = any_above(value - value, nothing, 0, scores, node, exchanges, row, bound)
        elif several == 2:
            a, b = near[only], near[only + 1]
            doubtful = any_above_two(a, i, b, j, tables, scores, node, exchanges, row, bound)
        else:
            doubtful = any_above(near[only], tables, i, scores, node, exchanges, row, bound)
        if doubtful:
            break
        labels[entry] = label
        near[entry] = below[entry] = value - value
        lowest[node] = 0.0
        error = after
        node += 1
        starts[node] = entry + 1
    return node, error


def _extend(passed: _Passed) -> _Passed:
    """Return a copy with space for twice as many labels."""
    labels, near, below = (np.concatenate((a, np.empty_like(a))) for a in (passed.labels, passed.near, passed.below))
    return passed._replace(labels=labels, near=near, below=below)


@inner
def inside(
    forest: Forest,
    scores: Scores,
    tables: Scores,
    starts: Offsets,
    labels: Ints,
    below: Values,
    node: int,
    label: int,
) -> float:
    """Return F of a label in double precision, over the domains of the node's children."""
    num = scores.shape[1]
    total = np.float64(scores[node, label])
    child = forest.first_child[node]
    while child != NONE:
        first_row = forest.table[child] * num
        most = -np.inf
        for k in range(starts[child], starts[child + 1]):
            most = max(most, below[k] + np.float64(tables[first_row + labels[k], label]))
        total += most
        child = forest.next_sibling[child]
    return total


@njit(cache=True)
def count_pairs(forest: Forest, starts: Offsets) -> int:
    """Return the number of label pairs in the domains of both ends of each edge, plus labels of single-node trees."""
    total = 0
    for node in range(len(forest.parent)):
        size, parent = starts[node + 1] - starts[node], forest.parent[node]
        if parent != NONE:
            total += size * (starts[parent + 1] - starts[parent])
        elif forest.first_child[node] == NONE:
            total += size
    return total
