"""Rows of a master whose columns are still to come, as arrays: each of them has one variable of the template."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from colgen.core.columns import Key
from colgen.core.sense import Sense
from colgen.model.formulation import Block, Formulation


@dataclass(frozen=True)
class SlackRows:
    """Rows ``low <= x_i <= high``, one for each index, and their nonnegative variables x.

    Attributes
    ----------
    row, variable
        Names of the blocks.
    indices
        Of both; ``(None,)`` for a block of one row without an index.
    low, high
        Sides of the rows: numbers, or one a row.
    upper
        Bound of the variables.
    artificial
        Whether the variables must be zero in any answer.
    """

    row: str
    variable: str
    indices: Sequence[Hashable]
    low: Any
    high: Any = math.inf
    upper: float = math.inf
    artificial: bool = True


def slack_rows(sense: Sense, blocks: Sequence[SlackRows]) -> Formulation:
    """What compiling a Pyomo model of such rows gives, blocks in this order, without Pyomo; costs are 0."""
    sizes = [len(block.indices) for block in blocks]
    count = sum(sizes)
    starts = np.cumsum([0, *sizes])

    def each(values: Sequence[Any]) -> Any:
        return np.concatenate([np.broadcast_to(value, size) for value, size in zip(values, sizes, strict=True)])

    def keys(names: Sequence[str]) -> tuple[Key, ...]:
        return tuple((name, index) for name, block in zip(names, blocks, strict=True) for index in block.indices)

    def named(names: Sequence[str]) -> dict[str, Block]:
        return {
            name: Block(name, tuple(block.indices), np.arange(first, first + len(block.indices)))
            for name, block, first in zip(names, blocks, starts, strict=False)
            if len(block.indices)
        }

    rows, variables = [block.row for block in blocks], [block.variable for block in blocks]
    return Formulation(
        sense=sense,
        matrix=sparse.csc_array((np.ones(count), (np.arange(count), np.arange(count))), shape=(count, count)),
        costs=np.zeros(count),
        lower=np.zeros(count),
        upper=each([block.upper for block in blocks]).astype(np.float64),
        integer=np.zeros(count, dtype=np.bool_),
        artificial=each([block.artificial for block in blocks]),
        row_lower=each([block.low for block in blocks]).astype(np.float64),
        row_upper=each([block.high for block in blocks]).astype(np.float64),
        offset=0.0,
        column_keys=keys(variables),
        row_keys=keys(rows),
        row_blocks=named(rows),
        column_blocks=named(variables),
    )
