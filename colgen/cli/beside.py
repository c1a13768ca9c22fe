"""A line of ``colgen demo``: a problem solved by column generation beside its complete model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from colgen.cli.template import DemoLine
from colgen.problem import Problem
from colgen.solving import solve
from solvers.compiling import working_clock
from solvers.linear.lp import LPStatus
from solvers.linear.mip import MIPSolution


def beside(
    problem: Problem,
    check: Callable[[Any], object],
    complete: Callable[[], MIPSolution],
    brute_force: str,
    *,
    name: str,
    possible: int,
    decimals: int | None = None,
    small: Problem,
) -> DemoLine:
    """Solve the complete model, then the problem, and say what came of both.

    Parameters
    ----------
    check
        Recomputes the answer from the instance alone; raises if it is none.
    complete, brute_force
        Solves the complete model, and what that is called.
    name, possible
        Of the instance, and how many columns it has.
    decimals
        Of every objective, as that of the complete model carries the noise of floating point; None: all.
    small
        A problem of the kind, which is solved first: it compiles most kernels.  What compiling takes is nobody's speed,
        and is not counted where it comes later either.
    """
    solve(small)
    started = working_clock()
    whole = complete()
    whole_seconds = working_clock() - started
    started = working_clock()
    result = solve(problem)
    seconds = working_clock() - started
    check(result.answer)
    objective = None if whole.values is None else float(whole.objective)
    return DemoLine(
        instance=name,
        objective=result.objective,
        brute_force_objective=objective if objective is None or decimals is None else round(objective, decimals),
        proof=result.termination.value,
        columns_used=result.columns_generated,
        columns_possible=possible,
        brute_force=brute_force,
        brute_force_seconds=whole_seconds,
        seconds=seconds,
        dual_bound=result.dual_bound,
        brute_force_proved=whole.status is LPStatus.OPTIMAL,
    )
