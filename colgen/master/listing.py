"""Columns that a program is made of, in the master or not, over its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.batches import Columns
from colgen.core.columns import Column
from colgen.master.stated import Entries
from colgen.master.tabular import TabularMaster
from solvers.linear.lp import Stopped

_BATCH = 2_000
"""Columns that rows are asked about between two looks at the clock."""


class Listed(NamedTuple):
    """Columns over a master's rows: a matrix with a column each, and what they cost and may be."""

    columns: Sequence[Column]
    matrix: sparse.csc_array
    costs: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    integer: NDArray[np.bool_]


def listed(master: TabularMaster, columns: Sequence[Column], expired: Stopped) -> Listed | None:
    """What rows say of columns, a batch at a time; None if the time is over before it is all said."""
    if isinstance(columns, Columns):
        columns = columns.over(master.names.keys, master.names.position)
    entries: list[Entries] = []
    batches: list[Columns] = []
    for first in range(0, len(columns), _BATCH):
        if expired():
            return None
        known = master.looked_up(columns[first : first + _BATCH])
        batch, stated = known.batch, known.stated
        batches.append(batch)
        entries += [
            (owners + first, rows, values)
            for owners, rows, values in [(batch.owners, batch.rows, batch.values), *([stated] if stated else [])]
        ]
    if not batches:
        none = np.empty(0)
        return Listed(columns, sparse.csc_array((master.num_rows, 0)), none, none, none, np.empty(0, dtype=np.bool_))
    owners, rows, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    return Listed(
        columns,
        sparse.csc_array((values, (rows, owners)), shape=(master.num_rows, len(columns))),
        np.concatenate([batch.costs for batch in batches]),
        np.concatenate([batch.lower for batch in batches]),
        np.concatenate([batch.upper for batch in batches]),
        np.concatenate([batch.integer for batch in batches]),
    )
