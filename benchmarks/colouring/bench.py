"""What is measured: graphs coloured to proved optimality."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.harness import BenchOptions
from colgen import InputError, Result, solve
from colgen.cli.template import Figure
from colgen.core.stop import TimeLimit
from colgen.problems.colouring.bound import verify
from colgen.problems.colouring.instance import ColouringInstance, mycielski, queens, random, read
from colgen.problems.colouring.template import Colouring

_LIMIT = 900.0
"""Seconds for each graph."""

_RANDOM = 20
"""Random graphs of 70 vertices and density one half."""

_DIMACS = {"DSJC125.1": 5, "DSJC125.5": 17, "DSJC125.9": 44}
_HARD = "DSJC250.9"


@dataclass(frozen=True)
class _Run:
    """One graph."""

    name: str
    proved: bool
    by_engine: bool
    seconds: float


def graphs(options: BenchOptions) -> Iterator[tuple[ColouringInstance, int | None]]:
    """Graphs, with the number of colours where it is known."""
    for size, colours in ((8, 9),) if options.quick else ((8, 9), (9, 10), (10, 11)):
        yield queens(size), colours
    for colours in (3, 4) if options.quick else (3, 4, 5, 6):
        yield mycielski(colours), colours
    for seed in range(1 if options.quick else _RANDOM):
        yield random(70, seed), None
    if not options.quick and options.data is not None:
        for name, colours in _DIMACS.items():
            yield read(_file(options.data, name)), colours


def bench_colouring(options: BenchOptions) -> Sequence[Figure]:
    """Queens, Mycielski's graphs, random graphs; with ``--data``, DIMACS random graphs of 125 and 250 vertices."""
    solve(Colouring(queens(5)))  # compiles the kernels
    runs = []
    for instance, known in graphs(options):
        result, seconds = _timed(instance, 5.0 if options.quick else _LIMIT)
        if result.is_optimal and known is not None and result.objective != known:
            raise AssertionError(f"{instance.name}: {known} colours are needed, not {result.objective:g}")
        # What is called optimal the engine has proved; the root's bound is held against whole numbers besides.
        exact = verify(instance, result.certificate) <= result.objective
        runs.append(_Run(instance.name, result.is_optimal, result.is_optimal and exact, seconds))
        options.say(_line(instance, result, seconds))
    figures = [
        Figure("proved", sum(run.proved for run in runs), "graphs", len(runs), f"within {_LIMIT:g} s each"),
        Figure("proved_by_engine", sum(run.by_engine for run in runs), "graphs", len(runs)),
        Figure("median_seconds", median(run.seconds for run in runs), "s", len(runs), "processor time"),
    ]
    if not options.quick and options.data is not None:
        instance = read(_file(options.data, _HARD))
        result, seconds = _timed(instance, _LIMIT)
        options.say(_line(instance, result, seconds))
        figures += [
            Figure("colours_dsjc250_9", result.objective, "colours", 1, f"after {_LIMIT:g} s"),
            Figure("bound_dsjc250_9", result.dual_bound, "colours", 1, f"after {_LIMIT:g} s"),
            Figure("seconds_dsjc250_9", seconds, "s", 1, "processor time; " + result.termination.value),
        ]
    return figures


def _timed(instance: ColouringInstance, limit: float) -> tuple[Result, float]:
    started = time.process_time()
    result = solve(Colouring(instance), stop=TimeLimit(limit))
    return result, time.process_time() - started


def _line(instance: ColouringInstance, result: Result, seconds: float) -> str:
    return (
        f"{instance.name}: {result.objective:g} colours, bound {result.dual_bound:g} (root {result.root_bound:.4f}), "
        f"{len(result.nodes)} nodes, {seconds:.1f} s; {result.termination.value}"
    )


def _file(folder: Path, name: str) -> Path:
    path = folder / f"{name}.col"
    if not path.is_file():
        raise InputError(f"{path}: expected the DIMACS graph {name}, there is no such file")
    return path
