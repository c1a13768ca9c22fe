"""Smaller cases: fewer parts, rounder numbers, simpler options."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import optimize, sparse

from tests.fuzz.engine.pools import Case, PoolGroup, PoolRow, Program, Way, may_pair
from tests.fuzz.engine.truth import arrays


def is_correct(case: Case) -> bool:
    """Return whether the data of a case are correct: multiplicities, step, known answer, pairs for branching."""
    program, way = case.program, case.way
    a = arrays(program)
    for k, group in enumerate(program.groups):
        if group.multiplicity is None or not a.costs.size:
            continue
        counts = np.array([*(float(c.group == k) for c in program.columns), *(0.0 for _ in program.variables)])
        most = optimize.milp(
            -counts,
            constraints=optimize.LinearConstraint(sparse.csr_array(a.matrix.astype(float)), a.row_lower, a.row_upper),
            bounds=optimize.Bounds(a.lower, a.upper),
        )
        if most.status not in (0, 2) or (most.status == 0 and -most.fun > group.multiplicity + 1e-6):
            return False
    parts = program.parts
    costs = [part.cost for part in parts] + [program.offset]
    if program.step and (any(c % program.step for c in costs) or not all(p.integer or not p.cost for p in parts)):
        return False
    if way.answer is not None:
        x = np.array(way.answer)
        activity = a.matrix @ x
        if not ((x >= a.lower) & (x <= a.upper)).all():
            return False
        if not ((activity >= a.row_lower) & (activity <= a.row_upper)).all():
            return False
    if way.branching == "pairs":
        return may_pair(program)
    return True


def simplify(case: Case) -> Iterator[Case]:
    """Yield smaller cases, the largest reductions first."""
    program, way = case.program, case.way
    n, v = len(program.columns), len(program.variables)
    for size in (n // 2, n // 4, 1):
        for first in range(0, n if size else 0, max(size, 1)):
            yield _without_columns(case, set(range(first, min(first + size, n))))
    for i in range(len(program.rows)):
        yield _without_row(case, i)
    for i in range(v):
        yield _without_variable(case, i)
    plain = Way()
    for field in dataclasses.fields(Way):
        if getattr(way, field.name) != getattr(plain, field.name):
            yield Case(program, dataclasses.replace(way, **{field.name: getattr(plain, field.name)}))
    if way.heuristics:
        yield Case(program, dataclasses.replace(way, heuristics=()))
    if way.alpha is None or way.alpha >= 0:
        yield Case(program, dataclasses.replace(way, alpha=-1.0))

    def other(**changes: Any) -> Case:
        return Case(dataclasses.replace(program, **changes), way)

    yield from (other(**{name: value}) for name, value in _simplify_attributes(program).items())
    for k, group in enumerate(program.groups):
        for field in dataclasses.fields(PoolGroup):
            value = getattr(PoolGroup(), field.name)
            if getattr(group, field.name) != value:
                changed = dataclasses.replace(group, **{field.name: value})
                yield other(groups=(*program.groups[:k], changed, *program.groups[k + 1 :]))
    if len(program.groups) > 1:
        columns = tuple(dataclasses.replace(c, group=0) for c in program.columns)
        yield other(groups=(dataclasses.replace(program.groups[0], multiplicity=None),), columns=columns)
    for name in ("columns", "variables", "rows", "exchanges"):
        parts = getattr(program, name)
        for k, part in enumerate(parts):
            for simpler in _simplify_part(part):
                yield other(**{name: (*parts[:k], simpler, *parts[k + 1 :])})


def _simplify_attributes(program: Program) -> dict[str, Any]:
    """Return simpler values of the program's attributes."""
    defaults = {
        "offset": 0,
        "step": 0,
        "cost_scale": 1.0,
        "row_scales": (1.0,) * len(program.rows),
        "unit_artificials": True,
        "exchanges": (),
    }
    changes = {name: value for name, value in defaults.items() if getattr(program, name) != value}
    if program.cost_scale != 1.0 and math.log10(program.cost_scale) % 1.0:
        changes["cost_scale"] = 10.0 ** round(math.log10(program.cost_scale))
    return changes


def _simplify_part(part: Any) -> Iterator[Any]:
    """Yield copies of a column, variable or row with one simpler number."""
    if not isinstance(part, PoolRow):
        for i in part.entries:
            yield dataclasses.replace(part, entries={k: a for k, a in part.entries.items() if k != i})
            for entry in _round_number(part.entries[i]):
                if entry:
                    yield dataclasses.replace(part, entries={**part.entries, i: entry})
        for cost in _round_number(part.cost):
            yield dataclasses.replace(part, cost=cost)
    for name, plain in (("upper", None), ("integer", True), ("link", None), ("lazy", False), ("lower", 0)):
        if hasattr(part, name) and getattr(part, name) != plain and not (isinstance(part, PoolRow) and name == "lower"):
            yield dataclasses.replace(part, **{name: plain})
    if isinstance(part, PoolRow):
        for name in ("lower", "upper"):
            if getattr(part, name) is not None:
                sides: dict[str, Any] = {name: None}
                yield dataclasses.replace(part, **sides)
        if part.lower == part.upper and part.lower is not None:
            yield from (dataclasses.replace(part, lower=side, upper=side) for side in _round_number(part.lower))


def _round_number(number: int) -> list[int]:
    sign = 1 if number > 0 else -1
    smaller = {0, sign, sign * 10 ** max(len(str(abs(number))) - 1, 0), int(number / 2)}
    return sorted((s for s in smaller if abs(s) < abs(number)), key=abs)


def _without_columns(case: Case, gone: set[int]) -> Case:
    kept = [j for j in range(len(case.program.columns)) if j not in gone]
    position = {j: k for k, j in enumerate(kept)}
    program = dataclasses.replace(case.program, columns=tuple(case.program.columns[j] for j in kept))
    way, answer = case.way, case.way.answer
    if answer is not None:
        answer = None if any(answer[j] for j in gone) else tuple(x for j, x in enumerate(answer) if j not in gone)
    start = tuple(position[j] for j in way.start if j in position)
    return Case(program, dataclasses.replace(way, start=start, answer=answer))


def _without_variable(case: Case, gone: int) -> Case:
    program, way = case.program, case.way

    def link(old: int | None) -> int | None:
        return None if old is None or old == gone else old - (old > gone)

    columns = tuple(dataclasses.replace(c, link=link(c.link)) for c in program.columns)
    kept = tuple(variable for v, variable in enumerate(program.variables) if v != gone)
    return Case(dataclasses.replace(program, columns=columns, variables=kept), dataclasses.replace(way, answer=None))


def _without_row(case: Case, gone: int) -> Case:
    program, way = case.program, case.way

    def entries(part: Any) -> Any:
        return dataclasses.replace(part, entries={i - (i > gone): a for i, a in part.entries.items() if i != gone})

    changed = dataclasses.replace(
        program,
        columns=tuple(map(entries, program.columns)),
        variables=tuple(map(entries, program.variables)),
        exchanges=tuple(map(entries, program.exchanges)),
        rows=(*program.rows[:gone], *program.rows[gone + 1 :]),
        row_scales=(*program.row_scales[:gone], *program.row_scales[gone + 1 :]),
    )
    duals = None if way.duals is None else (*way.duals[:gone], *way.duals[gone + 1 :])
    return Case(changed, dataclasses.replace(way, duals=duals))
