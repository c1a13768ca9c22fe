"""Backbones: repeated search for the best tree of local parts under changing arc scores.

A backbone holds the constant parts and the memory of its charts.  Projective trees come from the dynamic programs of
:mod:`colgen.solvers.trees.eisner`, all others from maximum spanning arborescences.  The k best of these are found as in
Hall, *K-best spanning tree parsing*, ACL 2007.
"""

from __future__ import annotations

import functools
import heapq
import threading
from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from colgen.solvers.stopping import Expired, never
from colgen.solvers.trees import eisner_search as search
from colgen.solvers.trees.arborescence import reduced_costs, solve_arborescence
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_items import FIRST, GRANDCHILD, NEG, SIBLING, THIRD, Floats, Ints
from colgen.solvers.trees.eisner_k_best import k_best

_IMPOSSIBLE = 0.5 * NEG


_AT_ONCE = 4e6
"""Steps of a dynamic program between two checks of the clock: a few milliseconds."""


_STEPS = {FIRST: 1.0, SIBLING: 2.0, GRANDCHILD: 4.0, THIRD: 16.0}
"""Steps per span of width 1, for each grandparent if there is one."""


class TreeTimeError(Exception):
    """A dynamic program was stopped by the time limit."""


class Backbone(ABC):
    """Best trees of local parts, for arc scores of shape (N, N) with ``NEG`` for forbidden arcs.

    Long computations check ``expired()`` and raise :class:`TreeTimeError` once it is true.
    """

    size: int
    expired: Expired

    @abstractmethod
    def best(self, arc: Floats, heads: Ints) -> float:
        """Return the score of the best tree, or ``NEG``.  Write its heads, shape (N,) with ``heads[0]`` = -1."""

    @abstractmethod
    def marginals(self, arc: Floats, bound: Floats) -> None:
        """Write an upper bound on the trees with each arc, shape (N, N), for the arc scores of the last :meth:`best`.

        The bound equals the best score on the arcs of a best tree.  It is at most ``NEG / 2`` for arcs in no tree.
        """

    @abstractmethod
    def likely(self, arc: Floats, rank: Floats) -> None:
        """Write a quick heuristic rank of each arc's chance to be in a best tree, shape (N, N); not a bound."""

    @abstractmethod
    def k_best(self, arc: Floats, k: int) -> tuple[Floats, Ints]:
        """Return scores and heads of the k best trees, shapes (k,) and (k, N), or of all if there are fewer."""

    def require(self) -> None:
        """Raise :class:`TreeTimeError` if time is up."""
        if self.expired():
            raise TreeTimeError


class Projective(Backbone):
    """Projective trees by dynamic programs, with exact marginals."""

    def __init__(self, parts: Parts, single_root: bool = True, expired: Expired = never) -> None:
        self.size, self._order, self.expired = parts.size, parts.order, expired
        self._rest = parts.rest(single_root)
        self._chart = _memory("chart", search.chart_size(self._order, self.size))
        self._inside, self._outside = (_slices(self._order, self.size, work) for work in (1.0, 4.0))

    def best(self, arc: Floats, heads: Ints) -> float:
        if len(self._inside) == 1:
            value: float = search.best_with_heads(arc, self._rest, self._chart, heads)
            return value
        if self._fill(arc) < _IMPOSSIBLE:
            return NEG
        search.best_heads(arc, self._rest, self._chart, heads)
        return float(self._chart[search.goal(self._order, self.size)])

    def _fill(self, arc: Floats) -> float:
        value = NEG
        for first, end in self._inside:
            self.require()
            value = search.inside(arc, self._rest, self._chart, first, end)
        return value

    def marginals(self, arc: Floats, bound: Floats) -> None:
        outside = _memory("outside", len(self._chart))
        for first, end in reversed(self._outside):
            self.require()
            search.marginals(arc, self._rest, self._chart, outside, bound, first, end)

    def likely(self, arc: Floats, rank: Floats) -> None:
        plain = Projective(Parts(np.zeros_like(arc)), self._rest[5], self.expired)
        most = arc + self._most
        plain.best(most, np.empty(self.size, dtype=np.int64))
        plain.marginals(most, rank)

    @cached_property
    def _most(self) -> Floats:
        """Upper bound on the scores of each arc's other parts, shape (N, N)."""
        order, sib, grand, *_ = self._rest
        most = np.zeros((self.size, self.size))
        if order >= SIBLING:
            most += sib.max(axis=2)
        if order == GRANDCHILD:
            most += 2.0 * grand.max(axis=2)
        if order == THIRD:
            most += grand.max(axis=0)
        return most

    def k_best(self, arc: Floats, k: int) -> tuple[Floats, Ints]:
        self._fill(arc)
        values, heads, complete = k_best(k, arc, self._rest, self._chart, self.expired)
        if not complete:
            raise TreeTimeError
        return values, heads


