"""Blocks as arrays, with identical blocks merged."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

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
        """Return the entries of a point in the linking rows."""
        linking = self.linking
        return np.bincount(linking.indices, point[self._owners] * linking.data, minlength=rows).astype(np.float64)

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


def subproblems(compact: CompactModel, partition: Partition, *, aggregate: bool = True) -> tuple[Subproblem, ...]:
    """Return the blocks of a model, with identical blocks merged if ``aggregate``.

    Blocks are identical if their arrays are equal after sorting variables and rows.  Different blocks never compare
    equal; equal blocks in an order that sorting does not detect stay separate.  Unbounded blocks are never merged,
    because branching does not count their points.
    """
    blocks = split(compact, partition)
    groups: dict[Hashable, list[int]] = {}
    for k, block in enumerate(blocks):
        groups.setdefault(fingerprint(block) if aggregate and _may_join(block) else k, []).append(k)
    found: list[Subproblem] = []
    for members in groups.values():
        unbounded = has_rays(blocks[members[0]])
        for together in [[k] for k in members] if unbounded else [members]:
            names = tuple(partition.names[k] for k in together)
            columns = np.array([blocks[k].columns[0] for k in together])
            block = dataclasses.replace(blocks[together[0]], number=len(found), members=names, columns=columns)
            found.append(dataclasses.replace(block, unbounded=unbounded))
    return tuple(found)


def _may_join(block: Subproblem) -> bool:
    """Return whether component bounds on identical blocks can be complete: integer variables must be bounded."""
    ends = np.isfinite(block.lower) & np.isfinite(block.upper)
    return bool(block.integer.any() and ends[block.integer].all())


def split(compact: CompactModel, partition: Partition) -> list[Subproblem]:
    """Return the blocks without merging, with the bounds of integer variables that their rows imply."""
    f, rows = compact.formulation, compact.rows
    own_rows = np.flatnonzero(partition.of_row != MASTER)
    sides = (f.row_lower[own_rows], f.row_upper[own_rows])
    general = f.integer & (f.upper - f.lower > 1.0)  # binary variables stay free: networks are recognized by them
    lower, upper = tighten_bounds(rows[own_rows, :], *sides, f.lower, f.upper, general)
    linking = sparse.csr_array(rows[partition.linking, :].T)
    by_column = np.argsort(partition.of_column, kind="stable")
    by_row = np.argsort(partition.of_row, kind="stable")
    numbers = np.arange(len(partition.names) + 1)
    first_column = np.searchsorted(partition.of_column[by_column], numbers)
    first_row = np.searchsorted(partition.of_row[by_row], numbers)
    found = []
    for k, name in enumerate(partition.names):
        columns = by_column[first_column[k] : first_column[k + 1]]
        mine = by_row[first_row[k] : first_row[k + 1]]
        block = Subproblem(
            k,
            (name,),
            columns[None, :],
            sparse.csc_array(rows[mine, :][:, columns]),
            sparse.csr_array(linking[columns, :]),
            f.costs[columns],
            lower[columns],
            upper[columns],
            f.integer[columns],
            f.row_lower[mine],
            f.row_upper[mine],
        )
        found.append(_sort(block))
    return found


def _sort(block: Subproblem) -> Subproblem:
    """Return the block with its variables and rows in a canonical order."""
    link = block.linking
    link.sort_indices()
    patterns = [
        (
            link.indices[link.indptr[k] : link.indptr[k + 1]].tolist(),
            link.data[link.indptr[k] : link.indptr[k + 1]].tolist(),
            float(block.costs[k]),
            float(block.lower[k]),
            float(block.upper[k]),
            bool(block.integer[k]),
        )
        for k in range(len(block.costs))
    ]
    order = sorted(range(len(patterns)), key=patterns.__getitem__)
    matrix = sparse.csr_array(block.matrix[:, order])
    matrix.sort_indices()
    says = [
        (
            float(block.row_lower[r]),
            float(block.row_upper[r]),
            matrix.indices[matrix.indptr[r] : matrix.indptr[r + 1]].tolist(),
            matrix.data[matrix.indptr[r] : matrix.indptr[r + 1]].tolist(),
        )
        for r in range(matrix.shape[0])
    ]
    rows = sorted(range(len(says)), key=says.__getitem__)
    return Subproblem(
        block.number,
        block.members,
        block.columns[:, order],
        sparse.csc_array(matrix[rows, :]),
        sparse.csr_array(link[order, :]),
        block.costs[order],
        block.lower[order],
        block.upper[order],
        block.integer[order],
        block.row_lower[rows],
        block.row_upper[rows],
    )


def fingerprint(block: Subproblem) -> Hashable:
    """Return all arrays of a sorted block, to the last bit."""
    parts: list[bytes] = []
    for matrix in (block.matrix, block.linking):
        matrix.sort_indices()
        parts += [np.asarray(matrix.indptr, dtype=np.int64).tobytes()]
        parts += [np.asarray(matrix.indices, dtype=np.int64).tobytes(), (matrix.data + 0.0).tobytes()]
    sides = (block.costs, block.lower, block.upper, block.row_lower, block.row_upper)
    return (block.matrix.shape, *parts, *((array + 0.0).tobytes() for array in sides), block.integer.tobytes())


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
