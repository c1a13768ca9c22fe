"""Set covering with an explicit list of very many columns, for the benchmark of bounds on large linear programs.

    min Σ_j c_j x_j    subject to    Σ_{j covers i} x_j ≥ 1  [π_i ≥ 0],    x_j in {0, 1}

Pricing computes all reduced costs c_j - Σ_{i in j} π_i by one product of a sparse matrix with the dual values.  An
optimal solution uses each column at most once, so the sum of the negative reduced costs bounds what columns gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen import Columns, Duals, Pricing, PricingContext, PricingResult, Problem, artificial
from colgen.core.lazy_imports import LazyModule

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")

_SMALLEST, _LARGEST = 5, 15
"""Bounds on the number of rows per column."""


@dataclass(frozen=True)
class Covers:
    """Covering columns in compressed form: column j covers ``rows[starts[j]:starts[j + 1]]``."""

    num_rows: int
    costs: NDArray[np.float64]
    starts: NDArray[np.int64]
    rows: NDArray[np.int64]

    @property
    def matrix(self) -> sparse.csr_array:
        """Return the 0/1 matrix, shape (columns, rows)."""
        shape = (len(self.costs), self.num_rows)
        return sparse.csr_array((np.ones(len(self.rows)), self.rows, self.starts), shape=shape)


def covers(num_rows: int, num_columns: int, seed: int) -> Covers:
    """Return random columns whose costs grow with the worth of their rows, which differs between rows, plus noise.

    Therefore the share of column costs per row is not a good dual value.
    """
    random = np.random.default_rng(seed)
    sizes = random.integers(_SMALLEST, _LARGEST + 1, num_columns)
    starts = np.append(0, np.cumsum(sizes))
    owners = np.repeat(np.arange(num_columns), sizes)
    rows = random.integers(0, num_rows, starts[-1])
    while True:  # redraw duplicates: a column covers a row once
        keys = owners * num_rows + rows
        order = np.argsort(keys, kind="stable")
        again = order[1:][keys[order][1:] == keys[order][:-1]]
        if not len(again):
            break
        rows[again] = random.integers(0, num_rows, len(again))
    rows = rows[np.lexsort((rows, owners))]
    worth = random.lognormal(0.0, 1.0, num_rows)
    costs = (3.0 + np.add.reduceat(worth[rows], starts[:-1]) ** 0.8) * random.lognormal(0.0, 0.3, num_columns)
    return Covers(num_rows, costs, starts, rows)


class CoverOracle(Pricing):
    """Finds the columns of best reduced cost by one product, at most ``columns`` per round."""

    def __init__(self, instance: Covers, columns: int = 500) -> None:
        self.instance, self.matrix, self.columns = instance, instance.matrix, columns

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        reduced = context.cost_weight * self.instance.costs - self.matrix @ duals["cover"]
        improving = np.flatnonzero(reduced < 0.0)
        chosen = improving if len(improving) else np.array([int(reduced.argmin())])
        if len(chosen) > self.columns:
            chosen = chosen[np.argpartition(reduced[chosen], self.columns)[: self.columns]]
        numbers = duals.rows("cover")
        return PricingResult(
            self.batch(chosen, numbers),
            bound=float(reduced.min()),
            reduced_costs=reduced[chosen],
            total=float(reduced[improving].sum()),
            attained=lambda: (self.batch(improving, numbers), np.ones(len(improving))),
        )

    def batch(self, chosen: NDArray[np.int64], numbers: NDArray[np.int64]) -> Columns:
        """Return the columns ``chosen``; ``numbers`` are the master's numbers of the rows."""
        part = self.matrix[chosen]
        costs = self.instance.costs[chosen]
        return Columns(costs, part.indptr, numbers[part.indices], part.data, chosen)


class Covering(Problem):
    """Set covering over an explicit list of columns."""

    def __init__(self, instance: Covers) -> None:
        self.instance = instance
        self._oracle = CoverOracle(instance)

    def master(self) -> pyo.ConcreteModel:
        m = pyo.ConcreteModel()
        m.row = pyo.RangeSet(0, self.instance.num_rows - 1)
        m.uncovered = artificial(m.row)
        m.cover = pyo.Constraint(m.row, rule=lambda m, i: m.uncovered[i] >= 1)
        m.cost = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    def pricing(self) -> CoverOracle:
        return self._oracle

    def check(self, answer: Sequence[tuple[int, float]]) -> float:
        numbers = np.array([number for number, _ in answer], dtype=np.int64)
        missing = np.setdiff1d(np.arange(self.instance.num_rows), self._oracle.matrix[numbers].indices)
        if len(missing):
            raise ValueError(f"row {missing[0]} is not covered")
        return float(self.instance.costs[numbers].sum())
