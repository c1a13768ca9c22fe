"""Benchmark of bounding methods: time to a bound near the optimum of the linear program."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from benchmarks.engine.covering import Covering, covers
from benchmarks.harness import BenchOptions, check_agreement, mean_ratio
from colgen import ColumnGeneration, Iteration, Method, Problem, solve
from colgen.bounding.bundle import Bundle
from colgen.bounding.protocol import Bounding
from colgen.bounding.subgradient import Subgradient
from colgen.bounding.volume import Volume
from colgen.cli.template import Figure
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed

_MINUTES = 8.0
"""Approximate minutes for two instances of each problem."""

_NEAR = 0.005
"""Relative distance to the linear program's optimum below which a bound is near."""


def time_to_bound(problem: Problem, bounding: Bounding, optimum: float | None = None) -> tuple[float, float]:
    """Bound a problem from scratch; return the processor seconds to a near bound, and the last bound.

    ``optimum`` is that of the linear program; by default the last bound of the run.
    """
    rounds: list[tuple[float, Iteration]] = []
    started = time.process_time()
    result = solve(
        problem,
        relaxation=True,
        method=Method(bounding=bounding),
        progress=lambda iteration: rounds.append((time.process_time() - started, iteration)),
    )
    best = result.dual_bound if optimum is None else optimum
    check_agreement(type(bounding).__name__, {"the bound": (math.inf, result.dual_bound)}, known=best)
    near = (seconds for seconds, i in rounds if i.phase == 2 and i.dual_bound >= best - _NEAR * abs(best))
    return next(near, math.inf), result.dual_bound


def bench_bounding(options: BenchOptions) -> list[Figure]:
    """Compare volume, bundle and subgradient methods with column generation on set covering and assignment."""
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
        seconds: dict[str, list[float]] = {"simplex": [], "volume": [], "bundle": [], "subgradient": []}
        for instance in instances:
            spent, optimum = time_to_bound(instance, ColumnGeneration())
            seconds["simplex"].append(spent)
            options.say(f"{name}: column generation has a near bound after {spent:.2f} s (bound {optimum:.6g})")
            for kind, bounding in (("volume", Volume(500)), ("bundle", Bundle(300)), ("subgradient", Subgradient(500))):
                spent, bound = time_to_bound(instance, bounding, optimum)
                seconds[kind].append(spent)
                options.say(f"{name}: {kind} after {spent:.2f} s (bound {bound:.6g})")
        suffix = "" if name == "covering" else f"_{name}"
        note = f"{name}: processor time of column generation over this to a bound within 0.5% of the LP optimum"
        figures += [
            mean_ratio(f"{kind}_vs_simplex{suffix}", seconds["simplex"], each, note)
            for kind, each in seconds.items()
            if kind != "simplex"
        ]
    return figures
