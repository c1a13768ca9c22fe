"""The restricted master as a linear program: born from a Pyomo template, warm-started in HiGHS."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import operator
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.activity import activity
from colgen.core.budget import Budget
from colgen.core.columns import Column, Key, Row
from colgen.core.decision import Decision, fractionality
from colgen.core.duals import Duals, RowNames
from colgen.core.errors import FormulationError, InputError, SolverError, UnknownRowError
from colgen.core.pool import Pool
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.master import integer
from colgen.master.accounts import contributions, itemised
from colgen.master.by_function import Entries, RowsByFunction, entries_of_rows
from colgen.master.dual_bound import dual_bound
from colgen.master.idle_rows import IdleRows
from colgen.master.linking import Linking
from colgen.master.protocol import MasterSolution, MasterStatus, RestrictedMaster
from colgen.master.pyomo_export import to_pyomo
from colgen.master.table import GIVEN, TEMPLATE, ColumnTable
from colgen.model.formulation import Formulation
from colgen.pricing.oracles import Pricing, PricingResult
from solvers.linear import lp as programs
from solvers.linear.lp import LinearProgram, LPSolution, LPStatus, powers_of_two, row_sizes, typical_size
from solvers.linear.options import OptionError, check_options

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_ROUNDING = 1e-13
"""What rounding leaves of a reduced cost, relative to the largest of the terms that it is made of."""

_DROWNED = 2.0**30
"""Beside dual values so many times the scale of the objective, double precision leaves too little of the others."""

_BOX = 2.0**20
"""How far an unbounded master may go in a box, beyond the largest of its sides."""

_Batch: TypeAlias = tuple[Floats, NDArray[np.int64], NDArray[np.int64], Floats]


class _Entries(NamedTuple):
    """A column with what the master has looked up about it."""

    column: Column
    identity: Hashable
    rows: list[int]
    values: list[float]


class LinearMaster(RestrictedMaster):
    """A restricted master that is a linear program, warm-started in HiGHS.

    Phase 1 is true: while the artificial variables (marked in the template, or added with rows that zero columns would
    violate) cannot be driven to zero, their sum is minimised and columns cost nothing; once it is zero they are fixed
    there and the real costs return.

    The program is solved at its own scale: rows and objective are multiplied by powers of two, so that tolerances are
    relative (see :mod:`solvers.linear.lp`); the sum of phase 1 is one of scaled violations.  Everything else, and all
    that oracles see, is in the user's units.

    It is made in HiGHS at its first solve.  Until then it is in phase 2: :meth:`dual_bound`, :meth:`reduced_costs` and
    :meth:`violation` speak of the real objective, and cost next to nothing.

    Parameters
    ----------
    formulation
        The compiled Pyomo template.
    central
        Take dual values from the middle of the optimal ones, which an interior point method finds, and not from the
        simplex method's corner.  Where the optimum is degenerate, as in set partitioning with few and large parts, that
        saves most rounds (Gondzio, González-Brevis, Munari, *New developments in the primal-dual column generation
        technique*, EJOR 224, 2013), and oracles find central dual values easier; each solve costs more.
    dual_first
        Solve by the dual simplex method at first: for a master that has all or most of its columns from the start.
    options
        Of HiGHS, by name: ``{"simplex_price_strategy": 1, "random_seed": 7}``.  They are for its linear programs; what
        :meth:`solve_integer` and central dual values need is set elsewhere.

    Raises
    ------
    InputError
        If HiGHS has no such option, or not of this value.
    """

    def __init__(
        self,
        formulation: Formulation,
        *,
        central: bool = False,
        dual_first: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.formulation = f = formulation
        self.central = central
        self.sense = f.sense
        for key, low, high in zip(f.row_keys, f.row_lower, f.row_upper, strict=True):
            if low > high:
                raise FormulationError(f"row {key!r} asks for at least {low} and at most {high}")
        self.names = RowNames()
        for key in f.row_keys:
            self.names.append(key)
        self.row_lower, self.row_upper = f.row_lower.copy(), f.row_upper.copy()
        self.table = ColumnTable(f)
        self._by_function = RowsByFunction()
        self._idle = IdleRows()
        self._by_key: dict[Key, list[tuple[int, float]]] = {}
        self._looked_up: dict[int, _Entries] = {}
        self._last_batch: tuple[tuple[Column, ...], _Batch] | None = None
        self._last_products: tuple[Duals | None, tuple[int, int, int], Floats] = (None, (0, 0, 0), np.empty(0))
        self._decision_rows: set[Key] = set()
        self._decisions: tuple[Decision, ...] = ()
        self._allowed: dict[Decision, Mask] = {}
        self._fixed: Mapping[Hashable, float] = {}
        self._proper: str | None = None
        self._contradictory = False
        self._rounding = 0.0
        self._scale_of_guess: float | None = None
        self._softened = 0
        self.phase = 2  # until it is solved: what is asked of it before that is asked of the real objective
        owners = np.repeat(np.arange(len(f.costs)), np.diff(f.matrix.indptr))
        real = np.where(f.artificial[owners], 0.0, f.matrix.data)
        shape = sparse.csc_array((real, f.matrix.indices, f.matrix.indptr), shape=f.matrix.shape)
        sizes = row_sizes(shape, f.row_lower, f.row_upper)
        self.unsized = sizes == 0.0
        self.row_sizes = np.where(self.unsized, 1.0, sizes)
        # In phase 1, an artificial variable of the template costs as much as it moves its rows, by their sizes.
        moves = np.zeros(len(f.costs))
        np.maximum.at(moves, owners, np.abs(f.matrix.data) / self.row_sizes[f.matrix.indices])
        self.weights = np.where(f.artificial, powers_of_two(moves), 0.0)
        self._lp: LinearProgram | None = None
        self._dual_first = dual_first
        self._options: dict[str, Any] = {}
        if options is not None:
            self.set_options(options)

    @property
    def lp(self) -> LinearProgram:
        """The program in HiGHS, made when it is first asked for: bounds, checks and reduced costs do without."""
        if self._lp is None:
            table = self.table
            self._lp = LinearProgram(
                self.sense is Sense.MAXIMIZE,
                table.matrix(np.arange(len(table)), self.num_rows),
                self.current_costs(),
                table.lower_now,
                table.upper_now,
                self.row_lower,
                self.row_upper,
                self.formulation.offset if self.phase == 2 else 0.0,
                dual_first=self._dual_first,
                options=self._options,
                sizes=np.where(self.unsized, 0.0, self.row_sizes),
                units=np.where(table.artificial, 1.0 / np.where(table.artificial, self.weights, 1.0), 1.0),
            )
        return self._lp

    @lp.setter
    def lp(self, program: LinearProgram) -> None:
        self._lp = program

    def set_options(self, options: Mapping[str, Any]) -> None:
        try:
            self._options |= check_options(options)
        except OptionError as error:
            raise InputError(f"lp_options: {error}") from None
        if self._lp is not None:
            raise InputError("lp_options: the linear program has been solved already, with other options")

    @property
    def is_built(self) -> bool:
        """Whether the program is in HiGHS: from the first solve on."""
        return self._lp is not None

    # --- size --------------------------------------------------------------------------------------------------------

    @property
    def num_columns(self) -> int:
        return len(self.table)

    @property
    def num_rows(self) -> int:
        return len(self.names.keys)

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The size of the costs that answers are made of, a power of two; in phase 1 that of a scaled violation."""
        if self._scale_of_guess is not None:
            return self._scale_of_guess
        return self.objective_scale if self.phase == 2 else 1.0

    @property
    def objective_scale(self) -> float:
        """The size of the real costs, known from the columns alone before phase 2 is solved."""
        if self._lp is None or self.phase == 1:
            return typical_size(self.table.costs, 0.0)
        return self._lp.cost_scale

    @property
    def columns(self) -> tuple[Column, ...]:
        """The generated columns in the master, in the order in which they came."""
        return tuple(column for column in self.table.columns if column is not None)

    @property
    def idle_rows(self) -> tuple[Key, ...]:
        """Keys of the rows that are out of the linear program because they have been slack for long."""
        return tuple(self.names.keys[position] for position in self._idle.out.tolist())

    def sides(self, block: str) -> Mapping[Key, tuple[float, float]]:
        rows = self.names.block(block).tolist()
        return {self.names.keys[r]: (float(self.row_lower[r]), float(self.row_upper[r])) for r in rows}

    def has_row(self, key: Key) -> bool:
        return key in self.names.position

    def holds(self, column: Column) -> bool:
        return self._identity(column) in self.table.position

    checks_rows = True

    def origin(self, column: Column) -> int | None:
        where = self.table.position.get(self._identity(column))
        origin = GIVEN if where is None else int(self.table.origins[where])
        return None if origin < 0 else origin

    def overuses(self, solved: MasterSolution, pricing: Sequence[Pricing]) -> bool:
        origins = self.table.origins[: len(solved.values)]
        for number, oracle in enumerate(pricing):
            if math.isfinite(oracle.multiplicity):
                # Columns that were given may be anybody's.
                mine = (origins == number) | (origins == GIVEN)
                if solved.values[mine].sum() > oracle.multiplicity * (1.0 + TOLERANCES.diagnostic):
                    return True
        return False

    def is_whole(self, solved: MasterSolution) -> bool:
        integer = self.table.integer[: len(solved.values)]  # columns may have come since it was solved
        values = solved.values[integer]
        return bool((abs(values - values.round()) <= TOLERANCES.integrality).all())

    def find(self, identity: Hashable) -> Column:
        position = self.table.position.get(identity)
        column = None if position is None else self.table.columns[position]
        if column is None:
            raise UnknownRowError(f"the master has no generated column {identity!r}")
        return column

    def is_open(self, column: Column) -> bool:
        return math.isinf(self.table.upper_now[self.table.position[self._identity(column)]])

    # --- solving -----------------------------------------------------------------------------------------------------

    def solve(self, budget: Budget | None = None) -> MasterSolution:
        budget = Budget() if budget is None else budget
        if self._contradictory:  # the node's decisions leave no value for some variable or row
            return MasterSolution(MasterStatus.INFEASIBLE, phase=1)
        if self._lp is None and self.formulation.artificial.any():
            self._enter_phase(1)
        solved = self._solve(budget)
        if self.phase == 2 and solved.status is LPStatus.INFEASIBLE and self.table.artificial.any():
            self._enter_phase(1)
            solved = self._solve(budget)
        if solved.status is LPStatus.INFEASIBLE and self._soften_rows():
            self._enter_phase(1)
            solved = self._solve(budget)
        feasible = solved.status is LPStatus.OPTIMAL and abs(solved.objective) <= self.feasibility_tolerance
        if self.phase == 1 and feasible:
            # Fixed where they are, not exactly at zero: without what rounding left of them phase 2 can be infeasible.
            self._enter_phase(2, residual=solved.values)
            solved = self._solve(budget)
        if solved.status is not LPStatus.OPTIMAL:
            return MasterSolution(MasterStatus[solved.status.name], phase=self.phase)
        solved = self._without_penalties(solved, budget)
        central = self.central and self.phase == 2 and self.num_rows > 0 and self.scale > 0.0
        duals = self._signed(self._central_duals(solved, budget.seconds_left) if central else solved.duals)
        if self.unsized.any():  # no entry, no side: any value is a dual value, and zero is one in all units
            duals = np.where(self.unsized, 0.0, duals)
        self._rounding = _ROUNDING * float((np.abs(duals) * self.row_sizes).max(initial=0.0))
        # A column is out if the dual values that are used keep it out: at a degenerate optimum others would not.
        used = self.current_costs() - self.table.row_products(duals) if central else solved.reduced_costs
        self.table.grow_older(self.sense, used, TOLERANCES.pruning * self.scale)
        self._take_out(solved)
        return MasterSolution(
            MasterStatus.OPTIMAL, solved.objective, solved.values, Duals(duals, self.names), self.phase
        )

    def _solve(self, budget: Budget) -> LPSolution:
        while True:
            try:
                solved = self.lp.solve(max(budget.deadline - time.monotonic(), 0.0), lambda: budget.expired)
            except programs.SolverError as error:
                raise SolverError(str(error)) from error
            if solved.status in (LPStatus.LIMIT, LPStatus.INFEASIBLE):  # without some of its rows already
                return solved
            if not self._put_back(solved.status is LPStatus.UNBOUNDED, solved):
                return solved

    def _put_back(self, all_of_them: bool, solved: LPSolution | None = None) -> bool:
        """Put rows back that a solution violates, or all of them; whether there was any."""
        if not len(self._idle.out):
            return False
        activity = None
        if not all_of_them and solved is not None:
            activity = self.table.activities(solved.values, self.num_rows)
        rows = self._idle.put_back(activity, self.row_lower, self.row_upper, self.row_sizes)
        self.lp.change_row_bounds(rows, self.row_lower[rows], self.row_upper[rows])
        return len(rows) > 0

    def _take_out(self, solved: LPSolution) -> None:
        """Take rows out that have been slack for long enough."""
        if not len(self._idle) or self.phase == 1:
            return
        activity = self.table.activities(solved.values, self.num_rows)
        rows = self._idle.taken_out(activity, self.row_lower, self.row_upper, self.row_sizes)
        if len(rows):
            self.lp.change_row_bounds(rows, np.full(len(rows), -math.inf), np.full(len(rows), math.inf))

    def solve_in_a_box(self, budget: Budget) -> MasterSolution | None:
        table = self.table
        _, rows, entries = table.entries_of(len(table))
        least = np.full(self.num_rows, math.inf)
        np.minimum.at(least, rows[entries != 0.0], np.abs(entries[entries != 0.0]))
        ends = np.concatenate([self.row_lower / least, self.row_upper / least, table.lower_now, table.upper_now])
        far = _BOX * max(1.0, float(np.abs(ends[np.isfinite(ends)]).max(initial=0.0)))
        unlimited = np.flatnonzero(np.isinf(table.lower_now) | np.isinf(table.upper_now))
        lower, upper = table.lower_now[unlimited], table.upper_now[unlimited]
        self.lp.change_bounds(unlimited, np.maximum(lower, -far), np.minimum(upper, far))
        try:
            solved = self._solve(budget)
        finally:
            self.lp.change_bounds(unlimited, lower, upper)
        if solved.status is not LPStatus.OPTIMAL:
            return None
        duals = Duals(solved.duals, self.names)
        return MasterSolution(MasterStatus.OPTIMAL, solved.objective, solved.values, duals, self.phase)

    def _without_penalties(self, solved: LPSolution, budget: Budget) -> LPSolution:
        """The same optimum with other dual values, where those of penalties that nobody pays drown all the rest.

        At a degenerate optimum a column of enormous cost may be basic at zero, and its cost a dual value.  Without such
        columns the optimum is the same, and its dual values keep them out all the more.
        """
        table, scale = self.table, self.scale
        drowning = _DROWNED * scale
        if self.phase == 1 or len(self._idle.out) or not (np.abs(solved.duals) * self.row_sizes > drowning).any():
            return solved
        free = (table.lower_now <= 0.0) & (table.upper_now > 0.0) & ~table.artificial
        unpaid = np.flatnonzero(free & (np.abs(solved.values) <= TOLERANCES.pruning) & (np.abs(table.costs) > drowning))
        if not len(unpaid):
            return solved
        other = self.lp.solve_without(unpaid, budget.seconds_left, lambda: budget.expired)
        if other.status is not LPStatus.OPTIMAL:
            return solved
        gains = self.sense.gains(table.costs - table.row_products(other.duals))[unpaid]
        gains = np.where(table.lower_now[unpaid] < 0.0, np.abs(gains), gains)
        return other if (gains <= 0.0).all() else solved

    @property
    def rounding(self) -> float:
        return self._rounding

    def _central_duals(self, solved: LPSolution, time_limit: float) -> Floats:
        """Dual values from the interior, made exact where complementary slackness says what they must be."""
        duals = self.lp.interior_duals(time_limit)
        if duals is None:
            return solved.duals
        table = self.table
        inside = TOLERANCES.pruning
        between = (solved.values > table.lower_now + inside) & (solved.values < table.upper_now - inside)
        matrix = table.matrix(np.flatnonzero(between), self.num_rows).toarray().T
        costs = self.current_costs()
        duals = self._signed(duals + np.linalg.lstsq(matrix, costs[between] - matrix @ duals)[0])
        gains = self.sense.gains(costs - table.row_products(duals))
        gains = np.where(between, np.abs(gains), np.where(table.upper_now > solved.values + inside, gains, 0.0))
        feasible = (gains <= TOLERANCES.reduced_cost * np.maximum(self.scale, np.abs(costs))).all()
        return duals if feasible else solved.duals

    @property
    def feasibility_tolerance(self) -> float:
        """A phase 1 optimum above this proves infeasibility."""
        return TOLERANCES.artificial

    def solution(self, solved: MasterSolution) -> Solution:
        return self.table.solution(solved.objective, solved.values)

    solves_integers = True

    def solve_integer(
        self, time_limit: float = math.inf, start: Solution | None = None, stopped: programs.Stopped | None = None
    ) -> tuple[Solution | None, float]:
        self._put_back(all_of_them=True)
        return integer.solve_integer(self, time_limit, start, stopped)

    def solve_over(
        self,
        columns: Sequence[Column],
        sides: Mapping[Key, tuple[float, float]],
        target: float,
        time_limit: float,
        *,
        any_will_do: bool = False,
        stopped: programs.Stopped | None = None,
    ) -> tuple[MasterStatus, Solution | None]:
        return integer.solve_over(self, columns, sides, target, time_limit, any_will_do, stopped)

    def rounded(self, solution: Solution) -> Solution | None:
        return integer.rounded(self, solution)

    def _enter_phase(self, phase: int, residual: Floats | None = None) -> None:
        self.phase = phase
        table = self.table
        artificial = np.flatnonzero(table.artificial)
        upper = np.full(len(artificial), math.inf)
        if residual is not None:
            upper = np.maximum(residual[artificial], 0.0)
        table.upper_now[artificial] = upper
        if self._lp is not None:
            self._lp.change_objective(self.current_costs(), self.formulation.offset if phase == 2 else 0.0)
            self._lp.change_bounds(artificial, np.zeros(len(artificial)), upper)

    def current_costs(self) -> Floats:
        """The objective of the current phase."""
        if self.phase == 2:
            return self.table.costs
        return np.where(self.table.artificial, self.sense.sign * self.weights, 0.0)

    def _signed(self, duals: Floats) -> Floats:
        """Duals without the wrong signs that a solver's tolerance leaves: no lower side, no pull upwards."""
        s = self.sense.sign
        duals = np.where(np.isneginf(self.row_lower), s * np.minimum(s * duals, 0.0), duals)
        return np.where(np.isposinf(self.row_upper), s * np.maximum(s * duals, 0.0), duals)

    # --- growing -----------------------------------------------------------------------------------------------------

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origin: int = -1) -> int:
        new: dict[Hashable, Column] = {}
        self._look_up_all(columns)
        for column in columns:
            identity = self._identity(column)
            if identity not in self.table.position:
                new.setdefault(identity, column)
        brought = [row for column in new.values() for row in column.rows]
        self.add_rows([*rows, *brought])
        if new:
            self._add_columns(new, origin)
        self._forget()
        return len(new)

    def _identity(self, column: Column) -> Hashable:
        # A column that brings rows cannot be looked up before they are there.
        identity = column.identity if column.rows else self._look_up(column).identity
        where = self.table.position.get(identity)
        if where is not None and self.table.columns[where] is None:
            raise FormulationError(
                f"the column of {column.structure!r} has the key {column.key!r}, which is a variable of the template: "
                "give it another, or it would be taken for that variable"
            )
        return identity

    def add_rows(self, rows: Iterable[Row], sides: Mapping[Key, tuple[float, float]] | None = None) -> None:
        """Append rows with their coefficients in all present columns; those that the master knows are passed over.

        ``sides``: what is known of the sides of rows that are added without any; it tells their size.
        """
        fresh = {row.key: row for row in rows if row.key not in self.names.position}
        if not fresh:
            return
        self._forget()
        starts = [0]
        entry_columns: list[int] = []
        entry_values: list[float] = []
        first = self.num_rows
        generated = list(self.table.generated())
        by_function = entries_of_rows(list(fresh.values()), [column for _, column in generated])
        for row, stated in zip(fresh.values(), by_function, strict=True):
            if not (row.lower <= row.upper and row.lower < math.inf and row.upper > -math.inf):
                raise FormulationError(
                    f"row {row.key!r} has the sides {row.lower} and {row.upper}; expected lower ≤ upper"
                )
            position = self.names.append(row.key)
            entries: dict[int, float] = {}
            for key, value in row.coefficients.items():
                # Remembered for columns that are here as well: one that is deleted may be generated again.
                self._by_key.setdefault(key, []).append((position, float(value)))
                column_position = self.table.position.get(key)
                if column_position is not None:
                    entries[column_position] = float(value)
            self._by_function.append(position, row)
            bounded = math.isfinite(row.lower) or math.isfinite(row.upper)  # rows of decisions come without sides
            if bounded and row.family is not None and row.family.idle_after is not None:
                self._idle.append(position, row.family.idle_after)
            for number, value in stated.items():
                entries.setdefault(generated[number][0], value)
            entry_columns += entries.keys()
            entry_values += entries.values()
            starts.append(len(entry_columns))
        lower = np.array([row.lower for row in fresh.values()])
        upper = np.array([row.upper for row in fresh.values()])
        self.row_lower = np.append(self.row_lower, lower)
        self.row_upper = np.append(self.row_upper, upper)
        columns, values = np.array(entry_columns, dtype=np.int64), np.array(entry_values, dtype=np.float64)
        if not np.isfinite(values).all():
            first_bad = int(np.flatnonzero(~np.isfinite(values))[0])
            named = list(fresh)[int(np.searchsorted(starts, first_bad, side="right")) - 1]
            raise FormulationError(f"row {named!r} has a coefficient that is not a finite number")
        known = [(sides or {}).get(row.key, (row.lower, row.upper)) for row in fresh.values()]
        matrix = sparse.csr_array((values, columns, starts), shape=(len(fresh), max(len(self.table), 1)))
        sizes = row_sizes(matrix, np.array([low for low, _ in known]), np.array([high for _, high in known]))
        self.unsized = np.append(self.unsized, sizes == 0.0)
        self.row_sizes = np.append(self.row_sizes, np.where(sizes > 0.0, sizes, 1.0))
        if self._lp is not None:
            self._lp.add_rows(lower, upper, np.array(starts), columns, values, sizes)
        else:
            self._dual_first = True
        self.table.add_entries(columns, np.repeat(np.arange(first, self.num_rows), np.diff(starts)), values)
        added = np.arange(first, self.num_rows)
        self._add_artificials(added[lower > 0], 1.0)
        self._add_artificials(added[upper < 0], -1.0)

    def _add_artificials(self, rows: NDArray[np.int64], sign: float) -> None:
        """Artificial variables for rows that columns at zero would violate, so that phase 1 can always begin."""
        count = len(rows)
        if not count:
            return
        values = sign * self.row_sizes[rows]  # each counts its row's violation, measured by the row's size
        self.table.append_artificial(count, self.phase)
        self.weights = np.append(self.weights, np.ones(count))
        self.table.add_entries(np.arange(len(self.table) - count, len(self.table)), rows, values)
        if self._lp is not None:
            self._lp.add_columns(
                self.current_costs()[-count:],
                np.zeros(count),
                self.table.upper_now[-count:],
                np.arange(count + 1),
                rows,
                values,
            )

    def _soften_rows(self) -> bool:
        """Artificial variables for all rows that have not got any here; False if there is no such row.

        An infeasible restricted master proves nothing while a row that columns could satisfy has no artificial
        variable.
        """
        rows = np.arange(self._softened, self.num_rows)
        self._softened = self.num_rows
        self._add_artificials(rows, 1.0)
        self._add_artificials(rows, -1.0)
        return len(rows) > 0

    def _add_columns(self, new: Mapping[Hashable, Column], origin: int) -> None:
        columns = list(new.values())
        self._look_up_all(columns)
        starts = [0]
        rows: list[int] = []
        values: list[float] = []
        for column in columns:
            entry_rows, entry_values = self.entries(column)
            rows += entry_rows
            values += entry_values
            starts.append(len(rows))
        first = len(self.table)
        self.table.append(new, origin)
        self.weights = np.append(self.weights, np.zeros(len(new)))
        where = np.arange(first, len(self.table))
        row_array, value_array = np.array(rows, dtype=np.int64), np.array(values, dtype=float)
        owners = np.repeat(where, np.diff(starts))
        _check_finite(columns, self.table.costs[where], owners - first, value_array)
        self.table.add_entries(owners, row_array, value_array)
        if self.unsized[row_array].any():
            self._size_rows(row_array, value_array)
        for decision in self._decisions:
            self.table.upper_now[where] = np.where(
                [decision.allows(c) for c in columns], self.table.upper_now[where], 0.0
            )
        if self._lp is not None:
            self._lp.add_columns(
                self.table.costs[where] if self.phase == 2 else np.zeros(len(where)),
                self.table.lower_now[where],
                self.table.upper_now[where],
                np.array(starts),
                row_array,
                value_array,
            )

    def _size_rows(self, rows: NDArray[np.int64], values: Floats) -> None:
        """Let the first entries of rows that had neither sides nor entries tell their size.

        Artificial variables of one row count its violation in that size from now on.
        """
        largest = np.zeros(self.num_rows)
        np.maximum.at(largest, rows, np.abs(values))
        fresh = np.flatnonzero(self.unsized & (largest > 0.0))
        owners, there, entries = self.table.entries_of(len(self.table))
        single = np.bincount(owners, minlength=len(self.table))[owners] == 1
        mine = np.isin(there, fresh) & self.table.artificial[owners]
        fresh = np.setdiff1d(fresh, there[mine & ~single])  # shared with other rows: they stay as they are
        sizes = np.ones(self.num_rows)
        sizes[fresh] = powers_of_two(largest[fresh])
        mine &= np.isin(there, fresh)
        units = sizes[there[mine]] / powers_of_two(np.abs(entries[mine]))
        self.weights[owners[mine]] = 1.0 / units
        self.row_sizes[fresh], self.unsized[fresh] = sizes[fresh], False
        if self._lp is not None:
            self._lp.set_sizes(fresh, sizes[fresh], owners[mine], units)

    def entries(self, column: Column) -> tuple[list[int], list[float]]:
        """Positions of the rows that a column has coefficients in, and the coefficients.

        Its own coefficients come first in rank, then rows that speak of it by key, then rows that know its coefficient
        by function.
        """
        known = self._look_up(column)
        return known.rows, known.values

    def known_entries(self, column: Column) -> tuple[list[int], list[float]]:
        """The same, where the master may lack some of the column's rows: they are left out."""
        own = {key: a for key, a in column.coefficients.items() if key in self.names.position}
        return self.entries(dataclasses.replace(column, coefficients=own))

    def itemised(self, stated: float, column: Column, duals: Any, weight: float) -> str:
        if not isinstance(duals, Duals):
            return ""
        return itemised(stated, contributions(column, self.known_entries(column), duals, weight))

    def _look_up(self, column: Column) -> _Entries:
        """Identity and entries of a column, remembered until columns or rows are added: a round asks several times."""
        known = self._looked_up.get(id(column))
        if known is None:
            rows, values = self._find_entries(column)
            known = self._looked_up[id(column)] = _Entries(column, column.identity, rows, values)
        return known

    def _forget(self) -> None:
        self._looked_up.clear()
        self._last_batch = None

    def _look_up_all(self, columns: Sequence[Column]) -> None:
        """Look up many columns at once: families of rows are asked for all of them together."""
        fresh = [column for column in columns if not column.rows and id(column) not in self._looked_up]
        if len(fresh) > 1 and self._by_function:
            for column, by_function in zip(fresh, self._by_function.entries(fresh), strict=True):
                rows, values = self._find_entries(column, by_function)
                self._looked_up[id(column)] = _Entries(column, column.identity, rows, values)

    def _find_entries(self, column: Column, known: Entries | None = None) -> Entries:
        position = self.names.position
        try:
            rows = [position[key] for key in column.coefficients]
        except KeyError as missing:
            raise UnknownRowError(
                f"the column of {column.structure!r} has a coefficient in row {missing.args[0]!r}, which the master "
                "does not have: add the row to the template, or let the column bring it in Column.rows"
                f"{self.names.instead_of(missing.args[0])}"
            ) from None
        values = list(column.coefficients.values())
        if column.key is not None and column.key in self._by_key:
            for row, value in self._by_key[column.key]:
                if row not in rows:
                    rows.append(row)
                    values.append(value)
        if self._by_function:
            ((by_function, amounts),) = self._by_function.entries([column]) if known is None else [known]
            for row, value in zip(by_function, amounts, strict=True):
                if row not in rows:
                    rows.append(row)
                    values.append(value)
        return rows, values

    # --- what a round proves -----------------------------------------------------------------------------------------

    def reduced_costs(self, columns: Sequence[Column], duals: Duals) -> Floats:
        weight = 1.0 if self.phase == 2 else 0.0
        costs, owners, rows, values = self._batch(columns)
        pi = np.append(duals.values, np.zeros(self.num_rows - len(duals.values)))
        return weight * costs - np.bincount(owners, values * pi[rows], minlength=len(costs))

    def _batch(self, columns: Sequence[Column]) -> _Batch:
        """Costs of columns, and their entries as triples of column, row, value; remembered for the next question."""
        if self._last_batch is not None:
            asked, batch = self._last_batch
            if len(asked) == len(columns) and all(map(operator.is_, asked, columns)):
                return batch
        self._look_up_all(columns)
        rows: list[int] = []
        values: list[float] = []
        lengths = []
        for column in columns:
            if column.rows:  # rows that are not there yet have no dual value: they are slack at the present solution
                own = {k: a for k, a in column.coefficients.items() if k in self.names.position}
                entry_rows, entry_values = self._find_entries(dataclasses.replace(column, coefficients=own, rows=()))
            else:
                entry_rows, entry_values = self.entries(column)
            rows += entry_rows
            values += entry_values
            lengths.append(len(entry_rows))
        owners = np.repeat(np.arange(len(columns)), lengths)
        entries = np.array(values, dtype=float)
        costs = np.array([column.cost for column in columns], dtype=float)
        _check_finite(columns, costs, owners, entries)
        batch = (costs, owners, np.array(rows, dtype=np.int64), entries)
        self._last_batch = (tuple(columns), batch)
        return batch

    def named(self, duals: Any) -> Mapping[Key, float]:
        return dict(zip(self.names.keys, duals.values.tolist(), strict=False))

    def centre(self, duals: Any) -> Floats | None:
        if isinstance(duals, Duals):
            values = np.append(duals.values, np.zeros(self.num_rows - len(duals.values)))
        else:
            values = np.zeros(self.num_rows)
            for name, given in duals.items():
                if isinstance(name, str):
                    values[self.names.block(name)] = given
                elif name in self.names.position:
                    values[self.names.position[name]] = given
        return self._signed(values)

    def pool(self, duals: Any) -> Pool | None:
        if not self.is_built:
            return None
        mine = np.flatnonzero(self.table.origins != TEMPLATE)
        reduced = np.full(len(mine), math.nan)
        if isinstance(duals, Duals):
            with self.real_costs():
                reduced = self.all_reduced_costs(duals)[mine]
        return Pool(self.columns, reduced, self.lp.basic_columns()[mine])

    def guessed(self, duals: Any) -> Duals:
        if isinstance(duals, Duals) and duals.has_names(self.names) and len(duals.values) == self.num_rows:
            return duals
        values = self.centre(duals)
        assert values is not None
        return Duals(values, self.names)

    @contextlib.contextmanager
    def real_costs(self) -> Iterator[None]:
        table, phase = self.table, self.phase
        if phase == 2:
            yield
            return
        self._scale_of_guess = typical_size(table.costs, 0.0) or 1.0
        limits = table.upper_now[table.artificial]
        self.phase, table.upper_now[table.artificial] = 2, 0.0
        try:
            yield
        finally:
            self.phase, self._scale_of_guess = phase, None
            table.upper_now[table.artificial] = limits

    def linking(self) -> Linking:
        return Linking(self, self.row_sizes, self._batch)

    def best_known(self, duals: Duals, oracles: int) -> Sequence[float]:
        table, s = self.table, self.sense.sign
        mask = np.isposinf(table.upper_now) & (table.origins >= (GIVEN if oracles == 1 else 0))
        reduced, best = s * self.all_reduced_costs(duals)[mask], np.full(oracles, math.inf)
        if oracles == 1:
            best[0] = reduced.min(initial=math.inf)
        else:
            np.minimum.at(best, table.origins[mask], reduced)
        known: list[float] = (s * best).tolist()
        return known

    def dual_bound(self, duals: Duals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        return dual_bound(self, duals, pricing, results)

    def all_reduced_costs(self, duals: Duals, theta: float = 1.0) -> Floats:
        """Of all columns at θπ; the products are remembered, for a round asks for them more than once."""
        asked, size, products = self._last_products
        now = (len(self.table), self.num_rows, self.table.deletions)
        if asked is not duals or size != now:
            products = self.table.row_products(duals.values)
            self._last_products = (duals, now, products)
        return self.current_costs() - theta * products

    def subgradient(self, solved: MasterSolution, bests: Sequence[Column | None]) -> Floats | None:
        """Row activities missing at the pricing problems' best columns, used as often as the master uses their like."""
        table = self.table
        values = solved.values
        static = table.origins < 0
        activity = table.activities(np.where(static, values, 0.0), self.num_rows)
        for k, best in enumerate(bests):
            if best is None:
                return None
            amount = float(values[table.origins == k].sum())
            rows, entries = self._find_entries(self._known_part(best))
            activity[rows] += amount * np.array(entries)
        pi = solved.duals.values
        side = np.where(self.sense.sign * pi >= 0, self.row_lower, self.row_upper)
        other = np.where(np.isfinite(self.row_lower), self.row_lower, self.row_upper)
        side = np.where(np.isfinite(side), side, np.where(np.isfinite(other), other, 0.0))
        return self.sense.sign * (side - activity)

    # --- nodes -------------------------------------------------------------------------------------------------------

    def apply(self, decisions: Sequence[Decision]) -> None:
        self._decisions = tuple(decisions)
        self._contradictory = False
        self._impose_rows()
        self._impose_bounds()

    def fix(self, fixed: Mapping[Hashable, float], proper: str | None = None) -> None:
        self._fixed, self._proper = dict(fixed), proper
        self._impose_bounds()

    def _impose_rows(self) -> None:
        sides: dict[Key, tuple[float, float]] = {}
        rows: dict[Key, Row] = {}
        for decision in self._decisions:
            row = decision.row()
            if row is not None:
                low, high = sides.get(row.key, (-math.inf, math.inf))
                sides[row.key] = (max(low, row.lower), min(high, row.upper))
                rows[row.key] = row
        # Its sides change from node to node: it is added with none, and with an artificial variable for either.
        free = [dataclasses.replace(row, lower=-math.inf, upper=math.inf) for row in rows.values()]
        first = self.num_rows
        self.add_rows(free, sides)
        added = np.arange(first, self.num_rows)
        self._add_artificials(added, 1.0)
        self._add_artificials(added, -1.0)
        stale = self._decision_rows - rows.keys()
        self._decision_rows = set(rows)
        keys = [*stale, *rows]
        if keys:
            positions = np.array([self.names.position[key] for key in keys])
            lower = np.array([-math.inf] * len(stale) + [sides[key][0] for key in rows])
            upper = np.array([math.inf] * len(stale) + [sides[key][1] for key in rows])
            self._contradictory |= bool((lower > upper).any())
            upper = np.maximum(lower, upper)
            self.row_lower[positions], self.row_upper[positions] = lower, upper
            if self._lp is not None:
                self._lp.change_row_bounds(positions, lower, upper)

    def _impose_bounds(self) -> None:
        table = self.table
        lower, upper = table.lower.copy(), table.upper.copy()
        upper[table.artificial] = table.upper_now[table.artificial]
        for decision in self._decisions:
            for key, (low, high) in decision.bounds().items():
                where = table.position.get(key)
                if where is None:
                    raise UnknownRowError(f"a branching decision bounds {key!r}, which the master does not have")
                lower[where], upper[where] = max(lower[where], low), min(upper[where], high)
            upper[~self._allowed_by(decision)] = 0.0
        self._contradictory |= bool((lower > upper).any())
        for identity, value in self._fixed.items():
            where = table.position[identity]
            lower[where] = max(lower[where], value)
        if self._fixed and self._proper is not None:
            upper = np.where(self._fits(lower, self._proper), upper, lower)
        # A dive may fix a column that the node forbids; it finds that out by its objective.
        upper = np.maximum(lower, upper)
        changed = np.flatnonzero((lower != table.lower_now) | (upper != table.upper_now))
        table.lower_now, table.upper_now = lower, upper
        if len(changed) and self._lp is not None:
            self._lp.change_bounds(changed, lower[changed], upper[changed])

    def _fits(self, fixed: Floats, block: str) -> Mask:
        """Which columns cover no more of any row of a block than the fixed ones leave over of its lower side."""
        left = np.full(self.num_rows, math.inf)
        rows = self.names.block(block)
        left[rows] = self.row_lower[rows] - self.table.activities(fixed, self.num_rows)[rows]
        return self.table.within(left + TOLERANCES.pruning * self.row_sizes)

    def _allowed_by(self, decision: Decision) -> Mask:
        """Which columns a decision allows, remembered and brought up to date with the columns that have come since."""
        known = self._allowed.get(decision, np.empty(0, dtype=bool))
        if len(known) < len(self.table):
            rest = self.table.columns[len(known) :]
            more = np.array([c is None or decision.allows(c) for c in rest], dtype=bool)
            known = self._allowed[decision] = np.append(known, more)
        return known

    def remove_stale(self, age: int) -> int:
        table = self.table
        keep = (table.ages < age) | (table.origins == TEMPLATE)
        keep |= table.lower_now > 0.0
        gone = np.flatnonzero(~keep)
        if not len(gone):
            return 0
        if self._lp is not None:
            self._lp.delete_columns(gone)
        table.keep(keep)
        self.weights = self.weights[keep]
        self._allowed.clear()
        return len(gone)

    def basis(self) -> Any:
        return (self.lp.basis(), self.table.deletions)

    def restore(self, basis: Any) -> None:
        saved, deletions = basis
        if (
            deletions == self.table.deletions
        ):  # after a deletion the positions have moved: keep the present basis instead
            self.lp.set_basis(saved)

    def objective_of(self, solution: Solution) -> float:
        f = self.formulation
        variables = sum(f.costs[self.table.position[key]] * value for key, value in solution.variables.items())
        return float(f.offset + variables + sum(column.cost * value for column, value in solution.columns))

    # --- checking and showing ----------------------------------------------------------------------------------------

    def violation(self, solution: Solution, *, exact: bool = True) -> str | None:
        """What is wrong with a claimed answer, in words; None if every row and bound holds and what must be whole is.

        Computed from the rows' coefficients alone; rows of branching decisions do not count, they hold in one part of
        the tree only.

        Parameters
        ----------
        exact
            Rows in which everything is whole may be missed by what rounding explains, and no more; False: by as much as
            rows with continuous variables.
        """
        sums, largest, soft = np.zeros(self.num_rows), np.zeros(self.num_rows), np.zeros(self.num_rows, dtype=bool)
        objective = self.formulation.offset
        for column, value in solution.columns:
            if column.integer and fractionality(value):
                return f"the column of {column.structure!r} is used {value} times, which is not whole"
            if _outside(value, column.lower, column.upper, column.integer):
                return f"the column of {column.structure!r} is used {value} times, outside its bounds"
            where, amounts = self._find_entries(self._known_part(column))
            terms = value * np.array(amounts, dtype=float)
            np.add.at(sums, where, terms)
            np.maximum.at(largest, where, np.abs(terms))
            soft[where] |= not column.integer
            objective += value * column.cost
        fault = self._violation_of_brought_rows(solution)
        if fault is not None:
            return fault
        f = self.formulation
        x = np.zeros(len(f.costs))
        for key, value in solution.variables.items():
            x[self.table.position[key]] = value
        if (x * self.weights[: len(x)])[f.artificial].max(initial=0.0) > TOLERANCES.feasibility:
            return "an artificial variable is not zero"
        if _outside(x, f.lower, np.where(f.artificial, math.inf, f.upper), f.integer).any():
            return "a template variable is outside its bounds"
        if (np.abs(x - np.round(x))[f.integer] > TOLERANCES.integrality).any():
            return "an integer template variable is not whole"
        # The template's variables come first in the table, and none is ever deleted.
        columns, rows, entries = self.table.entries_of(len(x))
        terms = x[columns] * entries
        np.add.at(sums, rows, terms)
        np.maximum.at(largest, rows, np.abs(terms))
        soft[rows[(terms != 0.0) & ~f.integer[columns]]] = True
        objective += float(f.costs @ x)
        lower, upper = self.row_lower.copy(), self.row_upper.copy()
        for key in self._decision_rows:
            lower[self.names.position[key]], upper[self.names.position[key]] = -math.inf, math.inf
        for sides in (lower, upper):
            largest = np.maximum(largest, np.where(np.isfinite(sides), np.abs(sides), 0.0))
        slack = largest * np.where(soft | (not exact), TOLERANCES.feasibility, TOLERANCES.pruning)
        bad = np.flatnonzero((sums < lower - slack) | (sums > upper + slack))
        if len(bad):
            r = int(bad[0])
            return (
                f"row {self.names.keys[r]!r} has activity {sums[r]:.10g}, expected {lower[r]:.10g} to {upper[r]:.10g}"
            )
        if abs(objective - solution.objective) > TOLERANCES.diagnostic * size(self.objective_scale, objective):
            return f"its objective is {objective:.10g}, not {solution.objective:.10g} as stated"
        return None

    def activities(self, solution: Solution) -> Floats:
        """Σ_j a_ij x_j of every row at a solution of columns in the master."""
        point = self.table.point(solution)
        if point is None:
            raise UnknownRowError("the solution uses a column that the master does not have")
        return self.table.activities(point, self.num_rows)

    def _known_part(self, column: Column) -> Column:
        """The column without its coefficients in rows that it brings and that are not in the master."""
        if not column.rows:
            return column
        own = {key: a for key, a in column.coefficients.items() if key in self.names.position}
        brought = {row.key for row in column.rows}
        unknown = [key for key in column.coefficients if key not in own and key not in brought]
        return column if unknown else dataclasses.replace(column, coefficients=own, rows=())

    def _violation_of_brought_rows(self, solution: Solution) -> str | None:
        """The same for rows that the columns of a claimed answer bring and the master does not have."""
        rows = {row.key: row for column, _ in solution.columns for row in column.rows}
        for key, row in rows.items():
            here = activity(row, solution)
            if key not in self.names.position and here.violation > TOLERANCES.feasibility:
                return f"row {key!r} has activity {here.value:g}, expected {row.lower:g} to {row.upper:g}"
        return None

    def to_pyomo(self, solved: MasterSolution | None = None) -> pyo.ConcreteModel:
        """The current restricted master as a Pyomo model, with its generated columns, for a notebook or another solver.

        Template variables and rows keep their names; generated columns are ``column[key or number]``.  If ``solved`` is
        given then its values are loaded into the variables and its duals into the suffix ``dual``.
        """
        return to_pyomo(self, solved)


def as_linear(master: RestrictedMaster | None) -> LinearMaster | None:
    """The master, if it is a linear one: for a kit that checks tables, not for the engine."""
    return master if isinstance(master, LinearMaster) else None


def _outside(
    values: Floats | float, lower: Floats | float, upper: Floats | float, whole: Mask | bool
) -> NDArray[np.bool_]:
    """Which values miss their bounds by more than rounding explains; whole ones by more than makes them fractional."""
    largest = np.abs(values)
    for bound in (lower, upper):
        largest = np.maximum(largest, np.where(np.isfinite(bound), np.abs(bound), 0.0))
    slack = np.where(whole, TOLERANCES.integrality, TOLERANCES.feasibility * largest)
    return np.asarray((values < lower - slack) | (values > upper + slack))


def _check_finite(columns: Sequence[Column], costs: Floats, owners: NDArray[np.int64], entries: Floats) -> None:
    if np.isfinite(costs).all() and np.isfinite(entries).all():
        return
    bad = [*np.flatnonzero(~np.isfinite(costs)), *owners[~np.isfinite(entries)]]
    raise FormulationError(
        f"the column of {columns[int(bad[0])].structure!r} has a cost or a coefficient that is not a finite number"
    )
