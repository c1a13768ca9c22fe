"""Certificates of paths: weights as whole numbers, penalties of a run, and the classes that must be remembered."""

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
from colgen.certificate.scaling import as_whole, places
from colgen.certificate.witness import WitnessPoint
from colgen.problems.title_path.instance import PathInstance
from colgen.problems.title_path.master import WalkDuals

_MOST_LABELS = 300_000
"""Walks that may be left in a dynamic program of the checker; beyond that it is asked to trust the run."""


class PathCertifier(Certifier):
    """A proof of its own: classes that walks of more weight than the answer visit again are remembered, one by one.

    Every weight is a whole number over a power of two, so that nothing is rounded.
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
            **{name: as_whole(array, shift) for name, array in arrays.items()},
        }

    def formulation(self) -> Record:
        return {"sense": "maximize", "step": None, "rows": [], "pricing": [{"kind": "paths", "uses": [1, 1]}]}

    @cached_property
    def _checked(self) -> Paths:
        return Paths(0, self._data, 0, _MOST_LABELS)

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, [int(v) for v in column.structure]] for column, _ in solution.columns]

    def objective(self, solution: Solution) -> Fraction:
        ((_, _, path),) = self.columns(solution)
        return self._checked.column(path)[0]

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterable[Record] | None:
        checked, classes = self._checked, self._instance.class_numbers.tolist()
        most, penalties, remembered = int(-goal * checked.unit), self._penalties(points), set[int]()
        try:
            while (walk := checked.above(most, penalties, sorted(remembered))) is not None:
                visited = [classes[v] for v in walk]
                again = {c for c in visited if visited.count(c) > 1}
                weight = checked.column(walk)[0] * checked.unit if not again else 0
                if not again and weight > most:  # a rounding error better than the run's answer: the bound says so
                    most = int(weight)
                elif not again:  # penalties of classes that it does not visit
                    again = {c for c, penalty in enumerate(penalties) if penalty and c not in visited}
                remembered |= again
        except WrongError:
            return None
        said = {"penalties": penalties, "remembered": sorted(remembered), "most": most}
        bound = Fraction(most, checked.unit)
        claim = {"weight": 1, "unit": 1, "duals": [], "counts": [], "least": [as_exact(-bound)]}
        return [{"node": 0, "claim": {**claim, "bound": as_exact(bound), "potentials": said}}]

    def _penalties(self, points: Sequence[WitnessPoint]) -> list[int]:
        """Those of the run, which may be any numbers of 0 or more."""
        seen = [point.duals.penalties for point in points if isinstance(point.duals, WalkDuals)]
        values = seen[-1] * self._instance.scaled.scale if seen else np.zeros(self._instance.num_classes)
        return [math.floor(Fraction(x) * self._checked.unit) if 0.0 < x < math.inf else 0 for x in values.tolist()]
