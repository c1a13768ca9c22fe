"""All second stages together: what they cost at a first stage, asked of known dual values before linear programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np

from colgen.decomposition.benders.dual_pool import KnownDuals, kind
from colgen.decomposition.benders.second_stage import SecondStage, StageBound
from colgen.decomposition.reading.arrays import Floats, Ints


class Recourse:
    """Second stages, and the dual values that they share.

    Parameters
    ----------
    stages
        All different.
    """

    def __init__(self, stages: Sequence[SecondStage]) -> None:
        self.stages = tuple(stages)
        groups: dict[Hashable, list[int]] = {}
        for number, stage in enumerate(stages):
            groups.setdefault(kind(stage), []).append(number)
        self._groups = [np.array(members) for members in groups.values()]
        self._known = [KnownDuals([stages[k] for k in members]) for members in groups.values()]
        self._place = {k: (g, i) for g, members in enumerate(groups.values()) for i, k in enumerate(members)}
        self._solved: tuple[bytes, list[Floats]] | None = None

    def known(self, x: Floats) -> tuple[Floats, Ints]:
        """The best known bound of each stage at a first stage, and which dual values of its kind say so."""
        values, which = np.empty(len(self.stages)), np.empty(len(self.stages), dtype=np.int64)
        for members, duals in zip(self._groups, self._known, strict=True):
            values[members], which[members] = duals.at(x)
        return values, which

    def settled(self, x: Floats) -> dict[int, Floats]:
        """The variables of stages at their best, of those for which a known basis says it."""
        found: dict[int, Floats] = {}
        for members, duals in zip(self._groups, self._known, strict=True):
            settled, points = duals.settled(x)
            found |= self._clipped(members[settled], points[settled])
        return found

    def group_of(self, number: int) -> int:
        """The number of a stage's group: those of a group may share dual values."""
        return self._place[number][0]

    def bound_row(self, number: int, which: int) -> tuple[float, Floats]:
        """Constant and slopes of a known bound."""
        group, place = self._place[number]
        return self._known[group].row(which, place)

    def tightest(self, number: int, x: Floats, count: int) -> tuple[Floats, Floats]:
        """Constants and slopes of a stage's best known bounds at a first stage."""
        group, place = self._place[number]
        return self._known[group].tightest(place, x, count)

    def bounds(
        self, x: Floats, numbers: Sequence[int], seconds_left: Callable[[], float]
    ) -> Iterator[tuple[int, StageBound | None]]:
        """What linear programs of some stages say at a first stage, each with its number; None where time is over.

        A basis that one of them has found is tried for the others, whose linear programs are solved only where it is
        not optimal.
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
        """The variables of each stage at their best; None if a stage has no feasible point.

        Parameters
        ----------
        enough
            Asked with bounds of all stages, first those that are known, then as they are solved: whether they are so
            large that the first stage is of no interest, which ends the search as None.
        """
        key = x.tobytes()
        if self._solved is not None and self._solved[0] == key:
            return self._solved[1]
        costs = self.known(x)[0]
        if enough is not None and enough(costs):
            return None
        values = self.settled(x)
        for number, stage in enumerate(self.stages):
            if number in values:
                continue
            found, bound = stage.solved(x)
            if found is None:
                return None
            values[number] = found
            values |= self._learn(number, bound, x, set(range(len(self.stages))) - values.keys())[1]
            costs[number] = float(stage.costs @ found)
            if enough is not None and enough(costs):
                return None
        self._solved = key, [values[number] for number in range(len(self.stages))]
        return self._solved[1]

    def _learn(self, number: int, bound: StageBound | None, x: Floats, left: set[int]) -> tuple[int, dict[int, Floats]]:
        """Remember what a stage's linear program has said; which dual values these are, and what they settle of others.

        Returns
        -------
        int, dict
            The number of the dual values, and by stages of ``left`` their variables at their best.
        """
        if bound is None or not bound.feasible:
            return -1, {}
        group, place = self._place[number]
        which = self._known[group].add(bound.duals, place, self.stages[number].basis())
        members = self._groups[group]
        places = np.flatnonzero([member in left for member in members.tolist()])
        settled, points = self._known[group].settled_by(which, x, places)
        return which, self._clipped(members[places[settled]], points[settled])

    def _clipped(self, numbers: Ints, points: Floats) -> dict[int, Floats]:
        """Points of some stages by their numbers, within bounds to the last bit."""
        stages = self.stages
        return {
            k: np.clip(point, stages[k].lower, stages[k].upper)
            for k, point in zip(numbers.tolist(), points, strict=True)
        }


def joined(stages: Sequence[SecondStage]) -> tuple[list[SecondStage], list[list[int]]]:
    """Stages that are the same but for a factor of their costs as one, which costs what they cost together.

    Returns
    -------
    list, list
        The stages that are different, and the numbers of those that each stands for.
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
