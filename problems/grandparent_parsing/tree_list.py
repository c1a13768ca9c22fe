"""Lists of the best known trees, for k > 1 or projective trees."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence

import numpy as np

from colgen.problems.dependency.pool import TreePool
from colgen.problems.dependency.sentence import Heads, is_projective
from colgen.problems.grandparent_parsing.instance import Floats, Ints, Mask, as_heads
from colgen.problems.grandparent_parsing.kernels.deadlines import expired
from colgen.problems.grandparent_parsing.kernels.head_automata import tree_score
from colgen.problems.grandparent_parsing.kernels.second_order import select_heads
from colgen.problems.grandparent_parsing.kernels.tree_lists import list_all, list_near
from colgen.problems.grandparent_parsing.kernels.tree_parts import automata_of
from colgen.problems.grandparent_parsing.work import Work
from colgen.solvers.scaling import power_of_two
from colgen.solvers.stopping import Expired, never
from colgen.solvers.trees.backbone import Backbone, NonProjective, Projective, TreeTimeError
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_grandsibling import best_of_parts
from colgen.solvers.trees.eisner_items import IMPOSSIBLE, NEG

WIDTH = 4
"""Minimum number of candidate heads per modifier for a first projective tree."""

LISTED = 2**17
"""All trees are enumerated if the tokens of all combinations of remaining heads number at most this."""


class TreeList:
    """The k best trees so far; searches raise :class:`TreeTimeError` if time is up.

    ``pool`` contains the trees with their negated standard scores
    (:mod:`colgen.problems.grandparent_parsing.standard`).  ``is_complete`` if no other tree exists.
    """

    def __init__(self, k: int, *, projective: bool, single_root: bool) -> None:
        self.pool = TreePool(k)
        self.projective, self.single_root = projective, single_root
        self.is_complete = False

    @property
    def is_filled(self) -> bool:
        return self.pool.is_full or self.is_complete

    @property
    def least(self) -> float:
        """The k-th best tree's standard score, as in ``pool`` but not negated; -inf if there are fewer than k trees."""
        return -self.pool.least

    @property
    def last(self) -> Ints:
        """The k-th best tree, or the last one: heads of all vertices."""
        return np.array([-1, *self.pool.last])

    def keep(self, work: Work, tree: Ints, score: float) -> None:
        """Add a tree (heads of all vertices) if it is of the required type and good enough."""
        heads = as_heads(tree)
        if not self.projective or is_projective(heads):
            self.pool.add(heads, -work.standard_score(heads, score))

    def fill(self, work: Work, candidates: Mask, tree: Ints | None) -> Mask:
        """Find k trees, starting with one of candidate arcs; return the candidates with the arcs of all trees."""
        if self.projective and (tree is None or not is_projective(as_heads(tree))):
            wide = candidates | select_heads(work.arcs + work.bounds.grandparents + work.bounds.siblings, WIDTH)
            wide &= work.arcs > -math.inf
            automata_of(wide, work.arcs, work.parts)  # scores the parts of these arcs
            _check_time()
            found = self._best_projective(work, wide, work.arcs)
            tree = None if found is None else found[1]
        if tree is not None:
            candidates = candidates.copy()
            candidates[tree[1:], np.arange(1, len(tree))] = True
        self.add_neighbours(work, candidates, [] if tree is None else [tree])
        if self.pool.is_full:
            return candidates
        trees = first_order(work.standard.by_arc, self.pool.k, self.projective, self.single_root, _is_expired)
        fewer = len(trees) < self.pool.k
        candidates = candidates.copy()
        for heads in trees:
            candidates[heads, np.arange(1, len(heads) + 1)] = True
        if fewer:
            self.pool.k = max(len(trees), 1)
        self.add_neighbours(work, candidates, [np.array([-1, *heads]) for heads in trees])
        self.is_complete = fewer and len(self.pool.trees) == len(trees)
        return candidates

    def add_neighbours(self, work: Work, candidates: Mask, starts: Sequence[Ints]) -> None:
        """Add trees of candidate arcs that differ in one head from the starting trees or from trees in the list."""
        k = self.pool.k
        starts = [*starts, *(np.array([-1, *heads]) for heads in self.pool.trees)]
        a = automata_of(candidates & (work.arcs > -math.inf), work.arcs, work.parts)
        _check_time()
        scored = {as_heads(tree): (tree_score(a, tree), tree) for tree in starts}
        ranked = sorted(scored.values(), key=lambda pair: -pair[0])
        trees, scores = np.full((k, len(candidates)), -1), np.full(k, -math.inf)
        ranked = [(score, tree) for score, tree in ranked if score > -math.inf]
        for i, (score, tree) in enumerate(ranked[:k]):
            trees[i], scores[i] = tree, score
        count = list_near(a, trees, scores, min(len(ranked), k), self.single_root, self.projective)
        for i in range(count):
            self.keep(work, trees[i], float(scores[i]))

    def can_enumerate(self, left: Mask) -> bool:
        """Return whether all trees of these arcs can be enumerated."""
        return self.projective or _tokens(left) <= LISTED

    def add_best(self, work: Work, left: Mask, arcs: Floats) -> float:
        """Add the best trees of these arcs; return an upper bound on the standard scores of trees not added.

        If trees need not be projective, there must be few.
        """
        left = left & (arcs > -math.inf)
        a = automata_of(left, arcs, work.parts)
        _check_time()
        if self.projective and (self.pool.k == 1 or _tokens(left) > LISTED):
            return self._add_best_projective(work, left, arcs)
        k = self.pool.k
        trees, scores = np.full((k, len(left)), -1), np.full(k, -math.inf)
        count = list_all(a, trees, scores, self.single_root, self.projective)
        for i in range(count):
            self.keep(work, trees[i], float(scores[i]))
        return max(float(scores[-1]), self.least)

    def _add_best_projective(self, work: Work, left: Mask, arcs: Floats) -> float:
        """Implement :meth:`add_best` for projective trees by one dynamic program per tree."""
        # Each set of trees is stored with its best tree.  When that tree is taken, the rest of the set is split by the
        # first arc that differs: this arc is forbidden and the arcs before it are required (Lawler, 1972).
        number = itertools.count()
        heap: list[tuple[float, int, Mask, Ints, int]] = []

        def push(there: Mask, first: int) -> None:
            found = self._best_projective(work, there, arcs)
            if found is not None and (found[0] > self.least or not heap):
                heapq.heappush(heap, (-found[0], next(number), there, found[1], first))

        push(left, 1)
        best = -heap[0][0] if heap else -math.inf
        while heap and self.pool.k > 1 and -heap[0][0] > self.least:
            _, _, there, tree, first = heapq.heappop(heap)
            there = there.copy()
            for m in range(first, len(tree)):
                if there[:, m].sum() > 1:
                    other = there.copy()
                    other[tree[m], m] = False
                    push(other, m)
                    there[:, m] = False
                    there[tree[m], m] = True
        return best if self.pool.k == 1 else max(-heap[0][0], self.least) if heap else self.least

    def _best_projective(self, work: Work, there: Mask, arcs: Floats) -> tuple[float, Ints] | None:
        """Add and return the best projective tree of some arcs, whose parts must be scored."""
        parts = work.parts
        try:
            found = best_of_parts(
                there,
                arcs,
                parts.grandparent_values,
                parts.sibling_values,
                single_root=self.single_root,
                expired=_is_expired,
            )
        except TimeoutError:
            raise TreeTimeError from None
        if found is not None:
            self.keep(work, found[1], found[0])
        return found


def first_order(arcs: Floats, k: int, projective: bool, single_root: bool, expired: Expired = never) -> list[Heads]:
    """Return the k best trees by arc scores, best first, or all if fewer exist; -inf where there is no arc."""
    there = arcs > -math.inf
    largest = float(np.abs(arcs[there]).max(initial=0.0)) or 1.0
    scores = np.where(there, arcs / (2.0 * power_of_two(largest)), NEG)
    backbone: Backbone = NonProjective(len(arcs), single_root, expired)
    if projective:
        backbone = Projective(Parts(np.zeros_like(scores)), single_root, expired)
    if k == 1:
        best = np.empty(len(arcs), dtype=np.int64)
        return [as_heads(best)] if backbone.best(scores, best) > IMPOSSIBLE else []
    return [as_heads(tree) for tree in backbone.k_best(scores, k)[1]]


def _tokens(left: Mask) -> float:
    """Return the number of combinations of remaining heads, times the number of vertices."""
    return len(left) * float(left[:, 1:].sum(axis=0).astype(np.float64).prod())


def _is_expired() -> bool:
    return bool(expired())


def _check_time() -> None:
    if expired():
        raise TreeTimeError
