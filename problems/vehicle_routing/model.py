"""The model over arcs whose paths are the routes, and a compact Pyomo model for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colgen import InputError, Paths, Rows, Sense, decompose
from colgen.core.lazy_imports import LazyModule
from colgen.decomposition.networked import NetworkModel
from colgen.decomposition.reading.compact_model import CompactModel
from colgen.networks.block import Path
from colgen.networks.graph import Graph
from colgen.networks.rules import Resource, Rule
from colgen.networks.windows import usable_arcs
from colgen.problems.vehicle_routing.instance import Route, RoutingInstance

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")

FORMULATIONS = ("two_index",)


def network(instance: RoutingInstance, resources: Sequence[Any], rules: Sequence[Rule]) -> NetworkModel:
    """Return the model over arcs: paths from the depot to the depot that visit each customer once.

    Parameters
    ----------
    resources, rules
        See :class:`colgen.Paths`.
    """
    tails, heads = _all_arcs(instance)
    rows = Rows(Sense.MINIMIZE, objective="distance")
    arcs = list(zip(tails.tolist(), heads.tolist(), strict=True))
    distances = instance.matrix[tails, heads] / instance.ticks
    usable = usable_arcs(Graph((tails, heads), 0, 0), resources)
    drive = rows.add_variables("drive", arcs, cost=distances, upper=usable, integer=True)
    visit = rows.add_rows("visit", instance.customers, lower=1.0, upper=1.0)
    inwards = heads > 0
    rows.add_entries(visit[heads[inwards] - 1], drive[inwards], 1.0)
    # If fewer vehicles exist than are needed, the upper side alone proves infeasibility.
    count = min(instance.fewest, instance.most), instance.most
    routes = Paths((tails, heads), drive, 0, 0, count=count, resources=resources, rules=rules)
    return decompose(CompactModel.from_rows(rows, instance.name), [routes])


def limits(instance: RoutingInstance) -> list[Resource]:
    """Return the resources of all routes: the load, and the time in ticks if there are windows."""
    load = Resource(dict(enumerate(instance.demands)), float(instance.capacity), name="load")
    if instance.windows is None:
        return [load]
    tails, heads = _all_arcs(instance)
    spans = instance.service_array[tails] + instance.matrix[tails, heads]
    ready, due = instance.window_array[:, 0].tolist(), instance.latest.tolist()
    return [Resource(spans, dict(enumerate(due)), dict(enumerate(ready)), start=ready[0], name="time"), load]


def _all_arcs(instance: RoutingInstance) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return tail and head of each arc between two locations, in the order of the variables and of consumptions."""
    tails, heads = np.nonzero(~np.eye(instance.num_customers + 1, dtype=np.bool_))
    return tails, heads


def route_of(path: Path) -> Route:
    """Return the customers of a path, the structure of a column."""
    return tuple(path.vertices[1:-1])  # type: ignore[arg-type]


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
