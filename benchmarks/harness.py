"""Shared code of the benchmarks: options, timing, runs, checks that results agree, and external programs."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, Protocol, TypeVar

from colgen import InputError, Problem, Result, Sense, TimeLimit, solve
from colgen.cli.template import Figure
from colgen.core.files import check_readable, read_text
from colgen.core.text import number, plural
from colgen.core.tolerances import TOLERANCES, size
from colgen.parallel.time_limits import bounded
from colgen.reporting.compared import proved_by_engine
from colgen.solvers.linear.lp import LPStatus

T = TypeVar("T")
Say = Callable[[str], None]


def say_nothing(_: str) -> None:
    """Discard a line of text."""


_SHORTEST = 1e-4
"""Seconds; shorter times are rounded up to this in ratios, because the clock is not precise enough."""


@dataclass(frozen=True)
class BenchOptions:
    """Options of ``colgen bench``.

    Attributes
    ----------
    data
        Folder of the corpora or instances.
    quick
        Whether to use only the smallest instances, to test that the benchmark runs.
    say
        Function called with each line of progress.
    plot
        File for the benchmark's picture; ignored by benchmarks without one.
    minutes
        Approximate time to measure; None for no limit.  See :meth:`share`.
    seed
        Seed of random instances.
    """

    data: Path | None = None
    quick: bool = False
    say: Say = print
    plot: Path | None = None
    minutes: float | None = None
    seed: int = 0

    def share(self, usual: float) -> float:
        """Return the share of instances to measure if all take ``usual`` minutes, and report a reduction.

        A shortened benchmark takes fewer instances, evenly spread over all (:func:`spread`); the ``n`` of each figure
        counts them.  Training is not shortened.
        """
        if self.minutes is None or self.minutes >= usual:
            return 1.0
        share = max(self.minutes / usual, 0.01)
        self.say(f"measuring {share:.0%} of the instances (all take about {usual:g} minutes)")
        return share

    def folder(self, needed: str) -> Path:
        """Return the folder of the data; raise InputError with the text ``needed`` if none was given."""
        if self.data is None:
            raise InputError(needed)
        return self.data


@dataclass(frozen=True)
class Plan:
    """Amount of work of a benchmark; each benchmark with a plan adds its own fields."""

    def cut(self: P, share: float, *names: str) -> P:
        """Return the plan with these fields multiplied by a share and rounded up."""
        return replace(self, **{name: math.ceil(share * getattr(self, name)) for name in names})


P = TypeVar("P", bound=Plan)


def spread(items: Sequence[T], share: float = 1.0, *, most: int | None = None) -> list[T]:
    """Return a share of the items (of ``most`` of them, if given), evenly spread over their order; at least one."""
    available = len(items) if most is None else min(len(items), most)
    count = min(available, max(1, round(share * available)))
    return [items[k * len(items) // count] for k in range(count)]


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a CSV file with a header, such as a table of known optima."""
    check_readable(path)
    return list(csv.DictReader(read_text(path).splitlines()))


# --- seconds ---------------------------------------------------------------------------------------------------------


def measure(
    function: Callable[[], T], repeats: int = 1, *, clock: Callable[[], float] = time.process_time
) -> tuple[T, float]:
    """Call a function; return the result and the seconds of its shortest call."""
    best: tuple[T, float] | None = None
    for _ in range(repeats):
        started = clock()
        result = function()
        seconds = clock() - started
        if best is None or seconds < best[1]:
            best = result, seconds
    assert best is not None
    return best


def take_turns(
    ways: Mapping[str, Callable[[], T]],
    repeats: int = 1,
    *,
    turn: float = 0.0,
    clock: Callable[[], float] = time.process_time,
) -> tuple[dict[str, T], dict[str, list[float]]]:
    """Measure each way ``repeats`` times; the ways alternate, so that other load on the machine slows all of them.

    In each turn a way is called repeatedly for at least ``turn`` seconds, and the mean over its calls counts.  Return
    by way the result of the last call, and the seconds per call of each turn.
    """
    results: dict[str, T] = {}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            started, calls = clock(), 0
            while not calls or clock() - started < turn:
                results[name] = way()
                calls += 1
            taken[name].append((clock() - started) / calls)
    return results, taken


class _Timed(Protocol):
    """A result with its seconds."""

    @property
    def seconds(self) -> float: ...


R = TypeVar("R", bound=_Timed)


def repeat_if_brief(way: Callable[[], R], brief: float, repeats: int = 3) -> R:
    """Return the result of a way; below ``brief`` seconds, its seconds are the median of ``repeats`` calls."""
    first = way()
    if first.seconds >= brief:
        return first
    repeated: R = replace(first, seconds=median([first.seconds, *(way().seconds for _ in range(repeats - 1))]))  # type: ignore[type-var]
    return repeated


