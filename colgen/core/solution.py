"""A solution of the master: which columns are used, and how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from colgen.core.columns import Column, Key
from colgen.core.lazy_imports import behind
from colgen.core.text import counted, number
from colgen.core.tolerances import fractionality

_NO_VARIABLES: Mapping[Key, float] = {}


@dataclass(frozen=True)
class Complete:
    """What another solver has found and proved for the complete model of a problem.

    Attributes
    ----------
    source
        Whose bound it is.
    bound
        On all answers: the ideal objective where nothing is proved, the hopeless one where there is no answer.
    solution
        The best answer found, as a solution of the master; None without one.
    """

    source: str
    bound: float
    solution: Solution | None = None


@dataclass(frozen=True, repr=False)
class Solution:
    """Columns in use and the template's variables; fractional in a relaxation, whole in an answer.

    Attributes
    ----------
    objective
        In the problem's own sense.
    columns
        ``(column, value)`` for each column whose value is not zero.
    variables
        Values of the template's variables that are not zero.
    integer
        Which of these variables must be whole in an answer.
    """

    objective: float
    columns: Sequence[tuple[Column, float]] = ()
    variables: Mapping[Key, float] = field(default_factory=lambda: _NO_VARIABLES)
    integer: frozenset[Key] = frozenset()

    @property
    def terms(self) -> float:
        """The sum of the magnitudes of the columns' costs times their values, in which much may cancel out."""
        return sum(abs(column.cost * value) for column, value in self.columns)

    @property
    def is_integral(self) -> bool:
        """Whether every column and variable that must be whole in an answer is whole, within the tolerance."""
        return all(not fractionality(value) for column, value in self.columns if column.integer) and not any(
            fractionality(self.variables[key]) for key in self.integer
        )

    def round(self) -> Solution:
        """Return the same solution with values within the tolerance of whole numbers made exactly whole."""
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
        columns, variables = counted(len(self.columns), "column"), counted(len(self.variables), "variable")
        return f"<Solution: objective {number(self.objective)}, {columns} and {variables} in use>"

    def _repr_html_(self) -> str:
        shown: str = behind("reporting.html", "show_solution")(self)
        return shown
