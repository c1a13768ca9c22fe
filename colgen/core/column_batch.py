"""Batches of columns: arrays over a master's row numbers."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from operator import attrgetter, methodcaller
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.columns import Column, Key, Row, as_numbers
from colgen.core.errors import FormulationError
from colgen.core.lazy_imports import import_name
from colgen.core.text import plural
from colgen.solvers.arrays import integral_bounds

Floats: TypeAlias = NDArray[np.float64]
Ints32: TypeAlias = NDArray[np.int32]
Compressed: TypeAlias = tuple[Ints32, Ints32, Floats]
"""Starts, row numbers, values."""


def in_order(starts: NDArray[Any], rows: NDArray[Any], values: Floats) -> Compressed:
    """Return the entries of each column sorted by row number; raise ValueError if a column has two in a row."""
    begins, numbers = starts.astype(np.int32), rows.astype(np.int32)
    if len(numbers) < 2:
        return begins, numbers, values
    falls = (numbers[1:] <= numbers[:-1]).nonzero()[0] + 1
    if len(falls):
        is_begin = np.zeros(len(numbers) + 1, dtype=np.bool_)
        is_begin[begins] = True
    if not len(falls) or is_begin[falls].all():  # numbers fall only between columns
        return begins, numbers, values
    owners = np.repeat(np.arange(len(begins) - 1), begins[1:] - begins[:-1])
    order = np.lexsort((numbers, owners))
    numbers = numbers[order]
    twice = np.flatnonzero((numbers[1:] == numbers[:-1]) & (np.diff(owners) == 0))
    if len(twice):
        entry = int(twice[0])
        raise ValueError(f"column {owners[entry]} of a batch has two entries in row number {numbers[entry]}")
    return begins, numbers, values[order]


def select_columns(
    starts: NDArray[np.integer], rows: Ints32, values: Floats, chosen: NDArray[np.integer] | slice
) -> Compressed:
    """Return the columns with these numbers, in this order; a slice gives views."""
    if isinstance(chosen, slice):
        begin, end = int(starts[chosen.start]), int(starts[chosen.stop])
        return starts[chosen.start : chosen.stop + 1] - starts.dtype.type(begin), rows[begin:end], values[begin:end]
    lengths = starts[1:][chosen] - starts[:-1][chosen]
    begins = np.zeros(len(chosen) + 1, dtype=np.int32)
    np.cumsum(lengths, out=begins[1:])
    entries = np.arange(begins[-1]) + np.repeat(starts[:-1][chosen] - begins[:-1], lengths)
    return begins, rows[entries], values[entries]


Mask: TypeAlias = NDArray[np.bool_]

Entries: TypeAlias = tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]], Floats]
"""Column, row and value of each entry."""

FEW = 16
"""Up to this many single columns are priced faster term by term than as a batch."""

_NO_ROW = -1
"""The number of a row that a master does not have."""

Structures: TypeAlias = Callable[[int], Any] | Sequence[Any] | NDArray[Any] | None
"""The meanings of the columns of a batch: ``structure(k)``, computed on demand, or ``structure[k]``."""


class LazyColumns(Sequence[Column]):
    """Columns that are made on demand; ``column`` makes and caches the one at a place."""

    __slots__ = ("_column", "_places")

    def __init__(self, column: Callable[[int], Column], places: Sequence[int]) -> None:
        self._column, self._places = column, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, k: int) -> Column: ...
    @overload
    def __getitem__(self, k: slice) -> LazyColumns: ...
    def __getitem__(self, k: int | slice) -> Column | LazyColumns:
        return LazyColumns(self._column, self._places[k]) if isinstance(k, slice) else self._column(self._places[k])

    def take(self, chosen: Sequence[int]) -> LazyColumns:
        """Return some of the columns without making them."""
        return LazyColumns(self._column, [self._places[k] for k in chosen])


class Lookup:
    """Structures that are looked up by place, one (``one``) or several (``many``) at a time."""

    __slots__ = ("_many", "_one", "_places")

    def __init__(
        self, one: Callable[[int], Any], many: Callable[[Sequence[int]], list[Any]], places: Sequence[int]
    ) -> None:
        self._one, self._many, self._places = one, many, places

    def __call__(self, k: int) -> Any:
        """Return the structure of column k."""
        return self._one(self._places[k])

    def each(self, numbers: Sequence[int]) -> list[Any]:
        """Return the structures of several columns."""
        return self._many([self._places[k] for k in numbers])


@dataclass(frozen=True, slots=True)
class Meanings:
    """What the columns of a batch stand for.

    ``structure`` is as the oracle returned it, and ``index`` gives the numbers of the columns in it (None: 0, 1, ...).
    ``given`` contains the columns themselves if they were returned as objects. ``brought`` contains rows to add with
    columns, by column number; only single columns have any.
    """

    structure: Structures = None
    index: NDArray[np.integer] | None = None
    given: Sequence[Column] | None = None
    brought: Mapping[int, Sequence[Row]] = field(default_factory=dict)

    def of(self, k: int) -> Any:
        """Return the structure of column k."""
        if self.structure is None:
            return None if self.given is None else self.given[k].structure
        k = k if self.index is None else int(self.index[k])
        return self.structure(k) if callable(self.structure) else self.structure[k]

    def each(self, numbers: Sequence[int]) -> list[Any]:
        """Return the structures of several columns."""
        structure = self.structure
        if structure is None:
            return [self.of(k) for k in numbers]
        numbers = numbers if self.index is None else self.index[list(numbers)].tolist()
        if isinstance(structure, Lookup):
            return structure.each(numbers)
        return [structure(k) for k in numbers] if callable(structure) else [structure[k] for k in numbers]

    def _brought_by(self, chosen: NDArray[np.integer]) -> Mapping[int, Sequence[Row]]:
        if not self.brought:
            return {}
        return {k: self.brought[number] for k, number in enumerate(chosen.tolist()) if number in self.brought}

    def take(self, chosen: NDArray[np.integer]) -> Meanings:
        """Return the meanings of some of the columns."""
        if isinstance(self.given, LazyColumns):
            index = chosen if self.index is None else self.index[chosen]
            return Meanings(self.structure, index, self.given.take(chosen.tolist()), self._brought_by(chosen))
        if self.given is not None:
            return Meanings(given=[self.given[k] for k in chosen.tolist()], brought=self._brought_by(chosen))
        if self.structure is None:
            return self
        return Meanings(self.structure, chosen if self.index is None else self.index[chosen])


class Columns(Sequence[Column]):
    """A batch of columns in compressed form, for oracles that return many at once.

    The coefficients of column j are ``values[starts[j]:starts[j + 1]]``, and their row numbers in the master are
    ``rows[starts[j]:starts[j + 1]]``. ``duals.rows("cover")`` returns the row numbers of a block, which never change.
    A batch is a sequence of :class:`Column` objects, which are made on demand; the engine makes those of an answer.

    Parameters
    ----------
    costs
        One number per column.
    starts
        One more than the number of columns, from 0 to the number of entries.
    rows, values
        One per coefficient; a column has at most one entry per row.
    structure
        Meanings of the columns: a function of their number in the batch, or an array or list.
    keys
        A name or None for each column; see :class:`Column`.
    upper, lower, integer
        One per column, or one for all: by default no upper bound, 0, and True.

    Raises
    ------
    FormulationError
        If lengths differ, or a value is not allowed in a column.

    Examples
    --------
    >>> batch = Columns(costs=[1.0, 1.0], starts=[0, 1, 3], rows=[0, 1, 3], values=[2.0, 2.0, 2.0])
    >>> len(batch), batch.costs.tolist()
    (2, [1.0, 1.0])
    """

    __slots__ = (
        "_made",
        "_named_by_itself",
        "_signatures",
        "costs",
        "integer",
        "keys",
        "lower",
        "meanings",
        "row_keys",
        "row_position",
        "rows",
        "starts",
        "stated",
        "stated_by",
        "upper",
        "values",
    )

    def __init__(
        self,
        costs: ArrayLike,
        starts: ArrayLike,
        rows: ArrayLike,
        values: ArrayLike,
        structure: Structures = None,
        keys: Sequence[Key | None] | None = None,
        upper: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        integer: ArrayLike | None = None,
    ) -> None:
        # copied: the oracle may reuse its arrays
        self.costs = np.array(as_numbers(costs, "the costs of a batch of columns"))
        count = len(self.costs)
        begins, row_numbers = np.asarray(starts), np.asarray(rows)
        amounts = np.array(as_numbers(values, "the values of a batch of columns"))
        ordered = _in_order(self.costs, begins, row_numbers, amounts)
        if ordered is None:  # unsorted or invalid
            _check_shape(count, begins, row_numbers, amounts)
        self.meanings = Meanings(structure)
        self.keys = None if keys is None else list(keys)
        for name, given in (("structures", structure), ("keys", keys)):
            if given is not None and not callable(given) and len(given) != count:
                raise FormulationError(f"a batch of {count} columns has {len(given)} {name}, expected one per column")
        self.upper = _each(math.inf if upper is None else upper, count, np.float64, "upper bounds")
        self.lower = _each(0.0 if lower is None else lower, count, np.float64, "lower bounds")
        self.integer = _each(True if integer is None else integer, count, np.bool_, "marks of integer columns")
        try:
            self.starts, self.rows, self.values = ordered or in_order(begins, row_numbers, amounts)
        except ValueError as error:
            raise FormulationError(str(error)) from None
        self._begin(None, {})
        if ordered is None:
            self._check_numbers()
        if lower is not None or upper is not None:
            self._check_bounds()
            self.lower, self.upper = integral_bounds(self.lower, self.upper, self.integer)
            self._check_bounds("an integer value between its bounds")

    def _begin(self, row_keys: Sequence[Key] | None, row_position: Mapping[Key, int], itself: bool = False) -> None:
        """Set the rows that numbers refer to; nothing is cached yet."""
        self.row_keys, self.row_position, self._named_by_itself = row_keys, row_position, itself
        self._signatures: NDArray[np.uint64] | None = None
        self._made: dict[int, Column] = {}
        self.stated: Entries | None = None
        """Coefficients that rows add to those of the columns; filled by a master."""
        self.stated_by = -1
        """Number of rows that were evaluated for it."""

    @classmethod
    def of(cls, columns: Sequence[Column]) -> Columns:
        """Return single columns as a batch over the rows that they use, in order of first use."""
        number: defaultdict[Key, int] = defaultdict(itertools.count().__next__)
        patterns = [column.coefficients for column in columns]
        starts = np.array([0, *itertools.accumulate(map(len, patterns))], dtype=np.int32)
        rows = np.array([*map(number.__getitem__, chain.from_iterable(patterns))], dtype=np.int32)
        number.default_factory = None  # missing keys raise from now on
        values = np.array([*chain.from_iterable(map(_VALUES, patterns))], dtype=np.float64)
        costs, lower, upper, integer, keys, brought = zip(*map(_FIELDS, columns), strict=True) if columns else 6 * [()]
        rows_by_number = {k: rows_of for k, rows_of in enumerate(brought) if rows_of}
        is_integer = np.array(integer, dtype=np.bool_)
        least, most = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
        if lower.count(0.0) < len(lower) or upper.count(math.inf) < len(upper):
            least, most = integral_bounds(least, most, is_integer)
        # Each column has checked its cost and bounds, and has one entry per row.
        batch = make_batch(
            np.array(costs, dtype=np.float64),
            (starts, rows, values),
            Meanings(given=list(columns), brought=rows_by_number),
            None if keys.count(None) == len(keys) else list(keys),
            most,
            least,
            is_integer,
            list(number),
            number,
        )
        batch._named_by_itself = True
        if not math.isfinite(np.vdot(values, values)):  # finite only if all values are
            batch._check_values()
        return batch

    @classmethod
    def concatenate(cls, batches: Sequence[Columns], row_keys: Sequence[Key], position: Mapping[Key, int]) -> Columns:
        """Return the columns of several batches as one, over a master's rows and the rows added with the columns."""
        brought = {
            row.key: None for batch in batches for rows in batch.meanings.brought.values() for row in rows
        }  # fmt: skip
        more = [key for key in brought if key not in position]
        if more:
            row_keys = [*row_keys, *more]
            position = {key: k for k, key in enumerate(row_keys)}
        batches = [batch.over(row_keys, position) for batch in batches]
        firsts = np.cumsum([0, *map(len, batches)])
        ends = np.cumsum([0, *(len(batch.values) for batch in batches)])
        starts = [batch.starts[1:] + end for batch, end in zip(batches, ends.tolist(), strict=False)]
        keys = None
        if any(batch.keys is not None for batch in batches):
            keys = [*chain.from_iterable(repeat(None, len(b)) if b.keys is None else b.keys for b in batches)]

        def each(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(batch, name) for batch in batches])

        batch = make_batch(
            each("costs"),
            (np.concatenate([np.zeros(1, np.int32), *starts]).astype(np.int32), each("rows"), each("values")),
            _concatenate_meanings(batches, firsts.tolist()),
            keys,
            each("upper"),
            each("lower"),
            each("integer"),
            row_keys,
            position,
        )
        batch._named_by_itself = bool(more)
        return batch

    def _check_numbers(self) -> None:
        if not np.isfinite(self.costs).all():
            bad = int(np.flatnonzero(~np.isfinite(self.costs))[0])
            raise FormulationError(
                f"the column of {self.meanings.of(bad)!r} costs {self.costs[bad]}, expected a finite number"
            )
        self._check_values()

    def _check_bounds(self, expected: str = "lower ≤ upper") -> None:
        valid = (self.lower <= self.upper) & (self.lower < math.inf) & (self.upper > -math.inf)
        if not valid.all():
            bad = int(np.flatnonzero(~valid)[0])
            raise FormulationError(
                f"the column of {self.meanings.of(bad)!r} has the bounds {self.lower[bad]} and {self.upper[bad]}, "
                f"expected {expected}"
            )

    def _check_values(self) -> None:
        if not np.isfinite(self.values).all():
            entry = int(np.flatnonzero(~np.isfinite(self.values))[0])
            bad = int(np.searchsorted(self.starts, entry, side="right")) - 1
            raise FormulationError(
                f"the column of {self.meanings.of(bad)!r} has a coefficient that is not a finite number"
            )

    # --- a sequence of columns ---------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.costs)

    def __repr__(self) -> str:
        return f"<Columns: {len(self):,}, of {plural(len(self.values), 'coefficient')}>"

    def _repr_html_(self) -> str:
        page: str = import_name("reporting.html", "show_columns")(self)
        return page

    @overload
    def __getitem__(self, k: int) -> Column: ...
    @overload
    def __getitem__(self, k: slice) -> Columns: ...
    def __getitem__(self, k: int | slice) -> Column | Columns:
        if isinstance(k, slice):
            return self.take(np.arange(len(self))[k])
        k = range(len(self))[k]
        if self.meanings.given is not None:
            return self.meanings.given[k]
        if self.row_keys is None:
            raise FormulationError(
                "this batch of columns has row numbers but no row keys: its columns exist once a linear master has it"
            )
        column = self._made.get(k)
        if column is None:
            column = self._made[k] = self._make(k, self.row_keys)
        return column

    def _make(self, k: int, row_keys: Sequence[Key]) -> Column:
        begin, end = int(self.starts[k]), int(self.starts[k + 1])
        rows, values = self.rows[begin:end].tolist(), self.values[begin:end].tolist()
        return Column(
            float(self.costs[k]),
            {row_keys[row]: value for row, value in zip(rows, values, strict=True)},
            self.meanings.of(k),
            None if self.keys is None else self.keys[k],
            float(self.lower[k]),
            float(self.upper[k]),
            bool(self.integer[k]),
        )

    @property
    def structures(self) -> list[Any]:
        """The structure of each column."""
        return self.meanings.each(range(len(self)))

    def take(self, chosen: NDArray[np.integer] | Mask) -> Columns:
        """Return some of the columns as a batch, by number or mask."""
        numbers = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else np.asarray(chosen, dtype=np.int64)
        part = make_batch(
            self.costs[numbers],
            select_columns(self.starts, self.rows, self.values, numbers),
            self.meanings.take(numbers),
            None if self.keys is None else [self.keys[k] for k in numbers.tolist()],
            self.upper[numbers],
            self.lower[numbers],
            self.integer[numbers],
            self.row_keys,
            self.row_position,
        )
        part._named_by_itself = self._named_by_itself
        if self._signatures is not None:
            part._signatures = self._signatures[numbers]
        part.stated_by = self.stated_by
        if self.stated is not None:
            number = np.full(len(self), -1)
            number[numbers] = np.arange(len(numbers))
            inside = number[self.stated[0]] >= 0
            part.stated = (number[self.stated[0][inside]], self.stated[1][inside], self.stated[2][inside])
        return part

    def distinct(self) -> NDArray[np.int64] | None:
        """Return the numbers of the first occurrence of each column; None if there are no duplicates."""
        if len(self) < 2:
            return None
        if self.keys is not None and None not in self.keys:
            first = {key: k for k, key in reversed(list(enumerate(self.keys)))}
            return None if len(first) == len(self) else np.array(sorted(first.values()), dtype=np.int64)
        if self.keys is None:
            numbers = np.sort(self.signatures)
            if (numbers[1:] != numbers[:-1]).all():
                return None
        seen: dict[Hashable, int] = {}
        for k in range(len(self)):
            begin, end = self.starts[k], self.starts[k + 1]
            pattern = (float(self.costs[k]), self.rows[begin:end].tobytes(), (self.values[begin:end] + 0.0).tobytes())
            key = None if self.keys is None else self.keys[k]
            seen.setdefault(pattern if key is None else key, k)
        return None if len(seen) == len(self) else np.array(list(seen.values()), dtype=np.int64)

    # --- over a master's rows ----------------------------------------------------------------------------------------

    def over(self, row_keys: Sequence[Key], position: Mapping[Key, int], *, strict: bool = True) -> Columns:
        """Return the batch with row numbers of this master.

        It is the batch itself if it already has these row numbers, or was made without the names of rows. With
        ``strict``, an entry in a row that neither the master has nor its column adds raises KeyError. Otherwise the
        result is a new batch without such entries.
        """
        if self.row_keys is row_keys:
            return self
        if self.row_keys is None:
            if len(self.rows) and int(self.rows.max()) >= len(row_keys):
                raise FormulationError(
                    f"a batch of columns has a coefficient in row number {int(self.rows.max())}, but the master has "
                    f"{len(row_keys)} rows: use the numbers that duals.rows(block) returns"
                )
            self.row_keys, self.row_position = row_keys, position
            return self
        rows = np.array([position.get(key, _NO_ROW) for key in self.row_keys], dtype=np.int32)[self.rows]
        starts, values, batch = self.starts, self.values, self
        there = rows != _NO_ROW
        if not there.all():
            if strict:
                self._check_brought(np.flatnonzero(~there))
            starts = np.append(0, np.cumsum(there))[starts]
            rows, values = rows[there], values[there]
        if not (self._named_by_itself and there.all()):
            batch = make_batch(
                self.costs, (starts, rows, values), self.meanings, self.keys, self.upper, self.lower, self.integer,
                None, {},
            )  # fmt: skip
        batch._begin(row_keys, position)
        batch.starts, batch.rows, batch.values = in_order(starts, rows, values)
        return batch

    def _check_brought(self, missing: NDArray[np.integer]) -> None:
        """Raise KeyError if one of these entries is in a row that its column does not add."""
        assert self.row_keys is not None
        brought, owners = self.meanings.brought, self.owners
        for entry in missing.tolist():
            key = self.row_keys[self.rows[entry]]
            if all(row.key != key for row in brought.get(int(owners[entry]), ())):
                raise KeyError(key)

    @property
    def entries(self) -> Entries:
        """Column, row and value of each entry, including the entries that rows of the master define."""
        if self.stated is None:
            return self.owners, self.rows, self.values
        owners, rows, values = self.stated
        return (
            np.concatenate([self.owners, owners]),
            np.concatenate([self.rows, rows]),
            np.concatenate([self.values, values]),
        )

    @property
    def signatures(self) -> NDArray[np.uint64]:
        """A 64-bit hash of cost and coefficients of each column; equal columns have equal hashes."""
        if self._signatures is None:
            from colgen.solvers.columns.identity import signatures  # late: batches alone do not need kernels

            self._signatures = signatures(self.costs, self.starts, self.rows, self.values)
        return self._signatures

    @property
    def owners(self) -> NDArray[np.int64]:
        """The number of the column of each entry."""
        return np.repeat(np.arange(len(self)), self.starts[1:] - self.starts[:-1])

    def covering(self, key: Key) -> Mask:
        """Return which columns have a nonzero coefficient in a row."""
        mask = np.zeros(len(self), dtype=np.bool_)
        row = self.row_position.get(key)
        if row is not None:
            entries = np.flatnonzero((self.rows == row) & (self.values != 0.0))
            mask[np.searchsorted(self.starts, entries, side="right") - 1] = True
        return mask

    def covering_of_two(self, first: Key, second: Key) -> NDArray[np.uint8]:
        """Return, per column, 1 if it covers the first row plus 2 if it covers the second."""
        from colgen.solvers.columns.compressed import find_covered  # late, as above

        find = self.row_position.get
        covered: NDArray[np.uint8] = find_covered(
            self.starts, self.rows, self.values, find(first, _NO_ROW), find(second, _NO_ROW)
        )
        return covered

    def products(self, duals: Floats) -> Floats:
        """Return πᵀa_j of each column; rows without a dual value yet count as zero."""
        if len(self.rows) and int(self.rows.max()) >= len(duals):
            duals = np.append(duals, np.zeros(int(self.rows.max()) + 1 - len(duals)))
        terms = self.values * duals[self.rows]
        if len(self) == 1:
            return np.array([terms.sum()])
        return np.bincount(self.owners, terms, minlength=len(self)).astype(np.float64, copy=False)


