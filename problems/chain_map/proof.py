"""Certificates of labellings: the scores as whole numbers, and the labels; the checker searches for better ones."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

from colgen import Sense, Solution
from colgen.proof.certifier import Certifier, Record, as_exact
from colgen.proof.checker_chains import Labellings as Checked
from colgen.proof.checker_pricing import State
from colgen.proof.scaling import as_whole, places
from colgen.proof.witness import Point
from problems.chain_map.instance import Instance
from problems.chain_map.labellings import Labellings


class ChainCertifier(Certifier):
    """Every score is a whole number over a power of two, so that nothing is rounded.

    Runs compare sums in floating point.  Whether their labellings are the best exactly is found out by what the checker
    will do; where another one is better by a rounding error, the bound says so.

    Parameters
    ----------
    instance
        What is labelled.
    labels
        Of all nodes, of an answer.
    """

    checks_nodes = True
    needs_duals = False
    states_formulation = False

    def __init__(self, instance: Instance, labels: Callable[[Solution], Labellings]) -> None:
        super().__init__(Sense.MAXIMIZE, "")
        self._instance, self._labels = instance, labels

    def instance(self) -> Record:
        return self._data

    @cached_property
    def _data(self) -> Record:
        forest, arrays = self._instance.forest, (self._instance.scores, self._instance.pairwise.tables)
        shift = max(places(array) for array in arrays)
        scores, tables = (as_whole(array, shift) for array in arrays)
        return {
            "kind": "chain_map",
            "name": self.name,
            "denominator": 2**shift,
            "parents": forest.parent.tolist(),
            "of_table": forest.table.tolist(),
            "scores": scores,
            "tables": tables,
        }

    def formulation(self) -> Record:
        return {"sense": "maximize", "step": None, "rows": [], "pricing": [{"kind": "labellings", "uses": [1, 1]}]}

    @cached_property
    def _checked(self) -> Checked:
        return Checked(0, self._data, 0)

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, self._labels(solution).labels.tolist()]]

    def objective(self, solution: Solution) -> Fraction:
        return self._checked.column(self._labels(solution).labels.tolist())[0]

    def claim(self, state: Any, point: Point, goal: Fraction | None) -> Record | None:
        if goal is None:
            return None
        least = self._checked.least((), Fraction(-1), {}, State())
        bound = as_exact(-least)
        return {"weight": 1, "unit": 1, "duals": [], "counts": [], "least": [as_exact(least)], "bound": bound}
