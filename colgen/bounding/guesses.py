"""One round of pricing at guessed dual values.  Its bound is proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.bounding.checks import check_results
from colgen.bounding.pricing_round import NONE_IMPROVING, Improving, computed_bound, locate
from colgen.bounding.protocol import Settings
from colgen.bounding.run import PRICING, Recorder, Run
from colgen.core.duals import DualPoint, Duals
from colgen.core.result import Termination
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_pool import NOWHERE
from colgen.master.protocol import RestrictedMaster, real_costs
from colgen.pricing.calls import GatheredColumns, call_oracles, gather, select
from colgen.pricing.oracles import Pricing, PricingContext


@dataclass(frozen=True)
class Proved:
    """The result of one round of pricing at guessed dual values.

    ``new`` are the improving columns, ``answers`` the oracles' complete solutions, not yet verified, and ``relaxed`` is
    a solution of the relaxation, if an oracle returned one.
    """

    bound: float
    duals: DualPoint
    new: Improving = NONE_IMPROVING
    answers: Sequence[Solution] = ()
    cut_off: bool = False
    relaxed: Solution | None = None


def prove(
    master: RestrictedMaster, pricing: Sequence[Pricing], guess: DualPoint, context: PricingContext, settings: Settings
) -> Proved:
    """Price all oracles at guessed dual values and return the bound that this proves.

    Real costs are used even if the master is in phase 1.  It need not have been solved.
    """
    sense, rows = master.sense, master.rows
    with real_costs(master):
        duals = guess if rows is None else rows.guess(guess)
        context = guess_context(master, context, settings)
        results = call_oracles(pricing, duals, context)
        answers = [answer for result in results for answer in result.answers]
        new = NONE_IMPROVING
        if isinstance(duals, Duals) or any(len(result.columns) for result in results):
            found = gather(results, duals)
            reduced = master.price(found.columns, duals)
            check_results(master, pricing, results, found.split(reduced), duals, context)
            new = _select_new(master, found, sense.gains(reduced) > context.tolerance)
        bound = computed_bound(master, pricing, results, duals)
    relaxed = next((result.relaxed for result in results if result.relaxed is not None), None)
    return Proved(bound, duals, new, answers, any(result.cut_off for result in results), relaxed)


def guess_context(master: RestrictedMaster, context: PricingContext, settings: Settings) -> PricingContext:
    """Return the oracles' context at guessed dual values.  Call it while real costs are in use."""
    precision = master.precision
    scale = settings.scale or precision.scale
    return PricingContext(  # faster than dataclasses.replace, which dominates small solves
        context.sense,
        decisions=context.decisions,
        fixed=context.fixed,
        deadline=context.deadline,
        tolerance=settings.tolerance * scale,
        price=master.price,
        scale=max(scale, precision.rounding / TOLERANCES.diagnostic),
        budget=context.budget,
        find=master.find,
    )


def _select_new(master: RestrictedMaster, found: GatheredColumns, improving: NDArray[np.bool_]) -> Improving:
    """Return the improving columns that are not in the master."""
    if not improving.any():
        return NONE_IMPROVING
    columns, origins, where = locate(master, found, improving)
    new = where == NOWHERE
    return Improving(select(columns, new), origins[new])


def record(
    run: Run, master: RestrictedMaster, proved: Proved, node: tuple[int, int], started: float, settings: Settings
) -> Termination | None:
    """Record a round of pricing at a guess.  Return a reason to stop, if any rule has one.

    Without a restricted master, the incumbent's objective is recorded as its objective.
    """
    rounds = Recorder(run, master, *node, proves=settings.stop_early, started=started)
    rounds.lap(PRICING)
    return rounds.write(2, run.objective, proved.bound, duals=proved.duals if settings.keep_duals else None)