_FIELDS = attrgetter("cost", "lower", "upper", "integer", "key", "rows")
_VALUES = methodcaller("values")


def _concatenate_meanings(batches: Sequence[Columns], firsts: Sequence[int]) -> Meanings:
    """Return the meanings of several batches; ``firsts``: number of the first column of each batch, then the total."""
    meanings = [batch.meanings for batch in batches]
    brought = {
        first + k: rows for first, each in zip(firsts, meanings, strict=False) for k, rows in each.brought.items()
    }
    if all(meaning.given is not None for meaning in meanings):
        given = [column for meaning in meanings for column in meaning.given or ()]
        return Meanings(given=given, brought=brought)

    def structure(k: int) -> Any:
        part = bisect_right(firsts, k) - 1
        return meanings[part].of(k - firsts[part])

    if all(meaning.given is None for meaning in meanings):
        return Meanings(structure)

    def column(k: int) -> Column:
        part = bisect_right(firsts, k) - 1
        return batches[part][k - firsts[part]]

    return Meanings(structure, None, LazyColumns(column, range(firsts[-1])), brought)


def make_batch(
    costs: Floats,
    entries: Compressed,
    meanings: Meanings,
    keys: list[Key | None] | None,
    upper: Floats,
    lower: Floats,
    integer: Mask,
    row_keys: Sequence[Key] | None,
    row_position: Mapping[Key, int],
    signatures: NDArray[np.uint64] | None = None,
) -> Columns:
    """Return a batch of data that has been checked already."""
    batch = Columns.__new__(Columns)
    batch.costs, batch.upper, batch.lower, batch.integer = costs, upper, lower, integer
    batch.starts, batch.rows, batch.values = entries
    batch.meanings, batch.keys = meanings, keys
    batch._begin(row_keys, row_position)
    batch._signatures = signatures
    return batch