# --- runs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """One instance solved in one way.

    Attributes
    ----------
    way, name
        Names of the method and of the instance.
    seconds
        Time from instance to solution; the limit if the program was terminated.
    objective, bound
        Objective of the solution, and bound on all solutions; infinite if unknown.
    limit
        Time limit in seconds.
    size
        Size of the instance, in benchmarks that compare sizes.
    by_engine
        Whether oracle calls in rounds of the engine computed the bounds that end the search.
    details
        Further values of a single benchmark.
    """

    way: str
    name: str
    seconds: float
    objective: float
    bound: float
    proved: bool
    rounds: int = 0
    nodes: int = 0
    limit: float = 0.0
    by_engine: bool = False
    size: int = 0
    answer: Any = field(default=None, repr=False)
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def counted(self) -> float:
        """Return the seconds, or the limit if that is longer and optimality was not proved."""
        return self.seconds if self.proved else max(self.seconds, self.limit)

    @property
    def claim(self) -> tuple[float, float]:
        """Return the pair that :func:`check_agreement` compares."""
        return self.objective, self.bound

    def __str__(self) -> str:
        proved = "proved" if self.proved else "not proved"
        line = f"{self.name}: {self.way} {number(self.objective)}, bound {number(self.bound)}, {proved}"
        line += f", {self.seconds:.2f} s"
        return line + (f", {plural(self.nodes, 'node')}, {plural(self.rounds, 'round')}" if self.rounds else "")


def run_engine(
    problem: Problem[Any],
    limit: float = math.inf,
    *,
    name: str,
    way: str = "column generation",
    clock: Callable[[], float] = time.process_time,
    **options: Any,
) -> tuple[Run, Result]:
    """Solve a problem by column generation within a limit in seconds; return the run and the engine's result."""
    if math.isfinite(limit):
        options["stop"] = TimeLimit(limit)
    result, seconds = measure(lambda: solve(problem, **options), clock=clock)
    return run_of(result, seconds, limit, name=name, way=way), result


def run_built(build: Callable[[], Problem[Any]], limit: float, **how: Any) -> tuple[Run, Result]:
    """Build a problem and solve it as :func:`run_engine` does; the seconds contain those of building, ``setup``."""
    problem, setup = measure(build)
    run, result = run_engine(problem, limit, **how)
    return replace(run, seconds=run.seconds + setup, details={"setup": setup}), result


def run_of(result: Result, seconds: float, limit: float = 0.0, *, name: str, way: str = "column generation") -> Run:
    """Convert a result of the engine into a run."""
    return Run(
        way,
        name,
        seconds,
        result.objective,
        result.dual_bound,
        result.is_optimal,
        len(result.iterations),
        len(result.nodes),
        limit,
        proved_by_engine(result),
        answer=result.answer,
    )


def run_program(way: str, name: str, limit: float, function: Callable[..., Any], *arguments: Any, **named: Any) -> Run:
    """Solve an instance by a function that returns a MIPSolution, in a process terminated after ``limit`` seconds.

    The function also builds its model in that process.  A process that crashes, for example out of memory, counts as
    having reached its limit.
    """
    try:
        solution, seconds = bounded(limit, function, *arguments, **named)
    except RuntimeError:
        solution, seconds = None, limit
    if solution is None:
        return Run(way, name, limit, math.nan, math.nan, False, limit=limit)
    proved = solution.status is LPStatus.OPTIMAL
    seconds = seconds if proved else limit
    return Run(way, name, seconds, solution.objective, solution.bound, proved, 0, solution.nodes, limit)


def check_agreement(
    name: str,
    claims: Mapping[str, tuple[float, float]],
    sense: Sense = Sense.MINIMIZE,
    *,
    known: float | None = None,
    slack: float | None = None,
) -> None:
    """Check that no solution of an instance is better than the bound of any way.

    Two ways with different proved optima contradict each other as well, because an optimum equals its bound.

    Parameters
    ----------
    claims
        Objective and bound by way; infinite or NaN if there is none.
    known
        The known optimum, which is added to the claims.
    slack
        Amount by which a solution may be better than a bound; the optimality tolerance by default.

    Raises
    ------
    AssertionError
        If two claims contradict each other.
    """
    if known is not None:
        claims = {**claims, "the known optimum": (known, known)}
    for way, (objective, _) in claims.items():
        for other, (_, bound) in claims.items():
            room = TOLERANCES.optimality * size(1.0, objective, bound) if slack is None else slack
            if objective != sense.ideal and sense.is_better(objective, bound, room):
                raise AssertionError(
                    f"{name}: {way} has a solution of {objective:.9g}, better than the bound {bound:.9g} of {other}"
                )


def mean_ratio(
    name: str, slower: Sequence[float], faster: Sequence[float], note: str = "", *, unit: str = "ratio"
) -> Figure:
    """Return the geometric mean over instances of ratios of seconds (or of other effort) as a figure."""
    ratios = [max(a, _SHORTEST) / max(b, _SHORTEST) for a, b in zip(slower, faster, strict=True)]
    value = geometric_mean(ratios) if min(ratios) > 0.0 else 0.0  # a way may have no finished run
    return Figure(name, value, unit, len(ratios), "; ".join(filter(None, [note, "geometric mean"])))


def ask_program(python: str, script: str, data: object, limit: float | None = None) -> Any:
    """Run a script with another Python interpreter and return its output, decoded from JSON.

    The script reads ``data`` from standard input as one line of JSON; ``limit`` is in seconds.

    Raises
    ------
    OSError, subprocess.SubprocessError, ValueError
        If the interpreter does not exist, the script fails or exceeds its limit, or its last line is not JSON.
    """
    done = subprocess.run(
        [python, "-c", script],
        input=json.dumps(data) + "\n",
        capture_output=True,
        text=True,
        timeout=limit,
        check=True,
    )
    return json.loads("".join(done.stdout.splitlines()[-1:]))
