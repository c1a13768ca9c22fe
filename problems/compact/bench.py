"""What is measured: compact models, decomposed, beside HiGHS on them and beside oracles that somebody has written."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from statistics import geometric_mean

from colgen import Problem, Result, decompose, solve, solve_complete
from colgen.cli.template import BenchOptions, Figure
from colgen.core.stop import TimeLimit
from colgen.core.tolerances import TOLERANCES
from colgen.model.formulation import compile_model
from problems.assignment.instance import random as random_assignment
from problems.assignment.model import full
from problems.assignment.template import Assignment
from problems.compact.families import FAMILIES, Family

_LIMIT = 20.0
"""Seconds for each run of a quick bench."""


def bench_decompose(options: BenchOptions) -> Sequence[Figure]:
    """Six families of compact models to proved optimality, in processor time."""
    solve(decompose(FAMILIES["assignment"].build(12, 0), "machine"))  # compiles the kernels
    solve(Assignment(random_assignment(5, 30, 2)))
    minutes = getattr(options, "minutes", None)
    quick = options.quick or minutes is None
    limit = _LIMIT if quick else 60.0 * float(minutes or 10) / (4 * len(FAMILIES))
    figures, shares, faster, proved = [], [], [], 0
    for name, family in FAMILIES.items():
        speedup, share, done = _beside_compact(name, family, family.sizes[0 if quick else 1], limit, options)
        figures.append(Figure(f"speedup_{name}", speedup, "ratio", 1, "HiGHS's processor time over ours"))
        shares.append(share)
        proved += done
        if family.pays:
            faster.append(speedup)
    known = [share for share in shares if not math.isnan(share)]
    by_kernel, by_highs, runs = _beside_written(limit, options)
    return [
        Figure("proved", proved, "families", len(FAMILIES), f"within {limit:.0f} s each"),
        Figure("speedup_vs_compact", geometric_mean(faster), "ratio", len(faster), "families that pay; limits count"),
        Figure("vs_written_oracle", by_kernel, "ratio", runs, "decomposed over the written template"),
        Figure("mip_oracle_vs_written", by_highs, "ratio", 1, "the same with HiGHS as the oracle; limits count"),
        Figure("setup_share", max(known, default=0.0), "share", len(known), "of runs of a second or more, the largest"),
        *figures,
    ]


def _beside_compact(
    name: str, family: Family, size: int, limit: float, options: BenchOptions
) -> tuple[float, float, bool]:
    """HiGHS's time over ours, the share of setting up, and whether ours proved its answer."""
    model = family.build(size, 0)
    started = time.process_time()
    problem = decompose(model, family.by, method=family.method)
    setting_up = time.process_time() - started
    result = solve(problem, stop=TimeLimit(limit))
    seconds = time.process_time() - started
    started = time.process_time()
    compact = solve_complete(compile_model(model), limit)
    beside = time.process_time() - started
    proved = abs(compact.objective - compact.bound) <= TOLERANCES.optimality * abs(compact.objective)
    apart = abs(compact.objective - result.objective) > TOLERANCES.optimality * abs(result.objective)
    if proved and result.is_optimal and apart:
        raise AssertionError(f"{name}: HiGHS proves {compact.objective:g}, decomposed it is {result.objective:g}")
    options.say(
        f"{name}: {_said(result)}, {seconds:.2f} s; HiGHS {compact.objective:g}, bound {compact.bound:g}, "
        f"{beside:.2f} s{'' if proved else ', not proved'}"
    )
    share = setting_up / seconds if seconds >= 1.0 else math.nan
    return beside / seconds, share, result.is_optimal


def _beside_written(limit: float, options: BenchOptions) -> tuple[float, float, int]:
    """Decomposed assignment models over the template, by kernels and by HiGHS."""
    kernel, ratios = [], []
    for kind, seed in (("C", 0), ("D", 0), ("D", 1)):
        instance = random_assignment(5, 30, seed, kind=kind)
        written = _seconds(Assignment(instance), limit, options, f"{instance.name}, written")
        decomposed = _seconds(decompose(full(instance), "machine"), limit, options, f"{instance.name}, decomposed")
        kernel.append(decomposed / written)
        if kind == "C":
            by_highs = decompose(full(instance), "machine", recognize=False)
            ratios.append(_seconds(by_highs, 3 * limit, options, f"{instance.name}, by HiGHS") / written)
    return geometric_mean(kernel), geometric_mean(ratios), len(kernel)


def _seconds(problem: Problem, limit: float, options: BenchOptions, name: str) -> float:
    started = time.process_time()
    result = solve(problem, stop=TimeLimit(limit))
    seconds = time.process_time() - started
    options.say(f"{name}: {_said(result)}, {seconds:.2f} s")
    return seconds


def _said(result: Result) -> str:
    return (
        f"{result.objective:g}, bound {result.dual_bound:g}, {len(result.nodes)} nodes, "
        f"{len(result.iterations)} rounds{'' if result.is_optimal else ', not proved'}"
    )
