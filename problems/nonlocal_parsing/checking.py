"""Answers held against the instance alone: trees, and lists of the best trees."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from colgen.core.errors import InfeasibleAnswerError
from colgen.problems.dependency.sentence import Heads
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.losses import backbone_of
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_items import NEG

_ROUNDING = 1e-9
"""Of sums of scores, relative to their size."""


def checked(instance: NonlocalInstance, heads: Heads) -> float:
    """The score of a tree.

    Raises
    ------
    InfeasibleAnswerError
        If it is none, or not one that the instance wants.
    """
    try:
        return instance.check(heads)
    except ValueError as error:
        raise InfeasibleAnswerError(str(error)) from None


def checked_list(instance: NonlocalInstance, trees: Sequence[Heads], k: int, size: float = 0.0) -> float:
    """The score of the last of k trees.

    Parameters
    ----------
    size
        What scores are like: trees whose scores cancel out differ by what rounding leaves of those.

    Raises
    ------
    InfeasibleAnswerError
        If one is no tree of the instance, stands there twice or after a worse one, or if there are fewer than k
        although the instance has more.
    """
    if not 0 < len(trees) <= k:
        raise InfeasibleAnswerError(f"expected {k} trees, there are {len(trees)}")
    scores = [checked(instance, heads) for heads in trees]
    if len(set(trees)) < len(trees):
        raise InfeasibleAnswerError("a tree is there twice")
    for number, (better, worse) in enumerate(itertools.pairwise(scores), 1):
        if worse > better + _ROUNDING * max(size, abs(worse), abs(better)):
            raise InfeasibleAnswerError(
                f"tree {number + 1} scores {worse:g}, more than the {better:g} of the one before"
            )
    if len(trees) < k:
        zeros = np.zeros((instance.parts.size,) * 2)
        there, _ = backbone_of(instance, Parts(zeros)).k_best(np.where(instance.usable, zeros, NEG), len(trees) + 1)
        if len(there) > len(trees):
            raise InfeasibleAnswerError(f"expected {k} trees, there are {len(trees)} although the instance has more")
    return scores[-1]