@functools.lru_cache(256)
def _slices(order: int, size: int, work: float) -> tuple[tuple[int, int], ...]:
    """Return ranges of widths that take a few milliseconds each, narrow spans first."""
    found, first, steps = [], 1, 0.0
    for width in range(1, size):
        steps += work * (size - width) * width * _STEPS[order] * (1 if order < GRANDCHILD else size)
        if steps > _AT_ONCE or width == size - 1:
            found.append((first, width + 1))
            first, steps = width + 1, 0.0
    return tuple(found)


class NonProjective(Backbone):
    """All trees by arborescences; marginals are bounds from reduced costs."""

    def __init__(self, size: int, single_root: bool = True, expired: Expired = never) -> None:
        self.size, self.single_root, self.expired = size, single_root, expired

    def best(self, arc: Floats, heads: Ints) -> float:
        self.require()
        found, _, _, feasible = solve_arborescence(_open(arc), self.single_root)
        if not feasible:
            return NEG
        heads[:] = found
        return float(arc[heads[1:], np.arange(1, self.size)].sum())

    def marginals(self, arc: Floats, bound: Floats) -> None:
        heads = np.empty(self.size, dtype=np.int64)
        best = self.best(arc, heads)
        costs = reduced_costs(_open(arc), single_root=self.single_root)
        assert costs is not None  # there is a tree
        bound[:] = NEG
        there = arc > _IMPOSSIBLE
        bound[there] = best + costs[there]
        bound[heads[1:], np.arange(1, self.size)] = best

    def likely(self, arc: Floats, rank: Floats) -> None:
        if self.best(arc, np.empty(self.size, dtype=np.int64)) > _IMPOSSIBLE:
            self.marginals(arc, rank)
        else:
            rank[:] = arc

    def k_best(self, arc: Floats, k: int) -> tuple[Floats, Ints]:
        # A set of trees is stored with its best tree.  When that tree is returned, the rest of the set is split by the
        # first different arc: the arc is forbidden, and those before it are required (Lawler, 1972).
        heads = np.empty(self.size, dtype=np.int64)
        values: list[float] = []
        trees: list[Ints] = []
        best = self.best(arc, heads)
        heap = [(-best, 0, arc, heads, 1)] if best > _IMPOSSIBLE else []
        pushed = 0
        while heap and len(values) < k:
            worth, _, scores, heads, first = heapq.heappop(heap)
            values.append(-worth)
            trees.append(heads)
            if len(values) == k:
                break
            scores = scores.copy()
            for m in range(first, self.size):
                h = heads[m]
                own, scores[h, m] = scores[h, m], NEG
                other = np.empty(self.size, dtype=np.int64)
                best = self.best(scores, other)
                if best > _IMPOSSIBLE:
                    pushed += 1
                    heapq.heappush(heap, (-best, pushed, scores.copy(), other, m))
                scores[:, m] = NEG
                scores[h, m] = own
        return np.array(values), np.array(trees, dtype=np.int64).reshape(-1, self.size)


def _open(arc: Floats) -> Floats:
    return np.where(arc > _IMPOSSIBLE, arc, -np.inf)


_kept = threading.local()

_MOST_KEPT = 1 << 23
"""Longest chart that is kept, in numbers."""


def _memory(name: str, length: int) -> Floats:
    """Return a chart shared by all sentences of a thread: allocating new memory costs more than filling it.

    Every use overwrites it.  Very long charts are not kept.
    """
    if length > _MOST_KEPT:
        return np.empty(length)
    chart: Floats | None = getattr(_kept, name, None)
    if chart is None or len(chart) < length:
        chart = np.empty(length)
        setattr(_kept, name, chart)
    return chart
