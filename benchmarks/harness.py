"""The harness of all benchmarks: options, runs and their seconds, checks that results agree, and other programs."""

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
    """Drop a line of text."""


_SHORTEST = 1e-4
"""Seconds: a ratio of shorter times says more about the clock than about the programs."""


@dataclass(frozen=True)
class BenchOptions:
    """What ``colgen bench`` was asked for.

    Attributes
    ----------
    data
        Folder of the corpora, if one was given.
    quick
        Only the smallest instances, to see that the benchmark runs.
    say
        Called with a line of text as the benchmark goes on.
    plot
        The file to draw the benchmark's picture to, if one was asked for and the benchmark draws any.
    minutes
        About how long to measure; None: as long as it takes.  See :meth:`share`.
    seed
        Of a benchmark that draws its instances at random.
    """

    data: Path | None = None
    quick: bool = False
    say: Say = print
    plot: Path | None = None
    minutes: float | None = None
    seed: int = 0

    def share(self, usual: float) -> float:
        """How much of a benchmark to measure that takes so many minutes whole, and say so where it is cut short.

        A cut benchmark takes fewer instances, evenly spread over all (:func:`spread`); the ``n`` of each figure says of
        how many it speaks.  Training is not cut.
        """
        if self.minutes is None or self.minutes >= usual:
            return 1.0
        share = max(self.minutes / usual, 0.01)
        self.say(f"cut short to {share:.0%} of the instances (whole, it takes about {usual:g} minutes)")
        return share

    def folder(self, needed: str) -> Path:
        """Return the folder of the data; raise InputError with the text ``needed`` if none was given."""
        if self.data is None:
            raise InputError(needed)
        return self.data


@dataclass(frozen=True)
class Plan:
    """How much a benchmark measures: each benchmark that has a plan lists its own numbers."""

    def cut(self: P, share: float, *names: str) -> P:
        """Return the plan with a share of these numbers, rounded up."""
        return replace(self, **{name: math.ceil(share * getattr(self, name)) for name in names})


P = TypeVar("P", bound=Plan)


