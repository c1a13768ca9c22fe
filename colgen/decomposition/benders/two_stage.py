"""The parts of a two-stage model: its first stage, and its second stages by blocks."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np
from scipy import sparse

from colgen.core.columns import Key
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.answers import Values, recompute_objective
from colgen.decomposition.benders.recourse import Recourse, merge_stages
from colgen.decomposition.benders.stages import SecondStage, StageFamily
from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Floats, Ints, Partition, cost_rounding
from colgen.decomposition.reading.copies import linking_variables
from colgen.model.rows import Rows
from colgen.solvers.arrays import EXACT
from colgen.solvers.linear.lp import LinearProgram, LPStatus
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.scaling import typical_size
from colgen.solvers.scaling import powers_of_two


class TwoStage:
    """A two-stage model; second stages that are equal up to a factor of their costs are merged.

    Attributes
    ----------
    first, kept
        Indices of the first stage's variables in the model, and of the constraints over these only.
    sign
        1 if the model minimises, else -1; stages minimise ``sign`` times the cost.
    cost_name
        Name of the master's cost variables, which count above ``least``.
    units
        Unit of each cost variable: a power of two near the size of the model's costs, so that the master's tolerances
        are relative to it.
    least
        Least cost of each stage, a constant of the master: next to it small costs would be lost.
    """

    def __init__(self, compact: CompactModel, partition: Partition) -> None:
        self.compact = compact
        f = compact.formulation
        self.sign = -1.0 if f.sense is Sense.MAXIMIZE else 1.0
        self.first = np.flatnonzero(partition.of_column == MASTER)
        if not len(self.first):
            raise InputError("every variable of the model is in a block, expected some outside as the first stage")
        integral = np.flatnonzero(f.integer & (partition.of_column != MASTER))
        if len(integral):
            name = compact.names[integral[0]]
            raise InputError(
                f"variable {name!r} in block {partition.names[partition.of_column[integral[0]]]} is integer, expected "
                "continuous second stages; others have no dual values for rows"
            )
        self._of_row = _stage_of_rows(compact, partition)
        self._own = [np.flatnonzero(partition.of_column == k) for k in range(len(partition.names))]
        self._over_first = sparse.csr_array(sparse.csc_array(f.matrix)[:, self.first])
        stages, self._members = merge_stages(list(self._stages()))
        self.recourse = Recourse(stages)
        self.kept = np.flatnonzero(self._of_row == MASTER)
        self._first_rows = self._over_first[self.kept, :]
        names = {key[0] for key in (*f.column_keys, *f.row_keys)}
        self.cost_name = next(name for name in _candidate_names("stage_cost") if name not in names)
        self.units = np.full(self.recourse.count, typical_size(f.costs))
        self.least = self.recourse.by_group(self._least_costs(partition.names))
        # HiGHS drops coefficients that are very small relative to their row's side.
        self.units = np.maximum(self.units, powers_of_two(_LARGEST * np.abs(self.least)) * (self.least != 0.0))

    # --- the first stage ---------------------------------------------------------------------------------------------

    def master(self) -> Rows:
        """Return the first stage, and a variable per group of blocks for their cost above the least cost."""
        f, first, stages = self.compact.formulation, self.first, self.recourse.count
        rows, matrix = self.kept, sparse.csc_array(self._first_rows)
        matrix.resize(len(rows), len(first) + stages)
        nothing, open_end = np.zeros(stages), np.full(stages, np.inf)
        minimize = self.sign > 0.0
        column_keys = (*(f.column_keys[k] for k in first.tolist()), *((self.cost_name, k) for k in range(stages)))
        no = np.zeros(stages, dtype=np.bool_)
        return Rows.of_arrays(
            f.sense,
            matrix,
            columns=(
                column_keys,
                np.concatenate([f.costs[first], self.units]),
                np.concatenate([f.lower[first], nothing if minimize else -open_end]),
                np.concatenate([f.upper[first], open_end if minimize else nothing]),
            ),
            rows=([f.row_keys[k] for k in rows.tolist()], *self._rounded_sides()),
            integer=np.concatenate([f.integer[first], no]),
            artificial=np.concatenate([f.artificial[first], no]),
            offset=math.fsum([f.offset, *(self.sign * self.least).tolist()]),
            cost_rounding=cost_rounding(f.costs, f.matrix, f.lower, f.upper, f.row_lower, f.row_upper),
        )

    def _rounded_sides(self) -> tuple[Floats, Floats]:
        """Return the sides of the first stage's rows, rounded for integer variables with integer coefficients."""
        f, matrix = self.compact.formulation, self._first_rows
        lower, upper = f.row_lower[self.kept], f.row_upper[self.kept]
        for row in range(len(self.kept)):
            entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
            values = matrix.data[entries]
            integral = f.integer[self.first[matrix.indices[entries]]].all() and (values == np.rint(values)).all()
            if len(values) and integral and np.abs(values).max() < EXACT:
                step = float(math.gcd(*map(int, values.tolist())))
                low = step * np.ceil(lower[row] / step - TOLERANCES.integrality)
                high = step * np.floor(upper[row] / step + TOLERANCES.integrality)
                if low <= high:  # otherwise no integers satisfy the row, which the search finds
                    lower[row], upper[row] = low, high
        return lower, upper

    def first_stage(self, solution: Solution) -> Floats:
        """Return the first stage's variables in a solution of the master, at their bounds if they are close to them.

        Next to large costs of stages, the rounding error of a variable at a bound costs more than the tolerances.
        """
        f, first, found = self.compact.formulation, self.first, solution.variables
        x = np.array([found.get(f.column_keys[k], 0.0) for k in first.tolist()])
        room = TOLERANCES.pruning * np.maximum(np.abs(x), 1.0)
        for bounds in (f.lower[first], f.upper[first]):
            x = np.where(np.abs(x - bounds) <= room, bounds, x)
        return x

    def round_first_stage(self, x: Floats, to: Callable[[Floats], Floats]) -> Floats:
        """Return a first stage with its integer variables rounded, within bounds."""
        f, first = self.compact.formulation, self.first
        found: Floats = np.clip(np.where(f.integer[first], to(x), x), f.lower[first], f.upper[first])
        return found

    def first_cost(self, x: Floats) -> float:
        """Return the cost of a first stage alone, to be minimised."""
        f = self.compact.formulation
        return self.sign * (float(f.costs[self.first] @ x) + f.offset)

    def is_first_stage(self, x: Floats) -> bool:
        """Return whether a first stage satisfies its own rows."""
        f, rows, matrix = self.compact.formulation, self.kept, self._first_rows
        room = TOLERANCES.feasibility * (1.0 + abs(matrix) @ np.abs(x))
        moved = matrix @ x
        return bool(((moved >= f.row_lower[rows] - room) & (moved <= f.row_upper[rows] + room)).all())

    # --- both --------------------------------------------------------------------------------------------------------

    def values(self, x: Floats) -> Values:
        """Return a first stage, integer where required, with optimal second stages."""
        values = np.zeros(len(self.compact.names))
        values[self.first] = x
        optima = self.recourse.optima(x)
        if np.isfinite(optima.costs).all():
            for members, best in zip(self._members, optima.points, strict=True):
                for k in members:
                    values[self._own[k]] = best
        return Values(self.compact, values, self.kept)

    def solution(self, x: Floats) -> Solution | None:
        """Return a first stage, integer where required, as a solution of the master; None if it is infeasible."""
        f, first = self.compact.formulation, self.first
        answer = self.values(x)
        try:
            objective = recompute_objective(self.compact, answer)
        except InfeasibleAnswerError:
            return None
        keys = [f.column_keys[k] for k in first.tolist()]
        values: dict[Key, float] = dict(zip(keys, answer.array[first].tolist(), strict=True))
        costs: list[list[float]] = [[] for _ in range(self.recourse.count)]
        for group, members in zip(self.recourse.group_of.tolist(), self._members, strict=True):
            costs[group] += [float(f.costs[self._own[k]] @ answer.array[self._own[k]]) for k in members]
        for group, paid in enumerate(costs):
            above = max(self.sign * math.fsum(paid) - float(self.least[group]), 0.0)
            values[self.cost_name, group] = self.sign * above / float(self.units[group])
        integral = frozenset(f.column_keys[k] for k in first[f.integer[first]].tolist())
        return Solution(objective, variables={key: value for key, value in values.items() if value}, integer=integral)

    # --- how they are made -------------------------------------------------------------------------------------------

    def _stages(self) -> Iterator[SecondStage]:
        """Yield the second stages, cut from one matrix with all of them side by side."""
        f = self.compact.formulation
        each_rows = [np.flatnonzero(self._of_row == number) for number in range(len(self._own))]
        own = sparse.csc_array(f.matrix)[:, np.concatenate(self._own)]  # no row of another stage has an entry there
        first = self._over_first[np.concatenate(each_rows), :]
        column = row = 0
        for mine, rows in zip(self._own, each_rows, strict=True):
            starts, entries = _slice_of(own, column, column + len(mine))
            place = np.searchsorted(rows, own.indices[entries])
            own_part = sparse.csc_array((own.data[entries], place, starts), shape=(len(rows), len(mine)))
            starts, entries = _slice_of(first, row, row + len(rows))
            first_part = sparse.csr_array(
                (first.data[entries], first.indices[entries], starts), shape=(len(rows), len(self.first))
            )
            column, row = column + len(mine), row + len(rows)
            yield SecondStage(
                self.sign * f.costs[mine],
                f.lower[mine],
                f.upper[mine],
                own_part,
                first_part,
                f.row_lower[rows],
                f.row_upper[rows],
            )

    def _least_costs(self, names: Sequence[Hashable]) -> Floats:
        """Return a lower bound on the cost of each second stage over the relaxed first stage: its least cost.

        It is computed from dual values, because the error of a solver's objective may exceed small costs.  In large
        families with different matrices T the dual values of one stage bound all over a box around the first stage.
        """
        f, recourse = self.compact.formulation, self.recourse
        costs, sides = self.sign * f.costs[self.first], (f.row_lower[self.kept], f.row_upper[self.kept])
        lower, upper = f.lower[self.first], f.upper[self.first]
        alone = LinearProgram(Program(False, sparse.csc_array(self._first_rows), costs, lower, upper, *sides))
        start = alone.solve()
        if start.status is LPStatus.UNBOUNDED:
            raise _unbounded("the first stage")
        least = np.full(len(recourse.stages), -np.inf)
        for members, family in zip(recourse.members, recourse.families, strict=True):
            if not family.shares_first and len(members) > _EXACT and start.status is LPStatus.OPTIMAL:
                least[members] = family.bounds_over(start.values, *self._box())
            left = members[least[members] == -np.inf]
            for some in [left] if family.shares_first else left[:, None]:
                stages = [recourse.stages[k] for k in some.tolist()]
                matrix = self._below_first_rows(stages[0])
                together = StageFamily([self._with_first_stage(stage, *matrix) for stage in stages])
                found = together.optima(_NONE)
                unbounded = some[found.costs == -np.inf]
                if len(unbounded):
                    raise _unbounded(f"block {names[self._members[unbounded[0]][0]]}")
                bounds = together.bounds_at(_NONE)[0]
                least[some] = np.where(np.isfinite(found.costs) & np.isfinite(bounds), bounds, 0.0)
        return least

    def _below_first_rows(self, stage: SecondStage) -> tuple[sparse.csc_array, sparse.csr_array]:
        """Return the matrices of the first stage's rows and a stage's rows over both, and over nothing else."""
        parts = [[self._first_rows, None]] if len(self.kept) else []
        matrix = sparse.csc_array(sparse.block_array([*parts, [stage.first, stage.own]]))
        return matrix, sparse.csr_array((matrix.shape[0], 0))

    def _with_first_stage(self, stage: SecondStage, own: sparse.csc_array, no: sparse.csr_array) -> SecondStage:
        """Return a second stage with the variables and rows of the first."""
        f, first, rows = self.compact.formulation, self.first, self.kept
        return SecondStage(
            np.append(np.zeros(len(first)), stage.costs),
            np.append(f.lower[first], stage.lower),
            np.append(f.upper[first], stage.upper),
            own,
            no,
            np.append(f.row_lower[rows], stage.row_lower),
            np.append(f.row_upper[rows], stage.row_upper),
        )

    def _box(self) -> tuple[Floats, Floats]:
        """Return bounds of the first stage's variables; infinite ones are replaced by those that its rows imply."""
        f, first, rows = self.compact.formulation, self.first, self.kept
        matrix, no = sparse.csc_array(self._first_rows), sparse.csr_array((len(rows), 0))
        sides = f.lower[first], f.upper[first], matrix, no, f.row_lower[rows], f.row_upper[rows]
        box = []
        for sign, bounds in ((1.0, f.lower[first].copy()), (-1.0, f.upper[first].copy())):
            for k in np.flatnonzero(~np.isfinite(bounds)).tolist():
                costs = np.zeros(len(first))
                costs[k] = sign
                alone = StageFamily([SecondStage(costs, *sides)])
                if np.isfinite(alone.optima(_NONE).costs[0]):
                    bounds[k] = sign * alone.bounds_at(_NONE)[0][0]
            box.append(bounds)
        return box[0], box[1]


