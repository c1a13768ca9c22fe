"""Lower bounds on completions of paths, from searches with smaller neighbourhoods and without cuts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from colgen.solvers.paths.labelling import joins, neighbourhoods
from colgen.solvers.paths.labelling.directions import with_bounds, without_cuts
from colgen.solvers.paths.labelling.layout import Floats, Side, start_labels
from colgen.solvers.paths.labelling.mirror import reflect
from colgen.solvers.paths.labelling.rank_one import fields
from colgen.solvers.paths.labelling.runs import FIRST, advance, to_join
from colgen.solvers.paths.labelling.task import Task
from colgen.solvers.paths.labelling.walks import walk_bounds

_SMALLEST = 4
"""Size of the neighbourhoods of bounds for enumeration and completion."""


def bound_sides(task: Task, cutoff: float) -> tuple[Side, Side]:
    """Return both directions with bounds, from walks and small neighbourhoods, that drop paths not below ``cutoff``."""
    ahead, back = (task.side(direction) for direction in (task.ahead, task.back))
    first = None if cutoff == math.inf else walk_bounds(ahead, task.neighbourhoods, task.network.sink)
    if first is None:
        return ahead, back
    mirrored = task.mirror is not None
    second = None if mirrored else walk_bounds(back, task.neighbourhoods, task.network.source)
    sides = [with_bounds(ahead, first, cutoff), with_bounds(back, second, cutoff)]
    if task.requests is not None:
        return sides[0], sides[1]
    first, second = tighten(task, sides, _SMALLEST, mirrored)
    return with_bounds(ahead, first, cutoff), with_bounds(back, second, cutoff)


def tighten(task: Task, sides: Sequence[Side], size: int, mirrored: bool) -> list[Floats | None]:
    """Return bounds from neighbourhoods of the ``size`` cheapest heads."""
    network = task.network
    matrix = task.neighbourhoods & neighbourhoods.nearest(
        network, np.where(task.usable, task.costs, np.inf), size, finite=False
    )
    np.fill_diagonal(matrix, task.neighbourhoods.diagonal())
    for one in np.flatnonzero(np.bincount(task.rules.classes) > 1):
        members = task.rules.classes == one
        matrix[:, members] = matrix[:, members].any(axis=1, keepdims=True)
    remembered, smaller = task.ahead.remembered, []
    own = np.ascontiguousarray(task.ahead.own[:, remembered])
    for side, ends in zip(sides, ((network.tails, network.heads), (network.heads, network.tails)), strict=True):
        tails, heads = (end[side.numbers] for end in ends)
        common, returning = side.common.copy(), side.returning.copy()
        common[:, remembered], returning[:, remembered] = neighbourhoods.arc_bits(matrix, own, tails, heads)
        before = common.shape[1] - task.boxes.own.shape[1]
        common[:, before:], returning[:, before:] = 0, 0  # boxes are relaxed
        smaller.append(
            side._replace(
                common=common,
                returning=returning,
                cuts=fields(None, network.num_vertices),
                rule=without_cuts(side.rule),
            )
        )
    held = advance(task, smaller[0], start_labels(smaller[0], FIRST), smaller[0].buckets)
    if mirrored:
        mirror = task.mirror
        assert mirror is not None
        return [joins.completions(smaller[1], reflect(held, mirror, task.costs, network, sides[0]), sides[0]), None]
    other = advance(task, smaller[1], start_labels(smaller[1], FIRST), smaller[1].buckets)
    return [
        joins.completions(smaller[1], other, sides[0]),
        joins.completions(smaller[0], held, sides[1]),
    ]


def completion_bounds(task: Task, cutoff: float) -> Floats:
    """Return lower bounds on completions for routes below ``cutoff``, by bucket and vertex."""
    if task.custom is not None:
        return np.full((task.ahead.buckets, task.network.num_vertices), -np.inf)
    ahead, back = bound_sides(task, cutoff)
    mirror = task.mirror
    if mirror is None:
        other = to_join(task, back, advance(task, back, start_labels(back, FIRST), back.buckets))
    else:
        held = advance(task, ahead, start_labels(ahead, FIRST), ahead.buckets)
        other = reflect(held, mirror, task.costs, task.network, ahead)
    return joins.completions(back, other, ahead)
