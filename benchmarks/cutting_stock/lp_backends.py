"""Benchmark of solvers of linear programs on the same masters."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.harness import BenchOptions, check_agreement, spread
from colgen import Method, Problem, solve
from colgen.cli.template import Figure
from colgen.core.errors import SolverError
from colgen.problems.assignment.instance import random as random_assignment
from colgen.problems.assignment.template import Assignment
from colgen.problems.cutting_stock.generators import uniform
from colgen.problems.cutting_stock.template import CuttingStock
from colgen.solvers.linear.backends.registry import HIGHS, NAMES, BackendError, check_backend

_MINUTES = 3.0
"""Approximate minutes with all supported solvers."""


def bench_lp_backends(options: BenchOptions) -> Sequence[Figure]:
    """Measure the seconds of linear programs in root relaxations by backend."""
    quick, first = options.quick, options.seed or 0
    sizes = ((30, (5, 30)),) if quick else ((50, (5, 60)), (100, (10, 60)), (150, (20, 100)))
    problems: list[Problem] = []
    for items, (agents, jobs) in spread(sizes, options.share(_MINUTES)):
        problems += [CuttingStock(uniform(items, first)), Assignment(random_assignment(agents, jobs, first))]
    optima: list[float] = []
    figures = []
    for name in NAMES:
        try:
            check_backend(name)
        except BackendError as refused:
            options.say(str(refused))
            continue
        solve(problems[0], method=Method(lp=name), relaxation=True)  # compiles the kernels, loads the library
        try:
            seconds = [_seconds(problem, name, optima, place) for place, problem in enumerate(problems)]
        except SolverError as refused:  # a restricted licence
            options.say(f"{name}: {refused}")
            continue
        options.say(f"{name}: {', '.join(f'{one:.3f}' for one in seconds)} s")
        note = "the reference" if name == HIGHS else f"sum over {len(problems)} masters"
        figures.append(Figure(f"seconds_{name}", sum(seconds), "s", len(problems), note))
    return figures


def _seconds(problem: Problem, name: str, optima: list[float], place: int) -> float:
    """Return the seconds of the restricted master, the minimum of three runs."""
    results = [solve(problem, method=Method(lp=name), relaxation=True) for _ in range(3)]
    if place == len(optima):
        optima.append(results[0].objective)
    for result in results:
        check_agreement(type(problem).__name__, {name: (result.objective, result.objective)}, known=optima[place])
    return min(result.seconds["master"] for result in results)
