"""The activity of a row at a solution, used by the master, the checks and the branching rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from colgen.core.columns import Column, Row, RowFamily
from colgen.core.solution import Solution


class Activity(NamedTuple):
    """A row at a solution.

    ``value`` is Σ_j a_j x_j, template variables included. ``excess`` is its distance outside the row's sides, at most 0
    if the row is satisfied. ``size`` is the largest of the finite sides and the terms a_j x_j; rounding errors are
    relative to it.
    """

    value: float
    excess: float
    size: float

    @property
    def violation(self) -> float:
        """The excess divided by the size, which does not change if the row is scaled."""
        return self.excess / self.size if self.size else self.excess


def coefficient(row: Row, column: Column) -> float:
    """Return a_j of a generated column in a row: what the column states, else the row by key, family or function."""
    if row.key in column.coefficients:
        return column.coefficients[row.key]
    if column.key is not None and column.key in row.coefficients:
        return row.coefficients[column.key]
    if row.family is not None:
        return float(row.family.entries((column,), (row.key[1],))[2].sum())
    return row.coefficient_in(column)


def activity(row: Row, solution: Solution) -> Activity:
    """Return the activity of a row at a solution."""
    return _of_terms(row, list(_terms(row, solution)))


def activities(rows: Sequence[Row], solution: Solution) -> list[Activity]:
    """Return the activities of many rows; a family computes all its rows and columns in one call."""
    families: dict[int, tuple[RowFamily, list[int]]] = {}
    for number, row in enumerate(rows):
        if row.family is not None:
            families.setdefault(id(row.family), (row.family, []))[1].append(number)
    columns = [column for column, _ in solution.columns]
    entries_of: list[dict[int, float]] = [{} for _ in rows]
    for family, numbers in families.values():
        entries = family.entries(columns, [rows[number].key[1] for number in numbers]) if columns else ((), (), ())
        for owner, k, amount in zip(*entries, strict=True):
            entries_of[numbers[k]][int(owner)] = float(amount)
    return [
        activity(row, solution)
        if row.family is None
        else _of_terms(row, [*_terms_of_variables(row, solution), *_terms_of_columns(row, solution, stated)])
        for row, stated in zip(rows, entries_of, strict=True)
    ]


def _of_terms(row: Row, terms: list[float]) -> Activity:
    value = sum(terms)
    size = max((abs(v) for v in (row.lower, row.upper, *terms) if math.isfinite(v)), default=0.0)
    return Activity(value, max(row.lower - value, value - row.upper), size)


def _terms(row: Row, solution: Solution) -> Iterator[float]:
    yield from _terms_of_variables(row, solution)
    for column, value in solution.columns:
        yield coefficient(row, column) * value


def _terms_of_columns(row: Row, solution: Solution, stated: dict[int, float]) -> Iterator[float]:
    """Yield the terms of columns in a row of a family, from the coefficients that the family returned."""
    for number, (column, value) in enumerate(solution.columns):
        if row.key in column.coefficients or (row.coefficients and column.key is not None):
            yield coefficient(row, column) * value
        elif number in stated:
            yield stated[number] * value


def _terms_of_variables(row: Row, solution: Solution) -> Iterator[float]:
    coefficients, variables = row.coefficients, solution.variables
    if len(coefficients) <= len(variables):  # cuts have few coefficients and relaxations many variables, or vice versa
        yield from (a * variables.get(key, 0.0) for key, a in coefficients.items())
    else:
        yield from (coefficients.get(key, 0.0) * value for key, value in variables.items())
