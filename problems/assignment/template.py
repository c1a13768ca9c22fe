"""The generalized assignment template, to copy or subclass."""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from colgen import (
    BranchingRule,
    Column,
    ColumnGeneration,
    Directional,
    Method,
    MostFractional,
    Pricing,
    Problem,
    RankOne,
    RestrictedMIP,
    Rows,
    Separation,
    Solution,
    StrongBranching,
    WarmStart,
)
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.columns import Codec
from colgen.core.errors import InfeasibleAnswerError
from colgen.problems.assignment.bound import KnapsackAscent
from colgen.problems.assignment.branching import AssignmentFixing, OnAssignments
from colgen.problems.assignment.decisions import ASSIGN, USE
from colgen.problems.assignment.heuristics import (
    AscentLimits,
    Shifting,
    maximise_bound,
    most_frequent,
    scale_of,
    search_assignment,
    too_expensive,
)
from colgen.problems.assignment.instance import AssignmentInstance
from colgen.problems.assignment.model import master
from colgen.problems.assignment.pricing import KnapsackOracle
from colgen.problems.assignment.proof import AssignmentCertifier

_FIRST = AscentLimits(2, 100, 2.0, 25)
"""Limits of the ascent before the local search."""

_ROOT = AscentLimits(8, 100, 2.0, 25)
_BELOW = AscentLimits(4, 40, 0.5, 8)
"""Limits of the ascent at the root, and at other nodes, which start near the maximum."""

_FAR = 1000.0
"""Multiple of an incumbent's spare cost beyond which assignments are left out of the ascent."""

_MOVES = 10_000
"""Moves of the first local search."""


class Assignment(Problem[list[int]]):
    """Generalized assignment by column generation over sets of tasks, and branching on assignments.

    The answer is a list with the machine of each task, an integer from 0.

    Parameters
    ----------
    cuts
        Whether to separate rank-1 cuts over the tasks' rows.  Nodes are then bounded by column generation.
    """

    def __init__(self, instance: AssignmentInstance, *, cuts: bool = False) -> None:
        self.instance = instance
        self.cuts = cuts
        self.oracle = KnapsackOracle(instance)
        self.objective_step = instance.step
        self.scale = scale_of(instance, _MOVES)

    def master(self) -> Rows:
        return master(self.instance)

    def pricing(self) -> Pricing | Sequence[Pricing]:
        return self.oracle

    def method(self) -> Method:
        return Method(
            # Directions towards unassigned tasks beat the best bound: 25% fewer oracle calls than without
            # stabilization, and no additional ones when cuts make each call expensive.
            stabilization=Directional(after_rows=False),
            bounding=ColumnGeneration() if self.cuts else KnapsackAscent(self.oracle, _ROOT, _BELOW),
            choice=StrongBranching(),
            heuristics=(Shifting(self.oracle),),
            reductions=(AssignmentFixing(self.oracle),),
        )

    def separation(self) -> Sequence[Separation]:
        return (RankOne(ASSIGN),) if self.cuts else ()

    def branching(self) -> Sequence[BranchingRule]:
        return (OnAssignments(self.instance.costs.shape),)

    def warm_start(self, budget: Budget) -> WarmStart:
        instance = self.instance
        fits = instance.fits()
        if not fits.any(axis=0).all():
            return WarmStart()  # some task fits on no machine; phase 1 proves infeasibility
        cheapest = np.where(fits, instance.costs, math.inf).min(axis=0)
        closed, known = ~fits, []
        if instance.penalties.any():  # dual values of their size would hide other costs
            known.append(search_assignment(instance, most_frequent(instance, np.zeros(fits.shape)), _MOVES, budget))
            closed |= too_expensive(instance, known[0][0])
        target = float(np.where(closed, -math.inf, instance.costs).max(axis=0).sum())
        first = maximise_bound(instance, cheapest, closed, target, _FIRST, budget)
        known.append(search_assignment(instance, most_frequent(instance, first.mean), _MOVES, budget, allowed=~closed))
        best, cost = min(known, key=operator.itemgetter(1))
        expensive = too_expensive(instance, best) & ~closed
        beyond = closed | (expensive & (instance.costs - cheapest > _FAR * (cost - cheapest.sum())))
        # Dual values of the size of excluded costs would lose the others' decimals, too.
        start = first.duals if (beyond == closed).all() else cheapest
        found = maximise_bound(instance, start, beyond, min(cost, target), _ROOT, budget)
        answers = (self.oracle.as_solution(best),) if math.isfinite(cost) else ()
        values, _ = self.oracle.best(found.duals, closed)
        return WarmStart({ASSIGN: found.duals, USE: -values}, answers, self.oracle.columns(found.sets))

    def certifier(self) -> Certifier:
        whole = self.objective_step is not None and (self.instance.costs == np.rint(self.instance.costs)).all()
        whole = whole and (self.instance.sizes > 0).all()
        if not whole:
            return super().certifier()
        return AssignmentCertifier(self.instance)

    def codec(self) -> Codec:
        return Codec(self._read)

    def _read(self, data: Any) -> Column | None:
        machine, tasks = int(data[0]), tuple(int(task) for task in data[1])
        costs, sizes = self.instance.costs, self.instance.sizes
        known = 0 <= machine < len(costs) and all(0 <= task < costs.shape[1] for task in tasks)
        if not known or len(set(tasks)) < len(tasks) or sorted(tasks) != list(tasks):
            return None
        fits = int(sizes[machine, list(tasks)].sum()) <= int(self.instance.capacities[machine])
        return self.oracle.encode(machine, tasks) if fits else None

    def answer(self, solution: Solution) -> list[int]:
        machines = [-1] * self.instance.num_tasks
        for column, _ in solution.columns:
            machine, tasks = column.structure
            for task in tasks:
                machines[task] = machine
        return machines

    def check(self, answer: Sequence[int]) -> float:
        try:
            return self.instance.check(answer)
        except ValueError as error:
            raise InfeasibleAnswerError(str(error)) from None


class Unguessed(Assignment):
    """The template without warm start and special heuristics, to compare boundings and branching rules.

    Its heuristic is the restricted MIP, and it branches on the most fractional variable.
    """

    def warm_start(self, budget: Budget) -> WarmStart:
        return WarmStart()

    def method(self) -> Method:
        return dataclasses.replace(
            super().method(), bounding=ColumnGeneration(), heuristics=(RestrictedMIP(),), choice=MostFractional()
        )
