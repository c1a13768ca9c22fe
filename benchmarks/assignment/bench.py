"""What is measured: generalized assignment solved to proved optimality, and GCG beside it where it is installed.

Figures of the comparison are left out where ``COLGEN_GCG`` is not set; see :mod:`benchmarks.assignment.gcg`.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.assignment.gcg import ByGCG, by_gcg
from benchmarks.harness import BenchOptions
from colgen import InputError, Result, solve
from colgen.cli.template import Figure
from colgen.core.stop import TimeLimit
from colgen.problems.assignment.instance import AssignmentInstance, random, read
from colgen.problems.assignment.model import full
from colgen.problems.assignment.template import Assignment

_LIMIT = 900.0
"""Seconds for each instance."""

_BESIDE_GCG = ("c05100", "c10100")


@dataclass(frozen=True)
class _Run:
    """One instance."""

    name: str
    proved: bool
    objective: float
    bound: float
    seconds: float


def instances(options: BenchOptions) -> Iterator[tuple[AssignmentInstance, float | None]]:
    """Instances, with their optima where those are known; those beside the file ``optima.csv`` of ``--data``."""
    if options.data is None or options.quick:
        yield from (
            (random(5, 30, seed, kind=kind), None) for kind in "CD" for seed in range(1 if options.quick else 4)
        )
        return
    path = options.data / "optima.csv"
    if not path.is_file():
        raise InputError(f"{path}: expected a table of instances and their costs, there is no such file")
    with path.open(newline="") as file:
        for entry in csv.DictReader(file):
            yield read(options.data / f"{entry['instance']}.txt"), float(entry["cost"])


def bench_assignment(options: BenchOptions) -> Sequence[Figure]:
    """Instances of the OR-Library (``--data``), or random ones: how many are proved, and in what time."""
    solve(Assignment(random(3, 10, 0)))  # compiles the kernels
    runs, figures = [], []
    for instance, known in instances(options):
        result, seconds = _timed(instance, 10.0 if options.quick else _LIMIT)
        if result.is_optimal and known is not None and result.objective != known:
            raise AssertionError(f"{instance.name}: the optimum is {known:g}, not {result.objective:g}")
        runs.append(_Run(instance.name, result.is_optimal, result.objective, result.dual_bound, seconds))
        options.say(_line(instance, result, seconds))
        beside = _by_gcg(instance) if instance.name in _BESIDE_GCG else None
        if beside is not None and beside.objective is not None:
            options.say(f"{instance.name}: GCG {beside.seconds:.1f} s")
            ratio, note = seconds / beside.seconds, "processor time, ours over GCG's"
            figures.append(Figure(f"seconds_vs_gcg_{instance.name}", ratio, "ratio", 1, note))
    return [
        Figure("proved", sum(run.proved for run in runs), "instances", len(runs), f"within {_LIMIT:g} s each"),
        Figure("median_seconds", median(run.seconds for run in runs), "s", len(runs), "processor time"),
        *(Figure(f"seconds_{run.name}", run.seconds, "s", 1) for run in runs if options.data is not None),
        *figures,
    ]


def _by_gcg(instance: AssignmentInstance) -> ByGCG | None:
    from colgen import decompose  # here: it brings Pyomo, and who solves an instance reads this module too

    return by_gcg(decompose(full(instance), "machine"), _LIMIT)


def _timed(instance: AssignmentInstance, limit: float) -> tuple[Result, float]:
    started = time.process_time()
    result = solve(Assignment(instance), stop=TimeLimit(limit))
    return result, time.process_time() - started


def _line(instance: AssignmentInstance, result: Result, seconds: float) -> str:
    return (
        f"{instance.name}: {result.objective:g}, bound {result.dual_bound:g} (root {result.root_bound:.3f}), "
        f"{len(result.nodes)} nodes, {len(result.iterations)} rounds, {seconds:.1f} s; {result.termination.value}"
    )
