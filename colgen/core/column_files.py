"""Columns in a file: arrays in NumPy's ``.npz``, names and structures as JSON; nothing in it runs when it is read."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from colgen.core.batches import Columns
from colgen.core.columns import Column, Key
from colgen.core.errors import ColgenError, InputError
from colgen.core.files import writing
from colgen.core.plain import as_plain, of_plain

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
    batch = _as_batch(columns)
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


def _as_batch(columns: Sequence[Column]) -> Columns:
    if isinstance(columns, Columns):
        if columns.row_keys is None:
            raise InputError("a batch of columns that no master has seen speaks of rows by number: it cannot be saved")
        if not columns.brings_rows:
            return columns
    position: dict[Key, int] = {}
    for column in columns:
        if column.rows:
            raise InputError(f"the column of {column.structure!r} brings rows along: such columns cannot be saved")
        for key in column.coefficients:
            position.setdefault(key, len(position))
    return Columns.of(columns, list(position), position)
