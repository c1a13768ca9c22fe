"""Branching decisions, and the path of decisions from the root of a tree to a node."""

from __future__ import annotations

from abc import ABC
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, NoReturn

import numpy as np

from colgen.core.activity import activity
from colgen.core.column_batch import Columns, Mask
from colgen.core.columns import Column, Key, Row
from colgen.core.errors import InputError
from colgen.core.solution import Solution
from colgen.core.text import FORGOTTEN, Described
from colgen.core.tolerances import TOLERANCES


class Decision(Described, ABC):
    """One branching decision: frozen data that oracles read in their context and the master applies and releases.

    A decision may forbid columns, bound a row, and bound template variables.

    Attributes
    ----------
    exhaustive
        Whether this decision and its siblings together keep every answer. False for decisions of a reduction, which
        drop answers that are no better than the incumbent.
    lists
        Whether oracles examine a list of columns below, so that no cut makes pricing harder.

    Examples
    --------
    >>> class Whole(Decision):
    ...     def allows(self, column):  # only patterns without waste
    ...         return problem.roll == sum(n * w for n, w in zip(column.structure, problem.widths))
    >>> Whole().allows(Column(1.0, {("demand", 1): 2.0, ("demand", 3): 2.0}, structure=(0, 2, 0, 2)))
    True
    """

    exhaustive: bool = True
    lists: ClassVar[bool] = False

    @property
    def concerns(self) -> Collection[Key] | None:
        """Rows such that every column that the decision forbids covers at least one of them; None if unknown."""
        return None

    def allows(self, column: Column) -> bool:
        """Whether the column may be used below this decision; oracles must not return it otherwise."""
        return True

    def allows_each(self, columns: Columns) -> Mask:
        """Return :meth:`allows` of each column of a batch as a mask; override it to use the arrays."""
        allowed = [self.allows(column) for column in columns]
        if None in allowed:
            _refuse(self)
        return np.array(allowed, dtype=np.bool_)

    def row(self) -> Row | None:
        """Return a row that the decision imposes.

        Decisions on one quantity share the row's key; the master intersects their sides.
        """
        return None

    def bounds(self) -> Mapping[Key, tuple[float, float]]:
        """Return bounds (lower, upper) that the decision imposes on template variables."""
        return {}

    def forbids(self, block: str) -> Collection[Hashable]:
        """Return original variables, by their names in ``block``, that no column below may use.

        Oracles read them as :meth:`PricingContext.forbidden`. :meth:`allows` must refuse columns that use them.
        """
        return ()


def _refuse(decision: Decision) -> NoReturn:
    raise InputError(f"{type(decision).__name__}.allows() returned None: {FORGOTTEN} Expected True or False")


@dataclass(frozen=True)
class Together(Decision):
    """Rows ``first`` and ``second`` are covered by the same column: each column covers both or neither."""

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
    """Rows ``first`` and ``second`` are covered by different columns: no column covers both."""

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
    """Branching decisions indexed by the rows that they concern, so that a column is checked only by relevant ones."""

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
        """Yield the decisions that forbid a column; one that concerns several of its rows may be repeated."""
        rows = column.coefficients if self._by_row else ()
        for decision in chain(self._always, chain.from_iterable(self._by_row.get(row, ()) for row in rows)):
            allowed = decision.allows(column)
            if not allowed:
                yield decision if allowed is not None else _refuse(decision)

    def objection(self, column: Column) -> Decision | None:
        """Return a decision that forbids a column, or None."""
        return next(self.objections(column), None)


_LAST: list[Screen] = [Screen(())]


def screen_of(decisions: Sequence[Decision]) -> Screen:
    """Return the screen of a node's decisions, cached for the node."""
    screen = _LAST[0]
    if screen.decisions is not decisions:
        screen = _LAST[0] = Screen(decisions)
    return screen


def groups_of(pairs: Iterable[tuple[Key, Key]]) -> list[tuple[Key, ...]]:
    """Return the equivalence classes generated by pairs, each in order of first mention."""
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
            at = activity(row, solution)
            if at.excess > TOLERANCES.integrality * min(1.0, at.size):
                return False
        for key, (lower, upper) in decision.bounds().items():
            if not lower - TOLERANCES.integrality <= solution.variables.get(key, 0.0) <= upper + TOLERANCES.integrality:
                return False
    return True


class DecisionPath:
    """An immutable chain of decisions whose prefix is shared with the node's ancestors.

    A deep node stores no more than a shallow one. Paths with the same decisions are equal.
    """

    __slots__ = ("_above", "_own")

    def __init__(self, decisions: Sequence[Decision] = (), above: DecisionPath | None = None) -> None:
        self._own, self._above = tuple(decisions), above

    def below(self, decisions: Sequence[Decision]) -> DecisionPath:
        """Return the path extended by some decisions."""
        return DecisionPath(decisions, self) if decisions else self

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions from the root on, in a new tuple."""
        parts: list[tuple[Decision, ...]] = []
        path: DecisionPath | None = self
        while path is not None:
            parts.append(path._own)
            path = path._above
        return tuple(decision for part in reversed(parts) for decision in part)

    @property
    def own(self) -> tuple[Decision, ...]:
        """The decisions added last."""
        return self._own

    @property
    def above(self) -> DecisionPath | None:
        """The path before the last decisions; None at the root."""
        return self._above

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DecisionPath) and self.decisions == other.decisions)

    def __hash__(self) -> int:
        return hash(self.decisions)

    def __repr__(self) -> str:
        return f"DecisionPath({self.decisions!r})"

    def __reduce__(self) -> tuple[type[DecisionPath], tuple[tuple[Decision, ...]]]:
        return DecisionPath, (self.decisions,)  # pickling links would recurse as deep as the tree


ROOT = DecisionPath()
"""The path without decisions."""
