"""Branching decisions on arcs for parsers whose columns are trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Decision
from colgen.problems.dependency.sentence import Heads

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ArcDecision(Decision):
    """Requires or forbids an arc."""

    head: int
    modifier: int
    required: bool

    def allows(self, column: Column) -> bool:
        return all((heads[self.modifier - 1] == self.head) == self.required for heads in _trees(column))

    def __str__(self) -> str:
        return f"{self.head} {'→' if self.required else '↛'} {self.modifier}"


@dataclass(frozen=True)
class NoBetter(Decision):
    """Forbids arcs that no tree better than the incumbent contains.

    ``bits`` is the mask of the arcs by head and modifier, one bit each: a long sentence has millions.
    """

    vertices: int
    bits: bytes

    exhaustive = False

    @classmethod
    def of(cls, gone: Mask) -> NoBetter:
        return cls(len(gone), np.packbits(gone).tobytes())

    @cached_property
    def gone(self) -> Mask:
        held = np.unpackbits(np.frombuffer(self.bits, dtype=np.uint8), count=self.vertices**2)
        return held.view(np.bool_).reshape(self.vertices, self.vertices)

    def allows(self, column: Column) -> bool:
        return not any(self.gone[h, m] for heads in _trees(column) for m, h in enumerate(heads, 1))

    def __str__(self) -> str:
        return f"none of {np.count_nonzero(self.gone)} arcs"


def _trees(column: Column) -> Iterable[Heads]:
    found: Iterable[Heads] = column.structure if isinstance(column.structure[0], tuple) else (column.structure,)
    return found


def restrict(allowed: Mask, decisions: Iterable[Decision]) -> Mask:
    """Remove arcs that decisions forbid from a mask, by head and modifier; the mask is changed in place."""
    for decision in decisions:
        if isinstance(decision, NoBetter):
            allowed[decision.gone] = False
        elif isinstance(decision, ArcDecision):
            own = decision.required and allowed[decision.head, decision.modifier]
            if decision.required:
                allowed[:, decision.modifier] = False
            allowed[decision.head, decision.modifier] = own
    return allowed
