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
    """Bin packing with identical bins."""
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
    """Cutting stock with identical rolls and a profit per piece."""
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
    """Lot sizing with continuous amounts, set-ups, and integer overtime that stays in the master."""
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


def flows(seed, circuits=False, commodities=3, nodes=5):
    """Paths of several commodities through a network with shared arcs; some nodes have no row, rows have any sign."""
    rng = np.random.default_rng(seed)
    every = [(u, v) for u in range(nodes) for v in range(nodes) if u < v or (circuits and u != v)]
    arcs = [arc for arc in every if arc[1] == arc[0] + 1 or rng.random() < 0.5][:12]
    signs = rng.choice([-2.0, 1.0], (commodities, nodes))
    last = nodes - 1 if seed % 2 else nodes  # each second model leaves the sink's rows out
    length, cost = rng.integers(1, 9, (commodities, len(arcs))), rng.integers(1, 20, (commodities, len(arcs)))
    m = pyo.ConcreteModel()
    m.commodity, m.arc = pyo.RangeSet(0, commodities - 1), pyo.RangeSet(0, len(arcs) - 1)
    m.uses = pyo.Var(m.commodity, m.arc, domain=pyo.Binary)

    def conserved(m, k, v):
        out = sum(m.uses[k, a] for a in m.arc if arcs[a][0] == v)
        into = sum(m.uses[k, a] for a in m.arc if arcs[a][1] == v)
        return signs[k, v] * (out - into) == signs[k, v] * ((v == 0) - (v == nodes - 1))

    m.conserved = pyo.Constraint(m.commodity, range(last), rule=conserved)
    m.room = pyo.Constraint(m.arc, rule=lambda m, a: sum(m.uses[k, a] for k in m.commodity) <= commodities - 1)
    m.long = pyo.Constraint(
        expr=sum(int(length[k, a]) * m.uses[k, a] for k in m.commodity for a in m.arc) <= 4 * commodities * nodes // 2
    )
    m.cost = pyo.Objective(expr=sum(int(cost[k, a]) * m.uses[k, a] for k in m.commodity for a in m.arc))
    return m


def colours(seed, vertices=7, number=4):
    """Graph colouring: at most one of two neighbours has a colour, if it is used."""
    rng = np.random.default_rng(seed)
    edges = [(u, v) for u in range(vertices) for v in range(u) if rng.random() < 0.5]
    worth = rng.integers(1, 9, (number, vertices)).tolist()
    m = pyo.ConcreteModel()
    m.colour, m.vertex = pyo.RangeSet(number), pyo.RangeSet(0, vertices - 1)
    m.has, m.used = pyo.Var(m.colour, m.vertex, domain=pyo.Binary), pyo.Var(m.colour, domain=pyo.Binary)
    m.one = pyo.Constraint(m.vertex, rule=lambda m, v: sum(m.has[c, v] for c in m.colour) <= 1)
    m.edge = pyo.Constraint(
        m.colour, range(len(edges)), rule=lambda m, c, e: m.has[c, edges[e][0]] + m.has[c, edges[e][1]] <= m.used[c]
    )
    m.on = pyo.Constraint(m.colour, m.vertex, rule=lambda m, c, v: m.has[c, v] <= m.used[c])
    m.worth = pyo.Objective(
        expr=sum(worth[c - 1][v] * m.has[c, v] for c in m.colour for v in m.vertex)
        - sum((3 + c) * m.used[c] for c in m.colour),
        sense=pyo.maximize,
    )
    return m


def shifts(seed, crews=3, hours=6):
    """Shift planning: crews work shifts of consecutive hours, and each hour is staffed."""
    rng = np.random.default_rng(seed)
    shapes = [(first, last) for first in range(hours) for last in range(first + 1, min(first + 4, hours))]
    shapes = [shapes[k] for k in sorted(rng.permutation(len(shapes))[:6].tolist())]
    wage, most = rng.integers(3, 12, (crews, len(shapes))).tolist(), rng.integers(1, 3, crews).tolist()
    m = pyo.ConcreteModel()
    m.crew, m.shape, m.hour = pyo.RangeSet(0, crews - 1), pyo.RangeSet(0, len(shapes) - 1), pyo.RangeSet(0, hours - 1)
    m.works = pyo.Var(m.crew, m.shape, domain=pyo.NonNegativeIntegers, bounds=(0, 2))
    m.short = pyo.Var(m.hour, domain=pyo.NonNegativeIntegers, bounds=(0, 9))

    def at(m, c, h):
        return sum(m.works[c, s] for s in m.shape if shapes[s][0] <= h <= shapes[s][1])

    m.room = pyo.Constraint(m.crew, m.hour, rule=lambda m, c, h: at(m, c, h) + 0 * m.works[c, 0] <= most[c])
    m.staffed = pyo.Constraint(
        m.hour, rule=lambda m, h: sum((1 + (c + h) % 2) * at(m, c, h) for c in m.crew) + m.short[h] >= 3
    )
    m.cost = pyo.Objective(
        expr=sum(wage[c][s] * m.works[c, s] for c in m.crew for s in m.shape) + 13 * sum(m.short[h] for h in m.hour)
    )
    return m


FAMILIES = {
    "assignment": (assignment, "machine"),
    "packing": (packing, "bin"),
    "cutting": (cutting, "roll"),
    "lots": (lots, "item"),
    "anything": (anything, None),
}
