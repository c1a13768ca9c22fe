"""Branching decisions and fixings that forbid assignments."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Decision, PricingContext


@dataclass(frozen=True, eq=False)
class AssignmentsForbidden(Decision):
    """No machine may take a task where the mask says so.

    A task that must go to a machine is forbidden to the others, for each is done once.

    Attributes
    ----------
    block
        In which oracles and the conformance kit hear of it: names are ``(machine, task)``.
    closed
        Shape (machines, tasks).
    """

    block: str
    closed: NDArray[np.bool_] = field(repr=False)
    exhaustive: bool = True

    def allows(self, column: Column) -> bool:
        machine, tasks = column.structure
        return not self.closed[machine, list(tasks)].any()

    def forbids(self, block: str) -> Collection[Hashable]:
        return [(int(j), int(t)) for j, t in np.argwhere(self.closed)] if block == self.block else ()

    def __str__(self) -> str:
        return f"{int(self.closed.sum())} assignments forbidden"


def closed_by(context: PricingContext, shape: tuple[int, int], block: str) -> NDArray[np.bool_]:
    """What the decisions of a node forbid."""
    closed = np.zeros(shape, dtype=np.bool_)
    for decision in context.decisions:
        if isinstance(decision, AssignmentsForbidden):
            closed |= decision.closed
        else:
            for pair in decision.forbids(block):
                closed[cast(tuple[int, int], pair)] = True
    return closed
