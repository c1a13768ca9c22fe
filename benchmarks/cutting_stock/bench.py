"""Benchmark of cutting stock: hard instances to proved optimality, compared with HiGHS on the arc-flow model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks.cutting_stock.published import bench_gi, bench_published
from benchmarks.harness import BenchOptions, Run, check_agreement, mean_ratio, run_engine, run_program, spread
from colgen import solve
from colgen.cli.template import Figure
from colgen.problems.cutting_stock.generators import critical, near_integer, triplets
from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.model import full
from colgen.problems.cutting_stock.template import CuttingStock
from colgen.reporting.compared import solve_complete
from colgen.solvers.compiling import working_clock
from colgen.solvers.linear.mip import MIPSolution

# (seed, width of the last piece, optimum), selected from many seeds.  The optimum is the rounded-up relaxation plus one
# in the first list.  In the second list it is the rounded-up relaxation, and hard to find.
NON_IRUP = (
    *((11, 304, 71), (21, 146, 83), (26, 179, 71), (33, 72, 83), (45, 277, 61), (51, 265, 65), (52, 132, 84)),
    *((75, 79, 82), (85, 245, 71), (88, 279, 70), (91, 207, 78)),
)
IRUP_HARD = (
    *((9, 58, 58), (14, 153, 78), (22, 104, 74), (30, 237, 66), (41, 279, 76), (50, 55, 54), (62, 236, 70)),
    (77, 50, 77),
)
NATURAL = (
    *((356, 74), (37, 75), (829, 69), (860, 66), (914, 74), (992, 60), (1009, 71), (1021, 81), (1080, 77)),
    (1139, 82),
)
"""(seed, optimum) of :func:`~colgen.problems.cutting_stock.instance.natural`: the rounded-up bound is the optimum."""
NEAR_INTEGER = ((0, 29), (2, 36), (11, 21), (13, 31), (14, 48), (15, 34), (16, 42), (19, 21), (23, 28))
"""(seed, optimum) of :func:`~colgen.problems.cutting_stock.instance.near_integer`."""

_CAP = 30.0
"""Time limit of HiGHS in seconds, which counts if reached."""

_MINUTES = 9.0
"""Approximate minutes for all instances."""

_OWN_LIMIT = 120.0
"""Time limit of branch and price in seconds."""


def hard_instances(quick: bool) -> Iterator[tuple[str, CuttingStockInstance, int]]:
    """Yield family, instance and known optimum."""
    if quick:
        yield "triplets", triplets(10, 0), 10
        yield "near_integer", near_integer(19), 21
        seed, width, optimum = NON_IRUP[3]
        yield "non_irup", critical(seed, width), optimum
        return
    for seed, width, optimum in (NON_IRUP[0], *NON_IRUP[3:5], *NON_IRUP[7:9]):
        yield "non_irup", critical(seed, width), optimum
    for seed, width, optimum in (*IRUP_HARD[:2], IRUP_HARD[3], IRUP_HARD[6]):
        yield "irup_hard", critical(seed, width), optimum
    for seed, optimum in (NEAR_INTEGER[0], *NEAR_INTEGER[3:5], NEAR_INTEGER[6]):
        yield "near_integer", near_integer(seed), optimum
    for rolls, seed in ((40, 0), (60, 0), (83, 1)):
        yield "triplets", triplets(rolls, seed), rolls


def bench_cutting_stock(options: BenchOptions) -> list[Figure]:
    """Solve hard instances to proved optimality, and compare with HiGHS on the arc-flow model."""
    from benchmarks.cutting_stock.variants import bench_variants  # imports Pyomo, so it is deferred

    cap = 5.0 if options.quick else _CAP
    chosen = spread(list(hard_instances(options.quick)), options.share(_MINUTES))
    options.say(
        f"{len(chosen)} instances; HiGHS is limited to {cap:g} s each, {len(chosen) * cap / 60:.2g} minutes in total"
    )
    solve(CuttingStock(triplets(3, 0)))  # compiles the kernels
    runs: dict[str, list[tuple[Run, Run]]] = {}
    for family, instance, optimum in chosen:
        runs.setdefault(family, []).append(_solve_both_ways(instance, optimum, cap, options))
    ours, flows = zip(*(both for several in runs.values() for both in several), strict=True)
    n, capped = len(ours), sum(not run.proved for run in flows)
    return [
        Figure("solved", sum(run.proved for run in ours), "instances", n, "proved optimal"),
        Figure("seconds_worst", max(run.seconds for run in ours), "s", n),
        mean_ratio(
            "speedup_vs_arc_flow",
            [run.seconds for run in flows],
            [run.seconds for run in ours],
            f"HiGHS reached its limit of {cap:g} s on {capped}, which counts",
        ),
        Figure("arc_flow_solved", n - capped, "instances", n, f"by HiGHS in {cap:g} s"),
        Figure(
            "proved_by_engine",
            sum(run.by_engine for run in ours) / n,
            "share",
            n,
            "of the plans have a bound recomputed by an oracle and rolls counted by the check",
        ),
        Figure(
            "engine_vs_kernel",
            1.0,
            "ratio",
            n,
            "no kernel decides beside it: column generation by the engine is the default",
        ),
        *(figure for family, several in runs.items() for figure in _family_figures(family, [r for r, _ in several])),
        *bench_published(options),
        *bench_gi(options),
        *bench_variants(options),
    ]


def _family_figures(family: str, runs: Sequence[Run]) -> list[Figure]:
    n, seconds = len(runs), [run.seconds for run in runs]
    return [
        Figure(f"solved_{family}", sum(run.proved for run in runs), "instances", n, f"proved optimal, of {n}"),
        Figure(f"seconds_median_{family}", median(seconds), "s", n),
        Figure(f"seconds_worst_{family}", max(seconds), "s", n),
        Figure(f"nodes_median_{family}", median(run.nodes for run in runs), "nodes", n),
    ]


def _solve_arc_flow(instance: CuttingStockInstance, time_limit: float) -> MIPSolution:
    return solve_complete(full(instance, "arc_flow"), time_limit)


def _solve_both_ways(
    instance: CuttingStockInstance, optimum: int, cap: float, options: BenchOptions
) -> tuple[Run, Run]:
    """Solve an instance by column generation and by HiGHS on the arc-flow model."""
    ours, _ = run_engine(CuttingStock(instance), _OWN_LIMIT, name=instance.name, clock=working_clock)
    rolls = instance.check(ours.answer)
    if rolls != ours.objective:
        raise AssertionError(
            f"{instance.name}: the plan uses {rolls} rolls, the reported objective is {ours.objective:g}"
        )
    flow = run_program("HiGHS on the arc flow", instance.name, cap, _solve_arc_flow, instance, cap)
    options.say(f"{ours}\n{flow}")
    check_agreement(instance.name, {run.way: run.claim for run in (ours, flow)}, known=optimum)
    return ours, flow
