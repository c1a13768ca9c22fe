"""The Lagrangian relaxation of a problem's linking rows as a function of dual values.

For dual values π, when minimising, with a_j the column of x_j in the rows and r the row sides that π refers to,

    q(π) = πᵀr + Σ_j (c_j - πᵀa_j) x_j(π),

where x(π) is the best solution of the pricing problems.  Each contributes at most U_k columns (its multiplicity) of the
best reduced cost, and none if that does not improve.  The template's variables are at their better bounds.  The
function q is concave and bounds all feasible solutions.  Its supergradient is the violation of the rows at x(π). All
this is computed from the oracles' results.  The maximum over π is the value of the linear program that column
generation solves.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.bounding.ascent import DualEvaluation
from colgen.bounding.checks import check_results
from colgen.core.column_batch import Columns
from colgen.core.columns import Column
from colgen.core.duals import DualPoint, Duals, DualVector
from colgen.core.errors import InputError
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.master.protocol import RestrictedMaster
from colgen.pricing.calls import call_oracles, gather, select
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.solvers.linear.scaling import typical_size

Floats = NDArray[np.float64]

_CAPPED = 2.0
"""Without a multiplicity, the columns of a pricing problem may cost at most this multiple of the incumbent."""


@dataclass(frozen=True)
class SubproblemSolution:
    """A solution of all pricing problems: the columns used of each oracle, with their values.

    ``own`` are the values of the columns that belong to no oracle.  ``holds`` is true if the linking rows hold too.
    """

    own: Floats
    used: tuple[tuple[Sequence[Column], Floats], ...]
    holds: bool

    @property
    def size(self) -> int:
        return sum(len(columns) for columns, _ in self.used)


class NoLagrangianError(InputError):
    """The Lagrangian relaxation of a problem is infinite or undefined."""


class _Capped(Pricing):
    """A pricing problem with the multiplicity that the Lagrangian relaxation uses."""

    def __init__(self, oracle: Pricing, multiplicity: float) -> None:
        self.multiplicity, self.cost_bound = multiplicity, oracle.cost_bound

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        raise NotImplementedError


class LagrangianDual:
    """The dual function of a linear master at the present node.

    Points are dual values times the sizes of their rows, so that scaling a row changes nothing.  Values are negated if
    the problem maximises.  A problem without such a function raises a :class:`NoLagrangianError`.

    ``objective`` is the incumbent's, possibly infinite.  ``bound`` is the best bound by the engine's own formula
    (including Farley's), and ``duals`` its dual values.  ``cut_off`` is true if an oracle was cut off in the last
    evaluation.  ``unit`` is the typical size of costs, zero until an oracle has returned a column with a cost.
    """

    def __init__(
        self, master: RestrictedMaster, oracles: Sequence[Pricing], context: PricingContext, objective: float
    ) -> None:
        rows, linking = master.rows, None if master.rows is None else master.rows.linking()
        if rows is None or linking is None:
            raise NoLagrangianError(
                f"{type(master).__name__} has no linking rows of a linear program to relax: use ColumnGeneration() or "
                "another bounding"
            )
        self._master, self._oracles, self._context, self.linking = master, oracles, context, linking
        self._rows = rows
        self._objective = objective
        self._none: Duals = rows.guess({})
        self._limited: Sequence[Pricing] = ()
        self.sense = master.sense
        self.lower, self.upper = linking.lower * linking.sizes, linking.upper * linking.sizes
        self.unit = 0.0
        self.bound, self.duals = self.sense.ideal, self._none
        self.cut_off = False

    def start(self, duals: DualPoint) -> Floats:
        """Return the initial point: guessed dual values, or zero, projected to where the function is finite."""
        signed = self._none if duals is None else self._rows.signed(duals)
        usable = isinstance(signed, DualVector) and np.isfinite(signed.values).all()
        values = signed.values if usable else self._none.values
        return self.linking.project(values) * self.linking.sizes

    def evaluate(self, point: Floats) -> DualEvaluation:
        """Evaluate the function at a point by one call of each oracle."""
        linking, master = self.linking, self._master
        duals = self._rows.signed(self._none.replace(linking.project(point / linking.sizes)))
        found = gather(call_oracles(self._oracles, duals, self._context), duals)
        results = found.results
        if not self._limited:
            self._limited = [
                _Capped(oracle, _multiplicity(oracle, result, self.sense, self._objective))
                for oracle, result in zip(self._oracles, results, strict=True)
            ]
        if not self.unit:
            self.unit = self._unit(found.columns)
        self.cut_off = any(result.cut_off for result in results)
        reduced = found.split(master.price(found.columns, duals))
        check_results(master, self._oracles, results, reduced, duals, self._context)
        bound = master.bound(duals, self._oracles, results)
        if self.sense.is_better(self.bound, bound):
            self.bound, self.duals = bound, duals
        value = self.sense.sign * master.bound(duals, self._limited, results)
        own = linking.own_values(duals)
        used = tuple(self._best_columns(*each) for each in zip(self._limited, results, reduced, strict=True))
        activity = linking.own_activity(own)
        for columns, values in used:
            if len(columns):
                activity = activity + linking.activity(columns, values)
        slope = linking.slope(duals.values, activity) / linking.sizes
        solution = SubproblemSolution(own, used, linking.holds(activity))
        return DualEvaluation(duals.values * linking.sizes, value, slope, solution)

    def _unit(self, columns: Sequence[Column]) -> float:
        """Return the typical size of the costs seen so far; zero if all of them are zero."""
        objective = np.array([self._objective] if math.isfinite(self._objective) else [])
        costs = self.linking.costs_of(columns)
        return typical_size(np.concatenate([self.linking.own_costs, objective, costs]), 0.0)

    def _best_columns(
        self, limited: Pricing, result: PricingResult, reduced: Floats
    ) -> tuple[Sequence[Column], Floats]:
        """Return the columns and values of one pricing problem's best solution."""
        if result.attained is not None:
            columns, values = result.attained()
            return columns, np.asarray(values, dtype=float)
        if not len(result.columns):
            return (), np.zeros(0)
        gains = self.sense.gains(reduced)
        best = int(np.argmax(gains))
        if not gains[best] > 0.0:
            return (), np.zeros(0)
        amount = limited.multiplicity if math.isfinite(limited.multiplicity) else 1.0
        return result.columns[best : best + 1], np.array([amount])

    def cost(self, answer: SubproblemSolution) -> float:
        used = sum(float(self.linking.costs_of(columns) @ values) for columns, values in answer.used if len(columns))
        return self.linking.own_cost(answer.own) + used

    def columns(self, average: Iterable[tuple[float, SubproblemSolution]], most: int) -> list[list[Sequence[Column]]]:
        """Return the columns of largest value in an averaged solution, in batches for each oracle."""
        found = self._blend(list(average))
        values = np.concatenate([np.empty(0), *(values for blend in found for _, values in blend)])
        least = np.partition(values, -most)[-most] if len(values) > most else 0.0
        return [[select(columns, values >= least) for columns, values in blend] for blend in found]

    def solution(self, average: Iterable[tuple[float, SubproblemSolution]]) -> Solution | None:
        """Return an averaged solution as an approximate solution of the relaxation.  Its rows hold nearly."""
        average = list(average)
        if not average:
            return None
        own = np.sum([weight * answer.own for weight, answer in average], axis=0)
        cost = self.linking.own_cost(own)
        used: list[tuple[Column, float]] = []
        for blend in self._blend(average):
            for columns, values in blend:
                shown = values > TOLERANCES.integrality  # smaller values are noise
                chosen = select(columns, shown)
                if len(chosen):
                    cost += float(self.linking.costs_of(chosen) @ values[shown])
                used += zip(chosen, values[shown].tolist(), strict=True)
        return Solution(cost, tuple(used), *self.linking.named(own))

    def _blend(
        self, average: Sequence[tuple[float, SubproblemSolution]]
    ) -> list[list[tuple[Sequence[Column], Floats]]]:
        """Return the distinct columns of an averaged solution with their values, for each oracle."""
        return [
            _merge([(answer.used[k][0], weight * answer.used[k][1]) for weight, answer in average])
            for k in range(len(self._oracles))
        ]


def _merge(parts: Sequence[tuple[Sequence[Column], Floats]]) -> list[tuple[Sequence[Column], Floats]]:
    """Sum the values of equal columns, each at its first position.  Signatures identify columns of batches."""
    parts = [part for part in parts if len(part[0])]
    if not parts:
        return []
    if all(isinstance(columns, Columns) for columns, _ in parts):
        signatures = np.concatenate([np.empty(0, np.uint64), *(columns.signatures for columns, _ in parts)])  # type: ignore[attr-defined]
        values = np.concatenate([np.empty(0), *(values for _, values in parts)])
        _, first, which = np.unique(signatures, return_index=True, return_inverse=True)
        sums = np.zeros(len(values))
        sums[first] = np.bincount(which, values, minlength=len(first))
        ends = np.cumsum([len(columns) for columns, _ in parts])[:-1]
        found = zip(parts, np.split(sums, ends), strict=True)
        return [(select(columns, mine > 0.0), mine[mine > 0.0]) for (columns, _), mine in found]
    known: dict[Hashable, tuple[Column, float]] = {}
    for columns, amounts in parts:
        for column, value in zip(columns, amounts.tolist(), strict=True):
            identity = column.identity
            known[identity] = (column, value + known[identity][1] if identity in known else value)
    return [([column for column, _ in known.values()], np.array([value for _, value in known.values()]))]


def _multiplicity(oracle: Pricing, result: PricingResult, sense: Sense, objective: float) -> float:
    """Return the maximum number of a pricing problem's columns in the relaxation.

    With a positive cost bound γ, a solution as good as the incumbent z uses at most z / γ columns.  Template variables
    with negative costs may invalidate this.  Then steps are worse, but the bound stays valid.
    """
    if math.isfinite(oracle.multiplicity) or result.total is not None:
        return oracle.multiplicity
    least = 0.0 if oracle.cost_bound is None else sense.sign * oracle.cost_bound
    if least > 0.0 and math.isfinite(objective):
        return max(_CAPPED * sense.sign * objective / least, 1.0)
    raise NoLagrangianError(
        f"the Lagrangian relaxation needs the maximum number of columns of {oracle.name}: state its multiplicity, a "
        "total in its results, or a positive cost_bound if there is an incumbent; otherwise use ColumnGeneration()"
    )
