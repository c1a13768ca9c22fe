"""Benchmark of decomposed compact models, compared with HiGHS, GCG, and a template with its own oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.assignment.gcg import run_gcg
from benchmarks.decomposition.families import FAMILIES
from benchmarks.harness import BenchOptions, Run, check_agreement, mean_ratio, measure, run_engine, spread
from colgen import Problem, decompose, solve
from colgen.cli.template import Figure
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.decomposed import Decomposed
from colgen.model.rows import compile_model
from colgen.problems.assignment.instance import random as random_assignment
from colgen.problems.assignment.model import full
from colgen.problems.assignment.template import Assignment
from colgen.reporting.compared import solve_complete

_LIMIT, _QUICK = 60.0, 20.0
"""Time limits in seconds: full and quick."""

_MINUTES = 15.0
"""Approximate minutes at full size."""


_OURS, _HIGHS, _GCG = "decomposed", "HiGHS", "GCG"


def bench_decompose(options: BenchOptions) -> Sequence[Figure]:
    """Solve six families of compact models to optimality and compare processor time with HiGHS and GCG.

    GCG is skipped if ``COLGEN_GCG`` is not set; see :mod:`benchmarks.assignment.gcg`.
    """
    solve(decompose(FAMILIES["assignment"].build(12, 0), "machine"))  # compiles the kernels
    solve(decompose(FAMILIES["lots"].build(3, 0), "item"))
    solve(decompose(FAMILIES["capacity"].build(3, 0), "scenario", method="benders"))
    solve(Assignment(random_assignment(5, 30, 2)))
    share = options.share(_MINUTES)
    limit = max(min(_QUICK if options.quick else _LIMIT, share * _MINUTES * 60.0 / (3 * len(FAMILIES))), 1.0)
    runs: dict[str, list[Mapping[str, Run]]] = {}
    for name, family in FAMILIES.items():
        size, seeds = (family.sizes[0], 1) if options.quick else (family.sizes[1], family.seeds)
        chosen = spread(range(options.seed, options.seed + seeds), share)
        runs[name] = [_solve_in_all_ways(name, size, seed, limit, options) for seed in chosen]
    instances = [by_way for family in runs.values() for by_way in family]
    favourable = [by_way for name, family in runs.items() if FAMILIES[name].pays for by_way in family]
    ours = [by_way[_OURS] for by_way in instances]
    long = [run.details["setup"] / run.counted for run in ours if run.counted >= 1.0]
    with_gcg = [by_way for by_way in instances if _GCG in by_way]
    return [
        Figure("proved", sum(run.proved for run in ours), "instances", len(ours), f"within {limit:.0f} s each"),
        _ratio("speedup_vs_compact", favourable, _HIGHS, _OURS, "families suited to decomposition; limits count"),
        *_compare_with_template(limit, options),
        Figure("setup_share", max(long, default=0.0), "share", len(long), "largest, of runs of at least one second"),
        *([_ratio("vs_gcg", with_gcg, _OURS, _GCG, "ours over GCG's; limits count")] if with_gcg else []),
        *(
            _ratio(f"speedup_{name}", family, _HIGHS, _OURS, "HiGHS's processor time over ours")
            for name, family in runs.items()
        ),
    ]


def _ratio(name: str, runs: Sequence[Mapping[str, Run]], slower: str, faster: str, note: str) -> Figure:
    return mean_ratio(name, [each[slower].counted for each in runs], [each[faster].counted for each in runs], note)


def _solve_in_all_ways(family: str, size: int, seed: int, limit: float, options: BenchOptions) -> Mapping[str, Run]:
    """Solve one model decomposed and compact, in processor time; ``setup`` is the time of ``decompose``."""
    of, name = FAMILIES[family], f"{family} {size}, {seed}"
    model = of.build(size, seed)
    problem, setup = measure(lambda: decompose(model, of.by, method=of.method))
    ours, _ = run_engine(problem, limit, name=name, way=_OURS)
    ours = replace(ours, seconds=ours.seconds + setup, details={"setup": setup})
    compact, seconds = measure(lambda: solve_complete(compile_model(model), limit))
    proved = abs(compact.objective - compact.bound) <= TOLERANCES.optimality * abs(compact.objective)
    runs = {_OURS: ours}
    runs[_HIGHS] = Run(_HIGHS, name, seconds, compact.objective, compact.bound, proved, limit=limit)
    gcg = run_gcg(problem, limit, name=name) if isinstance(problem, Decomposed) else None
    if gcg is not None:
        runs[_GCG] = gcg
    for run in runs.values():
        options.say(str(run))
    check_agreement(name, {way: run.claim for way, run in runs.items()})
    return runs


def _compare_with_template(limit: float, options: BenchOptions) -> list[Figure]:
    """Compare decomposed assignment models, with kernels and with HiGHS as oracles, with the template."""
    template, kernel, by_highs = [], [], []
    for kind, seed in (("C", 0), ("D", 0), ("D", 1)):
        instance = random_assignment(5, 30, seed, kind=kind)
        template.append(_seconds(Assignment(instance), limit, options, f"{instance.name}, template"))
        decomposed = decompose(full(instance), "machine")
        kernel.append(_seconds(decomposed, limit, options, f"{instance.name}, decomposed"))
        if kind == "C":
            decomposed = decompose(full(instance), "machine", recognize=False)
            by_highs.append(_seconds(decomposed, 3 * limit, options, f"{instance.name}, by HiGHS"))
    note = "decomposed with HiGHS as the oracle over the template; limits count"
    return [
        mean_ratio("vs_written_oracle", kernel, template, "decomposed over the template"),
        mean_ratio("mip_oracle_vs_written", by_highs, template[: len(by_highs)], note),
    ]


def _seconds(problem: Problem, limit: float, options: BenchOptions, name: str) -> float:
    run, _ = run_engine(problem, limit, name=name)
    options.say(str(run))
    return run.seconds
