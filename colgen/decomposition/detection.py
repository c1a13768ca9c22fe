"""Detection of blocks: the connected components of a model without its linking rows, with a score."""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import networkx as nx
import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from colgen.core.lazy_imports import import_name
from colgen.core.text import plural
from colgen.decomposition.benders.two_stage import has_linear_stages
from colgen.decomposition.blocks.oracles import describe_blocks
from colgen.decomposition.blocks.unimodular import remarks
from colgen.decomposition.reading.compact_model import (
    MASTER,
    REMOVED,
    CompactModel,
    Ints,
    Partition,
    PyomoSource,
    as_compact,
)
from colgen.decomposition.reading.decomposition_files import write_dec
from colgen.decomposition.reading.partition import By, partition
from colgen.decomposition.reading.subproblems import has_rays, split

_FAMILIES = 12
"""Maximum number of constraint families for which all pairs are tried as linking rows."""

_MOST_WORK = 20_000_000
"""Limit on the matrix entries of all families that are tried as linking rows."""

_SIZES = 8
"""Number of row lengths, the longest ones; for each, all rows of at least this length are tried as linking rows."""

_LARGE = 0.05
"""Share of the rows from which on a part is large."""

_MOST_ENTRIES = 100_000
"""Maximum number of matrix entries up to which linking variables are looked for."""

_MOST_VARIABLES = 50
"""Maximum number of variables that are tried as linking ones."""


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
    method
        The method of :func:`colgen.decompose` on the command line; None: its own choice.
    """

    compact: CompactModel
    partition: Partition
    linking: tuple[str, ...]
    score: float
    remarks: tuple[str, ...] = ()
    method: Literal["dantzig-wolfe", "benders"] | None = None

    @cached_property
    def recognized(self) -> str:
        """The recognized kinds of blocks, such as "3 knapsacks"; kernels price these, HiGHS the others."""
        small, blocks = _presolved(self.compact, self.partition)
        return describe_blocks([block for block in split(small, blocks) if not has_rays(block)])

    def __str__(self) -> str:
        _, part = _presolved(self.compact, self.partition)
        rows = np.bincount(part.of_row[part.of_row >= 0], minlength=len(part.names))
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

    def write_dec(self, path: Path | str) -> None:
        """Write the blocks to a file in GCG's format ``.dec``; raise InputError for names that GCG cannot read."""
        write_dec(path, self.compact, self.partition)

    def draw(self, path: Any = None) -> Any:
        """Return a figure of the matrix sorted by blocks, an arrowhead; requires matplotlib.

        Parameters
        ----------
        path
            File to write the figure to; None: no file.
        """
        return import_name("reporting.arrowhead", "arrowhead")(self.compact.rows, self.partition, path)


def find_blocks(model: pyo.ConcreteModel | CompactModel, by: By = None) -> FoundBlocks | None:
    """Return the blocks of a model, or None if it does not decompose.

    Several sets of linking rows are tried: the set partitioning, packing and covering rows; each family of constraints
    and each pair of families; and the longest rows.  The other rows form connected components, the blocks.  Of
    the decompositions that can pay off, the one with the highest score is returned.

    Parameters
    ----------
    by
        The definition of the blocks, as in :func:`decompose`; these are then scored instead.  Pass ``model.blocks``
        for those of a file.  None: detect blocks, without regard to blocks that the model defines.

    Returns
    -------
    FoundBlocks or None
        The decomposition that ``decompose(model, found)`` uses.

    Raises
    ------
    InputError
        If the model is not linear, or ``by`` defines no block.
    """
    compact = as_compact(model)
    if by is None:
        return find_in(compact)
    return score_blocks(compact, partition(compact, by))


def find_in(compact: CompactModel) -> FoundBlocks | None:
    """Return the blocks detected in a model, or None if it does not decompose."""
    first = None
    for found in detected(compact):
        if found.score > 0.0:
            return found
        first = first or found
    return first


def detected(compact: CompactModel) -> Iterator[FoundBlocks]:
    """Yield the decompositions detected in a model, those with the largest share of zeros first."""
    found: dict[bytes, Partition] = {}
    small = compact.presolved
    for linking in _candidates(small):
        blocks = _components(small, linking)
        if blocks is not None:
            found.setdefault(blocks.of_row.tobytes(), blocks)
    for blocks in sorted(found.values(), key=lambda each: -_score(*_presolved(compact, each))):
        yield score_blocks(compact, blocks)


