"""Assignments without a proof: dual values by an ascent and local search to start from, local search in the tree."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen import Heuristic, HeuristicContext, Solution
from colgen.core.budget import Budget
from colgen.core.tolerances import TOLERANCES
from colgen.problems.assignment.instance import AssignmentInstance
from colgen.problems.assignment.kernels.ascent import ascend
from colgen.problems.assignment.kernels.local_search import improve
from colgen.problems.assignment.pricing import KnapsackOracle

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_PORTION = 50
"""Moves of a hundred tasks between two looks at the clock."""

_KEPT = 200
"""So many last rounds of an ascent give their sets to the master."""

_TIE = 1e-3
"""What the whole range of costs counts for beside one occurrence."""


@dataclass(frozen=True)
class Way:
    """How far an ascent goes.

    Attributes
    ----------
    portions, rounds
        So many portions of so many rounds; in between the clock and the bound are looked at.
    step, patience
        The factor of the first step, and after how many rounds without a gain it is halved.
    """

    portions: int
    rounds: int
    step: float
    patience: int


@dataclass(frozen=True)
class Ascended:
    """Where an ascent ended.

    Attributes
    ----------
    value, duals
        The best bound, and dual values of the tasks there.
    mean
        Shape (machines, tasks): how often each machine took each task of late.
    sets
        Shape (sets, machines, tasks): what the machines took in the last rounds.
    """

    value: float
    duals: Floats
    mean: Floats
    sets: Mask


def ascended(
    instance: AssignmentInstance, duals: Floats, closed: Mask, target: float, way: Way, budget: Budget
) -> Ascended:
    """An ascent of the Lagrangian bound from some dual values of the tasks."""
    sizes, room = instance.in_units
    duals, value, mean, step = duals.copy(), -math.inf, np.zeros(instance.costs.shape), way.step
    sets = np.zeros((0, *instance.costs.shape), dtype=np.bool_)
    for _ in range(way.portions):
        if budget.expired or value >= target:
            break
        here, found, mean, step = ascend(
            instance.costs, closed, sizes, room, duals, target, way.rounds, step, way.patience
        )
        value, sets = max(value, float(here)), np.concatenate([sets, found])[-_KEPT:]
    return Ascended(value, duals, mean, sets)


def searched(
    instance: AssignmentInstance, start: Ints, moves: int, budget: Budget, seed: int = 0, allowed: Mask | None = None
) -> tuple[Ints, float]:
    """The best assignment that local search finds, and what it costs; inf if none that fits was found."""
    sizes, room = instance.in_units
    allowed = instance.fits() if allowed is None else allowed
    best, cost = start, math.inf
    spread = float(np.ptp(instance.costs)) or 1.0
    penalty, machines = spread / max(float(np.median(sizes)), 1.0), start.copy()
    rng = np.random.default_rng(seed)
    done, portion = 0, max(_PORTION * 100 // instance.num_tasks, 10)
    while done < moves and not budget.expired:
        found, here, penalty = improve(instance.costs, allowed, sizes, room, machines, penalty, portion, rng)
        if here < cost:
            best, cost = found, float(here)
        done += portion
    return best, cost


def likely(instance: AssignmentInstance, mean: Floats) -> Ints:
    """The machine that took each task most often, the cheaper one among equals; it may have no room."""
    fits = instance.fits()
    cheap = -instance.costs / (1.0 + float(np.abs(instance.costs).max()))
    # Ties alone are decided by costs: what is rare in the mean is a rounding, and no wish.
    return np.asarray(np.argmax(np.where(fits, mean + _TIE * cheap, -np.inf), axis=0), dtype=np.int64)


def scale_of(instance: AssignmentInstance, moves: int) -> float | None:
    """What differences of costs are relative to; None: the answers themselves tell.

    Beside a part that all costs have in common nobody sees of a cost alone that it is a penalty.  Of what some
    assignment leaves room for it is seen.
    """
    fits = instance.fits()
    if instance.scale is None or not fits.any(axis=0).all():
        return instance.scale
    machines, _ = searched(instance, likely(instance, np.zeros(fits.shape)), moves, Budget())
    return instance.scale_among(fits & ~instance.penalties & ~too_dear(instance, machines))


def too_dear(instance: AssignmentInstance, machines: Ints) -> Mask:
    """Where a machine charges more for a task than an assignment leaves room for: none that is better has it there."""
    fits, tasks = instance.fits(), np.arange(instance.num_tasks)
    try:
        instance.check(machines.tolist())
    except ValueError:
        return np.zeros_like(fits)
    least = np.where(fits, instance.costs, np.inf).min(axis=0)
    # Summed up task by task: of a penalty that no assignment escapes nothing is left.
    room = float((instance.costs[machines, tasks] - least).sum())
    dear = instance.costs - least[None, :] > room + TOLERANCES.pruning * (room + float(np.abs(least).sum()))
    dear[machines, tasks] = False
    return np.asarray(dear)


class Shifting(Heuristic):
    """Each task goes to the machine that the relaxation likes best; local search mends what does not fit.

    The search keeps to assignments that the node allows: those are few once the others are fixed, and the best of them.

    Parameters
    ----------
    moves
        Of the search.
    every
        At each so-manieth level of the tree.
    """

    def __init__(self, oracle: KnapsackOracle, moves: int = 1_000, every: int = 6) -> None:
        self.oracle = oracle
        self.moves = moves
        self.every = every

    def search(self, context: HeuristicContext) -> Solution | None:
        instance, run = self.oracle.instance, context.run
        shares = np.zeros(instance.costs.shape)
        for column, value in context.relaxation.columns:
            machine, tasks = column.structure
            shares[machine, list(tasks)] += value
        if not instance.fits().any(axis=0).all():
            return None
        best, cost = searched(
            instance,
            likely(instance, shares),
            self.moves,
            run.budget,
            seed=len(run.iterations),
            allowed=self.oracle.open_lately(),
        )
        return self.oracle.as_solution(best) if math.isfinite(cost) and cost < run.objective else None
