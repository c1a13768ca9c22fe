"""What the rooms beside a linear master read of it: its table, rows and duals, the program, the checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from colgen.core.column_batch import Columns
from colgen.core.columns import Column
from colgen.core.duals import Duals, RowNames
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.master.column_table import ColumnTable
from colgen.master.present_objective import PresentObjective
from colgen.master.program import MasterProgram
from colgen.master.rows import MasterRows
from colgen.model.rows import Rows
from colgen.solvers.linear.lp import LinearProgram

Floats = NDArray[np.float64]


class TabularMaster(Protocol):
    """A linear master as those see it that it hands itself to."""

    formulation: Rows
    sense: Sense
    table: ColumnTable
    rows: MasterRows
    program: MasterProgram
    objective: PresentObjective

    @property
    def names(self) -> RowNames:
        """Of the rows."""

    @property
    def num_rows(self) -> int:
        """Rows, those that were added included."""

    @property
    def phase(self) -> int:
        """1 while artificial variables are driven out, else 2."""

    @property
    def scale(self) -> float:
        """What differences of objectives are relative to."""

    @property
    def rounding(self) -> float:
        """What rounding may leave of a reduced cost."""

    @property
    def lp(self) -> LinearProgram:
        """The program in HiGHS."""

    def all_reduced_costs(self, duals: Duals, theta: float = 1.0) -> Floats:
        """Reduced costs of all columns at ``theta`` times the dual values."""

    def look_up(self, columns: Sequence[Column]) -> Columns:
        """Columns, in the master or not, as a batch over its rows, with what these state."""

    def activities(self, solution: Solution) -> Floats:
        """Of every row, at a solution of columns in the master."""

    def violation(self, solution: Solution, *, exact: bool = True) -> str | None:
        """What is wrong with a claimed answer."""

    def objective_of(self, solution: Solution) -> float:
        """Of a whole solution, without the noise that a solver leaves in its own."""
