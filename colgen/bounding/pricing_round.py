"""One round of pricing: all oracles at the same dual values, and what they return held against what is known."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.bounding.checks import check_not_repeated, check_results, check_told_apart, names
from colgen.core.column_batch import Columns
from colgen.core.columns import Column
from colgen.core.duals import Duals, DualVector, OwnDuals
from colgen.core.errors import InvalidBoundError
from colgen.core.numbers import returned
from colgen.core.result import Termination
from colgen.core.sense import Sense
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_pool import NOWHERE
from colgen.master.protocol import Answer, MasterSolution, RestrictedMaster
from colgen.pricing.calls import Found, call_oracles, gather, select
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.stabilization import NoStabilization, Ray, Stabilization

Floats = NDArray[np.float64]

_GIVEN_UP = 0.05
"""An oracle that gives up when no more than this share of the time is left does so because of the deadline,"""

_TOO_SHORT = 0.01
"""or when no more than so many seconds are left, in which few searches are worth beginning."""


@dataclass(frozen=True, slots=True)
class PricedRound:
    """What one round of pricing has found.

    Attributes
    ----------
    new
        The columns that improve the restricted master and are not in it yet.
    bound, duals
        The best bound of the round, and where it was proved.
    exact
        Whether every oracle has searched to the end, at the master's own dual values.
    misprices
        How often oracles were asked in vain before.
    found, reduced_costs
        What the oracles returned last, and the reduced costs of each result's columns at the master's dual values.
    real
        In phase 1: the best bound on the real objective that was proved on the way, and where; None if none was.
    """

    new: Improving
    bound: float
    duals: OwnDuals
    exact: bool
    misprices: int
    found: Found
    reduced_costs: Sequence[Floats]
    real: tuple[float, OwnDuals] | None = None

    @property
    def num_columns(self) -> int:
        """How many columns improve."""
        return len(self.new)

    @property
    def results(self) -> Sequence[PricingResult]:
        """What each oracle returned last."""
        return self.found.results

    def cut_off(self, context: PricingContext) -> Termination | None:
        """Why the run must stop if an oracle gave up early: it did so for want of time."""
        left = context.seconds_left()
        nearly = math.isfinite(left) and left <= max(_TOO_SHORT, _GIVEN_UP * context.budget.seconds)
        return Termination.TIME_LIMIT if nearly and any(result.cut_off for result in self.results) else None

    def weakness(self, pricing: Sequence[Pricing], context: PricingContext) -> str:
        """Which oracles state no bound, or one that none of their columns comes up to."""
        said = []
        for oracle, result, costs in zip(pricing, self.results, self.reduced_costs, strict=True):
            if result.bound is None:
                said.append(f"{oracle.name} states no bound" + (": it was cut off" if result.cut_off else ""))
                continue
            best = float(costs[np.argmax(context.sense.gains(costs))]) if len(costs) else None
            if context.improves(result.bound) and (best is None or not context.improves(best)):
                has = "it returns no column" if best is None else f"its best column has {best:.6g}"
                said.append(f"{oracle.name} states that reduced costs may be as good as {result.bound:.6g}, but {has}")
        return "; ".join(said)


_MOST_MISPRICES = 100
"""After so many misprices in one round the master's own dual values are priced at, whatever the stabilization wants."""


_NOT_ASKED = PricingResult()
"""Of an oracle that another round will ask."""


