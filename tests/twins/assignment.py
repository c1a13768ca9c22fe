"""Generalized assignment by all ways to give the tasks away."""

import numpy as np


def all_answers(instance):
    """The machine of each task, an answer a row, and what each costs."""
    machines, tasks = instance.num_machines, instance.num_tasks
    ways = np.stack(np.meshgrid(*[np.arange(machines)] * tasks, indexing="ij"), axis=-1).reshape(-1, tasks)
    fits = np.ones(len(ways), dtype=bool)
    for machine in range(machines):
        fits &= ((ways == machine) * instance.sizes[machine]).sum(axis=1) <= instance.capacities[machine]
    ways = ways[fits]
    return ways, instance.costs[ways, np.arange(tasks)].sum(axis=1)


def cheapest(instance):
    """The least cost, None if there is no answer."""
    _, costs = all_answers(instance)
    return float(costs.min()) if len(costs) else None
