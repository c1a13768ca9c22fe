"""The engine as a subject: runs it on a random case, and compares what it says with the truth."""

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
from tests.fuzz.engine.pools import Case, Program, Way, scaled
from tests.fuzz.engine.problem import PoolProblem
from tests.fuzz.engine.shrinking import is_correct, smaller
from tests.fuzz.engine.truth import Truth, arrays, solve_complete
from tests.fuzz.judging import TOLERANCE, Failure, Fault, attempt, compare_runs

LAWS = 0.1
"""Share of cases that are also run in other units."""


class EngineSubject:
    """Random programs over pools of columns, and random ways to solve them."""

    key = "case"
    """Under which a replay file holds the instance."""

    def draw(self, rng: np.random.Generator) -> Case:
        """A case that knows its truth."""
        case, truth = draw_case(rng)
        return dataclasses.replace(case, truth=truth)

    def judge(self, case: Case) -> tuple[Failure | None, int]:
        """What is wrong with a run on a case, if its truth can be found out; and how many runs that were."""
        truth = case.truth
        if truth is None:
            truth = solve_complete(case.program) if is_correct(case) else None
        return (None, 0) if truth is None else (judge(case, truth), 1)

    def draw_law(self, rng: np.random.Generator, case: Case) -> list[Any] | None:
        """Factors of costs and of rows, for some of the cases."""
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

    def smaller(self, case: Case) -> Iterator[Case]:
        """Smaller cases, whose truths nobody knows yet."""
        return smaller(dataclasses.replace(case, truth=None))

    def load(self, data: Mapping[str, Any]) -> Case:
        """A case from a replay file."""
        return Case.from_dict(data)


def judge(case: Case, truth: Truth) -> Failure | None:
    """Run a case; what is wrong with the outcome, None if nothing is."""
    result = run(case)
    return result if isinstance(result, Failure) else _find_fault(case, truth, result)


def run(case: Case) -> Result | Failure:
    """Run a case; an exception is a false alarm, for all cases are correct."""
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
    said = result.termination

    def wrong(words: str) -> Failure:
        return Failure(Fault.WRONG_PROOF, words)

    if not way.relaxation and _is_refuted(program, truth, result):
        return None  # by an answer: a mixed-integer solver has overlooked it
    if said is Termination.INFEASIBLE and status != "infeasible":
        return wrong(f"infeasible is said, but the program is {status} ({best:.12g})")
    if said is Termination.UNBOUNDED and truth.relaxation != "unbounded":
        return wrong(f"unbounded is said, but the relaxation is {truth.relaxation} ({truth.relaxed:.12g})")
    if said is Termination.OPTIMAL and status != "optimal":
        return wrong(f"optimal ({result.objective:.12g}) is said, but the program is {status}")
    if status == "optimal":
        slack = _slack(program, best)
        for name, bound in (("dual", result.dual_bound), ("root", result.root_bound)):
            if sense.is_better(best, bound, slack):
                return wrong(f"the {name} bound {bound:.12g} is beaten by the optimum {best:.12g}")
        if said is Termination.OPTIMAL and not abs(result.objective - best) <= slack:
            return wrong(f"optimal is said of {result.objective:.12g}, but the optimum is {best:.12g}")
    elif status == "unbounded" and math.isfinite(result.dual_bound):
        return wrong(f"the dual bound {result.dual_bound:.12g} is stated for an unbounded program")
    if result.solution is not None and not way.relaxation:
        fault = fault_of(program, result)
        if fault is not None:
            return wrong(fault)
        if status == "infeasible":
            return wrong(f"an answer of {result.objective:.12g} is given, but there is none")
    if not said.is_proof and not _may_stop(case, truth, result):
        return Failure(Fault.FALSE_ALARM, f"unproved: {said.name}, {result.objective:.12g} in {result.dual_bound:.12g}")
    return None


def _is_refuted(program: Program, truth: Truth, result: Result) -> bool:
    """Whether an answer that satisfies every row is better than what is taken for the best."""
    if truth.status != "optimal" or result.answer is None or fault_of(program, result) is not None:
        return False
    sense = Sense.MAXIMIZE if program.maximize else Sense.MINIMIZE
    best = truth.objective * program.cost_scale
    return sense.is_better(result.objective, best, _slack(program, best))


def _slack(program: Program, best: float) -> float:
    """What an objective may differ from the best by: the offset hides no more than rounding does."""
    offset = program.offset * program.cost_scale
    return TOLERANCE * max(program.size, abs(best - offset)) + 1e-12 * abs(offset)


def _may_stop(case: Case, truth: Truth, result: Result) -> bool:
    """Whether the run was told to stop, or has met what no proof can be demanded of."""
    way, said = case.way, result.termination
    asked = {
        Termination.NODE_LIMIT: True,
        Termination.DEPTH_LIMIT: way.depth_limit is not None,
        Termination.TIME_LIMIT: way.time_limit is not None,
        Termination.GAP_LIMIT: way.gap_limit is not None,
        Termination.ITERATION_LIMIT: True,
    }
    return asked.get(said, False) or truth.relaxation == "unbounded"


def fault_of(program: Program, result: Result) -> str | None:
    """What is wrong with a result's answer, from the program's whole numbers alone; None if nothing is."""
    a = arrays(program)
    x = np.array(result.answer)
    if (np.abs(x - np.round(x))[a.integer] > TOLERANCE).any():
        return f"the answer {x.tolist()} is not whole"
    if ((x < a.lower - TOLERANCE) | (x > a.upper + TOLERANCE)).any():
        return f"the answer {x.tolist()} is outside its bounds"
    # A row that a column brings is there if the column is used; else it holds anyway.
    activity = a.matrix @ x
    slack = TOLERANCE * np.maximum(1.0, np.abs(a.matrix) @ np.abs(x))
    bad = np.flatnonzero((activity < a.row_lower - slack) | (activity > a.row_upper + slack))
    if len(bad):
        i = int(bad[0])
        return f"row {i} has activity {activity[i]:g}, expected {a.row_lower[i]:g} to {a.row_upper[i]:g}"
    objective = (float(a.costs @ x) + program.offset) * program.cost_scale
    offset = abs(program.offset * program.cost_scale)
    if not abs(objective - result.objective) <= TOLERANCE * max(program.size, abs(objective)) + 1e-12 * offset:
        return f"the answer is worth {objective:.12g}, not {result.objective:.12g} as stated"
    return None


def judge_law(case: Case, cost_factor: float, row_factors: tuple[float, ...]) -> Failure | None:
    """Hold a run against one of the same program in units larger by powers of two: nothing but units may differ."""
    here = run(case)
    there = run(Case(scaled(case.program, cost_factor, row_factors), case.way))
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
