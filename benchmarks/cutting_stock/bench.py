"""What is measured: hard instances to proved optimality, against HiGHS on the arc-flow model."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from benchmarks.cutting_stock.processes import within
from benchmarks.cutting_stock.published import bench_published
from benchmarks.harness import BenchOptions, spread
from colgen import Result, solve
from colgen.cli.template import Figure
from colgen.core.stop import TimeLimit
from colgen.core.tolerances import TOLERANCES
from colgen.problems.cutting_stock.baseline import solve_full
from colgen.problems.cutting_stock.instance import CuttingStockInstance, critical, near_integer, triplets
from colgen.problems.cutting_stock.template import CuttingStock
from colgen.reporting.compared import proved_by_engine
from colgen.solvers.linear.lp import LPStatus

# Found by screening many seeds.  (seed, width of the last piece, optimum): the optimum of the first list is the
# rounded-up relaxation plus one; in the second list it is the rounded-up relaxation, and hard to find.
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
"""Seconds that HiGHS is given, and counted with where it needs more."""

_MINUTES = 9.0
"""What it takes on all instances, about."""

_OWN_LIMIT = 120.0
"""Seconds that branch and price is given; an instance that needs more counts as not solved."""


@dataclass(frozen=True)
class Outcome:
    """One hard instance solved both ways."""

    family: str
    solved: bool
    seconds: float
    nodes: int
    highs_seconds: float
    highs_finished: bool
    proved_by_engine: bool
    """Whether rounds of the engine state the bounds that end the search, and the check has counted the rolls."""


def hard_instances(quick: bool) -> Iterator[tuple[str, CuttingStockInstance, int]]:
    """Family, instance and known optimum."""
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
    """Hard instances to proved optimality, against HiGHS on the arc-flow model."""
    from benchmarks.cutting_stock.variants import bench_variants  # with Pyomo, for which no command line waits

    cap = 5.0 if options.quick else _CAP
    chosen = spread(list(hard_instances(options.quick)), options.share(_MINUTES))
    options.say(
        f"{len(chosen)} instances; HiGHS is given at most {cap:g} s for each, {len(chosen) * cap / 60:.2g} minutes in "
        "all"
    )
    solve(CuttingStock(triplets(3, 0)))  # compiles the kernels
    outcomes = []
    for family, instance, optimum in chosen:
        outcome, line = _solve_both_ways(family, instance, optimum, cap)
        outcomes.append(outcome)
        options.say(line)
    families = list(dict.fromkeys(outcome.family for outcome in outcomes))
    capped = sum(not outcome.highs_finished for outcome in outcomes)
    speedup = geometric_mean([o.highs_seconds / o.seconds for o in outcomes])
    return [
        Figure("solved", sum(o.solved for o in outcomes), "instances", len(outcomes), "proved optimal"),
        Figure("seconds_worst", max(o.seconds for o in outcomes), "s", len(outcomes)),
        Figure(
            "speedup_vs_arc_flow",
            speedup,
            "ratio",
            len(outcomes),
            f"geometric mean; HiGHS hit its limit of {cap:g} s on {capped} and counts as that",
        ),
        Figure("arc_flow_solved", len(outcomes) - capped, "instances", len(outcomes), f"by HiGHS in {cap:g} s"),
        Figure(
            "proved_by_engine",
            sum(o.proved_by_engine for o in outcomes) / len(outcomes),
            "share",
            len(outcomes),
            "of the answers have a bound that an oracle call has recomputed, and rolls that the check has counted",
        ),
        Figure(
            "engine_vs_kernel",
            1.0,
            "ratio",
            len(outcomes),
            "no kernel decides beside it: column generation by the engine is the default",
        ),
        *(figure for name in families for figure in _family_figures(name, [o for o in outcomes if o.family == name])),
        *bench_published(options),
        *bench_variants(options),
    ]


def _family_figures(name: str, outcomes: Sequence[Outcome]) -> list[Figure]:
    n = len(outcomes)
    seconds = [o.seconds for o in outcomes]
    return [
        Figure(f"solved_{name}", sum(o.solved for o in outcomes), "instances", n, f"proved optimal, of {n}"),
        Figure(f"seconds_median_{name}", median(seconds), "s", n),
        Figure(f"seconds_worst_{name}", max(seconds), "s", n),
        Figure(f"nodes_median_{name}", median(o.nodes for o in outcomes), "nodes", n),
    ]


def _solve_both_ways(family: str, instance: CuttingStockInstance, optimum: int, cap: float) -> tuple[Outcome, str]:
    started = time.perf_counter()
    result = solve(CuttingStock(instance), stop=TimeLimit(_OWN_LIMIT))
    seconds = time.perf_counter() - started
    _cross_check(instance, result, optimum)
    complete, highs_seconds = within(cap, solve_full, instance, "arc_flow", cap)
    finished = complete is not None and complete.status is LPStatus.OPTIMAL
    if complete is not None and finished and round(complete.objective) != optimum:
        raise AssertionError(f"{instance.name}: HiGHS finds {complete.objective:g} rolls, {optimum} are known")
    if complete is not None and complete.bound > optimum + TOLERANCES.integrality:
        raise AssertionError(f"{instance.name}: HiGHS proves more than {optimum} rolls: {complete.bound:g}")
    line = (
        f"{family:12} {instance.name:16} {result.objective:g} rolls, {result.termination.name}, {seconds:.2f} s, "
        f"{len(result.nodes)} nodes, {len(result.iterations)} rounds; HiGHS on the arc flow "
        f"{f'{highs_seconds:.1f} s' if finished else f'not in {cap:g} s'}"
    )
    counted = instance.check(result.answer) == result.objective
    proved = proved_by_engine(result) and counted
    return Outcome(family, result.is_optimal, seconds, len(result.nodes), highs_seconds, finished, proved), line


def _cross_check(instance: CuttingStockInstance, result: Result, optimum: int) -> None:
    rolls = instance.check(result.answer)
    if rolls != result.objective:
        raise AssertionError(f"{instance.name}: the answer has {rolls} rolls, the result says {result.objective:g}")
    above = result.dual_bound > optimum + TOLERANCES.integrality
    if rolls < optimum or (result.is_optimal and rolls != optimum) or above:
        raise AssertionError(
            f"{instance.name}: {rolls} rolls and the bound {result.dual_bound:g} contradict the known optimum {optimum}"
        )
