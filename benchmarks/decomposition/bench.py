"""What is measured: compact models, decomposed, beside HiGHS on them and beside oracles that somebody has written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from benchmarks.assignment.gcg import by_gcg
from benchmarks.decomposition.families import FAMILIES, Family
from benchmarks.harness import BenchOptions, spread
from colgen import Decomposed, Problem, Result, decompose, solve, solve_complete
from colgen.cli.template import Figure
from colgen.core.stop import TimeLimit
from colgen.core.tolerances import TOLERANCES
from colgen.model.formulation import compile_model
from colgen.problems.assignment.instance import random as random_assignment
from colgen.problems.assignment.model import full
from colgen.problems.assignment.template import Assignment

_LIMIT, _QUICK = 60.0, 20.0
"""Seconds for each run, and for each of a quick bench."""

_MINUTES = 15.0
"""About how long it takes whole."""


@dataclass(frozen=True)
class _Beside:
    """A model decomposed, and what is beside it.

    Attributes
    ----------
    seconds
        Of the processor, setting up included.
    setup
        Of these, reading, detecting and building.
    highs, gcg
        Seconds of HiGHS on the compact model, and of GCG on the same blocks: None where it was not asked.
    """

    proved: bool
    seconds: float
    setup: float
    highs: float
    gcg: float | None


def bench_decompose(options: BenchOptions) -> Sequence[Figure]:
    """Six families of compact models to proved optimality, in processor time, beside HiGHS and GCG.

    Figures beside GCG are left out where ``COLGEN_GCG`` is not set; see :mod:`benchmarks.assignment.gcg`.
    """
    solve(decompose(FAMILIES["assignment"].build(12, 0), "machine"))  # compiles the kernels
    solve(decompose(FAMILIES["lots"].build(3, 0), "item"))
    solve(decompose(FAMILIES["capacity"].build(3, 0), "scenario", method="benders"))
    solve(Assignment(random_assignment(5, 30, 2)))
    share = options.share(_MINUTES)
    limit = max(min(_QUICK if options.quick else _LIMIT, share * _MINUTES * 60.0 / (3 * len(FAMILIES))), 1.0)
    runs: dict[str, list[_Beside]] = {}
    for name, family in FAMILIES.items():
        size, seeds = (family.sizes[0], 1) if options.quick else (family.sizes[1], family.seeds)
        runs[name] = [
            _beside(name, family, size, seed, limit, options)
            for seed in spread(range(options.seed, options.seed + seeds), share)
        ]
    every = [run for several in runs.values() for run in several]
    paying = [run for name, several in runs.items() if FAMILIES[name].pays for run in several]
    long = [run.setup / run.seconds for run in every if run.seconds >= 1.0]
    other = [run.seconds / run.gcg for run in every if run.gcg is not None]
    by_kernel, by_highs, written = _beside_written(limit, options)
    return [
        Figure("proved", sum(run.proved for run in every), "instances", len(every), f"within {limit:.0f} s each"),
        Figure("speedup_vs_compact", _speedup(paying), "ratio", len(paying), "families that pay; limits count as time"),
        Figure("vs_written_oracle", by_kernel, "ratio", written, "decomposed over the written template"),
        Figure("mip_oracle_vs_written", by_highs, "ratio", 1, "the same with HiGHS as the oracle; limits count"),
        Figure("setup_share", max(long, default=0.0), "share", len(long), "of runs of a second or more, the largest"),
        *(
            [Figure("vs_gcg", geometric_mean(other), "ratio", len(other), "ours over GCG's; limits count")]
            if other
            else []
        ),
        *(
            Figure(f"speedup_{name}", _speedup(several), "ratio", len(several), "HiGHS's processor time over ours")
            for name, several in runs.items()
        ),
    ]


def _speedup(runs: Sequence[_Beside]) -> float:
    return geometric_mean(run.highs / run.seconds for run in runs)


def _beside(name: str, family: Family, size: int, seed: int, limit: float, options: BenchOptions) -> _Beside:
    """One model, decomposed and compact; answers that are both proved are held against each other."""
    model = family.build(size, seed)
    started = time.process_time()
    problem = decompose(model, family.by, method=family.method)
    setting_up = time.process_time() - started
    result = solve(problem, stop=TimeLimit(limit))
    seconds = time.process_time() - started
    started = time.process_time()
    compact = solve_complete(compile_model(model), limit)
    beside = time.process_time() - started
    proved = abs(compact.objective - compact.bound) <= TOLERANCES.optimality * abs(compact.objective)
    if proved:
        _agree(f"{name} {size}, {seed}", result, compact.objective, "HiGHS")
    gcg = by_gcg(problem, limit) if isinstance(problem, Decomposed) else None
    if gcg is not None and gcg.objective is not None:
        _agree(f"{name} {size}, {seed}", result, gcg.objective, "GCG")
    options.say(
        f"{name} {size}, {seed}: {_said(result)}, {seconds:.2f} s; HiGHS {compact.objective:g}, "
        f"bound {compact.bound:g}, {beside:.2f} s{'' if proved else ', not proved'}"
        + ("" if gcg is None else f"; GCG {gcg.seconds:.2f} s{'' if gcg.objective is not None else ', not proved'}")
    )
    return _Beside(
        result.is_optimal,
        _counted(seconds, result.is_optimal, limit),
        setting_up,
        _counted(beside, proved, limit),
        None if gcg is None else _counted(gcg.seconds, gcg.objective is not None, limit),
    )


def _counted(seconds: float, proved: bool, limit: float) -> float:
    """What a run counts for: the limit, where that has ended it."""
    return seconds if proved else max(seconds, limit)


def _agree(name: str, result: Result, optimum: float, prover: str) -> None:
    apart = abs(optimum - result.objective) > TOLERANCES.optimality * abs(optimum)
    if result.is_optimal and apart:
        raise AssertionError(f"{name}: {prover} proves {optimum:g}, decomposed it is {result.objective:g}")


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
