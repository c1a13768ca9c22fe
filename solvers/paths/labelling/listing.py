"""Enumeration of all elementary routes below a gap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colgen.solvers.paths.labelling.boxes import box_charge
from colgen.solvers.paths.labelling.layout import COST, SETTLED, Floats, Ints, Side, start_labels
from colgen.solvers.paths.labelling.routes import trace
from colgen.solvers.paths.labelling.runs import FIRST, advance
from colgen.solvers.paths.labelling.task import Task
from colgen.solvers.work import LABEL, add_work

_LABELS, _MORE = 50, 100_000
"""Maximum number of labels per route of the limit, and in addition."""

_LISTED = 1_000
"""Routes between two checks of the clock."""


class ListedRoutes(NamedTuple):
    """Routes with costs, whether they are complete, and the number of labels."""

    routes: list[tuple[float, Ints]]
    finished: bool
    labels: int


def list_routes(task: Task, compared: Floats, bounds: Floats, gap: float, limit: int) -> ListedRoutes:
    """Return the routes below a gap, per vertex set (up to alternatives) the one with least ``compared``."""
    side = _enumeration_side(task, compared, bounds, gap)
    held = advance(task, side, start_labels(side, FIRST), side.buckets, most=_LABELS * limit + _MORE)
    add_work(LABEL * int(held.at[SETTLED]))
    sink, clock = task.network.sink, task.clock
    ends = np.flatnonzero(held.vertices[: held.at[SETTLED]] == sink)
    paid = held.numbers[ends, COST]
    if len(task.boxes.fields.charge):
        words, memory = held.words, side.rule.memory
        paid += [box_charge(task.boxes.fields, memory, words, k, words, k) for k in ends.tolist()]
    best: dict[bytes, tuple[float, float, Ints]] = {}
    finished = True
    for k, (label, cost) in enumerate(zip(ends[paid < gap], paid[paid < gap], strict=True)):
        if len(best) > limit or (k % _LISTED == 0 and clock.expired()):
            finished = False
            break
        path = np.array(trace(held, int(label))[::-1], dtype=np.int64)
        visited, own = np.sort(task.rules.classes[task.network.heads[path]]).tobytes(), float(compared[path].sum())
        if visited not in best or (own, cost) < best[visited][:2]:
            best[visited] = (own, float(cost), path)
    found = [(cost, path) for _, cost, path in best.values()]
    return ListedRoutes(found, finished and len(found) <= limit, int(held.at[SETTLED]))


def _enumeration_side(task: Task, compared: Floats, bounds: Floats, gap: float) -> Side:
    """Return the forward direction in which only paths over the same vertices are compared."""
    side = task.side(task.ahead)
    place, n = side.rule.compared, task.network.num_vertices
    common, own = side.common.copy(), side.own.copy()
    common[side.heads == task.network.sink] = ~np.uint64(0)
    own[task.network.sink] = 0
    rule = side.rule._replace(
        compared=place + 1,
        custom=side.rule.custom + bool(side.rule.custom),
        memory=side.rule.memory + 1,
        same_set=True,
        states=side.rule.states + 1,
        plain=False,
    )
    return side._replace(
        end=np.append(side.first[1:], len(side.heads)),
        consumption=np.insert(side.consumption, place, compared[side.numbers], axis=1),
        lower=np.insert(side.lower, place, -np.inf, axis=1),
        upper=np.insert(side.upper, place, np.inf, axis=1),
        start=np.insert(side.start, place, 0.0),
        slack=np.insert(side.slack, place, 0.0),
        critical=side.critical + (side.critical >= place),
        own=own,
        common=common,
        unreachable=np.zeros((0, n, common.shape[1]), dtype=np.uint64),
        rule=rule,
        bounds=bounds,
        cutoff=gap,
    )
