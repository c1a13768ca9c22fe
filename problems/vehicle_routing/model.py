"""Vehicle routing as Pyomo models: the master of column generation, and a complete formulation to compare with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colgen import InputError, Rows, Sense
from colgen.core.lazy_imports import Late
from colgen.problems.vehicle_routing.instance import RoutingInstance

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = Late("pyomo.environ")

FORMULATIONS = ("two_index",)


def master(instance: RoutingInstance) -> Rows:
    """Return the rows of the set partitioning formulation, without any route."""
    customers = range(1, instance.num_customers + 1)
    rows = Rows(Sense.MINIMIZE, objective="distance")
    unmet = rows.add_variables("unmet", customers, artificial=True)
    idle = rows.add_variables("idle", artificial=True)
    rows.add_entries(rows.add_rows("visit", customers, lower=1.0, upper=1.0), unmet, 1.0)
    # Where more vehicles are needed than there are, the upper side alone proves it.
    fewest, most = min(instance.fewest, instance.most), instance.most
    rows.add_entries(rows.add_rows("fleet", lower=fewest, upper=most), idle, 1.0)
    return rows


def full(instance: RoutingInstance, formulation: str = "two_index") -> pyo.ConcreteModel:
    """A complete model of the problem, for any solver that Pyomo knows.

    ``x[i, j]`` says whether a vehicle drives from i to j, ``carried[i]`` what it has delivered after customer i,
    ``time[i]`` when service begins there.  Both rise along a route (Miller, Tucker and Zemlin, 1960, strengthened by
    Desrochers and Laporte, 1991), which forbids cycles besides the depot.

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
            return first, max(first, min(windows[i][1], home - service[i] - d[i][0]))  # but for rounding no later

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
    """Pairs of locations that a vehicle can visit one after the other."""
    return [
        (i, j)
        for i in range(instance.num_customers + 1)
        for j in range(instance.num_customers + 1)
        if i != j and instance.fault([k for k in (i, j) if k]) is None
    ]
