"""Compare the two exact oracles at the same dual values: the search with a proof, and the source's integer program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from statistics import fmean, median

import numpy as np

from benchmarks.harness import Say, check_agreement, measure
from colgen import Duals, Record, Sense, solve
from colgen.cli.template import Figure
from colgen.core.budget import Budget
from colgen.core.stop import TimeLimit
from colgen.core.warm_start import WarmStart
from colgen.parallel.time_limits import bounded
from colgen.problems.coreference.baseline import ilp_pricing
from colgen.problems.coreference.instance import CoreferenceInstance, Floats
from colgen.problems.coreference.items import COVER
from colgen.problems.coreference.template import Coreference
from colgen.solvers.clusters.subset import Subsets, search
from colgen.solvers.compiling import working_clock
from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.stopping import after


class FromScratch(Coreference):
    """Starts with singleton clusters and the master's own dual values, as in the source."""

    plain = True

    def __init__(self, instance: CoreferenceInstance) -> None:
        super().__init__(instance, contracted=False)

    def warm_start(self, budget: Budget) -> WarmStart:
        super().warm_start(budget)  # sets the items
        return WarmStart(columns=[self.items.column((k,)) for k in range(len(self.items))])


def record_duals(instance: CoreferenceInstance, limit: float) -> list[Floats]:
    """Return the dual values of the first, the middle and the last round of a run."""
    result = solve(FromScratch(instance), relaxation=True, record=Record(duals=True), stop=TimeLimit(limit))
    rounds = [np.asarray(i.duals[COVER]) for i in result.iterations if i.phase == 2 and isinstance(i.duals, Duals)]
    return [rounds[k] for k in sorted({0, len(rounds) // 2, len(rounds) - 1})] if rounds else []


def count_columns(instances: Sequence[CoreferenceInstance], limit: float) -> Figure:
    """Return the mean number of columns that the relaxation generates from single mentions on, as in the source."""
    generated, size = [], instances[0].num_mentions
    for instance in instances:
        problem = FromScratch(instance)
        result = solve(problem, relaxation=True, stop=TimeLimit(limit))
        assert result.pool is not None  # the relaxation has columns
        generated.append(len(result.pool) - len(problem.items))
    return Figure(f"columns_from_single_mentions_{size}", fmean(generated), "columns", len(generated), "mean")


def _search(instance: CoreferenceInstance, duals: Floats, cap: float) -> Subsets:
    return search(instance.scores, -duals, expired=after(cap))


def compare_oracles(instances: Sequence[CoreferenceInstance], cap: float, limit: float, say: Say) -> Figure:
    """Return the ratio of median seconds of the integer program and the search.

    Raise AssertionError if both finish and disagree on the best reduced cost.
    """
    of_search, of_program, unproved, unfinished = [], [], 0, 0
    for instance in instances:
        for duals in record_duals(instance, limit):
            found, seconds = measure(partial(_search, instance, duals, cap), clock=working_clock)
            of_search.append(seconds)
            answer, seconds = bounded(cap, ilp_pricing, instance, duals)
            of_program.append(seconds)
            finished = answer is not None and answer[1].status is LPStatus.OPTIMAL
            unproved += not found.complete
            unfinished += not finished
            if finished and answer is not None:
                best = max(found.values.max(initial=0.0), 0.0)
                claims = {"the search": (best, best if found.complete else math.inf)}
                optimum = answer[1].objective
                slack = 1e-5 * max(1.0, optimum)
                check_agreement(instance.name, claims, Sense.MAXIMIZE, known=optimum, slack=slack)
            say(
                f"oracles on {instance.num_mentions} mentions: search {of_search[-1]:.3g} s"
                f"{'' if found.complete else ' (no proof)'}, integer program {seconds:.3g} s"
                f"{'' if finished else ' (no proof)'}"
            )
    note = f"ratio of medians; {unproved} searches and {unfinished} integer programs reached their limit of {cap:g} s"
    return Figure("oracle_speedup_vs_ilp", median(of_program) / median(of_search), "ratio", len(of_search), note)
