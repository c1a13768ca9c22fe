"""Branching decisions on a decomposed model: bounds on variables of blocks, and counts of points within bounds."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.branching.rules import TemplateBound
from colgen.core.column_batch import Columns, Mask
from colgen.core.columns import Column, Key, Row
from colgen.core.decision import Decision
from colgen.core.terms import Box

Bounds: TypeAlias = tuple[tuple[int, float, float], ...]
"""Component bounds: variable of a subproblem, lower, upper."""


_FEW = 32
"""Number of columns up to which a loop is faster than arrays."""


@dataclass(frozen=True)
class ComponentBound(Decision):
    """``lower ≤ x ≤ upper`` for a variable of a block, in each of its points: a bound in the pricing problem.

    ``convexity`` is the key of the block's convexity row; rays, if the block has any, are not in it.
    """

    convexity: Key
    number: int
    variable: int
    lower: float
    upper: float
    rays: bool = False

    @property
    def concerns(self) -> Collection[Key] | None:
        return None if self.rays else (self.convexity,)

    def allows(self, column: Column) -> bool:
        return self._holds(column.structure)

    def _holds(self, point: Any) -> bool:
        return point.number != self.number or bool(point.within(self.variable, self.lower, self.upper))

    def allows_each(self, columns: Columns) -> Mask:
        if self.rays or len(columns) <= _FEW:
            point = columns.meanings.of
            return np.array([self._holds(point(k)) for k in range(len(columns))], dtype=np.bool_)
        mask = np.ones(len(columns), dtype=np.bool_)
        for k in np.flatnonzero(columns.covering(self.convexity)).tolist():
            mask[k] = columns.meanings.of(k).within(self.variable, self.lower, self.upper)
        return mask


@dataclass(frozen=True)
class PointsWithin(Decision):
    """``lower ≤ Σ_j λ_j ≤ upper`` over the points of identical blocks that satisfy component bounds.

    ``value`` is 1 for columns of points within the bounds, else 0.
    """

    block: str
    box: Box
    lower: float
    upper: float
    value: Callable[[Column], float] = field(compare=False, repr=False)

    def row(self) -> Row:
        return Row((self.block, self.box), self.lower, self.upper, coefficient=self.value)


@dataclass(frozen=True)
class FirstStageBound(TemplateBound):
    """Bounds on a first-stage variable and all its copies, which are the variables ``copies`` of the blocks."""

    copies: NDArray[np.int64] = field(compare=False, repr=False)

    def variable_of(self, number: int) -> int:
        """Return the copy in a block."""
        return int(self.copies[number])

    def allows(self, column: Column) -> bool:
        point = column.structure
        return bool(point.within(int(self.copies[point.number]), self.lower, self.upper))


def variable_of(decision: Decision, number: int) -> int | None:
    """Return the variable of a block that a decision bounds, or None."""
    if isinstance(decision, ComponentBound):
        return decision.variable if decision.number == number else None
    return decision.variable_of(number) if isinstance(decision, FirstStageBound) else None
