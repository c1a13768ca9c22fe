"""Chains and trees as arrays: the graphs of pairwise models, many in one batch.

Nodes are numbered so that the trees lie one after the other and every node comes after its children: the root is its
tree's last node.  A chain is the tree whose last token is the root, so that going up the tree is going forward.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import ArrayError, as_indices, as_integer, as_integers, as_offsets

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
    """Chains of these lengths, one token or more each, whose edges all have table 0.

    Raises
    ------
    ArrayError
        If they are none.
    """
    lengths = as_integers(lengths, "lengths", shape=("chains",), low=1, high=2**31)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    as_integer(starts[-1], "tokens of all chains", high=2**31 - 2)
    num = int(starts[-1])
    parent = np.arange(1, num + 1, dtype=np.int32)
    parent[starts[1:] - 1] = NONE
    first_child = np.arange(-1, num - 1, dtype=np.int32)
    first_child[starts[:-1]] = NONE
    return Forest(starts, parent, first_child, np.full(num, NONE, dtype=np.int32), np.zeros(num, dtype=np.int32))


def from_parents(starts: Offsets, parent: Ints, table: Ints) -> Forest:
    """Trees with these parents, numbered as this module says.

    Raises
    ------
    ArrayError
        If they are not: a node comes before its parent, its tree's last node alone has none.
    """
    parent = as_indices(parent, "parent", upper=np.size(parent), low=NONE, shape=("nodes",), dtype=np.int32)
    starts = as_offsets(starts, "starts", total=len(parent), empty=False)
    table = as_integers(table, "table", shape=parent.shape, low=0, dtype=np.int32)
    ends = np.repeat(starts[1:], np.diff(starts))
    nodes = np.arange(len(parent))
    fine = np.where(nodes == ends - 1, parent == NONE, (parent > nodes) & (parent < ends))
    if not fine.all():
        node = int(np.argmin(fine))
        raise ArrayError(
            "parent: expected a later node of the same tree, and none for its last node, "
            f"got {parent[node]} at [{node}]"
        )
    first_child = np.full(len(parent), NONE, dtype=np.int32)
    next_sibling = np.full(len(parent), NONE, dtype=np.int32)
    for node in range(len(parent) - 1, -1, -1):
        above = parent[node]
        if above != NONE:
            next_sibling[node] = first_child[above]
            first_child[above] = node
    return Forest(starts, parent, first_child, next_sibling, table)
