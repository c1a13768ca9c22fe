"""Messages of trees whose nodes have restricted domains, for all labels; nothing is computed that cannot have changed.

With D_i the domain of node i, c a child of p and F, G as below, the messages along their edge are

    up_c(y)   = max_{x in D_c} F_c(x) + τ_c(x, y)        for all labels y of p,   F_c = θ_c + Σ_{children d of c} up_d
    down_c(x) = max_{y in D_p} G_c(y) + τ_c(x, y)        for all labels x of c,   G_c = θ_p + down_p + Σ_{d ≠ c} up_d

In a chain up is the forward message α and down the backward message β.  A message changes only if the domain that it is
a maximum over grew, or if F or G changed within that domain; each message remembers whether it changed at all (then
reduced costs have) and whether it changed within the domain of its receiver (then further messages may).

Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (2012), section 4.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.arrays import as_floats
from solvers.chains.forest import NONE, Forest, Ints, Offsets
from solvers.chains.tree_domains import Domains, add_message

Scores = NDArray[Any]
Flags = NDArray[np.uint8]

ANYWHERE, WITHIN = 1, 2
"""A message changed; it changed for a label in the domain of its receiver."""


class Messages(NamedTuple):
    """Messages along the edge of each node to its parent, and what has changed since reduced costs were last computed.

    Attributes
    ----------
    up, down
        Shape (nodes, labels); rows of roots are not used.
    up_change, down_change
        Sums of ``ANYWHERE`` and ``WITHIN``, one a node.
    grown
        Whether a node's domain has grown since messages were last computed.
    """

    up: Scores
    down: Scores
    up_change: Flags
    down_change: Flags
    grown: Flags


def no_messages(scores: Scores) -> Messages:
    """Messages before the first are computed: NaN, which differs from whatever comes."""
    scores = as_floats(scores, "scores", shape=("nodes", "labels"), minus_infinity=True, dtype=None)
    num = len(scores)
    return Messages(
        np.full_like(scores, np.nan),
        np.full_like(scores, np.nan),
        np.zeros(num, dtype=np.uint8),
        np.zeros(num, dtype=np.uint8),
        np.ones(num, dtype=np.uint8),
    )


@njit(cache=True)
def pass_messages(
    forest: Forest,
    scores: Scores,
    tables: Scores,
    transposed: Scores,
    domains: Domains,
    messages: Messages,
    active: Offsets,
    both_ways: bool,
    position: Offsets,
    work: float,
) -> int:
    """Bring the messages of the active trees up to date; ``domains.below`` is overwritten by F.

    Many labels make one tree take seconds, so that a call stops within a tree and the next one goes on from there.

    Parameters
    ----------
    tables, transposed
        τ of all tables, rows ``table · labels + x`` for the node's and for its parent's label.
    active
        Numbers of the trees.
    both_ways
        Also downwards.
    position
        Where to go on, zeros at first: the trees that are done, and the nodes of the next one, either way; rewritten.
    work
        A call ends after about so many sums, or with the last tree.

    Returns
    -------
    int
        Messages that were computed.
    """
    num = scores.shape[1]
    starts, labels, below = domains
    up, down, up_change, down_change, grown = messages
    scratch = np.empty(num, dtype=scores.dtype)
    row = np.empty(num, dtype=scores.dtype)
    outside = np.empty(len(labels), dtype=scores.dtype)  # G, as below holds F
    computed, done = 0, 0.0
    while position[0] < len(active):
        tree = active[position[0]]
        first, root = forest.starts[tree], forest.starts[tree + 1] - 1
        size = root + 1 - first
        for node in range(first + position[1], root + 1):
            if done >= work:
                return computed
            position[1] += 1
            done += 1
            stale = grown[node] != 0
            child = forest.first_child[node]
            while child != NONE:
                stale = stale or up_change[child] & WITHIN
                child = forest.next_sibling[child]
            up_change[node] = 0
            if not stale:
                continue
            for k in range(starts[node], starts[node + 1]):
                total = scores[node, labels[k]]
                child = forest.first_child[node]
                while child != NONE:
                    total += up[child, labels[k]]
                    child = forest.next_sibling[child]
                below[k] = total
            if node != root:
                first_row, parent = forest.table[node] * num, forest.parent[node]
                begin, end = starts[node], starts[node + 1]
                up_change[node] = _send(
                    up, node, tables, first_row, labels, below, begin, end, domains, parent, scratch, row
                )
                computed += 1
                done += num * (end - begin)
        if both_ways:
            for node in range(root - (position[1] - size), first - 1, -1):
                if done >= work:
                    return computed
                position[1] += 1
                done += 1
                child = forest.first_child[node]
                while child != NONE:
                    stale = grown[node] != 0 or (node != root and down_change[node] & WITHIN != 0)
                    sibling = forest.first_child[node]
                    while sibling != NONE:
                        stale = stale or (sibling != child and up_change[sibling] & WITHIN)
                        sibling = forest.next_sibling[sibling]
                    down_change[child] = 0
                    if stale:
                        for k in range(starts[node], starts[node + 1]):
                            total = scores[node, labels[k]]
                            if node != root:
                                total += down[node, labels[k]]
                            sibling = forest.first_child[node]
                            while sibling != NONE:
                                if sibling != child:
                                    total += up[sibling, labels[k]]
                                sibling = forest.next_sibling[sibling]
                            outside[k] = total
                        first_row, begin, end = forest.table[child] * num, starts[node], starts[node + 1]
                        down_change[child] = _send(
                            down,
                            child,
                            transposed,
                            first_row,
                            labels,
                            outside,
                            begin,
                            end,
                            domains,
                            child,
                            scratch,
                            row,
                        )
                        computed += 1
                        done += num * (end - begin)
                    child = forest.next_sibling[child]
        for node in range(first, root + 1):
            grown[node] = 0
        position[0] += 1
        position[1] = 0
    return computed


@njit(cache=True)
def forget(forest: Forest, messages: Messages, tree: int) -> None:
    """Let a tree have no messages, as before the first: for one that :func:`pass_messages` has left half done."""
    for node in range(forest.starts[tree], forest.starts[tree + 1]):
        messages.up[node] = np.nan
        messages.down[node] = np.nan
        messages.grown[node] = 1


@njit(cache=True)
def _send(
    messages: Scores,
    node: int,
    tables: Scores,
    first_row: int,
    labels: Ints,
    sums: Scores,
    begin: int,
    end: int,
    domains: Domains,
    receiver: int,
    scratch: Scores,
    row: Scores,
) -> int:
    """Put the message of a domain's ``labels`` with ``sums`` in its place; the answer says where it has changed."""
    num = len(row)
    first, last = domains.starts[receiver], domains.starts[receiver + 1]
    within, differing = False, np.int32(0)
    if end - begin == 1:  # most domains: no maximum has to be taken
        a, i = sums[begin], first_row + labels[begin]
        for k in range(first, last):
            y = domains.labels[k]
            within = within or messages[node, y] != a + tables[i, y]
        for y in range(num):
            value = a + tables[i, y]
            differing += np.int32(messages[node, y] != value)
            messages[node, y] = value
    else:
        for y in range(num):
            row[y] = 0
        add_message(tables, first_row, labels, sums, begin, end, scratch, row)
        for k in range(first, last):
            within = within or messages[node, domains.labels[k]] != row[domains.labels[k]]
        for y in range(num):
            differing += np.int32(messages[node, y] != row[y])
            messages[node, y] = row[y]
    return ANYWHERE + WITHIN if within else ANYWHERE if differing else 0


