"""Brute force for generalized assignment: all assignments of tasks."""

import numpy as np


def all_answers(instance):
    """Return all feasible assignments, one per row (the machine of each task), and their costs."""
    machines, tasks = instance.num_machines, instance.num_tasks
    ways = np.stack(np.meshgrid(*[np.arange(machines)] * tasks, indexing="ij"), axis=-1).reshape(-1, tasks)
    fits = np.ones(len(ways), dtype=bool)
    for machine in range(machines):
        fits &= ((ways == machine) * instance.sizes[machine]).sum(axis=1) <= instance.capacities[machine]
    ways = ways[fits]
    return ways, instance.costs[ways, np.arange(tasks)].sum(axis=1)


def cheapest(instance):
    """Return the optimal cost, or None if infeasible."""
    _, costs = all_answers(instance)
    return float(costs.min()) if len(costs) else None
