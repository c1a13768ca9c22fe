"""What a node and a dive impose on columns: bounds, and which of them are allowed at all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from colgen.core.batches import Columns, Mask
from colgen.core.decision import Decision, Screen, screen_of
from colgen.core.errors import UnknownRowError
from colgen.master.pool import Floats, Ints
from colgen.master.table import ColumnTable

_NOTHING: Ints = np.empty(0, dtype=np.int64)

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
        self._judged: dict[Decision, tuple[int, Ints]] = {}

    def of_node(self, table: ColumnTable) -> tuple[Floats, Floats]:
        """Bounds of all columns at the node; they may cross."""
        lower, upper = table.lower.copy(), table.upper.copy()
        upper[table.artificial] = table.upper_now[table.artificial]
        self._look_at_young(table)
        for decision in self.decisions:
            upper[self._judged[decision][1]] = 0.0
            for key, (low, high) in decision.bounds().items():
                where = table.position.get(key)
                if where is None:
                    raise UnknownRowError(f"a branching decision bounds {key!r}, which the master does not have")
                lower[where], upper[where] = max(lower[where], low), min(upper[where], high)
        return lower, upper

    def _look_at_young(self, table: ColumnTable) -> None:
        """Let each decision judge the columns that have come since it was last in force; its verdicts are kept.

        Of a decision, ``_judged`` holds how many columns it has judged, and the positions of those that it forbids.
        """
        waiting: dict[int, list[Decision]] = {}
        for decision in self.decisions:
            first, _ = self._judged.setdefault(decision, (0, _NOTHING))
            if first < len(table):
                waiting.setdefault(first, []).append(decision)
        for first, decisions in waiting.items():
            young = np.arange(first, len(table))
            verdicts = _verdicts(decisions, table, young[table.is_generated(young)])
            for decision in decisions:
                before, new = self._judged[decision][1], verdicts.get(decision, _NOTHING)
                self._judged[decision] = len(table), np.concatenate([before, new]) if len(new) else before

    def raise_fixed(self, table: ColumnTable, lower: Floats) -> None:
        """Raise lower bounds to those of the dive."""
        for identity, value in self.fixed.items():
            where = table.where(identity)
            if where is None:
                raise UnknownRowError(f"the master has no column {identity!r} to fix")
            lower[where] = max(lower[where], value)

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


def _verdicts(decisions: Sequence[Decision], table: ColumnTable, young: Ints) -> Mapping[Decision, Ints]:
    """Which of some columns of the table each decision forbids; those that forbid none may be left out."""
    if not len(young):
        return {}
    if len(young) > _FEW:
        batch = table.batch(young)
        return {decision: young[~decision.allows_each(batch)] for decision in decisions}
    screen = Screen(decisions)
    forbidden: dict[Decision, list[int]] = {}
    for position in young.tolist():
        column = table.column(position)
        assert column is not None
        for decision in screen.objections(column):
            forbidden.setdefault(decision, []).append(position)
    return {decision: np.array(positions, dtype=np.int64) for decision, positions in forbidden.items()}
