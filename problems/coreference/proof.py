"""Certificates of clusterings of few items: triangles that are tight at the answer, and splits of pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen import Sense, Solution
from colgen.certificate.certifier import Certifier, Record, as_exact
from colgen.certificate.scaling import places, to_integers, to_lists
from colgen.certificate.witness import WitnessPoint
from colgen.core.tolerances import TOLERANCES
from colgen.problems.coreference.document import Cluster
from colgen.problems.coreference.instance import CoreferenceInstance, Floats
from colgen.solvers.clusters.contraction import components
from colgen.solvers.linear.lp import LinearProgram, LPSolution, LPStatus
from colgen.solvers.linear.program import Program
from colgen.solvers.scaling import power_of_two

_COMPLETE_SIZE = 40
"""Groups of at most this many items use all triangles, three per triple; larger groups use some of them."""

_MAX_ITEMS = 150
"""Largest number of items of a group."""

_MAX_GAP = 0.01
"""Largest relative gap of the relaxation for larger groups; beyond it, the tree would be too large."""

_MAX_WORK = 300_000
"""Limit on rows and columns of all linear programs with incomplete sets of triangles."""

_ROUNDS, _ADDED, _VIOLATED = 30, 4_000, 1e-6
"""Separation: rounds per node, triangles per round, and smallest violation."""

_MAX_SPLITS = 100
"""With more splits than this, the run has to be trusted."""

_DENOMINATORS = (12, 12 << 40)
"""Denominators of dual values: for vertices of small programs, and for values with a margin."""


Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Pairs = tuple[tuple[int, int, bool], ...]
"""Decisions: two items, and whether they are together."""


@dataclass(frozen=True)
class _Dual:
    """Triangles, as items i, j and k, and their dual values."""

    items: Ints
    values: Floats


class ClusterCertifier(Certifier):
    """Certify clusterings by a proof of its own, because the run's tree refers to groups found during the run.

    Every score is an integer over a power of two, so nothing is rounded. ``clusters`` returns the clusters of a
    solution.
    """

    states_formulation = False

    def __init__(self, instance: CoreferenceInstance, clusters: Callable[[Solution], Sequence[Cluster]]) -> None:
        super().__init__(Sense.MAXIMIZE, instance.name)
        self._instance, self._clusters = instance, clusters

    def instance(self) -> Record:
        return self._data

    @cached_property
    def _data(self) -> Record:
        scores = np.asarray(self._instance.scores)
        whole = to_lists(self._scores, np.isfinite(scores))
        return {"kind": "coreference", "name": self.name, "denominator": 2**self._shift, "scores": whole}

    @cached_property
    def _shift(self) -> int:
        return places(np.asarray(self._instance.scores))

    @cached_property
    def _scores(self) -> NDArray[Any]:
        """The scores times a power of two, as integers with room for sums of all pairs over the largest denominator."""
        scores = np.asarray(self._instance.scores)
        return to_integers(scores, self._shift, (4 * scores.size * _DENOMINATORS[-1]).bit_length())

    def formulation(self) -> Record:
        return {"sense": "maximize", "step": None, "rows": [], "pricing": [{"kind": "clusterings", "uses": [1, 1]}]}

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, [[int(i) for i in cluster] for cluster in self._clusters(solution)]]]

    def objective(self, solution: Solution) -> Fraction:
        label = self._labels(solution)
        same = np.triu(label[:, None] == label, 1)
        return Fraction(int(self._scores[same].sum()), 2**self._shift)

    def _labels(self, solution: Solution) -> NDArray[np.int64]:
        label = np.zeros(len(self._instance.scores), dtype=np.int64)
        for number, cluster in enumerate(self._clusters(solution)):
            label[list(cluster)] = number
        return label

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterable[Record] | None:
        # The dual values are computed for scores of similar size, so that all scores matter; they are valid for the
        # given scores too.
        lowered = self._instance.lowered
        scores = np.where(np.isneginf(lowered.scores), -np.inf, lowered.clipped)
        label = self._labels(answer)
        groups = _contested_groups(scores, label)
        if max(map(len, groups), default=0) > _MAX_ITEMS:
            return None
        duals, records, numbers = _TriangleDuals(scores, label, groups), [], itertools.count(1)
        stack: list[tuple[int, Pairs, bool]] = [(0, (), True)]
        while stack:
            node, pairs, holds = stack.pop()
            claim, pair = None, None
            for wide in (False, True) if holds else ():
                if claim is not None or (wide and not duals.enough):
                    continue
                found = duals.tight(pairs, wide=wide)
                claim = None if found is None else self._claim(found, pairs, goal)
            relaxed = duals.relaxed(pairs) if claim is None else None
            if relaxed is not None:
                found, pair = relaxed
                claim = self._claim(found, pairs, goal)
                if claim is None and pair is None and holds:  # no gap: try again with the separated triangles
                    found = duals.tight(pairs, wide=True)
                    claim = None if found is None else self._claim(found, pairs, goal)
            if claim is not None:
                records.append({"node": node, "claim": claim})
            elif pair is None or len(records) > _MAX_SPLITS or duals.is_large:
                return None
            else:
                below = [next(numbers), next(numbers)]
                records.append({"node": node, "split": {"pair": list(pair)}, "children": below})
                for child, joined in zip(below, (True, False), strict=True):
                    held = holds and bool(label[pair[0]] == label[pair[1]]) == joined
                    stack.append((child, (*pairs, (*pair, joined)), held))
        return records

    def _claim(self, found: _Dual, pairs: Pairs, goal: Fraction) -> Record | None:
        """Return a claim with dual values near these, or None if they do not prove the goal exactly."""
        for over in _DENOMINATORS:
            used, scale = np.flatnonzero(found.values > 0.0), over * 2**self._shift
            near = found.values[used] * over + math.ldexp(
                0.5, -self._shift
            )  # the conversion to integers truncates, so add one half
            duals = to_integers(near, self._shift).tolist()
            items = found.items[used]
            least = -Fraction(self._bound(over, items, duals, pairs), scale)
            if least >= goal:
                chosen = [[*triangle, dual] for triangle, dual in zip(items.tolist(), duals, strict=True) if dual]
                given = {"over": over, "triangles": chosen}
                claim = {"weight": 1, "unit": 1, "duals": [], "counts": [], "least": [as_exact(least)]}
                return {**claim, "bound": as_exact(-least), "potentials": given}
        return None

    def _bound(self, over: int, items: Ints, duals: list[int], pairs: Pairs) -> int:
        """Return the exact bound of these dual values, times the denominators."""
        whole = np.array(duals, dtype=self._scores.dtype)
        left = self._scores * over
        for (u, v), entry in zip(((0, 2), (2, 1), (0, 1)), (1, 1, -1), strict=True):
            ends = np.minimum(items[:, u], items[:, v]), np.maximum(items[:, u], items[:, v])
            np.subtract.at(left, ends, entry * whole)
        total = sum(duals)
        counts = np.triu(np.isfinite(self._instance.scores), 1)
        for u, v, joined in pairs:
            i, j = min(u, v), max(u, v)
            total += int(left[i, j]) if joined and counts[i, j] else 0
            counts[i, j] = False
        return total + int(np.maximum(left[counts], 0).sum())


def _contested_groups(scores: Floats, label: Ints) -> list[Ints]:
    """Return the components of positive scores in which some pair is separate at a gain, or together at a loss.

    Without such a pair, no clustering of the items is better. No score between two components is positive.
    """
    of = components(np.ascontiguousarray(scores))
    u, v = np.nonzero(np.where(label[:, None] == label, scores < 0.0, scores > 0.0) & (of[:, None] == of))
    return [np.flatnonzero(of == k) for k in np.unique(of[np.union1d(u, v)])]


class _TriangleDuals:
    """Dual values of triangles, from linear programs over groups of items; scores are divided by a power of two."""

    def __init__(self, scores: Floats, label: Ints, groups: Sequence[Ints]) -> None:
        pairs = [group[np.stack(np.triu_indices(len(group), 1), axis=1)] for group in groups]
        self._pairs = np.concatenate([np.empty((0, 2), np.int64), *pairs])
        own = scores[self._pairs[:, 0], self._pairs[:, 1]]
        self._size = power_of_two(own)
        self._scores, self._together = own / self._size, label[self._pairs[:, 0]] == label[self._pairs[:, 1]]
        self._number = np.full(scores.shape, -1, dtype=np.int64)
        self._number[self._pairs[:, 0], self._pairs[:, 1]] = np.arange(len(self._pairs))
        self._number = np.maximum(self._number, self._number.T)
        self._label, self._groups = label, groups
        self.work = 0
        self.gap = 0.0
        self.enough = max(map(len, groups), default=0) <= _COMPLETE_SIZE
        """Whether all triangles are present; otherwise those of pairs decided against their score by the answer."""
        self._items, self._tight = np.empty((0, 3), np.int64), np.empty(0, dtype=np.bool_)
        wrong = self._together != (self._scores > 0.0)
        for own_pairs, group in zip(pairs, groups, strict=True):
            chosen = own_pairs if self.enough else own_pairs[wrong[self._number[own_pairs[:, 0], own_pairs[:, 1]]]]
            each, others = np.repeat(chosen, len(group), axis=0), np.tile(group, len(chosen))
            self._add(np.column_stack([each, others]))
            if not self.enough:  # triangles that subtract from the pair
                self._add(np.column_stack([each[:, 0], others, each[:, 1]]))
                self._add(np.column_stack([others, each[:, 1], each[:, 0]]))
        self._most = 4.0 * float(np.abs(self._scores[np.isfinite(self._scores)]).sum()) + 1.0

    @property
    def is_large(self) -> bool:
        """Whether the proof by triangles exceeds its limits; small groups have none."""
        return not self.enough and (self.work > _MAX_WORK or self.gap > _MAX_GAP)

    def _add(self, items: Ints) -> int:
        """Add triangles, and return the number of new ones."""
        items = items[(items[:, 0] != items[:, 1]) & (items[:, 2] != items[:, 0]) & (items[:, 2] != items[:, 1])]
        items = np.column_stack([np.sort(items[:, :2], axis=1), items[:, 2]])
        before = len(self._items)
        every = np.concatenate([self._items, items])
        _, first = np.unique(every, axis=0, return_index=True)
        self._items = every[np.sort(first)]
        i, j, k = self._label[self._items.T]
        self._tight = (i == k).astype(int) + (k == j) - (i == j) == 1
        return len(self._items) - before

    def _separate(self, values: Floats) -> Ints:
        """Return the triangles that values of pairs violate, the most violated first."""
        found, excess = [np.empty((0, 3), np.int64)], [np.empty(0)]
        for group in self._groups:
            number = self._number[np.ix_(group, group)]
            x = np.where(number < 0, 0.0, values[number])
            for k, centre in enumerate(group.tolist()):
                over = np.triu(x[k][:, None] + x[k][None, :] - x - 1.0, 1)
                over[k], over[:, k] = 0.0, 0.0
                u, v = np.nonzero(over > _VIOLATED)
                found.append(np.column_stack([group[u], group[v], np.full(len(u), centre)]))
                excess.append(over[u, v])
        order = np.argsort(-np.concatenate(excess), kind="stable")[:_ADDED]
        return np.concatenate(found)[order]

    def _pair_numbers(self, items: Ints) -> Ints:
        """Return the numbers of (i, k), (k, j), which lose a triangle's dual value, and of (i, j), which gains it."""
        i, j, k = items.T
        return np.stack([self._number[i, k], self._number[k, j], self._number[i, j]])

    def _matrix(self, items: Ints, open_: Mask, sign: Floats, last: Sequence[int]) -> sparse.csc_array:
        """Return the matrix with a row per open pair and a column per triangle, then unit columns."""
        rows, place = self._pair_numbers(items).T, np.cumsum(open_) - 1
        there, free = open_[rows], int(open_.sum())
        entries = (np.array([1.0, 1.0, -1.0]) * sign[rows])[there]
        starts = np.cumsum(np.concatenate([[0], there.sum(axis=1), last]))
        numbers = np.concatenate([place[rows[there]], np.arange(free)])
        shape = (free, len(items) + len(last))
        return sparse.csc_array((np.append(entries, np.ones(free)), numbers, starts), shape)

    def _split_pairs(self, pairs: Pairs) -> tuple[Mask, Mask]:
        """Return which pairs are open, and which are together."""
        open_, together = np.isfinite(self._scores), np.zeros(len(self._scores), dtype=np.bool_)
        for u, v, joined in pairs:
            open_[self._number[u, v]], together[self._number[u, v]] = False, joined
        return open_, together

    def tight(self, pairs: Pairs, *, wide: bool) -> _Dual | None:
        """Return dual values such that each pair's remaining score has the sign of the answer's decision, by a margin.

        Only triangles that are tight at the answer are used, so the bound equals the answer's score. With ``wide``, all
        of these are used. Otherwise only those that help a pair which the answer decides against its score. They
        usually suffice.
        """
        open_, _ = self._split_pairs(pairs)
        sign = np.where(self._together, 1.0, -1.0)
        gains = sign * self._scores
        items, rows = self._items[self._tight], open_
        if not wide:
            wrong = open_ & (gains < 0.0)
            pay, paid = wrong & ~self._together, wrong & self._together
            ends = self._pair_numbers(items)
            items = items[pay[ends[0]] | pay[ends[1]] | paid[ends[2]]]
            rows = np.zeros(len(open_), dtype=np.bool_)
            rows[self._pair_numbers(items)] = True
            rows &= open_
            if (wrong & ~rows).any():
                return None
        # sign (score - entries λ) ≥ margin
        count, others = len(items), gains[open_ & ~rows]
        margin = min(1.0, float(others.min(initial=1.0)))
        if not count:
            return None if margin < 0.0 else _Dual(items, np.empty(0))
        free = int(rows.sum())
        self.work += count + free
        program = LinearProgram(
            Program(
                True,
                self._matrix(items, rows, sign, [free]),
                np.append(np.full(count, -1.0 / (1 << 20)), 1.0),
                np.zeros(count + 1),
                np.append(np.full(count, self._most), margin),
                np.full(free, -np.inf),
                gains[rows],
            ),
        )
        solved = program.solve()
        return _Dual(items, solved.values[:count] * self._size) if solved.status is LPStatus.OPTIMAL else None

    def relaxed(self, pairs: Pairs) -> tuple[_Dual, tuple[int, int] | None] | None:
        """Return the best dual values, and the most fractional pair of the relaxation, if there is one."""
        open_, together = self._split_pairs(pairs)
        free = int(open_.sum())
        for _ in range(_ROUNDS):
            if not len(self._items) or self.is_large:
                return None
            solved = self._relaxation(open_, together)
            if solved.status is not LPStatus.OPTIMAL:
                return None
            values = together.astype(float)
            values[open_] = solved.duals
            if self.enough or not self._add(self._separate(values)):
                break
        if not pairs:
            lost = solved.objective - float(self._scores[self._together].sum())
            self.gap = lost / solved.objective if solved.objective > 0.0 else 0.0
        between = np.minimum(solved.duals, 1.0 - solved.duals)
        pair = None
        if free and between.max() > TOLERANCES.integrality:
            u, v = self._pairs[np.flatnonzero(open_)[between.argmax()]]
            pair = int(u), int(v)
        count = len(solved.values) - free
        return _Dual(self._items[:count], solved.values[:count] * self._size), pair

    def _relaxation(self, open_: Mask, together: Mask) -> LPSolution:
        """Solve the dual of the relaxation over the present triangles; its dual values are the values of pairs."""
        count, free = len(self._items), int(open_.sum())
        self.work += count + free
        first, second, closing = together[self._pair_numbers(self._items)].astype(float)
        program = LinearProgram(
            Program(
                False,
                self._matrix(self._items, open_, np.ones(len(open_)), [1] * free),
                np.append(1.0 - first - second + closing, np.ones(free)),
                np.zeros(count + free),
                np.append(np.full(count, self._most), np.full(free, np.inf)),
                self._scores[open_],
                np.full(free, np.inf),
            ),
        )
        return program.solve()
