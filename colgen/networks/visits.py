"""Rows of a model that count visits of vertices: partitioning, packing and covering rows over arcs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from colgen.networks.block import PathBlock
from colgen.networks.graph import Ints


@dataclass(frozen=True, eq=False)
class VisitRows:
    """The rows that count visits, by block and vertex.

    Attributes
    ----------
    rows
        Numbers of the rows whose entries over arcs are 1 for all arcs into (or out of) some vertices, and no others.
    of_vertex
        For each block: a row that each vertex of its network is counted in, -1 for none.
    complete
        Whether these are all entries of arcs in rows of the master: paths with the same visits are then equivalent.
    """

    rows: Ints
    of_vertex: tuple[Ints, ...]
    complete: bool


def visit_rows(blocks: Sequence[PathBlock], rows: int) -> VisitRows:
    """Return the rows that count visits in all blocks."""
    counted = [_counted(block, rows) for block in blocks]
    touched = np.zeros(rows, dtype=np.bool_)
    good = np.ones(rows, dtype=np.bool_)
    for block, (_, valid) in zip(blocks, counted, strict=True):
        mine = np.zeros(rows, dtype=np.bool_)
        mine[block.linking.indices] = True
        touched |= mine
        good &= ~mine | valid
    chosen = touched & good
    of_vertex, complete = [], bool((touched == chosen).all())
    tracked = chosen.copy()
    for block, (pairs, _) in zip(blocks, counted, strict=True):
        vertex_rows = np.full(block.network.num_vertices, -1, dtype=np.int64)
        for vertex, row in pairs.tolist():
            if not chosen[row]:
                continue
            if vertex_rows[vertex] < 0:
                vertex_rows[vertex] = row
            else:  # a vertex belongs to one row that labels track
                tracked[row] = False
        of_vertex.append(vertex_rows)
    of_vertex = [np.where(np.isin(each, np.flatnonzero(tracked)), each, -1) for each in of_vertex]
    return VisitRows(np.flatnonzero(tracked), tuple(of_vertex), complete)


def _counted(block: PathBlock, rows: int) -> tuple[Ints, np.ndarray]:
    """Return pairs (vertex, row) in which a row counts all visits of a vertex, and the mask of rows with no others."""
    network = block.network
    entries = sparse.coo_array(block.linking)
    arcs, of_row = entries.coords[0], entries.coords[1]
    total = np.bincount(of_row, minlength=rows)
    ones = np.bincount(of_row[entries.data == 1.0], minlength=rows) == total
    best = np.zeros((0, 2), dtype=np.int64)
    valid = np.zeros(rows, dtype=np.bool_)
    for ends, outer in ((network.heads, network.sink), (network.tails, network.source)):
        degree = np.bincount(ends, minlength=network.num_vertices)
        codes, times = np.unique(of_row * network.num_vertices + ends[arcs], return_counts=True)
        row, vertex = np.divmod(codes, network.num_vertices)
        full = (times == degree[vertex]) & (vertex != outer) & (vertex != network.source) & (vertex != network.sink)
        covered = np.bincount(row[full], weights=times[full], minlength=rows)
        mine = ones & (covered == total) & (total > 0) & ~valid
        chosen = full & mine[row]
        best = np.concatenate([best, np.stack([vertex[chosen], row[chosen]], axis=1)])
        valid |= mine
    return best, valid
