"""Run all compared decoders on the same instances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from benchmarks.harness import Plan, Say, check_agreement, measure, repeat_if_brief
from colgen import Sense
from colgen.parallel.executor import Executor
from colgen.parallel.time_limits import bounded
from colgen.problems.title_path.baseline import beam, colour_coding, exact, ilp, lazy_rows
from colgen.problems.title_path.instance import PathInstance, random
from colgen.problems.title_path.outcome import PathResult
from colgen.solvers.compiling import working_clock
from colgen.solvers.paths.colour_coding import complete
from colgen.solvers.paths.walks import tolerance

EXACT = "exact"
FLOW = "ILP with flow"
LAZY = "ILP with separated rows"
CODING = "colour coding"
UNTIL = "colour coding until optimal"
WAYS = (EXACT, CODING, UNTIL, LAZY, FLOW)

FAILURE = 1e-6
"""Failure probability of colour coding."""

_BRIEF = 0.2
"""Runs below this many seconds are repeated; the median counts."""


@dataclass(frozen=True)
class TitlePlan(Plan):
    """Size of the benchmark, and its time limits.

    Attributes
    ----------
    sections
        Maximum number of test sections; None for all.
    flow_every
        The integer program with flow variables solves every ``flow_every``-th instance; it usually reaches its limit.
    flow_limit, limit
        Time limits in seconds of that program and of the other decoders.
    sizes, lengths
        Vertices and path lengths of the random graphs.
    """

    sections: int | None = None
    flow_every: int = 4
    flow_limit: float = 60.0
    limit: float = 60.0
    sizes: Sequence[int] = (50, 100, 200, 500, 1000)
    lengths: Sequence[int] = (3, 5, 8, 13)


QUICK = TitlePlan(sections=6, flow_every=6, flow_limit=5.0, limit=10.0, sizes=(50,), lengths=(3, 5))


@dataclass(frozen=True)
class Table:
    """Results of all decoders: ``results[way][k]`` for instance k, if it was run."""

    instances: Sequence[PathInstance]
    results: Mapping[str, Mapping[int, PathResult]]

    def of(self, way: str, among: Iterable[int] | None = None) -> list[PathResult]:
        """Return the results of a way, in order."""
        results = self.results[way]
        return [results[k] for k in (results if among is None else among)]

    def optimum(self, k: int) -> float:
        """Return the proved optimum of an instance."""
        return self.results[EXACT][k].objective

    def is_optimal(self, way: str, k: int) -> bool:
        """Return whether a way found the optimum, proved or not; without a path, whether it found none."""
        optimum = self.optimum(k)
        return self.results[way][k].objective >= optimum - 1e-6 * max(1.0, abs(optimum))


def warm_up() -> None:
    """Compile the kernels and import the libraries, outside all measurements."""
    for length in (1, 3):
        instance = random(12, length, 0, num_classes=10, attraction=5.0)
        for way in (exact, lazy_rows, ilp, lambda one: colour_coding(one, iterations=3), lambda one: beam(one, 2)):
            way(instance)
    hard = random(40, 8, 0, num_classes=18, attraction=10.0)  # compiles the kernels that close a remaining gap
    exact(hard)
    complete(hard.graph)


def compare(instances: Sequence[PathInstance], widths: Sequence[int], plan: TitlePlan, say: Say) -> Table:
    """Run all ways on all instances; raise AssertionError if two contradict each other, or a path is infeasible."""
    executor = Executor()
    names = [*WAYS, *(beam_name(width) for width in widths)]
    results: dict[str, dict[int, PathResult]] = {name: {} for name in names}
    for k, instance in enumerate(instances):
        _ = instance.graph  # built before any timing, shared by all ways
        best = results[EXACT][k] = repeat_if_brief(partial(exact, instance, time_limit=plan.limit), _BRIEF)
        coding = partial(colour_coding, instance, failure=FAILURE, executor=executor, time_limit=plan.limit)
        results[CODING][k] = repeat_if_brief(coding, _BRIEF)
        results[UNTIL][k] = repeat_if_brief(partial(coding, until=best.objective - tolerance(best.objective)), _BRIEF)
        results[LAZY][k] = repeat_if_brief(partial(lazy_rows, instance, time_limit=plan.limit), _BRIEF)
        for width in widths:
            results[beam_name(width)][k] = repeat_if_brief(partial(beam, instance, width), _BRIEF)
        if k % plan.flow_every == 0:
            results[FLOW][k] = solve_flow(instance, plan.flow_limit)
        check_results(instance, {name: of_way[k] for name, of_way in results.items() if k in of_way})
        if (k + 1) % 10 == 0 or k + 1 == len(instances):
            medians = ", ".join(f"{name} {median(r.seconds for r in results[name].values()):.3g} s" for name in WAYS)
            say(f"{k + 1} of {len(instances)} sections; medians: {medians}")
    return Table(instances, results)


def add_beam(table: Table, width: int) -> Table:
    """Return the table with another beam width added."""
    results = {k: repeat_if_brief(partial(beam, one, width), _BRIEF) for k, one in enumerate(table.instances)}
    return Table(table.instances, {**table.results, beam_name(width): results})


def beam_name(width: int) -> str:
    """Return the name of beam search of this width in a table."""
    return f"beam {width}"


def solve_flow(instance: PathInstance, limit: float) -> PathResult:
    """Solve the flow program in a process terminated at the limit, because HiGHS may exceed its own limit."""
    result, seconds = bounded(limit, ilp, instance)
    if result is None:
        return PathResult("flow in HiGHS", None, -math.inf, finished=False, seconds=seconds)
    return replace(result, seconds=seconds)


def check_results(instance: PathInstance, results: Mapping[str, PathResult]) -> None:
    """Raise AssertionError if a path is infeasible, or better than the bound of another way."""
    for name, result in results.items():
        weight = result.objective if result.path is None else instance.check(result.path)
        if not math.isclose(weight, result.objective, rel_tol=1e-9, abs_tol=1e-9):
            raise AssertionError(
                f"{instance.name}: the path of {name} weighs {weight}, its reported objective is {result.objective}"
            )
    claims = {name: (result.objective, result.dual_bound) for name, result in results.items()}
    check_agreement(instance.name, claims, Sense.MAXIMIZE)


def find_smallest_width(table: Table, most: int = 1_000_000) -> int:
    """Return the smallest beam width that is optimal on every instance, up to 0.5%; zero if none up to ``most`` is.

    Optimality is not monotone in the width: the result is optimal on all instances, and every smaller width that was
    tried fails on some.
    """
    width = 1
    open_ones = [k for k in range(len(table.instances)) if table.optimum(k) > -math.inf]

    def fails(k: int, width: int) -> bool:
        optimum = table.optimum(k)
        return beam(table.instances[k], width).objective < optimum - 1e-6 * max(1.0, abs(optimum))

    hardest = open_ones[0] if open_ones else 0
    while width <= most:
        failing = next((k for k in [hardest, *open_ones] if fails(k, width)), None) if open_ones else None
        if failing is None:
            return width
        hardest = failing
        width += max(1, width // 200)
    return 0


# --- random graphs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scaling:
    """A random graph: iterations of colour coding per second, and seconds to the proved optimum."""

    num_vertices: int
    length: int
    iterations_per_second: float
    num_iterations: int
    seconds: float
    proved: bool


def measure_random_graphs(plan: TitlePlan, say: Say) -> list[Scaling]:
    """Measure random graphs of all sizes and lengths of the plan, with some attractive vertices."""
    measured = []
    for n in plan.sizes:
        for k in plan.lengths:
            instance = random(n, k, 0, num_classes=max(k, (4 * n) // 5), attraction=3.0)
            _ = instance.graph
            best = repeat_if_brief(partial(exact, instance, time_limit=plan.limit), _BRIEF)
            result = colour_coding(instance, iterations=1)
            if result.seconds < 1.0:
                count = max(4, int(1.0 / max(result.seconds, 1e-4)))
                coding = partial(colour_coding, instance, iterations=count, time_limit=2.0)
                result, seconds = measure(coding, clock=working_clock)
                rate = result.steps / seconds
            else:
                rate = 1.0 / result.seconds
            measured.append(Scaling(n, k, rate, result.steps, best.seconds, best.is_optimal))
            say(f"{n} vertices, k = {k}: exact {best.seconds:.3g} s, {rate:.3g} iterations of colour coding per second")
    return measured
