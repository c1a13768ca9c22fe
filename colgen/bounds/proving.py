"""One round of pricing at dual values that somebody has guessed: what the oracles state there is proved."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.bounds.bounding import Settings
from colgen.bounds.checks import check_results, names
from colgen.bounds.run import Run
from colgen.core.columns import Column
from colgen.core.duals import Duals
from colgen.core.errors import InvalidBoundError
from colgen.core.result import Iteration
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.master.protocol import RestrictedMaster
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
    columns
        Of each oracle, those whose reduced cost improves at these dual values.
    answers
        Whole solutions that the oracles have met on the way, not checked yet.
    cut_off
        Whether some oracle gave up before its time.
    """

    bound: float
    duals: Any
    columns: Sequence[Sequence[Column]] = ()
    answers: Sequence[Solution] = ()
    cut_off: bool = False


def prove(
    master: RestrictedMaster, pricing: Sequence[Pricing], guess: Any, context: PricingContext, settings: Settings
) -> Proved:
    """Price all oracles at guessed dual values and compute the bound that this proves, whatever the guess is worth.

    Real costs count, also while the master itself is in phase 1; it need not have been solved.
    """
    sense = master.sense
    with master.real_costs():
        scale = settings.scale or master.scale
        context = PricingContext(  # cheaper than replacing fields: this is all that a small solve does
            context.sense,
            decisions=context.decisions,
            fixed=context.fixed,
            deadline=context.deadline,
            tolerance=settings.tolerance * scale,
            pricing_out=master.reduced_costs,
            scale=max(scale, master.rounding / TOLERANCES.diagnostic),
            budget=context.budget,
            held=master.holds,
        )
        duals = master.guessed(guess)
        results = [oracle.price(duals, context) for oracle in pricing]
        answers = [answer for result in results for answer in result.answers]
        columns: list[Sequence[Column]] = []
        if isinstance(duals, Duals) or any(len(result.columns) for result in results):
            reduced_costs = [np.asarray(master.reduced_costs(result.columns, duals)) for result in results]
            check_results(master, pricing, results, reduced_costs, duals, context)
            columns = [
                _new(master, result.columns, sense.gains(mine) > context.tolerance)
                for result, mine in zip(results, reduced_costs, strict=True)
            ]
        bound = master.dual_bound(duals, pricing, results)
    if math.isnan(bound):
        raise InvalidBoundError(f"the oracles {names(pricing)} state a bound that is not a number")
    return Proved(bound, duals, columns, answers, any(result.cut_off for result in results))


def _new(master: RestrictedMaster, columns: Sequence[Column], improving: NDArray[np.bool_]) -> Sequence[Column]:
    """Columns that improve at guessed dual values and are not there yet; those that are there may improve as well."""
    return [columns[k] for k in np.flatnonzero(improving).tolist() if not master.holds(columns[k])]


def record(
    run: Run, master: RestrictedMaster, proved: Proved, node: tuple[int, int], started: float, settings: Settings
) -> None:
    """Write down such a round as one of the run: it has no restricted master, so its objective is the incumbent's."""
    sense, root = run.sense, node == (0, 0)
    live = run.round_bound(proved.bound) if root else sense.ideal
    run.record(
        Iteration(
            number=len(run.iterations),
            node=node[0],
            depth=node[1],
            phase=2,
            objective=run.objective,
            dual_bound=proved.bound,
            incumbent=run.objective,
            global_bound=sense.best(sense.worst(run.global_bound, live), run.objective),
            columns=master.num_columns,
            rows=master.num_rows,
            new_columns=0,
            new_rows=0,
            misprices=0,
            seconds=run.seconds,
            master_seconds=0.0,
            pricing_seconds=time.perf_counter() - started,
            separation_seconds=0.0,
            duals=proved.duals if settings.keep_duals else None,
        ),
        proves=settings.stop_early,
    )
