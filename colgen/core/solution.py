"""A solution of the master: columns and variables with their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from colgen.core.columns import Column, Key
from colgen.core.lazy_imports import import_name
from colgen.core.text import number, plural
from colgen.core.tolerances import fractionality

_NO_VARIABLES: Mapping[Key, float] = {}


@dataclass(frozen=True)
class Complete:
    """The solution (or None) and bound that another solver, ``source``, found for a problem's complete model.

    The bound is on all answers: the ideal objective if nothing is proved, the hopeless one if the problem is
    infeasible.
    """

    source: str
    bound: float
    solution: Solution | None = None


@dataclass(frozen=True, repr=False)
class Solution:
    """Columns in use and the template's variables; fractional in a relaxation, integer in an answer.

    Attributes
    ----------
    objective
        The objective in the problem's own sense.
    columns
        ``(column, value)`` for each column with a nonzero value.
    variables
        Nonzero values of the template's variables.
    integer
        Which of these variables must be integer in an answer.

    Examples
    --------
    >>> solution = solve(problem).solution
    >>> solution.objective, sum(value for column, value in solution.columns)
    (453.0, 453.0)
    """

    objective: float
    columns: Sequence[tuple[Column, float]] = ()
    variables: Mapping[Key, float] = field(default_factory=lambda: _NO_VARIABLES)
    integer: frozenset[Key] = frozenset()

    @property
    def terms(self) -> float:
        """The sum of |cost · value| over the columns; in the objective, terms of opposite sign may cancel."""
        return sum(abs(column.cost * value) for column, value in self.columns)

    @property
    def is_integral(self) -> bool:
        """Whether all columns and variables that must be integer are so, within the tolerance."""
        return all(not fractionality(value) for column, value in self.columns if column.integer) and not any(
            fractionality(self.variables[key]) for key in self.integer
        )

    def round(self) -> Solution:
        """Return the solution with values within the tolerance of integers rounded to them."""
        if not self.variables and all(value == round(value) and value for _, value in self.columns):
            return self
        columns = tuple(
            (column, float(round(value)) if column.integer and not fractionality(value) else value)
            for column, value in self.columns
        )
        variables = {
            key: float(round(value)) if key in self.integer and not fractionality(value) else value
            for key, value in self.variables.items()
        }
        return replace(self, columns=tuple(pair for pair in columns if pair[1]), variables=variables)

    def __repr__(self) -> str:
        columns, variables = plural(len(self.columns), "column"), plural(len(self.variables), "variable")
        return f"<Solution: objective {number(self.objective)}, {columns} and {variables} in use>"

    def _repr_html_(self) -> str:
        page: str = import_name("reporting.html", "show_solution")(self)
        return page
