"""The restricted master as a linear program: born from a Pyomo template, warm-started in HiGHS."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.batches import Columns
from colgen.core.budget import Budget
from colgen.core.columns import Column, Key, Row
from colgen.core.decision import Decision
from colgen.core.duals import Duals, RowNames
from colgen.core.errors import FormulationError, InputError, UnknownRowError
from colgen.core.pool import Pool
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import Basis
from colgen.master import covering, integer
from colgen.master.accounts import contributions, itemised
from colgen.master.answers import violation
from colgen.master.by_function import entries_of_rows
from colgen.master.dual_bound import dual_bound
from colgen.master.idle_rows import IdleRows
from colgen.master.imposed import Imposed
from colgen.master.linking import Linking
from colgen.master.lookup import LookUp, bring_rows
from colgen.master.optimal_duals import central_duals, without_penalties
from colgen.master.pool import NOWHERE, Ints
from colgen.master.program import MasterProgram
from colgen.master.protocol import MasterSolution, MasterStatus, RestrictedMaster, check_not_repeated
from colgen.master.pyomo_export import to_pyomo
from colgen.master.stated import Entries
from colgen.master.table import GIVEN, TEMPLATE, ColumnTable, merged
from colgen.model.formulation import Formulation
from colgen.pricing.cut_terms import check_priced
from colgen.pricing.oracles import Pricing, PricingResult
from solvers.linear import lp as programs
from solvers.linear.highs import basic_columns, basic_rows
from solvers.linear.lp import LinearProgram, LPSolution, LPStatus
from solvers.linear.options import OptionError, check_options
from solvers.linear.scaling import powers_of_two, row_sizes, typical_size

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_ROUNDING = 1e-13
"""What rounding leaves of a reduced cost, relative to the largest of the terms that it is made of."""

_BOX = 2.0**20
"""How far an unbounded master may go in a box, beyond the largest of its sides."""

_MANY, _ENOUGH = 6, 3
"""Where the generated columns in the linear program are more than so many times its rows, those that are priced out
by most become idle, until so many times are left."""

_FEW = 500
"""With so many columns, or fewer, all stay in the linear program."""


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
        for k in np.flatnonzero(f.row_lower > f.row_upper).tolist():
            raise FormulationError(
                f"row {f.row_keys[k]!r} asks for at least {f.row_lower[k]} and at most {f.row_upper[k]}"
            )
        self.names = RowNames()
        self.names.extend(f.row_keys)
        self.row_lower, self.row_upper = f.row_lower.copy(), f.row_upper.copy()
        self._idle = IdleRows()
        self._first_basis: Basis | None = None
        self._lookup = LookUp(self.names)
        self._last_products: tuple[Duals | None, tuple[int, int], Floats] = (None, (0, 0), np.empty(0))
        self.decision_rows: set[Key] = set()
        self._imposed = Imposed()
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
        self.table = ColumnTable(f, powers_of_two(moves), self.names.keys, self.names.position)
        self.program = MasterProgram(self.table, self._build)
        self._dual_first = dual_first
        self._options: dict[str, Any] = {}
        if options is not None:
            self.set_options(options)

    def set_options(self, options: Mapping[str, Any]) -> None:
        try:
            self._options |= check_options(options)
        except OptionError as error:
            raise InputError(f"lp_options: {error}") from None
        if self.is_built:
            raise InputError("lp_options: the linear program has been solved already, with other options")

    def _build(self) -> LinearProgram:
        table, active = self.table, self.table.active
        units = np.ones(len(table))
        units[table.artificial] = 1.0 / table.weights[table.artificial]
        return LinearProgram(
            self.sense is Sense.MAXIMIZE,
            table.matrix(active, self.num_rows),
            self.current_costs()[active],
            table.lower_now[active],
            table.upper_now[active],
            self.row_lower,
            self.row_upper,
            self.formulation.offset if self.phase == 2 else 0.0,
            dual_first=self._dual_first,
            options=self._options,
            sizes=np.where(self.unsized, 0.0, self.row_sizes),
            units=units[active],
        )

    @property
    def lp(self) -> LinearProgram:
        """The program in HiGHS, made when it is first asked for: bounds, checks and reduced costs do without."""
        return self.program.lp

    @lp.setter
    def lp(self, program: LinearProgram) -> None:
        self.program.lp = program

    @property
    def is_built(self) -> bool:
        """Whether the program is in HiGHS: from the first solve on."""
        return self.program.is_built

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
        if not self.is_built or self.phase == 1:
            return typical_size(self.table.costs, 0.0)
        return self.lp.cost_scale

    @property
    def columns(self) -> Columns:
        """The generated columns, in the order in which they came; those that are idle are among them."""
        every = np.arange(len(self.table))
        return self.table.batch(every[self.table.is_generated(every)])

    @property
    def idle_rows(self) -> tuple[Key, ...]:
        """Keys of the rows that are out of the linear program because they have been slack for long."""
        return tuple(self.names.keys[position] for position in self._idle.out.tolist())

    def sides(self, block: str) -> Mapping[Key, tuple[float, float]]:
        rows = self.names.block(block).tolist()
        return {self.names.keys[r]: (float(self.row_lower[r]), float(self.row_upper[r])) for r in rows}

    def packing_sides(self, block: str) -> Mapping[Key, float | None]:
        f = self.formulation
        owners = np.repeat(np.arange(len(f.costs)), np.diff(f.matrix.indptr))
        bad = ((f.matrix.data < 0.0) | (f.lower[owners] < 0.0)) & ~f.artificial[owners]
        loose = np.isposinf(self.row_upper)
        loose[f.matrix.indices[bad]] = True
        rows = self.names.block(block).tolist()
        return {self.names.keys[r]: None if loose[r] else float(self.row_upper[r]) for r in rows}

    def has_row(self, key: Key) -> bool:
        return key in self.names.position

    def holds(self, column: Column) -> bool:
        return self._where(column) is not None

    def held(self, columns: Columns) -> Mask:
        mask: Mask = self._find(self._lookup.batch(columns)) != NOWHERE
        return mask

    def _where(self, column: Column) -> int | None:
        position = self.table.where(column.identity)
        if position is not None and not self.table.is_generated(np.array([position]))[0]:
            raise FormulationError(
                f"the column of {column.structure!r} has the key {column.key!r}, which is a variable of the template: "
                "give it another, or it would be taken for that variable"
            )
        return position

    checks_rows = True

    def origin(self, column: Column) -> int | None:
        where = self._where(column)
        origin = GIVEN if where is None else int(self.table.origins[where])
        return None if origin < 0 else origin

    def overuses(self, solved: MasterSolution, pricing: Sequence[Pricing]) -> bool:
        origins = self.table.origins[: len(solved.values)]
        used = np.bincount(origins - TEMPLATE, solved.values, len(pricing) - TEMPLATE)[GIVEN - TEMPLATE :].tolist()
        given = used[0]  # columns that were given may be anybody's
        return any(
            given + mine > oracle.multiplicity * (1.0 + TOLERANCES.diagnostic)
            for oracle, mine in zip(pricing, used[1:], strict=False)
        )

    def is_whole(self, solved: MasterSolution) -> bool:
        integer = self.table.integer[: len(solved.values)]  # columns may have come since it was solved
        values = solved.values[integer]
        return bool((abs(values - values.round()) <= TOLERANCES.integrality).all())

    def find(self, identity: Hashable) -> Column:
        position = self.table.where(identity)
        column = None if position is None else self.table.column(position)
        if column is None:
            raise UnknownRowError(f"the master has no generated column {identity!r}")
        return column

    def is_open(self, column: Column) -> bool:
        return math.isinf(self.table.upper_now[self._where(column)])

    # --- solving -----------------------------------------------------------------------------------------------------

    def solve(self, budget: Budget | None = None) -> MasterSolution:
        budget = Budget() if budget is None else budget
        if self._contradictory:  # the node's decisions leave no value for some variable or row
            return MasterSolution(MasterStatus.INFEASIBLE, phase=1)
        if not self.is_built and self.formulation.artificial.any():
            self._enter_phase(1)
        if self._first_basis is not None:
            self._begin(self._first_basis)
        solved = self._sift(budget)
        if self.phase == 2 and solved.status is LPStatus.INFEASIBLE and self.table.artificial.any():
            self._enter_phase(1)
            solved = self._sift(budget)
        if solved.status is LPStatus.INFEASIBLE and self.table.num_idle:
            self.program.activate(np.flatnonzero(self.table.place < 0), self.current_costs()[self.table.place < 0])
            solved = self._sift(budget)
        if solved.status is LPStatus.INFEASIBLE and self._soften_rows():
            self._enter_phase(1)
            solved = self._sift(budget)
        feasible = solved.status is LPStatus.OPTIMAL and abs(solved.objective) <= self.feasibility_tolerance
        if self.phase == 1 and feasible:
            # Fixed where they are, not exactly at zero: without what rounding left of them phase 2 can be infeasible.
            self._enter_phase(2, residual=solved.values)
            solved = self._sift(budget)
        if solved.status is not LPStatus.OPTIMAL:
            return MasterSolution(MasterStatus[solved.status.name], phase=self.phase)
        solved = without_penalties(self, solved, budget)
        central = self.central and self.phase == 2 and self.num_rows > 0 and self.scale > 0.0
        duals = self.signed(central_duals(self, solved, budget.seconds_left) if central else solved.duals)
        if self.unsized.any():  # no entry, no side: any value is a dual value, and zero is one in all units
            duals = np.where(self.unsized, 0.0, duals)
        self._rounding = self._rounding_at(duals)
        # A column is out if the dual values that are used keep it out: at a degenerate optimum others would not.
        table = self.table
        used = (self.current_costs() - table.row_products(duals))[table.active] if central else solved.reduced_costs
        priced_out = self.sense.sign * used
        table.grow_older(priced_out > TOLERANCES.pruning * self.scale)
        if self.phase == 2 and not self.central:
            self._retire(priced_out, most=True)
        self._take_out(solved)
        return MasterSolution(
            MasterStatus.OPTIMAL, solved.objective, solved.values, Duals(duals, self.names), self.phase
        )

    def _sift(self, budget: Budget) -> LPSolution:
        """Solve over the active columns and rows; bring back idle columns that improve and rows that are violated."""
        while True:
            solved = self.program.solve(budget)
            if solved.status is LPStatus.UNBOUNDED and self._put_back(True):
                continue
            if solved.status is not LPStatus.OPTIMAL:  # infeasible without some of its rows already
                return solved
            wanted = self.wanted(solved.duals)
            self.program.activate(wanted, self.current_costs()[wanted])
            if not self._put_back(False, solved) and not len(wanted):
                return solved

    def _put_back(self, all_of_them: bool, solved: LPSolution | None = None) -> bool:
        """Put rows back that a solution violates, or all of them; whether there was any."""
        if not len(self._idle.out):
            return False
        activity = None
        if not all_of_them and solved is not None:
            activity = self.table.activities(solved.values, self.num_rows)
        rows = self._idle.put_back(activity, self.row_lower, self.row_upper, self.row_sizes)
        self.program.change_row_bounds(rows, self.row_lower[rows], self.row_upper[rows])
        return len(rows) > 0

    def _take_out(self, solved: LPSolution) -> None:
        """Take rows out that have been slack for long enough."""
        if not len(self._idle) or self.phase == 1:
            return
        activity = self.table.activities(solved.values, self.num_rows)
        rows = self._idle.taken_out(activity, self.row_lower, self.row_upper, self.row_sizes)
        if len(rows):
            self.program.change_row_bounds(rows, np.full(len(rows), -math.inf), np.full(len(rows), math.inf))

    def wanted(self, duals: Floats) -> Ints:
        """Idle columns that improve at these dual values, the best ones if they are many."""
        table = self.table
        if not table.num_idle:
            return np.empty(0, dtype=np.int64)
        gains = self.sense.gains(self.current_costs() - table.row_products(duals))
        found = np.flatnonzero((table.place < 0) & (table.upper_now > 0.0) & (gains > TOLERANCES.pruning * self.scale))
        most = max(self.num_rows, _FEW)
        return found if len(found) <= most else found[np.argpartition(-gains[found], most)[:most]]

    def _retire(self, priced_out: Floats, *, most: bool = False, age: int = 0) -> int:
        """Let columns become idle that are priced out: by most where there are too many, or those of an age.

        Those with bounds of their own stay: oracles may leave them out of account.
        """
        table, active = self.table, self.table.active
        enough = max(_ENOUGH * self.num_rows, _FEW)
        if most and len(active) - len(self.formulation.costs) <= max(_MANY * self.num_rows, 2 * _FEW):
            return 0
        free = (table.lower_now == 0.0) & (table.lower == 0.0) & np.isposinf(table.upper) & (table.origins != TEMPLATE)
        out = free[active] & (priced_out > TOLERANCES.pruning * self.scale)
        gone = out if most else out & (table.ages[active] >= age)
        if most:
            surplus = int(gone.sum()) - enough
            if surplus <= 0:
                return 0
            candidates = np.flatnonzero(gone)
            gone = np.zeros(len(active), dtype=np.bool_)
            gone[candidates[np.argpartition(-priced_out[candidates], surplus - 1)[:surplus]]] = True
        if gone.any():
            self.program.retire(gone)
        return int(gone.sum())

    def solve_in_a_box(self, budget: Budget) -> MasterSolution | None:
        table = self.table
        _, rows, entries = table.entries_of(len(table))
        least = np.full(self.num_rows, math.inf)
        np.minimum.at(least, rows[entries != 0.0], np.abs(entries[entries != 0.0]))
        ends = np.concatenate([self.row_lower / least, self.row_upper / least, table.lower_now, table.upper_now])
        far = _BOX * max(1.0, float(np.abs(ends[np.isfinite(ends)]).max(initial=0.0)))
        unlimited = np.flatnonzero(np.isinf(table.lower_now) | np.isinf(table.upper_now))
        lower, upper = table.lower_now[unlimited], table.upper_now[unlimited]
        self.program.change_bounds(unlimited, np.maximum(lower, -far), np.minimum(upper, far))
        try:
            solved = self.program.solve(budget)
        finally:
            self.program.change_bounds(unlimited, lower, upper)
        if solved.status is not LPStatus.OPTIMAL:
            return None
        duals = Duals(solved.duals, self.names)
        return MasterSolution(MasterStatus.OPTIMAL, solved.objective, solved.values, duals, self.phase)

    @property
    def rounding(self) -> float:
        return self._rounding

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
        values: Mapping[Key, float] | None = None,
    ) -> tuple[MasterStatus, Solution | None]:
        if values is not None:
            return covering.cover_over(self, columns, values, target, time_limit, any_will_do, stopped)
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
        self.program.change_objective(self.current_costs(), self.formulation.offset if phase == 2 else 0.0)
        self.program.change_bounds(artificial, np.zeros(len(artificial)), upper)

    def current_costs(self) -> Floats:
        """The objective of the current phase."""
        if self.phase == 2:
            return self.table.costs
        return self.sense.sign * self.table.weights

    def signed(self, duals: Floats) -> Floats:
        """Duals without the wrong signs that a solver's tolerance leaves: no lower side, no pull upwards."""
        s = self.sense.sign
        pull = s * duals
        np.minimum(pull, 0.0, out=pull, where=self.row_lower == -math.inf)
        np.maximum(pull, 0.0, out=pull, where=self.row_upper == math.inf)
        return s * pull

    # --- growing -----------------------------------------------------------------------------------------------------

    def add_found(self, found: Sequence[Sequence[Column]]) -> int:
        singles = [
            batch
            for batch in found
            if not isinstance(batch, Columns) or (batch.meanings.given is not None and len(batch) <= _FEW)
        ]
        together = [column for batch in singles for column in batch]
        if len(singles) < len(found) or len(together) < 2 or bring_rows(together):
            return super().add_found(found)
        return self._add(together, np.repeat(np.arange(len(found)), list(map(len, found))))

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origin: int = -1) -> int:
        if bring_rows(columns):
            rows = [*rows, *(row for column in columns if not self.holds(column) for row in column.rows)]
        self.add_rows(rows)
        return self._add(columns, np.full(len(columns), origin))

    def _add(self, columns: Sequence[Column], origins: Ints) -> int:
        """Add columns whose rows are there."""
        if not len(columns):
            return 0
        known = self._lookup.of(columns)
        once = known.batch.distinct()
        if once is not None:
            known, origins = known.take(once), origins[once]
        if known.new_among != len(self.table):
            where = self._find(known.batch)
            new = where == NOWHERE
            if not new.all():
                idle = np.unique(where[~new][self.table.place[where[~new]] < 0])
                self.program.activate(idle, self.current_costs()[idle])
                known, origins = known.take(np.flatnonzero(new)), origins[new]
        if len(known.batch):
            self._add_columns(known.batch, known.stated, origins)
        self._lookup.forget()
        return len(known.batch)

    def _find(self, batch: Columns) -> Ints:
        """Positions of the columns of a batch, none of which may be a variable of the template."""
        where = self.table.find(batch)
        if batch.keys is not None:
            present = np.flatnonzero(where != NOWHERE)
            for k in present[~self.table.is_generated(where[present])].tolist():
                self._where(batch[k])
        return where

    def add_rows(self, rows: Iterable[Row], sides: Mapping[Key, tuple[float, float]] | None = None) -> None:
        """Append rows with their coefficients in all present columns; those that the master knows are passed over.

        ``sides``: what is known of the sides of rows that are added without any; it tells their size.
        """
        fresh = {row.key: row for row in rows if row.key not in self.names.position}
        if not fresh:
            return
        check_priced(self.oracles, fresh.values())
        self._lookup.forget()
        starts = [0]
        entry_columns: list[int] = []
        entry_values: list[float] = []
        first = self.num_rows
        generated = list(self.table.generated()) if any(r.family or r.coefficient for r in fresh.values()) else []
        by_function = entries_of_rows(list(fresh.values()), [column for _, column in generated])
        for row, stated in zip(fresh.values(), by_function, strict=True):
            if not (row.lower <= row.upper and row.lower < math.inf and row.upper > -math.inf):
                raise FormulationError(
                    f"row {row.key!r} has the sides {row.lower} and {row.upper}; expected lower ≤ upper"
                )
            position = self.names.append(row.key)
            self._lookup.learn(row, position)
            entries: dict[int, float] = {}
            for key, value in row.coefficients.items():
                column_position = self.table.position.get(key)
                if column_position is not None:
                    entries[column_position] = float(value)
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
        self._dual_first |= not self.is_built
        owners = np.repeat(np.arange(len(fresh)), np.diff(starts))
        self.program.append_rows(lower, upper, (owners, columns, values), sizes)
        self.table.add_entries(columns, first + owners, values)
        added = np.arange(first, self.num_rows)
        self._add_artificials(added[lower > 0], 1.0)
        self._add_artificials(added[upper < 0], -1.0)

    def _add_artificials(self, rows: Ints, sign: float) -> None:
        """Artificial variables for rows that columns at zero would violate, so that phase 1 can always begin."""
        count = len(rows)
        if not count:
            return
        values = sign * self.row_sizes[rows]  # each counts its row's violation, measured by the row's size
        where = self.table.append_artificial(rows, values, self.phase)
        self.program.append(where, self.current_costs()[where], np.arange(count + 1), rows, values)

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

    def _add_columns(self, batch: Columns, stated: Entries | None, origins: Ints) -> None:
        where = self.table.append(batch, origins)
        starts: Ints = batch.starts
        rows: Ints = batch.rows
        values = batch.values
        if stated is not None:
            self.table.add_entries(where[stated[0]], *stated[1:])
            starts, rows, values = merged(len(batch), batch.owners, rows, values, *stated)
        if self.unsized.any() and self.unsized[rows].any():
            self._size_rows(rows, values)
        allowed = self._imposed.allows(batch)
        if allowed is not None:
            self.table.upper_now[where[~allowed]] = 0.0
        costs = batch.costs if self.phase == 2 else np.zeros(len(where))
        self.program.append(where, costs, starts, rows, values)

    def _size_rows(self, rows: Ints, values: Floats) -> None:
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
        self.table.change_weights(owners[mine], 1.0 / units)
        self.row_sizes[fresh], self.unsized[fresh] = sizes[fresh], False
        self.program.set_sizes(fresh, sizes[fresh], owners[mine], units)

    def entries(self, column: Column) -> tuple[list[int], list[float]]:
        """Positions of the rows that a column has coefficients in, and the coefficients.

        Its own coefficients come first in rank, then rows that speak of it by key, then rows that know its coefficient
        by function.
        """
        return self._lookup.entries(column)

    def known_entries(self, column: Column) -> tuple[list[int], list[float]]:
        """The same, where the master may lack some of the column's rows: they are left out."""
        return self._lookup.known_entries(column)

    def itemised(self, stated: float, column: Column, duals: Any, weight: float) -> str:
        if not isinstance(duals, Duals):
            return ""
        return itemised(stated, contributions(column, self.known_entries(column), duals, weight))

    # --- what a round proves -----------------------------------------------------------------------------------------

    def reduced_costs(self, columns: Sequence[Column], duals: Duals) -> Floats:
        if not len(columns):
            return np.empty(0)
        few = self._lookup.products_of_few(columns, duals.values)
        if few is not None:
            weight = 1.0 if self.phase == 2 else 0.0
            return np.array([weight * column.cost - product for column, product in zip(columns, few, strict=True)])
        known = self._lookup.of(columns)
        batch, stated = known.batch, known.stated
        products = batch.products(duals.values)
        if stated is not None:
            owners, rows, values = stated
            pi = np.append(duals.values, np.zeros(self.num_rows - len(duals.values)))
            products += np.bincount(owners, values * pi[rows], minlength=len(batch))
        return batch.costs - products if self.phase == 2 else -products

    def improving(
        self, oracle: Pricing, columns: Sequence[Column], reduced_costs: Floats, tolerance: float
    ) -> Sequence[Column]:
        if len(reduced_costs) == 1 and not -self.sense.sign * float(reduced_costs[0]) > tolerance:
            return ()
        better = np.flatnonzero(self.sense.gains(reduced_costs) > tolerance)
        if not len(better):
            return ()
        if bring_rows(columns):  # they cannot be looked up before their rows are there
            return super().improving(oracle, columns, reduced_costs, tolerance)
        if isinstance(columns, Columns):
            known = self._lookup.of(columns)
            known = known if len(better) == len(columns) else known.take(better)
        else:
            known = self._lookup.of([columns[k] for k in better.tolist()])
        batch = known.batch
        where = self._find(batch)
        new = where == NOWHERE
        for k in np.flatnonzero(~new).tolist():
            if math.isinf(self.table.upper_now[where[k]]):
                check_not_repeated(oracle, batch[k], float(reduced_costs[better[k]]), self.scale, self.rounding)
        known = known if new.all() else known.take(np.flatnonzero(new))
        return self._lookup.remember(known._replace(new_among=len(self.table))).batch

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
        return self.signed(values)

    def pool(self, duals: Any) -> Pool | None:
        if not self.is_built:
            return None
        mine = np.flatnonzero(self.table.origins != TEMPLATE)
        reduced = np.full(len(mine), math.nan)
        if isinstance(duals, Duals):
            with self.real_costs():
                reduced = self.all_reduced_costs(duals)[mine]
        basis, active, count = self.lp.basis(), self.table.active.copy(), len(self.table)
        column_keys, keys = self.formulation.column_keys, self.names.keys  # not the master itself, which may be large

        def basic() -> tuple[Mask, Sequence[Key], Sequence[Key]]:
            found = np.zeros(count, dtype=np.bool_)
            found[active] = basic_columns(basis)
            variables = [key for key, is_in in zip(column_keys, found, strict=False) if is_in]
            rows = np.flatnonzero(basic_rows(basis)).tolist()
            return found[mine], variables, [keys[row] for row in rows]

        return Pool(self.columns, reduced, basic)

    def start_at(self, basis: Basis) -> None:
        self._first_basis = basis

    def _begin(self, basis: Basis) -> None:
        """Let the first solve start from a basis of another run, where it is one of what is here."""
        self._first_basis = None
        found = [self._where(column) for column in basis.columns]
        found += [self.table.position.get(key) for key in basis.variables]
        columns, rows = np.zeros(len(self.table), dtype=np.bool_), np.zeros(self.num_rows, dtype=np.bool_)
        columns[[k for k in found if k is not None]] = True
        rows[[self.names.position[key] for key in basis.rows if key in self.names.position]] = True
        self.lp.begin_at(columns[self.table.active], rows)

    def guessed(self, duals: Any) -> Duals:
        guess = self._guessed(duals)
        self._rounding = self._rounding_at(guess.values)
        return guess

    def _rounding_at(self, duals: Floats) -> float:
        """What rounding may leave of a reduced cost."""
        return _ROUNDING * float((np.abs(duals) * self.row_sizes).max(initial=0.0))

    def _guessed(self, duals: Any) -> Duals:
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
        return Linking(self, self.row_sizes, self._triples)

    def _triples(self, columns: Sequence[Column]) -> tuple[Floats, Ints, Ints, Floats]:
        """Costs of columns, and column, row and value of each of their entries."""
        if not len(columns):
            nothing = np.empty(0, dtype=np.int64)
            return np.empty(0), nothing, nothing, np.empty(0)
        known = self._lookup.of(columns)
        batch, stated = known.batch, known.stated
        if stated is None:
            return batch.costs, batch.owners, batch.rows, batch.values
        owners, rows = np.concatenate([batch.owners, stated[0]]), np.concatenate([batch.rows, stated[1]])
        return batch.costs, owners, rows, np.concatenate([batch.values, stated[2]])

    def best_known(self, duals: Duals, oracles: int) -> Sequence[float]:
        table, s = self.table, self.sense.sign
        grow = ((table.upper_now == math.inf) & (table.origins >= (GIVEN if oracles == 1 else 0))).nonzero()[0]
        reduced = s * self.all_reduced_costs(duals)[grow]
        if oracles == 1:
            return [s * float(reduced.min(initial=math.inf))]
        best = np.full(oracles, math.inf)
        np.minimum.at(best, table.origins[grow], reduced)
        known: list[float] = (s * best).tolist()
        return known

    def dual_bound(self, duals: Duals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        return dual_bound(self, duals, pricing, results)

    def all_reduced_costs(self, duals: Duals, theta: float = 1.0) -> Floats:
        """Of all columns at θπ; the products are remembered, for a round asks for them more than once."""
        asked, size, products = self._last_products
        now = (len(self.table), self.num_rows)
        if asked is not duals or size != now:
            products = self.table.row_products(duals.values)
            self._last_products = (duals, now, products)
        return self.current_costs() - (products if theta == 1.0 else theta * products)

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
            rows, entries = self.entries(best)
            activity[rows] += amount * np.array(entries)
        pi = solved.duals.values
        side = np.where(self.sense.sign * pi >= 0, self.row_lower, self.row_upper)
        other = np.where(np.isfinite(self.row_lower), self.row_lower, self.row_upper)
        side = np.where(np.isfinite(side), side, np.where(np.isfinite(other), other, 0.0))
        return self.sense.sign * (side - activity)

    # --- nodes -------------------------------------------------------------------------------------------------------

    def apply(self, decisions: Sequence[Decision]) -> None:
        self._imposed.decisions = tuple(decisions)
        self._contradictory = False
        self._impose_rows()
        self._impose_bounds()

    def fix(self, fixed: Mapping[Hashable, float], proper: str | None = None) -> None:
        self._imposed.fixed, self._imposed.proper = dict(fixed), proper
        self._impose_bounds()

    def _impose_rows(self) -> None:
        sides: dict[Key, tuple[float, float]] = {}
        rows: dict[Key, Row] = {}
        for decision in self._imposed.decisions:
            row = decision.row()
            if row is not None:
                low, high = sides.get(row.key, (-math.inf, math.inf))
                sides[row.key] = (max(low, row.lower), min(high, row.upper))
                rows[row.key] = row
        if not rows and not self.decision_rows:
            return
        # Its sides change from node to node: it is added with none, and with an artificial variable for either.
        free = [dataclasses.replace(row, lower=-math.inf, upper=math.inf) for row in rows.values()]
        first = self.num_rows
        self.add_rows(free, sides)
        added = np.arange(first, self.num_rows)
        self._add_artificials(added, 1.0)
        self._add_artificials(added, -1.0)
        stale = self.decision_rows - rows.keys()
        self.decision_rows = set(rows)
        keys = [*stale, *rows]
        if keys:
            positions = np.array([self.names.position[key] for key in keys])
            lower = np.array([-math.inf] * len(stale) + [sides[key][0] for key in rows])
            upper = np.array([math.inf] * len(stale) + [sides[key][1] for key in rows])
            self._contradictory |= bool((lower > upper).any())
            upper = np.maximum(lower, upper)
            self.row_lower[positions], self.row_upper[positions] = lower, upper
            self.program.change_row_bounds(positions, lower, upper)

    def _impose_bounds(self) -> None:
        table, imposed = self.table, self._imposed
        lower, upper = imposed.of_node(table)
        self._contradictory |= bool((lower > upper).any())
        imposed.raise_fixed(table, lower)
        if imposed.fixed and imposed.proper is not None:
            upper = np.where(self._fits(lower, imposed.proper), upper, lower)
        # A dive may fix a column that the node forbids; it finds that out by its objective.
        upper = np.maximum(lower, upper)
        changed = np.flatnonzero((lower != table.lower_now) | (upper != table.upper_now))
        table.lower_now[:], table.upper_now[:] = lower, upper
        self.program.change_bounds(changed, lower[changed], upper[changed])
        needed = np.flatnonzero((table.place < 0) & ((lower > 0.0) | (upper < 0.0)))
        self.program.activate(needed, self.current_costs()[needed])

    def _fits(self, fixed: Floats, block: str) -> Mask:
        """Which columns cover no more of any row of a block than the fixed ones leave over of its lower side."""
        left = np.full(self.num_rows, math.inf)
        rows = self.names.block(block)
        left[rows] = self.row_lower[rows] - self.table.activities(fixed, self.num_rows)[rows]
        return self.table.within(left + TOLERANCES.pruning * self.row_sizes)

    def remove_stale(self, age: int) -> int:
        return self._retire(np.full(len(self.table.active), math.inf), age=age)

    def basis(self) -> Any:
        return self.program.basis()

    def restore(self, basis: Any) -> None:
        self.program.restore(basis, self.current_costs())

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
        return violation(self, solution, exact)

    def activities(self, solution: Solution) -> Floats:
        """Σ_j a_ij x_j of every row at a solution of columns in the master."""
        point = self.table.point(solution)
        if point is None:
            raise UnknownRowError("the solution uses a column that the master does not have")
        return self.table.activities(point, self.num_rows)

    def to_pyomo(self, solved: MasterSolution | None = None) -> pyo.ConcreteModel:
        """The current restricted master as a Pyomo model, with its generated columns, for a notebook or another solver.

        Template variables and rows keep their names; generated columns are ``column[key or number]``.  If ``solved`` is
        given then its values are loaded into the variables and its duals into the suffix ``dual``.
        """
        return to_pyomo(self, solved)


def as_linear(master: RestrictedMaster | None) -> LinearMaster | None:
    """The master, if it is a linear one: for a kit that checks tables, not for the engine."""
    return master if isinstance(master, LinearMaster) else None
