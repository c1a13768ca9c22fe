"""Blocks of a model, found: connected components once linking rows are taken out, and what speaks for them."""

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
from colgen.decomposition.blocks.oracles import describe_blocks
from colgen.decomposition.blocks.unimodular import remarks
from colgen.decomposition.reading.arrays import Ints, Reading, read
from colgen.decomposition.reading.partition import MASTER, By, Partition, partition
from colgen.decomposition.reading.subproblems import has_rays, split

_FAMILIES = 12
"""Of so many families of constraints, each two are tried together as linking ones."""

_SIZES = 8
"""Of so many different lengths of rows, the longest, all rows that are no shorter are tried together."""

_SHARE = 0.2
"""A row over more than this share of the blocks links them."""


@dataclass(frozen=True, eq=False)
class FoundBlocks:
    """Blocks that a model falls into, and what speaks for them.

    Attributes
    ----------
    partition
        Of variables and rows.
    linking
        The families of constraints that were taken out.
    score
        The share of the matrix that is known to be zero once its rows and columns are sorted by blocks; 0 if the
        decomposition cannot pay.
    remarks
        Why it cannot, a sentence each.
    """

    reading: Reading
    partition: Partition
    linking: tuple[str, ...]
    score: float
    remarks: tuple[str, ...] = ()

    @cached_property
    def recognized(self) -> str:
        """What the blocks have been recognized as, such as "3 knapsacks": kernels price these, HiGHS the others."""
        return describe_blocks([block for block in split(self.reading, self.partition) if not has_rays(block)])

    def __str__(self) -> str:
        part = self.partition
        rows = np.bincount(part.of_row[part.of_row != MASTER], minlength=len(part.names))
        columns = np.bincount(part.of_column[part.of_column != MASTER], minlength=len(part.names))
        static = int((part.of_column == MASTER).sum())
        return "\n".join(
            [
                f"{len(part.names)} blocks of {_span(rows)} rows and {_span(columns)} variables, linked by "
                f"{len(part.linking)} rows ({', '.join(self.linking) or 'none'})"
                + (f", with {static} variables in the master" if static else "")
                + (f", priced as {self.recognized}" if self.recognized else "")
                + f"; score {self.score:.2f}",
                *self.remarks,
            ]
        )

    def draw(self, path: Any = None) -> Any:
        """The matrix with its rows and columns sorted by blocks: an arrowhead (matplotlib must be installed).

        Parameters
        ----------
        path
            Of a picture to write; None: the figure is returned alone.
        """
        return import_name("reporting.arrowhead", "arrowhead")(self.reading.rows, self.partition, path)


def find_blocks(model: pyo.ConcreteModel, by: By = None) -> FoundBlocks | None:
    """What blocks a model has, if any: those that are said, or found where nothing is said.

    Tried are, as linking rows: set partitioning, packing and covering rows; each family of constraints and each two of
    them; the longest rows; and beside each of these the rows that reach over many of the blocks.  What is left falls
    into connected components.  Of the decompositions that can pay the one of the highest score is taken.

    Parameters
    ----------
    by
        What makes a block, as in :func:`decompose`: nothing is looked for then, these blocks are shown.  None: they are
        looked for, whatever the model says of blocks itself.

    Returns
    -------
    FoundBlocks or None
        What ``decompose(model, found)`` would do; None if the model is all one piece.

    Raises
    ------
    InputError
        If the model is not linear, or ``by`` leaves no block.
    """
    reading = read(model)
    if by is None:
        return find_in(reading)
    return _weighed(reading, partition(reading, by))


def find_in(reading: Reading) -> FoundBlocks | None:
    """The same, of a model that has been read."""
    seen: set[bytes] = set()
    best: FoundBlocks | None = None
    for linking in _candidates(reading):
        blocks = _components(reading, linking)
        if blocks is None or blocks.of_row.tobytes() in seen:
            continue
        seen.add(blocks.of_row.tobytes())
        if best is not None and best.score >= _score(reading, blocks) > 0.0:
            continue
        found = _weighed(reading, blocks)
        if best is None or found.score > best.score:
            best = found
    return best


def _weighed(reading: Reading, blocks: Partition) -> FoundBlocks:
    """What speaks for some blocks, and what against them."""
    said = remarks(split(reading, blocks))
    return FoundBlocks(reading, blocks, _families(reading, blocks), 0.0 if said else _score(reading, blocks), said)


def _candidates(reading: Reading) -> Iterator[NDArray[np.bool_]]:
    """Masks of rows that may be the linking ones."""
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
    """Rows of ones over whole variables with a side of 1."""
    f, rows = reading.formulation, reading.rows
    found = np.zeros(rows.shape[0], dtype=np.bool_)
    for row in range(rows.shape[0]):
        mine = slice(rows.indptr[row], rows.indptr[row + 1])
        ones = (rows.data[mine] == 1.0).all() and f.integer[rows.indices[mine]].all()
        found[row] = ones and (f.row_lower[row] == 1.0 or f.row_upper[row] == 1.0)
    return found


def _components(reading: Reading, linking: NDArray[np.bool_]) -> Partition | None:
    """The components without some rows; None if there are not two of them with rows."""
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
    """The component of each variable, in order of appearance; :data:`MASTER` for those that no other row holds."""
    matrix = sparse.csr_array(reading.rows[np.flatnonzero(~linking), :])
    size = matrix.shape[1]
    graph = sparse.coo_array(matrix)
    edges = (np.ones(graph.nnz), (graph.row + size, graph.col))
    whole = sparse.csr_array(edges, shape=(size + matrix.shape[0], size + matrix.shape[0]))
    labels = connected_components(whole, directed=False)[1][:size].astype(np.int64)
    alone = np.bincount(graph.col, minlength=size) == 0
    labels[alone] = MASTER
    order = {label: k for k, label in enumerate(dict.fromkeys(labels[~alone].tolist()))}
    return np.array([order.get(label, MASTER) for label in labels.tolist()], dtype=np.int64)


def _reach(reading: Reading, labels: Ints) -> Ints:
    """Over how many components each row goes."""
    matrix = sparse.coo_array(reading.rows)
    pairs = np.unique(np.stack([matrix.row, labels[matrix.col]]), axis=1)
    return np.bincount(pairs[0], minlength=matrix.shape[0])


def _score(reading: Reading, partition: Partition) -> float:
    """The share of the matrix outside of blocks, linking rows and static variables."""
    height, width = reading.rows.shape
    rows = np.bincount(partition.of_row[partition.of_row != MASTER], minlength=len(partition.names))
    columns = np.bincount(partition.of_column[partition.of_column != MASTER], minlength=len(partition.names))
    static = width - int(columns.sum())
    filled = float(rows @ columns) + float(len(partition.linking) * width) + float(rows.sum() * static)
    return float(1.0 - filled / (height * width))


def _families(reading: Reading, partition: Partition) -> tuple[str, ...]:
    keys = reading.formulation.row_keys
    return tuple(dict.fromkeys(keys[row][0] for row in partition.linking.tolist()))


def _span(counts: Ints | Sequence[int]) -> str:
    low, high = int(min(counts)), int(max(counts))
    return str(low) if low == high else f"{low} to {high}"
