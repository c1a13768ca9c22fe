"""Benchmark of generalized assignment: proofs and seconds, and GCG on the same instances where it is installed.

Figures of the comparison are left out where ``COLGEN_GCG`` is not set; see :mod:`benchmarks.assignment.gcg`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks.assignment.gcg import run_gcg
from benchmarks.harness import BenchOptions, check_agreement, read_table, run_engine
from colgen import solve
from colgen.cli.template import Figure
from colgen.problems.assignment.instance import AssignmentInstance, random, read
from colgen.problems.assignment.model import full
from colgen.problems.assignment.template import Assignment

_LIMIT = 900.0
"""Seconds for each instance."""

_BESIDE_GCG = ("c05100", "c10100")


def instances(options: BenchOptions) -> Iterator[tuple[AssignmentInstance, float | None]]:
    """Instances, with their optima where those are known; those beside the file ``optima.csv`` of ``--data``."""
    if options.data is None or options.quick:
        yield from (
            (random(5, 30, seed, kind=kind), None) for kind in "CD" for seed in range(1 if options.quick else 4)
        )
        return
    for entry in read_table(options.data / "optima.csv"):
        yield read(options.data / f"{entry['instance']}.txt"), float(entry["cost"])


def bench_assignment(options: BenchOptions) -> Sequence[Figure]:
    """Instances of the OR-Library (``--data``), or random ones: how many are proved, and in what time."""
    solve(Assignment(random(3, 10, 0)))  # compiles the kernels
    runs, figures = [], []
    for instance, known in instances(options):
        limit = 10.0 if options.quick else _LIMIT
        run, _ = run_engine(Assignment(instance), limit, name=instance.name)
        options.say(str(run))
        runs.append(run)
        claims = {run.way: run.claim}
        beside = None
        if instance.name in _BESIDE_GCG:
            from colgen import decompose  # here: it brings Pyomo, and who solves an instance reads this module too

            beside = run_gcg(decompose(full(instance), "machine"), _LIMIT, name=instance.name)
        if beside is not None and beside.proved:
            options.say(str(beside))
            claims[beside.way] = beside.claim
            ratio, note = run.seconds / beside.seconds, "processor time, ours over GCG's"
            figures.append(Figure(f"seconds_vs_gcg_{instance.name}", ratio, "ratio", 1, note))
        check_agreement(instance.name, claims, known=known)
    return [
        Figure("proved", sum(run.proved for run in runs), "instances", len(runs), f"within {_LIMIT:g} s each"),
        Figure("median_seconds", median(run.seconds for run in runs), "s", len(runs), "processor time"),
        *(Figure(f"seconds_{run.name}", run.seconds, "s", 1) for run in runs if options.data is not None),
        *figures,
    ]
