"""The best labellings of trees in whole numbers of 64 bits: sums that nothing rounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import ArrayError
from colgen.solvers.chains.forest import NONE, Forest
from colgen.solvers.kernel_cache import njit

Whole = NDArray[np.int64]


def best_scores(forest: Forest, scores: Whole, tables: Whole, never: int) -> Whole:
    """The score of the best labelling of each tree.

    Parameters
    ----------
    scores, tables
        Of nodes and labels, and of pairs of labels by table.
    never
        What is forbidden, below all sums of what is not; sums are no smaller.
    """
    shapes = (forest.num_nodes, tables.shape[-1]), (len(tables), tables.shape[-1], tables.shape[-1])
    if not scores.dtype == tables.dtype == np.int64 or (scores.shape, tables.shape) != shapes:
        raise ArrayError(f"expected whole numbers of 64 bits, of the shapes {shapes[0]} and {shapes[1]}")
    found: Whole = _best(forest, np.ascontiguousarray(scores), np.ascontiguousarray(tables), never)
    return found


@njit(cache=True)
def _best(forest, scores, tables, never):  # type: ignore[no-untyped-def]
    """Upwards; of a node's labels those are left out that its best one replaces, whatever the parent's label is."""
    num_labels = scores.shape[1]
    values = scores.copy()
    gains = np.empty(tables.shape, np.int64)  # by table, best label and other: what the other one gains at the most
    known = np.zeros(tables.shape[:2], np.bool_)
    message = np.empty(num_labels, np.int64)
    found = np.empty(len(forest.starts) - 1, np.int64)
    tree = 0
    for node in range(len(values)):
        own = values[node]
        for label in range(num_labels):
            own[label] = max(own[label], never)
        first = own.argmax()
        parent = forest.parent[node]
        if parent == NONE:
            found[tree] = own[first]
            tree += 1
            continue
        table = forest.table[node]
        pairs, gained = tables[table], gains[table, first]
        if not known[table, first]:
            known[table, first] = True
            for label in range(num_labels):
                gained[label] = (pairs[label] - pairs[first]).max()
        for label in range(num_labels):
            message[label] = own[first] + pairs[first, label]
        for other in range(num_labels):
            if other != first and own[other] + gained[other] > own[first]:
                for label in range(num_labels):
                    message[label] = max(message[label], own[other] + pairs[other, label])
        for label in range(num_labels):
            values[parent, label] += message[label]
    return found
