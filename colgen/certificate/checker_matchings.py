"""Bipartite matchings of each row to a column of its own: potentials of rows and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from colgen.certificate.checker_pricing import NO, CheckerState, Place, Scored, WrongError, fields, integer, table


class Matchings(Scored):
    """Matchings of rows to columns. A column of the program lists the matched column of each row."""

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        super().__init__(data, ("pairs",))
        self.columns = len(data["pairs"][0])
        self.pairs = table(data["pairs"], len(data["pairs"]), self.columns)

    def column(self, structure: Any) -> tuple[Fraction, dict[int, int]]:
        chosen = [integer(j) for j in structure]
        if len(chosen) != len(self.pairs) or not all(0 <= j < self.columns for j in chosen):
            raise WrongError(f"expected one of {self.columns} columns for each of {len(self.pairs)} rows")
        if len(set(chosen)) < len(chosen):
            raise WrongError("a column is matched twice")
        scores = [row[j] for row, j in zip(self.pairs, chosen, strict=True)]
        if NO in scores:
            raise WrongError("a pair is forbidden")
        return Fraction(sum(scores), self.unit), {}

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """Return the least reduced cost times the denominator of the duals, as the potentials bound it.

        A pair scores at most the potentials of its row and its column. A matching has every row once and every column
        at most once, and potentials of columns are at least 0. So no matching scores more than the sum of potentials.
        """
        fields(state.given, ("rows", "columns"))
        rows, columns = ([integer(p) for p in state.given[name]] for name in ("rows", "columns"))
        if len(rows) != len(self.pairs) or len(columns) != self.columns:
            raise WrongError(f"expected potentials of {len(self.pairs)} rows and {self.columns} columns")
        if min(columns) < 0:
            raise WrongError("expected nonnegative potentials of columns")
        for i, (own, scores) in enumerate(zip(rows, self.pairs, strict=True)):
            for j, (other, score) in enumerate(zip(columns, scores, strict=True)):
                if score > own + other:
                    raise WrongError(f"row {i} and column {j} score {score}, more than their potentials {own + other}")
        return self.reduced(sum(rows) + sum(columns), unit)
