"""The engine as a fuzz subject: run random cases and compare the results with the truth."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from colgen import DepthLimit, Method, NodeLimit
from colgen.bounding.column_generation import ColumnGeneration
from colgen.core.result import Result, Termination
from colgen.core.sense import Sense
from colgen.core.stop import GapLimit, IterationLimit, StopRule, TimeLimit
from colgen.heuristics import Diving, Heuristic, RestrictedMIP
from colgen.solving import solve
from colgen.stabilization import Directional, NoStabilization, Stabilization, Wentges
from colgen.tree import queues
from tests.fuzz.engine.drawing import draw_case
from tests.fuzz.engine.pools import Case, Program, Way, scale_units
from tests.fuzz.engine.problem import PoolProblem
from tests.fuzz.engine.shrinking import is_correct, simplify
from tests.fuzz.engine.truth import Truth, arrays, solve_complete
from tests.fuzz.judging import TOLERANCE, Failure, Fault, attempt, compare_runs

LAWS = 0.1
"""Share of cases that are also run in other units."""


class EngineSubject:
    """Random programs over pools of columns, and random ways to solve them."""

    key = "case"
    """Name of the instance in a replay file."""

    def draw(self, rng: np.random.Generator) -> Case:
        """Draw a case with its truth."""
        case, truth = draw_case(rng)
        return dataclasses.replace(case, truth=truth)

    def judge(self, case: Case) -> tuple[Failure | None, int]:
        """Run a case whose truth can be determined; return the failure, or None, and the number of runs."""
        truth = case.truth
        if truth is None:
            truth = solve_complete(case.program) if is_correct(case) else None
        return (None, 0) if truth is None else (judge(case, truth), 1)

    def draw_law(self, rng: np.random.Generator, case: Case) -> list[Any] | None:
        """Draw factors of costs and of rows for some cases, else None."""
        if rng.random() >= LAWS or case.way.time_limit is not None:
            return None
        rows = len(case.program.rows)
        equal = rng.random() < 0.5 or any(row.lazy for row in case.program.rows)
        factors = [1.0] * rows
        if not equal and not case.program.unit_artificials:
            factors = [float(2.0**k) for k in rng.integers(-30, 31, rows)]
        return [float(2.0 ** int(rng.integers(-30, 31))), factors]

    def judge_law(self, case: Case, law: list[Any]) -> tuple[Failure | None, int]:
        """Compare runs in two units."""
        cost_factor, row_factors = law
        return judge_law(case, cost_factor, tuple(row_factors)), 2

    def simplify(self, case: Case) -> Iterator[Case]:
        """Yield smaller cases, without truths."""
        return simplify(dataclasses.replace(case, truth=None))

    def load(self, data: Mapping[str, Any]) -> Case:
        """Load a case from a replay file."""
        return Case.from_dict(data)


def judge(case: Case, truth: Truth) -> Failure | None:
    """Run a case; return the failure, or None."""
    result = run(case)
    return result if isinstance(result, Failure) else _find_fault(case, truth, result)


def run(case: Case) -> Result | Failure:
    """Run a case; an exception is a false alarm, because all cases are correct."""
    way = case.way
    heuristics: dict[str, Heuristic] = {"RestrictedMIP": RestrictedMIP(seconds=5.0), "Diving": Diving(tries=2)}
    stop: list[StopRule] = []
    if way.time_limit is not None:
        stop.append(TimeLimit(way.time_limit))
    if way.gap_limit is not None:
        stop.append(GapLimit(way.gap_limit))
    if way.iteration_limit is not None:
        stop.append(IterationLimit(way.iteration_limit))
    if way.depth_limit is not None:
        stop.append(DepthLimit(way.depth_limit))
    return attempt(
        lambda: solve(
            PoolProblem(case),
            stop=[*stop, IterationLimit(20_000), NodeLimit(way.node_limit)],
            relaxation=way.relaxation,
            method=Method(
                stabilization=_stabilization(way),
                bounding=ColumnGeneration(branch_early=way.branch_early) if way.branch_early else None,
                heuristics=[heuristics[name] for name in way.heuristics],
                queue=getattr(queues, way.queue),
                clean_up_after=way.clean_up_after,
            ),
        )
    )


def _stabilization(way: Way) -> Stabilization:
    if way.alpha is not None and way.alpha < 0.0:
        return NoStabilization()
    if way.turned:
        return Directional(way.alpha, below_root=True, real_costs=way.real_costs)
    return Wentges(way.alpha, real_costs=way.real_costs)


def _find_fault(case: Case, truth: Truth, result: Result) -> Failure | None:
    program, way = case.program, case.way
    sense = Sense.MAXIMIZE if program.maximize else Sense.MINIMIZE
    status = truth.relaxation if way.relaxation else truth.status
    best = (truth.relaxed if way.relaxation else truth.objective) * program.cost_scale
    ended = result.termination

    def wrong(words: str) -> Failure:
        return Failure(Fault.WRONG_PROOF, words)

    if not way.relaxation and _is_refuted(program, truth, result):
        return None  # the mixed-integer solver missed this answer
    if ended is Termination.INFEASIBLE and status != "infeasible":
        return wrong(f"reported infeasible, but the program is {status} ({best:.12g})")
    if ended is Termination.UNBOUNDED and truth.relaxation != "unbounded":
        return wrong(f"reported unbounded, but the relaxation is {truth.relaxation} ({truth.relaxed:.12g})")
    if ended is Termination.OPTIMAL and status != "optimal":
        return wrong(f"reported optimal ({result.objective:.12g}), but the program is {status}")
    if status == "optimal":
        slack = _slack(program, best)
        for name, bound in (("dual", result.dual_bound), ("root", result.root_bound)):
            if sense.is_better(best, bound, slack):
                return wrong(f"the {name} bound {bound:.12g} is worse than the optimum {best:.12g}")
        if ended is Termination.OPTIMAL and not abs(result.objective - best) <= slack:
            return wrong(f"reported optimal with {result.objective:.12g}, but the optimum is {best:.12g}")
    elif status == "unbounded" and math.isfinite(result.dual_bound):
        return wrong(f"the dual bound {result.dual_bound:.12g} is reported for an unbounded program")
    if result.solution is not None and not way.relaxation:
        fault = find_answer_fault(program, result)
        if fault is not None:
            return wrong(fault)
        if status == "infeasible":
            return wrong(f"an answer of {result.objective:.12g} is given, but the program is infeasible")
    if not ended.is_proof and not _may_stop(case, truth, result):
        return Failure(
            Fault.FALSE_ALARM,
            f"unproved: {ended.name}, objective {result.objective:.12g}, bound {result.dual_bound:.12g}",
        )
    return None


def _is_refuted(program: Program, truth: Truth, result: Result) -> bool:
    """Return whether a feasible answer is better than the assumed optimum."""
    if truth.status != "optimal" or result.answer is None or find_answer_fault(program, result) is not None:
        return False
    sense = Sense.MAXIMIZE if program.maximize else Sense.MINIMIZE
    best = truth.objective * program.cost_scale
    return sense.is_better(result.objective, best, _slack(program, best))


def _slack(program: Program, best: float) -> float:
    """Return the tolerance of objectives, in which the offset only counts with its rounding error."""
    offset = program.offset * program.cost_scale
    return TOLERANCE * max(program.size, abs(best - offset)) + 1e-12 * abs(offset)


def _may_stop(case: Case, truth: Truth, result: Result) -> bool:
    """Return whether the run reached a limit, or no proof can be expected."""
    way = case.way
    limits = {
        Termination.NODE_LIMIT: True,
        Termination.DEPTH_LIMIT: way.depth_limit is not None,
        Termination.TIME_LIMIT: way.time_limit is not None,
        Termination.GAP_LIMIT: way.gap_limit is not None,
        Termination.ITERATION_LIMIT: True,
    }
    return limits.get(result.termination, False) or truth.relaxation == "unbounded"


def find_answer_fault(program: Program, result: Result) -> str | None:
    """Return the fault of a result's answer, computed from the program's integers alone, or None."""
    a = arrays(program)
    x = np.array(result.answer)
    if (np.abs(x - np.round(x))[a.integer] > TOLERANCE).any():
        return f"the answer {x.tolist()} is not integer"
    if ((x < a.lower - TOLERANCE) | (x > a.upper + TOLERANCE)).any():
        return f"the answer {x.tolist()} is outside its bounds"
    # A row added by a column holds trivially if the column is not used.
    activity = a.matrix @ x
    slack = TOLERANCE * np.maximum(1.0, np.abs(a.matrix) @ np.abs(x))
    bad = np.flatnonzero((activity < a.row_lower - slack) | (activity > a.row_upper + slack))
    if len(bad):
        i = int(bad[0])
        return f"row {i} has activity {activity[i]:g}, expected {a.row_lower[i]:g} to {a.row_upper[i]:g}"
    objective = (float(a.costs @ x) + program.offset) * program.cost_scale
    offset = abs(program.offset * program.cost_scale)
    if not abs(objective - result.objective) <= TOLERANCE * max(program.size, abs(objective)) + 1e-12 * offset:
        return f"the answer has objective {objective:.12g}, not {result.objective:.12g}"
    return None


def judge_law(case: Case, cost_factor: float, row_factors: tuple[float, ...]) -> Failure | None:
    """Compare runs in units that differ by powers of two: only units may differ."""
    here = run(case)
    there = run(Case(scale_units(case.program, cost_factor, row_factors), case.way))
    if isinstance(here, Failure) or isinstance(there, Failure):
        return compare_runs(here, there)
    for name in ("termination", "answer", "columns_generated", "rows_generated"):
        if getattr(here, name) != getattr(there, name):
            return Failure(Fault.LAW, f"{name} {getattr(here, name)} becomes {getattr(there, name)}"[:400])
    for name in ("nodes", "iterations"):
        if len(getattr(here, name)) != len(getattr(there, name)):
            return Failure(Fault.LAW, f"{len(getattr(here, name))} {name} become {len(getattr(there, name))}")
    if here.objective * cost_factor != there.objective:
        return Failure(Fault.LAW, f"objective {here.objective!r} times {cost_factor} becomes {there.objective!r}")
    return None
