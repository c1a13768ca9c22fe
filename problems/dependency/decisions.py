"""Branching decisions on arcs, of every parser whose columns are trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Decision
from problems.dependency.sentence import Heads

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ArcDecision(Decision):
    """An arc is in the tree, or is not."""

    head: int
    modifier: int
    required: bool

    def allows(self, column: Column) -> bool:
        return all((heads[self.modifier - 1] == self.head) == self.required for heads in _trees(column))

    def __str__(self) -> str:
        return f"{self.head} {'→' if self.required else '↛'} {self.modifier}"


@dataclass(frozen=True)
class NoBetter(Decision):
    """Trees without some arcs, (head, modifier) each: no tree better than the incumbent has one of them."""

    arcs: frozenset[tuple[int, int]]

    exhaustive = False

    @cached_property
    def places(self) -> tuple[Ints, Ints]:
        """Heads and modifiers of the arcs."""
        heads, modifiers = np.array(list(self.arcs), dtype=np.int64).reshape(-1, 2).T
        return heads, modifiers

    def allows(self, column: Column) -> bool:
        return not any((h, m) in self.arcs for heads in _trees(column) for m, h in enumerate(heads, 1))

    def __str__(self) -> str:
        return f"none of {len(self.arcs)} arcs"


def _trees(column: Column) -> Iterable[Heads]:
    """What a column stands for: a tree, or several."""
    found: Iterable[Heads] = column.structure if isinstance(column.structure[0], tuple) else (column.structure,)
    return found


def restrict(allowed: Mask, decisions: Iterable[Decision]) -> Mask:
    """Forbid what decisions forbid in a mask of arcs by head and modifier, which is changed."""
    for decision in decisions:
        if isinstance(decision, NoBetter):
            allowed[decision.places] = False
        elif isinstance(decision, ArcDecision):
            own = decision.required and allowed[decision.head, decision.modifier]
            if decision.required:
                allowed[:, decision.modifier] = False
            allowed[decision.head, decision.modifier] = own
    return allowed
