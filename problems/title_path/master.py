"""The restricted master of paths: a dynamic program over walks, to which rows on classes are added."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from colgen import (
    Column,
    Duals,
    MasterSolution,
    MasterStatus,
    Pricing,
    PricingResult,
    RestrictedMaster,
    Row,
    Sense,
    Solution,
)
from colgen.core.budget import Budget
from colgen.core.duals import RowNames
from problems.title_path.instance import Instance, Path
from problems.title_path.search import Start
from solvers.paths.colour_coding import complete, is_small
from solvers.paths.elementary_path import heaviest

WALK = ("walk", None)
"""The row that says that one walk is chosen."""

_EFFORT = 100_000
"""States after which it takes less time to remember all classes that are left, where these are few."""

ONCE = "once"
"""Block of the rows that say that a class is visited once at most."""


class WalkMaster(RestrictedMaster):
    """max Σ_p c_p x_p over walks p of k vertices,  Σ_p x_p = 1 [π],  and the rows on classes that have been separated.

    With x whole, a row says of the chosen walk that it visits a class once at most; a dynamic program remembers the
    class (:mod:`solvers.paths.elementary_path`).  So all columns are there from the start, no dual value but π is
    needed, and row generation is decremental state-space relaxation.

    The first solve, before any row, is the Lagrangian relaxation of all of these rows at once
    (:mod:`solvers.paths.walks`): its objective is that bound, while the walk that it shows is one that the unpenalised
    relaxation prefers, which has repeated classes to be separated.  Walks that cannot beat the best path known are left
    out from then on; the best path itself takes their place.  If a solve needs too many states while few classes are
    left, all of them are remembered, in a dynamic program over their sets (:mod:`solvers.paths.colour_coding`).
    """

    sense = Sense.MAXIMIZE

    def __init__(self, instance: Instance, start: Start) -> None:
        self.instance = instance
        self.start = start
        self._remembered = np.zeros(instance.num_classes, dtype=np.bool_)
        self._names = RowNames()
        self._names.append(WALK)
        self._solves = 0

    def solve(self, budget: Budget | None = None) -> MasterSolution:
        self._solves += 1
        start, budget = self.start, budget or Budget()
        if start.open and self._solves > 1:
            left = start.relaxed.graph
            few = is_small(left)
            effort = _EFFORT if few else math.inf
            found = heaviest(
                start.relaxed, self._remembered, start.weight, effort=effort, expired=lambda: budget.expired
            )
            start.offer(found.path)
            if found.finished:
                start.bound = max(min(start.bound, found.bound), start.weight)
            elif few and not budget.expired:  # so few classes are left that all of them can be remembered
                best = complete(left, expired=lambda: budget.expired)
                if best is None:
                    return self._cut_off()
                start.offer(start.relaxed.vertices[best[1]])
                start.bound = start.weight
            else:
                return self._cut_off()
            if start.open:
                return self._solved(start.users_bound(self.instance), tuple(found.walk.tolist()))
        if start.open:
            return self._solved(start.users_bound(self.instance), start.walk)
        if start.path is None:
            return MasterSolution(MasterStatus.INFEASIBLE)
        return self._solved(self.instance.objective(start.path), start.path)

    def _cut_off(self) -> MasterSolution:
        """The end of a solve that a limit has ended, with the best path known: it may have been found on the way."""
        if self.start.path is None:
            return MasterSolution(MasterStatus.LIMIT)
        return MasterSolution(MasterStatus.LIMIT, self.instance.objective(self.start.path), self.start.path)

    def _solved(self, objective: float, walk: Path) -> MasterSolution:
        return MasterSolution(MasterStatus.OPTIMAL, objective, walk, Duals(np.array([objective]), self._names))

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origin: int = -1) -> int:
        for row in rows:
            if row.key not in self._names.position:
                self._names.append(row.key)
                self._remembered[cast(int, row.key[1])] = True
        for column in columns:
            self.start.offer(column.structure)
        return 0

    def reduced_costs(self, columns: Sequence[Column], duals: Any) -> list[float]:
        return [column.cost - duals.get(WALK) for column in columns]

    def dual_bound(self, duals: Any, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        return float(duals.get(WALK))

    def solution(self, solved: MasterSolution) -> Solution:
        return Solution(solved.objective, ((column_of(self.instance, solved.values), 1.0),))

    @property
    def scale(self) -> float:  # type: ignore[override]
        """That of the instance."""
        return self.instance.scaled.scale

    @property
    def num_columns(self) -> int:
        """Walks that the restricted master speaks of: one, for those that it does not look at are not counted."""
        return 1

    @property
    def num_rows(self) -> int:
        return len(self._names.keys)


def column_of(instance: Instance, walk: Path) -> Column:
    """The column of a walk."""
    return Column(instance.objective(walk), {WALK: 1.0}, walk, ("walk", walk))
