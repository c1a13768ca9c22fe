"""Certificates of labellings: the scores as whole numbers, and the labels; the checker searches for better ones."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import Sense, Solution
from colgen.proof.certifier import Certifier, Record, as_exact
from colgen.proof.checker_chains import Labellings as Checked
from colgen.proof.checker_pricing import State
from colgen.proof.witness import Point
from problems.chain_map.instance import Instance
from problems.chain_map.labellings import Labellings

_EXACT = 62
"""Bits of whole numbers that an array holds."""

_LARGEST = 1_000
"""Bits of whole numbers below the largest of double precision."""


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
        shift = max(_places(array) for array in arrays)
        scores, tables = (_as_whole(array, shift) for array in arrays)
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


def _places(array: NDArray[np.floating[Any]]) -> int:
    """How many binary places the finite numbers of an array need."""
    finite = array[np.isfinite(array) & (array != 0.0)]
    if not len(finite):
        return 0
    parts, exponents = np.frexp(finite.astype(np.float64))
    whole = np.ldexp(parts, 53).astype(np.int64)
    lowest = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return max(int((53 - exponents - lowest).max()), 0)


def _as_whole(array: NDArray[np.floating[Any]], shift: int) -> Any:
    """An array times a power of two, as whole numbers in lists; None where a score is not finite."""
    finite = np.isfinite(array)
    top = int(np.frexp(np.abs(array[finite]).max(initial=0.0))[1])
    if top + shift <= _EXACT and finite.all():
        return np.ldexp(array.astype(np.float64), shift).astype(np.int64).tolist()
    whole = np.full(array.shape, None, dtype=object)
    if top + shift < _LARGEST:
        whole[finite] = list(map(int, np.ldexp(array[finite].astype(np.float64), shift).tolist()))
    else:
        whole[finite] = [int(Fraction(x) * 2**shift) for x in array[finite].tolist()]
    return whole.tolist()
