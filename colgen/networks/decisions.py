"""Decisions on the arcs of a path block."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from colgen.core.column_batch import Columns, Mask
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.text import plural
from colgen.networks.block import Path, PathBlock
from colgen.networks.graph import Ints


@dataclass(frozen=True, eq=False)
class ArcsForbidden(Decision):
    """No path of a block uses certain arcs of its network.

    Attributes
    ----------
    number
        Index of the block.
    closed
        Mask of the network's arcs.
    slack
        How much a solution of interest could be worse than the bound when the arcs were closed.
    """

    number: int
    closed: NDArray[np.bool_] = field(repr=False)
    slack: float
    blocks: tuple[PathBlock, ...] = field(repr=False)
    exhaustive: bool = False

    def allows(self, column: Column) -> bool:
        path = column.structure
        if not isinstance(path, Path) or path.number != self.number:
            return True
        steps = self.blocks[self.number].follow(path.arcs)
        return steps is not None and not self.closed[steps].any()

    def allows_each(self, columns: Columns) -> Mask:
        block, nothing = self.blocks[self.number], np.empty(0, dtype=np.int64)
        steps: list[Ints] = []
        allowed = np.ones(len(columns), dtype=np.bool_)
        for k, path in enumerate(columns.structures):
            mine = nothing
            if isinstance(path, Path) and path.number == self.number:
                found = block.follow(path.arcs)
                if found is None:
                    allowed[k] = False
                else:
                    mine = found
            steps.append(mine)
        owners = np.repeat(np.arange(len(steps)), [len(each) for each in steps])
        allowed[owners[self.closed[np.concatenate([*steps, nothing])]]] = False
        return allowed

    def __str__(self) -> str:
        return f"{plural(int(self.closed.sum()), 'arc')} of {self.blocks[self.number].name} forbidden"
