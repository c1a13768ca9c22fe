"""Benchmark of graph colouring: proofs and seconds."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.harness import BenchOptions, check_agreement, run_engine
from colgen import solve
from colgen.cli.template import Figure
from colgen.problems.colouring.bound import verify
from colgen.problems.colouring.instance import ColouringInstance, mycielski, queens, random, read
from colgen.problems.colouring.template import Colouring

_LIMIT = 900.0
"""Time limit per graph in seconds."""

_RANDOM = 20
"""Random graphs of 70 vertices and density 0.5."""

_DIMACS = {"DSJC125.1": 5, "DSJC125.5": 17, "DSJC125.9": 44}
_HARD = "DSJC250.9"
_TABLE, _MINUTE = "dimacs.csv", 60.0


def graphs(options: BenchOptions) -> Iterator[tuple[ColouringInstance, int | None]]:
    """Yield graphs with their chromatic numbers, or None if unknown."""
    for size, colours in ((8, 9),) if options.quick else ((8, 9), (9, 10), (10, 11)):
        yield queens(size), colours
    for colours in (3, 4) if options.quick else (3, 4, 5, 6):
        yield mycielski(colours), colours
    for seed in range(1 if options.quick else _RANDOM):
        yield random(70, seed), None
    if not options.quick and options.data is not None:
        for name, colours in _DIMACS.items():
            yield read(options.data / f"{name}.col"), colours


def bench_colouring(options: BenchOptions) -> Sequence[Figure]:
    """Solve queens, Mycielski and random graphs; with ``--data``, DIMACS random graphs of 125 and 250 vertices."""
    solve(Colouring(queens(5)))  # compiles the kernels
    runs, exact = [], 0
    limit = 5.0 if options.quick else _LIMIT
    for instance, known in graphs(options):
        run, result = run_engine(Colouring(instance), limit, name=instance.name)
        options.say(str(run))
        runs.append(run)
        check_agreement(instance.name, {run.way: run.claim}, known=known)
        # Optimality is proved by the engine; the root bound is also verified in exact integer arithmetic.
        exact += run.proved and verify(instance, result.certificate) <= run.objective
    figures = [
        Figure("proved", sum(run.proved for run in runs), "graphs", len(runs), f"within {_LIMIT:g} s each"),
        Figure("proved_by_engine", exact, "graphs", len(runs)),
        Figure("median_seconds", median(run.seconds for run in runs), "s", len(runs), "processor time"),
        *(
            Figure(f"seconds_{run.name.lower().replace('.', '_')}", run.seconds, "s", 1, "processor time")
            for run in runs
            if run.name in _DIMACS
        ),
    ]
    if not options.quick and options.data is not None:
        run, result = run_engine(Colouring(read(options.data / f"{_HARD}.col")), _LIMIT, name=_HARD)
        options.say(str(run))
        figures += [
            Figure("colours_dsjc250_9", run.objective, "colours", 1, f"after {_LIMIT:g} s"),
            Figure("bound_dsjc250_9", run.bound, "colours", 1, f"after {_LIMIT:g} s"),
            Figure("seconds_dsjc250_9", run.seconds, "s", 1, "processor time; " + result.termination.value),
        ]
    if not options.quick and options.data is not None and (options.data / _TABLE).exists():
        figures += dimacs_proved(options, options.data / _TABLE)
    return figures


def dimacs_proved(options: BenchOptions, table: Path) -> list[Figure]:
    """Return how many of DIMACS's graphs are proved in a minute each, and how many answers or bounds are wrong."""
    with table.open(newline="") as file:
        known = {row["instance"]: (int(row["best_colours"]), int(row["best_bound"])) for row in csv.DictReader(file)}
    proved, wrong, seconds = 0, 0, []
    for name, (colours, least) in known.items():
        run, _ = run_engine(Colouring(read(table.parent / f"{name}.col")), _MINUTE, name=name)
        options.say(str(run))
        proved += run.proved
        wrong += run.objective < least or run.bound > colours or (run.proved and run.objective > colours)
        seconds.append(run.seconds)
    return [
        Figure("dimacs_proved", proved, "graphs", len(known), f"within {_MINUTE:g} s each"),
        Figure("dimacs_wrong", wrong, "graphs", len(known), "against published colourings and bounds"),
        Figure("dimacs_median_seconds", median(seconds), "s", len(known), "processor time"),
    ]
