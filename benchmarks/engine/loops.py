"""Handwritten column generation loops, with which the engine's speed is compared.

Both loops price one exact column per round with the kernel of the engine's oracle, whose network is built once, and
start from the columns of first-fit decreasing, as the engine does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.layout import PatternLayout
from colgen.problems.cutting_stock.plans import first_fit_decreasing
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.program import Program
from colgen.solvers.packing.knapsack import best_from, best_packing

_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Relaxation:
    """Result of a loop: optimum of the relaxation, and number of rounds."""

    objective: float
    rounds: int


class _Knapsack:
    """The pricing problem and the first columns, with items ordered by rank."""

    def __init__(self, instance: CuttingStockInstance) -> None:
        layout = PatternLayout(instance)
        self.demands = layout.demands
        self._rank_of_item = layout.rank_of_item
        self._plan = first_fit_decreasing(instance)
        self._network = layout.network

    def first_columns(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Yield rows and coefficients of the initial patterns."""
        for pattern, _ in self._plan:
            items, copies = np.array(pattern).T
            yield self._rank_of_item[items], copies.astype(np.float64)

    def best(self, duals: NDArray[np.float64]) -> tuple[float, NDArray[np.int64]]:
        """Return profit and copies of the best pattern."""
        profits = self._network.spread(duals)
        values = best_from(self._network, profits)
        return float(values[0, 0]), best_packing(self._network, values, profits)


def highs_loop(instance: CuttingStockInstance) -> Relaxation:
    """Run a minimal loop with HiGHS: a warm start and one column per round."""
    knapsack = _Knapsack(instance)
    m = len(knapsack.demands)
    first = list(knapsack.first_columns())
    starts = np.cumsum([0, *(len(rows) for rows, _ in first)])
    rows, copies = (np.concatenate(part) for part in zip(*first, strict=True))
    lp = LinearProgram(
        Program(
            False,
            sparse.csc_array((copies, rows, starts), shape=(m, len(first))),
            np.ones(len(first)),
            np.zeros(len(first)),
            np.full(len(first), np.inf),
            knapsack.demands.astype(np.float64),
            np.full(m, np.inf),
        ),
        tolerance=_TOLERANCE,  # HiGHS's default, faster than the engine's
    )
    one, zero, infinite = np.ones(1), np.zeros(1), np.full(1, np.inf)
    rounds = 0
    while True:
        objective, duals = lp.solve_for_duals()
        rounds += 1
        profit, packing = knapsack.best(duals)
        if profit <= 1.0 + _TOLERANCE:
            return Relaxation(objective, rounds)
        used = np.flatnonzero(packing)
        lp.add_columns(one, zero, infinite, np.array([0, len(used)]), used, packing[used].astype(np.float64))


def scip_loop(instance: CuttingStockInstance) -> Relaxation:
    """Run the loop as a pricer of PySCIPOpt, written like the cutting stock example of its manual."""
    import pyscipopt

    scip: Any = pyscipopt  # its types are partial
    knapsack = _Knapsack(instance)

    class PatternPricer(scip.Pricer):  # type: ignore[misc]
        rounds = 0
        rows: list[Any]

        def pricerinit(self) -> None:
            self.rows = [self.model.getTransformedCons(row) for row in rows]

        def pricerredcost(self) -> dict[str, Any]:
            self.rounds += 1
            duals = np.array([self.model.getDualsolLinear(row) for row in self.rows])
            profit, packing = knapsack.best(duals)
            if profit > 1.0 + _TOLERANCE:
                column = self.model.addVar(vtype="C", obj=1.0, pricedVar=True)
                for item in np.flatnonzero(packing).tolist():
                    self.model.addConsCoeff(self.rows[item], column, float(packing[item]))
            return {"result": scip.SCIP_RESULT.SUCCESS}

    model = scip.Model()
    model.hideOutput()
    model.setPresolve(scip.SCIP_PARAMSETTING.OFF)
    model.setHeuristics(scip.SCIP_PARAMSETTING.OFF)
    model.setSeparating(scip.SCIP_PARAMSETTING.OFF)
    model.disablePropagation()
    terms: list[list[Any]] = [[] for _ in knapsack.demands]
    for ranks, copies in knapsack.first_columns():
        column = model.addVar(vtype="C", obj=1.0)
        for rank, number in zip(ranks.tolist(), copies.tolist(), strict=True):
            terms[rank].append(number * column)
    rows = [
        model.addCons(scip.quicksum(parts) >= float(demand), separate=False, modifiable=True)
        for parts, demand in zip(terms, knapsack.demands, strict=True)
    ]
    pricer = PatternPricer()
    model.includePricer(pricer, "patterns", "bounded knapsack")
    model.optimize()
    return Relaxation(model.getObjVal(), pricer.rounds)
