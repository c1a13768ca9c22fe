"""Small instances for ``colgen demo``: column generation beside the compact model."""

from __future__ import annotations

import time

from colgen import solve
from colgen.cli.template import DemoLine
from problems.assignment.baseline import solve_full
from problems.assignment.instance import Instance, random
from problems.assignment.template import Assignment
from solvers.linear.lp import LPStatus


def few_tasks_a_machine() -> list[DemoLine]:
    """Costs that have nothing to do with sizes."""
    return [_compare(random(4, 20, 1, kind="C"))]


def large_tasks_are_cheap() -> list[DemoLine]:
    """Where the compact model's relaxation says little."""
    return [_compare(random(4, 16, 1, kind="D"))]


def _compare(instance: Instance) -> DemoLine:
    solve(Assignment(random(2, 6, 0)))  # compiles the kernels, which is nobody's speed
    started = time.perf_counter()
    complete = solve_full(instance, time_limit=20.0)
    brute_force_seconds = time.perf_counter() - started
    started = time.perf_counter()
    result = solve(Assignment(instance))
    seconds = time.perf_counter() - started
    instance.check(result.answer)
    return DemoLine(
        instance=instance.name,
        objective=result.objective,
        brute_force_objective=None if complete.values is None else float(round(complete.objective)),
        proof=result.termination.value,
        columns_used=result.columns_generated,
        columns_possible=instance.num_machines * 2**instance.num_tasks,
        brute_force="compact model in HiGHS",
        brute_force_seconds=brute_force_seconds,
        seconds=seconds,
        dual_bound=result.dual_bound,
        brute_force_proved=complete.status is LPStatus.OPTIMAL,
    )
