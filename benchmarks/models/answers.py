"""Benchmark of answers within a time limit: models whose trees seldom end, compared with HiGHS."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.harness import BenchOptions, check_agreement, run_engine, spread
from benchmarks.models.instances import FAMILIES
from colgen import decompose
from colgen.cli.template import Figure
from colgen.core.result import OWN, Result
from colgen.model.rows import compile_model
from colgen.reporting.compared import solve_complete

_LIMIT, _QUICK = 60.0, 2.0
"""Time limits in seconds: full and quick."""

_MINUTES = 28.0
"""Approximate minutes at full size."""

_CLOSE = 0.01
"""Gap from which an answer is much worse than the best."""


def bench_answers(options: BenchOptions) -> Sequence[Figure]:
    """Solve one random model of each family within a limit, decomposed and in HiGHS, and compare the answers.

    A gap is relative to the best answer of both, and 1 without an answer.
    """
    limit = _QUICK if options.quick else _LIMIT
    ours, theirs, integrals = [], [], []
    own = 0
    for name in spread(list(FAMILIES), options.share(_MINUTES)):
        build, by = FAMILIES[name]
        model = build(options.seed)
        formulation = compile_model(model)
        found = solve_complete(formulation, limit)
        run, result = run_engine(decompose(model, by), limit, name=name, way="decomposed")
        claims = {"decomposed": run.claim, "HiGHS": (found.objective, found.bound)}
        check_agreement(name, claims, formulation.sense)
        best = formulation.sense.best(run.objective, found.objective)
        ours.append(gap(run.objective, best))
        theirs.append(gap(found.objective, best))
        integrals.append(_integral(result, best, limit))
        own += result.is_optimal and result.bound_source == OWN
        options.say(f"{name}: {run.objective:g} ({run}); HiGHS {found.objective:g}, bound {found.bound:g}")
    count, note = len(ours), f"of the best answer, after {limit:g} s; mean over families"
    worse = sum(mine > its + _CLOSE for mine, its in zip(ours, theirs, strict=True))
    return [
        Figure("gap", sum(ours) / count, "share", count, note),
        Figure("gap_highs", sum(theirs) / count, "share", count, note),
        Figure("integral", sum(integrals) / count, "share", count, "gap, mean over the time and the families"),
        Figure("much_worse", worse, "families", count, f"gap more than {_CLOSE:g} above that of HiGHS"),
        Figure("proved", own, "families", count, "by colgen's own bound"),
    ]


def gap(objective: float, best: float) -> float:
    """Return the relative distance of an objective from the best one, at most 1; 1 without an answer."""
    if not math.isfinite(objective):
        return 1.0
    return min(abs(objective - best) / max(abs(objective), abs(best), 1e-9), 1.0)


def _integral(result: Result, best: float, limit: float) -> float:
    """Return the mean gap over the seconds up to the limit, from the incumbents of the rounds."""
    total, since, present = 0.0, 0.0, 1.0
    for each in result.iterations:
        end = min(each.seconds, limit)
        total, since, present = total + present * (end - since), end, gap(each.incumbent, best)
    return (total + gap(result.objective, best) * (limit - since)) / limit
