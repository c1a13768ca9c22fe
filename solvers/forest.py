"""Chains and trees as arrays: the graphs of pairwise models, many in one batch.

Nodes are numbered so that the trees lie one after the other and every node comes after its children: the root is its
tree's last node.  A chain is the tree whose last token is the root, so that going up the tree is going forward.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

NONE = -1
"""No such node."""


class Forest(NamedTuple):
    """Trees in one numbering.

    Attributes
    ----------
    starts
        Tree k has the nodes ``starts[k]`` to ``starts[k + 1] - 1``, at least one.
    parent, first_child, next_sibling
        Of each node, ``NONE`` where there is none.
    table
        Number of the table that scores the labels of a node and of its parent; any number at a root.
    """

    starts: Offsets
    parent: Ints
    first_child: Ints
    next_sibling: Ints
    table: Ints

    @property
    def num_nodes(self) -> int:
        return len(self.parent)

    def trees_of(self, nodes: Offsets) -> Offsets:
        """Number of the tree of each of some nodes."""
        return np.searchsorted(self.starts, nodes, side="right") - 1


def chains(lengths: NDArray[np.int64]) -> Forest:
    """Chains of these lengths, whose edges all have table 0."""
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    num = int(starts[-1])
    parent = np.arange(1, num + 1, dtype=np.int32)
    parent[starts[1:] - 1] = NONE
    first_child = np.arange(-1, num - 1, dtype=np.int32)
    first_child[starts[:-1]] = NONE
    return Forest(starts, parent, first_child, np.full(num, NONE, dtype=np.int32), np.zeros(num, dtype=np.int32))


def from_parents(starts: Offsets, parent: Ints, table: Ints) -> Forest:
    """Trees with these parents, numbered as this module says."""
    first_child = np.full(len(parent), NONE, dtype=np.int32)
    next_sibling = np.full(len(parent), NONE, dtype=np.int32)
    for node in range(len(parent) - 1, -1, -1):
        above = parent[node]
        if above != NONE:
            next_sibling[node] = first_child[above]
            first_child[above] = node
    return Forest(starts, parent, first_child, next_sibling, table)
