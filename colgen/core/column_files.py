"""Columns, rows, solutions and pools as plain data and in files; nothing in a file is executed when it is read."""

from __future__ import annotations

import dataclasses
import json
import math
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key, Row
from colgen.core.errors import ColgenError, InputError
from colgen.core.files import writing
from colgen.core.serialization import IMPOSSIBLE, as_plain, of_plain, read_sealed, write_sealed
from colgen.core.solution import Solution
from colgen.solvers.arrays import as_floats

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


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FORMAT = "colgen pool 2"


@dataclass(frozen=True)
class Origin:
    """Where a pool comes from, for who saves it.

    Attributes
    ----------
    digest
        Of the instance; it is computed when somebody asks.
    plainly
        Makes plain data of a column's structure.
    rows
        The names of the rows that were separated.
    duals
        Dual values that prove the root's bound, by the names of the rows.
    answer
        The run's best; None if it found none.
    """

    digest: Callable[[], str]
    plainly: Plainly
    rows: Sequence[Key] = ()
    duals: Mapping[Key, float] = dataclasses.field(default_factory=dict)
    answer: Solution | None = None


@dataclass(frozen=True)
class KeptAnswer:
    """An answer of another run.

    Attributes
    ----------
    columns
        The structure of each that it uses, as plain data, and how often.
    variables
        Values of the template's variables.
    """

    columns: Sequence[tuple[Any, float]]
    variables: Mapping[Key, float]


@dataclass(frozen=True)
class KeptPool:
    """What a file of a pool holds: all of it guesses.

    Attributes
    ----------
    digest
        Of the instance that the columns are of.
    structures
        Of the columns, as plain data.
    columns
        The columns as they were; what they mean is plain data, if they come from a file.
    reduced_costs
        Of the columns, at the dual values below; not a number where nothing was proved.
    rows, duals
        Names of separated rows, and dual values by the names of rows.
    answer
        The best one; None if there was none.
    """

    digest: str
    structures: Sequence[Any]
    columns: Sequence[Column]
    reduced_costs: Floats
    rows: Sequence[Key]
    duals: Mapping[Key, float]
    answer: KeptAnswer | None = None

    def best(self, limit: int) -> Ints:
        """At most so many columns: those whose reduced cost is nearest to zero, in the order in which they came."""
        away = np.where(np.isnan(self.reduced_costs), 0.0, np.abs(self.reduced_costs))
        chosen: Ints = np.sort(np.argsort(away, kind="stable")[:limit])
        return chosen


def write_pool(path: Path | str, columns: Sequence[Column], reduced_costs: Floats, origin: Origin) -> None:
    """Write a pool.

    Raises
    ------
    InputError
        If a structure or the name of a row is no plain data, or nothing tells the instance from others.
    """
    batch = columns if isinstance(columns, Columns) else _batch_of_pool(columns)
    names = batch.row_keys or ()
    plain = [as_plain(origin.plainly(batch.meanings.of(k)), "the structure of a column") for k in range(len(batch))]
    keys = None if batch.keys is None else [as_plain(key, "the key of a column") for key in batch.keys]
    said: dict[str, Any] = {
        "digest": origin.digest(),
        "names": [as_plain(key, "the name of a row") for key in names],
        "keys": keys,
        "separated": [as_plain(key, "the name of a row") for key in origin.rows],
        "duals": [[as_plain(key, "the name of a row"), float(value)] for key, value in origin.duals.items() if value],
    }
    if origin.answer is not None:
        kept = _kept_answer(origin.answer, origin.plainly)
        said["answer"] = [
            [[as_plain(structure, "the structure of a column"), value] for structure, value in kept.columns],
            [[as_plain(key, "the name of a variable"), value] for key, value in kept.variables.items()],
        ]
    text = np.frombuffer(json.dumps(plain, separators=(",", ":")).encode(), dtype=np.uint8)
    arrays = {name: getattr(batch, name) for name in ARRAYS}
    write_sealed(path, FORMAT, said, {"structures": text, "reduced_costs": reduced_costs, **arrays})


