"""Generalized assignment against all ways to give the tasks away."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from colgen import solve
from colgen.problems.assignment import Assignment, AssignmentInstance
from tests.fuzz.judging import Said, Truths, one
from tests.fuzz.scores import Drawn, Rng, draw_constants, draw_scale, draw_scores, with_penalties
from tests.twins.assignment import all_answers

NAME = "assignment"


def draw(rng: Rng) -> Drawn:
    """Up to six tasks on up to four machines with little room, or none for some: there may be no answer.

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
    return Drawn(NAME, arrays, draw_scale(rng), draw_constants(rng, tasks), {"unit": unit})


def ask(drawn: Drawn) -> tuple[Truths, Said]:
    """Return the truth and what the template says, mirrored: costs are minimised."""
    instance = _instance(drawn)
    answers, costs = all_answers(instance)
    truths = Truths(np.array([-costs.min(initial=np.inf)]), drawn.size, np.array([-drawn.constant]))
    result = solve(Assignment(instance))
    worth = -np.inf
    if result.answer is not None:
        place = np.flatnonzero((answers == np.array(result.answer)).all(axis=1))
        worth = -float(costs[place[0]]) if len(place) else float("nan")
    said = result.termination
    return truths, one(-result.objective, -result.dual_bound, worth, said.is_proof, said.name)


def smaller(drawn: Drawn) -> Iterator[Drawn]:
    """One task or one machine less."""
    costs, sizes, capacities = (drawn.arrays[name] for name in ("costs", "sizes", "capacities"))
    for task in range(costs.shape[1] if costs.shape[1] > 1 else 0):
        arrays = {"costs": np.delete(costs, task, 1), "sizes": np.delete(sizes, task, 1), "capacities": capacities}
        constants = tuple(c for t, c in enumerate(drawn.constants) if t != task)
        yield dataclasses.replace(drawn, arrays=arrays, constants=constants)
    for machine in range(len(costs) if len(costs) > 1 else 0):
        arrays = {name: np.delete(array, machine, 0) for name, array in drawn.arrays.items()}
        yield dataclasses.replace(drawn, arrays=arrays)


def _instance(drawn: Drawn) -> AssignmentInstance:
    costs = (drawn.arrays["costs"] + np.array(drawn.constants)) * drawn.scale
    return AssignmentInstance(costs, np.rint(drawn.arrays["sizes"]), np.rint(drawn.arrays["capacities"]))
