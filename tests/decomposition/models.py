"""Small compact models of many kinds, drawn at random."""

import numpy as np
import pyomo.environ as pyo


def assignment(seed, machines=3, tasks=8):
    rng = np.random.default_rng(seed)
    sizes, costs = rng.integers(3, 20, (machines, tasks)), rng.integers(5, 40, (machines, tasks))
    room = (sizes.sum(axis=1) // machines).tolist()
    m = pyo.ConcreteModel()
    m.machine, m.task = pyo.RangeSet(0, machines - 1), pyo.RangeSet(0, tasks - 1)
    m.x = pyo.Var(m.machine, m.task, domain=pyo.Binary)
    m.assign = pyo.Constraint(m.task, rule=lambda m, t: sum(m.x[j, t] for j in m.machine) == 1)
    m.room = pyo.Constraint(
        m.machine, rule=lambda m, j: sum(int(sizes[j, t]) * m.x[j, t] for t in m.task) <= room[j] + 4
    )
    m.cost = pyo.Objective(expr=sum(int(costs[j, t]) * m.x[j, t] for j in m.machine for t in m.task))
    return m


def packing(seed, bins=5, items=7):
    """All bins are the same."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(20, 70, items).tolist()
    m = pyo.ConcreteModel()
    m.bin, m.item = pyo.RangeSet(bins), pyo.RangeSet(0, items - 1)
    m.x, m.used = pyo.Var(m.bin, m.item, domain=pyo.Binary), pyo.Var(m.bin, domain=pyo.Binary)
    m.packed = pyo.Constraint(m.item, rule=lambda m, i: sum(m.x[b, i] for b in m.bin) == 1)
    m.room = pyo.Constraint(m.bin, rule=lambda m, b: sum(sizes[i] * m.x[b, i] for i in m.item) <= 100 * m.used[b])
    m.bins = pyo.Objective(expr=sum(m.used[b] for b in m.bin))
    return m


def cutting(seed, rolls=5, widths=3):
    """Whole numbers of pieces on rolls that are the same, at a profit."""
    rng = np.random.default_rng(seed)
    width, value = rng.integers(17, 60, widths).tolist(), rng.integers(5, 60, widths).tolist()
    demand = rng.integers(2, 5, widths).tolist()
    m = pyo.ConcreteModel()
    m.roll, m.item = pyo.RangeSet(rolls), pyo.RangeSet(0, widths - 1)
    m.n = pyo.Var(m.roll, m.item, domain=pyo.NonNegativeIntegers, bounds=lambda m, r, i: (0, demand[i]))
    m.used = pyo.Var(m.roll, domain=pyo.Binary)
    m.wanted = pyo.Constraint(m.item, rule=lambda m, i: (1, sum(m.n[r, i] for r in m.roll), demand[i]))
    m.room = pyo.Constraint(m.roll, rule=lambda m, r: sum(width[i] * m.n[r, i] for i in m.item) <= 100 * m.used[r])
    m.profit = pyo.Objective(
        expr=sum(value[i] * m.n[r, i] for r in m.roll for i in m.item) - 71 * sum(m.used[r] for r in m.roll) + 3,
        sense=pyo.maximize,
    )
    return m


def lots(seed, items=2, periods=3):
    """Continuous amounts, set-ups, and overtime that stays in the master and is bought in whole numbers."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 30, (items, periods))
    setup, hold = rng.integers(20, 90, items).tolist(), rng.uniform(0.5, 3.0, items).tolist()
    m = pyo.ConcreteModel()
    m.item, m.period = pyo.RangeSet(0, items - 1), pyo.RangeSet(0, periods - 1)
    m.made, m.kept = (pyo.Var(m.item, m.period, domain=pyo.NonNegativeReals) for _ in range(2))
    m.ready = pyo.Var(m.item, m.period, domain=pyo.Binary)
    m.overtime = pyo.Var(m.period, domain=pyo.NonNegativeIntegers, bounds=(0, 6))

    def balance(m, i, t):
        before = m.kept[i, t - 1] if t else 0
        return before + m.made[i, t] == int(demand[i, t]) + m.kept[i, t]

    m.balance = pyo.Constraint(m.item, m.period, rule=balance)
    m.setup = pyo.Constraint(
        m.item, m.period, rule=lambda m, i, t: m.made[i, t] <= int(demand[i, t:].sum()) * m.ready[i, t]
    )
    m.empty = pyo.Constraint(m.item, rule=lambda m, i: m.kept[i, periods - 1] == 0)
    room = float(demand.sum() / periods) + 5
    m.room = pyo.Constraint(
        m.period, rule=lambda m, t: sum(m.made[i, t] + 3 * m.ready[i, t] for i in m.item) <= room + 7 * m.overtime[t]
    )
    m.cost = pyo.Objective(
        expr=sum(setup[i] * m.ready[i, t] + hold[i] * m.kept[i, t] for i in m.item for t in m.period)
        + 11.5 * sum(m.overtime[t] for t in m.period)
    )
    return m


def anything(seed, blocks=3, width=4):
    """``pyo.Block`` components of random rows, variables of any kind and sign, ranges, a static variable."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.spare = pyo.Var(domain=pyo.Integers, bounds=(-2, 4))
    kinds = [pyo.Binary, pyo.Integers, pyo.Reals]

    def block(b, k):
        b.x = pyo.Var(
            range(width), domain=lambda b, j: kinds[j % 3], bounds=lambda b, j: (0, 1) if j % 3 == 0 else (-3, 3)
        )
        a = rng.integers(-4, 5, (2, width)).tolist()
        b.one = pyo.Constraint(expr=(-5, sum(a[0][j] * b.x[j] for j in range(width)), 6))
        b.two = pyo.Constraint(expr=sum(a[1][j] * b.x[j] for j in range(width)) + 0 * b.x[0] >= -4)

    m.part = pyo.Block(range(blocks), rule=block)
    c, a = rng.integers(-9, 10, (blocks, width)).tolist(), rng.integers(-3, 4, (3, blocks, width)).tolist()
    sums = [sum(a[r][k][j] * m.part[k].x[j] for k in range(blocks) for j in range(width)) for r in range(3)]
    m.equal = pyo.Constraint(expr=sums[0] + m.part[0].x[2] + m.spare == 1)
    m.range = pyo.Constraint(expr=(-3, sums[1], 4))
    m.least = pyo.Constraint(expr=sums[2] - m.spare >= -2)
    sense = pyo.minimize if seed % 2 else pyo.maximize
    m.goal = pyo.Objective(
        expr=sum(c[k][j] * m.part[k].x[j] for k in range(blocks) for j in range(width)) + 0.5 * m.spare, sense=sense
    )
    return m


FAMILIES = {
    "assignment": (assignment, "machine"),
    "packing": (packing, "bin"),
    "cutting": (cutting, "roll"),
    "lots": (lots, "item"),
    "anything": (anything, None),
}
