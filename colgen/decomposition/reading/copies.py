"""Copies of linking variables, one for each further block, equal to the original by a row of the master."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Ints, Names, Partition
from colgen.model.rows import Rows


def copy_linking(compact: CompactModel, partition: Partition) -> tuple[CompactModel, Partition]:
    """Return a model in which each variable is in the rows of one block; the same model if each is already.

    A linking variable stays in its block, or in the master.  Each other block gets a copy with the same bounds, and the
    master a row that keeps both equal.  ``to_user`` of the new model removes the copies.
    """
    f, entries = compact.formulation, sparse.coo_array(compact.formulation.matrix)
    foreign = _foreign(entries, partition)
    if not len(foreign):
        return compact, partition
    columns = entries.col.astype(np.int64)
    pairs = np.stack([columns[foreign], partition.of_row[entries.row[foreign]]])
    (copied, blocks), place = np.unique(pairs, axis=1, return_inverse=True)
    (height, width), count = entries.shape, len(copied)
    columns[foreign] = width + place.reshape(-1)
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


def linking_variables(compact: CompactModel, partition: Partition) -> Ints:
    """Return the variables that are in a row of a block other than their own."""
    entries = sparse.coo_array(compact.formulation.matrix)
    return np.unique(entries.col[_foreign(entries, partition)]).astype(np.int64)


def _foreign(entries: sparse.coo_array, partition: Partition) -> Ints:
    """Return the entries of blocks' rows whose variables are in another block, or in the master."""
    owner = partition.of_row[entries.row]
    return np.flatnonzero((owner != MASTER) & (owner != partition.of_column[entries.col]))


def _new_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