@njit(cache=True)
def grow(domains: Domains, member: Flags, grown: Flags, nodes: Offsets, labels: Ints) -> tuple[Offsets, Ints, Scores]:
    """Domains enlarged by labels that may be there already; ``below`` of new entries is not set."""
    added = np.zeros(len(grown), dtype=np.int64)
    for k in range(len(nodes)):
        if not member[nodes[k], labels[k]]:
            member[nodes[k], labels[k]] = 2  # is new
            added[nodes[k]] += 1
            grown[nodes[k]] = 1
    starts = np.empty_like(domains.starts)
    starts[0] = 0
    for node in range(len(grown)):
        starts[node + 1] = starts[node] + domains.starts[node + 1] - domains.starts[node] + added[node]
    all_labels = np.empty(starts[-1], dtype=np.int32)
    below = np.empty(starts[-1], dtype=domains.below.dtype)
    for node in range(len(grown)):
        old, size = domains.starts[node], domains.starts[node + 1] - domains.starts[node]
        for k in range(size):
            all_labels[starts[node] + k] = domains.labels[old + k]
            below[starts[node] + k] = domains.below[old + k]
        added[node] = starts[node] + size
    for k in range(len(nodes)):
        if member[nodes[k], labels[k]] == 2:
            member[nodes[k], labels[k]] = 1
            all_labels[added[nodes[k]]] = labels[k]
            added[nodes[k]] += 1
    return starts, all_labels, below
