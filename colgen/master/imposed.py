"""What a node and a dive impose on columns: bounds, and which of them are allowed at all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from colgen.core.batches import Columns, Mask
from colgen.core.decision import Decision, screen_of
from colgen.core.errors import UnknownRowError
from colgen.master.pool import Floats, Ints
from colgen.master.table import ColumnTable

_FEW = 32
"""So many single columns, or fewer, are looked at one by one."""


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
        young: dict[int, tuple[Ints, Columns]] = {}
        for decision in self.decisions:
            for key, (low, high) in decision.bounds().items():
                where = table.position.get(key)
                if where is None:
                    raise UnknownRowError(f"a branching decision bounds {key!r}, which the master does not have")
                lower[where], upper[where] = max(lower[where], low), min(upper[where], high)
            upper[~self._allowed_by(decision, table, young)] = 0.0
        return lower, upper

    def raise_fixed(self, table: ColumnTable, lower: Floats) -> None:
        """Raise lower bounds to those of the dive."""
        for identity, value in self.fixed.items():
            where = table.where(identity)
            if where is None:
                raise UnknownRowError(f"the master has no column {identity!r} to fix")
            lower[where] = max(lower[where], value)

    def _allowed_by(self, decision: Decision, table: ColumnTable, young: dict[int, tuple[Ints, Columns]]) -> Mask:
        """Which columns a decision allows, remembered and brought up to date with the columns that have come since.

        ``young``: generated columns from a position on, for decisions that know as many.
        """
        known = self._allowed.get(decision)
        first = 0 if known is None else len(known)
        if first < len(table):
            more = np.ones(len(table) - first, dtype=np.bool_)
            if first not in young:
                every = np.arange(first, len(table))
                positions: Ints = every[table.is_generated(every)]
                young[first] = positions, table.batch(positions)
            positions, batch = young[first]
            more[positions - first] = decision.allows_each(batch)
            known = self._allowed[decision] = more if known is None else np.append(known, more)
        assert known is not None
        return known

    def allows(self, batch: Columns) -> Mask | None:
        """Which columns of a batch the node allows; None where there are no decisions."""
        if not self.decisions:
            return None
        given = batch.meanings.given
        if given is not None and len(given) <= _FEW:  # arrays of a few cost more than they save
            screen = screen_of(self.decisions)
            few = (screen.objection(column) is None for column in given)
            return np.fromiter(few, dtype=np.bool_, count=len(given))
        mask: Mask = np.logical_and.reduce([decision.allows_each(batch) for decision in self.decisions])
        return mask
