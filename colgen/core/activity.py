"""The activity of a row at a solution: one definition for the master, the checks and the branching rules."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from colgen.core.columns import Column, Row
from colgen.core.solution import Solution


class Activity(NamedTuple):
    """A row at a solution.

    Attributes
    ----------
    value
        Σ_j a_j x_j, template variables included.
    excess
        How far it lies outside the row's sides; negative, or zero, where the row holds.
    size
        The largest of the row's finite sides and of the terms a_j x_j: what rounding is relative to.
    """

    value: float
    excess: float
    size: float

    @property
    def violation(self) -> float:
        """The excess as a share of the size: multiplying the row by any number changes nothing."""
        return self.excess / self.size if self.size else self.excess


def coefficient(row: Row, column: Column) -> float:
    """a_j of a generated column in a row.

    What the column itself states comes first, then what the row states of it by key, then its family or function.
    """
    if row.key in column.coefficients:
        return column.coefficients[row.key]
    if column.key is not None and column.key in row.coefficients:
        return row.coefficients[column.key]
    if row.family is not None:
        return float(row.family.entries((column,), (row.key[1],))[2].sum())
    return 0.0 if row.coefficient is None else row.coefficient(column)


def activity(row: Row, solution: Solution) -> Activity:
    """The activity of a row at a solution, and how it lies to the row's sides."""
    terms = list(_terms(row, solution))
    value = sum(terms)
    size = max((abs(v) for v in (row.lower, row.upper, *terms) if math.isfinite(v)), default=0.0)
    return Activity(value, max(row.lower - value, value - row.upper), size)


def _terms(row: Row, solution: Solution) -> Iterator[float]:
    coefficients, variables = row.coefficients, solution.variables
    if len(coefficients) <= len(variables):  # a cut has few coefficients, a relaxation many variables, or the reverse
        yield from (a * variables.get(key, 0.0) for key, a in coefficients.items())
    else:
        yield from (coefficients.get(key, 0.0) * value for key, value in variables.items())
    for column, value in solution.columns:
        yield coefficient(row, column) * value
