"""Certificates of paths: integer weights, penalties of a run, and the classes that must be remembered."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from colgen import Sense, Solution
from colgen.certificate.certifier import Certifier, Record, as_exact
from colgen.certificate.checker_paths import Paths
from colgen.certificate.checker_pricing import WrongError
from colgen.certificate.scaling import places, to_integer_lists
from colgen.certificate.witness import WitnessPoint
from colgen.problems.title_path.instance import PathInstance
from colgen.problems.title_path.master import WalkDuals

_MAX_WALKS = 300_000
"""Largest number of walks in the checker's dynamic program; beyond it, the run has to be trusted."""


class PathCertifier(Certifier):
    """Certify a path by its own proof: classes repeated by heavier walks are remembered, one after the other.

    Every weight is an integer over a power of two, so nothing is rounded.
    """

    states_formulation = False

    def __init__(self, instance: PathInstance) -> None:
        super().__init__(Sense.MAXIMIZE, instance.name)
        self._instance = instance

    def instance(self) -> Record:
        return self._data

    @cached_property
    def _data(self) -> Record:
        arrays = {"first": self._instance.first, "last": self._instance.last, "weights": self._instance.weights}
        shift = max(map(places, arrays.values()))
        return {
            "kind": "title_path",
            "name": self.name,
            "denominator": 2**shift,
            "length": self._instance.length,
            "classes": self._instance.class_numbers.tolist(),
            **{name: to_integer_lists(array, shift) for name, array in arrays.items()},
        }

    def formulation(self) -> Record:
        return {"sense": "maximize", "step": None, "rows": [], "pricing": [{"kind": "paths", "uses": [1, 1]}]}

    @cached_property
    def _checker(self) -> Paths:
        return Paths(0, self._data, 0, _MAX_WALKS)

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, [int(v) for v in column.structure]] for column, _ in solution.columns]

    def objective(self, solution: Solution) -> Fraction:
        ((_, _, path),) = self.columns(solution)
        return self._checker.column(path)[0]

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterable[Record] | None:
        checker, classes = self._checker, self._instance.class_numbers.tolist()
        most, penalties, remembered = int(-goal * checker.unit), self._penalties(points), set[int]()
        try:
            while (walk := checker.above(most, penalties, sorted(remembered))) is not None:
                visited = [classes[v] for v in walk]
                again = {c for c in visited if visited.count(c) > 1}
                weight = checker.column(walk)[0] * checker.unit if not again else 0
                if not again and weight > most:  # better than the run's answer by a rounding error: raise the bound
                    most = int(weight)
                elif not again:  # penalties of classes that it does not visit
                    again = {c for c, penalty in enumerate(penalties) if penalty and c not in visited}
                remembered |= again
        except WrongError:
            return None
        potentials = {"penalties": penalties, "remembered": sorted(remembered), "most": most}
        bound = Fraction(most, checker.unit)
        claim = {"weight": 1, "unit": 1, "duals": [], "counts": [], "least": [as_exact(-bound)]}
        return [{"node": 0, "claim": {**claim, "bound": as_exact(bound), "potentials": potentials}}]

    def _penalties(self, points: Sequence[WitnessPoint]) -> list[int]:
        """Return the penalties of the run, which may be any non-negative numbers."""
        seen = [point.duals.penalties for point in points if isinstance(point.duals, WalkDuals)]
        values = seen[-1] * self._instance.scaled.scale if seen else np.zeros(self._instance.num_classes)
        return [math.floor(Fraction(x) * self._checker.unit) if 0.0 < x < math.inf else 0 for x in values.tolist()]
