"""Random models of families with blocks, each from a seed, whose trees do not end within a minute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo

Model = Any
"""A Pyomo model, which has no types."""


def bin_packing(seed: int, items: int = 50, bins: int = 25) -> Model:
    """Two-constraint bin packing; a bin has a weight and a volume."""
    rng = np.random.default_rng(seed)
    size = rng.integers(20, 70, (2, items))
    m = pyo.ConcreteModel()
    m.bin, m.item, m.kind = pyo.RangeSet(bins), pyo.RangeSet(0, items - 1), pyo.RangeSet(0, 1)
    m.x, m.used = pyo.Var(m.bin, m.item, domain=pyo.Binary), pyo.Var(m.bin, domain=pyo.Binary)
    m.packed = pyo.Constraint(m.item, rule=lambda m, i: sum(m.x[b, i] for b in m.bin) == 1)
    m.room = pyo.Constraint(
        m.bin, m.kind, rule=lambda m, b, k: sum(int(size[k, i]) * m.x[b, i] for i in m.item) <= 150 * m.used[b]
    )
    m.bins = pyo.Objective(expr=sum(m.used[b] for b in m.bin))
    return m


def cutting_stock(seed: int, widths: int = 14, least: int = 60, most: int = 450) -> Model:
    """Cutting stock with general integers and identical rolls."""
    rng = np.random.default_rng(seed)
    width = np.sort(rng.choice(np.arange(least, most), widths, replace=False))[::-1].tolist()
    demand = rng.integers(2, 21, widths).tolist()
    # Rolls suffice if each is half full.
    count = 2 * sum(w * d for w, d in zip(width, demand, strict=True)) // 1000 + 1
    m = pyo.ConcreteModel()
    m.roll, m.item = pyo.RangeSet(count), pyo.RangeSet(0, widths - 1)
    m.n = pyo.Var(m.roll, m.item, domain=pyo.NonNegativeIntegers)
    m.used = pyo.Var(m.roll, domain=pyo.Binary)
    m.wanted = pyo.Constraint(m.item, rule=lambda m, i: sum(m.n[r, i] for r in m.roll) == demand[i])
    m.room = pyo.Constraint(m.roll, rule=lambda m, r: sum(width[i] * m.n[r, i] for i in m.item) <= 1000 * m.used[r])
    m.rolls = pyo.Objective(expr=sum(m.used[r] for r in m.roll))
    return m


def p_median(seed: int, sites: int = 60, medians: int = 12) -> Model:
    """Capacitated p-median in the plane."""
    rng = np.random.default_rng(seed)
    at, demand = rng.uniform(0, 100, (sites, 2)), rng.integers(1, 20, sites)
    far = np.rint(np.sqrt(((at[:, None] - at[None]) ** 2).sum(2)))
    room = int(1.12 * demand.sum() / medians) + 1
    m = pyo.ConcreteModel()
    m.site, m.client = pyo.RangeSet(0, sites - 1), pyo.RangeSet(0, sites - 1)
    m.x, m.open = pyo.Var(m.site, m.client, domain=pyo.Binary), pyo.Var(m.site, domain=pyo.Binary)
    m.served = pyo.Constraint(m.client, rule=lambda m, i: sum(m.x[j, i] for j in m.site) == 1)
    m.room = pyo.Constraint(
        m.site, rule=lambda m, j: sum(int(demand[i]) * m.x[j, i] for i in m.client) <= room * m.open[j]
    )
    m.count = pyo.Constraint(expr=sum(m.open[j] for j in m.site) == medians)
    m.total = pyo.Objective(expr=sum(float(far[j, i]) * m.x[j, i] for j in m.site for i in m.client))
    return m


def assignment(seed: int, machines: int = 10, tasks: int = 60) -> Model:
    """Generalized assignment, where cheap tasks are large (type D of Chu and Beasley)."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 101, (machines, tasks))
    costs = 111 - sizes + rng.integers(-10, 11, (machines, tasks))
    room = (0.8 * sizes.sum(axis=1) / machines).astype(int).tolist()
    m = pyo.ConcreteModel()
    m.machine, m.task = pyo.RangeSet(0, machines - 1), pyo.RangeSet(0, tasks - 1)
    m.x = pyo.Var(m.machine, m.task, domain=pyo.Binary)
    m.once = pyo.Constraint(m.task, rule=lambda m, t: sum(m.x[j, t] for j in m.machine) == 1)
    m.room = pyo.Constraint(m.machine, rule=lambda m, j: sum(int(sizes[j, t]) * m.x[j, t] for t in m.task) <= room[j])
    m.cost = pyo.Objective(expr=sum(int(costs[j, t]) * m.x[j, t] for j in m.machine for t in m.task))
    return m


