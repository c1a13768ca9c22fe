"""All projective trees of a short sentence, by enumeration; random parts for each parser."""

from functools import cache
from itertools import product

import numpy as np

from colgen.solvers.trees.eisner import Parts


def is_tree(heads):
    for m in range(1, len(heads)):
        seen, at = set(), m
        while at:
            if at in seen:
                return False
            seen.add(at)
            at = heads[at]
    return True


def is_projective(heads):
    def descends(word, head):
        while word != head and word > 0:
            word = heads[word]
        return word == head

    return all(
        descends(w, heads[m]) for m in range(1, len(heads)) for w in range(min(m, heads[m]) + 1, max(m, heads[m]))
    )


@cache
def all_trees(n, projective=True, single_root=True):
    """Heads of all trees of n words as an array of shape (number, n + 1)."""
    found = []
    for choice in product(range(n + 1), repeat=n):
        heads = (-1, *choice)
        if any(heads[m] == m for m in range(1, n + 1)) or (single_root and choice.count(0) != 1):
            continue
        if is_tree(heads) and (not projective or is_projective(heads)):
            found.append(heads)
    return np.array(found)


def random_parts(order, n, rng, whole=False):
    """Parts of the parser of that order; small whole numbers make ties."""

    def scores(*shape):
        return rng.integers(-2, 3, shape).astype(float) if whole else rng.normal(size=shape)

    size = n + 1
    arcs = scores(size, size)
    if order == 1:
        return Parts(arcs)
    siblings = scores(size, size, size)
    if order == 2:
        return Parts(arcs, siblings)
    if order == 3:
        return Parts(arcs, siblings, outermost=scores(size, size, size))
    return Parts(
        arcs,
        siblings,
        grandchildren=scores(size, size, size),
        triples=scores(2, 2, 4, 4, 4, 4),
        kinds=rng.integers(0, 3, size),
    )
