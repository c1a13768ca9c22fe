"""Copies of linking variables, one for each further block, equal to the original by a row of the master."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Ints, Names, Partition, unused_name
from colgen.model.rows import Rows


def copy_linking(compact: CompactModel, partition: Partition) -> tuple[CompactModel, Partition]:
    """Return a model in which each variable is in the rows of one block; the same model if each is already.

    A linking variable stays in its block, or in the master.  Each other block gets a copy with the same bounds, and the
    master a row that keeps both equal.  A variable of the master brings the rows with it that are over variables of the
    master alone, such as those of a first stage: the block then prices points that satisfy these too, which improves
    the bound.  ``to_user`` of the new model removes the copies.
    """
    f, entries = compact.formulation, sparse.coo_array(compact.formulation.matrix)
    foreign = _foreign(entries, partition)
    if not len(foreign):
        return compact, partition
    (height, width), blocks = entries.shape, len(partition.names)
    columns, owners = entries.col.astype(np.int64), partition.of_row[entries.row]
    parts, repeated = _parts_of_master(compact, partition)
    linked = np.unique(columns[foreign] * blocks + owners[foreign])
    of_master = linked[parts[linked // blocks] >= 0]
    reached = np.unique(parts[of_master // blocks] * blocks + of_master % blocks)  # pairs of a part and a block
    whole = [np.flatnonzero(parts == pair // blocks) * blocks + pair % blocks for pair in reached.tolist()]
    pairs: Ints = np.unique(np.concatenate([linked, *whole]))
    copied, owner = np.divmod(pairs, blocks)
    columns[foreign] = width + np.searchsorted(pairs, columns[foreign] * blocks + owners[foreign])
    count, equal = len(pairs), np.arange(len(pairs))
    rows_of_part = {int(part): np.flatnonzero(repeated == part) for part in np.unique(reached // blocks)}
    again = [(rows_of_part[pair // blocks], int(pair % blocks)) for pair in reached.tolist()]
    matrices = [sparse.csc_array((entries.data, (entries.row, columns)), shape=(height, width + count))]
    matrices.append(
        sparse.csc_array(
            (np.tile([1.0, -1.0], (count, 1)).T.ravel(), (np.tile(equal, 2), np.append(copied, width + equal))),
            shape=(count, width + count),
        )
    )
    for rows, block in again:
        own = sparse.coo_array(compact.rows[rows, :])
        place = width + np.searchsorted(pairs, own.col.astype(np.int64) * blocks + block)
        matrices.append(sparse.csc_array((own.data, (own.row, place)), shape=(len(rows), width + count)))
    taken = np.concatenate([rows for rows, _ in again]) if again else np.empty(0, dtype=np.int64)
    of_taken = np.repeat([block for _, block in again], [len(rows) for rows, _ in again]).astype(np.int64)
    keys = [unused_name(name, f.row_keys) for name in ("equal_copies", "copied_rows")]
    copy = unused_name("copy", f.column_keys)
    formulation = Rows.of_arrays(
        f.sense,
        sparse.csc_array(sparse.vstack(matrices)),
        columns=(
            (*f.column_keys, *((copy, k) for k in range(count))),
            np.concatenate([f.costs, np.zeros(count)]),
            np.concatenate([f.lower, f.lower[copied]]),
            np.concatenate([f.upper, f.upper[copied]]),
        ),
        rows=(
            (*f.row_keys, *((keys[0], k) for k in range(count)), *((keys[1], k) for k in range(len(taken)))),
            np.concatenate([f.row_lower, np.zeros(count), f.row_lower[taken]]),
            np.concatenate([f.row_upper, np.zeros(count), f.row_upper[taken]]),
        ),
        integer=np.concatenate([f.integer, f.integer[copied]]),
        artificial=np.concatenate([f.artificial, f.artificial[copied]]),
        offset=f.offset,
    )
    source, names = compact.source, partition.names
    variables = _in_blocks(source.variable_names, copied, owner, partition)
    constraints = _in_blocks(source.constraint_names, taken, of_taken, partition)
    extended = Names(
        source.name,
        (*source.variable_names, *variables),
        (*source.constraint_names, *(f"copy {name}" for name in variables), *constraints),
    )
    return (
        dataclasses.replace(compact, formulation=formulation, source=extended, copied=copied, blocks=None),
        Partition(
            names,
            np.concatenate([partition.of_column, owner]),
            np.concatenate([partition.of_row, np.full(count, MASTER), of_taken]),
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


def _parts_of_master(compact: CompactModel, partition: Partition) -> tuple[Ints, Ints]:
    """Return the connected part of each variable of the master, and of each row over such variables; others are -1."""
    matrix = compact.rows
    static = partition.of_column == MASTER
    filled = np.diff(matrix.indptr) > 0
    own = filled & (abs(matrix) @ (~static).astype(float) == 0.0) & (partition.of_row == MASTER)
    entries = sparse.coo_array(matrix[np.flatnonzero(own), :])
    height, width = entries.shape
    edges = (np.ones(entries.nnz), (entries.row, entries.col + height))
    graph = sparse.csr_array(edges, shape=(height + width, height + width))
    labels = connected_components(graph, directed=False)[1].astype(np.int64)
    rows = np.full(matrix.shape[0], -1)
    rows[own] = labels[:height]
    return np.where(static, labels[height:], -1), rows


def _in_blocks(names: tuple[str, ...], chosen: Ints, blocks: Ints, partition: Partition) -> list[str]:
    """Return the names of copies."""
    return [f"{names[k]} in block {partition.names[b]}" for k, b in zip(chosen.tolist(), blocks.tolist(), strict=True)]
