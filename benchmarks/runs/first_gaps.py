"""``colgen bench first_gaps --data DIR``: objectives after five seconds over the best known of public instances.

``colgen bench first_answers`` measures the start of each template with its example.  Here kernels are compiled before.
The limit is by the clock, so other processes on the machine make answers worse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import BenchOptions, read_table, spread
from colgen import InputError, Problem, TimeLimit, solve
from colgen.cli.template import Figure
from colgen.problems import assignment, colouring, cutting_stock, vehicle_routing

_SECONDS = 5.0
"""Time limit of each run."""

_MINUTES = 5.0
"""Approximate minutes for all instances."""

_MOST = 15
"""Number of instances of each set, evenly spread over its table."""


@dataclass(frozen=True)
class _Set:
    """Instances of a template: the table of the best known objectives, its column, and how to read an instance.

    ``small`` makes an instance whose solution compiles the kernels.
    """

    name: str
    table: str
    column: str
    suffix: str
    problem: Callable[[Path], Problem[Any]]
    small: Callable[[], Problem[Any]]


_SETS = (
    _Set(
        "assignment",
        "assignment/optima.csv",
        "cost",
        ".txt",
        lambda path: assignment.Assignment(assignment.read(path)),
        lambda: assignment.Assignment(assignment.random(3, 12, 0)),
    ),
    _Set(
        "colouring",
        "colouring/dimacs.csv",
        "best_colours",
        ".col",
        lambda path: colouring.Colouring(colouring.read(path)),
        lambda: colouring.Colouring(colouring.random(24, 1)),
    ),
    _Set(
        "cutting_stock",
        "packing/optima.csv",
        "rolls",
        ".txt",
        lambda path: cutting_stock.CuttingStock(cutting_stock.read(path)),
        lambda: cutting_stock.CuttingStock(cutting_stock.bin_packing(40, 2)),
    ),
    _Set(
        "vehicle_routing",
        "routing/cvrp_x/best.csv",
        "distance",
        ".vrp",
        lambda path: vehicle_routing.VehicleRouting(vehicle_routing.read(path)),
        lambda: vehicle_routing.VehicleRouting(vehicle_routing.random(3, customers=12)),
    ),
)


def bench_first_gaps(options: BenchOptions) -> Sequence[Figure]:
    """Measure objectives after a few seconds over the best known; infinite without an answer."""
    data = options.folder("the benchmark `first_gaps` needs the folder of the instances: add --data DIR")
    share = 0.1 if options.quick else options.share(_MINUTES)
    found = {each.name: _gaps(each, data, share, options.say) for each in _SETS}
    every = [gap for gaps in found.values() for gap in gaps]
    note = f"objective after {_SECONDS:g} s over the best known; largest"
    figures = [Figure("gap_first_answer", max(every), "ratio", len(every), note)]
    return figures + [
        Figure(f"gap_first_answer_{name}", max(gaps), "ratio", len(gaps), note) for name, gaps in found.items()
    ]


def _gaps(instances: _Set, data: Path, share: float, say: Callable[[str], None]) -> list[float]:
    table = data / instances.table
    best = {row["instance"]: float(row[instances.column]) for row in read_table(table)}
    known = [name for name in best if (table.parent / f"{name}{instances.suffix}").exists()]
    if not known:
        raise InputError(f"{table.parent}: expected instances that {table.name} names, found none")
    solve(instances.small())  # compiles the kernels
    gaps = []
    for name in spread(known, share, most=_MOST):
        result = solve(instances.problem(table.parent / f"{name}{instances.suffix}"), stop=TimeLimit(_SECONDS))
        gaps.append(result.objective / best[name] if result.answer is not None else math.inf)
        seconds = f"{result.seconds['total']:.1f} s ({result.processor_seconds:.1f} s of the processor)"
        say(f"{instances.name} {name}: {result.objective:g} after {seconds}, {gaps[-1]:.4f} of the best known")
    return gaps
