"""Small instances for ``colgen demo``: column generation beside the compact model."""

from __future__ import annotations

from colgen.cli.demonstration import beside
from colgen.cli.template import DemoLine
from colgen.problems.assignment.baseline import solve_full
from colgen.problems.assignment.instance import AssignmentInstance, random
from colgen.problems.assignment.template import Assignment


def few_tasks_a_machine() -> list[DemoLine]:
    """Costs that have nothing to do with sizes."""
    return [_compare(random(4, 20, 1, kind="C"))]


def large_tasks_are_cheap() -> list[DemoLine]:
    """Where the compact model's relaxation says little."""
    return [_compare(random(4, 16, 1, kind="D"))]


def _compare(instance: AssignmentInstance) -> DemoLine:
    return beside(
        Assignment(instance),
        instance.check,
        lambda: solve_full(instance, time_limit=20.0),
        "compact model in HiGHS",
        name=instance.name,
        possible=instance.num_machines * 2**instance.num_tasks,
        decimals=0,
        small=Assignment(random(2, 6, 0)),
    )
