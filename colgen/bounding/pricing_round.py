"""One round of pricing: call all oracles at the same dual values and check their results."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.bounding.checks import check_distinct, check_not_repeated, check_results, oracle_names
from colgen.core.column_batch import Columns
from colgen.core.columns import Column
from colgen.core.duals import Duals, DualVector, OwnDuals
from colgen.core.errors import InvalidBoundError
from colgen.core.numbers import require_result
from colgen.core.result import Termination
from colgen.core.sense import Sense
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_pool import NOWHERE
from colgen.master.protocol import Answer, MasterSolution, RestrictedMaster
from colgen.pricing.calls import GatheredColumns, call_oracles, gather, select
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.pricing.order import OracleQueue, PricingOrder
from colgen.stabilization import NoStabilization, Ray, Stabilization

Floats = NDArray[np.float64]

_GIVEN_UP = 0.05
"""An oracle that stops early with at most this share of the time left does so because of the deadline."""

_TOO_SHORT = 0.01
"""The same holds with at most this many seconds left, too few to begin most searches."""


@dataclass(frozen=True, slots=True)
class PricedRound:
    """The result of one round of pricing.

    ``new`` are the columns to add to the restricted master; ``bound`` is the best bound of the round, at ``duals``.
    ``exact`` is true if every oracle has completed its search at the master's own dual values.  ``found`` are the
    oracles' last results, and ``reduced_costs`` those of their columns at the master's dual values, one array per
    result.  ``real`` is the best bound on the real objective that phase 1 has proved on the way, with its dual values.
    """

    new: Improving
    bound: float
    duals: OwnDuals
    exact: bool
    misprices: int
    found: GatheredColumns
    reduced_costs: Sequence[Floats]
    real: tuple[float, OwnDuals] | None = None

    @property
    def num_columns(self) -> int:
        return len(self.new)

    @property
    def results(self) -> Sequence[PricingResult]:
        return self.found.results

    def cut_off(self, context: PricingContext) -> Termination | None:
        """Return why the run must stop if an oracle stopped early for lack of time."""
        left = context.seconds_left()
        nearly = math.isfinite(left) and left <= max(_TOO_SHORT, _GIVEN_UP * context.budget.seconds)
        return Termination.TIME_LIMIT if nearly and any(result.cut_off for result in self.results) else None

    def weakness(self, pricing: Sequence[Pricing], context: PricingContext) -> str:
        """Describe the oracles that state no bound, or one that none of their columns attains."""
        gaps = []
        for oracle, result, costs in zip(pricing, self.results, self.reduced_costs, strict=True):
            if result.bound is None:
                gaps.append(f"{oracle.name} states no bound" + (": it was cut off" if result.cut_off else ""))
                continue
            best = float(costs[np.argmax(context.sense.gains(costs))]) if len(costs) else None
            if context.improves(result.bound) and (best is None or not context.improves(best)):
                has = "it returns no column" if best is None else f"its best column has {best:.6g}"
                gaps.append(f"{oracle.name} bounds reduced costs by {result.bound:.6g}, but {has}")
        return "; ".join(gaps)


_MOST_MISPRICES = 100
"""After this many misprices in a round, pricing uses the master's own dual values, without stabilization."""


_NOT_CALLED = PricingResult()
"""Result of an oracle that is left to another round."""


