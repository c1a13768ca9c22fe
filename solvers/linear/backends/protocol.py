"""What a linear program that grows asks of its solver."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

import highspy

from colgen.solvers.linear.highs import Floats, HighsBasis, Ints, LPStatus, Stopped


class Solved(NamedTuple):
    """An optimum: reduced costs are ``c_j - πᵀa_j``, whether the program minimises or maximises."""

    objective: float
    values: Floats
    duals: Floats
    reduced_costs: Floats


class LPBackend(Protocol):
    """A solver that holds one linear program: arrays in, arrays out.

    What it is given has been scaled, and costs, coefficients and indices have been looked at.  Records of programs and
    bases are HiGHS's, which is there in any case.  ``tests/solvers/linear/backends`` holds each backend against this.
    """

    name: ClassVar[str]
    """What a caller writes, as in ``solve(problem, lp="gurobi")``."""

    title: ClassVar[str]
    """What its makers write."""

    @property
    def num_columns(self) -> int:
        """Columns of the program."""

    @property
    def num_rows(self) -> int:
        """Rows of the program."""

    @property
    def iterations(self) -> int:
        """Simplex iterations of the last run: zero shows that the basis was optimal already."""

    def load(self, program: highspy.HighsLp) -> None:
        """Take a whole program, its first."""

    def program(self) -> highspy.HighsLp:
        """A copy of the program as it is now."""

    def add_columns(
        self, costs: Floats, lower: Floats, upper: Floats, starts: Ints, rows: Ints, values: Floats
    ) -> None:
        """Append columns, which join the basis at a bound; ``starts`` has one entry more than there are columns."""

    def add_rows(self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats) -> None:
        """Append rows, whose slacks join the basis."""

    def delete_columns(self, columns: Ints) -> None:
        """Delete columns; if none of them is basic then the basis stays."""

    def delete_rows(self, rows: Ints) -> None:
        """Delete rows; if all their slacks are basic then the basis stays."""

    def change_costs(self, columns: Ints, costs: Floats) -> None:
        """Other costs of columns."""

    def change_offset(self, offset: float) -> None:
        """Another constant term of the objective."""

    def change_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        """Other bounds of columns."""

    def change_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        """Other sides of rows: an inequality may become an equation, a range, or free."""

    def set_tolerance(self, tolerance: float) -> None:
        """How far rows and reduced costs may be off, as tightly as the solver lets it be said."""

    def basis(self) -> HighsBasis:
        """The present basis."""

    def set_basis(self, basis: HighsBasis) -> bool:
        """Start the next run from a basis of all columns and rows; whether the solver takes it."""

    def forget(self) -> None:
        """Start the next run afresh."""

    def run(self, by_dual: bool, seconds: float, stopped: Stopped | None) -> LPStatus | None:
        """Solve from the present basis by the dual or the primal simplex method; None means that it failed.

        ``stopped`` is asked now and then whether to end early, at the status ``LIMIT``.
        """

    def says(self) -> str:
        """How the last run ended, in the solver's own word."""

    def solution(self) -> Solved:
        """The optimum that the last run has found."""
