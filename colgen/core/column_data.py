"""Columns, rows and solutions as plain data, one by one: of pools, which are large, the numbers are arrays instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.batches import Columns
from colgen.core.columns import Column, Key, Row
from colgen.core.errors import InputError
from colgen.core.plain import as_plain, of_plain
from colgen.core.solution import Solution

Plainly = Callable[[Any], Any]
"""What makes plain data of a column's structure: a problem's own."""

ARRAYS = ("costs", "starts", "rows", "values", "upper", "lower", "integer")
"""What a batch of columns is made of."""

_KINDS = dict.fromkeys(("costs", "values", "upper", "lower"), ("f", "numbers"))
_KINDS |= {"starts": ("iu", "integers"), "rows": ("iu", "integers"), "integer": ("b", "truth values")}
"""Kinds of numpy's types, and what an error calls them."""


def column_data(column: Column, plainly: Plainly) -> Any:
    """A column; the rows that it brings along are no part of it."""
    return [
        column.cost,
        [[as_plain(key, "the name of a row"), float(a)] for key, a in column.coefficients.items()],
        as_plain(plainly(column.structure), "the structure of a column"),
        as_plain(column.key, "the key of a column"),
        column.lower,
        column.upper,
        bool(column.integer),
    ]


def column_of_data(data: Any, made: Plainly) -> Column:
    """The column of some data; ``made``: makes its structure of plain data."""
    cost, entries, structure, key, lower, upper, integer = data
    coefficients = {of_plain(row): float(a) for row, a in entries}
    known = made(of_plain(structure))
    return Column(float(cost), coefficients, known, of_plain(key), float(lower), float(upper), bool(integer))


def solution_data(solution: Solution, plainly: Plainly) -> Any:
    """A solution with its columns."""
    return {
        "objective": float(solution.objective),
        "columns": [[column_data(column, plainly), float(value)] for column, value in solution.columns],
        "variables": [[as_plain(key, "a variable"), float(value)] for key, value in solution.variables.items()],
        "integer": [as_plain(key, "a variable") for key in solution.integer],
    }


def solution_of_data(data: Any, made: Plainly) -> Solution:
    """The solution of some data."""
    return Solution(
        float(data["objective"]),
        tuple((column_of_data(column, made), float(value)) for column, value in data["columns"]),
        {of_plain(key): float(value) for key, value in data["variables"]},
        frozenset(of_plain(key) for key in data["integer"]),
    )


def row_data(row: Row) -> Any:
    """A row: of one that states its coefficients by function, its name and sides."""
    stated = row.coefficient is None and row.family is None
    entries = [[as_plain(key, "a column"), float(a)] for key, a in row.coefficients.items()] if stated else None
    return [as_plain(row.key, "the name of a row"), row.lower, row.upper, entries]


def row_of_data(data: Any, revived: Callable[[Key, float, float], Row | None]) -> Row | None:
    """The row of some data; ``revived`` makes those that state coefficients by function, None where nobody can."""
    key, lower, upper, entries = data
    name = of_plain(key)
    if entries is None:
        return revived(name, float(lower), float(upper))
    return Row(name, float(lower), float(upper), {of_plain(column): float(a) for column, a in entries})


def check_arrays(arrays: Mapping[str, NDArray[Any]], count: int, rows: int) -> None:
    """Refuse arrays that are not those of so many columns over so many rows.

    Raises
    ------
    InputError
        Naming the array, and what was expected.
    """
    for name in ARRAYS:
        array = arrays.get(name)
        if array is None or array.ndim != 1 or array.dtype.kind not in _KINDS[name][0]:
            raise InputError(f"expected an array {name!r} of {_KINDS[name][1]} in one axis")
    starts, places = arrays["starts"], arrays["rows"]
    for name, length in {"starts": count + 1, "rows": len(places), "values": len(places)}.items():
        if len(arrays[name]) != length:
            raise InputError(f"expected {length} entries of {name!r}, got {len(arrays[name])}")
    for name in ("costs", "upper", "lower", "integer"):
        if len(arrays[name]) != count:
            raise InputError(f"expected {count} entries of {name!r}, got {len(arrays[name])}")
    if starts[0] != 0 or starts[-1] != len(places) or (starts[1:] < starts[:-1]).any():
        raise InputError("expected 'starts' to ascend from 0 to the number of entries")
    if len(places) and not 0 <= places.min() <= places.max() < rows:
        raise InputError(f"expected 'rows' from 0 to {rows - 1}, got {places.min()} to {places.max()}")
    for name in ("costs", "values"):
        if not np.isfinite(arrays[name]).all():
            raise InputError(f"expected finite numbers as {name!r}")


def batch_of_data(
    arrays: dict[str, NDArray[Any]], names: Sequence[Key], structures: Sequence[Any], keys: Sequence[Key | None] | None
) -> Columns:
    """Columns over rows of these names."""
    batch = Columns(**{name: np.array(arrays[name]) for name in ARRAYS}, structure=list(structures), keys=keys)
    return batch.over(list(names), {key: k for k, key in enumerate(names)})