def score_blocks(compact: CompactModel, blocks: Partition) -> FoundBlocks:
    """Return blocks with their score; linear second stages always pay, by Benders decomposition."""
    small, own = _presolved(compact, blocks)
    said = () if has_linear_stages(compact, blocks) else remarks(split(small, own))
    return FoundBlocks(compact, blocks, _families(small, own), 0.0 if said else _score(small, own), said)


def _presolved(compact: CompactModel, blocks: Partition) -> tuple[CompactModel, Partition]:
    """Return a model and its blocks after presolve."""
    return compact.presolved, blocks.without_removed(compact.presolved.formulation)


def _candidates(compact: CompactModel) -> Iterator[NDArray[np.bool_]]:
    """Yield masks of candidates for linking rows."""
    rows = compact.rows
    most = max(_FAMILIES, _MOST_WORK // max(rows.nnz, 1))
    types, sums = _types_of_rows(compact)
    named = _masks([_family(compact, row) for row in range(rows.shape[0])], most)
    typed, sizes, f = _masks(types.tolist(), most), np.diff(rows.indptr), compact.formulation
    partitioning = sums & ((f.row_lower == 1.0) | (f.row_upper == 1.0))
    long_sums = sums & (sizes > 2)
    single = [np.zeros(rows.shape[0], dtype=np.bool_), partitioning, long_sums, *named, *typed]
    single += [sizes >= size for size in np.unique(sizes)[-_SIZES:].tolist()]
    yield from single
    for families in (named, typed):
        if len(families) <= _FAMILIES:
            for one, other in itertools.combinations(families, 2):
                yield one | other
    # A variable may link blocks as well; its rows then stay in the master with it.
    for mask in single:
        yield from _with_linking_variables(compact, mask)


def _with_linking_variables(compact: CompactModel, linking: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    """Yield the linking rows and those of the variables that alone connect large parts of the other rows, if any."""
    others = np.flatnonzero(~linking)
    matrix = sparse.csr_array(compact.rows[others, :])
    height = matrix.shape[0]
    if not 0 < matrix.nnz <= _MOST_ENTRIES:
        return
    graph = nx.Graph()
    entries = sparse.coo_array(matrix)
    graph.add_edges_from(zip(entries.row.tolist(), (entries.col + height).tolist(), strict=True))
    found = [node - height for node in nx.articulation_points(graph) if node >= height]
    if not 0 < len(found) <= _MOST_VARIABLES:
        return
    before, mask = _large_parts(matrix, height), linking.copy()
    for column in found:
        own = sparse.csc_array(matrix)[:, [column]].indices
        kept = np.ones(height, dtype=np.bool_)
        kept[own] = False
        if _large_parts(sparse.csr_array(matrix[np.flatnonzero(kept), :]), height) > before:
            mask[others[own]] = True
    if (mask != linking).any():
        yield mask


def _large_parts(matrix: sparse.csr_array, height: int) -> int:
    """Return the number of connected components with at least a share of ``height`` rows."""
    rows, width = matrix.shape
    entries = sparse.coo_array(matrix)
    edges = (np.ones(entries.nnz), (entries.row, entries.col + rows))
    graph = sparse.csr_array(edges, shape=(rows + width, rows + width))
    labels = connected_components(graph, directed=False)[1][:rows]
    return int((np.bincount(labels) >= _LARGE * height).sum()) if rows else 0


def _masks(labels: Sequence[Hashable], most: int) -> list[NDArray[np.bool_]]:
    """Return a mask for each label, in order of appearance; if there are too many, for those of the most rows."""
    numbers = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    codes = np.array([numbers[label] for label in labels], dtype=np.int64)
    largest = np.argsort(-np.bincount(codes), kind="stable")[:most]
    return [codes == k for k in np.sort(largest).tolist()]


def _family(compact: CompactModel, row: int) -> str:
    """Return the name of a row's Pyomo component, or its name without digits."""
    if isinstance(compact.source, PyomoSource):
        return str(compact.formulation.row_keys[row][0])
    return re.sub(r"\d+", "#", compact.constraint_name(row))


def _types_of_rows(compact: CompactModel) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the type of each row, and which rows are sums of integer variables.

    The type is a number for its sides, the kind of its coefficients (1, 1 and -1, others), and its integrality.
    """
    f, rows = compact.formulation, compact.rows
    filled = np.flatnonzero(np.diff(rows.indptr))
    starts = rows.indptr[:-1][filled]
    kind, integral = np.zeros(rows.shape[0], dtype=np.int64), np.ones(rows.shape[0], dtype=np.bool_)
    if len(filled):
        kind[filled] = np.maximum.reduceat(np.where(rows.data == 1.0, 0, np.where(rows.data == -1.0, 1, 2)), starts)
        integral[filled] = np.logical_and.reduceat(f.integer[rows.indices], starts)
    sides = np.isfinite(f.row_lower) + 2 * np.isfinite(f.row_upper) + (f.row_lower == f.row_upper)
    return (sides * 3 + kind) * 2 + integral, (kind == 0) & integral


def _components(compact: CompactModel, linking: NDArray[np.bool_]) -> Partition | None:
    """Return the components without linking rows, or None if fewer than two have rows."""
    labels = _labels(compact, linking)
    count = int(labels.max(initial=-1)) + 1
    if count < 2:
        return None
    rows = np.full(len(linking), MASTER)
    matrix = compact.rows
    filled = np.diff(matrix.indptr) > 0
    own = ~linking & filled
    if own.any():
        rows[own] = np.maximum.reduceat(labels[matrix.indices], matrix.indptr[:-1][filled])[own[filled]]
    # A fixed variable belongs to the only block that has it; several get copies.
    entries = sparse.coo_array(matrix)
    loose = (rows[entries.row] != MASTER) & (labels[entries.col] == MASTER)
    least, most = np.full(len(labels), count), np.full(len(labels), MASTER)
    np.minimum.at(least, entries.col[loose], rows[entries.row[loose]])
    np.maximum.at(most, entries.col[loose], rows[entries.row[loose]])
    return Partition(tuple(range(count)), np.where(least == most, least, labels), rows)


def _labels(compact: CompactModel, linking: NDArray[np.bool_]) -> Ints:
    """Return the component of each variable, numbered in order; :data:`MASTER` for variables in linking rows only.

    A fixed variable connects nothing.
    """
    f, matrix = compact.formulation, sparse.csr_array(compact.rows[np.flatnonzero(~linking), :])
    graph, size = sparse.coo_array(matrix), matrix.shape[1]
    free = (f.lower != f.upper)[graph.col]
    rows, columns = graph.row[free], graph.col[free]
    edges = (np.ones(len(rows)), (rows + size, columns))
    adjacency = sparse.csr_array(edges, shape=(size + matrix.shape[0], size + matrix.shape[0]))
    labels: Ints = connected_components(adjacency, directed=False)[1][:size].astype(np.int64)
    alone = np.bincount(columns, minlength=size) == 0
    labels[alone] = MASTER
    found, first, places = np.unique(labels[~alone], return_index=True, return_inverse=True)
    numbers = np.empty(len(found), dtype=np.int64)
    numbers[np.argsort(first)] = np.arange(len(found))
    labels[~alone] = numbers[places.reshape(-1)]
    return labels


def _score(compact: CompactModel, partition: Partition) -> float:
    """Return the share of the matrix outside blocks, linking rows and static variables."""
    height, width = int((partition.of_row != REMOVED).sum()), compact.rows.shape[1]
    rows = np.bincount(partition.of_row[partition.of_row >= 0], minlength=len(partition.names))
    columns = np.bincount(partition.of_column[partition.of_column != MASTER], minlength=len(partition.names))
    static = width - int(columns.sum())
    filled = float(rows @ columns) + float(len(partition.linking) * width) + float(rows.sum() * static)
    return float(1.0 - filled / (height * width))


def _families(compact: CompactModel, partition: Partition) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_family(compact, row) for row in partition.linking.tolist()))


def _span(counts: Ints | Sequence[int], noun: str) -> str:
    low, high = int(min(counts)), int(max(counts))
    return plural(low, noun) if low == high else f"{low} to {plural(high, noun)}"
