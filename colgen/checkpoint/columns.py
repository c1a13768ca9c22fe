"""Columns, rows and solutions in files, in the format that checkpoints and pools share.

A batch of columns consists of a description, as plain data for JSON, and of arrays, whose names start with the name of
the batch. Structures and keys are texts with one line of JSON per column, so that a growing batch is written by
appending.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key, Row
from colgen.core.errors import InputError
from colgen.core.serialization import as_plain, of_plain
from colgen.core.solution import Solution

Converter = Callable[[Any], Any]
"""Converts the structure of a column to plain data, or back."""

Arrays = Mapping[str, NDArray[Any]]

_ARRAYS = ("costs", "starts", "rows", "values", "upper", "lower", "integer")
"""The arrays of a batch of columns."""

_KINDS = dict.fromkeys(("costs", "values", "upper", "lower"), ("f", "numbers"))
_KINDS |= {"starts": ("iu", "integers"), "rows": ("iu", "integers"), "integer": ("b", "truth values")}
"""Kinds of numpy types, and their names in errors."""

_COUNT = 2**53
"""Upper limit for numbers of columns."""


def identity(structure: Any) -> Any:
    """Return a structure that is plain data itself."""
    return structure


# --- columns ---------------------------------------------------------------------------------------------------------


class ColumnWriter:
    """Describes a growing batch of columns; each column is converted once.

    ``name`` is the name of the batch in the file, and ``to_plain`` converts structures.
    """

    def __init__(self, name: str, to_plain: Converter) -> None:
        self._name, self._plainly = name, to_plain
        self._structures = bytearray()
        self._keys = bytearray()
        self._count = self._named = 0
        self._rows: list[Any] = []

    def write(self, batch: Columns, rows: Sequence[Key]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the description and the arrays of all columns so far, over rows of these names.

        Structures, keys and names of rows that are no plain data are an ``InputError``.
        """
        for k in range(self._count, len(batch)):
            self._structures += _line(self._plainly(batch.meanings.of(k)), "the structure of a column")
            key = None if batch.keys is None else batch.keys[k]
            self._named += key is not None
            self._keys += _line(key, "the key of a column")
        self._count = len(batch)
        self._rows += [as_plain(key, "the name of a row") for key in rows[len(self._rows) :]]
        arrays = {name: np.asarray(getattr(batch, name)) for name in _ARRAYS} | {"structures": _text(self._structures)}
        if self._named:
            arrays["keys"] = _text(self._keys)
        description = {"count": self._count, "rows": self._rows, "named": bool(self._named)}
        return description, {f"{self._name}.{name}": array for name, array in arrays.items()}