class Pricer:
    """Prices the rounds of a node: at smoothed dual values first, closer to the master's after each misprice.

    In phase 1 it may first price at real costs along the master's dual values (:class:`colgen.stabilization.Ray`).  A
    column still joins only if it improves in phase 1, so each round makes progress or is the last.
    """

    def __init__(
        self,
        master: RestrictedMaster,
        oracles: Sequence[Pricing],
        stabilization: Stabilization,
        share: float = 1.0,
        order: PricingOrder | None = None,
    ) -> None:
        self._master, self._oracles, self._stabilization = master, oracles, stabilization
        self._part = max(math.ceil(share * len(oracles)), 1)
        self._has_quick = len(oracles) > 1 and all(oracle.has_quick for oracle in oracles)
        self._queue = OracleQueue([oracle.name for oracle in oracles], self._part, order)
        self._learns = order is not None
        self._smoothed: tuple[PricingContext, PricingContext] | None = None

    def price(self, solved: MasterSolution, context: PricingContext, best_bound: float) -> PricedRound:
        """Price one round.  ``best_bound`` is the best bound proved before."""
        ray = self._stabilization.ray if solved.phase == 1 and isinstance(solved.duals, Duals) else None
        if ray is None:
            return self._price(solved, context, best_bound)
        ahead = self._price_ahead(ray, solved, context)
        if ahead is not None and (ahead.num_columns or context.seconds_left() == 0.0):
            return ahead
        priced = self._price(solved, context, best_bound)
        if ray.length is None and priced.results:
            gains = context.sense.gains(np.concatenate(priced.reduced_costs))
            if len(gains):
                ray.learn(priced.found.costs, gains)
        if ahead is None:
            return priced
        return dataclasses.replace(priced, misprices=priced.misprices + 1, real=ahead.real)

    def _price_ahead(self, ray: Ray, solved: MasterSolution, context: PricingContext) -> PricedRound | None:
        """Price at real costs along the dual values of phase 1, or return None if the step length is unknown.

        Columns that improve in phase 1 are returned as new.
        """
        master, oracles, rows = self._master, self._oracles, self._master.rows
        duals = ray.point(solved.duals)
        if duals is None or rows is None:
            return None
        with rows.real_costs():
            duals = rows.guess(duals)
            scale = master.precision.scale
            tolerance = TOLERANCES.reduced_cost * scale
            scale = max(scale, rows.rounding_at(duals) / TOLERANCES.diagnostic)
            real = context.replace(cost_weight=1.0, provisional=True, scale=scale, tolerance=tolerance)
            found = gather(self._call(duals, real, self._part >= len(oracles)), duals)
            there = found.split(master.price(found.columns, duals))
            bound = proved_bound(master, oracles, found.results, there, duals, real)
        rows.guess(solved.duals)  # restores the rounding error of reduced costs of phase 1
        own = master.price(found.columns, solved.duals)
        new = select_improving(master, oracles, found, own, context.tolerance)
        if not new:
            ray.extend()
        return PricedRound(new, master.sense.ideal, solved.duals, False, 0, found, found.split(own), (bound, duals))

    def _price(self, solved: MasterSolution, context: PricingContext, best_bound: float) -> PricedRound:
        master, oracles, stabilization = self._master, self._oracles, self._stabilization
        rows = master.rows
        if not isinstance(solved.duals, DualVector):
            stabilization = NoStabilization()  # there are no averages of other points, such as a dynamic program's
        sense, misprices, proposing = master.sense, 0, stabilization
        bound, proved_at = sense.ideal, None
        all_oracles = self._part >= len(oracles)
        while True:
            proposed = proposing.propose(solved.duals)
            if solved.duals is not None:  # a master stopped by a limit may have a solution without dual values
                proposed = require_result(proposed, f"{type(proposing).__name__}.propose()", "dual values")
            duals = proposed
            if duals is not solved.duals and rows is not None:
                duals = rows.signed(duals)
            provisional = duals is not solved.duals and not proposing.complementary
            rounding = rows.rounding_at(duals) if provisional and rows is not None else 0.0
            here_context = self._provisional(context, rounding) if provisional else context
            found = gather(self._call(duals, here_context, all_oracles), duals)
            results = found.results
            reduced = master.price(found.columns, duals)
            of_each = found.split(reduced)
            here = proved_bound(master, oracles, results, of_each, duals, here_context)
            if proved_at is None or sense.is_better(bound, here):
                bound, proved_at = here, duals
            own = master.price(found.columns, solved.duals) if provisional else reduced
            new = select_improving(master, oracles, found, own, context.tolerance)
            if new or context.seconds_left() == 0.0 or any(result.costly for result in results):
                break
            if duals is not solved.duals and proposing.misprice():
                misprices += 1
                if misprices >= _MOST_MISPRICES:
                    proposing = NoStabilization()
            elif any(result is _NOT_CALLED for result in results):
                all_oracles = True  # the columns found so far do not improve the master
            else:
                break
        improved = math.isinf(best_bound) or sense.is_better(best_bound, here)
        if proposing is not stabilization:
            improved = False  # the bound is not that of the stabilization's proposal
        own_of_each = found.split(own) if provisional else of_each
        if not new and context.decisions:
            check_distinct(master, oracles, results, own_of_each, context)

        def subgradient() -> Floats | None:
            return None if rows is None else rows.subgradient(solved, _attained(sense, results, of_each), duals)

        stabilization.update(improved, subgradient)
        # Smoothed dual values prove nothing about the master's own.
        exact = not provisional and all(result.bound is not None and not result.cut_off for result in results)
        return PricedRound(new, bound, proved_at, exact, misprices, found, own_of_each)

    def _call(self, duals: OwnDuals, context: PricingContext, all_oracles: bool) -> list[PricingResult]:
        """Call the oracles part by part, until one finds a new column that improves at ``duals``.

        There is no bound until all have been called.
        """
        oracles = self._oracles
        if all_oracles:
            if self._has_quick:
                results = call_oracles(oracles, duals, context.replace(quick=True))
                if self._improve(results, duals, context):
                    return results
            return call_oracles(oracles, duals, context)
        results = [_NOT_CALLED] * len(oracles)
        order = self._queue.begin()
        for first in range(0, len(order), self._part):
            part = order[first : first + self._part]
            self._queue.called(part)
            for k, result in zip(part, call_oracles([oracles[k] for k in part], duals, context), strict=True):
                results[k] = result
                if self._learns:
                    columns = result.columns
                    gains = context.sense.gains(self._master.price(columns, duals)) if len(columns) else np.empty(0)
                    self._queue.found(k, gains, context.tolerance)
            if self._improve([results[k] for k in part], duals, context):
                break
        return results

    def _improve(self, results: Sequence[PricingResult], duals: OwnDuals, context: PricingContext) -> bool:
        """Return whether a new column of the results improves at ``duals``."""
        columns = gather(results, duals).columns
        improves = context.sense.gains(self._master.price(columns, duals)) > context.tolerance
        return bool(improves.any() and (self._master.find(select(columns, improves)) == NOWHERE).any())

    def _provisional(self, context: PricingContext, rounding: float) -> PricingContext:
        """Return the context at smoothed dual values, where reduced costs may have larger rounding errors."""
        scale = max(context.scale, rounding / TOLERANCES.diagnostic)
        if self._smoothed is None or self._smoothed[0] is not context or self._smoothed[1].scale != scale:
            self._smoothed = context, context.replace(provisional=True, scale=scale)
        return self._smoothed[1]


