"""Checks of answers against the instance alone: trees, and lists of the best trees."""

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
"""Tolerance for sums of scores, relative to their size."""


def check_answer(instance: NonlocalInstance, heads: Heads) -> float:
    """Return the score of a tree.

    Raises
    ------
    InfeasibleAnswerError
        If it is not a tree, or not of the kind that the instance requires.
    """
    try:
        return instance.check(heads)
    except ValueError as error:
        raise InfeasibleAnswerError(str(error)) from None


def check_list(instance: NonlocalInstance, trees: Sequence[Heads], k: int, size: float = 0.0) -> float:
    """Return the score of the last of k trees.

    Parameters
    ----------
    size
        Typical size of scores, to which rounding errors are relative if scores cancel out.

    Raises
    ------
    InfeasibleAnswerError
        If one is not a tree of the instance, trees are repeated or not sorted, or there are fewer than k although the
        instance has more.
    """
    if not 0 < len(trees) <= k:
        raise InfeasibleAnswerError(f"expected 1 to {k} trees, got {len(trees)}")
    scores = [check_answer(instance, heads) for heads in trees]
    if len(set(trees)) < len(trees):
        raise InfeasibleAnswerError("the list contains a tree twice")
    for number, (better, worse) in enumerate(itertools.pairwise(scores), 1):
        if worse > better + _ROUNDING * max(size, abs(worse), abs(better)):
            raise InfeasibleAnswerError(f"tree {number + 1} scores {worse:g}, more than tree {number} with {better:g}")
    if len(trees) < k:
        zeros = np.zeros((instance.parts.size,) * 2)
        there, _ = backbone_of(instance, Parts(zeros)).k_best(np.where(instance.usable, zeros, NEG), len(trees) + 1)
        if len(there) > len(trees):
            raise InfeasibleAnswerError(f"expected {k} trees, got {len(trees)}, but the instance has more")
    return scores[-1]
