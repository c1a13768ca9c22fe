"""Copies of linking variables, one for each further block, equal to the original by a row of the master."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Names, Partition
from colgen.model.rows import Rows


def copy_linking(compact: CompactModel, partition: Partition) -> tuple[CompactModel, Partition]:
    """Return a model in which each variable is in one block; the same model if each is already.

    A linking variable stays in its first block.  Each further block gets a copy with the same bounds, and the master a
    row that keeps both equal.  ``to_user`` of the new model removes the copies.
    """
    if not partition.further:
        return compact, partition
    f, entries = compact.formulation, sparse.coo_array(compact.formulation.matrix)
    copied = np.array([column for column, _ in partition.further], dtype=np.int64)
    blocks = np.array([block for _, block in partition.further], dtype=np.int64)
    (height, width), count = entries.shape, len(copied)
    place = {pair: width + k for k, pair in enumerate(partition.further)}
    columns = entries.col.astype(np.int64)
    is_linking = np.isin(columns, copied)
    owner = partition.of_row[entries.row]
    for k in np.flatnonzero(is_linking & (owner != MASTER)).tolist():
        columns[k] = place.get((int(columns[k]), int(owner[k])), columns[k])
    equal = np.arange(count)
    matrix = sparse.csc_array(
        (
            np.concatenate([entries.data, np.ones(count), -np.ones(count)]),
            (
                np.concatenate([entries.row, height + equal, height + equal]),
                np.concatenate([columns, copied, width + equal]),
            ),
        ),
        shape=(height + count, width + count),
    )
    keys = (
        _new_name("copy", {key[0] for key in f.column_keys}),
        _new_name("equal_copies", {key[0] for key in f.row_keys}),
    )
    formulation = Rows.of_arrays(
        f.sense,
        matrix,
        columns=(
            (*f.column_keys, *((keys[0], k) for k in range(count))),
            np.concatenate([f.costs, np.zeros(count)]),
            np.concatenate([f.lower, f.lower[copied]]),
            np.concatenate([f.upper, f.upper[copied]]),
        ),
        rows=(
            (*f.row_keys, *((keys[1], k) for k in range(count))),
            np.concatenate([f.row_lower, np.zeros(count)]),
            np.concatenate([f.row_upper, np.zeros(count)]),
        ),
        integer=np.concatenate([f.integer, f.integer[copied]]),
        artificial=np.concatenate([f.artificial, f.artificial[copied]]),
        offset=f.offset,
    )
    source, names = compact.source, partition.names
    copies = [
        f"{source.variable_names[v]} in block {names[b]}" for v, b in zip(copied.tolist(), blocks.tolist(), strict=True)
    ]
    extended = Names(
        source.name,
        (*source.variable_names, *copies),
        (*source.constraint_names, *(f"copy {name}" for name in copies)),
    )
    return (
        dataclasses.replace(compact, formulation=formulation, source=extended, copied=copied, blocks=None),
        Partition(
            names,
            np.concatenate([partition.of_column, blocks]),
            np.concatenate([partition.of_row, np.full(count, MASTER)]),
        ),
    )


def _new_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
