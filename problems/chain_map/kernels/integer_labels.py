"""Best scores of trees in 64-bit integers, whose sums are exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import ArrayError
from colgen.solvers.chains.forest import NONE, Forest
from colgen.solvers.kernel_cache import njit

Integers = NDArray[np.int64]


def best_scores(forest: Forest, scores: Integers, tables: Integers, forbidden: int) -> Integers:
    """Return the score of the best labelling of each tree, from 64-bit integer scores.

    ``forbidden`` is the score of forbidden labels and pairs, below all sums of allowed ones; sums are cut off at this
    value.
    """
    shapes = (forest.num_nodes, tables.shape[-1]), (len(tables), tables.shape[-1], tables.shape[-1])
    if not scores.dtype == tables.dtype == np.int64 or (scores.shape, tables.shape) != shapes:
        raise ArrayError(
            f"expected 64-bit integers of shapes {shapes[0]} and {shapes[1]}, got {scores.dtype} {scores.shape} and "
            f"{tables.dtype} {tables.shape}"
        )
    found: Integers = _best(forest, np.ascontiguousarray(scores), np.ascontiguousarray(tables), forbidden)
    return found


@njit(cache=True)
def _best(forest, scores, tables, forbidden):  # type: ignore[no-untyped-def]
    """Pass messages upwards; skip labels that the node's best label replaces for every label of the parent."""
    num_labels = scores.shape[1]
    values = scores.copy()
    gains = np.empty(
        tables.shape, np.int64
    )  # largest gain of a label over the best one, by table, best label and label
    known = np.zeros(tables.shape[:2], np.bool_)
    message = np.empty(num_labels, np.int64)
    found = np.empty(len(forest.starts) - 1, np.int64)
    tree = 0
    for node in range(len(values)):
        own = values[node]
        for label in range(num_labels):
            own[label] = max(own[label], forbidden)
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
