"""Compared methods for the best clustering, each timed from scores to clusters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from benchmarks.harness import Run, check_agreement, repeat_if_brief, run_of, run_program
from colgen import Problem, Sense, TimeLimit, solve
from colgen.problems.coreference.baseline import all_link_in_highs
from colgen.problems.coreference.document import Cluster
from colgen.problems.coreference.instance import CoreferenceInstance, random, random_signs
from colgen.problems.coreference.items import Items
from colgen.problems.coreference.lazy import LazyAllLink
from colgen.problems.coreference.template import Coreference
from colgen.solvers.compiling import working_clock

GENERATED = "column generation"
UNCONTRACTED = "column generation without contraction"
LAZY = "lazy rows"
LAZY_CONTRACTED = "lazy rows after contraction"
ALL_LINK = "all-link in HiGHS"
NEEDED_ROWS = "all-link in HiGHS, needed rows alone"
WAYS = (GENERATED, UNCONTRACTED, LAZY, LAZY_CONTRACTED, ALL_LINK, NEEDED_ROWS)

_BRIEF = 1.0
"""Runs below this many seconds are repeated; the median counts."""


def warm_up(instances: Sequence[CoreferenceInstance] = ()) -> None:
    """Compile kernels and import libraries before any measurement; solve small ``instances`` by each method."""
    for way in (GENERATED, UNCONTRACTED, LAZY, LAZY_CONTRACTED):
        for instance in (random(16, 0), random(24, 1, positive=0.5), *instances):
            run(way, instance, 60.0)
    Items.of(random_signs(36, 0))  # compiles all reductions


def run(way: str, instance: CoreferenceInstance, limit: float) -> Run:
    """Solve an instance by one of ``WAYS`` within ``limit`` seconds."""
    if way in (ALL_LINK, NEEDED_ROWS):
        rows = {"needed_rows_alone": way == NEEDED_ROWS}
        result = run_program(way, instance.name, limit, all_link_in_highs, instance, **rows)
        return replace(result, size=instance.num_mentions)
    return repeat_if_brief(partial(_solve_by_engine, way, instance, limit), _BRIEF)


def _solve_by_engine(way: str, instance: CoreferenceInstance, limit: float) -> Run:
    started = working_clock()
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
    left = max(limit - (working_clock() - started), 0.0)
    result = solve(problem, stop=TimeLimit(left))
    answer: Sequence[Cluster] = result.answer
    if way == LAZY_CONTRACTED:
        answer = [tuple(sorted(i for k in cluster for i in items.groups[k])) for cluster in answer]
    seconds = working_clock() - started
    objective = instance.check(answer)
    if not math.isclose(objective, result.objective + constant, rel_tol=1e-6, abs_tol=1e-6):
        raise AssertionError(
            f"{instance.name}: the clusters of {way} score {objective}, its objective is {result.objective + constant}"
        )
    solved = run_of(result, seconds, limit, name=instance.name, way=way)
    return replace(
        solved,
        seconds=solved.counted,
        objective=objective,
        bound=result.dual_bound + constant,
        answer=answer,
        size=instance.num_mentions,
    )


def check_runs(runs: Iterable[Run]) -> None:
    """Raise AssertionError if two optima differ, or a clustering is better than another method's bound."""
    by_instance: dict[tuple[str, int], list[Run]] = {}
    for one in runs:
        by_instance.setdefault((one.name, one.size), []).append(one)
    for (name, size), of_instance in by_instance.items():
        claims = {one.way: one.claim for one in of_instance}
        check_agreement(f"{name}, {size} mentions", claims, Sense.MAXIMIZE)
