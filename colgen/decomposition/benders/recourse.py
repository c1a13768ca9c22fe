"""All second stages together, in groups that share a cost variable of the master."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from scipy import sparse

from colgen.core.errors import SolverError
from colgen.decomposition.benders.stages import Optima, SecondStage, StageFamily, kind
from colgen.decomposition.reading.compact_model import Floats, Ints

_FEWEST, _MOST, _PER_VARIABLE = 8, 64, 2
"""Bounds of the number of groups, and their number per variable of the first stage: fewer groups have shallower rows,
and with more the master takes longer than the second stages."""


class Recourse:
    """Second stages, all different, by families that share dual values.

    Attributes
    ----------
    group_of
        The group of each stage, which is a row per round.  A few stages have a group each.  More are divided into
        groups, twice as many as the first stage has variables, but 8 to 64 (partial aggregation).

    References
    ----------
    S. Trukhanov, L. Ntaimo, A. Schaefer, *Adaptive multicut aggregation for two-stage stochastic linear programs with
    recourse*, European Journal of Operational Research 206 (2010).
    """

    def __init__(self, stages: Sequence[SecondStage]) -> None:
        self.stages = tuple(stages)
        variables = stages[0].first.shape[1] if stages else 0
        self.count = min(len(stages), max(_FEWEST, min(_PER_VARIABLE * variables, _MOST)))
        self.group_of = np.arange(len(stages)) * self.count // max(len(stages), 1)
        families: dict[Hashable, list[int]] = {}
        for number, stage in enumerate(stages):
            families.setdefault(kind(stage), []).append(number)
        self.members = [np.array(members) for members in families.values()]
        self.families = [StageFamily([stages[k] for k in members]) for members in families.values()]
        self._groups = [
            sparse.csr_array(
                (np.ones(len(members)), (self.group_of[members], np.arange(len(members)))),
                shape=(self.count, len(members)),
            )
            for members in self.members
        ]
        self._last: tuple[bytes, Optima] | None = None

    def by_group(self, values: Floats) -> Floats:
        """Return the sums over groups of a number per stage."""
        return np.asarray(np.bincount(self.group_of, values, minlength=self.count), dtype=np.float64)

    def known_bounds(self, x: Floats) -> tuple[Floats, Ints]:
        """Return the best known bound of each stage at a first stage, and the index of its dual values."""
        values, which = np.empty(len(self.stages)), np.empty(len(self.stages), dtype=np.int64)
        for members, family in zip(self.members, self.families, strict=True):
            values[members], which[members] = family.bounds_at(x)
        return values, which

    def optima(self, x: Floats, seconds_left: Callable[[], float] = lambda: math.inf) -> Optima:
        """Return the optima of all stages at a first stage; ``points`` is an object per stage."""
        if self._last is not None and self._last[0] == x.tobytes():
            return self._last[1]
        costs, which = np.empty(len(self.stages)), np.empty(len(self.stages), dtype=np.int64)
        points = np.empty(len(self.stages), dtype=object)
        infeasible = []
        for members, family in zip(self.members, self.families, strict=True):
            found = family.optima(x, seconds_left)
            costs[members], which[members] = found.costs, found.which
            for member, point in zip(members.tolist(), found.points, strict=True):
                points[member] = point
            infeasible += [row._replace(number=int(members[row.number])) for row in found.infeasible]
        if (costs == -np.inf).any():
            raise SolverError("HiGHS reports a second stage as unbounded that has a finite least cost")
        optima = Optima(costs, which, points, infeasible)
        if not np.isnan(costs).any():
            self._last = x.tobytes(), optima
        return optima

    def rows(self, which: Ints) -> tuple[Floats, Floats]:
        """Return constants and slopes of the bounds of all groups by the given dual values of each stage."""
        constants, slopes = np.zeros(self.count), np.zeros((self.count, self.stages[0].first.shape[1]))
        for members, family, groups in zip(self.members, self.families, self._groups, strict=True):
            constant, slope = family.rows(which[members], groups)
            constants, slopes = constants + constant, slopes + slope
        return constants, slopes


def merge_stages(stages: Sequence[SecondStage]) -> tuple[list[SecondStage], list[list[int]]]:
    """Merge stages that are equal up to a factor of their costs; the merged stage has the sum of their costs.

    Return the different stages, and the numbers of the stages that each replaces.
    """
    groups: dict[Hashable, list[int]] = {}
    for number, stage in enumerate(stages):
        sides = (stage.costs / stage.factor, stage.lower, stage.upper, stage.row_lower, stage.row_upper)
        first = stage.first.indptr, stage.first.indices, stage.first.data
        key = (kind(stage), *((array + 0.0).tobytes() for array in (*sides, *first)))
        groups.setdefault(key, []).append(number)
    found = []
    for members in groups.values():
        one = stages[members[0]]
        if len(members) > 1:
            costs = np.array([math.fsum(each) for each in zip(*(stages[k].costs for k in members), strict=True)])
            one = one._replace(costs=costs)
        found.append(one)
    return found, list(groups.values())
