"""Checks of complete runs of the engine on a problem whose parts are observed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from colgen.bounding.column_generation import ColumnGeneration
from colgen.claims import RowClaims
from colgen.core.budget import Budget
from colgen.core.duals import OwnDuals
from colgen.core.errors import ColgenError
from colgen.core.result import Result, Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.stop import TimeLimit
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import WarmStart
from colgen.master.linear_master import as_linear
from colgen.master.protocol import RestrictedMaster
from colgen.master.statement import restricted_master
from colgen.method import Method
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult, call_oracle
from colgen.problem import Problem, method_of
from colgen.solving import solve
from colgen.stabilization import Stabilization
from colgen.testing.evidence import Evidence
from colgen.testing.findings import Findings
from colgen.testing.observers import Session, WatchedPricing, WatchedSeparation
from colgen.tree.queues import BestBound, DepthFirst, Plunging


class WatchedRuns:
    """Runs of the engine that record everything between it and the problem."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._master: RestrictedMaster | None = None
        self._label = "round {}"
        self._round = 0

    @property
    def foreign(self) -> str | None:
        """The class of the last run's master if it is not a linear program; such a master cannot be inspected."""
        return None if self._master is None or as_linear(self._master) is not None else type(self._master).__name__

    def solve(
        self, what: str, label: str, stabilization: Stabilization | None, *, relaxation: bool, share: float
    ) -> Result | None:
        """Run the engine until a ``share`` of the check's time is used.

        ``what`` names the call in findings; ``label`` describes the dual values of a round, with ``{}`` for its number.
        """
        evidence = self._evidence
        self._label, self._round = label, 0
        problem = self._stand_in()
        try:
            result = solve(
                problem,
                relaxation=relaxation,
                method=Method(stabilization=stabilization),
                stop=TimeLimit(evidence.left(share)),
            )
        except Exception as error:
            evidence.findings.add(
                "diagnostic" if isinstance(error, ColgenError) else "exception",
                f"{evidence.name}, {what}",
                f"raised {type(error).__name__}: {error}",
            )
            return getattr(error, "result", None)
        if result.termination is Termination.INFEASIBLE and evidence.oracles and not result.columns_generated:
            evidence.notes.append(
                f"{what} proved infeasibility because no column improves at any dual values: an oracle with the wrong "
                "sign of the dual values has this effect"
            )
        if result.termination is Termination.NO_BOUND:
            silent = not any(c.bound is not None for s in evidence.sessions for claims in s.claims for c in claims)
            why = "no oracle stated a bound" if silent else "the stated bounds do not equal the objective"
            evidence.notes.append(f"{what} proved nothing: {why}")
        return result

    def _stand_in(self) -> Problem:
        """Return the problem with watched parts; its own methods still use its own oracles."""
        evidence = self._evidence
        parts: dict[str, Any] = {
            "master": self._restricted_master,
            "pricing": lambda: [WatchedPricing(oracle, k, self._price) for k, oracle in enumerate(evidence.oracles)],
            "separation": lambda: [WatchedSeparation(s, evidence.rows) for s in evidence.problem.separation()],
            "answer": self._answer,
            "warm_start": self._warm_start,
        }
        problem: Problem = type(evidence.name, (Problem,), {})()
        for name in dir(Problem):
            if not name.startswith("_") and name != "identity":  # identity is only for files and may raise
                setattr(problem, name, parts.get(name) or getattr(evidence.problem, name))
        return problem

    def _warm_start(self, budget: Budget) -> WarmStart:
        """Return the warm start without dual values, which could leave nothing for the engine to do."""
        problem = self._evidence.problem
        start = problem.warm_start(budget)
        claims = RowClaims(problem, restricted_master(problem.master()))
        return dataclasses.replace(start, duals=None, tentative=start.tentative or not claims.hold("warm_start"))

    def _restricted_master(self) -> RestrictedMaster:
        self._master = restricted_master(self._evidence.problem.master())
        linear = as_linear(self._master)
        if linear is not None:
            self._evidence.sessions.append(Session(linear, [[] for _ in self._evidence.oracles]))
        return self._master

    def _answer(self, solution: Solution) -> Any:
        self._evidence.answers.append(solution)
        with self._evidence.findings.guard("answer", f"{self._evidence.name}.answer()"):
            return self._evidence.problem.answer(solution)
        return None

    def _price(self, number: int, oracle: Pricing, duals: OwnDuals, context: PricingContext) -> PricingResult:
        """Price for the engine and record the result."""
        evidence = self._evidence
        result = call_oracle(oracle, duals, context)
        self._round += 1
        label = self._label.format(self._round)
        linear = as_linear(self._master)
        if linear is not None:
            evidence.seen.keep(evidence.sessions[-1], number, oracle, duals, context, result, label)
        else:
            evidence.seen.calls += 1
        if evidence.rng.random() < 0.2:
            evidence.seen.again(linear, oracle, duals, context, result, label)
        return result


QUEUES = (Plunging, BestBound, DepthFirst)


def bounds_its_nodes(problem: Problem) -> bool:
    """Whether a problem uses a bounding other than column generation."""
    return type(method_of(problem).bounding) is not ColumnGeneration


def check_own_bounding(problem: Problem, findings: Findings, left: Callable[[float], float]) -> None:
    """Solve a problem that bounds its nodes itself with each queue; no bound may be worse than another run's answer.

    ``left`` returns the seconds until a share of the time is used up.
    """
    name = type(problem).__name__
    results: list[tuple[str, Result]] = []
    for k, queue in enumerate(QUEUES, 1):
        what = f"solve(method=Method(queue={queue.__name__}))"
        try:
            results.append((what, solve(problem, method=Method(queue=queue), stop=TimeLimit(left(k / len(QUEUES))))))
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
    """Solve a problem from its own dual values, and compare the run with runs without them."""
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
                f"{run.dual_bound:.10g}: it violates a row or has another objective, or an oracle is not exact",
            )


def _beats(sense: Sense, objective: float, bound: float) -> bool:
    return sense.is_better(objective, bound, TOLERANCES.diagnostic * max(1.0, abs(objective)))
