"""The master of column generation, and a compact Pyomo model for comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colgen import InputError, Rows, Sense
from colgen.core.lazy_imports import LazyModule
from colgen.problems.vehicle_routing.instance import RoutingInstance

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")

FORMULATIONS = ("two_index",)


def master(instance: RoutingInstance) -> Rows:
    """Return the rows of the set partitioning formulation, without any route."""
    customers = range(1, instance.num_customers + 1)
    rows = Rows(Sense.MINIMIZE, objective="distance")
    unmet = rows.add_variables("unmet", customers, artificial=True)
    idle = rows.add_variables("idle", artificial=True)
    rows.add_entries(rows.add_rows("visit", customers, lower=1.0, upper=1.0), unmet, 1.0)
    # If fewer vehicles exist than are needed, the upper side alone proves infeasibility.
    fewest, most = min(instance.fewest, instance.most), instance.most
    rows.add_entries(rows.add_rows("fleet", lower=fewest, upper=most), idle, 1.0)
    return rows


def full(instance: RoutingInstance, formulation: str = "two_index") -> pyo.ConcreteModel:
    """Return a compact model of the problem.

    ``x[i, j]`` is 1 if a vehicle drives from i to j, ``carried[i]`` the amount delivered up to customer i, ``time[i]``
    the start of service at i.  Both increase along a route, which forbids subtours (Miller, Tucker and Zemlin, 1960,
    strengthened by Desrochers and Laporte, 1991).

    Parameters
    ----------
    formulation
        ``"two_index"``, the only one.
    """
    if formulation not in FORMULATIONS:
        raise InputError(f"formulation: expected one of {', '.join(FORMULATIONS)}, not {formulation!r}")
    d, q, capacity = instance.distances, instance.demands, instance.capacity
    m = pyo.ConcreteModel()
    m.place = pyo.RangeSet(0, instance.num_customers)
    m.customer = pyo.RangeSet(1, instance.num_customers)
    m.arc = pyo.Set(initialize=_arcs(instance), dimen=2)
    m.between = pyo.Set(initialize=[(i, j) for i, j in m.arc if i and j], dimen=2)
    m.x = pyo.Var(m.arc, domain=pyo.Binary)
    m.carried = pyo.Var(m.customer, bounds=lambda m, i: (q[i], capacity))
    leaving: dict[int, list[int]] = {i: [] for i in m.place}
    entering: dict[int, list[int]] = {i: [] for i in m.place}
    for i, j in m.arc:
        leaving[i].append(j)
        entering[j].append(i)
    m.leave = pyo.Constraint(m.customer, rule=lambda m, i: pyo.quicksum(m.x[i, j] for j in leaving[i]) == 1)
    m.enter = pyo.Constraint(m.customer, rule=lambda m, j: pyo.quicksum(m.x[i, j] for i in entering[j]) == 1)
    m.fleet = pyo.Constraint(
        expr=pyo.inequality(instance.fewest, pyo.quicksum(m.x[0, j] for j in leaving[0]), instance.most)
    )

    def rising(m: pyo.ConcreteModel, i: int, j: int) -> pyo.Expression:
        lifted = (capacity - q[i] - q[j]) * m.x[j, i] if (j, i) in m.x else 0.0
        return m.carried[j] >= m.carried[i] + q[j] - capacity * (1 - m.x[i, j]) + lifted

    m.delivered = pyo.Constraint(m.between, rule=rising)
    if instance.windows is not None and instance.service is not None:
        windows, service = instance.windows, instance.service
        home = windows[0][1]

        def in_time(m: pyo.ConcreteModel, i: int) -> tuple[float, float]:
            first = max(windows[i][0], windows[0][0] + d[0][i])
            return first, max(first, min(windows[i][1], home - service[i] - d[i][0]))  # max guards against rounding

        m.time = pyo.Var(m.customer, bounds=in_time)
        m.later = pyo.Constraint(
            m.between,
            rule=lambda m, i, j: (
                m.time[j]
                >= m.time[i]
                + (service[i] + d[i][j]) * m.x[i, j]
                - max(m.time[i].ub - m.time[j].lb, 0.0) * (1 - m.x[i, j])
            ),
        )
    m.distance = pyo.Objective(expr=pyo.quicksum(d[i][j] * m.x[i, j] for i, j in m.arc), sense=pyo.minimize)
    return m


def _arcs(instance: RoutingInstance) -> list[tuple[int, int]]:
    """Return the pairs of locations that one vehicle can visit in succession."""
    return [
        (i, j)
        for i in range(instance.num_customers + 1)
        for j in range(instance.num_customers + 1)
        if i != j and instance.fault([k for k in (i, j) if k]) is None
    ]
