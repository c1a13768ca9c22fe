"""Branching decisions and fixings that forbid assignments."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Columns, Decision, PricingContext

ASSIGN, USE, TAKES = "assign", "use", "takes"
"""Blocks of the rows of tasks, of machines, and of branching rows, whose index is ``(machine, task)``."""


@dataclass(frozen=True, eq=False)
class AssignmentsForbidden(Decision):
    """Forbids the assignments in a mask, shape (machines, tasks).

    A task that must go to a machine is forbidden to the others, as each is performed once.  The names in ``block`` are
    pairs ``(machine, task)``.
    """

    block: str
    closed: NDArray[np.bool_] = field(repr=False)
    exhaustive: bool = True

    def allows(self, column: Column) -> bool:
        machine, tasks = column.structure
        return not self.closed[machine, list(tasks)].any()

    def allows_each(self, columns: Columns) -> NDArray[np.bool_]:
        place, (machines, tasks) = columns.row_position, self.closed.shape
        kinds = ((ASSIGN, tasks), (USE, machines))
        rows = [[place.get((block, k), -1) for k in range(count)] for block, count in kinds]
        if min(map(min, rows)) < 0:  # a batch without row positions of a master
            return super().allows_each(columns)
        size = int(max(columns.rows.max(initial=0), *map(max, rows))) + 1
        task_of, machine_of = np.full((2, size), -1)
        task_of[rows[0]], machine_of[rows[1]] = np.arange(tasks), np.arange(machines)
        column_of = np.repeat(np.arange(len(columns)), np.diff(columns.starts))
        machine = np.zeros(len(columns), dtype=np.int64)
        named = machine_of[columns.rows] >= 0
        machine[column_of[named]] = machine_of[columns.rows[named]]
        used = task_of[columns.rows] >= 0
        closed = self.closed[machine[column_of[used]], task_of[columns.rows[used]]]
        mask = np.ones(len(columns), dtype=np.bool_)
        mask[column_of[used][closed]] = False
        return mask

    def forbids(self, block: str) -> Collection[Hashable]:
        return [(int(j), int(t)) for j, t in np.argwhere(self.closed)] if block == self.block else ()

    def __str__(self) -> str:
        return f"{int(self.closed.sum())} assignments forbidden"


def forbidden_assignments(context: PricingContext, shape: tuple[int, int], block: str) -> NDArray[np.bool_]:
    """Return the mask of assignments that the node's decisions forbid."""
    closed = np.zeros(shape, dtype=np.bool_)
    for decision in context.decisions:
        if isinstance(decision, AssignmentsForbidden):
            closed |= decision.closed
        else:
            for pair in decision.forbids(block):
                closed[cast(tuple[int, int], pair)] = True
    return closed
