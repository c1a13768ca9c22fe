"""Pricing problems of the checker, solved exactly and independently of the engine.

Each class has four methods. ``prices`` returns all costs, of which objectives are sums. ``subtracts`` returns whether a
column may have a negative entry in a row. ``column`` returns cost and entries of a column of the certificate. ``least``
returns the least reduced cost of columns at a node times the common denominator of the duals.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any


class _Infinity(float):
    """An infinite number that sums and products of integers of any size may contain; those of floats overflow."""

    __slots__ = ()

    def __add__(self, other: Any) -> _Infinity:
        return self

    def __neg__(self) -> _Infinity:
        return _Infinity(-float(self))

    def __rsub__(self, other: Any) -> _Infinity:
        return -self

    def __mul__(self, other: Any) -> _Infinity:
        return self if other > 0 else -self

    __radd__ = __sub__ = __add__
    __rmul__ = __mul__


NO: float = _Infinity("-inf")
"""The value of an unreachable state. It compares with numbers of any size, and can be added to integers."""

Place = tuple[Any, ...]
"""A counted part of the columns of a pricing problem. Either pieces of an item at positions from first to last:
(problem, item, first, last). Or points within bounds on variables: (problem, ((variable, lower, upper), ...))."""

Sides = tuple[Fraction | None, Fraction | None]
"""Lower and upper side, or None."""


_FRACTION = re.compile("-?[0-9]+(/0*[1-9][0-9]*)?")


class WrongError(Exception):
    """A line of a certificate is false. The message gives the reason."""

    line: int = 0


class UnreadableError(WrongError):
    """A file or a line is not in the format, or is too large. The message gives the reason."""


TABLE_LIMIT = 2**26
"""Maximum entries of a table of a dynamic program: at most 2 GB."""

WORK_LIMIT = 2**34
"""Maximum entries of all tables of a dynamic program in turn: 15 minutes for one claim."""

LABEL_LIMIT = 2**23
"""Maximum labels of a dynamic program that stores them separately: as much memory."""

DIGIT_LIMIT = 4_300
"""Maximum digits of a number, as in Python: reading takes quadratic time."""


def integer(value: Any) -> int:
    """Read an integer."""
    if type(value) is not int:
        raise WrongError(f"expected an integer, not {str(value)[:30]}")
    return value


def exact(value: Any) -> Fraction:
    """Read a number: an integer, or a fraction as a text."""
    if type(value) is int or (type(value) is str and _FRACTION.fullmatch(value)):
        if type(value) is str and max(map(len, value.lstrip("-").split("/"))) > DIGIT_LIMIT:
            raise UnreadableError(f"expected numbers of at most {DIGIT_LIMIT:,} digits")
        return Fraction(value)
    raise WrongError(f"expected an integer or a fraction, not {str(value)[:30]}")


def sides(record: Sequence[Any]) -> Sides:
    """Read two sides."""
    low, high = (None if side is None else exact(side) for side in record)
    return low, high


def fields(record: Any, needed: Iterable[str], others: Iterable[str] = ()) -> None:
    """Raise an error if a field of a record is missing or unknown."""
    if not isinstance(record, dict):
        raise WrongError("expected a JSON object")
    missing = sorted(set(needed).difference(record))
    unread = sorted(set(record).difference(needed, others))
    if missing or unread:
        raise WrongError(
            f"the field {missing[0][:30]!r} is missing" if missing else f"the field {unread[0][:30]!r} is unknown"
        )


def holds(value: Any, limits: tuple[Any, Any]) -> bool:
    """Return whether a number is between two sides."""
    low, high = limits
    return bool((low is None or value >= low) and (high is None or value <= high))


@dataclass
class CheckerState:
    """The decisions at a node: open positions, counted pieces, merged or separated vertices, listed columns.

    Contained objects are never changed, so that children may share them.
    """

    open: dict[tuple[int, int], Sequence[int]] = field(default_factory=dict)
    counts: dict[Place, tuple[int, int | None]] = field(default_factory=dict)
    bounds: dict[tuple[int, int], tuple[Any, Any]] = field(default_factory=dict)  # of integer variables of a block
    without: tuple[Place, ...] = ()  # boxes without points
    pairs: tuple[tuple[int, int, bool], ...] = ()  # (vertex, vertex, together)
    listed: tuple[Mapping[int, Fraction], ...] | None = None  # remaining columns by problem: rows, as bits, and cost
    closed: frozenset[tuple[int, int]] = frozenset()  # forbidden arcs (head, modifier)
    given: Any = None  # data of the claim besides dual values
    trusted: bool = False  # some decision is trusted

    def copy(self) -> CheckerState:
        return replace(self, open=dict(self.open), counts=dict(self.counts), bounds=dict(self.bounds))

    def narrow(self, problem: int, variable: int, low: int | None, high: int | None) -> None:
        """Intersect the bounds of an integer variable of a block."""
        least, most = self.bounds.get((problem, variable), (NO, -NO))
        least, most = (least if low is None else max(least, low)), (most if high is None else min(most, high))
        self.bounds[problem, variable] = least, most


def check_count(labels: int, limit: int | None, what: str) -> None:
    """Raise an error if the labels exceed memory or the limit of the caller."""
    if limit is not None and labels > limit:
        raise WrongError(f"there are more {what} than the limit")
    if labels > LABEL_LIMIT:
        raise UnreadableError(f"expected at most {LABEL_LIMIT:,} {what}")


class Scored:
    """Base class of pricing problems whose columns have integer scores over a denominator ``unit``."""

    with_potentials = True
    """Whether claims contain data besides dual values, which ``least`` reads."""

    def __init__(self, data: Mapping[str, Any], own: Iterable[str]) -> None:
        fields(data, ("denominator", *own), ("kind", "uses", "name"))
        self.unit = integer(data["denominator"])
        if self.unit < 1:
            raise WrongError("expected a denominator of at least 1")

    def prices(self) -> list[Fraction]:
        return [Fraction(1, self.unit)]

    def subtracts(self, row: int) -> bool:
        return False

    def reduced(self, score: int, unit: Fraction, over: int = 1) -> Fraction:
        """Return the reduced cost of a column whose score is ``score / over``, times the denominator of the duals."""
        if unit >= 0:
            raise WrongError("expected scores that count and are maximised")
        return unit * Fraction(score, self.unit * over)


def table(record: Any, rows: int, columns: int) -> list[list[Any]]:
    """Read a table of integers; None becomes ``NO``."""
    if not set().union(*(map(type, row) for row in record)) <= {int, type(None)}:
        raise WrongError("expected a table of integers")
    found = [[NO if x is None else x for x in row] if None in row else list(row) for row in record]
    if len(found) != rows or any(len(row) != columns for row in found):
        raise WrongError(f"expected a table of {rows} rows and {columns} columns")
    return found


class KnapsackPricing:
    """Pieces side by side in the order of items: Σ size · pieces ≤ capacity, and at most ``copies`` pieces of an item.

    A column covers the row of an item once per piece, and costs ``cost`` plus ``costs`` per piece.
    """

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        fields(data, ("capacity", "sizes", "copies", "rows", "cost", "costs"), ("kind", "uses"))
        self.number = number
        self.capacity = integer(data["capacity"])
        self.sizes = [integer(size) for size in data["sizes"]]
        self.copies = [integer(copies) for copies in data["copies"]]
        self.rows = [integer(row) for row in data["rows"]]
        self.cost = exact(data["cost"])
        self.costs = [exact(cost) for cost in data["costs"]] if data["costs"] else [Fraction(0)] * len(self.sizes)
        if not len(self.sizes) == len(self.copies) == len(self.rows) == len(self.costs):
            raise WrongError("expected as many sizes, copies, rows and costs")
        if min(self.sizes, default=1) < 1 or min(self.copies, default=0) < 0 or self.capacity < 0:
            raise WrongError("expected sizes of at least 1, copies and a capacity of at least 0")
        if (self.capacity + 1) * (len(self.sizes) + 1) > TABLE_LIMIT:
            raise UnreadableError(f"expected a capacity times items of at most {TABLE_LIMIT:,}, not {self.capacity}")
        layers = sum(min(most, self.capacity // size) for most, size in zip(self.copies, self.sizes, strict=True))
        if (self.capacity + 1) * layers > WORK_LIMIT:
            raise UnreadableError(f"expected a capacity times pieces of at most {WORK_LIMIT:,}, not {self.capacity}")
        if len(set(self.rows)) < len(self.rows) or not all(0 <= row < num_rows for row in self.rows):
            raise WrongError("expected a different row for each item")

    def prices(self) -> list[Fraction]:
        return [self.cost, *self.costs]

    def subtracts(self, row: int) -> bool:
        return False

    def column(self, structure: Any) -> tuple[Fraction, dict[int, int]]:
        size, cost, entries = 0, self.cost, dict[int, int]()
        for item, pieces in structure:
            if not (0 <= integer(item) < len(self.sizes) and 1 <= integer(pieces) <= self.copies[item]):
                raise WrongError(f"a column has {pieces} pieces of item {item}")
            if self.rows[item] in entries:
                raise WrongError(f"a column names item {item} twice")
            entries[self.rows[item]] = pieces
            size += self.sizes[item] * pieces
            cost += self.costs[item] * pieces
        if size > self.capacity:
            raise WrongError(f"a column takes {size}, the capacity is {self.capacity}")
        return cost, entries

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        best: Any = max(self._forward(self._gains(duals, unit), counts, state)[-1])
        return Fraction(unit * self.cost - best)

    def at_least(
        self,
        duals: Sequence[int],
        unit: Fraction,
        counts: Mapping[Place, int],
        state: CheckerState,
        cuts: Sequence[tuple[int, Mapping[int, int], int]],
        stated: Fraction,
    ) -> Fraction:
        """Return ``stated`` if no reduced cost with cuts is smaller, otherwise a smaller one.

        Labels run from the last item to the first. Each has a position, its earnings, and the remainders of the sums of
        cuts. A label is dropped if it cannot earn more than stated with any items before it. It is also dropped if
        another label at its position earns at least as much even after paying every cut of which it has a larger
        remainder.
        """
        most, gains, extra = unit * self.cost - stated, self._gains(duals, unit), self._extra(counts)
        before = self._forward(gains, counts, state)
        last = {
            c: min((i for i, row in enumerate(self.rows) if row in weights), default=0)
            for c, (_, weights, _) in enumerate(cuts)
        }
        labels = {end: [(0, (0,) * len(cuts))] for end, value in enumerate(before[-1]) if value > most}
        for item in reversed(range(len(self.sizes))):
            size, gain, earned = self.sizes[item], gains[item], extra.get(item, {})
            where = self._positions(item, state)
            open_ = where if isinstance(where, range) else set(where)
            weighted = [
                (c, q, weights[self.rows[item]], dual)
                for c, (q, weights, dual) in enumerate(cuts)
                if self.rows[item] in weights
            ]
            closed = [c for c, first in last.items() if first >= item]
            laid: dict[int, list[tuple[Any, tuple[int, ...]]]] = {}
            for end, here in labels.items():
                for value, rests in here:
                    position = end
                    for pieces in range(self.copies[item] + 1):
                        if pieces:
                            position -= size
                            if position < 0 or position not in open_:
                                break
                            value += gain + earned.get(position, 0)
                            if weighted:
                                changed = list(rests)
                                for c, q, weight, dual in weighted:
                                    changed[c] += weight
                                    if changed[c] >= q:
                                        value += dual * (changed[c] // q)
                                        changed[c] %= q
                                rests = tuple(changed)
                        if before[item][position] + value > most:
                            kept = rests
                            if closed:
                                kept = tuple(0 if c in closed else rest for c, rest in enumerate(rests))
                            _keep(laid.setdefault(position, []), value, kept, cuts)
            labels = laid
        worst = max((value for here in labels.values() for value, _ in here), default=most)
        return Fraction(unit * self.cost - max(worst, most))

    def _gains(self, duals: Sequence[int], unit: Fraction) -> list[Any]:
        gains: list[Any] = []
        for row, cost in zip(self.rows, self.costs, strict=True):
            gain = duals[row] - unit * cost
            gains.append(gain.numerator if gain.denominator == 1 else gain)  # integers are faster
        return gains

    def _extra(self, counts: Mapping[Place, int]) -> dict[int, dict[int, int]]:
        """Return what pieces earn in addition to the dual value of their row, by item and position."""
        extra: dict[int, dict[int, int]] = {}
        for (problem, *place), dual in counts.items():
            if problem == self.number:
                item, first, last = place
                earned = extra.setdefault(item, {})
                for position in range(first, last + 1):
                    earned[position] = earned.get(position, 0) + dual
        return extra

    def close(self, state: CheckerState, item: int, gone: Container[int]) -> None:
        """Remove positions of an item."""
        state.open[self.number, item] = [p for p in self._positions(item, state) if p not in gone]

    def keep(self, state: CheckerState, item: int, positions: Sequence[int]) -> None:
        """Set the open positions of an item, in increasing order."""
        state.open[self.number, item] = positions

    def _positions(self, item: int, state: CheckerState) -> Sequence[int]:
        """Return the open positions of an item in increasing order."""
        everywhere = range(self.capacity + 1 - self.sizes[item])
        return state.open.get((self.number, item), everywhere)

    def _forward(self, gains: Sequence[Any], counts: Mapping[Place, int], state: CheckerState) -> list[list[Any]]:
        """Return, before each item and after all, the best packing that ends at each position."""
        values: list[Any] = [0] + [NO] * self.capacity
        found, extra = [values], self._extra(counts)
        for item, size in enumerate(self.sizes):
            where = self._positions(item, state)
            if where:
                layer = values
                values = values.copy()
                for _ in range(min(self.copies[item], self.capacity // size)):
                    layer = self._add_piece(layer, where, size, gains[item], extra.get(item))
                    if isinstance(where, range):
                        values[size:] = map(max, values[size:], layer[size:])
                    else:  # only few positions are open
                        for end in (position + size for position in where):
                            if layer[end] > values[end]:
                                values[end] = layer[end]
            found.append(values)
        return found

    def _add_piece(self, layer: list[Any], where: Sequence[int], size: int, gain: Any, extra: Any) -> list[Any]:
        """Return the values of positions after one more piece."""
        if isinstance(where, range) and not extra:
            return [NO] * size + [value + gain for value in layer[: len(where)]]
        placed: list[Any] = [NO] * (self.capacity + 1)
        for position in where:
            placed[position + size] = layer[position] + gain
        for position in set(extra or ()).intersection(where):
            placed[position + size] += extra[position]
        return placed

    def through(
        self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState
    ) -> tuple[Fraction, list[tuple[int, list[tuple[int, Any]]]]]:
        """Return the least reduced cost and, by item, the maximum earnings of columns with a piece at each position.

        Positions without columns are omitted.
        """
        gains, extra = self._gains(duals, unit), self._extra(counts)
        before = self._forward(gains, counts, state)
        after: list[Any] = [0] * (self.capacity + 1)
        found: list[tuple[int, list[tuple[int, Any]]]] = []
        for item in reversed(range(len(self.sizes))):
            size, gain, earned = self.sizes[item], gains[item], extra.get(item, {})
            where = self._positions(item, state)
            most = min(self.copies[item], self.capacity // size)
            if not where or not most:
                continue
            if most * len(where) > TABLE_LIMIT:
                raise UnreadableError(f"expected copies times positions of at most {TABLE_LIMIT:,}")
            ends: list[list[Any]] = []  # the best from a piece at each position on, with 0, 1, ... further pieces
            rest = after
            for _ in range(most):
                ends.append([gain + earned.get(p, 0) + rest[p + size] for p in where])
                rest = after.copy()
                for p, value in zip(where, ends[-1], strict=True):
                    if value > rest[p]:
                        rest[p] = value
            best, layer = [NO] * len(where), before[item]
            for end in reversed(ends):
                best = [max(b, layer[p] + e) for b, p, e in zip(best, where, end, strict=True)]
                if end is not ends[0]:
                    layer = self._add_piece(layer, where, size, gain, earned)
            found.append((item, [(p, b) for p, b in zip(where, best, strict=True) if b != NO]))
            after = rest
        return unit * self.cost - max(before[-1]), found


def _keep(
    here: list[tuple[Any, tuple[int, ...]]], value: Any, rests: tuple[int, ...], cuts: Sequence[tuple[int, Any, int]]
) -> None:
    """Add a label to those at its position unless one dominates it."""
    for other, others in here:
        if other >= value:
            paid = other
            for (_, _, dual), mine, its in zip(cuts, others, rests, strict=True):
                if mine > its:
                    paid += dual
            if paid >= value:
                return
    here.append((value, rests))


class Trusted:
    """A pricing problem of unknown kind. Statements about it are trusted, and counted."""

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        fields(data, (), ("kind", "uses", "name"))
        self.number = number
        self.num_rows = num_rows

    def subtracts(self, row: int) -> bool:
        return True

    def prices(self) -> list[Fraction]:
        return []

    def column(self, structure: Any) -> tuple[Fraction, dict[int, Fraction]]:
        fields(structure, ("cost", "rows"))
        entries = {integer(row): exact(entry) for row, entry in structure["rows"]}
        if len(entries) < len(structure["rows"]) or not all(0 <= row < self.num_rows for row in entries):
            raise WrongError("a column has an entry in a row that does not exist, or two in one row")
        return exact(structure["cost"]), entries
