"""The master of column generation, and a compact Pyomo model for comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colgen import InputError, Rows, Sense
from colgen.core.lazy_imports import LazyModule
from colgen.problems.assignment.instance import AssignmentInstance

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")


def master(instance: AssignmentInstance) -> Rows:
    """Return the rows of the formulation by sets of tasks, with artificial variables ``undone``."""
    tasks, machines = range(instance.num_tasks), range(instance.num_machines)
    rows = Rows(Sense.MINIMIZE, objective="cost")
    undone = rows.add_variables("undone", tasks, artificial=True)
    idle = rows.add_variables("idle", machines, upper=1.0)
    rows.add_entries(rows.add_rows("assign", tasks, lower=1.0, upper=1.0), undone, 1.0)
    rows.add_entries(rows.add_rows("use", machines, lower=1.0, upper=1.0), idle, 1.0)
    return rows


def full(instance: AssignmentInstance, formulation: str = "compact") -> pyo.ConcreteModel:
    """Return a compact model of the problem, with ``takes[j, t]`` and a capacity row per machine.

    Parameters
    ----------
    formulation
        ``"compact"``, the only one.
    """
    if formulation != "compact":
        raise InputError(f"formulation must be 'compact', not {formulation!r}")
    m = pyo.ConcreteModel()
    m.task = pyo.RangeSet(0, instance.num_tasks - 1)
    m.machine = pyo.RangeSet(0, instance.num_machines - 1)
    n, fits = instance.num_tasks, instance.fits()
    m.takes = pyo.Var(m.machine, m.task, domain=pyo.Binary, bounds=lambda m, j, t: (0, int(fits[j, t])))
    m.assign = pyo.Constraint(m.task, rule=lambda m, t: pyo.quicksum(m.takes[j, t] for j in m.machine) == 1)
    m.room = pyo.Constraint(
        m.machine,
        rule=lambda m, j: (
            pyo.quicksum(int(min(instance.sizes[j, t], instance.capacities[j])) * m.takes[j, t] for t in range(n))
            <= int(instance.capacities[j])
            if instance.sizes[j].any()
            else pyo.Constraint.Skip
        ),
    )
    m.cost = pyo.Objective(
        expr=pyo.quicksum(float(instance.costs[j, t]) * m.takes[j, t] for j in m.machine for t in m.task),
        sense=pyo.minimize,
    )
    return m