def proved_bound(
    master: RestrictedMaster,
    oracles: Sequence[Pricing],
    results: Sequence[PricingResult],
    found: Sequence[Floats],
    duals: OwnDuals,
    context: PricingContext,
) -> float:
    """Check results at ``duals`` and return the bound that they prove; ``found``: their columns' reduced costs."""
    check_results(master, oracles, results, found, duals, context)
    return computed_bound(master, oracles, results, duals)


def computed_bound(
    master: RestrictedMaster, oracles: Sequence[Pricing], results: Sequence[PricingResult], duals: OwnDuals
) -> float:
    """Return the dual bound that the master computes from results; raise an error if it is not a number."""
    bound = master.bound(duals, oracles, results)
    if math.isnan(bound):
        raise InvalidBoundError(f"the bound of {oracle_names(oracles)} is not a number: check the oracles' bounds")
    return bound


@dataclass(frozen=True, slots=True)
class Improving:
    """Columns that join a master, and the indices of their oracles."""

    columns: Sequence[Column] = ()
    origins: NDArray[np.int32] | int = -1

    def __len__(self) -> int:
        return len(self.columns)


NONE_IMPROVING = Improving()


def select_improving(
    master: RestrictedMaster,
    oracles: Sequence[Pricing],
    found: GatheredColumns,
    reduced_costs: Floats,
    tolerance: float,
) -> Improving:
    """Return the columns that improve at the master's own dual values and are not in it.

    A held column below its upper bound that still seems to improve raises a :class:`RepeatedColumnError`.
    """
    chosen = master.sense.gains(reduced_costs) > tolerance
    for k, result in enumerate(found.results):
        if result.together:
            chosen |= found.origins == k
    if not chosen.any():
        return NONE_IMPROVING
    columns, origins, where = locate(master, found, chosen)
    new = where == NOWHERE
    for k in np.flatnonzero(~new).tolist():
        held, oracle = master.at(int(where[k])), oracles[origins[k]]
        if held.is_open and not found.results[origins[k]].together:
            reduced_cost = float(reduced_costs[chosen][k])
            check_not_repeated(
                oracle, columns[k], held.column, reduced_cost, master.precision.scale, master.precision.rounding
            )
    return Improving(select(columns, new), origins[new])


def locate(
    master: RestrictedMaster, found: GatheredColumns, chosen: NDArray[np.bool_]
) -> tuple[Sequence[Column], NDArray[np.int32], NDArray[np.integer[Any]]]:
    """Return the chosen columns as a batch, their origins, and their positions in the master."""
    columns = select(found.columns, chosen)
    if isinstance(columns, list):
        columns = Columns.of(columns)
    return columns, found.origins[chosen], master.find(columns)


def _attained(sense: Sense, results: Sequence[PricingResult], found: Sequence[Floats]) -> list[Answer | None]:
    """Return the columns at which each oracle's bound is attained: ``attained()``, or the best returned column.

    An oracle of several pricing problems must return a best column for each by ``attained``.
    """
    solutions: list[Answer | None] = []
    for result, mine in zip(results, found, strict=True):
        if result.attained is not None:
            columns, amounts = result.attained()
            solutions.append((columns, np.asarray(amounts, dtype=float)))
        else:
            best = int(np.argmax(sense.gains(mine))) if len(mine) else -1
            solutions.append((result.columns[best : best + 1], None) if best >= 0 else None)
    return solutions