class Pricer:
    """Prices round after round at a node: at smoothed dual values first, nearer to the master's after each misprice.

    In phase 1 it may ask at real costs before, along the master's dual values (:class:`colgen.stabilization.Ray`).
    There too a column joins if it improves at the duals of phase 1, so that each round has a new one, or ends as it
    would have.
    """

    def __init__(
        self, master: RestrictedMaster, oracles: Sequence[Pricing], stabilization: Stabilization, share: float = 1.0
    ) -> None:
        self._master, self._oracles, self._stabilization = master, oracles, stabilization
        self._part = max(math.ceil(share * len(oracles)), 1)
        self._next = 0
        self._told: tuple[PricingContext, PricingContext] | None = None

    def price(self, solved: MasterSolution, context: PricingContext, best_bound: float) -> PricedRound:
        """One round; ``best_bound`` is the best that was proved before."""
        ray = self._stabilization.ray if solved.phase == 1 and isinstance(solved.duals, Duals) else None
        if ray is None:
            return self._price(solved, context, best_bound)
        ahead = self._ahead(ray, solved, context)
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

    def _ahead(self, ray: Ray, solved: MasterSolution, context: PricingContext) -> PricedRound | None:
        """Ask at real costs along the dual values of phase 1; None if nobody knows how far.

        What improves in phase 1 joins the master.
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
            told = dataclasses.replace(context, cost_weight=1.0, provisional=True, scale=scale, tolerance=tolerance)
            found = gather(self._ask(duals, told, self._part >= len(oracles)), duals)
            there = found.split(master.price(found.columns, duals))
            bound = proved_bound(master, oracles, found.results, there, duals, told)
        rows.guess(solved.duals)  # what rounding leaves of reduced costs is that of phase 1 again
        own = master.price(found.columns, solved.duals)
        new = improving(master, oracles, found, own, context.tolerance)
        if not new:
            ray.fell_short()
        return PricedRound(new, master.sense.ideal, solved.duals, False, 0, found, found.split(own), (bound, duals))

    def _price(self, solved: MasterSolution, context: PricingContext, best_bound: float) -> PricedRound:
        master, oracles, stabilization = self._master, self._oracles, self._stabilization
        rows = master.rows
        if not isinstance(solved.duals, DualVector):
            stabilization = NoStabilization()  # messages of a dynamic program, say: nothing to take means of
        sense, misprices, proposing = master.sense, 0, stabilization
        bound, proved_at = sense.ideal, None
        everybody = self._part >= len(oracles)
        while True:
            proposed = proposing.propose(solved.duals)
            if solved.duals is not None:  # a master that a limit has cut short may have an answer, and no dual values
                proposed = returned(proposed, f"{type(proposing).__name__}.propose()", "dual values")
            duals = proposed
            if duals is not solved.duals and rows is not None:
                duals = rows.signed(duals)
            provisional = duals is not solved.duals and not proposing.complementary
            rounding = rows.rounding_at(duals) if provisional and rows is not None else 0.0
            told = self._provisional(context, rounding) if provisional else context
            found = gather(self._ask(duals, told, everybody), duals)
            results = found.results
            reduced = master.price(found.columns, duals)
            of_each = found.split(reduced)
            here = proved_bound(master, oracles, results, of_each, duals, told)
            if proved_at is None or sense.is_better(bound, here):
                bound, proved_at = here, duals
            own = master.price(found.columns, solved.duals) if provisional else reduced
            new = improving(master, oracles, found, own, context.tolerance)
            if new or context.seconds_left() == 0.0:
                break
            if duals is not solved.duals and proposing.misprice():
                misprices += 1
                if misprices >= _MOST_MISPRICES:
                    proposing = NoStabilization()
            elif any(result is _NOT_ASKED for result in results):
                everybody = True  # those that were asked have found what the master does not want
            else:
                break
        improved = math.isinf(best_bound) or sense.is_better(best_bound, here)
        if proposing is not stabilization:
            improved = False  # where it is better, the stabilization has not proposed
        own_of_each = found.split(own) if provisional else of_each
        if not new and context.decisions:
            check_told_apart(master, oracles, results, own_of_each, context)

        def subgradient() -> Floats | None:
            return None if rows is None else rows.subgradient(solved, _answers(sense, results, of_each), duals)

        stabilization.update(improved, subgradient)
        # At smoothed duals, nothing found proves nothing about the master's own duals.
        exact = not provisional and all(result.bound is not None and not result.cut_off for result in results)
        return PricedRound(new, bound, proved_at, exact, misprices, found, own_of_each)

    def _ask(self, duals: OwnDuals, context: PricingContext, everybody: bool) -> list[PricingResult]:
        """Results of a part of the oracles after the other, until one has found a column that improves at ``duals``.

        Those that were not asked prove nothing, so that nothing is proved before all have been.
        """
        oracles, count = self._oracles, len(self._oracles)
        if everybody:
            return call_oracles(oracles, duals, context)
        results = [_NOT_ASKED] * count
        while any(result is _NOT_ASKED for result in results):
            part = [k % count for k in range(self._next, self._next + self._part) if results[k % count] is _NOT_ASKED]
            self._next = (self._next + self._part) % count
            for k, result in zip(part, call_oracles([oracles[k] for k in part], duals, context), strict=True):
                results[k] = result
            columns = gather([results[k] for k in part], duals).columns
            improves = context.sense.gains(self._master.price(columns, duals)) > context.tolerance
            if improves.any() and (self._master.find(select(columns, improves)) == NOWHERE).any():
                return results
        return results

    def _provisional(self, context: PricingContext, rounding: float) -> PricingContext:
        """The same at smoothed dual values, where rounding may leave more of a reduced cost than at the others."""
        scale = max(context.scale, rounding / TOLERANCES.diagnostic)
        if self._told is None or self._told[0] is not context or self._told[1].scale != scale:
            self._told = context, dataclasses.replace(context, provisional=True, scale=scale)
        return self._told[1]


def proved_bound(
    master: RestrictedMaster,
    oracles: Sequence[Pricing],
    results: Sequence[PricingResult],
    found: Sequence[Floats],
    duals: OwnDuals,
    context: PricingContext,
) -> float:
    """The bound that results at ``duals`` prove, once they have been held against all that is known.

    Parameters
    ----------
    found
        The reduced costs of each result's columns at ``duals``.
    """
    check_results(master, oracles, results, found, duals, context)
    bound = master.bound(duals, oracles, results)
    if math.isnan(bound):
        raise InvalidBoundError(f"the oracles {names(oracles)} state a bound that is not a number")
    return bound


@dataclass(frozen=True, slots=True)
class Improving:
    """Columns that join a master, and the numbers of the oracles that they came from."""

    columns: Sequence[Column] = ()
    origins: NDArray[np.int32] | int = -1

    def __len__(self) -> int:
        return len(self.columns)


NONE_IMPROVING = Improving()


def improving(
    master: RestrictedMaster, oracles: Sequence[Pricing], found: Found, reduced_costs: Floats, tolerance: float
) -> Improving:
    """Return the columns that improve the master and are not in it, by their reduced costs at its own dual values.

    Raises
    ------
    RepeatedColumnError
        If the master holds one that still seems to improve it, and its value could grow.
    """
    chosen = master.sense.gains(reduced_costs) > tolerance
    for k, result in enumerate(found.results):
        if result.together:
            chosen |= found.origins == k
    if not chosen.any():
        return NONE_IMPROVING
    columns, origins = select(found.columns, chosen), found.origins[chosen]
    if isinstance(columns, list):
        columns = Columns.of(columns)
    where = master.find(columns)
    new = where == NOWHERE
    for k in np.flatnonzero(~new).tolist():
        held, oracle = master.at(int(where[k])), oracles[origins[k]]
        if held.is_open and not found.results[origins[k]].together:
            reduced_cost = float(reduced_costs[chosen][k])
            check_not_repeated(
                oracle, columns[k], held.column, reduced_cost, master.precision.scale, master.precision.rounding
            )
    return Improving(select(columns, new), origins[new])


def _answers(sense: Sense, results: Sequence[PricingResult], found: Sequence[Floats]) -> list[Answer | None]:
    """The columns at which each oracle's bound is attained: those that it says, or the best one it returned.

    An oracle that answers for many pricing problems at once has a best column of each, and only it knows which.
    """
    answers: list[Answer | None] = []
    for result, mine in zip(results, found, strict=True):
        if result.attained is not None:
            columns, amounts = result.attained()
            answers.append((columns, np.asarray(amounts, dtype=float)))
        else:
            best = int(np.argmax(sense.gains(mine))) if len(mine) else -1
            answers.append(([result.columns[best]], None) if best >= 0 else None)
    return answers
