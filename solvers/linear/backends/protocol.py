"""Protocol of a solver that holds a growing linear program."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

import highspy

from colgen.solvers.linear.highs import Floats, HighsBasis, Ints, LPStatus, Stopped


class Solved(NamedTuple):
    """An optimum; reduced costs are ``c_j - πᵀa_j`` in minimisation and maximisation."""

    objective: float
    values: Floats
    duals: Floats
    reduced_costs: Floats


class LPBackend(Protocol):
    """A solver that holds one linear program: arrays in, arrays out.

    Its input is scaled, with validated costs, coefficients and indices.  Programs and bases use the classes of HiGHS,
    which is always installed.  ``tests/solvers/linear/backends`` tests each backend against this protocol.
    """

    name: ClassVar[str]
    """Name in calls, as in ``Method(lp="gurobi")``."""

    title: ClassVar[str]
    """Name in messages."""

    @property
    def num_columns(self) -> int:
        """Number of columns."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""

    @property
    def iterations(self) -> int:
        """Simplex iterations of the last run; zero if the basis was already optimal."""

    def load(self, program: highspy.HighsLp) -> None:
        """Load the initial program."""

    def program(self) -> highspy.HighsLp:
        """Return a copy of the current program."""

    def add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        """Append columns, nonbasic at a bound; ``starts`` has one entry more than there are columns."""

    def add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        """Append rows with basic slacks."""

    def delete_columns(self, columns: Ints) -> None:
        """Delete columns; the basis is kept if none of them is basic."""

    def delete_rows(self, rows: Ints) -> None:
        """Delete rows; the basis is kept if all their slacks are basic."""

    def change_costs(self, columns: Ints, costs: Floats) -> None:
        """Change the costs of columns."""

    def change_offset(self, offset: float) -> None:
        """Change the constant term of the objective."""

    def change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        """Change the bounds of columns."""

    def change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        """Change the sides of rows: an inequality may become an equation, a range, or free."""

    def set_tolerance(self, tolerance: float) -> None:
        """Set the feasibility tolerances of rows and reduced costs, within the limits of the solver."""

    def basis(self) -> HighsBasis:
        """Return the current basis."""

    def set_basis(self, basis: HighsBasis) -> bool:
        """Start the next run from a basis of all columns and rows.  Return whether the solver accepts it."""

    def forget(self) -> None:
        """Start the next run without a basis."""

    def run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        """Solve from the current basis by the dual or the primal simplex method.  Return None on failure.

        ``stopped`` is checked several times per second; True ends the run with status ``LIMIT``.
        """

    def describe_status(self) -> str:
        """Return the solver's own description of the last status."""

    def solution(self) -> Solved:
        """Return the optimum of the last run."""
