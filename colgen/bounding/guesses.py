"""One round of pricing at dual values that somebody has guessed: what the oracles state there is proved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.bounding.checks import check_results, names
from colgen.bounding.pricing_round import NONE_IMPROVING, Improving
from colgen.bounding.protocol import Settings
from colgen.bounding.run import PRICING, Recorder, Run
from colgen.core.column_batch import Columns
from colgen.core.duals import DualPoint, Duals
from colgen.core.errors import InvalidBoundError
from colgen.core.result import Termination
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_pool import NOWHERE
from colgen.master.protocol import RestrictedMaster, real_costs
from colgen.pricing.calls import Found, call_oracles, gather, select
from colgen.pricing.oracles import Pricing, PricingContext


@dataclass(frozen=True)
class Proved:
    """What one round of pricing has proved.

    Attributes
    ----------
    bound
        On the answers of the node.
    duals
        Those that were priced at.
    new
        The columns whose reduced cost improves at these dual values.
    answers
        Whole solutions that the oracles have met on the way, not checked yet.
    cut_off
        Whether some oracle gave up before its time.
    relaxed
        A solution of the relaxation that an oracle knows.
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
    """Price all oracles at guessed dual values and compute the bound that this proves, whatever the guess is worth.

    Real costs count, also while the master itself is in phase 1; it need not have been solved.
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
            new = _new(master, found, sense.gains(reduced) > context.tolerance)
        bound = master.bound(duals, pricing, results)
    relaxed = next((result.relaxed for result in results if result.relaxed is not None), None)
    if math.isnan(bound):
        raise InvalidBoundError(f"the oracles {names(pricing)} state a bound that is not a number")
    return Proved(bound, duals, new, answers, any(result.cut_off for result in results), relaxed)


def guess_context(master: RestrictedMaster, context: PricingContext, settings: Settings) -> PricingContext:
    """What oracles are told where they are priced at guessed dual values; asked for while real costs count."""
    precision = master.precision
    scale = settings.scale or precision.scale
    return PricingContext(  # cheaper than replacing fields: this is all that a small solve does
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


def _new(master: RestrictedMaster, found: Found, improving: NDArray[np.bool_]) -> Improving:
    """Columns that improve at guessed dual values and are not there yet; those that are there may improve as well."""
    if not improving.any():
        return NONE_IMPROVING
    columns, origins = select(found.columns, improving), found.origins[improving]
    if isinstance(columns, list):
        columns = Columns.of(columns)
    new = master.find(columns) == NOWHERE
    return Improving(select(columns, new), origins[new])


def record(
    run: Run, master: RestrictedMaster, proved: Proved, node: tuple[int, int], started: float, settings: Settings
) -> Termination | None:
    """Write down such a round as one of the run: it has no restricted master, so its objective is the incumbent's.

    The answer is a reason to stop, if a rule names one.
    """
    rounds = Recorder(run, master, *node, proves=settings.stop_early, started=started)
    rounds.lap(PRICING)
    return rounds.write(2, run.objective, proved.bound, duals=proved.duals if settings.keep_duals else None)
