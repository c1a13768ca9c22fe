"""The compared ways to decode, run side by side on the same instances."""

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
"""The probability of failure that colour coding is given."""

_BRIEF = 0.2
"""Runs of fewer seconds than this are repeated, and the median counts."""


@dataclass(frozen=True)
class TitlePlan(Plan):
    """How much is measured.

    Attributes
    ----------
    sections
        Test sections of each file at most; None: all of them.
    flow_every
        The integer program with flow variables gets every so many-th instance: nearly always it takes its whole time.
    flow_limit, limit
        Seconds that it is given, and all others.
    sizes, lengths
        Of the random graphs.
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
    """Results of all ways on all instances: ``results[way][k]`` of instance number k, where it was run."""

    instances: Sequence[PathInstance]
    results: Mapping[str, Mapping[int, PathResult]]

    def of(self, way: str, among: Iterable[int] | None = None) -> list[PathResult]:
        """Results of a way, in order."""
        found = self.results[way]
        return [found[k] for k in (found if among is None else among)]

    def optimum(self, k: int) -> float:
        """The optimum of an instance, which is proved."""
        return self.results[EXACT][k].objective

    def is_optimal(self, way: str, k: int) -> bool:
        """Whether a way has found the optimum, proved or not; where there is no path, whether it has found none."""
        optimum = self.optimum(k)
        return self.results[way][k].objective >= optimum - 1e-6 * max(1.0, abs(optimum))


def warm_up() -> None:
    """Compile the kernels and import the libraries, which is nobody's speed."""
    for length in (1, 3):
        instance = random(12, length, 0, num_classes=10, attraction=5.0)
        for way in (exact, lazy_rows, ilp, lambda one: colour_coding(one, iterations=3), lambda one: beam(one, 2)):
            way(instance)
    hard = random(40, 8, 0, num_classes=18, attraction=10.0)  # for the kernels that are needed where a gap is left
    exact(hard)
    complete(hard.graph)


def compare(instances: Sequence[PathInstance], widths: Sequence[int], plan: TitlePlan, say: Say) -> Table:
    """All ways on all instances.

    Raises
    ------
    AssertionError
        If two ways contradict each other, or an answer is none.
    """
    executor = Executor()
    names = [*WAYS, *(beam_name(width) for width in widths)]
    results: dict[str, dict[int, PathResult]] = {name: {} for name in names}
    for k, instance in enumerate(instances):
        _ = instance.graph  # made before any clock runs: all ways share it
        best = results[EXACT][k] = repeat_if_brief(partial(exact, instance, time_limit=plan.limit), _BRIEF)
        coding = partial(colour_coding, instance, failure=FAILURE, executor=executor, time_limit=plan.limit)
        results[CODING][k] = repeat_if_brief(coding, _BRIEF)
        results[UNTIL][k] = repeat_if_brief(partial(coding, until=best.objective - tolerance(best.objective)), _BRIEF)
        results[LAZY][k] = repeat_if_brief(partial(lazy_rows, instance, time_limit=plan.limit), _BRIEF)
        for width in widths:
            results[beam_name(width)][k] = repeat_if_brief(partial(beam, instance, width), _BRIEF)
        if k % plan.flow_every == 0:
            results[FLOW][k] = solve_flow(instance, plan.flow_limit)
        check_results(instance, {name: found[k] for name, found in results.items() if k in found})
        if (k + 1) % 10 == 0 or k + 1 == len(instances):
            middle = ", ".join(f"{name} {median(r.seconds for r in results[name].values()):.3g} s" for name in WAYS)
            say(f"{k + 1} of {len(instances)} sections; medians: {middle}")
    return Table(instances, results)


def add_beam(table: Table, width: int) -> Table:
    """The table with a beam of another width in it."""
    found = {k: repeat_if_brief(partial(beam, one, width), _BRIEF) for k, one in enumerate(table.instances)}
    return Table(table.instances, {**table.results, beam_name(width): found})


def beam_name(width: int) -> str:
    """What beam search of this width is called in a table."""
    return f"beam {width}"


def solve_flow(instance: PathInstance, limit: float) -> PathResult:
    """The flow program in a process of its own, which is ended when its time is up: HiGHS may overlook its clock."""
    result, seconds = bounded(limit, ilp, instance)
    if result is None:
        return PathResult("flow in HiGHS", None, -math.inf, finished=False, seconds=seconds)
    return replace(result, seconds=seconds)


def check_results(instance: PathInstance, results: Mapping[str, PathResult]) -> None:
    """Check all answers, and that none is better than what another way proves.

    Raises
    ------
    AssertionError
        If two ways contradict each other.
    """
    for name, result in results.items():
        weight = result.objective if result.path is None else instance.check(result.path)
        if not math.isclose(weight, result.objective, rel_tol=1e-9, abs_tol=1e-9):
            raise AssertionError(f"{instance.name}: the path weighs {weight}, {name} says {result.objective}")
    claims = {name: (result.objective, result.dual_bound) for name, result in results.items()}
    check_agreement(instance.name, claims, Sense.MAXIMIZE)


def find_smallest_width(table: Table, most: int = 1_000_000) -> int:
    """The smallest width of a beam that is optimal on every instance, up to half a percent; zero if none is.

    Optimality is not monotone in the width: what is returned is optimal on all instances, and each smaller width that
    was tried failed on some.

    Parameters
    ----------
    most
        Widths up to this are tried.
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
    """A random graph: iterations of colour coding a second, and seconds to the proved optimum."""

    num_vertices: int
    length: int
    iterations_per_second: float
    num_iterations: int
    seconds: float
    proved: bool


def measure_random_graphs(plan: TitlePlan, say: Say) -> list[Scaling]:
    """Random graphs of all sizes and lengths of the plan, with vertices that attract."""
    measured = []
    for n in plan.sizes:
        for k in plan.lengths:
            instance = random(n, k, 0, num_classes=max(k, (4 * n) // 5), attraction=3.0)
            _ = instance.graph
            best = repeat_if_brief(partial(exact, instance, time_limit=plan.limit), _BRIEF)
            needed = colour_coding(instance, iterations=1)
            if needed.seconds < 1.0:
                count = max(4, int(1.0 / max(needed.seconds, 1e-4)))
                coding = partial(colour_coding, instance, iterations=count, time_limit=2.0)
                needed, seconds = measure(coding, clock=working_clock)
                rate = needed.steps / seconds
            else:
                rate = 1.0 / needed.seconds
            measured.append(Scaling(n, k, rate, needed.steps, best.seconds, best.is_optimal))
            say(f"{n} vertices, k = {k}: exact {best.seconds:.3g} s, {rate:.3g} iterations of colour coding a second")
    return measured