def spread(items: Sequence[T], share: float = 1.0, *, most: int | None = None) -> list[T]:
    """Take a share of some items, or of ``most`` of them, evenly spread over their order; at least one."""
    available = len(items) if most is None else min(len(items), most)
    count = min(available, max(1, round(share * available)))
    return [items[k * len(items) // count] for k in range(count)]


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a file of comma-separated values with names in its first line, such as one of known optima."""
    check_readable(path)
    return list(csv.DictReader(read_text(path).splitlines()))


# --- seconds ---------------------------------------------------------------------------------------------------------


def measure(
    function: Callable[[], T], repeats: int = 1, *, clock: Callable[[], float] = time.process_time
) -> tuple[T, float]:
    """Call a function and return its result and its seconds, of several calls those of the shortest."""
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
    """Measure each way ``repeats`` times; the ways take turns, so that other work on the machine slows all of them.

    Parameters
    ----------
    turn
        A way is called again and again for so many seconds when it is its turn; the mean of these calls counts.

    Returns
    -------
    results, seconds
        By way: what the last call returned, and the seconds of each turn.
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
    """Anything that has seconds."""

    @property
    def seconds(self) -> float: ...


R = TypeVar("R", bound=_Timed)


def repeat_if_brief(way: Callable[[], R], brief: float, repeats: int = 3) -> R:
    """Return what a way finds; if it takes fewer than ``brief`` seconds, with the median seconds of several calls."""
    first = way()
    if first.seconds >= brief:
        return first
    found: R = replace(first, seconds=median([first.seconds, *(way().seconds for _ in range(repeats - 1))]))  # type: ignore[type-var]
    return found


# --- runs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """One instance solved in one way.

    Attributes
    ----------
    way, name
        How it was solved, and the name of the instance.
    seconds
        From the instance to the answer; of a program that was ended in its process, the limit.
    objective, bound
        Of the answer, and what is proved of all answers; infinite where nothing is known.
    limit
        Seconds that the run was given.
    size
        Of the instance, where sizes are compared.
    by_engine
        Whether oracle calls in rounds of the engine have computed the bounds that end the search.
    details
        What only one benchmark looks at.
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
        """The seconds that count: at least the limit, if the run has proved nothing by then."""
        return self.seconds if self.proved else max(self.seconds, self.limit)

    @property
    def claim(self) -> tuple[float, float]:
        """What :func:`check_agreement` compares."""
        return self.objective, self.bound

    def __str__(self) -> str:
        proved = "proved" if self.proved else "not proved"
        said = f"{self.name}: {self.way} {number(self.objective)}, bound {number(self.bound)}, {proved}"
        said += f", {self.seconds:.2f} s"
        return said + (f", {plural(self.nodes, 'node')}, {plural(self.rounds, 'round')}" if self.rounds else "")


def run_engine(
    problem: Problem[Any],
    limit: float = math.inf,
    *,
    name: str,
    way: str = "column generation",
    clock: Callable[[], float] = time.process_time,
    **options: Any,
) -> tuple[Run, Result]:
    """Solve a problem by column generation within so many seconds; return the run, and the result for more details."""
    if math.isfinite(limit):
        options["stop"] = TimeLimit(limit)
    result, seconds = measure(lambda: solve(problem, **options), clock=clock)
    return run_of(result, seconds, limit, name=name, way=way), result


def run_of(result: Result, seconds: float, limit: float = 0.0, *, name: str, way: str = "column generation") -> Run:
    """Return the run that a result of the engine describes."""
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
    """Solve an instance by a function that returns a MIPSolution, in a process that is ended after so many seconds.

    The function builds its model in that process as well.  A process that dies, for want of memory for one, counts as
    one that has used its limit.
    """
    try:
        found, seconds = bounded(limit, function, *arguments, **named)
    except RuntimeError:
        found, seconds = None, limit
    if found is None:
        return Run(way, name, limit, math.nan, math.nan, False, limit=limit)
    proved = found.status is LPStatus.OPTIMAL
    return Run(way, name, seconds if proved else limit, found.objective, found.bound, proved, 0, found.nodes, limit)


def check_agreement(
    name: str,
    claims: Mapping[str, tuple[float, float]],
    sense: Sense = Sense.MINIMIZE,
    *,
    known: float | None = None,
    slack: float | None = None,
) -> None:
    """Check that no answer of an instance is better than what any way proves of all answers.

    Of two ways that are both right about an optimum, objectives and bounds are the same, so that different optima
    contradict each other as well.

    Parameters
    ----------
    claims
        Objective and bound by way: infinite or not a number where there is none.
    known
        The optimum, where it is known: one more claim.
    slack
        By how much an answer may be better than a bound; None: by rounding.

    Raises
    ------
    AssertionError
        If two claims contradict each other.
    """
    if known is not None:
        claims = {**claims, "what is known": (known, known)}
    for way, (objective, _) in claims.items():
        for other, (_, bound) in claims.items():
            room = TOLERANCES.optimality * size(1.0, objective, bound) if slack is None else slack
            if objective != sense.ideal and sense.is_better(objective, bound, room):
                raise AssertionError(
                    f"{name}: {way} has an answer of {objective:.9g}, {other} proves that none is better than "
                    f"{bound:.9g}"
                )


def mean_ratio(
    name: str, slower: Sequence[float], faster: Sequence[float], note: str = "", *, unit: str = "ratio"
) -> Figure:
    """Return the geometric mean of quotients of seconds (or of other effort), instance by instance, as a figure."""
    ratios = [max(a, _SHORTEST) / max(b, _SHORTEST) for a, b in zip(slower, faster, strict=True)]
    value = geometric_mean(ratios) if min(ratios) > 0.0 else 0.0  # one way may never have ended
    return Figure(name, value, unit, len(ratios), "; ".join(filter(None, [note, "geometric mean"])))


def ask_program(python: str, script: str, data: object, limit: float | None = None) -> Any:
    """Run a script by another interpreter, whose environment has other packages, and return what it prints as JSON.

    Parameters
    ----------
    python
        The interpreter.
    data
        Plain data, which the script reads from its standard input as one line of JSON.
    limit
        Seconds after which the script is ended.

    Raises
    ------
    OSError, subprocess.SubprocessError, ValueError
        If there is no such interpreter, if the script ends with an error or is ended, and if it prints no JSON.
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
