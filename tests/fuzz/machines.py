"""Fuzz generalized assignment, compared with all assignments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from colgen import solve
from colgen.problems.assignment import Assignment, AssignmentInstance
from tests.fuzz.judging import Claims, Truths, claims_of
from tests.fuzz.scores import Rng, Sample, draw_constants, draw_scale, draw_scores, with_penalties
from tests.twins.assignment import all_answers

NAME = "assignment"


def draw(rng: Rng) -> Sample:
    """Draw up to six tasks on up to four machines with small capacities, which may make the instance infeasible.

    Some costs are penalties, some sizes zero.
    """
    machines, tasks = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    (costs,) = draw_scores(rng, (machines, tasks))
    costs = -with_penalties(rng, -costs, infinite=False)
    sizes = rng.integers(0, 8, (machines, tasks)) * (rng.random((machines, tasks)) < rng.choice([1.0, 0.6, 0.0]))
    share = float(rng.choice([0.6, 0.9, 1.3, 2.0]))
    capacities = np.floor(share * sizes.sum(axis=1) / machines + rng.integers(0, 4, machines))
    unit = float(rng.choice([1, 1, 7, 10**6]))
    arrays = {"costs": costs, "sizes": sizes * unit, "capacities": capacities * unit}
    return Sample(NAME, arrays, draw_scale(rng), draw_constants(rng, tasks), {"unit": unit})


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims, negated because costs are minimised."""
    instance = _instance(sample)
    answers, costs = all_answers(instance)
    truths = Truths(np.array([-costs.min(initial=np.inf)]), sample.size, np.array([-sample.constant]))
    result = solve(Assignment(instance))
    worth = -np.inf
    if result.answer is not None:
        place = np.flatnonzero((answers == np.array(result.answer)).all(axis=1))
        worth = -float(costs[place[0]]) if len(place) else float("nan")
    return truths, claims_of(result, worth, -1.0)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with one task or one machine less."""
    costs, sizes, capacities = (sample.arrays[name] for name in ("costs", "sizes", "capacities"))
    for task in range(costs.shape[1] if costs.shape[1] > 1 else 0):
        arrays = {"costs": np.delete(costs, task, 1), "sizes": np.delete(sizes, task, 1), "capacities": capacities}
        constants = tuple(c for t, c in enumerate(sample.constants) if t != task)
        yield dataclasses.replace(sample, arrays=arrays, constants=constants)
    for machine in range(len(costs) if len(costs) > 1 else 0):
        arrays = {name: np.delete(array, machine, 0) for name, array in sample.arrays.items()}
        yield dataclasses.replace(sample, arrays=arrays)


def _instance(sample: Sample) -> AssignmentInstance:
    costs = (sample.arrays["costs"] + np.array(sample.constants)) * sample.scale
    return AssignmentInstance(costs, np.rint(sample.arrays["sizes"]), np.rint(sample.arrays["capacities"]))
