"""Certificates of clusterings of few items: triangles that are tight at the answer, and splits of pairs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from colgen import Sense, Solution
from colgen.core.tolerances import TOLERANCES
from colgen.proof.certifier import Certifier, Record, as_exact
from colgen.proof.checker_clusters import Clusterings
from colgen.proof.checker_pricing import State
from colgen.proof.scaling import as_whole, places
from colgen.proof.witness import Point
from problems.coreference.clusters import Cluster
from problems.coreference.instance import Floats, Instance
from solvers.linear.lp import LinearProgram, LPStatus

_MOST_ITEMS = 40
"""Of a group: there are three rows for each three items."""

_NODES = 100
"""Beyond so many splits the checker is asked to trust the run."""

_OVER = (12, 12 << 40)
"""Denominators of dual values: of vertices of small programs, and of whatever has a margin."""


class ClusterCertifier(Certifier):
    """A proof of its own: the run's tree speaks of groups that were found on the way.

    Every score is a whole number over a power of two, so that nothing of it is rounded.

    Parameters
    ----------
    clusters
        Of all items, of an answer.
    """

    states_formulation = False

    def __init__(self, instance: Instance, clusters: Callable[[Solution], Sequence[Cluster]]) -> None:
        super().__init__(Sense.MAXIMIZE, instance.name)
        self._instance, self._clusters = instance, clusters

    def instance(self) -> Record:
        return self._data

    @cached_property
    def _data(self) -> Record:
        scores = np.asarray(self._instance.scores)
        shift = places(scores)
        whole = as_whole(scores, shift)
        return {"kind": "coreference", "name": self.name, "denominator": 2**shift, "scores": whole}

    def formulation(self) -> Record:
        return {"sense": "maximize", "step": None, "rows": [], "pricing": [{"kind": "clusterings", "uses": [1, 1]}]}

    @cached_property
    def _checked(self) -> Clusterings:
        return Clusterings(0, self._data, 0)

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, [[int(i) for i in cluster] for cluster in self._clusters(solution)]]]

    def objective(self, solution: Solution) -> Fraction:
        ((_, _, clusters),) = self.columns(solution)
        return self._checked.column(clusters)[0]

    def proof(self, answer: Solution, points: Sequence[Point], goal: Fraction) -> Iterable[Record] | None:
        scores = np.asarray(self._instance.scores)
        label = np.zeros(self._checked.size, dtype=np.int64)
        for number, cluster in enumerate(self._clusters(answer)):
            label[list(cluster)] = number
        groups = _at_odds(scores, label)
        if max(map(len, groups), default=0) > _MOST_ITEMS:
            return None
        duals, records, numbers = _TriangleDuals(scores, label, groups), [], itertools.count(1)
        stack: list[tuple[int, tuple[tuple[int, int, bool], ...], bool]] = [(0, (), True)]
        while stack:
            node, pairs, holds = stack.pop()
            values, pair = duals.tight(pairs) if holds else None, None
            claim = None if values is None else self._claim(values, duals, pairs, goal)
            relaxed = duals.relaxed(pairs) if claim is None else None
            if relaxed is not None:
                values, pair = relaxed
                claim = self._claim(values, duals, pairs, goal)
            if claim is not None:
                records.append({"node": node, "claim": claim})
            elif pair is None or len(records) > _NODES:
                return None
            else:
                below = [next(numbers), next(numbers)]
                records.append({"node": node, "split": {"pair": list(pair)}, "children": below})
                for child, joined in zip(below, (True, False), strict=True):
                    held = holds and bool(label[pair[0]] == label[pair[1]]) == joined
                    stack.append((child, (*pairs, (*pair, joined)), held))
        return records

    def _claim(
        self, values: Floats, duals: _TriangleDuals, pairs: tuple[tuple[int, int, bool], ...], goal: Fraction
    ) -> Record | None:
        """A claim with dual values near these, if they prove the goal exactly."""
        size = Fraction(duals.size) * self._checked.unit
        for over in _OVER:
            chosen = [
                [*map(int, duals.items[t]), dual]
                for t in np.flatnonzero(values > 0.0)
                if (dual := round(Fraction(float(values[t])) * size * over))
            ]
            given = {"over": over, "triangles": chosen}
            least = self._checked.least((), Fraction(-1), {}, State(pairs=pairs, given=given))
            if least >= goal:
                claim = {"weight": 1, "unit": 1, "duals": [], "counts": [], "least": [as_exact(least)]}
                return {**claim, "bound": as_exact(-least), "potentials": given}
        return None


def _at_odds(scores: Floats, label: NDArray[np.int64]) -> list[list[int]]:
    """Items that positive scores connect, if some pair of them is apart at a gain, or together at a loss.

    Where there is no such pair no clustering of them is better; between two sets of items no score is positive.
    """
    _, of = csgraph.connected_components(sparse.csr_array(scores > 0.0), directed=False)
    u, v = np.nonzero(np.where(label[:, None] == label, scores < 0.0, scores > 0.0) & (of[:, None] == of))
    return [np.flatnonzero(of == k).tolist() for k in np.unique(of[np.union1d(u, v)]).tolist()]


class _TriangleDuals:
    """Dual values of triangles, by linear programs over those in groups of items; scores are divided by ``size``."""

    def __init__(self, scores: Floats, label: NDArray[np.int64], groups: Sequence[Sequence[int]]) -> None:
        self._pairs = np.array(
            [pair for group in groups for pair in itertools.combinations(group, 2)], dtype=np.int64
        ).reshape(-1, 2)
        own = scores[self._pairs[:, 0], self._pairs[:, 1]]
        self.size = float(np.abs(own[np.isfinite(own)]).max(initial=0.0)) or 1.0
        self._scores = own / self.size
        self._number = np.full(scores.shape, -1, dtype=np.int64)
        self._number[self._pairs[:, 0], self._pairs[:, 1]] = np.arange(len(self._pairs))
        self._number = np.maximum(self._number, self._number.T)
        self.items = np.array(
            [
                (i, j, k)
                for group in groups
                for i, j in itertools.combinations(group, 2)
                for k in group
                if k not in (i, j)
            ],
            dtype=np.int64,
        ).reshape(-1, 3)
        i, j, k = self.items.T
        rows = np.concatenate([self._number[i, k], self._number[k, j], self._number[i, j]])
        entries = np.repeat([1.0, 1.0, -1.0], len(i))
        self._matrix = sparse.csc_array((entries, (rows, np.tile(np.arange(len(i)), 3))), (len(self._scores), len(i)))
        self._together = label[self._pairs[:, 0]] == label[self._pairs[:, 1]]
        same = (label[i] == label[k]).astype(int) + (label[k] == label[j]) - (label[i] == label[j])
        self._tight = same == 1
        self._most = 4.0 * float(np.abs(self._scores[np.isfinite(self._scores)]).sum()) + 1.0

    def _decided(self, pairs: tuple[tuple[int, int, bool], ...]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Pairs that are open, and those that are together."""
        open_, together = np.isfinite(self._scores), np.zeros(len(self._scores), dtype=np.bool_)
        for u, v, joined in pairs:
            open_[self._number[u, v]], together[self._number[u, v]] = False, joined
        return open_, together

    def tight(self, pairs: tuple[tuple[int, int, bool], ...]) -> Floats | None:
        """Such that what is left of pairs is positive if the answer has them together, and else negative, by a margin.

        The answer's triangles with a dual value hold with equality: then what they prove is the answer's score.
        """
        open_, _ = self._decided(pairs)
        if not len(self.items):
            return np.empty(0)
        sign = np.where(self._together, 1.0, -1.0)[open_]
        # sign (score - entries λ) ≥ margin
        matrix = sparse.hstack([self._matrix[open_] * sign[:, None], np.ones((open_.sum(), 1))], format="csc")
        count = len(self.items)
        program = LinearProgram(
            True,
            sparse.csc_array(matrix),
            np.append(np.full(count, -1.0 / (1 << 20)), 1.0),
            np.zeros(count + 1),
            np.append(np.where(self._tight, self._most, 0.0), 1.0),
            np.full(int(open_.sum()), -np.inf),
            sign * self._scores[open_],
        )
        solved = program.solve()
        return solved.values[:count] if solved.status is LPStatus.OPTIMAL else None

    def relaxed(self, pairs: tuple[tuple[int, int, bool], ...]) -> tuple[Floats, tuple[int, int] | None] | None:
        """The best of them, and the pair that is most between together and apart in the relaxation, if there is one."""
        open_, together = self._decided(pairs)
        if not len(self.items):
            return None
        count, free = len(self.items), int(open_.sum())
        program = LinearProgram(
            False,
            sparse.csc_array(sparse.hstack([self._matrix[open_], sparse.eye_array(free)], format="csc")),
            np.append(1.0 - together.astype(float) @ self._matrix, np.ones(free)),
            np.zeros(count + free),
            np.append(np.full(count, self._most), np.full(free, np.inf)),
            self._scores[open_],
            np.full(free, np.inf),
        )
        solved = program.solve()
        if solved.status is not LPStatus.OPTIMAL:
            return None
        between = np.minimum(solved.duals, 1.0 - solved.duals)
        pair = None
        if free and between.max() > TOLERANCES.integrality:
            u, v = self._pairs[np.flatnonzero(open_)[between.argmax()]]
            pair = int(u), int(v)
        return solved.values[:count], pair
