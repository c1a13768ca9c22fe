"""Draw an assignment: a bar of tasks for each machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from colgen import InputError
from colgen.problems.assignment.instance import AssignmentInstance
from colgen.reporting.axes import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMED = 0.04
"""Least size, as a share of the longest bar, at which a task's number is shown."""


def draw_assignment(instance: AssignmentInstance, machines: Sequence[int], *, title: str = "") -> Figure:
    """Draw a bar for each machine: tasks by size, expensive ones dark, and a line at its capacity.

    Parameters
    ----------
    machines
        The machine of each task, the answer of a run.
    """
    if len(machines) != instance.num_tasks:
        raise InputError(f"expected a machine for each of {instance.num_tasks} tasks, not {len(machines)}")
    costs = [float(instance.costs[machine, task]) for task, machine in enumerate(machines)]
    low, high = min(costs), max(costs)
    longest = max(1, int(instance.capacities.max()))
    figure = new_figure((8.0, 1.2 + 0.35 * instance.num_machines))
    ax = figure.subplots()
    for machine in range(instance.num_machines):
        at = 0
        for task in (t for t, j in enumerate(machines) if j == machine):
            size = int(instance.sizes[machine, task])
            shade = (COLOURS[0], 0.1 + 0.6 * (costs[task] - low) / ((high - low) or 1.0))
            ax.barh(machine, size, left=at, color=shade, ec="black", lw=0.5)
            if size >= _NAMED * longest:
                ax.text(at + size / 2, machine, str(task), ha="center", va="center", fontsize="small")
            at += size
        end = int(instance.capacities[machine])
        ax.plot([end, end], [machine - 0.45, machine + 0.45], color="black", lw=2.0)
    ax.set_yticks(range(instance.num_machines), [str(machine) for machine in range(instance.num_machines)])
    ax.invert_yaxis()
    ax.set_xlabel("load (the instance's units of size)")
    ax.set_ylabel("machine")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    name = f"{instance.name}: " if instance.name else ""
    ax.set_title(title or f"{name}cost {sum(costs):g}; dark tasks are expensive, lines are capacities", loc="left")
    return figure