def read_pool(path: Path | str) -> KeptPool:
    """Read a pool.

    Raises
    ------
    InputError
        If the file holds something else, or is damaged.
    """
    said, arrays = read_sealed(path, FORMAT)
    try:
        structures = [of_plain(data) for data in json.loads(arrays["structures"].tobytes())]
        names: list[Key] = [of_plain(key) for key in said["names"]]
        keys = None if said["keys"] is None else [of_plain(key) for key in said["keys"]]
        if len(set(names)) < len(names):
            raise InputError("expected each name of a row once")
        check_arrays(arrays, len(structures), len(names))
        batch = batch_of_data(arrays, names, structures, keys)
        separated: list[Key] = [of_plain(key) for key in said["separated"]]
        duals = {of_plain(key): _number(value) for key, value in said["duals"]}
        hash(tuple(separated))  # rows are looked up by their names
        reduced_costs = as_floats(arrays["reduced_costs"], "reduced costs", shape=(len(batch),), finite=False)
        answer = None
        if "answer" in said:
            used, variables = said["answer"]
            answer = KeptAnswer(
                [(of_plain(structure), _number(value)) for structure, value in used],
                {of_plain(key): _number(value) for key, value in variables},
            )
        return KeptPool(str(said["digest"]), structures, batch, reduced_costs, separated, duals, answer)
    except (*IMPOSSIBLE, ColgenError) as error:
        raise InputError(f"{path}: expected a pool that result.pool.save has written ({error})") from None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {str(value)[:40]!r}")
    return float(value)


def kept_pool(pool: Any) -> KeptPool:
    """A pool of this process, as :func:`read_pool` would read it.

    Raises
    ------
    InputError
        If nobody knows where it comes from.
    """
    origin: Origin | None = pool.origin
    if origin is None:
        raise InputError("pool: expected that of a run in this process, or the name of a file")
    structures = [origin.plainly(column.structure) for column in pool]
    columns = [dataclasses.replace(column, rows=()) if column.rows else column for column in pool]
    answer = None if origin.answer is None else _kept_answer(origin.answer, origin.plainly)
    return KeptPool(origin.digest(), structures, columns, pool.reduced_costs, origin.rows, origin.duals, answer)


def _kept_answer(answer: Solution, plainly: Plainly) -> KeptAnswer:
    return KeptAnswer([(plainly(column.structure), value) for column, value in answer.columns], answer.variables)


def _batch_of_pool(columns: Sequence[Column]) -> Columns:
    return _in_order(Columns.of([dataclasses.replace(column, rows=()) for column in columns]))


def _in_order(batch: Columns) -> Columns:
    """A batch of single columns over its own rows, each column by rising row number."""
    names = list(batch.row_keys or ())
    return batch.over(names, {key: k for k, key in enumerate(names)})


_FORMAT = "colgen columns 1"
_ARRAYS = ("costs", "starts", "rows", "values", "upper", "lower", "integer")


def save_columns(path: Path | str, columns: Sequence[Column]) -> None:
    """Write columns, say ``result.pool``, to a ``.npz`` file.

    Raises
    ------
    InputError
        If an index or a structure is made of anything but numbers, strings, None, tuples, lists, sets, dictionaries
        and arrays.
    """
    batch = _batch_of_columns(columns)
    names = batch.row_keys or ()
    said = {
        "format": _FORMAT,
        "rows": [as_plain(key, "the name of a row") for key in names],
        "keys": None if batch.keys is None else [as_plain(key, "a key") for key in batch.keys],
        "structures": [as_plain(batch.meanings.of(k), "a structure") for k in range(len(batch))],
    }
    text = np.frombuffer(json.dumps(said).encode(), dtype=np.uint8)
    with writing(path, "wb") as file:
        np.savez_compressed(file, said=text, **{name: getattr(batch, name) for name in _ARRAYS})


def load_columns(path: Path | str) -> Columns:
    """Read columns that :func:`save_columns` has written: a batch over rows by name, for any master that has them.

    Raises
    ------
    InputError
        If the file holds something else.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in _ARRAYS}
            said = json.loads(file["said"].tobytes())
        if said["format"] != _FORMAT:
            raise KeyError("format")
        keys = None if said["keys"] is None else [of_plain(key) for key in said["keys"]]
        batch = Columns(**arrays, structure=[of_plain(structure) for structure in said["structures"]], keys=keys)
        names: list[Key] = [of_plain(key) for key in said["rows"]]
        return batch.over(names, {key: k for k, key in enumerate(names)})
    except OSError:
        raise
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError, ColgenError) as error:
        raise InputError(f"{path}: expected a file of columns that save_columns has written ({error})") from None


def _batch_of_columns(columns: Sequence[Column]) -> Columns:
    batch = columns if isinstance(columns, Columns) else Columns.of(columns)
    if batch.row_keys is None:
        raise InputError("a batch of columns that no master has seen speaks of rows by number: it cannot be saved")
    for k in batch.meanings.brought:
        raise InputError(f"the column of {batch.meanings.of(k)!r} brings rows along: such columns cannot be saved")
    return batch if batch is columns else _in_order(batch)
