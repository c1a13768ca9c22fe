"""Repeated kernel calls until a search finishes or reaches a limit."""

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
    enlarge,
    start_labels,
)
from colgen.solvers.paths.labelling.mirror import reflect
from colgen.solvers.paths.labelling.requests import for_joins
from colgen.solvers.paths.labelling.routes import trace
from colgen.solvers.paths.labelling.task import Task

FIRST = 1 << 12
"""Initial memory for labels."""

Found: TypeAlias = tuple[list[tuple[float, Ints]], bool, int]
"""Routes with costs, whether the search was completed, and the number of labels."""


def solve(task: Task, ahead: Side, back: Side, wanted: int, cutoff: float) -> Found:
    """Return routes with costs, whether the search was completed, and the number of labels."""
    held, other = start_labels(ahead, FIRST), start_labels(back, FIRST)
    mirror = task.mirror if task.both else None
    try:
        if mirror is not None:
            held = advance(task, ahead, held, ahead.buckets // 2 + 1)
            middle = int(held.at[BUCKET])
            held = advance(task, ahead, held, ahead.buckets, extending=False)
            other = reflect(held, mirror, task.costs, task.network, ahead)
        elif task.both:
            held, other = advance_both(task, ahead, held, back, other)
            middle = int(held.at[BUCKET])
        else:
            held = advance(task, ahead, held, ahead.buckets)
            other = advance(task, back, other, back.buckets, extending=False)
            middle = ahead.buckets
        if mirror is None:
            other = to_join(task, back, other)
    except OutOfTimeError:
        return [], False, int(held.at[SETTLED] + other.at[SETTLED])
    labels = int(held.at[SETTLED] + other.at[SETTLED])
    every = task.custom is not None and task.custom.order is not None
    pairs, finished = join(task, ahead, held, back, other, middle, wanted, cutoff, every)
    found = []
    for cost, one, another, arc in pairs:
        onwards = trace(held, another) if mirror is not None else trace(other, another)
        if mirror is not None:
            onwards = [int(mirror.arcs[k]) for k in onwards]
        found.append((cost, np.array([*reversed(trace(held, one)), arc, *onwards], dtype=np.int64)))
    return found, finished, labels


def settle_both(task: Task, ahead: Side, back: Side) -> tuple[Labels, Labels]:
    """Return all labels of both directions."""
    mirror = task.mirror
    held = advance(task, ahead, start_labels(ahead, FIRST), ahead.buckets)
    if mirror is not None:
        return held, reflect(held, mirror, task.costs, task.network, ahead)
    return held, to_join(task, back, advance(task, back, start_labels(back, FIRST), back.buckets))


def to_join(task: Task, back: Side, other: Labels) -> Labels:
    """Return backward labels in the form of joins and of completions."""
    if task.requests is None:
        return other
    return for_joins(other, task.requests, task.neighbourhoods, back, task.rules)


def advance(
    task: Task, side: Side, held: Labels, end: int, *, extending: bool = True, most: int | None = None
) -> Labels:
    """Settle and extend one direction up to a bucket."""
    mine = task.functions[0] if side.origin == task.network.source else task.functions[1]
    until = search.End(end, 0, 2 * end + 1, extending)
    while True:
        given = task.clock.effort
        status, left, _ = search.advance(
            mine.extend, mine.dominates, mine.extend, mine.dominates, side, held, side, held, until, given
        )
        if status == DONE:
            task.clock.spend(given, left)
            return held
        task.clock.charge(given, left)
        held = _enlarge(task, held, status, most)


def advance_both(task: Task, ahead: Side, held: Labels, back: Side, other: Labels) -> tuple[Labels, Labels]:
    """Settle and extend both directions until they meet."""
    mine, theirs = task.functions
    end = search.End(ahead.buckets, back.buckets, ahead.buckets + 2, True)
    while True:
        given = task.clock.effort
        status, left, backwards = search.advance(
            mine.extend, mine.dominates, theirs.extend, theirs.dominates, ahead, held, back, other, end, given
        )
        if status == DONE:
            task.clock.spend(given, left)
            return held, other
        task.clock.charge(given, left)
        if backwards:
            other = _enlarge(task, other, status)
        else:
            held = _enlarge(task, held, status)


def _enlarge(task: Task, held: Labels, status: int, most: int | None = None) -> Labels:
    if status == PAUSED:
        return held
    most = task.max_labels if most is None else min(most, task.max_labels)
    if max(held.at[SETTLED], held.at[MADE]) > most:
        raise LabelLimitError(f"max_labels: the search needs more than {most} labels")
    try:
        return enlarge(held, status - MORE_LABELS, int(held.at[WANTED]))
    except MemoryError:
        raise LabelLimitError(f"max_labels: memory is exhausted at {held.at[SETTLED]} labels") from None


def join(
    task: Task, ahead: Side, held: Labels, back: Side, other: Labels, middle: int, wanted: int, cutoff: float,
    every: bool,
) -> tuple[list[tuple[float, int, int, int]], bool]:  # fmt: skip
    """Return pairs (cost, forward label, backward label, arc), and whether all were found."""
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
    while True:
        given = task.clock.effort
        finished, left = joins.join(
            ahead, held, other, task.functions[0].joins, pairs, back.origin, middle, cutoff, every, given
        )
        if finished:
            task.clock.spend(given, left)
            break
        try:
            task.clock.charge(given, left)
        except OutOfTimeError:
            break
    costs, found = pairs.costs, pairs.found
    best = np.argsort(costs[: pairs.at[joins.FOUND]], kind="stable")
    return [
        (float(costs[k]), int(found[k, 0]), int(found[k, 1]), int(ahead.numbers[found[k, 2]])) for k in best
    ], finished
