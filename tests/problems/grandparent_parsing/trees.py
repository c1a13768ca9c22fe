"""All trees over a few tokens, naive scores of trees, and a strategy for tiny instances."""

import itertools
from functools import cache

import numpy as np
from hypothesis import strategies as st

from colgen.problems.grandparent_parsing import GrandparentInstance
from tests.twins import trees


@cache
def all_trees(tokens):
    """The head of each token, for each tree."""
    return [tuple(tree[1:]) for tree in trees.all_trees(tokens).tolist()]


def is_tree(heads):
    return trees.is_tree((-1, *heads))


def worth(instance, heads):
    """The score of a tree, from its definition."""
    parent = (None, *heads)
    tokens = range(1, len(parent))
    total = sum(instance.arc_scores[parent[m], m] for m in tokens)
    if instance.grandparent_scores is not None:
        total += sum(instance.grandparent_scores[parent[parent[m]], parent[m], m] for m in tokens if parent[m])
    if instance.sibling_scores is not None:
        for h in range(len(parent)):
            for side in (range(h - 1, 0, -1), range(h + 1, len(parent))):
                path = [h, *(m for m in side if parent[m] == h), h]
                if len(path) > 2:
                    total += sum(instance.sibling_scores[h, s, m] for s, m in itertools.pairwise(path))
    return total


def all_worths(instance):
    """The score of every tree without excluded arcs."""
    every = [heads for heads in all_trees(len(instance)) if not instance.single_root or heads.count(0) == 1]
    tokens = np.arange(1, len(instance) + 1)
    arcs = instance.arc_scores[np.array(every), tokens].sum(axis=1)
    return {heads: worth(instance, heads) for heads, score in zip(every, arcs, strict=True) if score > -np.inf}


def optimum(instance):
    """The best score of any tree, or None."""
    values = [
        worth(instance, heads) for heads in all_trees(len(instance)) if not instance.single_root or heads.count(0) == 1
    ]
    best = max(values)
    return None if best == -np.inf else best


@st.composite
def instances(draw, most=5):
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    whole = draw(st.booleans())  # small integers make ties

    def scores(dimensions, scale):
        shape = (n + 1,) * dimensions
        return rng.integers(-2, 3, shape).astype(float) if whole else scale * rng.normal(size=shape)

    arcs = scores(2, 1.0)
    arcs[rng.random(arcs.shape) < draw(st.sampled_from([0.0, 0.0, 0.2, 0.4]))] = -np.inf
    strength = draw(st.sampled_from([0.2, 1.0, 3.0]))
    return GrandparentInstance(
        arcs,
        scores(3, strength),
        scores(3, strength) if draw(st.booleans()) else None,
        single_root=draw(st.booleans()),
    )
