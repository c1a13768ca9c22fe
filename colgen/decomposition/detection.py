"""Detection of blocks: the connected components of a model without its linking rows, with a score."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from colgen.core.lazy_imports import import_name
from colgen.core.text import plural
from colgen.decomposition.blocks.oracles import describe_blocks
from colgen.decomposition.blocks.unimodular import remarks
from colgen.decomposition.reading.arrays import Ints, Reading, read
from colgen.decomposition.reading.partition import MASTER, By, Partition, partition
from colgen.decomposition.reading.subproblems import has_rays, split

_FAMILIES = 12
"""Maximum number of constraint families for which all pairs are tried as linking rows."""

_SIZES = 8
"""Number of row lengths, the longest ones; for each, all rows of at least this length are tried as linking rows."""

_SHARE = 0.2
"""A row that touches more than this share of the blocks is a linking row."""


@dataclass(frozen=True, eq=False)
class FoundBlocks:
    """Blocks found in a model, with a score.

    Attributes
    ----------
    partition
        The block of each variable and row.
    linking
        The constraint families of the linking rows.
    score
        The share of the matrix that is zero by its block structure; 0 if the decomposition cannot pay off.
    remarks
        Reasons why it cannot pay off, one sentence each.
    """

    reading: Reading
    partition: Partition
    linking: tuple[str, ...]
    score: float
    remarks: tuple[str, ...] = ()

    @cached_property
    def recognized(self) -> str:
        """The recognized kinds of blocks, such as "3 knapsacks"; kernels price these, HiGHS the others."""
        return describe_blocks([block for block in split(self.reading, self.partition) if not has_rays(block)])

    def __str__(self) -> str:
        part = self.partition
        rows = np.bincount(part.of_row[part.of_row != MASTER], minlength=len(part.names))
        columns = np.bincount(part.of_column[part.of_column != MASTER], minlength=len(part.names))
        static = int((part.of_column == MASTER).sum())
        return "\n".join(
            [
                f"{plural(len(part.names), 'block')} of {_span(rows, 'row')} and {_span(columns, 'variable')}, linked "
                f"by {plural(len(part.linking), 'row')} ({', '.join(self.linking) or 'none'})"
                + (f", with {plural(static, 'variable')} in the master" if static else "")
                + (f", priced as {self.recognized}" if self.recognized else "")
                + f"; score {self.score:.2f}",
                *self.remarks,
            ]
        )

    def draw(self, path: Any = None) -> Any:
        """Return a figure of the matrix sorted by blocks, an arrowhead; requires matplotlib.

        Parameters
        ----------
        path
            File to write the figure to; None: no file.
        """
        return import_name("reporting.arrowhead", "arrowhead")(self.reading.rows, self.partition, path)


def find_blocks(model: pyo.ConcreteModel, by: By = None) -> FoundBlocks | None:
    """Return the blocks of a model, or None if it does not decompose.

    Several sets of linking rows are tried: the set partitioning, packing and covering rows; each family of constraints
    and each pair of families; and the longest rows.  The other rows form connected components, the blocks.  Rows that
    touch many blocks then join the linking rows.  Of the decompositions that can pay off, the one with the highest
    score is returned.

    Parameters
    ----------
    by
        The definition of the blocks, as in :func:`decompose`; these are then scored instead.  None: detect blocks,
        without regard to blocks that the model defines.

    Returns
    -------
    FoundBlocks or None
        The decomposition that ``decompose(model, found)`` uses.

    Raises
    ------
    InputError
        If the model is not linear, or ``by`` defines no block.
    """
    reading = read(model)
    if by is None:
        return find_in(reading)
    return _score_blocks(reading, partition(reading, by))


def find_in(reading: Reading) -> FoundBlocks | None:
    """Return the blocks detected in a model, or None if it does not decompose."""
    seen: set[bytes] = set()
    best: FoundBlocks | None = None
    for linking in _candidates(reading):
        blocks = _components(reading, linking)
        if blocks is None or blocks.of_row.tobytes() in seen:
            continue
        seen.add(blocks.of_row.tobytes())
        if best is not None and best.score >= _score(reading, blocks) > 0.0:
            continue
        found = _score_blocks(reading, blocks)
        if best is None or found.score > best.score:
            best = found
    return best


def _score_blocks(reading: Reading, blocks: Partition) -> FoundBlocks:
    said = remarks(split(reading, blocks))
    return FoundBlocks(reading, blocks, _families(reading, blocks), 0.0 if said else _score(reading, blocks), said)


def _candidates(reading: Reading) -> Iterator[NDArray[np.bool_]]:
    """Yield masks of candidates for linking rows."""
    names = [key[0] for key in reading.formulation.row_keys]
    families = list(dict.fromkeys(names))
    masks = [np.array([name == family for name in names], dtype=np.bool_) for family in families]
    yield np.zeros(len(names), dtype=np.bool_)
    yield _partitioning(reading)
    yield from masks
    sizes = np.diff(reading.rows.indptr)
    for size in np.unique(sizes)[-_SIZES:].tolist():
        yield sizes >= size
    if len(families) <= _FAMILIES:
        for one, other in itertools.combinations(masks, 2):
            yield one | other


def _partitioning(reading: Reading) -> NDArray[np.bool_]:
    """Return a mask of the rows with coefficients 1 over integer variables and a side of 1."""
    f, rows = reading.formulation, reading.rows
    found = np.zeros(rows.shape[0], dtype=np.bool_)
    for row in range(rows.shape[0]):
        mine = slice(rows.indptr[row], rows.indptr[row + 1])
        ones = (rows.data[mine] == 1.0).all() and f.integer[rows.indices[mine]].all()
        found[row] = ones and (f.row_lower[row] == 1.0 or f.row_upper[row] == 1.0)
    return found


def _components(reading: Reading, linking: NDArray[np.bool_]) -> Partition | None:
    """Return the components without linking rows, or None if fewer than two have rows."""
    labels = _labels(reading, linking)
    reach = _reach(reading, labels)
    wide = ~linking & (reach > max(_SHARE * (labels.max(initial=-1) + 1), 1))
    labels = _labels(reading, linking | wide)
    count = int(labels.max(initial=-1)) + 1
    if count < 2:
        return None
    rows = np.full(len(linking), MASTER)
    matrix = reading.rows
    own = ~(linking | wide) & (np.diff(matrix.indptr) > 0)
    rows[own] = labels[matrix.indices[matrix.indptr[:-1][own]]]
    return Partition(tuple(range(count)), labels, rows)


def _labels(reading: Reading, linking: NDArray[np.bool_]) -> Ints:
    """Return the component of each variable, numbered in order; :data:`MASTER` for variables in linking rows only."""
    matrix = sparse.csr_array(reading.rows[np.flatnonzero(~linking), :])
    size = matrix.shape[1]
    graph = sparse.coo_array(matrix)
    edges = (np.ones(graph.nnz), (graph.row + size, graph.col))
    adjacency = sparse.csr_array(edges, shape=(size + matrix.shape[0], size + matrix.shape[0]))
    labels = connected_components(adjacency, directed=False)[1][:size].astype(np.int64)
    alone = np.bincount(graph.col, minlength=size) == 0
    labels[alone] = MASTER
    order = {label: k for k, label in enumerate(dict.fromkeys(labels[~alone].tolist()))}
    return np.array([order.get(label, MASTER) for label in labels.tolist()], dtype=np.int64)


def _reach(reading: Reading, labels: Ints) -> Ints:
    """Return the number of components that each row touches."""
    matrix = sparse.coo_array(reading.rows)
    pairs = np.unique(np.stack([matrix.row, labels[matrix.col]]), axis=1)
    return np.bincount(pairs[0], minlength=matrix.shape[0])


def _score(reading: Reading, partition: Partition) -> float:
    """Return the share of the matrix outside blocks, linking rows and static variables."""
    height, width = reading.rows.shape
    rows = np.bincount(partition.of_row[partition.of_row != MASTER], minlength=len(partition.names))
    columns = np.bincount(partition.of_column[partition.of_column != MASTER], minlength=len(partition.names))
    static = width - int(columns.sum())
    filled = float(rows @ columns) + float(len(partition.linking) * width) + float(rows.sum() * static)
    return float(1.0 - filled / (height * width))


def _families(reading: Reading, partition: Partition) -> tuple[str, ...]:
    keys = reading.formulation.row_keys
    return tuple(dict.fromkeys(keys[row][0] for row in partition.linking.tolist()))


def _span(counts: Ints | Sequence[int], noun: str) -> str:
    low, high = int(min(counts)), int(max(counts))
    return plural(low, noun) if low == high else f"{low} to {plural(high, noun)}"
