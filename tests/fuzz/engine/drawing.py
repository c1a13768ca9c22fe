"""Random programs and random ways to solve them."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tests.fuzz.engine.pools import (
    PENALTY,
    Case,
    PoolColumn,
    PoolExchange,
    PoolGroup,
    PoolRow,
    PoolVariable,
    Program,
    Way,
    may_pair,
)
from tests.fuzz.engine.truth import Truth, solve_complete
from tests.fuzz.scores import Rng, draw_power

_KINDS = ("partition", "cover", "pack", "cutting", "general", "general", "general")
_QUEUES = ("Plunging", "BestBound", "DepthFirst", "LevelWise")


def draw_case(rng: Rng) -> tuple[Case, Truth]:
    """Draw a case; return it with the truth about its program."""
    while True:
        program = draw_program(rng)
        truth = solve_complete(program)
        if truth is not None:
            way = _draw_way(rng, program, truth)
            return _shift_to_zero(rng.spawn(1)[0], Case(program, way), truth)


def _shift_to_zero(rng: Rng, case: Case, truth: Truth) -> tuple[Case, Truth]:
    """In 20% of cases add a constant that makes the optimum zero, which must not change the verdict."""
    program, shift = case.program, -truth.objective
    if truth.status != "optimal" or shift != round(shift) or rng.random() < 0.8:
        return case, truth
    if program.step and int(shift) % program.step:
        return case, truth
    moved = dataclasses.replace(program, offset=program.offset + int(shift))
    shifted = dataclasses.replace(truth, objective=0.0, relaxed=truth.relaxed + shift)
    return Case(moved, case.way), shifted


def draw_program(rng: Rng) -> Program:
    """Draw a small program, in 5% of cases a larger one."""
    kind = str(rng.choice(_KINDS))
    large = rng.random() < 0.05
    rows = int(rng.integers(3, 15 if large else 9))
    columns = int(rng.integers(5, 60 if large else 20))
    if rng.random() < 0.01:
        rows, columns = int(rng.integers(0, 3)), int(rng.integers(0, 3))
    program = _draw_general(rng, rows, columns) if kind == "general" else _draw_classic(rng, kind, rows, columns)
    program = _with_costs(rng, program)
    program = _with_attributes(rng, program)
    program = _with_groups(rng, program)
    if rng.random() < 0.3:
        program = _with_lazy_rows(rng, program)
    program = _with_other_sizes(rng.spawn(1)[0], program)
    if rng.random() < 0.2:
        program = dataclasses.replace(program, offset=int(rng.choice([-7, 3, 1000, 10**7])))
    if rng.random() < 0.4:
        integer = all(part.integer or not part.cost for part in program.parts)
        step = math.gcd(program.offset, *(part.cost for part in program.parts))
        program = dataclasses.replace(program, step=step if integer else 0)
    return _with_exchanges(rng.spawn(1)[0], _with_scales(rng, program))


def _draw_classic(rng: Rng, kind: str, rows: int, columns: int) -> Program:
    parts = []
    for _ in range(columns):
        size = int(rng.integers(1, min(rows, 4) + 1)) if rows else 0
        members = sorted(int(i) for i in rng.choice(rows, size, replace=False)) if rows else []
        top = 1 if kind == "partition" or rng.random() < 0.5 else 3
        parts.append(PoolColumn(1, {i: int(rng.integers(1, top + 1)) for i in members}))
    if kind != "pack" and rng.random() < 0.7:  # so that it is feasible
        parts += [PoolColumn(1, {i: 1}) for i in range(rows)]
    side = 1 if kind == "partition" else int(rng.integers(1, 8))
    sides = [1 if kind == "partition" else int(rng.integers(1, side + 1)) for _ in range(rows)]
    lower, upper = kind != "pack", kind in ("pack", "partition")
    made = tuple(PoolRow(d if lower else None, d if upper else None) for d in sides)
    return Program(kind, kind == "pack", tuple(parts), (), made, ())


def _draw_general(rng: Rng, rows: int, columns: int) -> Program:
    negative = rng.random() < 0.5
    parts = []
    for _ in range(columns):
        size = int(rng.integers(1, min(rows, 5) + 1)) if rows else 0
        members = sorted(int(i) for i in rng.choice(rows, size, replace=False)) if rows else []
        entries = {i: int(rng.integers(-3 if negative else 1, 4)) for i in members}
        parts.append(PoolColumn(1, {i: a for i, a in entries.items() if a}))
    point = rng.integers(0, 2, columns) * rng.integers(0, 3, columns)
    feasible = rng.random() < 0.85
    made = []
    for i in range(rows):
        activity = sum(part.entries.get(i, 0) * int(x) for part, x in zip(parts, point, strict=True))
        if not feasible:
            activity += int(rng.integers(-2, 3))
        below, above = int(rng.integers(0, 3)), int(rng.integers(0, 4))
        made.append(
            {
                0: PoolRow(activity, activity),
                1: PoolRow(activity - below, None),
                2: PoolRow(None, activity + above),
                3: PoolRow(activity - below, activity + above),
            }[int(rng.choice([0, 1, 2, 3], p=[0.2, 0.3, 0.3, 0.2]))]
        )
    maximize = bool(rng.random() < 0.5)
    return Program("general", maximize, tuple(parts), (), tuple(made), ())


def _with_costs(rng: Rng, program: Program) -> Program:
    """Draw costs of one style: small, tied, nearly tied, of different sizes, equal, or penalties."""
    style = str(rng.choice(["small", "tied", "near", "wide", "one", "penalties"], p=[0.35, 0.15, 0.15, 0.15, 0.1, 0.1]))
    if program.kind == "cutting":
        style = "one"
    n = len(program.columns)
    if style in ("small", "penalties"):
        costs = rng.integers(1, 21, n)
    elif style == "tied":
        costs = rng.integers(1, 3, n)
    elif style == "near":
        costs = 10**6 * rng.integers(1, 3, n) + rng.integers(0, 11, n)
    elif style == "wide":
        costs = 10 ** rng.integers(0, 6, n) * rng.integers(1, 10, n)
    else:
        costs = np.ones(n, dtype=np.int64)
    worse = 1
    if program.kind == "general":
        if rng.random() < 0.6:  # of both signs; some programs become unbounded
            costs = costs * rng.choice([-1, 1], n)
        worse = -1 if program.maximize else 1
    elif style != "one" and rng.random() < 0.3:
        program, costs = dataclasses.replace(program, maximize=not program.maximize), -costs
    if style == "penalties":
        worse = -1 if program.maximize else 1
        size = int(rng.choice([PENALTY, 10**8, 10**10, 10**12]))
        costs = np.where(rng.random(n) < 0.3, worse * size, costs)
    return dataclasses.replace(
        program,
        columns=tuple(dataclasses.replace(c, cost=int(v)) for c, v in zip(program.columns, costs, strict=True)),
    )


def _with_attributes(rng: Rng, program: Program) -> Program:
    """Add bounds of columns, continuous columns, template variables, and columns with rows of their own."""
    columns = list(program.columns)
    if rng.random() < 0.2:
        columns = [dataclasses.replace(c, integer=bool(rng.random() < 0.5)) for c in columns]
    if rng.random() < 0.2:
        columns = [dataclasses.replace(c, upper=int(rng.integers(1, 3))) if rng.random() < 0.4 else c for c in columns]
    variables = []
    if rng.random() < 0.35 and program.rows:
        for _ in range(int(rng.integers(1, 4))):
            entries = {int(rng.integers(len(program.rows))): int(rng.choice([-2, -1, 1, 2])) for _ in range(2)}
            low, high = (0, int(rng.integers(1, 5))) if rng.random() < 0.7 else (None, int(rng.integers(0, 4)))
            cost = int(rng.integers(1, 10)) * (-1 if program.maximize else 1)
            if low is None:  # otherwise most programs would be unbounded
                cost = -cost
            variables.append(PoolVariable(cost, entries, low, high, bool(rng.random() < 0.5)))
        if rng.random() < 0.5:
            bounded = [v for v, variable in enumerate(variables) if variable.lower == 0]
            columns = [
                dataclasses.replace(c, link=int(rng.choice(bounded))) if bounded and rng.random() < 0.4 else c
                for c in columns
            ]
    return dataclasses.replace(program, columns=tuple(columns), variables=tuple(variables))


def _with_groups(rng: Rng, program: Program) -> Program:
    """Divide the columns among several pricing problems, with multiplicities that additional rows enforce."""
    count = int(rng.choice([1, 2, 3], p=[0.6, 0.25, 0.15]))
    columns = [dataclasses.replace(c, group=int(rng.integers(count))) for c in program.columns]
    rows, groups = list(program.rows), []
    for k in range(count):
        limit: int | None = None
        if rng.random() < (0.6 if program.kind == "general" else 0.3):
            limit = int(rng.integers(1, 7))
            for j, column in enumerate(columns):
                if column.group == k:
                    columns[j] = dataclasses.replace(column, entries={**column.entries, len(rows): 1})
            rows.append(PoolRow(None, limit))
        elif program.kind == "partition" and program.rows and not program.variables:
            limit = len(program.rows)
        positive = all((c.cost > 0) != program.maximize for c in columns if c.group == k)
        bounds_cost = (positive and rng.random() < 0.5) or rng.random() < 0.1
        groups.append(
            PoolGroup(
                limit,
                bounds_cost,
                bool(rng.random() < 0.7),
                int(rng.choice([1, 1, 2, 5])),
                str(rng.choice(["own", "engine", "stages", "total"])),
            )
        )
    return dataclasses.replace(program, columns=tuple(columns), rows=tuple(rows), groups=tuple(groups))


def _with_other_sizes(rng: Rng, program: Program) -> Program:
    """In 20% of cases add columns or variables in a separate row with a large side, at costs of another size.

    The new costs are 1e-6 to 1e7 of the old ones, which is the widest range that one linear program can represent.
    """
    largest = max((abs(part.cost) for part in program.parts), default=0)
    if rng.random() < 0.8 or largest > 10**6 or any(row.lazy for row in program.rows):
        return program
    better = 1 if program.maximize else -1
    first, group = len(program.rows), len(program.groups)
    row, many = PoolRow(None, 10 ** int(rng.integers(0, 9))), int(rng.integers(1, 3))
    endless = rng.random() < 0.1
    room = 7 - len(str(largest))
    theirs, own = (
        (10 ** int(rng.integers(0, room + 1)), 1) if rng.random() < 0.6 else (1, 10 ** int(rng.integers(0, 7)))
    )

    def draw() -> tuple[int, dict[int, int]]:
        return better * own * int(rng.integers(1, 10)), {} if endless else {first: int(rng.integers(1, 4))}

    columns = tuple(dataclasses.replace(c, cost=theirs * c.cost) for c in program.columns)
    variables = tuple(dataclasses.replace(v, cost=theirs * v.cost) for v in program.variables)
    if rng.random() < 0.6:
        columns += tuple(PoolColumn(*draw(), group=group, integer=bool(rng.random() < 0.5)) for _ in range(many))
    else:
        variables += tuple(PoolVariable(*draw(), integer=bool(rng.random() < 0.5)) for _ in range(many))
    groups = (*program.groups, PoolGroup(None, False, bool(rng.random() < 0.7), int(rng.integers(1, 3))))
    rows = (*program.rows, row)
    return dataclasses.replace(program, columns=columns, variables=variables, rows=rows, groups=groups)


def _with_lazy_rows(rng: Rng, program: Program) -> Program:
    """Make some rows lazy, including rows that enforce multiplicities."""
    rows = [dataclasses.replace(row, lazy=bool(rng.random() < 0.4)) for row in program.rows]
    return dataclasses.replace(program, rows=tuple(rows))


def _with_exchanges(rng: Rng, program: Program) -> Program:
    """In 20% of cases add dual inequalities, valid or invalid, from a separate generator."""
    if not program.rows or rng.random() < 0.8:
        return program
    worse = -1 if program.maximize else 1
    exchanges = []
    for _ in range(int(rng.integers(1, 4))):
        entries = {int(rng.integers(len(program.rows))): int(rng.choice([-2, -1, 1, 2])) for _ in range(2)}
        exchanges.append(PoolExchange(worse * int(rng.integers(-1, 6)), entries))
    return dataclasses.replace(program, exchanges=tuple(exchanges))


def _with_scales(rng: Rng, program: Program) -> Program:
    """Scale the objective and rows by factors from 1e-9 to 1e9."""
    style = str(rng.choice(["plain", "costs", "rows", "row", "both"], p=[0.3, 0.3, 0.1, 0.15, 0.15]))
    scales = [1.0] * len(program.rows)
    if style in ("rows", "both"):
        scales = [draw_power(rng)] * len(scales)
    if style == "row" and scales:
        scales[int(rng.integers(len(scales)))] = draw_power(rng)
    return dataclasses.replace(
        program,
        cost_scale=draw_power(rng) if style in ("costs", "both") else 1.0,
        row_scales=tuple(scales),
        unit_artificials=bool(rng.random() < 0.7),
    )


def _draw_way(rng: Rng, program: Program, truth: Truth) -> Way:
    pairs = program.kind == "partition" and may_pair(program)
    heuristics = {
        0: (),
        1: ("RestrictedMIP",),
        2: ("Diving",),
        3: ("RestrictedMIP", "Diving"),
    }[int(rng.choice([0, 1, 2, 3], p=[0.35, 0.35, 0.15, 0.15]))]
    integer = all(x == round(x) for x in truth.answer)
    known = truth.status == "optimal" and truth.exact and integer and rng.random() < 0.15
    n = len(program.columns)
    start = sorted(int(j) for j in rng.choice(n, int(rng.integers(n + 1)), replace=False)) if n else []
    limited = rng.random() < 0.15
    which = int(rng.integers(5))
    return Way(
        branching="pairs" if pairs and rng.random() < 0.7 else "columns",
        queue=str(rng.choice(_QUEUES)),
        alpha=None if rng.random() < 0.4 else float(rng.choice([-1.0, 0.0, 0.3, 0.8, 0.95])),
        clean_up_after=int(rng.integers(1, 5)) if rng.random() < 0.25 else None,
        heuristics=heuristics,
        central=bool(rng.random() < 0.15),
        start=tuple(start) if rng.random() < 0.3 else (),
        duals=tuple(rng.normal(0, 10, len(program.rows)).round(2).tolist()) if rng.random() < 0.2 else None,
        answer=tuple(int(x) for x in truth.answer) if known else None,
        node_limit=int(rng.integers(1, 6)) if limited and which == 0 else 400,
        depth_limit=int(rng.integers(0, 4)) if limited and which == 1 else None,
        time_limit=float(rng.uniform(0, 0.03)) if limited and which == 2 else None,
        gap_limit=float(rng.choice([0.0, 1e-3, 0.1])) if limited and which == 3 else None,
        iteration_limit=int(rng.integers(1, 8)) if limited and which == 4 else None,
        relaxation=bool(rng.random() < 0.05),
        turned=bool(rng.random() < 0.35),
        real_costs=bool(rng.random() < 0.5),
        branch_early=float(rng.choice([0.1, 1.0, 1e6])) if rng.random() < 0.35 else 0.0,
    )
