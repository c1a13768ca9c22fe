"""Generalized assignment as Pyomo models: the master of column generation, and a complete formulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colgen import InputError, artificial
from colgen.core.lazy_imports import Late
from colgen.problems.assignment.instance import AssignmentInstance

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = Late("pyomo.environ")


def master(instance: AssignmentInstance) -> pyo.ConcreteModel:
    """The rows of the formulation by sets of tasks: ``undone`` stands in for the sets to come."""
    m = pyo.ConcreteModel()
    m.task = pyo.RangeSet(0, instance.num_tasks - 1)
    m.machine = pyo.RangeSet(0, instance.num_machines - 1)
    m.undone = artificial(m.task)
    m.idle = pyo.Var(m.machine, bounds=(0, 1))
    m.assign = pyo.Constraint(m.task, rule=lambda m, t: m.undone[t] == 1)
    m.use = pyo.Constraint(m.machine, rule=lambda m, j: m.idle[j] == 1)
    m.cost = pyo.Objective(expr=0, sense=pyo.minimize)
    return m


def full(instance: AssignmentInstance, formulation: str = "compact") -> pyo.ConcreteModel:
    """A complete model of the problem, for any solver that Pyomo knows: ``takes[j, t]``, and a row a machine.

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
