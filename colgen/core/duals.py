"""Dual values by the names of their rows."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Key
from colgen.core.errors import UnknownRowError
from colgen.core.terms import Kind, Linear, PricedTerms, Term
from colgen.core.text import plural

Floats = NDArray[np.float64]

DualPoint: TypeAlias = object
"""Where a bound is proved: :class:`Duals` of a linear master, messages of a dynamic program, multipliers of an ascent.
The engine only passes it on and never reads it."""

OwnDuals: TypeAlias = Any
"""The same, for masters, oracles and boundings that belong together; their signatures state the actual type."""


class RowNames:
    """The names of a master's rows in order; it grows with the rows and is shared by all dual vectors of the master."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.position: dict[Key, int] = {}
        self._blocks: dict[str, list[int]] = {}
        self._arrays: dict[str, NDArray[np.int64]] = {}
        self._members: dict[str, tuple[Hashable, ...]] = {}
        self._terms: dict[type[Term], list[int]] = {}

    def append(self, key: Key) -> int:
        """Add a row's name and return its position."""
        position = self.position[key] = len(self.keys)
        self.keys.append(key)
        self._blocks.setdefault(key[0], []).append(position)
        self._arrays.pop(key[0], None)
        self._members.pop(key[0], None)
        if isinstance(key[1], Term):
            self._terms.setdefault(type(key[1]), []).append(position)
        return position

    def declare(self, names: Iterable[str]) -> None:
        """Declare blocks of the model that may have no rows, so that they are empty and not unknown."""
        for name in names:
            self._blocks.setdefault(name, [])

    def has(self, block: str) -> bool:
        """Whether a block is declared or has rows."""
        return block in self._blocks

    def with_terms(self, kind: type[Term]) -> list[int]:
        """Return the positions of the rows whose index is a term of this kind."""
        return self._terms.get(kind, [])

    def extend(self, keys: Sequence[Key]) -> None:
        """Add the names of many rows; those of a block are usually consecutive."""
        place = len(self.keys)
        self.keys.extend(keys)
        count = any(issubclass(kind, Term) for kind in {type(key[1]) for key in keys})  # faster than checking each key
        for position, key in enumerate(keys if count else (), place):
            if isinstance(key[1], Term):
                self._terms.setdefault(type(key[1]), []).append(position)
        self.position.update(zip(keys, range(place, len(self.keys)), strict=True))
        for block, members in itertools.groupby(keys, key=itemgetter(0)):
            end = place + len(list(members))
            self._blocks.setdefault(block, []).extend(range(place, end))
            self._arrays.pop(block, None)
            self._members.pop(block, None)
            place = end

    def block(self, name: str) -> NDArray[np.int64]:
        """Return the positions of the rows of one block, in order of addition."""
        array = self._arrays.get(name)
        if array is None:
            array = self._arrays[name] = np.array(self._blocks.get(name, ()), dtype=np.int64)
            array.setflags(write=False)
        return array

    def members(self, name: str) -> tuple[Hashable, ...]:
        """Return the indices of the rows of one block, in the order of :meth:`block`."""
        known = self._members.get(name)
        if known is None:
            keys = self.keys
            known = self._members[name] = tuple([keys[k][1] for k in self._blocks.get(name, ())])
        return known

    def is_scalar(self, name: str) -> bool:
        positions = self._blocks.get(name, ())
        return len(positions) == 1 and self.keys[positions[0]][1] is None

    def suggest(self, key: Any) -> str:
        """Return the end of a message about an unknown key, from ``;`` on: what may have been meant."""
        block, index = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        if isinstance(key, tuple) and len(key) > 2:
            block, index = key[0], key[1:]
        if block in self._blocks:
            if self.is_scalar(block):
                return f"; {block!r} is a scalar constraint: its key is {(block, None)!r}"
            known = {str(member): member for member in self.members(block)}
            if not known:
                return f"; {block!r} has no rows"
            near = [str(index)] if str(index) in known else []
            if isinstance(index, str) and not near:
                near = difflib.get_close_matches(index, known, n=1)
            if near:
                return f"; did you mean {(block, known[near[0]])!r}?"
            return f"; the rows of {block!r} have the indices {_listed(list(known.values()))}"
        names = sorted(self._blocks)
        guess = difflib.get_close_matches(str(block), names, n=1)
        start = f"; did you mean {guess[0]!r}? The" if guess else "; the"
        return f"{start} master has rows named {', '.join(map(repr, names))}" if names else "; the master has none"


