"""Base class of solvers other than HiGHS: a record of the program, and translation of errors."""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.solvers.linear.backends.highs import HighsBackend
from colgen.solvers.linear.backends.protocol import Solved
from colgen.solvers.linear.highs import (
    INFINITY,
    Floats,
    HighsBasis,
    Ints,
    LPStatus,
    SolverError,
    Stopped,
    holds_at_zero,
)

Statuses = NDArray[np.int64]
"""Status of each column or row in a basis: 0 at its lower bound, 1 basic, 2 at its upper bound, 3 free and zero."""

AT_LOWER, BASIC, AT_UPPER, AT_ZERO = 0, 1, 2, 3

_STATUSES = (
    highspy.HighsBasisStatus.kLower,
    highspy.HighsBasisStatus.kBasic,
    highspy.HighsBasisStatus.kUpper,
    highspy.HighsBasisStatus.kZero,
    highspy.HighsBasisStatus.kNonbasic,
)
_NUMBERS = {status: min(number, AT_ZERO) for number, status in enumerate(_STATUSES)}

_SLICE = 0.25
"""Seconds of the first run of a solver that can only be stopped between runs; each further run is twice as long."""

_LONGEST = 4.0
"""Seconds of the longest of these runs."""


class ForeignBackend(ABC):
    """A linear program in an optional solver, with a record of it in HiGHS, which is never solved.

    The record validates indices, and copies are made from it.  ``tolerance`` is that of primal and dual feasibility.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    errors: tuple[type[Exception], ...] = ()
    """Exceptions of the solver's library."""

    def __init__(self, tolerance: float) -> None:
        self.record = HighsBackend(tolerance, {})
        self._offset = 0.0
        self._maximizes = False
        with self._translate_errors():
            self._make()
        self.set_tolerance(tolerance)

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translate an exception of the library into a :class:`SolverError`."""
        try:
            yield
        except self.errors as error:
            size = f"a linear program of {self.num_columns} columns and {self.num_rows} rows"
            raise SolverError(f"{self.title} rejects {size}: {' '.join(str(error).split())}") from error

    @property
    def num_columns(self) -> int:
        return self.record.num_columns

    @property
    def num_rows(self) -> int:
        return self.record.num_rows

    # --- changes: first in the record, which validates them ----------------------------------------------------------

    def load(self, program: highspy.HighsLp) -> None:
        self.record.load(program)
        self._maximizes, self._offset = program.sense_ == highspy.ObjSense.kMaximize, program.offset_
        matrix = program.a_matrix_
        starts, rows, values = (np.array(part) for part in (matrix.start_, matrix.index_, matrix.value_))
        rows, starts = rows.astype(np.int64), starts.astype(np.int64)
        shape = (program.num_row_, program.num_col_)
        by_row = sparse.csr_array(sparse.csc_array((values, rows, starts), shape=shape))
        none = np.empty(0)
        with self._translate_errors():
            self._set_sense(self._maximizes)
            nothing = np.zeros(shape[1] + 1, dtype=np.int64)
            columns = (np.array(program.col_cost_), np.array(program.col_lower_), np.array(program.col_upper_))
            self._add_columns(*columns, nothing, nothing[:0], none)
            sides = np.array(program.row_lower_), np.array(program.row_upper_)
            self._add_rows(*sides, by_row.indptr.astype(np.int64), by_row.indices.astype(np.int64), by_row.data)

    def program(self) -> highspy.HighsLp:
        return self.record.program()

    def add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        self.record.add_columns(costs, lower, upper, starts, rows, values)
        with self._translate_errors():
            self._add_columns(costs, lower, upper, starts, rows, values)

    def add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        self.record.add_rows(lower, upper, starts, columns, values)
        with self._translate_errors():
            self._add_rows(lower, upper, starts, columns, values)

    def delete_columns(self, columns: Ints) -> None:
        self.record.delete_columns(columns)
        if len(columns):
            with self._translate_errors():
                self._delete_columns(np.unique(columns))

    def delete_rows(self, rows: Ints) -> None:
        self.record.delete_rows(rows)
        if len(rows):
            with self._translate_errors():
                self._delete_rows(np.unique(rows))

    def change_costs(self, columns: Ints, costs: Floats) -> None:
        self.record.change_costs(columns, costs)
        with self._translate_errors():
            self._change_costs(columns, costs)

    def change_offset(self, offset: float) -> None:
        self.record.change_offset(offset)
        self._offset = offset

    def change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        self.record.change_bounds(columns, lower, upper)
        with self._translate_errors():
            self._change_bounds(columns, lower, upper)

    def change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        self.record.change_row_bounds(rows, lower, upper)
        with self._translate_errors():
            self._change_row_bounds(rows, lower, upper)

    def set_tolerance(self, tolerance: float) -> None:
        with self._translate_errors():
            self._set_tolerance(tolerance)

    # --- solving -----------------------------------------------------------------------------------------------------

    def basis(self) -> HighsBasis:
        with self._translate_errors():
            columns, rows = self._basis()
        columns, rows = self._fix_statuses(columns, rows)
        basis = highspy.HighsBasis()
        basis.col_status = [_STATUSES[number] for number in columns.tolist()]
        basis.row_status = [_STATUSES[number] for number in rows.tolist()]
        basis.valid = True
        return basis

    def set_basis(self, basis: HighsBasis) -> bool:
        columns = np.array([_NUMBERS[status] for status in basis.col_status], dtype=np.int64)
        rows = np.array([_NUMBERS[status] for status in basis.row_status], dtype=np.int64)
        if np.count_nonzero(columns == BASIC) + np.count_nonzero(rows == BASIC) != self.num_rows:
            return False
        with self._translate_errors():
            self._set_basis(*self._fix_statuses(columns, rows))
        return True

    def _fix_statuses(self, columns: Statuses, rows: Statuses) -> tuple[Statuses, Statuses]:
        """Return a basis in which nonbasic columns and rows are at existing bounds and sides."""
        program = self.record.highs.getLp()
        at_column = _at_a_bound(columns, np.array(program.col_lower_), np.array(program.col_upper_))
        return at_column, _at_a_bound(rows, np.array(program.row_lower_), np.array(program.row_upper_))

    def forget(self) -> None:
        with self._translate_errors():
            self._forget()

    def run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        if not seconds > 0.0:
            return LPStatus.LIMIT
        if not self.num_columns:
            return LPStatus.OPTIMAL if holds_at_zero(self.record.program()) else LPStatus.INFEASIBLE
        deadline = time.monotonic() + seconds
        with self._translate_errors():
            status = self._run(by_dual, seconds, stopped)
            if status is LPStatus.UNBOUNDED:
                status = self._confirm_unbounded(by_dual, deadline - time.monotonic(), stopped)
        return status

    def _confirm_unbounded(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        """Return whether a program with a ray also has a feasible point, which most solvers do not check."""
        every, costs = np.arange(self.num_columns), np.array(self.record.highs.getLp().col_cost_)
        self._change_costs(every, np.zeros(len(every)))
        try:
            status = self._run(by_dual, max(seconds, 0.0), stopped)
        finally:
            self._change_costs(every, costs)
        return LPStatus.UNBOUNDED if status is LPStatus.OPTIMAL else status

    def _run_in_slices(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        """Repeat :meth:`_run_for`, each from the last basis, and check ``stopped`` in between."""
        deadline, part, left = time.monotonic() + seconds, _SLICE, seconds
        while True:
            status = self._run_for(by_dual, left if stopped is None else min(left, part))
            left, part = deadline - time.monotonic(), min(2.0 * part, _LONGEST)
            if status is not LPStatus.LIMIT or left <= 0.0 or stopped is None or stopped():
                return status

    def solution(self) -> Solved:
        if not self.num_columns:
            none = np.empty(0)
            return Solved(self._offset, none, np.zeros(self.num_rows), none)
        with self._translate_errors():
            objective, values, duals, reduced = self._solution()
        return Solved(objective + self._offset, values, duals, reduced)

    # --- implemented by each solver ----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def iterations(self) -> int:
        """Simplex iterations of the last run."""

    @abstractmethod
    def describe_status(self) -> str:
        """Return the solver's own description of the last status."""

    @abstractmethod
    def _make(self) -> None:
        """Create an empty program."""

    @abstractmethod
    def _set_sense(self, maximizes: bool) -> None: ...

    @abstractmethod
    def _add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None: ...

    @abstractmethod
    def _add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None: ...

    @abstractmethod
    def _delete_columns(self, columns: Ints) -> None:
        """Delete columns, given in ascending order without repetition."""

    @abstractmethod
    def _delete_rows(self, rows: Ints) -> None:
        """Delete rows, given in ascending order without repetition."""

    @abstractmethod
    def _change_costs(self, columns: Ints, costs: Floats) -> None: ...

    @abstractmethod
    def _change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None: ...

    @abstractmethod
    def _change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None: ...

    @abstractmethod
    def _set_tolerance(self, tolerance: float) -> None: ...

    @abstractmethod
    def _basis(self) -> tuple[Statuses, Statuses]:
        """Return the statuses of columns and of rows."""

    @abstractmethod
    def _set_basis(self, columns: Statuses, rows: Statuses) -> None: ...

    @abstractmethod
    def _forget(self) -> None: ...

    @abstractmethod
    def _run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None: ...

    def _run_for(self, by_dual: bool, seconds: float) -> LPStatus | None:
        """Run for at most ``seconds``, for :meth:`_run_in_slices`."""
        raise NotImplementedError

    @abstractmethod
    def _solution(self) -> tuple[float, Floats, Floats, Floats]:
        """Return the objective without its constant term, values, dual values, reduced costs."""


def entries_of(starts: Ints, indices: Ints, values: Floats) -> Iterator[tuple[list[int], list[float]]]:
    """Yield the indices and values of each column or row of a compressed batch, as lists."""
    places, amounts, ends = indices.tolist(), values.tolist(), starts.tolist()
    for begin, end in pairwise(ends):
        yield places[begin:end], amounts[begin:end]


def large(array: Floats, infinity: float) -> list[float]:
    """Return numbers with infinities replaced by the solver's finite ``infinity``."""
    replaced: list[Any] = np.clip(array, -infinity, infinity).tolist() if infinity < INFINITY else array.tolist()
    return replaced


def _at_a_bound(statuses: Statuses, lower: Floats, upper: Floats) -> Statuses:
    low, high = np.isfinite(lower), np.isfinite(upper)
    outside = np.where(low, AT_LOWER, np.where(high, AT_UPPER, AT_ZERO))
    wrong = ((statuses == AT_LOWER) & ~low) | ((statuses == AT_UPPER) & (~high | (lower == upper)))
    wrong |= (statuses == AT_ZERO) & (low | high)
    found: Statuses = np.where(wrong, outside, statuses)
    return found
