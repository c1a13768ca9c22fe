"""Branching decisions on arcs, of every parser whose columns are trees."""

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
    """Trees without some arcs: no tree better than the incumbent has one of them.

    Attributes
    ----------
    vertices
        The tokens and the root.
    bits
        The arcs, one bit for each that there could be, by head and modifier: of a long sentence they are millions.
    """

    vertices: int
    bits: bytes

    exhaustive = False

    @classmethod
    def of(cls, gone: Mask) -> NoBetter:
        """Trees without arcs that are given by head and modifier, shape (vertices, vertices)."""
        return cls(len(gone), np.packbits(gone).tobytes())

    @cached_property
    def gone(self) -> Mask:
        """The arcs by head and modifier."""
        held = np.unpackbits(np.frombuffer(self.bits, dtype=np.uint8), count=self.vertices**2)
        return held.view(np.bool_).reshape(self.vertices, self.vertices)

    def allows(self, column: Column) -> bool:
        return not any(self.gone[h, m] for heads in _trees(column) for m, h in enumerate(heads, 1))

    def __str__(self) -> str:
        return f"none of {np.count_nonzero(self.gone)} arcs"


def _trees(column: Column) -> Iterable[Heads]:
    """What a column stands for: a tree, or several."""
    found: Iterable[Heads] = column.structure if isinstance(column.structure[0], tuple) else (column.structure,)
    return found


def restrict(allowed: Mask, decisions: Iterable[Decision]) -> Mask:
    """Forbid what decisions forbid in a mask of arcs by head and modifier, which is changed."""
    for decision in decisions:
        if isinstance(decision, NoBetter):
            allowed[decision.gone] = False
        elif isinstance(decision, ArcDecision):
            own = decision.required and allowed[decision.head, decision.modifier]
            if decision.required:
                allowed[:, decision.modifier] = False
            allowed[decision.head, decision.modifier] = own
    return allowed
