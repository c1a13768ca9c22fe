"""Pools of columns in files, for runs of the same instance or of changed ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.checkpoint.columns import (
    Converter,
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
    """The run that a pool comes from, as needed to save it.

    ``digest`` computes the digest of the instance. ``rows`` are names of separated rows. ``duals`` are dual values that
    prove the bound of the root, by names of rows. ``answer`` is the incumbent.
    """

    digest: Callable[[], str]
    to_plain: Converter
    rows: Sequence[Key] = ()
    duals: Mapping[Key, float] = field(default_factory=dict)
    answer: Solution | None = None


@dataclass(frozen=True)
class SavedPool:
    """The contents of a pool file, which are all guesses.

    Structures of columns from a file are plain data. ``reduced_costs`` are those at ``duals``, NaN if nothing was
    proved. ``rows`` are names of separated rows, and ``answer`` is the incumbent.
    """

    digest: str
    columns: Sequence[Column]
    reduced_costs: Floats
    rows: Sequence[Key]
    duals: Mapping[Key, float]
    answer: Solution | None = None
    to_plain: Converter = lambda structure: structure

    def structures(self, columns: Iterable[Column]) -> list[Any]:
        """Return the structures of columns as plain data."""
        return [self.to_plain(column.structure) for column in columns]

    def best(self, limit: int) -> Ints:
        """Return the ascending numbers of at most ``limit`` columns, those with reduced costs nearest to zero."""
        away = np.where(np.isnan(self.reduced_costs), 0.0, np.abs(self.reduced_costs))
        numbers: Ints = np.sort(np.argsort(away, kind="stable")[:limit])
        return numbers


def write_pool(path: Path | str, columns: Sequence[Column], reduced_costs: Floats, origin: Origin) -> None:
    """Write a pool; raise an ``InputError`` if it contains data that cannot be written."""
    description, arrays = write_columns("columns", columns, origin.to_plain)
    fields: dict[str, Any] = {
        "digest": origin.digest(),
        "columns": description,
        "separated": [as_plain(key, "the name of a row") for key in origin.rows],
        "duals": [[as_plain(key, "the name of a row"), float(value)] for key, value in origin.duals.items() if value],
        "answer": None,
    }
    if origin.answer is not None:
        fields["answer"], more = write_solution("answer", origin.answer, origin.to_plain)
        arrays |= more
    write_sealed(path, FORMAT, fields, arrays | {"reduced_costs": reduced_costs})


def read_pool(path: Path | str) -> SavedPool:
    """Read a pool; raise an ``InputError`` if the file is no pool or is damaged."""
    fields, arrays = read_sealed(path, FORMAT)
    try:
        columns = read_columns("columns", fields["columns"], arrays)
        separated: list[Key] = [of_plain(key) for key in fields["separated"]]
        duals = {of_plain(key): finite_number(value) for key, value in fields["duals"]}
        hash(tuple(separated))  # names of rows must be hashable
        reduced_costs = as_floats(arrays["reduced_costs"], "reduced costs", shape=(len(columns),), finite=False)
        answer = None if fields["answer"] is None else read_solution("answer", fields["answer"], arrays)
        return SavedPool(str(fields["digest"]), columns, reduced_costs, separated, duals, answer)
    except (*IMPOSSIBLE, ColgenError) as error:
        raise InputError(f"{path}: expected a pool written by result.pool.save ({error})") from None


def as_saved_pool(pool: Any) -> SavedPool:
    """Return a pool of this process as :func:`read_pool` would. Other pools have no origin and are an error."""
    origin: Origin | None = pool.origin
    if origin is None:
        raise InputError("start: expected a pool of a run in this process, or a file name")
    columns = [dataclasses.replace(column, rows=()) if column.rows else column for column in pool]
    fields = (origin.digest(), columns, pool.reduced_costs, origin.rows, origin.duals, origin.answer)
    return SavedPool(*fields, to_plain=origin.to_plain)