def multiple_knapsack(seed: int, knapsacks: int = 12, items: int = 50) -> Model:
    """Multiple knapsack with values near the weights."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(100, 1000, items)
    value = weight + rng.integers(-50, 51, items)
    room = rng.integers(int(0.4 * weight.sum() / knapsacks), int(0.6 * weight.sum() / knapsacks), knapsacks).tolist()
    m = pyo.ConcreteModel()
    m.knapsack, m.item = pyo.RangeSet(0, knapsacks - 1), pyo.RangeSet(0, items - 1)
    m.x = pyo.Var(m.knapsack, m.item, domain=pyo.Binary)
    m.once = pyo.Constraint(m.item, rule=lambda m, i: sum(m.x[k, i] for k in m.knapsack) <= 1)
    m.room = pyo.Constraint(m.knapsack, rule=lambda m, k: sum(int(weight[i]) * m.x[k, i] for i in m.item) <= room[k])
    m.value = pyo.Objective(expr=sum(int(value[i]) * m.x[k, i] for k in m.knapsack for i in m.item), sense=pyo.maximize)
    return m


def lot_sizing(seed: int, items: int = 10, periods: int = 16) -> Model:
    """Capacitated lot sizing with setup times and overtime."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 60, (items, periods))
    setup, hold = rng.integers(50, 300, items).tolist(), rng.uniform(0.5, 3.0, items).round(2).tolist()
    m = pyo.ConcreteModel()
    m.item, m.period = pyo.RangeSet(0, items - 1), pyo.RangeSet(0, periods - 1)
    m.made, m.kept = (pyo.Var(m.item, m.period, domain=pyo.NonNegativeReals) for _ in range(2))
    m.ready = pyo.Var(m.item, m.period, domain=pyo.Binary)
    m.overtime = pyo.Var(m.period, domain=pyo.NonNegativeReals)
    m.balance = pyo.Constraint(
        m.item,
        m.period,
        rule=lambda m, i, t: (m.kept[i, t - 1] if t else 0) + m.made[i, t] == int(demand[i, t]) + m.kept[i, t],
    )
    m.setup = pyo.Constraint(
        m.item, m.period, rule=lambda m, i, t: m.made[i, t] <= int(demand[i, t:].sum()) * m.ready[i, t]
    )
    room = 1.15 * float(demand.sum() / periods)
    m.room = pyo.Constraint(
        m.period, rule=lambda m, t: sum(m.made[i, t] + 8 * m.ready[i, t] for i in m.item) <= room + m.overtime[t]
    )
    m.cost = pyo.Objective(
        expr=sum(setup[i] * m.ready[i, t] + hold[i] * m.kept[i, t] for i in m.item for t in m.period)
        + 30 * sum(m.overtime[t] for t in m.period)
    )
    return m