def _in_order(
    costs: Floats, starts: NDArray[Any], rows: NDArray[Any], values: Floats
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats] | None:
    """Return entries that are valid and sorted; None if they are not, or need a closer check."""
    usual = starts.dtype.kind == rows.dtype.kind == "i" and starts.ndim == rows.ndim == values.ndim == costs.ndim == 1
    if not usual or len(starts) != len(costs) + 1:
        return None
    from colgen.solvers.columns.compressed import copy_if_valid  # late: the engine's data does not need kernels

    begins, numbers = np.empty(len(starts), np.int32), np.empty(len(rows), np.int32)
    long_starts, long_rows = (np.ascontiguousarray(array, dtype=np.int64) for array in (starts, rows))
    return (begins, numbers, values) if copy_if_valid(long_starts, long_rows, values, costs, begins, numbers) else None


def _check_shape(count: int, starts: NDArray[Any], rows: NDArray[Any], values: Floats) -> None:
    for name, numbers in (("starts", starts), ("rows", rows)):
        if numbers.dtype.kind not in "iu" and len(numbers):
            raise FormulationError(f"the {name} of a batch of columns are {numbers.dtype}, expected integers")
    fits = starts.shape == (count + 1,) and rows.shape == values.shape == (starts[-1],)
    if not fits or starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        raise FormulationError(
            f"a batch of {count} columns has {len(starts)} starts, {len(rows)} rows and {len(values)} values: expected "
            f"{count + 1} starts that rise from 0 to the number of rows and values"
        )
    if len(rows) and rows.min() < 0:
        raise FormulationError(f"a batch of columns has the row number {rows.min()}, expected numbers from 0")


def _each(given: ArrayLike, count: int, kind: type, what: str) -> NDArray[Any]:
    """Return one entry per column, repeating a single one."""
    if isinstance(given, float | bool):
        return np.full(count, given, dtype=kind)
    array: NDArray[Any] = np.array(as_numbers(given, f"the {what} of a batch of columns"), dtype=kind)
    if array.ndim and array.shape != (count,):
        raise FormulationError(f"a batch of {count} columns has {len(array)} {what}, expected one per column")
    return array if array.ndim else np.full(count, array)
