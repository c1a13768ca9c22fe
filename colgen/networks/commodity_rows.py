"""Flow conservation of a block with commodities, for other solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from colgen.core.errors import InputError
from colgen.networks.commodities import Unsplittable


def write_conservation(paths: Any) -> None:
    """Add a flow of each origin, or of each commodity if it needs its own, and its conservation to a block.

    A commodity has a flow of its own if it is unsplittable, or has costs or limits of its own.  Own costs are added to
    the model's objective.
    """
    commodities, graph, flow = paths._commodities, paths._graph, paths._flow.variables
    assert commodities is not None
    if not flow:
        raise InputError(f"{paths.name}: compact: expected Pyomo variables as flow, not columns of arrays")
    whole = any(isinstance(rule, Unsplittable) for rule in paths._rules)
    alone = whole or commodities.costs is not None or commodities.limits is not None
    number = {vertex: k for k, vertex in enumerate(graph.vertices)}
    origins, destinations = ([number[vertex] for vertex in each] for each in commodities.ends)
    count, arcs = len(commodities.demands), range(len(graph.tails))
    group_of = list(range(count)) if alone else origins
    groups = sorted(set(group_of))
    supply = {group: np.zeros(len(graph.vertices)) for group in groups}
    for k, group in enumerate(group_of):
        amount = 1.0 if whole else float(commodities.demands[k])
        supply[group][origins[k]] += amount
        supply[group][destinations[k]] -= amount
    units = {group: float(commodities.demands[group]) if whole else 1.0 for group in groups}
    leaving: list[list[int]] = [[] for _ in graph.vertices]
    entering: list[list[int]] = [[] for _ in graph.vertices]
    for arc, (tail, head) in enumerate(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)):
        leaving[tail].append(arc)
        entering[head].append(arc)

    def limit(_: object, group: int, arc: int) -> tuple[float, float | None]:
        most = np.inf if commodities.limits is None else float(commodities.limits[group, arc])
        if whole:
            return 0.0, float(most >= units[group])
        return 0.0, None if np.isinf(most) else most

    share = pyo.Var(groups, arcs, domain=pyo.Binary if whole else pyo.NonNegativeReals, bounds=limit)
    paths.add_component("share", share)
    paths.conservation = pyo.Constraint(
        groups,
        range(len(graph.vertices)),
        rule=lambda _, g, v: (
            pyo.quicksum(share[g, a] for a in leaving[v]) - pyo.quicksum(share[g, a] for a in entering[v])
            == supply[g][v]
            if leaving[v] or entering[v]
            else pyo.Constraint.Skip
        ),
    )
    paths.totals = pyo.Constraint(
        arcs, rule=lambda _, a: flow[a] == pyo.quicksum(units[g] * share[g, a] for g in groups)
    )
    if commodities.costs is not None:
        own = commodities.costs
        (objective,) = paths.model().component_data_objects(pyo.Objective, active=True)
        objective.expr += pyo.quicksum(float(own[g, a]) * units[g] * share[g, a] for g in groups for a in arcs)
