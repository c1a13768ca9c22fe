"""A linear program as arrays."""

from __future__ import annotations

from typing import NamedTuple

from scipy import sparse

from colgen.solvers.linear.scaling import Floats, scaled


class Program(NamedTuple):
    """A linear program to minimise or ``maximize``; ``offset`` is the constant term of the objective.

    ``matrix`` is sparse, of shape (rows, columns).  ``costs``, ``lower`` and ``upper`` have one entry per column,
    ``row_lower`` and ``row_upper`` one per row.
    """

    maximize: bool
    matrix: sparse.csc_array
    costs: Floats
    lower: Floats
    upper: Floats
    row_lower: Floats
    row_upper: Floats
    offset: float = 0.0

    def scaled(self, rows: Floats, units: Floats, factor: float) -> Program:
        """Return the program with rows and objective multiplied, and columns counted in other units."""
        return Program(
            self.maximize,
            scaled(self.matrix, rows, units),
            self.costs * units * factor,
            self.lower / units,
            self.upper / units,
            self.row_lower * rows,
            self.row_upper * rows,
            self.offset * factor,
        )