class DualVector:
    """Dual values that are numbers in a fixed order, so that they can be averaged and smoothed."""

    __slots__ = ("values",)

    values: Floats

    def replace(self, values: Floats) -> Self:
        """Return dual values of the same master with other numbers."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {plural(len(self.values), 'value')}>"


class Duals(DualVector):
    """Dual values π, one per row; a column's reduced cost is c_j - πᵀa_j in the problem's own sense.

    The index after a block's name is always a member of its index set, never a position.

    ==========================  =====================================================================================
    ``duals["visit"]``          array of the block, in the order of :meth:`members`
    ``duals["visit", "Oslo"]``  one value
    ``duals["visit", [3, 1]]``  array of the members in a list or array
    ``duals["budget"]``         a float, for a scalar constraint; its key is ``("budget", None)``
    ==========================  =====================================================================================

    :meth:`items`, :meth:`array` and :meth:`get` accept blocks without rows, such as those of a separation or branching
    rule. Objects are immutable; ``values`` contains all dual values in the order of the master's rows.

    Examples
    --------
    >>> class Printing(Knapsack):
    ...     def best(self, duals, context):
    ...         print(duals["demand"], duals["demand", 3])
    ...         return super().best(duals, context)
    """

    __slots__ = ("_names",)

    def __init__(self, values: Floats, names: RowNames) -> None:
        self.values = values
        self._names = names
        values.setflags(write=False)

    @property
    def keys(self) -> list[Key]:
        """The rows' keys, in the order of ``values``."""
        return self._names.keys[: len(self.values)]

    def __getitem__(self, key: str | Key | tuple[str, Sequence[Hashable]]) -> Any:  # an array or a number: see above
        if isinstance(key, str):
            if not self._names.has(key):
                raise UnknownRowError(f"the master has no rows named {key!r}{self._names.suggest(key)}")
            if self._names.is_scalar(key):
                return float(self.values[self._names.block(key)[0]])
            return self.array(key)
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], (list, np.ndarray)):
            members = key[1].tolist() if isinstance(key[1], np.ndarray) else key[1]
            return np.array([self._one((key[0], member)) for member in members], dtype=float)
        return self._one(key)

    def _one(self, key: Key) -> float:
        try:
            position = self._names.position.get(key)
        except TypeError:  # an unhashable object is not an index
            position = None
        if position is None:
            raise UnknownRowError(f"the master has no row {key!r}{self._names.suggest(key)}")
        return float(self.values[position]) if position < len(self.values) else 0.0

    def members(self, block: str) -> tuple[Hashable, ...]:
        """Return the indices of a block's rows, in the order of its array; empty without such a block."""
        return self._names.members(block)[: len(self.array(block))]

    def array(self, block: str) -> Floats:
        """Return the dual values of a block's rows, in the order of :meth:`members`; empty without such a block."""
        positions = self._names.block(block)
        return self.values[positions[positions < len(self.values)]]

    def rows(self, block: str) -> NDArray[np.int64]:
        """Return the row numbers of a block for batches of :class:`~colgen.Columns`, in the order of its index set.

        They never change during the life of the master.
        """
        positions = self._names.block(block)
        if not len(positions):
            raise UnknownRowError(f"the master has no rows named {block!r}{self._names.suggest(block)}")
        return positions

    def get(self, key: Key, default: float = 0.0) -> float:
        """Return the dual value of a row, or ``default`` if the master has no such row."""
        position = self._names.position.get(key)
        if position is None or position >= len(self.values):
            return default
        return float(self.values[position])

    def items(self, block: str) -> Iterator[tuple[Hashable, float]]:
        """Yield ``(index, dual value)`` for each row of a block; nothing without such a block.

        Dual values of linear terms over the block are added, so the values are the gain per unit of each component.
        """
        if not self._names.with_terms(Linear):
            yield from zip(self._names.members(block), self.array(block).tolist(), strict=False)
            return
        gains = self.terms(Linear).gains(block)
        for index, value in zip(self._names.members(block), self.array(block).tolist(), strict=False):
            yield index, value + gains.pop(index, 0.0)
        yield from gains.items()

    def terms(self, kind: type[Kind]) -> PricedTerms[Kind]:
        """Return the terms of a kind with nonzero dual values."""
        positions = np.array(self._names.with_terms(kind), dtype=np.int64)
        positions = positions[positions < len(self.values)]
        positions = positions[self.values[positions] != 0.0]
        terms: list[Any] = [self._names.keys[k][1] for k in positions.tolist()]
        return PricedTerms(terms, self.values[positions])

    def named(self) -> dict[Key, float]:
        """Return the dual values by row key."""
        return dict(zip(self._names.keys, self.values.tolist(), strict=False))

    @property
    def names(self) -> RowNames:
        """Names of the master's rows; there may be more names than values."""
        return self._names

    def replace(self, values: Floats) -> Self:
        """Return dual values of the same rows with other numbers."""
        return type(self)(values, self._names)


def _listed(members: list[Hashable]) -> str:
    """Return the first of some members, for a message."""
    return ", ".join(map(repr, members[:5])) + (", ..." if len(members) > 5 else "")
