"""All second stages together: known dual values bound their costs before linear programs are solved."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np

from colgen.decomposition.benders.dual_pool import KnownDuals, kind
from colgen.decomposition.benders.second_stage import SecondStage, StageBound
from colgen.decomposition.reading.compact_model import Floats, Ints


class Recourse:
    """Second stages, all different, with the dual values that they share."""

    def __init__(self, stages: Sequence[SecondStage]) -> None:
        self.stages = tuple(stages)
        groups: dict[Hashable, list[int]] = {}
        for number, stage in enumerate(stages):
            groups.setdefault(kind(stage), []).append(number)
        self._groups = [np.array(members) for members in groups.values()]
        self._known = [KnownDuals([stages[k] for k in members]) for members in groups.values()]
        self._place = {k: (g, i) for g, members in enumerate(groups.values()) for i, k in enumerate(members)}
        self._last: tuple[bytes, list[Floats]] | None = None

    def known_bounds(self, x: Floats) -> tuple[Floats, Ints]:
        """Return the best known bound of each stage at a first stage, and the index of its dual values."""
        values, which = np.empty(len(self.stages)), np.empty(len(self.stages), dtype=np.int64)
        for members, duals in zip(self._groups, self._known, strict=True):
            values[members], which[members] = duals.at(x)
        return values, which

    def settle(self, x: Floats) -> dict[int, Floats]:
        """Return optimal variables for the stages whose bound a known basis attains."""
        found: dict[int, Floats] = {}
        for members, duals in zip(self._groups, self._known, strict=True):
            settled, points = duals.settle(x)
            found |= self._clip(members[settled], points[settled])
        return found

    def group_of(self, number: int) -> int:
        """Return the group of a stage; stages of a group share dual values."""
        return self._place[number][0]

    def bound_row(self, number: int, which: int) -> tuple[float, Floats]:
        """Return constant and slopes of a known bound."""
        group, place = self._place[number]
        return self._known[group].row(which, place)

    def tightest(self, number: int, x: Floats, count: int) -> tuple[Floats, Floats]:
        """Return constants and slopes of a stage's best known bounds at a first stage."""
        group, place = self._place[number]
        return self._known[group].tightest(place, x, count)

    def bounds(
        self, x: Floats, numbers: Sequence[int], seconds_left: Callable[[], float]
    ) -> Iterator[tuple[int, StageBound | None]]:
        """Yield the bounds by linear programs of some stages at a first stage; None after the time limit.

        The basis of each is tried for the others, and their linear programs are solved only if it is not optimal.
        """
        left = set(numbers)
        for number in numbers:
            if number not in left:
                continue
            left.remove(number)
            found = self.stages[number].bound(x, seconds_left())
            yield number, found
            which, others = self._learn(number, found, x, left)
            for other in others:
                left.remove(other)
                yield other, StageBound(*self.bound_row(other, which), True, np.empty(0))

    def best(self, x: Floats, enough: Callable[[Floats], bool] | None = None) -> list[Floats] | None:
        """Return optimal variables for each stage, or None if a stage is infeasible.

        ``enough`` is called with lower bounds of all stages, which grow as stages are solved.  If it returns True, the
        first stage is too expensive and None is returned.
        """
        key = x.tobytes()
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        costs = self.known_bounds(x)[0]
        if enough is not None and enough(costs):
            return None
        values = self.settle(x)
        for number, stage in enumerate(self.stages):
            if number in values:
                continue
            found, bound = stage.solve(x)
            if found is None:
                return None
            values[number] = found
            values |= self._learn(number, bound, x, set(range(len(self.stages))) - values.keys())[1]
            costs[number] = float(stage.costs @ found)
            if enough is not None and enough(costs):
                return None
        self._last = key, [values[number] for number in range(len(self.stages))]
        return self._last[1]

    def _learn(self, number: int, bound: StageBound | None, x: Floats, left: set[int]) -> tuple[int, dict[int, Floats]]:
        """Store the dual values of a stage; return their index, and optimal variables of stages in ``left``."""
        if bound is None or not bound.feasible:
            return -1, {}
        group, place = self._place[number]
        which = self._known[group].add(bound.duals, place, self.stages[number].basis())
        members = self._groups[group]
        places = np.flatnonzero([member in left for member in members.tolist()])
        settled, points = self._known[group].settle_by(which, x, places)
        return which, self._clip(members[places[settled]], points[settled])

    def _clip(self, numbers: Ints, points: Floats) -> dict[int, Floats]:
        """Return points of stages by number, clipped to their bounds."""
        stages = self.stages
        return {
            k: np.clip(point, stages[k].lower, stages[k].upper)
            for k, point in zip(numbers.tolist(), points, strict=True)
        }


def merge_stages(stages: Sequence[SecondStage]) -> tuple[list[SecondStage], list[list[int]]]:
    """Merge stages that are equal up to a factor of their costs; the merged stage has the sum of their costs.

    Return the different stages, and the numbers of the stages that each replaces.
    """
    groups: dict[Hashable, list[int]] = {}
    for number, stage in enumerate(stages):
        largest = float(np.abs(stage.costs).max(initial=0.0)) or 1.0
        sides = (stage.costs / largest, stage.lower, stage.upper, stage.row_lower, stage.row_upper)
        key = (kind(stage), *((array + 0.0).tobytes() for array in sides))
        groups.setdefault(key, []).append(number)
    found = []
    for members in groups.values():
        one = stages[members[0]]
        if len(members) > 1:
            costs = np.array([math.fsum(each) for each in zip(*(stages[k].costs for k in members), strict=True)])
            one = SecondStage(costs, one.lower, one.upper, one.own, one.first, one.row_lower, one.row_upper)
        found.append(one)
    return found, list(groups.values())
