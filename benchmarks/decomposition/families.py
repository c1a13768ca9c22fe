"""Families of seeded compact Pyomo models, each with the name of the index of its blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyomo.environ as pyo

from colgen.problems.assignment.instance import random as random_assignment
from colgen.problems.assignment.model import full


@dataclass(frozen=True)
class Family:
    """A kind of model.

    Attributes
    ----------
    build
        Function that builds a model from a size and a seed.
    by
        Index of the blocks.
    sizes
        Size of a quick run and of a full one.
    pays
        Whether decomposition is expected to help, by a better bound or by removing symmetry.
    method
        Decomposition method.
    """

    build: Callable[[int, int], pyo.ConcreteModel]
    by: str
    sizes: tuple[int, int]
    pays: bool
    method: Literal["dantzig-wolfe", "benders"] = "dantzig-wolfe"

    @property
    def seeds(self) -> int:
        """Return the number of instances of a full run: several if the family is part of a mean over families."""
        return 3 if self.pays else 1


def assignment(size: int, seed: int) -> pyo.ConcreteModel:
    """Return generalized assignment of type D (large tasks are cheap): ``size`` tasks on max(size // 6, 3) machines."""
    return full(random_assignment(max(size // 6, 3), size, seed))


def packing(size: int, seed: int) -> pyo.ConcreteModel:
    """Return bin packing with items of 20% to 50% of a bin, and more bins than needed."""
    sizes = np.random.default_rng(seed).integers(20, 51, size).tolist()
    m = pyo.ConcreteModel()
    m.bin, m.item = pyo.RangeSet(0, sum(sizes) // 80), pyo.RangeSet(0, size - 1)
    m.x, m.used = pyo.Var(m.bin, m.item, domain=pyo.Binary), pyo.Var(m.bin, domain=pyo.Binary)
    m.packed = pyo.Constraint(m.item, rule=lambda m, i: sum(m.x[b, i] for b in m.bin) == 1)
    m.room = pyo.Constraint(m.bin, rule=lambda m, b: sum(sizes[i] * m.x[b, i] for i in m.item) <= 100 * m.used[b])
    m.bins = pyo.Objective(expr=sum(m.used[b] for b in m.bin))
    return m


def cutting(size: int, seed: int) -> pyo.ConcreteModel:
    """Return cutting stock with ``size`` widths and identical rolls."""
    rng = np.random.default_rng(seed)
    widths, demand = rng.integers(15, 60, size).tolist(), rng.integers(2, 7, size).tolist()
    m = pyo.ConcreteModel()
    rolls = int(1.3 * sum(w * d for w, d in zip(widths, demand, strict=True)) / 100) + 2
    m.roll, m.item = pyo.RangeSet(rolls), pyo.RangeSet(0, size - 1)
    m.n = pyo.Var(m.roll, m.item, domain=pyo.NonNegativeIntegers, bounds=lambda m, r, i: (0, 100 // widths[i]))
    m.used = pyo.Var(m.roll, domain=pyo.Binary)
    m.wanted = pyo.Constraint(m.item, rule=lambda m, i: sum(m.n[r, i] for r in m.roll) >= demand[i])
    m.room = pyo.Constraint(m.roll, rule=lambda m, r: sum(widths[i] * m.n[r, i] for i in m.item) <= 100 * m.used[r])
    m.rolls = pyo.Objective(expr=sum(m.used[r] for r in m.roll))
    return m


def median(size: int, seed: int) -> pyo.ConcreteModel:
    """Return a capacitated p-median problem in the plane: p = max(size // 5, 2), total capacity 1.1 times demand."""
    rng = np.random.default_rng(seed)
    places, demand = rng.integers(1, 101, (size, 2)), rng.integers(1, 21, size).tolist()
    medians = max(size // 5, 2)
    far = np.floor(np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))).astype(int).tolist()
    room = int(1.1 * sum(demand) / medians) + 1
    m = pyo.ConcreteModel()
    m.median, m.customer = pyo.RangeSet(0, size - 1), pyo.RangeSet(0, size - 1)
    m.serves, m.open = pyo.Var(m.median, m.customer, domain=pyo.Binary), pyo.Var(m.median, domain=pyo.Binary)
    m.served = pyo.Constraint(m.customer, rule=lambda m, i: sum(m.serves[j, i] for j in m.median) == 1)
    m.count = pyo.Constraint(expr=sum(m.open[j] for j in m.median) == medians)
    m.room = pyo.Constraint(
        m.median, rule=lambda m, j: sum(demand[i] * m.serves[j, i] for i in m.customer) <= room * m.open[j]
    )
    m.way = pyo.Objective(expr=sum(far[j][i] * m.serves[j, i] for j in m.median for i in m.customer))
    return m


def lots(size: int, seed: int) -> pyo.ConcreteModel:
    """Return lot sizing of ``size`` items on one machine over ``size`` periods, with setup costs and setup times."""
    rng, periods = np.random.default_rng(seed), size
    demand = rng.integers(0, 60, (size, periods))
    demand[:, 0] = rng.integers(0, 20, size)
    setup, hold = rng.integers(100, 400, size).tolist(), rng.integers(1, 4, size).tolist()
    m = pyo.ConcreteModel()
    m.item, m.period = pyo.RangeSet(0, size - 1), pyo.RangeSet(0, periods - 1)
    m.made, m.kept = (pyo.Var(m.item, m.period, domain=pyo.NonNegativeReals) for _ in range(2))
    m.ready = pyo.Var(m.item, m.period, domain=pyo.Binary)
    m.balance = pyo.Constraint(
        m.item,
        m.period,
        rule=lambda m, i, t: (m.kept[i, t - 1] if t else 0) + m.made[i, t] == int(demand[i, t]) + m.kept[i, t],
    )
    m.setup = pyo.Constraint(
        m.item, m.period, rule=lambda m, i, t: m.made[i, t] <= int(demand[i, t:].sum()) * m.ready[i, t]
    )
    m.end = pyo.Constraint(m.item, rule=lambda m, i: m.kept[i, periods - 1] == 0)
    room = 1.25 * float(np.cumsum(demand.sum(axis=0)).max()) / periods + 5 * size / 2
    m.room = pyo.Constraint(m.period, rule=lambda m, t: sum(m.made[i, t] + 5 * m.ready[i, t] for i in m.item) <= room)
    m.cost = pyo.Objective(
        expr=sum(setup[i] * m.ready[i, t] + hold[i] * m.kept[i, t] for i in m.item for t in m.period)
    )
    return m


def capacity(size: int, seed: int) -> pyo.ConcreteModel:
    """Return two-stage capacity planning: integer units at ten sites, then ``size`` scenarios of demand."""
    rng = np.random.default_rng(seed)
    sites, customers, share = 10, 15, 1.0 / size
    demand = rng.integers(5, 31, (size, customers)).tolist()
    build = rng.integers(40, 90, sites).tolist()
    ship = rng.integers(5, 40, (sites, customers)).tolist()
    m = pyo.ConcreteModel()
    m.scenario, m.site = pyo.RangeSet(0, size - 1), pyo.RangeSet(0, sites - 1)
    m.customer = pyo.RangeSet(0, customers - 1)
    m.units = pyo.Var(m.site, domain=pyo.NonNegativeIntegers, bounds=(0, 8))
    m.sent = pyo.Var(m.scenario, m.site, m.customer, domain=pyo.NonNegativeReals)
    m.lost = pyo.Var(m.scenario, m.customer, domain=pyo.NonNegativeReals)
    m.room = pyo.Constraint(
        m.scenario, m.site, rule=lambda m, s, i: sum(m.sent[s, i, j] for j in m.customer) <= 10 * m.units[i]
    )
    m.met = pyo.Constraint(
        m.scenario,
        m.customer,
        rule=lambda m, s, j: sum(m.sent[s, i, j] for i in m.site) + m.lost[s, j] == demand[s][j],
    )
    shipped = sum(share * ship[i][j] * m.sent[s, i, j] for s in m.scenario for i in m.site for j in m.customer)
    lost = sum(share * 100 * m.lost[s, j] for s in m.scenario for j in m.customer)
    m.cost = pyo.Objective(expr=sum(build[i] * m.units[i] for i in m.site) + shipped + lost)
    return m


FAMILIES = {
    "assignment": Family(assignment, "machine", (30, 42), True),
    "packing": Family(packing, "bin", (50, 80), True),
    "lots": Family(lots, "item", (4, 12), True),
    "cutting": Family(cutting, "roll", (6, 12), False),
    "median": Family(median, "median", (12, 30), False),
    "capacity": Family(capacity, "scenario", (10, 100), False, "benders"),
}
"""Families by name."""
