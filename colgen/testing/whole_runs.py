"""Checks of whole runs: what they prove must agree, however the tree is searched and whatever was guessed before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from colgen.core.errors import ColgenError
from colgen.core.result import Result
from colgen.core.sense import Sense
from colgen.core.stop import TimeLimit
from colgen.core.tolerances import TOLERANCES
from colgen.problem import Problem
from colgen.solving import solve
from colgen.testing.findings import Findings
from colgen.tree.queues import BestBound, DepthFirst, Plunging

QUEUES = (Plunging, BestBound, DepthFirst)


def bounds_its_nodes(problem: Problem) -> bool:
    """Whether a problem brings a bounding of its own in place of column generation."""
    return "bounding" in vars(problem) or type(problem).bounding is not Problem.bounding


def check_own_bounding(problem: Problem, findings: Findings, left: Callable[[float], float]) -> None:
    """Solve a problem that bounds its nodes itself with each queue: no run's bound may be beaten by another's answer.

    Parameters
    ----------
    left
        Seconds until a share of the time is used up.
    """
    name = type(problem).__name__
    results: list[tuple[str, Result]] = []
    for k, queue in enumerate(QUEUES, 1):
        what = f"solve(queue={queue.__name__})"
        try:
            results.append((what, solve(problem, queue=queue, stop=TimeLimit(left(k / len(QUEUES))))))
        except Exception as error:
            kind = "diagnostic" if isinstance(error, ColgenError) else "exception"
            findings.add(kind, f"{name}, {what}", f"raised {type(error).__name__}: {error}")
    for what, bounding in results:
        for other, answered in results:
            if _beats(bounding.sense, answered.objective, bounding.dual_bound):
                findings.add(
                    "bound",
                    f"{name}, {what}",
                    f"proved the dual bound {bounding.dual_bound:.10g}, and {other} found an answer of "
                    f"{answered.objective:.10g}: a node's bound is wrong, or its children lose answers",
                )


def check_guess(
    problem: Problem, findings: Findings, seconds: float, runs: Sequence[tuple[str, Result | None]]
) -> None:
    """Solve a problem from its own dual values, and hold the run against runs that did without them."""
    where = f"{type(problem).__name__}, solve() from the dual values of its warm start"
    try:
        warm = solve(problem, stop=TimeLimit(seconds))
    except Exception as error:
        kind = "diagnostic" if isinstance(error, ColgenError) else "exception"
        findings.add(kind, where, f"raised {type(error).__name__}: {error}")
        return
    for what, run in runs:
        if run is None:
            continue
        if _beats(warm.sense, run.objective, warm.dual_bound) and run.answer is not None:
            findings.add(
                "warm start",
                where,
                f"proved the bound {warm.dual_bound:.10g}, and {what} found an answer of {run.objective:.10g}: what an "
                "oracle states at the guessed dual values is not valid",
            )
        if _beats(warm.sense, warm.objective, run.dual_bound):
            findings.add(
                "warm start",
                where,
                f"found an answer of {warm.objective:.10g}, and {what} proves that none is better than "
                f"{run.dual_bound:.10g}: it breaks a row or has another objective, or an oracle is not exact",
            )


def _beats(sense: Sense, objective: float, bound: float) -> bool:
    return sense.is_better(objective, bound, TOLERANCES.diagnostic * max(1.0, abs(objective)))
