"""Pools of columns in files: what a run leaves for others, of changed instances too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.checkpoint.columns import (
    Plainly,
    finite_number,
    read_columns,
    read_solution,
    write_columns,
    write_solution,
)
from colgen.core.columns import Column, Key
from colgen.core.errors import ColgenError, InputError
from colgen.core.serialization import IMPOSSIBLE, as_plain, of_plain, read_sealed, write_sealed
from colgen.core.solution import Solution
from colgen.solvers.arrays import as_floats

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FORMAT = "colgen pool 3"


@dataclass(frozen=True)
class Origin:
    """Where a pool comes from: what saving it needs.

    Attributes
    ----------
    digest
        Computes the digest of the instance.
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
    duals: Mapping[Key, float] = field(default_factory=dict)
    answer: Solution | None = None


@dataclass(frozen=True)
class KeptPool:
    """What a file of a pool holds: all of it guesses.

    Attributes
    ----------
    digest
        Of the instance that the columns are of.
    columns
        As they were; from a file, with structures that are plain data.
    reduced_costs
        Of the columns, at the dual values below; not a number where nothing was proved.
    rows, duals
        Names of separated rows, and dual values by the names of rows.
    answer
        The best one, of columns likewise; None if there was none.
    plainly
        Makes plain data of the structures.
    """

    digest: str
    columns: Sequence[Column]
    reduced_costs: Floats
    rows: Sequence[Key]
    duals: Mapping[Key, float]
    answer: Solution | None = None
    plainly: Plainly = lambda structure: structure

    def structures(self, columns: Iterable[Column]) -> list[Any]:
        """Return the structures of columns as plain data."""
        return [self.plainly(column.structure) for column in columns]

    def best(self, limit: int) -> Ints:
        """Return the numbers, rising, of at most so many columns: those whose reduced cost is nearest to zero."""
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
    described, arrays = write_columns("columns", columns, origin.plainly)
    said: dict[str, Any] = {
        "digest": origin.digest(),
        "columns": described,
        "separated": [as_plain(key, "the name of a row") for key in origin.rows],
        "duals": [[as_plain(key, "the name of a row"), float(value)] for key, value in origin.duals.items() if value],
        "answer": None,
    }
    if origin.answer is not None:
        said["answer"], more = write_solution("answer", origin.answer, origin.plainly)
        arrays |= more
    write_sealed(path, FORMAT, said, arrays | {"reduced_costs": reduced_costs})


def read_pool(path: Path | str) -> KeptPool:
    """Read a pool.

    Raises
    ------
    InputError
        If the file holds something else, or is damaged.
    """
    said, arrays = read_sealed(path, FORMAT)
    try:
        columns = read_columns("columns", said["columns"], arrays)
        separated: list[Key] = [of_plain(key) for key in said["separated"]]
        duals = {of_plain(key): finite_number(value) for key, value in said["duals"]}
        hash(tuple(separated))  # rows are looked up by their names
        reduced_costs = as_floats(arrays["reduced_costs"], "reduced costs", shape=(len(columns),), finite=False)
        answer = None if said["answer"] is None else read_solution("answer", said["answer"], arrays)
        return KeptPool(str(said["digest"]), columns, reduced_costs, separated, duals, answer)
    except (*IMPOSSIBLE, ColgenError) as error:
        raise InputError(f"{path}: expected a pool that result.pool.save has written ({error})") from None


def kept_pool(pool: Any) -> KeptPool:
    """Return a pool of this process, as :func:`read_pool` would read it.

    Raises
    ------
    InputError
        If it is of another process: nothing tells then where it comes from.
    """
    origin: Origin | None = pool.origin
    if origin is None:
        raise InputError("pool: expected that of a run in this process, or the name of a file")
    columns = [dataclasses.replace(column, rows=()) if column.rows else column for column in pool]
    kept = (origin.digest(), columns, pool.reduced_costs, origin.rows, origin.duals, origin.answer)
    return KeptPool(*kept, plainly=origin.plainly)
