"""Blocks as arrays."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.tolerances import ROUNDING, TOLERANCES
from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Floats, Ints, Partition, cost_rounding
from colgen.decomposition.reading.implied_bounds import tighten_bounds
from colgen.solvers.linear.lp import LinearProgram, LPStatus
from colgen.solvers.linear.program import Program


@dataclass(frozen=True, eq=False)
class Subproblem:
    """``min costs·x`` over the rows and bounds of a block, or of several identical blocks.

    Attributes
    ----------
    number
        Index of the convexity row.
    members
        Names of the blocks.
    columns
        Indices of the variables in the model, shape (blocks, variables); corresponding variables share a column.
    matrix, linking
        Coefficients of the block's rows, shape (rows, variables), and of the master's, (variables, linking rows).
    unbounded
        Whether the block has rays.
    """

    number: int
    members: tuple[Hashable, ...]
    columns: Ints
    matrix: sparse.csc_array
    linking: sparse.csr_array
    costs: Floats
    lower: Floats
    upper: Floats
    integer: NDArray[np.bool_]
    row_lower: Floats
    row_upper: Floats
    unbounded: bool = False

    @property
    def count(self) -> int:
        """Number of blocks."""
        return len(self.members)

    @property
    def name(self) -> str:
        """Name for diagnostics."""
        first = repr(self.members[0])
        return first if self.count == 1 else f"{first} and {self.count - 1} like it"

    @cached_property
    def _owners(self) -> Ints:
        """The variable of each entry of ``linking``."""
        return np.repeat(np.arange(len(self.costs)), np.diff(self.linking.indptr))

    def cost_of(self, point: Floats) -> float:
        """Return the cost of a point, or zero if terms cancel up to rounding: 1e-18 would set a wrong scale."""
        terms = point * self.costs
        cost = float(terms.sum())
        return 0.0 if abs(cost) <= ROUNDING * float(np.abs(terms).sum()) else cost

    @cached_property
    def cost_rounding(self) -> float:
        """Bound on the rounding error of the cost of a point, from the limits of its values by bounds and rows."""
        sides = (self.row_lower, self.row_upper)
        return cost_rounding(self.costs, self.matrix, self.lower, self.upper, *sides)

    def row_entries(self, point: Floats, rows: int) -> Floats:
        """Return the entries of a point in the linking rows; what is left of terms that cancel out is zero."""
        terms = point[self._owners] * self.linking.data
        entries = np.bincount(self.linking.indices, terms, minlength=rows).astype(np.float64)
        if not self.integer.all():
            sizes = np.bincount(self.linking.indices, np.abs(terms), minlength=rows)
            entries[np.abs(entries) <= ROUNDING * sizes] = 0.0
        return entries

    def earnings(self, duals: Floats) -> Floats:
        """Return the earnings of a unit of each variable at dual values of the linking rows."""
        linking = self.linking
        terms = linking.data * duals[linking.indices]
        return np.bincount(self._owners, terms, minlength=len(self.costs)).astype(np.float64)

    def gross(self, duals: Floats, weight: float) -> Floats:
        """Return the sum of the absolute terms of each variable's reduced cost."""
        linking = self.linking
        terms = np.abs(linking.data * duals[linking.indices])
        paid = np.bincount(self._owners, terms, minlength=len(self.costs)).astype(np.float64)
        return weight * np.abs(self.costs) + paid

    @cached_property
    def is_identified_by_rows(self) -> bool:
        """Whether the entries in the linking rows identify a point: each variable has a row of its own."""
        by_row = sparse.csc_array(self.linking)
        alone = np.flatnonzero(np.diff(by_row.indptr) == 1)
        return len(np.unique(by_row.indices[by_row.indptr[alone]])) == len(self.costs)

    def holds(self, values: Floats, is_ray: bool = False) -> bool:
        """Return whether values are a point of the block, or a ray."""
        ends = [self.lower, self.upper, self.row_lower, self.row_upper]
        if is_ray:
            ends = [np.where(np.isfinite(end), 0.0, end) for end in ends]
        lower, upper, row_lower, row_upper = ends
        moved, sizes = self.matrix @ values, abs(self.matrix) @ np.abs(values)
        room, row_room = (TOLERANCES.feasibility * (1.0 + size) for size in (np.abs(values), sizes))
        within = (values >= lower - room) & (values <= upper + room)
        kept = (moved >= row_lower - row_room) & (moved <= row_upper + row_room)
        integral = np.abs(values - np.rint(values))[self.integer] <= TOLERANCES.integrality
        return bool(within.all() and kept.all() and integral.all())

    @cached_property
    def holds_zero(self) -> bool:
        """Whether zero is a point of the block."""
        sides = (self.row_lower <= 0.0).all() and (self.row_upper >= 0.0).all()
        return bool(sides and (self.lower <= 0.0).all() and (self.upper >= 0.0).all())


def block_bounds(compact: CompactModel, partition: Partition) -> tuple[Floats, Floats]:
    """Return the bounds of variables, for integer ones those that the rows of blocks imply.

    A row of one binary variable is a bound of it.
    """
    f, rows, own = compact.formulation, compact.rows, partition.of_row >= 0
    lower, upper = f.lower, f.upper
    # Other rows leave binary variables free, and so do equations: networks are recognized by these.
    single = own & (np.diff(rows.indptr) == 1) & (f.row_lower != f.row_upper)
    for mask, integer in ((single, f.integer), (own, f.integer & (f.upper - f.lower > 1.0))):
        mine = np.flatnonzero(mask)
        lower, upper = tighten_bounds(rows[mine, :], f.row_lower[mine], f.row_upper[mine], lower, upper, integer)
    return lower, upper


