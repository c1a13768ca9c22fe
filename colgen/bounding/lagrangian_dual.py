"""The Lagrangian relaxation of a problem's linking rows, as a function of dual values that can be evaluated.

For dual values π, and minimising, with a_j the column of x_j in the rows and r the sides that π pulls at,

    q(π) = πᵀr + Σ_j (c_j - πᵀa_j) x_j(π),

where x(π) is the best answer to the pricing problems: of each, at most U_k columns (its multiplicity) of the best
reduced cost, and none if that does not improve; and the template's variables at their better bounds.  q is concave, it
bounds all answers, and what the rows lack at x(π) is a supergradient of it.  The oracles say all of it; the optimum
over π is that of the linear program which column generation solves.
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
"""A pricing problem without a multiplicity counts as one whose columns may cost so many times the incumbent."""


@dataclass(frozen=True)
class Answered:
    """An answer to all pricing problems at once.

    Attributes
    ----------
    own
        Values of the columns that no oracle answers for.
    used
        Columns of each oracle, and their values.
    holds
        Whether it satisfies the linking rows, which nobody has asked of it.
    """

    own: Floats
    used: tuple[tuple[Sequence[Column], Floats], ...]
    holds: bool

    @property
    def size(self) -> int:
        """How many columns it uses."""
        return sum(len(columns) for columns, _ in self.used)


class NoLagrangianError(InputError):
    """The Lagrangian relaxation of a problem is not finite, or there is none."""


class _Capped(Pricing):
    """A pricing problem as the Lagrangian relaxation counts it: with a multiplicity."""

    def __init__(self, oracle: Pricing, multiplicity: float) -> None:
        self.multiplicity, self.cost_bound = multiplicity, oracle.cost_bound

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        raise NotImplementedError


class LagrangianDual:
    """The dual function of a linear master at the present node.

    Points are dual values times the sizes of their rows, so that scaling a row changes nothing; values are turned
    around where the problem maximises.

    Parameters
    ----------
    context
        What the oracles are told.
    objective
        The incumbent's, infinite if there is none.

    Attributes
    ----------
    bound, duals
        The best bound that the engine's own formula has made of the oracles' results, and where: Farley's too.
    cut_off
        Whether an oracle gave up early at the last evaluation.

    unit
        The size of what costs are made of; zero until an oracle has returned a column that costs something.

    Raises
    ------
    NoLagrangianError
        If there is no such function: the message says what is missing.
    """

    def __init__(
        self, master: RestrictedMaster, oracles: Sequence[Pricing], context: PricingContext, objective: float
    ) -> None:
        rows, linking = master.rows, None if master.rows is None else master.rows.linking()
        if rows is None or linking is None:
            raise NoLagrangianError(
                f"{type(master).__name__} has no linking rows of a linear program, whose violation could be paid at "
                "dual values: bound it by ColumnGeneration() or a bounding of its own"
            )
        self._master, self._oracles, self._context, self.linking = master, oracles, context, linking
        self._rows = rows
        self._objective = objective
        self._none: Duals = rows.guess({})
        self._counted: Sequence[Pricing] = ()
        self.sense = master.sense
        self.lower, self.upper = linking.lower * linking.sizes, linking.upper * linking.sizes
        self.unit = 0.0
        self.bound, self.duals = self.sense.ideal, self._none
        self.cut_off = False

    def start(self, duals: DualPoint) -> Floats:
        """Where to begin: guessed dual values, or zero, put where the function is finite."""
        signed = self._none if duals is None else self._rows.signed(duals)
        usable = isinstance(signed, DualVector) and np.isfinite(signed.values).all()
        values = signed.values if usable else self._none.values
        return self.linking.project(values) * self.linking.sizes

    def evaluate(self, point: Floats) -> DualEvaluation:
        """The function at a point, by one call of each oracle."""
        linking, master = self.linking, self._master
        duals = self._rows.signed(self._none.replace(linking.project(point / linking.sizes)))
        found = gather(call_oracles(self._oracles, duals, self._context), duals)
        results = found.results
        if not self._counted:
            self._counted = [
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
        value = self.sense.sign * master.bound(duals, self._counted, results)
        own = linking.own_values(duals)
        used = tuple(self._used(*each) for each in zip(self._counted, results, reduced, strict=True))
        activity = linking.own_activity(own)
        for columns, values in used:
            if len(columns):
                activity = activity + linking.activity(columns, values)
        slope = linking.slope(duals.values, activity) / linking.sizes
        return DualEvaluation(duals.values * linking.sizes, value, slope, Answered(own, used, linking.holds(activity)))

    def _unit(self, columns: Sequence[Column]) -> float:
        """The size of costs, by those that are known by now; zero if none of them says anything."""
        objective = np.array([self._objective] if math.isfinite(self._objective) else [])
        costs = self.linking.costs_of(columns)
        return typical_size(np.concatenate([self.linking.own_costs, objective, costs]), 0.0)

    def _used(self, counted: Pricing, result: PricingResult, reduced: Floats) -> tuple[Sequence[Column], Floats]:
        """The pricing problem's best answer by itself."""
        if result.attained is not None:
            columns, values = result.attained()
            return columns, np.asarray(values, dtype=float)
        if not len(result.columns):
            return (), np.zeros(0)
        gains = self.sense.gains(reduced)
        best = int(np.argmax(gains))
        if not gains[best] > 0.0:
            return (), np.zeros(0)
        amount = counted.multiplicity if math.isfinite(counted.multiplicity) else 1.0
        return result.columns[best : best + 1], np.array([amount])

    def cost(self, answer: Answered) -> float:
        """What an answer costs."""
        used = sum(float(self.linking.costs_of(columns) @ values) for columns, values in answer.used if len(columns))
        return self.linking.own_cost(answer.own) + used

    def columns(self, average: Iterable[tuple[float, Answered]], most: int) -> list[list[Sequence[Column]]]:
        """The columns that count most in an averaged answer, of each oracle, in batches."""
        found = self._blended(list(average))
        values = np.concatenate([np.empty(0), *(values for blend in found for _, values in blend)])
        least = np.partition(values, -most)[-most] if len(values) > most else 0.0
        return [[select(columns, values >= least) for columns, values in blend] for blend in found]

    def solution(self, average: Iterable[tuple[float, Answered]]) -> Solution | None:
        """An averaged answer as a solution of the relaxation: approximate, its rows hold nearly."""
        average = list(average)
        if not average:
            return None
        own = np.sum([weight * answer.own for weight, answer in average], axis=0)
        cost = self.linking.own_cost(own)
        used: list[tuple[Column, float]] = []
        for blend in self._blended(average):
            for columns, values in blend:
                shown = values > TOLERANCES.integrality  # what hardly occurs in the average is noise
                chosen = select(columns, shown)
                if len(chosen):
                    cost += float(self.linking.costs_of(chosen) @ values[shown])
                used += zip(chosen, values[shown].tolist(), strict=True)
        return Solution(cost, tuple(used), *self.linking.named(own))

    def _blended(self, average: Sequence[tuple[float, Answered]]) -> list[list[tuple[Sequence[Column], Floats]]]:
        """Of each oracle, the columns of an averaged answer with their values: no column comes twice."""
        return [
            _merged([(answer.used[k][0], weight * answer.used[k][1]) for weight, answer in average])
            for k in range(len(self._oracles))
        ]


def _merged(parts: Sequence[tuple[Sequence[Column], Floats]]) -> list[tuple[Sequence[Column], Floats]]:
    """Columns with their values summed up, each where it comes first; signatures tell columns of batches apart."""
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
    """How many columns of a pricing problem the relaxation may use.

    With a positive cost bound γ an answer no worse than the incumbent z uses at most z / γ; where that is not so, since
    variables of the template cost less than zero, steps are worse, and the bound is none the less what oracles prove.
    """
    if math.isfinite(oracle.multiplicity) or result.total is not None:
        return oracle.multiplicity
    least = 0.0 if oracle.cost_bound is None else sense.sign * oracle.cost_bound
    if least > 0.0 and math.isfinite(objective):
        return max(_CAPPED * sense.sign * objective / least, 1.0)
    raise NoLagrangianError(
        f"the Lagrangian relaxation needs to know how many columns {oracle.name} may use at most: state its "
        "multiplicity, or a total in its results, or a positive cost_bound where there is an answer to start from; "
        "else bound by ColumnGeneration()"
    )