def write_columns(
    name: str, columns: Sequence[Column], to_plain: Converter
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the description and the arrays of columns, without the rows that they bring."""
    batch = columns
    if not isinstance(batch, Columns) or batch.row_keys is None:
        batch = Columns.of([dataclasses.replace(column, rows=()) if column.rows else column for column in columns])
        rows = list(batch.row_keys or ())
        batch = batch.over(rows, {key: k for k, key in enumerate(rows)})  # entries by rising row
    return ColumnWriter(name, to_plain).write(batch, batch.row_keys or ())


def check_columns(name: str, description: Any, arrays: Arrays) -> None:
    """Raise an ``InputError`` that names the invalid field unless the data are a batch of :class:`ColumnWriter`."""
    if not isinstance(description, dict):
        raise InputError(f"expected columns as {name!r}")
    count: Any = description.get("count")
    rows, named = description.get("rows"), description.get("named")
    is_count = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _COUNT
    if not (is_count and isinstance(rows, list) and isinstance(named, bool)):
        raise InputError(f"expected a number of columns and names of rows as {name!r}")
    found = {field: arrays.get(f"{name}.{field}") for field in (*_ARRAYS, "structures", "keys")}
    for field in _ARRAYS:
        array = found[field]
        if array is None or array.ndim != 1 or array.dtype.kind not in _KINDS[field][0]:
            raise InputError(f"expected an array '{name}.{field}' of {_KINDS[field][1]} in one axis")
    present = {field: array for field, array in found.items() if array is not None}
    starts, places = present["starts"], present["rows"]
    lengths = dict.fromkeys(("costs", "upper", "lower", "integer"), count) | {"starts": count + 1}
    for field, length in (lengths | {"values": len(places)}).items():
        if len(present[field]) != length:
            raise InputError(f"expected {length} entries of '{name}.{field}', got {len(present[field])}")
    if starts[0] != 0 or starts[-1] != len(places) or (starts[1:] < starts[:-1]).any():
        raise InputError(f"expected '{name}.starts' to ascend from 0 to the number of entries")
    if len(places) and not 0 <= places.min() <= places.max() < len(rows):
        raise InputError(f"expected '{name}.rows' from 0 to {len(rows) - 1}, got {places.min()} to {places.max()}")
    for field in ("costs", "values"):
        if not np.isfinite(present[field]).all():
            raise InputError(f"expected finite numbers as '{name}.{field}'")
    for field in ("structures", *(["keys"] if named else [])):
        text = found[field]
        if text is None or text.dtype != np.uint8 or text.ndim != 1:
            raise InputError(f"expected a text as '{name}.{field}'")


def read_columns(name: str, description: Any, arrays: Arrays, from_plain: Converter = identity) -> Columns:
    """Return the batch of columns, over rows by name, of a :class:`ColumnWriter`.

    ``from_plain`` converts plain data to structures. Raises an ``InputError`` for invalid data.
    """
    check_columns(name, description, arrays)
    structures = [from_plain(of_plain(data)) for data in _lines(arrays[f"{name}.structures"])]
    keys = [of_plain(data) for data in _lines(arrays[f"{name}.keys"])] if description["named"] else None
    rows: list[Key] = [of_plain(key) for key in description["rows"]]
    if len(set(rows)) < len(rows):
        raise InputError("expected each name of a row once")
    if not len(structures) == description["count"] == (len(structures) if keys is None else len(keys)):
        raise InputError(f"expected {description['count']} structures and keys in {name!r}")
    batch = Columns(**{each: np.array(arrays[f"{name}.{each}"]) for each in _ARRAYS}, structure=structures, keys=keys)
    return batch.over(rows, {key: k for k, key in enumerate(rows)})


def _line(value: Any, what: str) -> bytes:
    return json.dumps(as_plain(value, what), separators=(",", ":")).encode() + b"\n"


def _text(lines: bytearray) -> NDArray[np.uint8]:
    return np.frombuffer(bytes(lines), dtype=np.uint8)


def _lines(text: NDArray[Any]) -> list[Any]:
    found: list[Any] = json.loads(b"[" + text.tobytes().rstrip(b"\n").replace(b"\n", b",") + b"]")
    return found


# --- solutions and rows ----------------------------------------------------------------------------------------------


def write_solution(
    name: str, solution: Solution, to_plain: Converter
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the description and the arrays of a solution with its columns."""
    columns, arrays = write_columns(name, [column for column, _ in solution.columns], to_plain)
    arrays[f"{name}.uses"] = np.array([value for _, value in solution.columns], dtype=np.float64)
    description = {
        "objective": float(solution.objective),
        "columns": columns,
        "variables": [[as_plain(key, "a variable"), float(value)] for key, value in solution.variables.items()],
        "integer": [as_plain(key, "a variable") for key in solution.integer],
    }
    return description, arrays


def check_solution(name: str, description: Any, arrays: Arrays) -> None:
    """Raise an ``InputError`` unless the data are a solution of :func:`write_solution`."""
    if not isinstance(description, dict):
        raise InputError(f"expected an answer as {name!r}")
    check_columns(name, description.get("columns"), arrays)
    uses, variables = arrays.get(f"{name}.uses"), description.get("variables")
    if uses is None or uses.dtype.kind != "f" or uses.shape != (description["columns"]["count"],):
        raise InputError(f"expected a number for each column as '{name}.uses'")
    if not isinstance(variables, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in variables):
        raise InputError(f"expected variables and their values in {name!r}")
    if not isinstance(description.get("integer"), list):
        raise InputError(f"expected a list of variables as 'integer' in {name!r}")
    for value in (description.get("objective"), *(value for _, value in variables)):
        finite_number(value)
    if not np.isfinite(uses).all():
        raise InputError(f"expected finite numbers as '{name}.uses'")


def read_solution(name: str, description: Any, arrays: Arrays, from_plain: Converter = identity) -> Solution:
    """Return the solution written by :func:`write_solution`; errors as in :func:`read_columns`."""
    check_solution(name, description, arrays)
    columns = read_columns(name, description["columns"], arrays, from_plain)
    return Solution(
        float(description["objective"]),
        tuple(zip(columns, arrays[f"{name}.uses"].tolist(), strict=True)),
        {of_plain(key): float(value) for key, value in description["variables"]},
        frozenset(of_plain(key) for key in description["integer"]),
    )


def finite_number(value: Any) -> float:
    """Return a finite number of plain data, or raise an ``InputError``."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e308:
        raise InputError(f"expected a finite number, got {str(value)[:40]!r}")
    return float(value)


def row_data(row: Row) -> Any:
    """Return a row as plain data. If its coefficients are a function, they are left out."""
    stated = row.coefficient is None and row.family is None
    entries = [[as_plain(key, "a column"), float(a)] for key, a in row.coefficients.items()] if stated else None
    return [as_plain(row.key, "the name of a row"), row.lower, row.upper, entries]


def row_of_data(data: Any, restore: Callable[[Key, float, float], Row | None]) -> Row | None:
    """Return the row of plain data. ``restore`` makes rows whose coefficients are a function, or returns None."""
    key, lower, upper, entries = data
    name = of_plain(key)
    if entries is None:
        return restore(name, float(lower), float(upper))
    return Row(name, float(lower), float(upper), {of_plain(column): float(a) for column, a in entries})
