"""Small instances for ``colgen demo``: column generation beside a complete model."""

from __future__ import annotations

import time

from colgen import solve
from colgen.cli.template import DemoLine
from problems.colouring.baseline import solve_full
from problems.colouring.instance import Instance, mycielski, queens
from problems.colouring.template import Colouring
from solvers.graphs.stable_listing import maximal
from solvers.linear.lp import LPStatus


def chessboard() -> list[DemoLine]:
    """The squares of a small board."""
    return [_compare(queens(5))]


def without_triangles() -> list[DemoLine]:
    """A graph without triangles that needs four colours."""
    return [_compare(mycielski(4))]


def _compare(instance: Instance) -> DemoLine:
    solve(Colouring(queens(4)))  # compiles the kernels, which is nobody's speed
    started = time.perf_counter()
    complete = solve_full(instance, time_limit=20.0)
    brute_force_seconds = time.perf_counter() - started
    started = time.perf_counter()
    result = solve(Colouring(instance))
    seconds = time.perf_counter() - started
    instance.check(result.answer)
    sets = maximal(instance.adjacency, [0] * instance.num_vertices, limit=10**6)
    return DemoLine(
        instance=instance.name,
        objective=result.objective,
        brute_force_objective=None if complete.values is None else float(round(complete.objective)),
        proof=result.termination.value,
        columns_used=result.columns_generated,
        columns_possible=0 if sets is None else len(sets),
        brute_force="representatives in HiGHS",
        brute_force_seconds=brute_force_seconds,
        seconds=seconds,
        dual_bound=result.dual_bound,
        brute_force_proved=complete.status is LPStatus.OPTIMAL,
    )
