"""All trees over a few tokens, and their parts, as arrays."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@cache
def all_trees(tokens: int, projective: bool = False, single_root: bool = False) -> Ints:
    """Return the heads of all vertices, -1 for the root, shape (trees, tokens + 1)."""
    found = []
    for heads in itertools.product(range(tokens + 1), repeat=tokens):
        tree = (-1, *heads)
        if (not single_root or heads.count(0) == 1) and is_tree(tree) and (not projective or is_projective(tree)):
            found.append(tree)
    return np.array(found, dtype=np.int64).reshape(-1, tokens + 1)


@cache
def places(tokens: int, projective: bool = False, single_root: bool = False) -> dict[tuple[int, ...], int]:
    """Return the number of each tree by the heads of its tokens."""
    return {tuple(tree[1:]): k for k, tree in enumerate(all_trees(tokens, projective, single_root).tolist())}


@cache
def grandparent_parts(tokens: int, single_root: bool) -> tuple[Ints, NDArray[np.bool_]]:
    """Return (grandparent, parent, child) of all tokens, shape (trees, tokens, 3), and a mask of existing parts."""
    trees = all_trees(tokens, single_root=single_root)
    children = np.arange(1, tokens + 1)
    parents = trees[:, 1:]
    grandparents = np.take_along_axis(trees, parents, axis=1)
    parts = np.stack([grandparents, parents, np.broadcast_to(children, parents.shape)], axis=-1)
    return np.maximum(parts, 0), parents > 0


@cache
def sibling_parts(tokens: int, single_root: bool) -> tuple[Ints, NDArray[np.bool_]]:
    """Return padded (head, sibling, modifier) of each tree, consecutive on one side, and a mask of existing parts."""
    trees = all_trees(tokens, single_root=single_root)
    found = []
    for tree in trees.tolist():
        parts = []
        for h in range(tokens + 1):
            for side in (range(h - 1, 0, -1), range(h + 1, tokens + 1)):
                path = [h, *(m for m in side if tree[m] == h), h]
                if len(path) > 2:
                    parts += [(h, s, m) for s, m in itertools.pairwise(path)]
        found.append(parts)
    most = max((len(parts) for parts in found), default=0)
    padded = np.zeros((len(found), most, 3), dtype=np.int64)
    there = np.zeros((len(found), most), dtype=bool)
    for k, parts in enumerate(found):
        padded[k, : len(parts)], there[k, : len(parts)] = parts, True
    return padded, there


def is_tree(tree: tuple[int, ...]) -> bool:
    """Return whether every token descends from the root, number 0."""
    for token in range(1, len(tree)):
        at = token
        for _ in tree:
            at = 0 if at == 0 else tree[at]
        if at:
            return False
    return True


def is_projective(tree: tuple[int, ...]) -> bool:
    """Return whether all tokens between a token and its head descend from that head."""

    def descends(word: int, head: int) -> bool:
        while word not in (head, 0):
            word = tree[word]
        return word == head

    return all(descends(w, tree[m]) for m in range(1, len(tree)) for w in range(min(m, tree[m]) + 1, max(m, tree[m])))
