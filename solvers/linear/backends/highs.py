"""HiGHS as a solver of growing linear programs."""

from __future__ import annotations

import struct
import time
from typing import ClassVar

import highspy
import numpy as np

from colgen.solvers.linear.backends.protocol import Solved
from colgen.solvers.linear.highs import (
    Floats,
    HighsBasis,
    Ints,
    LPStatus,
    Stopped,
    check,
    int32,
    new_highs,
    run,
    run_in_thread,
    set_tolerance,
)
from colgen.solvers.linear.options import Options, set_options

_DUAL_SIMPLEX, _PRIMAL_SIMPLEX = 1, 4

_SLICE = 3e7
"""Simplex steps times numbers in the program after which a run counts as long: about 0.25 s, during which it cannot be
stopped.  With a time limit instead, a machine under load would resume the same program at another basis, and could end
in another optimal solution."""

_LEAST_STEPS = 128
"""Least steps of a short run, so that large programs with few new columns are solved from the last basis."""

_MOST_STEPS = 10
"""Most simplex steps of a long run per row and column: on a program of bad condition they may go on forever."""

_LONG_CROSSOVER = 4
"""A crossover of more steps than this multiple of the rows is long."""

_NO_LIMIT = highspy.kHighsIInf


class HighsBackend:
    """A linear program in HiGHS, with a primal and dual feasibility tolerance and validated HiGHS options by name."""

    name: ClassVar[str] = "highs"
    title: ClassVar[str] = "HiGHS"

    def __init__(self, tolerance: float, options: Options) -> None:
        self.highs = new_highs(tolerance)
        self.highs.setOptionValue("presolve", "off")  # it would lose the basis, and batches of columns solve fast
        set_options(self.highs, options)
        self._strategy: int | None = None
        self._steps = _NO_LIMIT
        self._interior = InteriorTrials(allowed="solver" not in options)

    @property
    def num_columns(self) -> int:
        return int(self.highs.getNumCol())

    @property
    def num_rows(self) -> int:
        return int(self.highs.getNumRow())

    @property
    def iterations(self) -> int:
        return int(self.highs.getInfo().simplex_iteration_count)

    def load(self, program: highspy.HighsLp) -> None:
        check(self.highs.passModel(program))

    def program(self) -> highspy.HighsLp:
        return self.highs.getLp()

    # --- changes -----------------------------------------------------------------------------------------------------

    def add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        check(self.highs.addCols(len(costs), costs, lower, upper, len(values), int32(starts), int32(rows), values))

    def add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        check(self.highs.addRows(len(lower), lower, upper, len(values), int32(starts), int32(columns), values))

    def delete_columns(self, columns: Ints) -> None:
        check(self.highs.deleteCols(len(columns), int32(columns)))

    def delete_rows(self, rows: Ints) -> None:
        check(self.highs.deleteRows(len(rows), int32(rows)))

    def change_costs(self, columns: Ints, costs: Floats) -> None:
        check(self.highs.changeColsCost(len(columns), int32(columns), costs))

    def change_offset(self, offset: float) -> None:
        check(self.highs.changeObjectiveOffset(offset))

    def change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        check(self.highs.changeColsBounds(len(columns), int32(columns), lower, upper))

    def change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        check(
            self.highs.changeRowsBounds(len(rows), int32(rows), lower, upper)  # type: ignore[attr-defined]  # missing in highspy's stubs
        )

    def set_tolerance(self, tolerance: float) -> None:
        set_tolerance(self.highs, tolerance)

    # --- solving -----------------------------------------------------------------------------------------------------

    def basis(self) -> HighsBasis:
        return self.highs.getBasis()

    def set_basis(self, basis: HighsBasis) -> bool:
        return bool(self.highs.setBasis(basis) == highspy.HighsStatus.kOk)

    def forget(self) -> None:
        self.highs.clearSolver()

    def run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        """Run HiGHS; a long run uses its own thread, since Python handles no signals while HiGHS runs in this one.

        A long run continues by the interior point method, see :class:`InteriorTrials`.  If that fails, the simplex
        method continues from its last basis.

        None also means that the simplex method went on for too many steps.

        A resumed run has lost its dual steepest edge weights, which are slow to rebuild: in slices of 0.25 s each, a
        program of 200 rows needed 5 s instead of 0.1 s.
        """
        highs, deadline = self.highs, time.monotonic() + seconds
        strategy = _DUAL_SIMPLEX if by_dual else _PRIMAL_SIMPLEX
        if strategy != self._strategy:
            highs.setOptionValue("simplex_strategy", strategy)
            self._strategy = strategy
        self._limit_steps(_NO_LIMIT if stopped is None else self._short_steps())
        highs.setOptionValue("time_limit", highs.getRunTime() + seconds)
        status = run(highs)
        if status is not LPStatus.LIMIT or highs.getModelStatus() != highspy.HighsModelStatus.kIterationLimit:
            return status
        if stopped is not None and stopped():
            return status
        self._limit_steps(_NO_LIMIT)
        if self._interior.next():
            reached = self.basis()
            self.forget()  # otherwise later runs start at a mixture of both bases (HiGHS 1.15.1)
            status = self._run_on("ipx", deadline, stopped)
            self._interior.update(status is LPStatus.OPTIMAL and self._crossover_is_short())
            if status is LPStatus.OPTIMAL:
                return status
            if time.monotonic() >= deadline or (stopped is not None and stopped()):
                return LPStatus.LIMIT
            self.forget()
            self.set_basis(reached)
        self._limit_steps(_MOST_STEPS * (self.num_rows + self.num_columns))
        status = self._run_on("simplex", deadline, stopped)
        return None if highs.getModelStatus() == highspy.HighsModelStatus.kIterationLimit else status

    def _run_on(self, solver: str, deadline: float, stopped: Stopped | None) -> LPStatus | None:
        """Run another solver of HiGHS in a thread, until a value of ``time.monotonic()``."""
        highs = self.highs
        before = highs.getOptionValue("solver")[1]
        highs.setOptionValue("time_limit", highs.getRunTime() + max(deadline - time.monotonic(), 0.0))
        try:
            if solver != "simplex":
                highs.setOptionValue("solver", solver)
            return run(highs, lambda highs: run_in_thread(highs, stopped))
        finally:
            highs.setOptionValue("solver", before)

    def _crossover_is_short(self) -> bool:
        info = self.highs.getInfo()
        return bool(info.crossover_iteration_count <= _LONG_CROSSOVER * self.num_rows)

    def _short_steps(self) -> int:
        """Return the step limit of a short run, rounded to a power of two so that it changes rarely."""
        size = self.highs.getNumNz() + self.highs.getNumRow() + self.highs.getNumCol() + 1
        return 1 << max(int(_SLICE / size), _LEAST_STEPS // 2).bit_length()

    def _limit_steps(self, steps: int) -> None:
        if steps != self._steps:
            self.highs.setOptionValue("simplex_iteration_limit", steps)
            self._steps = steps

    def describe_status(self) -> str:
        return str(self.highs.getModelStatus())

    def solution(self) -> Solved:
        highs = self.highs
        found = highs.getSolution()
        values, duals, reduced = _floats(found.col_value), _floats(found.row_dual), _floats(found.col_dual)
        return Solved(highs.getObjectiveValue(), values, duals, reduced)


class InteriorTrials:
    """Chooses whether a long run continues by an interior point method with a crossover to a basis.

    Its steps are few and their cost grows with the nonzeros, while steps of the simplex method grow in number and in
    cost with the rows.  After a failure, or a long crossover, it is left out of the next long runs:
    of one, then of two, four and so on.  The choice depends on steps, not on time, so that runs are reproducible.
    """

    def __init__(self, *, allowed: bool) -> None:
        self._allowed, self._wait, self._left = allowed, 1, 0

    def next(self) -> bool:
        """Return whether this long run should use the interior point method."""
        if not self._allowed:
            return False
        self._left -= 1
        return self._left < 0

    def update(self, succeeded: bool) -> None:
        """Store whether the interior point method found an optimum by a short crossover."""
        self._left = 0 if succeeded else self._wait
        self._wait = 1 if succeeded else 2 * self._wait


def _floats(numbers: list[float]) -> Floats:
    """Return ``np.array(numbers)`` in half the time, since the type of each number is known."""
    return np.frombuffer(struct.pack(f"{len(numbers)}d", *numbers))
