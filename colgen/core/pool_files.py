"""Pools of columns between runs: a file of arrays and plain data, of which nothing is believed."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.batches import Columns
from colgen.core.column_data import ARRAYS, Plainly, batch_of_data, check_arrays
from colgen.core.columns import Column, Key
from colgen.core.errors import ColgenError, InputError
from colgen.core.plain import as_plain, of_plain
from colgen.core.sealed_files import IMPOSSIBLE, read_sealed, write_sealed
from colgen.core.solution import Solution
from solvers.arrays import as_floats

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
    batch = columns if isinstance(columns, Columns) else _as_batch(columns)
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


def _as_batch(columns: Sequence[Column]) -> Columns:
    position: dict[Key, int] = {}
    for column in columns:
        for key in column.coefficients:
            position.setdefault(key, len(position))
    return Columns.of([dataclasses.replace(column, rows=()) for column in columns], list(position), position)
