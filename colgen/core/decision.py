"""Branching decisions, and the path of decisions from the root of a tree to a node."""

from __future__ import annotations

from abc import ABC
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from colgen.core.activity import activity
from colgen.core.column_batch import Columns, Mask
from colgen.core.columns import Column, Key, Row
from colgen.core.errors import InputError
from colgen.core.solution import Solution
from colgen.core.text import FORGOTTEN
from colgen.core.tolerances import TOLERANCES


class Decision(ABC):
    """One branching decision.  Frozen data: it reaches oracles in their context, and the master switches it on and off.

    A decision acts in up to three ways: it forbids columns, it bounds a row, it bounds template variables.

    Attributes
    ----------
    exhaustive
        Whether the siblings of this decision keep every answer.  False for decisions of a reduction, which drop answers
        that are no better than the incumbent.
    """

    exhaustive: bool = True

    @property
    def concerns(self) -> Collection[Key] | None:
        """Rows without any of which a column is allowed; None if nothing of the kind is known."""
        return None

    def allows(self, column: Column) -> bool:
        """Whether the column may be used below this decision.

        An oracle must not return a column that it does not allow.
        """
        return True

    def allows_each(self, columns: Columns) -> Mask:
        """The same for a batch of columns; override it where a look at the arrays tells."""
        found = [self.allows(column) for column in columns]
        if None in found:
            _refuse(self)
        return np.array(found, dtype=np.bool_)

    def row(self) -> Row | None:
        """A row that the decision imposes.

        Decisions on one quantity share the row's key; the master intersects their sides.
        """
        return None

    def bounds(self) -> Mapping[Key, tuple[float, float]]:
        """Bounds (lower, upper) that the decision imposes on template variables."""
        return {}

    def forbids(self, block: str) -> Collection[Hashable]:
        """Variables of the original formulation, by their names in ``block``, that no column below may use.

        Oracles hear of them as :meth:`PricingContext.forbidden`; what they forbid, :meth:`allows` refuses.
        """
        return ()


def _refuse(decision: Decision) -> NoReturn:
    raise InputError(f"{type(decision).__name__}.allows() returned None: {FORGOTTEN} Expected True or False")


@dataclass(frozen=True)
class Together(Decision):
    """Rows ``first`` and ``second`` are covered by the same column: a column holds both or neither."""

    first: Key
    second: Key

    @property
    def concerns(self) -> Collection[Key]:
        return (self.first, self.second)

    def allows(self, column: Column) -> bool:
        entries = column.coefficients
        return bool(entries.get(self.first)) == bool(entries.get(self.second))

    def allows_each(self, columns: Columns) -> Mask:
        covered = columns.covering_of_two(self.first, self.second)
        both_or_none: Mask = (covered == 0) | (covered == 3)
        return both_or_none


@dataclass(frozen=True)
class Apart(Decision):
    """Rows ``first`` and ``second`` are covered by different columns: no column holds both."""

    first: Key
    second: Key

    @property
    def concerns(self) -> Collection[Key]:
        return (self.first, self.second)

    def allows(self, column: Column) -> bool:
        entries = column.coefficients
        return not (entries.get(self.first) and entries.get(self.second))

    def allows_each(self, columns: Columns) -> Mask:
        not_both: Mask = columns.covering_of_two(self.first, self.second) != 3
        return not_both


class Screen:
    """Branching decisions by the rows that they concern: a column is shown only those that may have to do with it."""

    def __init__(self, decisions: Sequence[Decision]) -> None:
        self.decisions = decisions
        self._always: list[Decision] = []
        self._by_row: dict[Key, list[Decision]] = {}
        for decision in decisions:
            rows = decision.concerns
            if rows is None:
                self._always.append(decision)
            for row in rows or ():
                self._by_row.setdefault(row, []).append(decision)

    def objections(self, column: Column) -> Iterator[Decision]:
        """The decisions that do not allow a column; one that concerns two of its rows may come twice."""
        for decision in self._always:
            allowed = decision.allows(column)
            if not allowed:
                yield decision if allowed is not None else _refuse(decision)
        if self._by_row:
            for row in column.coefficients:
                for decision in self._by_row.get(row, ()):
                    allowed = decision.allows(column)
                    if not allowed:
                        yield decision if allowed is not None else _refuse(decision)

    def objection(self, column: Column) -> Decision | None:
        """A decision that does not allow a column; None if all of them do."""
        return next(self.objections(column), None)


_LAST: list[Screen] = [Screen(())]


def screen_of(decisions: Sequence[Decision]) -> Screen:
    """The screen of a node's decisions, made once while the node is treated."""
    screen = _LAST[0]
    if screen.decisions is not decisions:
        screen = _LAST[0] = Screen(decisions)
    return screen


def groups_of(pairs: Iterable[tuple[Key, Key]]) -> list[tuple[Key, ...]]:
    """The classes of the equivalence that some pairs generate, each in the order of first mention."""
    group: dict[Key, list[Key]] = {}
    for first, second in pairs:
        one, other = group.setdefault(first, [first]), group.setdefault(second, [second])
        if one is not other:
            one += other
            group.update(dict.fromkeys(other, one))
    return [tuple(members) for members in {id(members): members for members in group.values()}.values()]


def admits(decisions: Iterable[Decision], solution: Solution) -> bool:
    """Whether a solution satisfies branching decisions."""
    for decision in decisions:
        if not all(decision.allows(column) for column, _ in solution.columns):
            return False
        row = decision.row()
        if row is not None:
            found = activity(row, solution)
            if found.excess > TOLERANCES.integrality * min(1.0, found.size):
                return False
        for key, (lower, upper) in decision.bounds().items():
            if not lower - TOLERANCES.integrality <= solution.variables.get(key, 0.0) <= upper + TOLERANCES.integrality:
                return False
    return True


class DecisionPath:
    """A chain of decisions that a node shares with its ancestors, so that a deep node costs no more than a shallow one.

    Immutable.  Two paths of the same decisions are equal.
    """

    __slots__ = ("_above", "_own")

    def __init__(self, decisions: Sequence[Decision] = (), above: DecisionPath | None = None) -> None:
        self._own, self._above = tuple(decisions), above

    def below(self, decisions: Sequence[Decision]) -> DecisionPath:
        """The path that some more decisions lead to."""
        return DecisionPath(decisions, self) if decisions else self

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All of them, from the root on; put together anew each time."""
        parts: list[tuple[Decision, ...]] = []
        path: DecisionPath | None = self
        while path is not None:
            parts.append(path._own)
            path = path._above
        return tuple(decision for part in reversed(parts) for decision in part)

    @property
    def own(self) -> tuple[Decision, ...]:
        """Those that were added last."""
        return self._own

    @property
    def above(self) -> DecisionPath | None:
        """The path that they were added to; None if there is none."""
        return self._above

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DecisionPath) and self.decisions == other.decisions)

    def __hash__(self) -> int:
        return hash(self.decisions)

    def __repr__(self) -> str:
        return f"DecisionPath({self.decisions!r})"

    def __reduce__(self) -> tuple[type[DecisionPath], tuple[tuple[Decision, ...]]]:
        return DecisionPath, (self.decisions,)  # link by link it would be as deep as the tree


ROOT = DecisionPath()
"""Where nothing has been decided."""
