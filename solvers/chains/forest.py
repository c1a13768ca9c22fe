"""Chains and trees as arrays: the graphs of pairwise models, with many chains or trees in one batch.

Trees are numbered consecutively.  Every node comes after its children: the root is the last node of its tree.  A chain
is the tree whose last token is the root, so going up the tree means going forward.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import ArrayError, as_indices, as_integer, as_integers, as_offsets
from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

NONE = -1
"""Number for a missing node."""


class Forest(NamedTuple):
    """Trees in one numbering; links are ``NONE`` if missing.

    Attributes
    ----------
    starts : tree k has the nodes ``starts[k]`` to ``starts[k + 1] - 1``, at least one
    parent : parent of each node
    first_child : first child of each node
    next_sibling : next child of the same parent
    table : number of the table that scores the labels of a node and its parent; arbitrary for a root
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
        """Return the tree of each given node."""
        return np.searchsorted(self.starts, nodes, side="right") - 1


def chains(lengths: NDArray[np.int64]) -> Forest:
    """Return chains of these lengths, at least one token each (else ArrayError), with table 0 on all edges."""
    lengths = as_integers(lengths, "lengths", shape=("chains",), low=1, high=2**31)
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    lengths.cumsum(out=starts[1:])
    as_integer(starts[-1], "tokens of all chains", high=2**31 - 2)
    num = int(starts[-1])
    parent = np.arange(1, num + 1, dtype=np.int32)
    parent[starts[1:] - 1] = NONE
    first_child = np.arange(-1, num - 1, dtype=np.int32)
    first_child[starts[:-1]] = NONE
    return Forest(starts, parent, first_child, np.full(num, NONE, dtype=np.int32), np.zeros(num, dtype=np.int32))


@lru_cache(maxsize=256)
def one_chain(length: int) -> Forest:
    """Return a single chain from a cache: decoding a short sentence takes less time than building its chain."""
    return chains(np.array([length]))


def from_parents(starts: Offsets, parent: Ints, table: Ints) -> Forest:
    """Return trees with these parents, numbered as described above.

    An ArrayError is raised unless every node comes before its parent, and only the last node of each tree has none.
    """
    parent = as_indices(parent, "parent", upper=np.size(parent), low=NONE, shape=("nodes",), dtype=np.int32)
    starts = as_offsets(starts, "starts", total=len(parent), empty=False)
    table = as_integers(table, "table", shape=parent.shape, low=0, dtype=np.int32)
    _check_parents(starts, parent)
    # Children in the order of their numbers: each is followed by the next node that has the same parent.
    inner = np.flatnonzero(parent != NONE)
    inner = inner[np.argsort(parent[inner], kind="stable")].astype(np.int32)
    is_first = np.append(True, np.diff(parent[inner]) != 0)[: len(inner)]
    first_child, next_sibling = (np.full(len(parent), NONE, dtype=np.int32) for _ in range(2))
    first_child[parent[inner[is_first]]] = inner[is_first]
    next_sibling[inner[:-1][~is_first[1:]]] = inner[1:][~is_first[1:]]
    return Forest(starts, parent, first_child, next_sibling, table)


def check_forest(forest: Forest, tables: int) -> Forest:
    """Return the forest after validation of its arrays for ``tables`` tables, which kernels do not check.

    An ArrayError names the invalid array.
    """
    tables = as_integer(tables, "tables", low=0)
    num = np.size(forest.parent)
    parent = as_indices(forest.parent, "parent", upper=num, low=NONE, shape=("nodes",), dtype=np.int32)
    starts = as_offsets(forest.starts, "starts", total=num, empty=False)
    _check_parents(starts, parent)
    first_child, next_sibling = (
        as_indices(array, name, upper=num, low=NONE, shape=(num,), dtype=np.int32)
        for array, name in ((forest.first_child, "first_child"), (forest.next_sibling, "next_sibling"))
    )
    if not _are_children(parent, first_child, next_sibling):
        raise ArrayError("first_child, next_sibling: expected each node with a parent once, in its parent's list")
    table = as_integers(forest.table, "table", shape=(num,), dtype=np.int32)
    as_indices(table[parent != NONE], "table of nodes with a parent", upper=tables)
    return Forest(starts, parent, first_child, next_sibling, table)


def _check_parents(starts: Offsets, parent: Ints) -> None:
    if not len(parent):
        raise ArrayError("parent: expected at least one node, got none")
    nodes = np.arange(len(parent))
    ends = np.repeat(starts[1:], np.diff(starts))
    fine = np.where(nodes == ends - 1, parent == NONE, (parent > nodes) & (parent < ends))
    if not fine.all():
        node = int(np.argmin(fine))
        raise ArrayError(
            "parent: expected a later node of the same tree, and none for its last node, "
            f"got {parent[node]} at [{node}]"
        )


@njit(cache=True)
def _are_children(parent: Ints, first_child: Ints, next_sibling: Ints) -> bool:
    """Return whether the lists of children contain each node with a parent once, in its parent's list."""
    count = 0
    for node in range(len(parent)):
        child, before = first_child[node], NONE
        while child != NONE:
            if parent[child] != node or child <= before:  # this also ends a cyclic list
                return False
            count += 1
            before = child
            child = next_sibling[child]
        count += parent[node] == NONE and next_sibling[node] == NONE
    return count == len(parent)
