"""A model taken apart: what stays in the master, and the subproblems whose points are its columns."""

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
from colgen.decomposition.reading.arrays import Floats, Ints, Reading
from colgen.decomposition.reading.partition import MASTER, Partition
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.model.rows import Rows


@dataclass(frozen=True, eq=False)
class BlockPoint:
    """A point of a block, or a ray: the structure of a column.

    Attributes
    ----------
    block
        The block's name, or that of the first of those that are the same.
    number
        Of the subproblem.
    values
        One a variable of the subproblem.
    is_ray
        Whether it is a direction in which the block has no end.
    """

    block: str
    number: int
    values: Floats
    is_ray: bool = False

    def within(self, variable: int, lower: float, upper: float) -> bool:
        """Whether a point is between bounds on a variable, or a ray does not leave them."""
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
    """A model and its blocks, as the master and the oracles know them.

    Attributes
    ----------
    subproblems
        In the order of their convexity rows, which come after the linking rows.
    """

    reading: Reading
    partition: Partition
    subproblems: tuple[Subproblem, ...]

    @cached_property
    def linking(self) -> Ints:
        """Rows of the model that stay in the master."""
        return self.partition.linking

    @cached_property
    def static(self) -> Ints:
        """Variables of the model that stay in the master."""
        return np.flatnonzero(self.partition.of_column == MASTER)

    @cached_property
    def convexity(self) -> str:
        """The name of the convexity rows: one a subproblem, by its number."""
        name, taken = "convexity", {key[0] for key in self.reading.formulation.row_keys}
        while name in taken:
            name += "_"
        return name

    @cached_property
    def row_keys(self) -> tuple[Key, ...]:
        """Of the master's rows, in order."""
        keys = self.reading.formulation.row_keys
        return (*(keys[k] for k in self.linking.tolist()), *(self.convexity_key(sub) for sub in self.subproblems))

    def convexity_key(self, sub: Subproblem) -> Key:
        """Of the row that says how many points of a subproblem an answer has."""
        return (self.convexity, sub.number)

    def master(self) -> Rows:
        """The linking rows over the static variables, and the convexity rows; artificial variables where zero fails."""
        f = self.reading.formulation
        counts = np.array([sub.count for sub in self.subproblems], dtype=float)
        lower = np.concatenate([f.row_lower[self.linking], counts])
        upper = np.concatenate([f.row_upper[self.linking], counts])
        rows, width = len(lower), len(self.static)
        own = sparse.csc_array(self.reading.rows[self.linking, :][:, self.static])
        own.resize(rows, width)
        short, over = np.flatnonzero(lower > 0.0), np.flatnonzero(upper < 0.0)
        count = len(short) + len(over)
        signs = np.concatenate([np.ones(len(short)), -np.ones(len(over))])
        shape = (rows, count)
        more = sparse.csc_array((signs, (np.concatenate([short, over]), np.arange(count))), shape=shape)
        name, taken = "missing", {key[0] for key in f.column_keys}
        while name in taken:
            name += "_"
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
        """The columns of points of a subproblem, shape (points, variables), over the master's row numbers."""
        count, last = len(self.linking), len(self.linking) + sub.number
        starts = [0]
        rows: list[Ints] = []
        values: list[Floats] = []
        for point in points:  # one or a few: a product of sparse matrices costs more than it saves
            counted = sub.counted(point, count)
            used = np.flatnonzero(counted)
            rows.append(np.append(used, last))
            values.append(np.append(counted[used], 1.0))
            starts.append(starts[-1] + len(used) + 1)
        joined = (np.concatenate(rows), np.concatenate(values)) if rows else (np.empty(0, dtype=np.int64), np.empty(0))
        return self.batch([(sub, point) for point in points], starts, *joined)

    def batch(
        self, points: Sequence[tuple[Subproblem, Floats]], starts: ArrayLike, rows: Ints, values: Floats
    ) -> Columns:
        """Points, each of its subproblem, and what they count, as columns; whoever asks, a point costs the same."""
        costs = [sub.cost_of(point) for sub, point in points]
        structures = [BlockPoint(sub.name, sub.number, point) for sub, point in points]
        keys = [self._key(sub, point) for sub, point in points]
        named = None if all(key is None for key in keys) else keys
        # Nothing at all is whole if the other points are; a dive that rounded it up would close blocks that are needed.
        whole = [bool(point.any()) for _, point in points]
        return Columns(costs, starts, rows, values, structures, named, integer=whole)

    def ray(self, sub: Subproblem, ray: Floats) -> Columns:
        """The column of a ray, of which there may be any amount; whole where it moves what is whole."""
        counted = sub.counted(ray, len(self.linking))
        rows = np.flatnonzero(counted)
        structure = BlockPoint(sub.name, sub.number, ray, is_ray=True)
        key = (self._points, ("ray", sub.number, ray.tobytes()))
        cost, whole = sub.cost_of(ray), bool(ray[sub.integer].any())
        return Columns([cost], [0, len(rows)], rows, counted[rows], [structure], [key], integer=[whole])

    def column(self, sub: Subproblem, point: Floats) -> Column:
        """The column of one point, by the names of rows."""
        batch = self.columns(sub, point[None, :]).over(self.row_keys, self.row_position)
        return batch[0]

    @cached_property
    def row_position(self) -> dict[Key, int]:
        """Where each of the master's rows is."""
        return {key: k for k, key in enumerate(self.row_keys)}

    def _key(self, sub: Subproblem, point: Floats) -> Key | None:
        """A name for a point that linking rows do not tell apart from others."""
        return None if sub.is_told_by_rows else (self._points, (sub.number, point.tobytes()))

    @cached_property
    def _points(self) -> str:
        name, taken = "point", {key[0] for key in self.reading.formulation.column_keys}
        while name in taken:
            name += "_"
        return name

    # --- answers -----------------------------------------------------------------------------------------------------

    def solution(self, values: Floats, objective: float) -> Solution:
        """A point of the compact model as a solution of the master."""
        f = self.reading.formulation
        x = np.clip(np.where(f.integer, np.rint(values), values), f.lower, f.upper) + 0.0
        columns: dict[bytes, tuple[Column, float]] = {}
        for sub in self.subproblems:
            for members in sub.columns:
                key = sub.number.to_bytes(8, "big") + x[members].tobytes()
                column, amount = columns.get(key) or (self.column(sub, x[members]), 0.0)
                columns[key] = column, amount + 1.0
        static = {f.column_keys[k]: float(x[k]) for k in self.static.tolist() if x[k]}
        whole = frozenset(f.column_keys[k] for k in self.static.tolist() if f.integer[k])
        return Solution(objective, tuple(columns.values()), static, whole)

    def values(self, solution: Solution) -> Floats:
        """A solution of the master in the model's own variables.

        Of blocks that are the same, the points of an answer go to one after the other; points that are fractional are
        averaged over all of them.
        """
        x = np.zeros(len(self.reading.variables))
        keys = self.reading.formulation.column_keys
        for k in self.static.tolist():
            x[k] = solution.variables.get(keys[k], 0.0)
        points: dict[int, list[tuple[Floats, float]]] = {}
        for column, amount in solution.columns:
            if column.structure.values.any():  # nothing at all is in x already
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
        f = self.reading.formulation
        near = f.integer & (np.abs(x - np.round(x)) <= TOLERANCES.integrality)
        x[near] = np.round(x[near])
        # Amounts are exact to a tolerance, a bound of zero knows none; what is clipped here the rows are held against.
        return np.clip(x, f.lower, f.upper) + 0.0

    def sides(self) -> Sequence[str]:
        """What the master and the blocks are made of, in words."""
        subs = self.subproblems
        blocks = sum(sub.count for sub in subs)
        return (
            f"{blocks} blocks, {len(subs)} of them different" if len(subs) < blocks else f"{blocks} blocks",
            f"{len(self.linking)} linking rows",
            f"{len(self.static)} variables in the master",
        )
