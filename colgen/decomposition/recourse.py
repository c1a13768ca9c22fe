"""All second stages together: what they cost at a first stage, asked of known dual values before linear programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from colgen.decomposition.known_duals import KnownDuals, kind
from colgen.decomposition.reading import Floats, Ints
from colgen.decomposition.second_stage import Bound, SecondStage


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

    def group_of(self, number: int) -> int:
        """The number of a stage's group: those of a group may share dual values."""
        return self._place[number][0]

    def told(self, number: int, which: int) -> tuple[float, Floats]:
        """Constant and slopes of a known bound."""
        group, place = self._place[number]
        return self._known[group].row(which, place)

    def tightest(self, number: int, x: Floats, count: int) -> tuple[Floats, Floats]:
        """Constants and slopes of a stage's best known bounds at a first stage."""
        group, place = self._place[number]
        return self._known[group].tightest(place, x, count)

    def bound(self, number: int, x: Floats, seconds: float) -> Bound | None:
        """What a stage's linear program says at a first stage; None if time is over."""
        found = self.stages[number].bound(x, seconds)
        self._learn(number, found)
        return found

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
        values: list[Floats] = []
        for number, stage in enumerate(self.stages):
            if enough is not None and enough(costs):
                return None
            found, bound = stage.solved(x)
            if found is None:
                return None
            self._learn(number, bound)
            costs[number] = float(stage.costs @ found)
            values.append(found)
        self._solved = key, values
        return values

    def _learn(self, number: int, bound: Bound | None) -> None:
        if bound is None or not bound.feasible:
            return
        group, place = self._place[number]
        self._known[group].add(bound.duals, place)


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
