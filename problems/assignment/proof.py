"""Certificates of assignments: each task once, and a knapsack for each machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import Decision, Duals, Sense, Solution
from colgen.certificate.certifier import Record
from colgen.certificate.theorems import KnapsackCertifier, Place
from colgen.problems.assignment.decisions import ASSIGN, TAKES, AssignmentsForbidden
from colgen.problems.assignment.instance import AssignmentInstance


class AssignmentCertifier(KnapsackCertifier):
    """Certifies instances with integer costs and positive sizes."""

    def __init__(self, instance: AssignmentInstance) -> None:
        super().__init__(Sense.MINIMIZE, instance.name, self._program_of, "items")
        self._instance = instance

    def instance(self) -> Record:
        return {
            "kind": "assignment",
            "name": self.name,
            "costs": self._instance.costs.astype(np.int64).tolist(),
            "sizes": self._instance.sizes.tolist(),
            "capacities": self._instance.capacities.tolist(),
        }

    def _program_of(self) -> Record:
        data, tasks = self.instance(), self._instance.num_tasks
        machines = [
            {
                "kind": "knapsack",
                "uses": [0, 1],
                "capacity": capacity,
                "sizes": sizes,
                "copies": [1] * tasks,
                "rows": list(range(tasks)),
                "cost": 0,
                "costs": costs,
            }
            for costs, sizes, capacity in zip(data["costs"], data["sizes"], data["capacities"], strict=True)
        ]
        return {
            "sense": "minimize",
            "step": int(self._instance.step or 1),
            "rows": [[1, 1]] * tasks,
            "pricing": machines,
        }

    def columns(self, solution: Solution) -> list[Any]:
        sets = (column.structure for column, value in solution.columns if round(value))
        return [[int(machine), 1, [[int(task), 1] for task in tasks]] for machine, tasks in sets]

    def objective(self, solution: Solution) -> Fraction:
        sets = (column.structure for column, value in solution.columns if round(value))
        return Fraction(sum(int(self._instance.costs[machine, list(tasks)].sum()) for machine, tasks in sets))

    def values(self, duals: Duals) -> tuple[NDArray[np.float64], Mapping[Place, float]] | None:
        # The checker recomputes the machines' duals; branching needs no rows.
        return None if len(duals.members(TAKES)) else (np.asarray(duals[ASSIGN]), {})

    def pieces(self, children: Sequence[Sequence[Decision]]) -> tuple[Place, int, Sequence[int]] | None:
        decisions = [child[0] for child in children if len(child) == 1]
        if len(decisions) != len(children) or len(children) != 2:
            return None
        for k, decision in enumerate(decisions):
            other = decisions[1 - k]
            if not isinstance(decision, AssignmentsForbidden) or not isinstance(other, AssignmentsForbidden):
                return None
            if decision.closed.sum() == 1:
                machine, task = (int(each) for each in np.argwhere(decision.closed)[0])
                rest = np.zeros_like(other.closed)
                rest[:, task] = True
                rest[machine, task] = False
                if (other.closed == rest).all():
                    return (machine, task, 0, int(self._instance.capacities[machine])), 0, [k, 1 - k]
        return None
