"""What is measured of boundings: the time to a bound near that of the linear program, without one and with one."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from benchmarks.engine.covering import Covering, covers
from benchmarks.harness import BenchOptions
from colgen import Bounding, Bundle, ColumnGeneration, Iteration, Method, Problem, Subgradient, Volume, solve
from colgen.cli.template import Figure
from colgen.core.tolerances import TOLERANCES, size
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed

_MINUTES = 8.0
"""What two instances of each problem take, about."""

_NEAR = 0.005
"""A bound within this share of the linear program's is near."""


@dataclass(frozen=True)
class _Run:
    """Processor seconds until a bound was near, and the last bound."""

    seconds: float
    bound: float


def _timed(problem: Problem, bounding: Bounding, optimum: float | None = None) -> _Run:
    """One run from scratch; ``optimum``: of the linear program, the run's own last bound if it is not given."""
    rounds: list[tuple[float, Iteration]] = []
    started = time.process_time()
    result = solve(
        problem,
        relaxation=True,
        method=Method(bounding=bounding),
        progress=lambda iteration: rounds.append((time.process_time() - started, iteration)),
    )
    best = result.dual_bound if optimum is None else optimum
    if result.dual_bound - best > TOLERANCES.diagnostic * size(0.0, best, result.dual_bound):
        raise AssertionError(f"{type(bounding).__name__} bounds by {result.dual_bound:.10g} what is worth {best:.10g}")
    near = (seconds for seconds, i in rounds if i.phase == 2 and i.dual_bound >= best - _NEAR * abs(best))
    return _Run(next(near, float("inf")), result.dual_bound)


def bench_bounding(options: BenchOptions) -> list[Figure]:
    """Set covering of many columns, and generalized assignment: volume, bundle and subgradients against columns."""
    size, tasks, seeds = (20_000, 40, 1) if options.quick else (200_000, 100, math.ceil(2 * options.share(_MINUTES)))
    figures = []
    for first in (Volume(5), Bundle(5), Subgradient(5), ColumnGeneration()):  # first calls
        solve(Covering(covers(30, 200, 0)), relaxation=True, method=Method(bounding=first))
        solve(Unguessed(random(2, 8, 0)), relaxation=True, method=Method(bounding=first))
    problems: Sequence[tuple[str, list[Problem]]] = (
        ("covering", [Covering(covers(1_000, size, seed)) for seed in range(seeds)]),
        ("assignment", [Unguessed(random(10, tasks, seed)) for seed in range(seeds)]),
    )
    for name, instances in problems:
        ratios: dict[str, list[float]] = {"volume": [], "bundle": [], "subgradient": []}
        for instance in instances:
            simplex = _timed(instance, ColumnGeneration())
            options.say(f"{name}: column generation is near after {simplex.seconds:.2f} s (bound {simplex.bound:.6g})")
            for kind, bounding in zip(ratios, (Volume(500), Bundle(300), Subgradient(500)), strict=True):
                run = _timed(instance, bounding, simplex.bound)
                ratios[kind].append(simplex.seconds / run.seconds)
                options.say(f"{name}: {kind} after {run.seconds:.2f} s (bound {run.bound:.6g})")
        suffix = "" if name == "covering" else f"_{name}"
        figures += [
            Figure(
                f"{kind}_vs_simplex{suffix}",
                geometric_mean(each) if min(each) > 0.0 else 0.0,
                "ratio",
                len(each),
                f"{name}: processor time to a bound within 0.5% of the LP's, column generation's over this",
            )
            for kind, each in ratios.items()
        ]
    return figures