_NONE = np.empty(0)

_EXACT = 64
"""Maximum number of stages with different matrices T whose least costs are exact."""

_LARGEST = 2.0**-24
"""Minimum ratio of the unit of a cost to its least value."""


def _slice_of(matrix: sparse.csc_array | sparse.csr_array, first: int, last: int) -> tuple[Ints, slice]:
    """Return the relative starts of some columns (rows) of a matrix, and the slice of their entries."""
    starts = matrix.indptr[first : last + 1]
    return starts - starts[0], slice(int(starts[0]), int(starts[-1]))


def _unbounded(which: str) -> InputError:
    return InputError(f"the cost of {which} is unbounded, expected bounded stages; add bounds to its variables")


def _stage_of_rows(compact: CompactModel, partition: Partition) -> Ints:
    """Return the block of each row's second-stage variables, :data:`MASTER` if there are none."""
    entries = sparse.coo_array(compact.rows)
    blocks = partition.of_column[entries.col]
    rows, blocks = entries.row[blocks != MASTER], blocks[blocks != MASTER]
    stage = np.full(compact.rows.shape[0], MASTER)
    stage[rows] = blocks
    other = np.flatnonzero(stage[rows] != blocks)
    if len(other):
        row = int(rows[other].min())
        first, second = (partition.names[k] for k in np.unique(blocks[rows == row])[:2].tolist())
        raise InputError(
            f"constraint {compact.constraint_name(row)!r} links blocks {first} and {second}, expected constraints "
            "over the first stage and one block"
        )
    return stage


def with_first_stage(compact: CompactModel, partition: Partition) -> Partition:
    """Return the partition with variables that link blocks in the first stage."""
    of_column = partition.of_column.copy()
    of_column[linking_variables(compact, partition)] = MASTER
    return dataclasses.replace(partition, of_column=of_column)


def has_linear_stages(compact: CompactModel, partition: Partition) -> bool:
    """Return whether the blocks are second stages without integer variables: only variables link them."""
    linked = with_first_stage(compact, partition)
    own = linked.of_column != MASTER
    if (compact.formulation.integer & own).any() or not own.any():
        return False
    entries = sparse.coo_array(compact.rows)
    blocks, rows = linked.of_column[entries.col], entries.row
    shares = np.zeros(compact.rows.shape[0], dtype=np.bool_)
    shares[rows[blocks == MASTER]] = True
    first = np.full(len(shares), MASTER)
    first[rows[blocks != MASTER]] = blocks[blocks != MASTER]
    alone = (first[rows] == blocks) | (blocks == MASTER)
    return bool(alone.all() and len(np.unique(first[shares & (first != MASTER)])) > 1)


def _candidate_names(name: str) -> itertools.chain[str]:
    return itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2)))
