"""What is measured of orders with parts (roll widths, few patterns, conflicts), against HiGHS on complete models."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from benchmarks.cutting_stock.complete_orders import solve_full
from benchmarks.cutting_stock.orders import conflicting, few_patterns, several_bins, several_lengths
from benchmarks.cutting_stock.processes import within
from benchmarks.harness import BenchOptions, spread
from colgen import solve
from colgen.cli.template import Figure
from colgen.core.stop import TimeLimit
from colgen.core.tolerances import TOLERANCES
from colgen.problems.cutting_stock.parts import Order
from colgen.problems.cutting_stock.template import CuttingStock
from colgen.solvers.linear.lp import LPStatus

_LIMIT = 20.0
"""Seconds that branch and price is given; an instance that needs more counts as not proved, at that time."""

_CAP = 4.0
"""Seconds that HiGHS is given, building the model included, and counted with where it needs more."""

_MINUTES = 3.0
"""About what all of it takes."""

_LARGE = 150
"""Pieces with conflicts from which on the complete model has millions of rows: it is not even built."""


@dataclass(frozen=True)
class _Outcome:
    """One order solved both ways; processor seconds of the one, seconds of the other."""

    proved: bool
    seconds: float
    ratio: float | None


def orders(quick: bool) -> Iterator[tuple[str, Order]]:
    """Family and order."""
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
    """Orders of each kind to proved optimality, and complete models in HiGHS."""
    chosen = spread(list(orders(options.quick)), options.share(_MINUTES))
    for _, order in orders(True):  # compiles the kernels
        solve(_template(order), stop=TimeLimit(_LIMIT))
    outcomes: dict[str, list[_Outcome]] = {}
    for family, order in chosen:
        outcomes.setdefault(family, []).append(_both_ways(family, order, options))
    return [figure for family, each in outcomes.items() for figure in _figures(family, each)]


def _template(order: Order) -> CuttingStock:
    return CuttingStock(order.instance, stock=order.stock, patterns=order.patterns, conflicts=order.conflicts)


def _both_ways(family: str, order: Order, options: BenchOptions) -> _Outcome:
    started = time.process_time()
    result = solve(_template(order), stop=TimeLimit(_LIMIT))
    seconds = time.process_time() - started
    cost = math.inf if result.answer is None else order.check(result.answer)
    if cost != result.objective:
        raise AssertionError(f"{order.name}: the answer costs {cost:g}, the result says {result.objective:g}")
    line = (
        f"{family:14} {order.name:24} {result.objective:g}, bound {result.dual_bound:g}, {result.termination.name}, "
        f"{seconds:.2f} s, {len(result.nodes)} nodes, {len(result.iterations)} rounds"
    )
    if order.conflicts is not None and sum(order.instance.demands) > _LARGE:
        options.say(line)
        return _Outcome(result.is_optimal, seconds, None)
    complete, highs_seconds = within(_CAP, solve_full, order, _CAP)
    finished = complete is not None and complete.status is LPStatus.OPTIMAL
    slack = TOLERANCES.integrality * max(1.0, abs(cost))
    if complete is not None and (
        (result.is_optimal and complete.bound > cost + slack)
        or (finished and complete.objective < result.dual_bound - slack)
    ):
        raise AssertionError(
            f"{order.name}: HiGHS says {complete.objective:g} with the bound {complete.bound:g}, branch and price says "
            f"{result.objective:g} with the bound {result.dual_bound:g}"
        )
    options.say(f"{line}; HiGHS {f'{highs_seconds:.1f} s' if finished else f'not in {_CAP:g} s'}")
    ratio = (highs_seconds if finished else _CAP) / (seconds if result.is_optimal else max(seconds, _LIMIT))
    return _Outcome(result.is_optimal, seconds, ratio)


def _figures(family: str, outcomes: Sequence[_Outcome]) -> list[Figure]:
    n = len(outcomes)
    seconds = [outcome.seconds if outcome.proved else _LIMIT for outcome in outcomes]
    ratios = [outcome.ratio for outcome in outcomes if outcome.ratio is not None]
    figures = [
        Figure(f"proved_{family}", sum(o.proved for o in outcomes), "instances", n, f"in {_LIMIT:g} s each"),
        Figure(f"median_seconds_{family}", median(seconds), "s", n, "of the processor"),
        Figure(f"worst_seconds_{family}", max(seconds), "s", n, "of the processor"),
    ]
    if ratios:
        note = f"geometric mean; HiGHS on a complete model is given {_CAP:g} s and counts as that if it needs more"
        figures.append(Figure(f"speedup_{family}_vs_milp", geometric_mean(ratios), "ratio", len(ratios), note))
    return figures