def colouring(seed: int, vertices: int = 70, colours: int = 18, density: float = 0.5) -> Model:
    """Vertex colouring by assignment of colours."""
    rng = np.random.default_rng(seed)
    edges = [(u, v) for u in range(vertices) for v in range(u + 1, vertices) if rng.random() < density]
    m = pyo.ConcreteModel()
    m.colour, m.vertex = pyo.RangeSet(colours), pyo.RangeSet(0, vertices - 1)
    m.x, m.used = pyo.Var(m.colour, m.vertex, domain=pyo.Binary), pyo.Var(m.colour, domain=pyo.Binary)
    m.once = pyo.Constraint(m.vertex, rule=lambda m, v: sum(m.x[c, v] for c in m.colour) == 1)
    m.edge = pyo.Constraint(
        m.colour, range(len(edges)), rule=lambda m, c, e: sum(m.x[c, v] for v in edges[e]) <= m.used[c]
    )
    m.colours = pyo.Objective(expr=sum(m.used[c] for c in m.colour))
    return m


def _facilities(seed: int, facilities: int, clients: int, single: bool) -> Model:
    rng = np.random.default_rng(seed)
    at, to = rng.uniform(0, 1, (facilities, 2)), rng.uniform(0, 1, (clients, 2))
    demand, room = rng.integers(5, 36, clients), rng.integers(10, 161, facilities)
    room = np.rint(room * 3.0 * demand.sum() / room.sum()).astype(int).tolist()
    fixed = np.rint(rng.integers(0, 91, facilities) + rng.integers(100, 111, facilities) * np.sqrt(room)).tolist()
    cost = np.rint(10 * demand * np.sqrt(((at[:, None] - to[None]) ** 2).sum(2)))
    m = pyo.ConcreteModel()
    m.facility, m.client = pyo.RangeSet(0, facilities - 1), pyo.RangeSet(0, clients - 1)
    m.x = pyo.Var(m.facility, m.client, domain=pyo.Binary if single else pyo.UnitInterval)
    m.open = pyo.Var(m.facility, domain=pyo.Binary)
    m.served = pyo.Constraint(m.client, rule=lambda m, i: sum(m.x[j, i] for j in m.facility) == 1)
    m.room = pyo.Constraint(
        m.facility, rule=lambda m, j: sum(int(demand[i]) * m.x[j, i] for i in m.client) <= room[j] * m.open[j]
    )
    m.total = pyo.Objective(
        expr=sum(fixed[j] * m.open[j] for j in m.facility)
        + sum(float(cost[j, i]) * m.x[j, i] for j in m.facility for i in m.client)
    )
    return m


def facility_location(seed: int, facilities: int = 30, clients: int = 80) -> Model:
    """Capacitated facility location; a client may be served by several facilities."""
    return _facilities(seed, facilities, clients, single=False)


def single_source(seed: int, facilities: int = 25, clients: int = 60) -> Model:
    """Capacitated facility location; a client is served by one facility."""
    return _facilities(seed, facilities, clients, single=True)


def scheduling(seed: int, machines: int = 4, jobs: int = 40, horizon: int = 70) -> Model:
    """Weighted tardiness on unrelated machines, indexed by time."""
    rng = np.random.default_rng(seed)
    length, weight = rng.integers(3, 11, (machines, jobs)), rng.integers(1, 11, jobs).tolist()
    due = rng.integers(3, horizon - 8, jobs).tolist()
    m = pyo.ConcreteModel()
    m.machine, m.job, m.time = pyo.RangeSet(0, machines - 1), pyo.RangeSet(0, jobs - 1), pyo.RangeSet(0, horizon - 1)
    m.x = pyo.Var(
        m.machine, m.job, m.time, domain=pyo.Binary, bounds=lambda m, k, j, t: (0, int(t + length[k, j] <= horizon))
    )
    m.once = pyo.Constraint(m.job, rule=lambda m, j: sum(m.x[k, j, t] for k in m.machine for t in m.time) == 1)

    def busy(m: Model, k: int, t: int) -> object:
        return sum(m.x[k, j, s] for j in m.job for s in range(max(0, t - int(length[k, j]) + 1), t + 1)) <= 1

    m.busy = pyo.Constraint(m.machine, m.time, rule=busy)
    m.cost = pyo.Objective(
        expr=sum(
            weight[j] * max(0, t + int(length[k, j]) - due[j]) * m.x[k, j, t]
            for k in m.machine
            for j in m.job
            for t in m.time
        )
    )
    return m


