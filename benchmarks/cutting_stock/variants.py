"""Benchmark of several roll widths, few patterns and conflicts, compared with HiGHS on complete models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks.cutting_stock.complete_orders import solve_full
from benchmarks.cutting_stock.orders import conflicting, few_patterns, several_bins, several_lengths
from benchmarks.harness import BenchOptions, Run, check_agreement, mean_ratio, run_engine, run_program, spread
from colgen import solve
from colgen.cli.template import Figure
from colgen.core.stop import TimeLimit
from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.template import CuttingStock

_LIMIT = 20.0
"""Time limit of branch and price in seconds, which counts if reached."""

_CAP = 4.0
"""Time limit of HiGHS in seconds, building the model included, which counts if reached."""

_MINUTES = 3.0
"""Approximate minutes for all instances."""

_LARGE = 150
"""Number of pieces with conflicts above which the complete model, of millions of rows, is skipped."""


def orders(quick: bool) -> Iterator[tuple[str, CuttingStockInstance]]:
    """Yield family and instance."""
    if quick:
        yield "several_widths", several_bins(40, 0)
        yield "conflicts", conflicting(30, 0.3, 0)
        yield "few_patterns", few_patterns(5, 5, 1)
        return
    yield "several_widths", several_bins(100, 0)
    yield "several_widths", several_lengths(100, 0, supplies=False)
    yield "several_widths", several_lengths(40, 0)
    for seed in range(2):
        yield "several_widths", several_bins(500, seed, concave=True)
    for tenths in (1, 3, 5, 7, 9):
        yield "conflicts", conflicting(120, tenths / 10.0, 0)
        yield "conflicts", conflicting(250, tenths / 10.0, 0)
    yield "conflicts", conflicting(80, 0.3, 1, kinds=3)
    for items, patterns, seed in ((10, 7, 0), (15, 12, 0), (15, 12, 1), (20, 16, 0)):
        yield "few_patterns", few_patterns(items, patterns, seed)


def bench_variants(options: BenchOptions) -> list[Figure]:
    """Solve orders of each kind to proved optimality, and complete models with HiGHS."""
    chosen = spread(list(orders(options.quick)), options.share(_MINUTES))
    for _, order in orders(True):  # compiles the kernels
        solve(CuttingStock(order), stop=TimeLimit(_LIMIT))
    runs: dict[str, list[tuple[Run, Run | None]]] = {}
    for family, order in chosen:
        runs.setdefault(family, []).append(_solve_both_ways(order, options))
    return [figure for family, each in runs.items() for figure in _figures(family, each)]


def _solve_both_ways(order: CuttingStockInstance, options: BenchOptions) -> tuple[Run, Run | None]:
    """Solve an order by column generation, in processor time, and, if small, by HiGHS on a complete model."""
    ours, _ = run_engine(CuttingStock(order), _LIMIT, name=order.name)
    options.say(str(ours))
    cost = math.inf if ours.answer is None else order.check(ours.answer)
    if cost != ours.objective:
        raise AssertionError(f"{order.name}: the plan costs {cost:g}, the reported objective is {ours.objective:g}")
    if order.conflicts and sum(order.demands) > _LARGE:
        return ours, None
    complete = run_program("HiGHS", order.name, _CAP, solve_full, order, _CAP)
    options.say(str(complete))
    check_agreement(order.name, {run.way: run.claim for run in (ours, complete)})
    return ours, complete


def _figures(family: str, runs: Sequence[tuple[Run, Run | None]]) -> list[Figure]:
    n, seconds = len(runs), [ours.counted for ours, _ in runs]
    figures = [
        Figure(f"proved_{family}", sum(ours.proved for ours, _ in runs), "instances", n, f"in {_LIMIT:g} s each"),
        Figure(f"median_seconds_{family}", median(seconds), "s", n, "processor time"),
        Figure(f"worst_seconds_{family}", max(seconds), "s", n, "processor time"),
    ]
    pairs = [(ours.counted, complete.counted) for ours, complete in runs if complete is not None]
    if pairs:
        note = f"HiGHS on a complete model is limited to {_CAP:g} s, which counts if reached"
        mine, theirs = zip(*pairs, strict=True)
        figures.append(mean_ratio(f"speedup_{family}_vs_milp", theirs, mine, note))
    return figures
