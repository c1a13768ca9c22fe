"""The ways to find the best clustering that are compared, each timed from the scores to the answer."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from colgen import Problem, Result, solve
from colgen.core.stop import TimeLimit
from colgen.parallel.time_limits import bounded
from colgen.problems.coreference.baseline import all_link_in_highs
from colgen.problems.coreference.clusters import Cluster
from colgen.problems.coreference.instance import CoreferenceInstance, random, random_signs
from colgen.problems.coreference.items import Items
from colgen.problems.coreference.lazy import LazyAllLink
from colgen.problems.coreference.template import Coreference
from colgen.reporting.compared import proved_by_engine
from colgen.solvers.linear.lp import LPStatus

GENERATED = "column generation"
UNCONTRACTED = "column generation without contraction"
LAZY = "lazy rows"
LAZY_CONTRACTED = "lazy rows after contraction"
ALL_LINK = "all-link in HiGHS"
NEEDED_ROWS = "all-link in HiGHS, needed rows alone"
WAYS = (GENERATED, UNCONTRACTED, LAZY, LAZY_CONTRACTED, ALL_LINK, NEEDED_ROWS)

_BRIEF = 1.0
"""Runs of fewer seconds than this are repeated, and the median counts."""

_REPEATS = 3


@dataclass(frozen=True)
class Run:
    """One instance solved in one way.

    Attributes
    ----------
    size
        Mentions.
    seconds
        From the scores to the answer, everything included; the limit where that was hit.
    objective, bound
        Score of the answer, and what is proved of all answers; where nothing is known minus and plus infinity.
    answer
        The clusters, empty where there are none.
    priced
        Whether rounds of the engine, in which an oracle priced, state the bounds that end the search.
    """

    way: str
    name: str
    size: int
    seconds: float
    objective: float
    bound: float
    proved: bool
    rounds: int = 0
    nodes: int = 0
    answer: Sequence[Cluster] = field(default=(), repr=False)
    priced: bool = False


def warm_up(instances: Sequence[CoreferenceInstance] = ()) -> None:
    """Compile the kernels and import the libraries, which is nobody's speed.

    Parameters
    ----------
    instances
        To be solved in each way as well, small ones of the kind that is measured.
    """
    for way in (GENERATED, UNCONTRACTED, LAZY, LAZY_CONTRACTED):
        for instance in (random(16, 0), random(24, 1, positive=0.5), *instances):
            run(way, instance, 60.0)
    Items.of(random_signs(36, 0))  # nothing is settled before all reductions have been tried


def run(way: str, instance: CoreferenceInstance, limit: float) -> Run:
    """Solve an instance in one of ``WAYS``, in ``limit`` seconds at most."""
    if way in (ALL_LINK, NEEDED_ROWS):
        return _in_highs(way, instance, limit)
    first = _by_engine(way, instance, limit)
    if first.seconds >= _BRIEF:
        return first
    again = [_by_engine(way, instance, limit).seconds for _ in range(_REPEATS - 1)]
    return Run(**{**vars(first), "seconds": median([first.seconds, *again])})


def _by_engine(way: str, instance: CoreferenceInstance, limit: float) -> Run:
    started = time.perf_counter()
    constant = 0.0
    problem: Problem
    if way == LAZY_CONTRACTED:
        items = Items.of(instance, settled=False)
        constant = items.offset + float(items.within.sum())
        problem = LazyAllLink(CoreferenceInstance(items.scores))
    elif way == LAZY:
        problem = LazyAllLink(instance)
    else:
        problem = Coreference(instance, contracted=way == GENERATED)
    left = max(limit - (time.perf_counter() - started), 0.0)
    result: Result = solve(problem, stop=TimeLimit(left))
    answer: Sequence[Cluster] = result.answer
    if way == LAZY_CONTRACTED:
        answer = [tuple(sorted(i for k in cluster for i in items.groups[k])) for cluster in answer]
    seconds = time.perf_counter() - started
    objective = instance.check(answer)
    if not math.isclose(objective, result.objective + constant, rel_tol=1e-6, abs_tol=1e-6):
        raise AssertionError(
            f"{instance.name}: the clusters score {objective}, {way} says {result.objective + constant}"
        )
    return Run(
        way,
        instance.name,
        instance.num_mentions,
        seconds if result.is_optimal else max(seconds, limit),
        objective,
        result.dual_bound + constant,
        result.is_optimal,
        len(result.iterations),
        len(result.nodes),
        answer,
        proved_by_engine(result),
    )


def _in_highs(way: str, instance: CoreferenceInstance, limit: float) -> Run:
    """HiGHS, in a process of its own that is ended when its time is up: building the program counts."""
    solution, seconds = bounded(limit, all_link_in_highs, instance, needed_rows_alone=way == NEEDED_ROWS)
    name, size = instance.name, instance.num_mentions
    if solution is None or solution.status is not LPStatus.OPTIMAL:
        return Run(way, name, size, limit, -math.inf, math.inf, False)
    return Run(way, name, size, seconds, solution.objective, solution.objective, True)


def agree(runs: Iterable[Run]) -> None:
    """Check that what is proved of an instance in one way holds in the others.

    Raises
    ------
    AssertionError
        If two optima differ, or an answer is better than another way's bound.
    """
    by_instance: dict[tuple[str, int], list[Run]] = {}
    for one in runs:
        by_instance.setdefault((one.name, one.size), []).append(one)
    for (name, size), of_instance in by_instance.items():
        best = max(of_instance, key=lambda one: one.objective)
        for one in of_instance:
            if one.bound < best.objective - 1e-6 * max(1.0, abs(best.objective)):
                raise AssertionError(
                    f"{name}, {size} mentions: {one.way} proves that no clustering scores more than {one.bound:.9g}, "
                    f"{best.way} finds one of {best.objective:.9g}"
                )
