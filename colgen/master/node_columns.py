"""Bounds of columns at nodes and in dives, and forbidden columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from colgen.core.column_batch import Columns, Mask
from colgen.core.decision import Decision, Screen, screen_of
from colgen.core.errors import UnknownRowError
from colgen.master.column_pool import Floats, Ints
from colgen.master.column_table import ColumnTable

_NOTHING: Ints = np.empty(0, dtype=np.int64)

_FEW = 32
"""Up to this many single columns are checked one by one."""


class _Verdict:
    """Columns that a decision forbids among the first ``judged`` columns of the table."""

    __slots__ = ("forbidden", "judged")

    def __init__(self) -> None:
        self.judged, self.forbidden = 0, _NOTHING


class NodeRestrictions:
    """The branching decisions of the present node, and the lower bounds of a dive.

    For ``proper``, the name of a block of rows, see :meth:`NodeSwitch.fix`.
    """

    def __init__(self) -> None:
        self.decisions: tuple[Decision, ...] = ()
        self.fixed: Mapping[Hashable, float] = {}
        self.proper: str | None = None
        self._verdicts: dict[Decision, _Verdict] = {}
        self._in_force: tuple[tuple[Decision, ...], list[_Verdict]] = ((), [])
        self._seen = 0

    def bounds(self, table: ColumnTable) -> tuple[Floats, Floats]:
        """Return the bounds of all columns at the node.  They may cross."""
        lower, upper = table.lower.copy(), table.upper.copy()
        upper[table.artificial] = table.upper_now[table.artificial]
        for decision, verdict in zip(self.decisions, self._screen_new(table), strict=True):
            upper[verdict.forbidden] = 0.0
            for key, (low, high) in decision.bounds().items():
                where = table.position.get(key)
                if where is None:
                    raise UnknownRowError(f"a branching decision bounds {key!r}, which the master does not have")
                lower[where], upper[where] = max(lower[where], low), min(upper[where], high)
        return lower, upper

    def _screen_new(self, table: ColumnTable) -> list[_Verdict]:
        """Apply each decision to the columns added since it was last in force.  The verdicts are cached."""
        before, in_force = self._in_force
        for verdict in in_force:  # columns added at the last node satisfy all of its decisions
            verdict.judged = self._seen
        same = [one is other for one, other in zip(before, self.decisions, strict=False)]
        shared = same.index(False) if False in same else len(same)  # nodes share a prefix of their paths in the tree
        verdicts = in_force[:shared]
        verdicts += [self._verdicts.setdefault(decision, _Verdict()) for decision in self.decisions[shared:]]
        waiting: dict[int, list[tuple[Decision, _Verdict]]] = {}
        for decision, verdict in zip(self.decisions, verdicts, strict=True):
            if verdict.judged < len(table):
                waiting.setdefault(verdict.judged, []).append((decision, verdict))
        for first, pairs in waiting.items():
            new = np.arange(first, len(table))
            found = _forbidden([decision for decision, _ in pairs], table, new[table.is_generated(new)])
            for decision, verdict in pairs:
                verdict.judged = len(table)
                if decision in found:
                    verdict.forbidden = np.concatenate([verdict.forbidden, found[decision]])
        self._in_force, self._seen = (self.decisions, verdicts), len(table)
        return verdicts

    def raise_fixed(self, table: ColumnTable, lower: Floats) -> None:
        """Raise lower bounds to those of the dive."""
        for identity, value in self.fixed.items():
            where = table.where(identity)
            if where is None:
                raise UnknownRowError(f"the master has no column {identity!r} to fix")
            lower[where] = max(lower[where], value)

    def allows(self, batch: Columns, first: int) -> Mask | None:
        """Return which columns of a new batch the node allows; None if all."""
        mask = self._mask(batch) if self.decisions else None
        if mask is None and first == self._seen and self.decisions is self._in_force[0]:
            self._seen += len(batch)
        return mask

    def _mask(self, batch: Columns) -> Mask | None:
        given = batch.meanings.given
        if given is not None and len(given) <= _FEW:  # for a few columns arrays are slower
            objection = screen_of(self.decisions).objection
            few = [objection(column) is None for column in given]
            return None if all(few) else np.array(few, dtype=np.bool_)
        mask: Mask = np.logical_and.reduce([decision.allows_each(batch) for decision in self.decisions])
        return None if mask.all() else mask


def _forbidden(decisions: Sequence[Decision], table: ColumnTable, new: Ints) -> Mapping[Decision, Ints]:
    """Return the columns that each decision forbids.  Decisions that forbid none may be missing."""
    if not len(new):
        return {}
    if len(new) > _FEW:
        batch = table.batch(new)
        return {decision: new[~decision.allows_each(batch)] for decision in decisions}
    screen = Screen(decisions)
    forbidden: dict[Decision, list[int]] = {}
    for position in new.tolist():
        column = table.column(position)
        assert column is not None
        for decision in screen.objections(column):
            forbidden.setdefault(decision, []).append(position)
    return {decision: np.array(positions, dtype=np.int64) for decision, positions in forbidden.items()}
