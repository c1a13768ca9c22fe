"""What completes a path at least: bounds from searches with smaller neighbourhoods, and without cuts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from colgen.solvers.paths.labelling import joins, neighbourhoods
from colgen.solvers.paths.labelling.directions import bounded, free
from colgen.solvers.paths.labelling.layout import Floats, Side, begun
from colgen.solvers.paths.labelling.mirror import reflected
from colgen.solvers.paths.labelling.rank_one import fields
from colgen.solvers.paths.labelling.runs import FIRST, advanced
from colgen.solvers.paths.labelling.task import Task
from colgen.solvers.paths.labelling.walks import walk_bounds

_SMALLEST = 4
"""Neighbourhoods of the bounds that drop what is to be listed, or what cannot decide about an arc."""


def narrowed(task: Task, cutoff: float) -> tuple[Side, Side]:
    """Both directions, with bounds that drop what cannot become cheaper than a cutoff.

    The bounds are those of walks first, then those without cuts over the smallest neighbourhoods.
    """
    ahead, back = (task.side(direction) for direction in (task.ahead, task.back))
    first = None if cutoff == math.inf else walk_bounds(ahead, task.neighbourhoods, task.network.sink)
    if first is None:
        return ahead, back
    mirrored = task.mirror is not None
    second = None if mirrored else walk_bounds(back, task.neighbourhoods, task.network.source)
    sides = [bounded(ahead, first, cutoff), bounded(back, second, cutoff)]
    first, second = tighter(task, sides, _SMALLEST, mirrored)
    return bounded(ahead, first, cutoff), bounded(back, second, cutoff)


def tighter(task: Task, sides: Sequence[Side], size: int, mirrored: bool) -> list[Floats | None]:
    """Bounds from smaller neighbourhoods: of each the vertices that are cheapest to come to."""
    network = task.network
    matrix = task.neighbourhoods & neighbourhoods.nearest(
        network, np.where(task.usable, task.costs, np.inf), size, finite=False
    )
    np.fill_diagonal(matrix, task.neighbourhoods.diagonal())
    smaller = []
    for side, ends in zip(sides, ((network.tails, network.heads), (network.heads, network.tails)), strict=True):
        tails, heads = (end[side.numbers] for end in ends)
        common, returning = neighbourhoods.arc_bits(matrix, task.own, tails, heads)
        before = common.shape[1] - task.boxes.own.shape[1]
        common[:, before:], returning[:, before:] = 0, 0  # who is where in boxes is left out of account
        smaller.append(
            side._replace(
                common=common, returning=returning, cuts=fields(None, network.num_vertices), rule=free(side.rule)
            )
        )
    held = advanced(task, smaller[0], begun(smaller[0], FIRST), smaller[0].buckets)
    if mirrored:
        mirror = task.mirror
        assert mirror is not None
        return [joins.completions(smaller[1], reflected(held, mirror, task.costs, network, sides[0]), sides[0]), None]
    other = advanced(task, smaller[1], begun(smaller[1], FIRST), smaller[1].buckets)
    return [
        joins.completions(smaller[1], other, sides[0]),
        joins.completions(smaller[0], held, sides[1]),
    ]


def completion_bounds(task: Task, cutoff: float) -> Floats:
    """By bucket and vertex: no completion of a path there costs less, of those that make a route below a cutoff."""
    if task.custom is not None:
        return np.full((task.ahead.buckets, task.network.num_vertices), -np.inf)
    ahead, back = narrowed(task, cutoff)
    mirror = task.mirror
    if mirror is None:
        other = advanced(task, back, begun(back, FIRST), back.buckets)
    else:
        held = advanced(task, ahead, begun(ahead, FIRST), ahead.buckets)
        other = reflected(held, mirror, task.costs, task.network, ahead)
    return joins.completions(back, other, ahead)
