"""Messages of trees with restricted label domains, in compressed form.

With D_i the domain of node i, c a child of p, and F, G as below, the messages along their edge are

    up_c(y)   = max_{x in D_c} F_c(x) + τ_c(x, y)        for all labels y of p,   F_c = θ_c + Σ_{children d of c} up_d
    down_c(x) = max_{y in D_p} G_c(y) + τ_c(x, y)        for all labels x of c,   G_c = θ_p + down_p + Σ_{d ≠ c} up_d.

In a chain up is the forward message α and down the backward message β.  F_c on D_c and G_c on D_p determine both for
all labels.  So only these few numbers are stored, one per label of a domain.  A message for all labels is recomputed as
a maximum over the domain at its other end (:mod:`colgen.problems.chain_map.kernels.tree_prices`).

Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), section 4.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.chains.forest import NONE, Forest, Ints, Offsets
from colgen.solvers.chains.tree_domains import Domains
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner, kernel

Scores = NDArray[Any]
Values = NDArray[np.float64]


class Model(NamedTuple):
    """Scores of the messages; label scores are shifted on access, so nothing is copied."""

    scores: Scores  # θ as given, shape (nodes, labels), float32 or float64
    tops: Values  # shift subtracted from the scores of each node
    low: float  # lower limit of a shifted score
    # tables, transposed: τ of all tables in double precision, rows ``table · labels + x`` for the node's and for its
    # parent's label
    tables: Values
    transposed: Values


class Duals(NamedTuple):
    """Stored numbers from which messages are computed."""

    domains: Domains  # domains of all nodes; ``below`` is F
    # starts: the edge above node c has the entries ``starts[c]`` to ``starts[c + 1] - 1``, one per label of its
    # parent's domain, in that order
    starts: Offsets
    # arriving, outside: up_c of these labels, and G_c; the latter only if messages go both ways
    arriving: Values
    outside: Values


def no_messages(forest: Forest, domains: Domains) -> Duals:
    """Allocate the messages of these domains."""
    starts = np.zeros(forest.num_nodes + 1, dtype=np.int64)
    _count(forest, domains, starts)
    return Duals(domains, starts, np.empty(int(starts[-1])), np.empty(int(starts[-1])))


@njit(cache=True)
def _count(forest: Forest, domains: Domains, starts: Offsets) -> None:
    for node in range(len(forest.parent)):
        parent = forest.parent[node]
        size = domains.starts[parent + 1] - domains.starts[parent] if parent != NONE else 0
        starts[node + 1] = starts[node] + size


@inner
def _shifted(scores: Scores, tops: Values, low: float, node: int, label: int) -> float:
    score = np.float64(scores[node, label]) - tops[node]
    return score if score > low else low


@inner
def shifted(model: Model, node: int, label: int) -> float:
    """Return the shifted θ of a label."""
    return _shifted(model.scores, model.tops, model.low, node, label)


@njit(cache=True)
def pass_messages(
    forest: Forest,
    model: Model,
    duals: Duals,
    active: Offsets,
    both_ways: bool,
    labels: Ints,
    values: Values,
    position: Offsets,
    work: float,
) -> None:
    """Compute messages of the active trees, and their best labellings within the domains.

    With many labels one tree takes seconds.  So a call ends after about ``work`` sums, perhaps inside a tree.  The next
    call continues there.  For the active trees it writes ``duals``, the labels of all nodes, and the scores under the
    model.  ``both_ways`` adds downward messages.  ``position`` is updated: the number of finished trees, and of nodes
    done in the next tree, upwards and downwards; initially zeros.
    """
    done = 0.0
    while position[0] < len(active):
        tree = active[position[0]]
        first, root = forest.starts[tree], forest.starts[tree + 1] - 1
        for node in range(first + position[1], root + 1):
            if done >= work:
                return
            position[1] += 1
            done += _pass_up(forest, model, duals, node)
        if both_ways:
            for node in range(root - (position[1] - (root + 1 - first)), first - 1, -1):
                if done >= work:
                    return
                position[1] += 1
                done += _pass_down(forest, model, duals, node)
        values[tree] = _trace(forest, model, duals.domains, first, root, labels)
        position[0] += 1
        position[1] = 0


@folded
def _pass_up(forest: Forest, model: Model, duals: Duals, node: int) -> int:
    """Compute F of a node over its domain, and its upward message.  Return the number of sums."""
    begins, candidates, below = duals.domains
    starts, arriving, tables = duals.starts, duals.arriving, model.tables
    begin, end, parent = begins[node], begins[node + 1], forest.parent[node]
    done = 1 + end - begin
    for k in range(begin, end):
        total = _shifted(model.scores, model.tops, model.low, node, candidates[k])
        child = forest.first_child[node]
        while child != NONE:
            total += arriving[starts[child] + k - begin]
            child = forest.next_sibling[child]
        below[k] = total
    if parent != NONE:
        first_row = forest.table[node] * model.scores.shape[1]
        for k in range(begins[parent], begins[parent + 1]):
            y, most = candidates[k], -np.inf
            for j in range(begin, end):
                here = below[j] + tables[first_row + candidates[j], y]
                most = here if here > most else most
            arriving[starts[node] + k - begins[parent]] = most
        done += (end - begin) * (begins[parent + 1] - begins[parent])
    return int(done)


@folded
def _pass_down(forest: Forest, model: Model, duals: Duals, node: int) -> int:
    """Compute G of a node over its domain, for each child.  Return the number of sums."""
    begins, candidates, _ = duals.domains
    starts, arriving, outside = duals.starts, duals.arriving, duals.outside
    begin, parent, done = begins[node], forest.parent[node], 1
    for k in range(begin, begins[node + 1]):
        most = 0.0  # the message from above
        if parent != NONE:
            row = forest.table[node] * model.scores.shape[1] + candidates[k]
            most = -np.inf
            for j in range(begins[parent], begins[parent + 1]):
                here = outside[starts[node] + j - begins[parent]]
                here += model.tables[row, candidates[j]]
                most = here if here > most else most
            done += begins[parent + 1] - begins[parent]
        most += _shifted(model.scores, model.tops, model.low, node, candidates[k])
        child = forest.first_child[node]
        while child != NONE:
            total = most
            sibling = forest.first_child[node]
            while sibling != NONE:
                if sibling != child:
                    total += arriving[starts[sibling] + k - begin]
                sibling = forest.next_sibling[sibling]
            outside[starts[child] + k - begin] = total
            done += 1
            child = forest.next_sibling[child]
    return done


@inner
def _trace(forest: Forest, model: Model, domains: Domains, first: int, root: int, labels: Ints) -> float:
    """Write the best labelling of a tree from its F.  Return its score."""
    starts, candidates, below = domains
    tables, num = model.tables, model.scores.shape[1]
    total = 0.0
    for node in range(root, first - 1, -1):
        chosen, end = starts[node], starts[node + 1]
        above = labels[forest.parent[node]] if node != root else 0
        first_row = forest.table[node] * num
        if end - chosen > 1:
            most = -np.inf
            for k in range(starts[node], end):
                here = below[k]
                if node != root:
                    here += tables[first_row + candidates[k], above]
                if here > most:
                    chosen, most = k, here
        label = candidates[chosen]
        labels[node] = label
        total += _shifted(model.scores, model.tops, model.low, node, label)
        if node != root:
            total += tables[first_row + label, above]
    return total


@njit(cache=True)
def grow(domains: Domains, num: int, nodes: Offsets, labels: Ints) -> tuple[Offsets, Ints, Values]:
    """Return the domains enlarged by labels (of ``num``), which may be present or repeated.  ``below`` is not set."""
    size = len(domains.starts) - 1
    first = np.zeros(size + 1, dtype=np.int64)
    for k in range(len(nodes)):
        first[nodes[k] + 1] += 1
    for node in range(size):
        first[node + 1] += first[node]
    place, sorted_labels = first.copy(), np.empty(len(labels), dtype=np.int32)
    for k in range(len(nodes)):
        sorted_labels[place[nodes[k]]] = labels[k]
        place[nodes[k]] += 1
    starts = np.empty_like(domains.starts)
    enlarged = np.empty(len(domains.labels) + len(labels), dtype=np.int32)
    present = np.zeros(num, dtype=np.bool_)
    starts[0] = entry = 0
    for node in range(size):
        begin = entry
        for k in range(domains.starts[node], domains.starts[node + 1]):
            enlarged[entry] = domains.labels[k]
            entry += 1
        if first[node + 1] > first[node]:
            for k in range(begin, entry):
                present[enlarged[k]] = True
            for k in range(first[node], first[node + 1]):
                if not present[sorted_labels[k]]:
                    present[sorted_labels[k]] = True
                    enlarged[entry] = sorted_labels[k]
                    entry += 1
            for k in range(begin, entry):
                present[enlarged[k]] = False
        starts[node + 1] = entry
    return starts, enlarged[:entry], np.empty(entry)


# --- of all labels ---------------------------------------------------------------------------------------------------


@inner
def fill_scores(scores: Scores, tops: Values, low: float, node: int, out: Values, row: int) -> None:
    """Write the shifted θ of all labels of a node into a row of ``out``."""
    top = tops[node]
    for x in range(scores.shape[1]):
        score = np.float64(scores[node, x]) - top
        out[row, x] = score if score > low else low


@kernel
def fill_message(
    tables: Values, first_row: int, labels: Ints, at: int, sums: Values, begin: int, size: int, out: Values, row: int
) -> None:
    """Write a message for all labels of the receiver: ``out[row, y] = max_k sums[begin + k] + τ(labels[at + k], y)``.

    ``tables[first_row + x]`` is τ(x, ·).
    """
    num = tables.shape[1]
    a, i = sums[begin], first_row + labels[at]
    if size == 1:
        for y in range(num):
            out[row, y] = a + tables[i, y]
        return
    b, j = sums[begin + 1], first_row + labels[at + 1]
    for y in range(num):
        one, other = a + tables[i, y], b + tables[j, y]
        out[row, y] = one if one > other else other
    for k in range(2, size):
        a, i = sums[begin + k], first_row + labels[at + k]
        for y in range(num):
            one = a + tables[i, y]
            out[row, y] = one if one > out[row, y] else out[row, y]