def network_design(seed: int, nodes: int = 25, arcs: int = 110, commodities: int = 30) -> Model:
    """Fixed-charge network design with unsplittable commodities; a commodity is a block."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(nodes).tolist()
    links = {(order[k], order[(k + 1) % nodes]) for k in range(nodes)}  # a cycle connects all nodes
    while len(links) < arcs:
        u, v = rng.integers(nodes, size=2).tolist()
        if u != v:
            links.add((u, v))
    arc = sorted(links)
    ends = [rng.choice(nodes, 2, replace=False).tolist() for _ in range(commodities)]
    amount = rng.integers(5, 25, commodities).tolist()
    fixed, unit = rng.integers(100, 400, arcs).tolist(), rng.integers(1, 11, arcs).tolist()
    room = rng.integers(40, 90, arcs).tolist()
    m = pyo.ConcreteModel()
    m.commodity, m.arc, m.node = pyo.RangeSet(0, commodities - 1), pyo.RangeSet(0, arcs - 1), pyo.RangeSet(0, nodes - 1)
    m.x, m.open = pyo.Var(m.commodity, m.arc, domain=pyo.Binary), pyo.Var(m.arc, domain=pyo.Binary)
    m.extra = pyo.Var(m.arc, domain=pyo.NonNegativeReals)

    def flow(m: Model, k: int, v: int) -> object:
        out = sum(m.x[k, a] for a in m.arc if arc[a][0] == v) - sum(m.x[k, a] for a in m.arc if arc[a][1] == v)
        return out == (1 if v == ends[k][0] else -1 if v == ends[k][1] else 0)

    m.flow = pyo.Constraint(m.commodity, m.node, rule=flow)
    m.room = pyo.Constraint(
        m.arc, rule=lambda m, a: sum(amount[k] * m.x[k, a] for k in m.commodity) <= room[a] * m.open[a] + m.extra[a]
    )
    m.cost = pyo.Objective(
        expr=sum(fixed[a] * m.open[a] + 20 * m.extra[a] for a in m.arc)
        + sum(amount[k] * unit[a] * m.x[k, a] for k in m.commodity for a in m.arc)
    )
    return m


def unit_commitment(seed: int, units: int = 15, hours: int = 24) -> Model:
    """Thermal units with minimum output, start-up costs and minimum up times."""
    rng = np.random.default_rng(seed)
    high = rng.integers(50, 200, units)
    low, cost = (0.4 * high).astype(int).tolist(), rng.uniform(10, 30, units).round(1).tolist()
    idle, start = rng.integers(200, 800, units).tolist(), rng.integers(200, 1500, units).tolist()
    need = (high.sum() * (0.55 + 0.25 * np.sin(np.arange(hours) / hours * 4 * np.pi))).astype(int).tolist()
    m = pyo.ConcreteModel()
    m.unit, m.hour = pyo.RangeSet(0, units - 1), pyo.RangeSet(0, hours - 1)
    m.on, m.start = (pyo.Var(m.unit, m.hour, domain=pyo.Binary) for _ in range(2))
    m.power = pyo.Var(m.unit, m.hour, domain=pyo.NonNegativeReals)
    m.short = pyo.Var(m.hour, domain=pyo.NonNegativeReals)
    m.least = pyo.Constraint(m.unit, m.hour, rule=lambda m, u, t: m.power[u, t] >= low[u] * m.on[u, t])
    m.most = pyo.Constraint(m.unit, m.hour, rule=lambda m, u, t: m.power[u, t] <= int(high[u]) * m.on[u, t])
    m.begin = pyo.Constraint(
        m.unit, m.hour, rule=lambda m, u, t: m.start[u, t] >= m.on[u, t] - (m.on[u, t - 1] if t else 0)
    )
    m.up = pyo.Constraint(
        m.unit, m.hour, rule=lambda m, u, t: sum(m.start[u, s] for s in range(max(0, t - 3), t + 1)) <= m.on[u, t]
    )
    m.met = pyo.Constraint(m.hour, rule=lambda m, t: sum(m.power[u, t] for u in m.unit) + m.short[t] >= need[t])
    m.cost = pyo.Objective(
        expr=sum(
            cost[u] * m.power[u, t] + idle[u] * m.on[u, t] + start[u] * m.start[u, t] for u in m.unit for t in m.hour
        )
        + 200 * sum(m.short[t] for t in m.hour)
    )
    return m


def makespan(seed: int, machines: int = 8, jobs: int = 50) -> Model:
    """Makespan on unrelated machines; the makespan is a variable of no block."""
    rng = np.random.default_rng(seed)
    length = rng.integers(10, 100, (machines, jobs))
    m = pyo.ConcreteModel()
    m.machine, m.job = pyo.RangeSet(0, machines - 1), pyo.RangeSet(0, jobs - 1)
    m.x, m.span = pyo.Var(m.machine, m.job, domain=pyo.Binary), pyo.Var(domain=pyo.NonNegativeReals)
    m.done = pyo.Var(m.machine, domain=pyo.NonNegativeIntegers, bounds=(0, 2000))
    m.once = pyo.Constraint(m.job, rule=lambda m, j: sum(m.x[k, j] for k in m.machine) == 1)
    m.sum = pyo.Constraint(m.machine, rule=lambda m, k: sum(int(length[k, j]) * m.x[k, j] for j in m.job) == m.done[k])
    m.most = pyo.Constraint(m.machine, rule=lambda m, k: m.done[k] <= m.span)
    m.total = pyo.Objective(expr=m.span)
    return m


def timetable(seed: int, rooms: int = 6, events: int = 50, slots: int = 10) -> Model:
    """Events in rooms and slots; events that share people are in different slots, which link the rooms."""
    rng = np.random.default_rng(seed)
    people, size = rng.integers(5, 100, events), np.sort(rng.integers(30, 120, rooms))
    worth = rng.integers(1, 100, (events, slots))
    pairs = [(a, b) for a in range(events) for b in range(a + 1, events) if rng.random() < 0.12]
    m = pyo.ConcreteModel()
    m.slot, m.event, m.room = pyo.RangeSet(0, slots - 1), pyo.RangeSet(0, events - 1), pyo.RangeSet(0, rooms - 1)
    m.x = pyo.Var(m.slot, m.event, m.room, domain=pyo.Binary, bounds=lambda m, s, e, r: (0, int(people[e] <= size[r])))
    m.once = pyo.Constraint(m.event, rule=lambda m, e: sum(m.x[s, e, r] for s in m.slot for r in m.room) <= 1)
    m.one = pyo.Constraint(m.slot, m.room, rule=lambda m, s, r: sum(m.x[s, e, r] for e in m.event) <= 1)
    m.apart = pyo.Constraint(
        m.slot,
        range(len(pairs)),
        rule=lambda m, s, p: sum(m.x[s, e, r] for e in pairs[p] for r in m.room) <= 1,
    )
    m.worth = pyo.Objective(
        expr=sum(int(worth[e, s]) * m.x[s, e, r] for s in m.slot for e in m.event for r in m.room), sense=pyo.maximize
    )
    return m


FAMILIES: dict[str, tuple[Callable[[int], Model], str | None]] = {
    "bin packing": (bin_packing, "bin"),
    "cutting stock": (cutting_stock, "roll"),
    "p-median": (p_median, "site"),
    "assignment": (assignment, "machine"),
    "multiple knapsack": (multiple_knapsack, "knapsack"),
    "lot sizing": (lot_sizing, "item"),
    "colouring": (colouring, "colour"),
    "facility location": (facility_location, "facility"),
    "single source": (single_source, "facility"),
    "scheduling": (scheduling, "machine"),
    "network design": (network_design, "commodity"),
    "unit commitment": (unit_commitment, "unit"),
    "makespan": (makespan, "machine"),
    "timetable": (timetable, "slot"),
}
"""The families, each with the index set of its blocks."""
