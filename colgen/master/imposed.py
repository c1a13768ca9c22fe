"""What a node and a dive impose on columns: bounds, and which of them are allowed at all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from colgen.core.batches import Columns, Mask
from colgen.core.decision import Decision
from colgen.core.errors import UnknownRowError
from colgen.master.pool import Floats
from colgen.master.table import ColumnTable


class Imposed:
    """The branching decisions of the present node, and the lower bounds of a dive.

    Attributes
    ----------
    decisions
        Of the node.
    fixed
        Lower bounds by the identity of columns.
    proper
        Name of a block of rows that no column may cover more of than the fixed ones leave over; see
        :meth:`RestrictedMaster.fix`.
    """

    def __init__(self) -> None:
        self.decisions: tuple[Decision, ...] = ()
        self.fixed: Mapping[Hashable, float] = {}
        self.proper: str | None = None
        self._allowed: dict[Decision, Mask] = {}

    def of_node(self, table: ColumnTable) -> tuple[Floats, Floats]:
        """Bounds of all columns at the node; they may cross."""
        lower, upper = table.lower.copy(), table.upper.copy()
        upper[table.artificial] = table.upper_now[table.artificial]
        for decision in self.decisions:
            for key, (low, high) in decision.bounds().items():
                where = table.position.get(key)
                if where is None:
                    raise UnknownRowError(f"a branching decision bounds {key!r}, which the master does not have")
                lower[where], upper[where] = max(lower[where], low), min(upper[where], high)
            upper[~self._allowed_by(decision, table)] = 0.0
        return lower, upper

    def raise_fixed(self, table: ColumnTable, lower: Floats) -> None:
        """Raise lower bounds to those of the dive."""
        for identity, value in self.fixed.items():
            where = table.where(identity)
            if where is None:
                raise UnknownRowError(f"the master has no column {identity!r} to fix")
            lower[where] = max(lower[where], value)

    def _allowed_by(self, decision: Decision, table: ColumnTable) -> Mask:
        """Which columns a decision allows, remembered and brought up to date with the columns that have come since."""
        known = self._allowed.get(decision)
        first = 0 if known is None else len(known)
        if first < len(table):
            more = np.ones(len(table) - first, dtype=np.bool_)
            young = np.arange(first, len(table))
            young = young[table.is_generated(young)]
            more[young - first] = decision.allows_each(table.batch(young))
            known = self._allowed[decision] = more if known is None else np.append(known, more)
        assert known is not None
        return known

    def allows(self, batch: Columns) -> Mask | None:
        """Which columns of a batch the node allows; None where there are no decisions."""
        if not self.decisions:
            return None
        mask: Mask = np.logical_and.reduce([decision.allows_each(batch) for decision in self.decisions])
        return mask
