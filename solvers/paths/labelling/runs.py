"""Runs of the kernels: until they are done, the time is over, or there are too many labels."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from colgen.solvers.paths.labelling import joins, search
from colgen.solvers.paths.labelling.clock import LabelLimitError, OutOfTimeError
from colgen.solvers.paths.labelling.directions import tails_of
from colgen.solvers.paths.labelling.layout import (
    BUCKET,
    COST,
    DONE,
    MADE,
    MORE_LABELS,
    PAUSED,
    SETTLED,
    WANTED,
    Ints,
    Labels,
    Side,
    begun,
    grown,
)
from colgen.solvers.paths.labelling.mirror import reflected
from colgen.solvers.paths.labelling.routes import trace
from colgen.solvers.paths.labelling.task import Task

FIRST = 1 << 12
"""Labels that there is room for at first."""

Found: TypeAlias = tuple[list[tuple[float, Ints]], bool, int]
"""Routes with their costs, whether all were looked at, and how many labels it took."""


def solved(task: Task, ahead: Side, back: Side, wanted: int, cutoff: float) -> Found:
    """Routes with their costs as the labels say, whether all were looked at, and how many labels it took."""
    held, other = begun(ahead, FIRST), begun(back, FIRST)
    mirror = task.mirror if task.both else None
    try:
        if mirror is not None:
            held = advanced(task, ahead, held, ahead.buckets // 2 + 1)
            middle = int(held.at[BUCKET])
            held = advanced(task, ahead, held, ahead.buckets, extending=False)
            other = reflected(held, mirror, task.costs, task.network, ahead)
        elif task.both:
            held, other = advanced_both(task, ahead, held, back, other)
            middle = int(held.at[BUCKET])
        else:
            held = advanced(task, ahead, held, ahead.buckets)
            other = advanced(task, back, other, back.buckets, extending=False)
            middle = ahead.buckets
    except OutOfTimeError:
        return [], False, int(held.at[SETTLED] + other.at[SETTLED])
    labels = int(held.at[SETTLED] + other.at[SETTLED])
    every = task.custom is not None and task.custom.order is not None
    pairs, finished = joined(task, ahead, held, back, other, middle, wanted, cutoff, every)
    found = []
    for cost, one, another, arc in pairs:
        onwards = trace(held, another) if mirror is not None else trace(other, another)
        if mirror is not None:
            onwards = [int(mirror.arcs[k]) for k in onwards]
        found.append((cost, np.array([*reversed(trace(held, one)), arc, *onwards], dtype=np.int64)))
    return found, finished, labels


def both_whole(task: Task, ahead: Side, back: Side) -> tuple[Labels, Labels]:
    """All labels of both directions."""
    mirror = task.mirror
    held = advanced(task, ahead, begun(ahead, FIRST), ahead.buckets)
    if mirror is not None:
        return held, reflected(held, mirror, task.costs, task.network, ahead)
    return held, advanced(task, back, begun(back, FIRST), back.buckets)


def advanced(
    task: Task, side: Side, held: Labels, end: int, *, extending: bool = True, most: int | None = None
) -> Labels:
    """One direction, settled and extended before a bucket."""
    mine = task.written[0] if side.origin == task.network.source else task.written[1]
    until = search.End(end, 0, 2 * end + 1, extending)
    while True:
        given = task.clock.effort
        status, left, _ = search.advance(
            mine.extend, mine.dominates, mine.extend, mine.dominates, side, held, side, held, until, given
        )
        if status == DONE:
            task.clock.left -= given - left
            return held
        task.clock.charge(given, left)
        held = _more_room(task, held, status, most)


def advanced_both(task: Task, ahead: Side, held: Labels, back: Side, other: Labels) -> tuple[Labels, Labels]:
    """Both directions, until they meet."""
    mine, theirs = task.written
    end = search.End(ahead.buckets, back.buckets, ahead.buckets + 2, True)
    while True:
        given = task.clock.effort
        status, left, backwards = search.advance(
            mine.extend, mine.dominates, theirs.extend, theirs.dominates, ahead, held, back, other, end, given
        )
        if status == DONE:
            task.clock.left -= given - left
            return held, other
        task.clock.charge(given, left)
        if backwards:
            other = _more_room(task, other, status)
        else:
            held = _more_room(task, held, status)


def _more_room(task: Task, held: Labels, status: int, most: int | None = None) -> Labels:
    if status == PAUSED:
        return held
    most = task.max_labels if most is None else min(most, task.max_labels)
    if max(held.at[SETTLED], held.at[MADE]) > most:
        raise LabelLimitError(f"max_labels: the search needs more than {most} labels")
    try:
        return grown(held, status - MORE_LABELS, int(held.at[WANTED]))
    except MemoryError:
        raise LabelLimitError(f"max_labels: there is no memory for more than {held.at[SETTLED]} labels") from None


def joined(
    task: Task, ahead: Side, held: Labels, back: Side, other: Labels, middle: int, wanted: int, cutoff: float,
    every: bool,
) -> tuple[list[tuple[float, int, int, int]], bool]:  # fmt: skip
    """Pairs of labels: cost, label ahead, label back, arc of the network; and whether all were looked at."""
    tails = tails_of(ahead)
    one, another = (
        np.where(each.pool_size > 0, each.pool_numbers[each.pool_first, COST], np.inf) for each in (held, other)
    )
    hoped = one[tails] + ahead.costs + another[ahead.heads]
    order = np.argsort(hoped, kind="stable")
    order = order[: np.searchsorted(hoped[order], cutoff)]
    pairs = joins.Pairs(
        tails, order, np.zeros(4, dtype=np.int64), np.full(wanted, np.inf), np.zeros((wanted, 3), dtype=np.int64)
    )
    finished = False
    while not finished:
        given = task.clock.effort
        finished, left = joins.join(
            ahead, held, other, task.written[0].joins, pairs, back.origin, middle, cutoff, every, given
        )
        if not finished:
            try:
                task.clock.charge(given, left)
            except OutOfTimeError:
                break
    costs, found = pairs.costs, pairs.found
    best = np.argsort(costs[: pairs.at[joins.FOUND]], kind="stable")
    return [
        (float(costs[k]), int(found[k, 0]), int(found[k, 1]), int(ahead.numbers[found[k, 2]])) for k in best
    ], finished
