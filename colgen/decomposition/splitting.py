"""The parts of a decomposed model: the master, and subproblems whose points are its columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Floats, Ints, Partition, unused_name
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.model.rows import Rows
from colgen.networks.block import Path, PathBlock


@dataclass(frozen=True, eq=False)
class BlockPoint:
    """A point or ray (an unbounded direction) of a block: the structure of a column.

    ``block`` is the name of the block, or of the first of several identical ones; ``number`` is the index of the
    subproblem.
    """

    block: str
    number: int
    values: Floats
    is_ray: bool = False

    def within(self, variable: int, lower: float, upper: float) -> bool:
        """Return whether a point satisfies bounds on a variable, or a ray never leaves them."""
        value = float(self.values[variable])
        if self.is_ray:
            return (value <= 0.0 or upper == math.inf) and (value >= 0.0 or lower == -math.inf)
        return lower <= value <= upper

    def __repr__(self) -> str:
        used = np.flatnonzero(self.values)
        entries = ", ".join(f"{k}: {self.values[k]:g}" for k in used[:8].tolist())
        more = ", ..." if len(used) > 8 else ""
        return f"{'Ray' if self.is_ray else 'Point'} of block {self.block} {{{entries}{more}}}"


@dataclass(frozen=True, eq=False)
class Splitting:
    """A model and its blocks, as used by the master and the oracles; subproblem k owns convexity row k.

    Path blocks have a row with the number of their paths.
    """

    compact: CompactModel
    partition: Partition
    subproblems: tuple[Subproblem, ...]
    paths: tuple[PathBlock, ...] = ()

    @cached_property
    def linking(self) -> Ints:
        """Rows of the model that stay in the master."""
        return self.partition.linking

    @cached_property
    def static(self) -> Ints:
        """Variables of the model that stay in the master."""
        kept = self.partition.of_column == MASTER
        for block in self.paths:
            kept[block.columns[block.columns >= 0]] = False
        return np.flatnonzero(kept)

    @cached_property
    def convexity(self) -> str:
        """Name of the convexity rows; their index is the number of the subproblem."""
        return unused_name("convexity", self.compact.formulation.row_keys)

    @cached_property
    def row_keys(self) -> tuple[Key, ...]:
        """Keys of the master's rows, in order."""
        keys = self.compact.formulation.row_keys
        return (
            *(keys[k] for k in self.linking.tolist()),
            *(self.convexity_key(sub) for sub in self.subproblems),
            *(self.count_key(block) for block in self.paths),
        )

    def convexity_key(self, sub: Subproblem) -> Key:
        """Return the key of the row that fixes the number of points of a subproblem."""
        return (self.convexity, sub.number)

    @cached_property
    def _counts(self) -> str:
        return unused_name("number of paths", self.compact.formulation.row_keys)

    def count_key(self, block: PathBlock) -> Key:
        """Return the key of the row with the number of paths of a block."""
        return (self._counts, block.number)

    def master(self) -> Rows:
        """Return the linking rows over the static variables, the rows of blocks, and artificial variables if needed."""
        f = self.compact.formulation
        counts = [(sub.count, sub.count) for sub in self.subproblems] + [block.count for block in self.paths]
        least, most = np.array(counts, dtype=float).reshape(-1, 2).T
        lower = np.concatenate([f.row_lower[self.linking], least])
        upper = np.concatenate([f.row_upper[self.linking], most])
        rows, width = len(lower), len(self.static)
        own = sparse.csc_array(self.compact.rows[self.linking, :][:, self.static])
        own.resize(rows, width)
        short, over = np.flatnonzero(lower > 0.0), np.flatnonzero(upper < 0.0)
        count = len(short) + len(over)
        signs = np.concatenate([np.ones(len(short)), -np.ones(len(over))])
        shape = (rows, count)
        more = sparse.csc_array((signs, (np.concatenate([short, over]), np.arange(count))), shape=shape)
        name = unused_name("missing", f.column_keys)
        column_keys = (*(f.column_keys[k] for k in self.static.tolist()), *((name, k) for k in range(count)))
        flags = np.concatenate([np.zeros(width, dtype=np.bool_), np.ones(count, dtype=np.bool_)])
        return Rows.of_arrays(
            f.sense,
            sparse.csc_array(sparse.hstack([own, more])) if count else own,
            columns=(
                column_keys,
                np.concatenate([f.costs[self.static], np.zeros(count)]),
                np.concatenate([f.lower[self.static], np.zeros(count)]),
                np.concatenate([f.upper[self.static], np.full(count, math.inf)]),
            ),
            rows=(self.row_keys, lower, upper),
            integer=np.concatenate([f.integer[self.static], np.zeros(count, dtype=np.bool_)]),
            artificial=flags,
            offset=f.offset,
            cost_rounding=max((sub.cost_rounding for sub in self.subproblems), default=0.0),
        )

    # --- columns -----------------------------------------------------------------------------------------------------

    def columns(self, sub: Subproblem, points: Floats) -> Columns:
        """Return the columns of points, shape (points, variables), by row numbers of the master."""
        count, last = len(self.linking), len(self.linking) + sub.number
        starts = [0]
        rows: list[Ints] = []
        values: list[Floats] = []
        for point in points:  # there are few; a product of sparse matrices would cost more than it saves
            row_entries = sub.row_entries(point, count)
            used = np.flatnonzero(row_entries)
            rows.append(np.append(used, last))
            values.append(np.append(row_entries[used], 1.0))
            starts.append(starts[-1] + len(used) + 1)
        joined = (np.concatenate(rows), np.concatenate(values)) if rows else (np.empty(0, dtype=np.int64), np.empty(0))
        return self.batch([(sub, point) for point in points], starts, *joined)

    def batch(
        self, points: Sequence[tuple[Subproblem, Floats]], starts: ArrayLike, rows: Ints, values: Floats
    ) -> Columns:
        """Return points with their entries as columns; a point has the same cost in every batch."""
        costs = [sub.cost_of(point) for sub, point in points]
        structures = [BlockPoint(sub.name, sub.number, point) for sub, point in points]
        keys = [self._key(sub, point) for sub, point in points]
        named = None if all(key is None for key in keys) else keys
        # The zero point is integer if the others are; a dive that fixed it would close blocks that are needed.
        integral = [bool(point.any()) for _, point in points]
        return Columns(costs, starts, rows, values, structures, named, integer=integral)

    def ray(self, sub: Subproblem, ray: Floats) -> Columns:
        """Return the column of a ray, with any amount ≥ 0, integer if the ray changes integer variables."""
        row_entries = sub.row_entries(ray, len(self.linking))
        rows = np.flatnonzero(row_entries)
        structure = BlockPoint(sub.name, sub.number, ray, is_ray=True)
        key = (self._points, ("ray", sub.number, ray.tobytes()))
        cost, integral = sub.cost_of(ray), bool(ray[sub.integer].any())
        return Columns([cost], [0, len(rows)], rows, row_entries[rows], [structure], [key], integer=[integral])

    def column(self, sub: Subproblem, point: Floats) -> Column:
        """Return the column of one point, by row keys."""
        batch = self.columns(sub, point[None, :]).over(self.row_keys, self.row_position)
        return batch[0]

    @cached_property
    def row_position(self) -> dict[Key, int]:
        """Position of each row in the master."""
        return {key: k for k, key in enumerate(self.row_keys)}

    def _key(self, sub: Subproblem, point: Floats) -> Key | None:
        """Return a key for a point that its entries in linking rows do not identify, else None."""
        return None if sub.is_identified_by_rows else (self._points, (sub.number, point.tobytes()))

    @cached_property
    def _points(self) -> str:
        return unused_name("point", self.compact.formulation.column_keys)

    # --- answers -----------------------------------------------------------------------------------------------------

    def solution(self, values: Floats, objective: float) -> Solution:
        """Return a point of the compact model as a solution of the master."""
        f = self.compact.formulation
        x = np.clip(np.where(f.integer, np.rint(values), values), f.lower, f.upper) + 0.0
        columns: dict[bytes, tuple[Column, float]] = {}
        for sub in self.subproblems:
            for members in sub.columns:
                key = sub.number.to_bytes(8, "big") + x[members].tobytes()
                column, amount = columns.get(key) or (self.column(sub, x[members]), 0.0)
                columns[key] = column, amount + 1.0
        static = {f.column_keys[k]: float(x[k]) for k in self.static.tolist() if x[k]}
        integral = frozenset(f.column_keys[k] for k in self.static.tolist() if f.integer[k])
        return Solution(objective, tuple(columns.values()), static, integral)

    def values(self, solution: Solution) -> Floats:
        """Return a solution of the master in the model's own variables.

        Identical blocks receive the points of an integer solution in order.  Fractional points are averaged over them.
        """
        x = np.zeros(len(self.compact.formulation.costs))
        keys = self.compact.formulation.column_keys
        for k in self.static.tolist():
            x[k] = solution.variables.get(keys[k], 0.0)
        points: dict[int, list[tuple[Floats, float]]] = {}
        for column, amount in solution.columns:
            if isinstance(column.structure, Path):
                np.add.at(x, self.paths[column.structure.number].columns[list(column.structure.arcs)], amount)
            elif column.structure.values.any():  # x is zero already
                points.setdefault(column.structure.number, []).append((column.structure.values, amount))
        for number, used in points.items():
            sub = self.subproblems[number]
            if sub.count == 1:
                x[sub.columns[0]] = sum(amount * values for values, amount in used)
                continue
            if all(amount == round(amount) for _, amount in used):
                given = [values for values, amount in used for _ in range(round(amount))]
                for columns, values in zip(sub.columns, given, strict=False):
                    x[columns] = values
            else:
                x[sub.columns] = sum(amount * values for values, amount in used) / sub.count
        f = self.compact.formulation
        near = f.integer & (np.abs(x - np.round(x)) <= TOLERANCES.integrality)
        x[near] = np.round(x[near])
        # Amounts are exact up to a tolerance, but a bound of zero has none; rows are checked against clipped values.
        return np.clip(x, f.lower, f.upper) + 0.0