def split(compact: CompactModel, partition: Partition, bounds: tuple[Floats, Floats] | None = None) -> list[Subproblem]:
    """Return the blocks without merging, with given bounds; None: those of :func:`block_bounds`.

    Variables are sorted by their entries in the linking rows, costs and bounds, and rows by their sides and entries.
    """
    f, (height, width) = compact.formulation, compact.rows.shape
    lower, upper = bounds or block_bounds(compact, partition)
    of_row, of_column = partition.of_row, partition.of_column
    linking = sparse.csr_array(compact.rows[partition.linking, :].T)
    columns = _sort(of_column, *_entries(linking), f.costs, f.lower, f.upper, f.integer)
    linking = sparse.csr_array(linking[columns, :])
    entries = sparse.coo_array(compact.rows)
    own = np.flatnonzero((of_row[entries.row] == of_column[entries.col]) & (of_row[entries.row] != MASTER))
    data, places = entries.data[own], (entries.row[own], _inverse(columns)[entries.col[own]])
    rows = _sort(of_row, f.row_lower, f.row_upper, *_entries(sparse.csr_array((data, places), shape=(height, width))))
    matrix = sparse.csc_array((data, (_inverse(rows)[places[0]], places[1])), shape=(height, width))
    numbers = np.arange(len(partition.names) + 1)
    first_column = np.searchsorted(of_column[columns], numbers).tolist()
    first_row = np.searchsorted(of_row[rows], numbers).tolist()
    found = []
    for k, name in enumerate(partition.names):
        (left, right), (top, bottom) = first_column[k : k + 2], first_row[k : k + 2]
        mine, its_rows = columns[left:right], rows[top:bottom]
        (indptr, indices, values), (starts, links, counts) = (_slice(each, left, right) for each in (matrix, linking))
        shape, linking_shape = (bottom - top, right - left), (right - left, linking.shape[1])
        block = Subproblem(
            k,
            (name,),
            mine[None, :],
            sparse.csc_array((values, indices - top, indptr), shape=shape),
            sparse.csr_array((counts, links, starts), shape=linking_shape),
            f.costs[mine],
            lower[mine],
            upper[mine],
            f.integer[mine],
            f.row_lower[its_rows],
            f.row_upper[its_rows],
        )
        found.append(block)
    return found


def _sort(labels: Ints, *keys: Any) -> Ints:
    """Return the order of elements by labels, and by keys if labels are equal."""
    lists = [key.tolist() if isinstance(key, np.ndarray) else key for key in (labels, *keys)]
    tuples = list(zip(*lists, strict=True))
    return np.array(sorted(range(len(tuples)), key=tuples.__getitem__), dtype=np.int64)


def _inverse(order: Ints) -> Ints:
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def _entries(matrix: sparse.csr_array) -> tuple[list[list[int]], list[list[float]]]:
    """Return the columns and values of each row."""
    matrix.sort_indices()
    indices, data = matrix.indices.tolist(), matrix.data.tolist()
    ends = list(itertools.pairwise(matrix.indptr.tolist()))
    return [indices[i:j] for i, j in ends], [data[i:j] for i, j in ends]


def _slice(matrix: Any, first: int, last: int) -> tuple[Ints, Ints, Floats]:
    """Return starts, indices and values of consecutive columns of a compressed matrix, or rows."""
    i, j = matrix.indptr[[first, last]].tolist()
    return matrix.indptr[first : last + 1] - i, matrix.indices[i:j], matrix.data[i:j]


def permuted(block: Subproblem, columns: Ints, rows: Ints) -> Subproblem:
    """Return a block with its variables and rows in another order."""
    return dataclasses.replace(
        block,
        columns=block.columns[:, columns],
        matrix=sparse.csc_array(block.matrix[rows, :][:, columns]),
        linking=sparse.csr_array(block.linking[columns, :]),
        costs=block.costs[columns],
        lower=block.lower[columns],
        upper=block.upper[columns],
        integer=block.integer[columns],
        row_lower=block.row_lower[rows],
        row_upper=block.row_upper[rows],
    )


# --- boundedness -----------------------------------------------------------------------------------------------------


def has_rays(sub: Subproblem) -> bool:
    """Return whether a block is unbounded, so that its hull needs rays as well as points."""
    up, down = np.isinf(sub.upper), np.isinf(sub.lower)
    return bool((up | down).any()) and any(_moves(sub, up, down, way) for way in _directions(up, down))


def _directions(up: NDArray[np.bool_], down: NDArray[np.bool_]) -> Sequence[Floats]:
    """Return objectives to find rays: all variables with one infinite bound together, those with two one by one."""
    one_sided = up.astype(float) - down.astype(float)
    found = [one_sided] if one_sided.any() else []
    for k in np.flatnonzero(up & down).tolist():
        for sign in (1.0, -1.0):
            direction = np.zeros(len(up))
            direction[k] = sign
            found.append(direction)
    return found


def _moves(sub: Subproblem, up: NDArray[np.bool_], down: NDArray[np.bool_], direction: Floats) -> bool:
    """Return whether the block has a ray with a positive product with a direction."""
    program = LinearProgram(
        Program(
            True,
            sub.matrix,
            direction,
            np.where(down, -1.0, 0.0),
            np.where(up, 1.0, 0.0),
            np.where(np.isfinite(sub.row_lower), 0.0, -np.inf),
            np.where(np.isfinite(sub.row_upper), 0.0, np.inf),
            0.0,
        ),
    )
    solved = program.solve()
    return solved.status is LPStatus.OPTIMAL and solved.objective >= _MOVES


_MOVES = 0.5
"""Least objective of a ray: scaled to the box from -1 to 1 it attains 1; smaller values are rounding errors."""
