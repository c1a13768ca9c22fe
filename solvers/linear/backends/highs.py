"""HiGHS as the solver of linear programs that grow."""

from __future__ import annotations

import struct
import time
from typing import ClassVar

import highspy
import numpy as np

from solvers.linear.backends.protocol import Solved
from solvers.linear.highs import (
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
from solvers.linear.options import Options, set_options

_DUAL_SIMPLEX, _PRIMAL_SIMPLEX = 1, 4

_SLICE = 0.25
"""Seconds after which a linear program counts as long: until then nobody can stop it."""


class HighsBackend:
    """A linear program in HiGHS.

    Parameters
    ----------
    tolerance
        Of primal and dual feasibility.
    options
        Of HiGHS, by name, checked.
    """

    name: ClassVar[str] = "highs"
    title: ClassVar[str] = "HiGHS"

    def __init__(self, tolerance: float, options: Options) -> None:
        self.highs = new_highs(tolerance)
        self.highs.setOptionValue("presolve", "off")  # it would lose the basis, and a batch of columns is soon solved
        set_options(self.highs, options)
        self._strategy: int | None = None

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
        """Run HiGHS, a long run in a thread of its own: while it runs in this one, Python sees no signal.

        A run that is taken up again has forgotten what it had learnt of its pivots, which dual steepest edge learns
        slowly: in slices of a quarter of a second each a program of 200 rows needed 5 s for what takes a tenth.
        """
        highs, deadline = self.highs, time.monotonic() + seconds
        strategy = _DUAL_SIMPLEX if by_dual else _PRIMAL_SIMPLEX
        if strategy != self._strategy:
            highs.setOptionValue("simplex_strategy", strategy)
            self._strategy = strategy
        part = seconds if stopped is None else min(seconds, _SLICE)
        highs.setOptionValue("time_limit", highs.getRunTime() + part)
        status = run(highs)
        if status is not LPStatus.LIMIT or part == seconds or (stopped is not None and stopped()):
            return status
        left = max(deadline - time.monotonic(), 0.0)
        highs.setOptionValue("time_limit", highs.getRunTime() + left)
        return run(highs, lambda highs: run_in_thread(highs, stopped))

    def says(self) -> str:
        return str(self.highs.getModelStatus())

    def solution(self) -> Solved:
        highs = self.highs
        found = highs.getSolution()
        values, duals, reduced = _floats(found.col_value), _floats(found.row_dual), _floats(found.col_dual)
        return Solved(highs.getObjectiveValue(), values, duals, reduced)


def _floats(numbers: list[float]) -> Floats:
    """As ``np.array``, which looks at each number to find out what it is: this takes half the time."""
    return np.frombuffer(struct.pack(f"{len(numbers)}d", *numbers))
