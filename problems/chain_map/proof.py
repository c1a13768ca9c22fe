"""Certificates of labellings: the scores as integers, and the labels; the checker searches for better labellings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import Sense, Solution
from colgen.certificate.certifier import Certifier, Record, as_exact
from colgen.certificate.checker_chains import Labellings as Checked
from colgen.certificate.scaling import places, to_integers, to_lists
from colgen.certificate.witness import WitnessPoint
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.kernels.integer_labels import best_scores
from colgen.problems.chain_map.labellings import Labellings
from colgen.solvers.chains.forest import NONE


class ChainCertifier(Certifier):
    """Certify labellings with exact scores: each is an integer over a power of two.

    Runs compare sums in floating point. The certifier performs the checker's exact search to find out whether the
    labellings are optimal. If another labelling is better by a rounding error, the certified bound shows it.
    """

    checks_nodes = True
    needs_duals = False
    states_formulation = False

    def __init__(self, instance: ChainInstance, labels: Callable[[Solution], Labellings]) -> None:
        super().__init__(Sense.MAXIMIZE, "")
        self._instance, self._labels = instance, labels

    def instance(self) -> Record:
        return self._data

    @cached_property
    def _integers(self) -> _IntegerScores:
        return _IntegerScores.of(self._instance)

    @cached_property
    def _data(self) -> Record:
        forest, own = self._instance.forest, self._integers
        return {
            "kind": "chain_map",
            "name": self.name,
            "denominator": own.denominator,
            "parents": forest.parent.tolist(),
            "of_table": forest.table.tolist(),
            "scores": to_lists(own.scores, np.isfinite(self._instance.scores)),
            "tables": to_lists(own.tables, np.isfinite(self._instance.pairwise.tables)),
        }

    def formulation(self) -> Record:
        return {"sense": "maximize", "step": None, "rows": [], "pricing": [{"kind": "labellings", "uses": [1, 1]}]}

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, self._labels(solution).labels.tolist()]]

    def objective(self, solution: Solution) -> Fraction:
        forest, labels, own = self._instance.forest, self._labels(solution).labels, self._integers
        nodes = np.flatnonzero(labels >= 0)
        below = nodes[forest.parent[nodes] != NONE]
        total = int(own.scores[nodes, labels[nodes]].sum())
        total += int(own.tables[forest.table[below], labels[below], labels[forest.parent[below]]].sum())
        return Fraction(total, own.denominator)

    def claim(self, state: Any, point: WitnessPoint, goal: Fraction | None) -> Record | None:
        if goal is None:
            return None
        bound = as_exact(Fraction(self._best, self._integers.denominator))
        least = as_exact(Fraction(-self._best, self._integers.denominator))
        return {"weight": 1, "unit": 1, "duals": [], "counts": [], "least": [least], "bound": bound}

    @cached_property
    def _best(self) -> int:
        """The exact best score over all trees that have a labelling; the checker computes it beyond 64 bits."""
        own = self._integers
        if object in (own.scores.dtype, own.tables.dtype):
            return sum(Checked(0, self._data, 0).best.values())
        scores = np.where(np.isfinite(self._instance.scores), own.scores, own.forbidden)
        tables = np.where(np.isfinite(self._instance.pairwise.tables), own.tables, own.forbidden)
        found = best_scores(self._instance.forest, scores, tables, own.forbidden)
        return int(found[found > own.forbidden // 2].sum())


@dataclass(frozen=True)
class _IntegerScores:
    """Scores as integers, of 64 bits if sums fit, and a value below all sums for forbidden labels."""

    denominator: int
    scores: NDArray[Any]
    tables: NDArray[Any]
    forbidden: int

    @classmethod
    def of(cls, instance: ChainInstance) -> _IntegerScores:
        arrays = instance.scores, instance.pairwise.tables
        nodes, shift = instance.forest.num_nodes, max(map(places, arrays))
        scores, tables = (to_integers(array, shift, (32 * (nodes + 1)).bit_length()) for array in arrays)
        largest = max(int(np.abs(each).max(initial=0)) for each in (scores, tables))
        return cls(2**shift, scores, tables, -4 * (nodes + 1) * largest - 1)
