"""Trees of bounds for blocks that the checker's dynamic program cannot price, such as those with continuous rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from colgen.certificate.certifier import Record
from colgen.certificate.checker_block_trees import Box, Limits
from colgen.certificate.checker_blocks import BlockPricing
from colgen.core.terms import Box as CountedBox
from colgen.core.terms import PricedTerms
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.blocks.mixed_integer import Boxes
from colgen.decomposition.reading.compact_model import Floats
from colgen.solvers.linear.lp import LinearProgram, LPStatus
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.scaling import row_sizes

_OVER = 1 << 40
"""Largest denominator of dual values, for entries of size 1."""

_PARTS = 5_000
"""Largest denominator of approximations: dual values at vertices are often fractions of small integers."""


class BoundingTree:
    """Branch and bound on the least reduced cost of a block, which records the dual values of its leaves."""

    def __init__(self, block: BlockPricing) -> None:
        self._integer = np.array(block.integer, dtype=np.bool_)
        self._row_lower = np.array([-math.inf if low is None else float(low) for (low, _), _ in block.rows])
        self._row_upper = np.array([math.inf if high is None else float(high) for (_, high), _ in block.rows])
        entries = [(r, v, float(a)) for r, (_, terms) in enumerate(block.rows) for v, a in terms.items()]
        rows, columns, data = zip(*entries, strict=True) if entries else ((), (), ())
        self._over = _OVER << max(math.frexp(max(map(abs, data), default=1.0))[1], 0)
        self._height, width = len(block.rows), len(block.costs)
        matrix = sparse.csc_array((data, (rows, columns)), shape=(self._height, width), dtype=np.float64)
        free = np.full(width, -math.inf), np.full(width, math.inf)
        self._program = LinearProgram(
            Program(False, matrix, np.zeros(width), *free, self._row_lower, self._row_upper), dual_first=True
        )
        # Minimum violation of the rows, relative to their sizes: its dual values prove that they exclude all points.
        count = 2 * self._height
        sizes = row_sizes(matrix, self._row_lower, self._row_upper)
        slack = sparse.hstack([sparse.diags_array(sizes), -sparse.diags_array(sizes)])
        both = sparse.csc_array(sparse.hstack([matrix, slack]))
        lower, upper = np.append(free[0], np.zeros(count)), np.append(free[1], np.full(count, math.inf))
        costs = np.append(np.zeros(width), np.ones(count))
        self._violation = LinearProgram(Program(False, both, costs, lower, upper, self._row_lower, self._row_upper))

    def grow(
        self,
        gains: Sequence[int],
        boxes: Sequence[tuple[Box, Any]],
        limits: Sequence[Limits],
        scale: int,
        best: float,
        room: float,
        most_nodes: int,
    ) -> tuple[list[Record], float] | None:
        """Return a tree whose leaves have a gain of at most ``best + room``, and the best gain, at least ``best``.

        Gains are divided by ``scale``.  The result is None if the tree is too large, or a bound is infinite.
        """
        costs, (lower, upper) = -np.array([gain / scale for gain in gains]), np.array(limits, dtype=float).T
        terms = [CountedBox("", tuple((v, *_floats(low, high)) for v, low, high in box)) for box, _ in boxes]
        counted = Boxes(PricedTerms(terms, np.array([gain / scale for _, gain in boxes])), 1.0, lower, upper)
        self._program.change_objective(costs, 0.0)
        tree, open_ = list[Record](), [(lower, upper)]
        while open_:
            if len(tree) >= most_nodes:
                return None
            low, high = open_.pop()
            duals, split = np.zeros(self._height), None
            if (low <= high).all():
                found = self._bound(costs, low, high, counted, best + room)
                if found is None:
                    return None
                duals, gain, split = found
                if split is None:
                    best = max(best, gain)
            if split is None:
                tree.append(self._leaf(duals, scale))
                continue
            v, least = split
            tree.append({"split": [v, int(least) - 1]})
            below, above = high.copy(), low.copy()
            below[v], above[v] = least - 1.0, least
            open_ += [(above, high), (low, below)]
        return tree, best

    def _bound(
        self, costs: Floats, lower: Floats, upper: Floats, boxes: Boxes, enough: float
    ) -> tuple[Floats, float, tuple[int, float] | None] | None:
        """Return dual values of the rows within limits, a gain and a split.

        Without a split the dual values prove at most ``enough``, and the gain is that of a point, -inf without one.
        """
        places = np.arange(len(costs))
        self._program.change_bounds(places, lower, upper)
        solved = self._program.solve()
        if solved.status is LPStatus.INFEASIBLE:
            return self._exclude(costs, lower, upper, enough)
        if solved.status is not LPStatus.OPTIMAL:
            return None
        x = np.where(self._integer, np.rint(solved.values), solved.values)
        away = np.abs(solved.values - x)
        gained, possible, split = boxes.at(x, lower, upper)
        if possible - solved.objective <= enough:
            return solved.duals, -math.inf, None
        v = int(np.argmax(away))
        if away[v] > TOLERANCES.integrality:
            return solved.duals, 0.0, (v, math.ceil(solved.values[v]))
        return solved.duals, gained - solved.objective, split

    def _exclude(self, costs: Floats, lower: Floats, upper: Floats, enough: float) -> tuple[Floats, float, None] | None:
        """Return dual values of rows that exclude all points, large enough to prove any gain of points impossible."""
        self._violation.change_bounds(np.arange(len(costs)), lower, upper)
        solved = self._violation.solve()
        ends = np.where(costs > 0.0, lower, upper)
        most = -float((np.where(costs == 0.0, 0.0, ends) * costs).sum())
        if solved.status is not LPStatus.OPTIMAL or solved.objective <= 0.0 or not math.isfinite(most):
            return None
        times = max(2.0 * (most - enough), 1.0) / solved.objective
        return times * solved.duals, -math.inf, None

    def _leaf(self, duals: Floats, scale: int) -> Record:
        """Return a leaf of the checker, which maximises: with fractions of small integers if these are near."""
        sides = np.where(duals > 0.0, self._row_lower, self._row_upper)
        rows = np.flatnonzero(np.where(np.isfinite(sides), duals, 0.0)).tolist()
        values = [Fraction(-value) for value in duals[rows].tolist()]
        near = [value.limit_denominator(_PARTS) for value in values]
        over = math.lcm(*(value.denominator for value in near))
        if over > _OVER or any(abs(a - b) > TOLERANCES.pruning * abs(b) for a, b in zip(near, values, strict=True)):
            near, over = values, self._over
        found = ([row, round(over * scale * value)] for row, value in zip(rows, near, strict=True))
        return {"over": over, "duals": [[row, dual] for row, dual in found if dual]}


def _floats(low: int | None, high: int | None) -> tuple[float, float]:
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)
