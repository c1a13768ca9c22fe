"""One round of pricing: all oracles at the same dual values, and what they return held against what is known."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.bounding.checks import check_results, check_told_apart, names
from colgen.core.column_batch import Columns
from colgen.core.columns import Column
from colgen.core.duals import Duals, DualVector, OwnDuals
from colgen.core.errors import InvalidBoundError
from colgen.core.numbers import returned
from colgen.core.result import Termination
from colgen.core.sense import Sense
from colgen.core.tolerances import TOLERANCES
from colgen.master.protocol import Answer, MasterSolution, RestrictedMaster
from colgen.pricing.calls import call_oracles
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
    columns
        Of each oracle, those that improve the restricted master and are not in it yet.
    num_columns
        How many these are.
    bound, duals
        The best bound of the round, and where it was proved.
    exact
        Whether every oracle has searched to the end, at the master's own dual values.
    misprices
        How often oracles were asked in vain before.
    results, reduced_costs
        What each oracle returned last, and its columns' reduced costs at the master's dual values.
    real
        In phase 1: the best bound on the real objective that was proved on the way, and where; None if none was.
    """

    columns: Sequence[Sequence[Column]]
    num_columns: int
    bound: float
    duals: OwnDuals
    exact: bool
    misprices: int
    results: Sequence[PricingResult]
    reduced_costs: Sequence[Floats]
    real: tuple[float, OwnDuals] | None = None

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
            batches = [_costs(result.columns) for result in priced.results]
            costs, gains = np.concatenate(batches), context.sense.gains(np.concatenate(priced.reduced_costs))
            if len(costs):
                ray.learn(costs, gains)
        if ahead is None:
            return priced
        return dataclasses.replace(priced, misprices=priced.misprices + 1, real=ahead.real)

    def _ahead(self, ray: Ray, solved: MasterSolution, context: PricingContext) -> PricedRound | None:
        """Ask at real costs along the dual values of phase 1; None if nobody knows how far.

        What improves in phase 1 joins the master.
        """
        master, oracles = self._master, self._oracles
        duals = ray.point(solved.duals)
        if duals is None:
            return None
        with master.real_costs():
            duals = master.guessed(duals)
            scale = max(master.scale, master.rounding_at(duals) / TOLERANCES.diagnostic)
            tolerance = TOLERANCES.reduced_cost * master.scale
            told = dataclasses.replace(context, cost_weight=1.0, provisional=True, scale=scale, tolerance=tolerance)
            results = self._ask(duals, told, self._part >= len(oracles))
            found = reduced_costs(master, results, duals)
            bound = proved_bound(master, oracles, results, found, duals, told)
        master.guessed(solved.duals)  # what rounding leaves of reduced costs is that of phase 1 again
        own = reduced_costs(master, results, solved.duals)
        columns = master.improving_of_each(oracles, [result.columns for result in results], own, context.tolerance)
        num_columns = sum(map(len, columns))
        if not num_columns:
            ray.fell_short()
        return PricedRound(
            columns, num_columns, master.sense.ideal, solved.duals, False, 0, results, own, (bound, duals)
        )

    def _price(self, solved: MasterSolution, context: PricingContext, best_bound: float) -> PricedRound:
        master, oracles, stabilization = self._master, self._oracles, self._stabilization
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
            if duals is not solved.duals:
                duals = master.signed(duals)
            provisional = duals is not solved.duals and not proposing.complementary
            told = self._provisional(context, master.rounding_at(duals)) if provisional else context
            results = self._ask(duals, told, everybody)
            joined = Joined(results)
            found = joined.reduced_costs(master, duals)
            here = proved_bound(master, oracles, results, found, duals, told)
            if proved_at is None or sense.is_better(bound, here):
                bound, proved_at = here, duals
            own = joined.reduced_costs(master, solved.duals) if provisional else found
            columns = master.improving_of_each(oracles, [result.columns for result in results], own, context.tolerance)
            num_columns = sum(map(len, columns))
            if num_columns or context.seconds_left() == 0.0:
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
        if not num_columns and context.decisions:
            check_told_apart(master, oracles, results, own, context)
        stabilization.update(improved, lambda: master.subgradient(solved, _answers(sense, results, found), duals))
        # At smoothed duals, nothing found proves nothing about the master's own duals.
        exact = not provisional and all(result.bound is not None and not result.cut_off for result in results)
        return PricedRound(columns, num_columns, bound, proved_at, exact, misprices, results, own)

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
            found = reduced_costs(self._master, [results[k] for k in part], duals)
            for k, mine in zip(part, found, strict=True):
                improving = np.flatnonzero(context.sense.gains(mine) > context.tolerance).tolist()
                if any(context.is_new(results[k].columns[j]) for j in improving):
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
    bound = master.dual_bound(duals, oracles, results)
    if math.isnan(bound):
        raise InvalidBoundError(f"the oracles {names(oracles)} state a bound that is not a number")
    return bound


class Joined:
    """The columns of several results as few sequences: single columns of many oracles are multiplied at once."""

    def __init__(self, results: Sequence[PricingResult]) -> None:
        batches = [result.columns for result in results]
        single = [isinstance(batch, (list, tuple)) for batch in batches]
        self._batches: list[Sequence[Column] | None] = list(batches)
        self._lengths = list(map(len, batches))
        self._together: list[Column] = []
        if single.count(True) > 1:
            self._together = [column for batch, one in zip(batches, single, strict=True) if one for column in batch]
            self._batches = [None if one else batch for batch, one in zip(batches, single, strict=True)]

    def reduced_costs(self, master: RestrictedMaster, duals: OwnDuals) -> list[Floats]:
        """Of each result's columns."""
        whole, end, found = _NONE, 0, []
        if self._together:
            whole = np.asarray(master.reduced_costs(self._together, duals), dtype=float)
        for batch, length in zip(self._batches, self._lengths, strict=True):
            if not length:
                found.append(_NONE)
            elif batch is None:
                start, end = end, end + length
                found.append(whole[start:end])
            else:
                found.append(np.asarray(master.reduced_costs(batch, duals), dtype=float))
        return found


_NONE: Floats = np.empty(0)
_NONE.setflags(write=False)


def reduced_costs(master: RestrictedMaster, results: Sequence[PricingResult], duals: OwnDuals) -> list[Floats]:
    """Of each result's columns."""
    return Joined(results).reduced_costs(master, duals)


def _costs(columns: Sequence[Column]) -> Floats:
    """What columns cost by themselves."""
    return columns.costs if isinstance(columns, Columns) else np.array([column.cost for column in columns], dtype=float)


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
