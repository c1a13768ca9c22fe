"""Benchmark of generalized assignment: proofs and seconds, compared with GCG if it is installed.

The comparison is skipped if ``COLGEN_GCG`` is not set; see :mod:`benchmarks.assignment.gcg`.
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
"""Time limit per instance in seconds."""

_COMPARED_WITH_GCG = ("c05100", "c10100")


def instances(options: BenchOptions) -> Iterator[tuple[AssignmentInstance, float | None]]:
    """Yield instances with known optima or None; with ``--data``, the instances of its ``optima.csv``."""
    if options.data is None or options.quick:
        yield from (
            (random(5, 30, seed, kind=kind), None) for kind in "CD" for seed in range(1 if options.quick else 4)
        )
        return
    for entry in read_table(options.data / "optima.csv"):
        yield read(options.data / f"{entry['instance']}.txt"), float(entry["cost"])


def bench_assignment(options: BenchOptions) -> Sequence[Figure]:
    """Solve instances of the OR-Library (``--data``), or random ones, and measure proofs and seconds."""
    solve(Assignment(random(3, 10, 0)))  # compiles the kernels
    runs, figures = [], []
    for instance, known in instances(options):
        limit = 10.0 if options.quick else _LIMIT
        run, _ = run_engine(Assignment(instance), limit, name=instance.name)
        options.say(str(run))
        runs.append(run)
        claims = {run.way: run.claim}
        gcg = None
        if instance.name in _COMPARED_WITH_GCG:
            from colgen import decompose  # imports Pyomo, so it is deferred

            gcg = run_gcg(decompose(full(instance), "machine", method="dantzig-wolfe"), _LIMIT, name=instance.name)
        if gcg is not None and gcg.proved:
            options.say(str(gcg))
            claims[gcg.way] = gcg.claim
            ratio, note = run.seconds / gcg.seconds, "processor time, ours over GCG's"
            figures.append(Figure(f"seconds_vs_gcg_{instance.name}", ratio, "ratio", 1, note))
        check_agreement(instance.name, claims, known=known)
    return [
        Figure("proved", sum(run.proved for run in runs), "instances", len(runs), f"within {_LIMIT:g} s each"),
        Figure("median_seconds", median(run.seconds for run in runs), "s", len(runs), "processor time"),
        *(Figure(f"seconds_{run.name}", run.seconds, "s", 1) for run in runs if options.data is not None),
        *figures,
    ]
