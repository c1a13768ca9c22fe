"""What bounds and exports read of a linear master: its table, rows and duals, and nothing that solves."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from colgen.core.duals import Duals, RowNames
from colgen.core.sense import Sense
from colgen.master.table import ColumnTable
from colgen.model.formulation import Formulation

Floats = NDArray[np.float64]


class TabularMaster(Protocol):
    """A linear master as those see it that it hands itself to."""

    formulation: Formulation
    sense: Sense
    table: ColumnTable
    names: RowNames
    row_lower: Floats
    row_upper: Floats
    weights: Floats
    phase: int

    @property
    def num_rows(self) -> int:
        """Rows, those that were added included."""

    @property
    def scale(self) -> float:
        """What differences of objectives are relative to."""

    @property
    def rounding(self) -> float:
        """What rounding may leave of a reduced cost."""

    def current_costs(self) -> Floats:
        """Costs of the present phase."""

    def all_reduced_costs(self, duals: Duals, theta: float = 1.0) -> Floats:
        """Reduced costs of all columns at ``theta`` times the dual values."""
