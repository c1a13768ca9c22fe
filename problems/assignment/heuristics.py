"""Heuristics: dual ascent and local search for the warm start, local search in the tree."""

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
"""Moves for a hundred tasks between two checks of the clock."""

_KEPT = 200
"""Number of last rounds of an ascent whose sets become columns."""

_TIE = 1e-3
"""Weight of the range of costs relative to one occurrence in the mean."""


@dataclass(frozen=True)
class AscentLimits:
    """Limits of an ascent.

    * ``portions``, ``rounds``: number of portions, and rounds per portion; clock and bound are checked between portions
    * ``step``, ``patience``: factor of the first step, and the number of rounds without improvement after which it is
      halved
    """

    portions: int
    rounds: int
    step: float
    patience: int


@dataclass(frozen=True)
class Ascent:
    """The result of an ascent.

    * ``duals``: the tasks' dual values with the best bound
    * ``mean``: recent frequency of each assignment, shape (machines, tasks)
    * ``sets``: the machines' sets in the last rounds, shape (sets, machines, tasks)
    """

    duals: Floats
    mean: Floats
    sets: Mask


def maximise_bound(
    instance: AssignmentInstance, duals: Floats, closed: Mask, target: float, limits: AscentLimits, budget: Budget
) -> Ascent:
    """Maximise the Lagrangian bound from given dual values of the tasks."""
    sizes, room = instance.in_units
    duals, value, mean, step = duals.copy(), -math.inf, np.zeros(instance.costs.shape), limits.step
    sets = np.zeros((0, *instance.costs.shape), dtype=np.bool_)
    for _ in range(limits.portions):
        if budget.expired or value >= target:
            break
        here, found, mean, step = ascend(
            instance.costs, closed, sizes, room, duals, target, limits.rounds, step, limits.patience
        )
        value, sets = max(value, float(here)), np.concatenate([sets, found])[-_KEPT:]
    return Ascent(duals, mean, sets)


def search_assignment(
    instance: AssignmentInstance, start: Ints, moves: int, budget: Budget, seed: int = 0, allowed: Mask | None = None
) -> tuple[Ints, float]:
    """Return the best assignment found by local search, and its cost; inf if none is feasible."""
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


def most_frequent(instance: AssignmentInstance, mean: Floats) -> Ints:
    """Return the machine that took each task most often, the cheapest among ties.  Capacities may be exceeded."""
    fits = instance.fits()
    cheap = -instance.costs / (1.0 + float(np.abs(instance.costs).max()))
    # Costs decide ties only, but outweigh very small means, which come from rounding.
    return np.asarray(np.argmax(np.where(fits, mean + _TIE * cheap, -np.inf), axis=0), dtype=np.int64)


def scale_of(instance: AssignmentInstance, moves: int) -> float | None:
    """Return the scale of cost differences.  None if it follows from the solutions.

    If all costs have a large common part, penalties are not visible in single costs.  They are in comparison with an
    assignment.
    """
    fits = instance.fits()
    if instance.scale is None or not fits.any(axis=0).all():
        return instance.scale
    machines, _ = search_assignment(instance, most_frequent(instance, np.zeros(fits.shape)), moves, Budget())
    return instance.scale_among(fits & ~instance.penalties & ~too_expensive(instance, machines))


def too_expensive(instance: AssignmentInstance, machines: Ints) -> Mask:
    """Return the mask of assignments that cost more than any improving assignment can spend on the task."""
    fits, tasks = instance.fits(), np.arange(instance.num_tasks)
    try:
        instance.check(machines.tolist())
    except ValueError:
        return np.zeros_like(fits)
    least = np.where(fits, instance.costs, np.inf).min(axis=0)
    # The sum of differences per task cancels penalties that every assignment pays.
    room = float((instance.costs[machines, tasks] - least).sum())
    expensive = instance.costs - least[None, :] > room + TOLERANCES.pruning * (room + float(np.abs(least).sum()))
    expensive[machines, tasks] = False
    return np.asarray(expensive)


class Shifting(Heuristic):
    """Assigns each task to its most frequent machine in the relaxation, then repairs by local search.

    The search is restricted to assignments that the node allows.

    Parameters
    ----------
    moves
        Moves of the search.
    every
        Number of tree levels between two calls.
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
        best, cost = search_assignment(
            instance,
            most_frequent(instance, shares),
            self.moves,
            run.budget,
            seed=len(run.iterations),
            allowed=self.oracle.last_allowed(),
        )
        return self.oracle.as_solution(best) if math.isfinite(cost) and cost < run.objective else None
