"""Cheapest routes: a heuristic search, and exact searches with increasingly tight bounds."""

from __future__ import annotations

import contextlib
import math

from colgen.solvers.paths.labelling.clock import OutOfEffortError, OutOfTimeError
from colgen.solvers.paths.labelling.completions import tighten
from colgen.solvers.paths.labelling.directions import with_bounds
from colgen.solvers.paths.labelling.layout import Ints
from colgen.solvers.paths.labelling.runs import Found, solve
from colgen.solvers.paths.labelling.task import Task
from colgen.solvers.paths.labelling.walks import walk_bounds

_SMALL = 30_000
"""Effort of a search without bounds: about that of computing bounds."""

_SIZES, _WORTH = (4, 8, 12, 16), (2e6, 1e7, 4e7, 2e8)
"""Sizes of the neighbourhoods of successive bounds, and effort limits of the searches before them."""

_DEARER = 4
"""Effort limit of bounds, relative to the search before."""


def price_heuristically(task: Task, wanted: int, cutoff: float) -> Found:
    """Return routes from a search that keeps few labels."""
    ahead, back = (task.side(direction, relaxed=True) for direction in (task.ahead, task.back))
    return solve(task, ahead, back, wanted, cutoff)


def price_exactly(task: Task, wanted: int, cutoff: float) -> Found:
    """Return routes from a search that drops labels which cannot become cheap enough.

    Small networks are solved without bounds.  The first bounds come from walks.  If the search exceeds its effort
    limit, they give bounds over small neighbourhoods, these give bounds over larger neighbourhoods, and so on.
    """
    ahead, back = (task.side(direction) for direction in (task.ahead, task.back))
    network, sides, clock = task.network, (ahead, back), task.clock
    clock.left = _SMALL
    with contextlib.suppress(OutOfEffortError):
        return solve(task, ahead, back, wanted, cutoff)
    clock.left = math.inf
    bounds = [walk_bounds(ahead, task.neighbourhoods, network.sink), None]
    if bounds[0] is None or (cutoff == math.inf and wanted > 1):
        return solve(task, ahead, back, wanted, cutoff)
    mirrored = task.both and task.mirror is not None
    if task.both and not mirrored:
        bounds[1] = walk_bounds(back, task.neighbourhoods, network.source)
    known: list[tuple[float, Ints]] = []
    labels = 0
    if wanted == 1:
        # a cheap known route lets later searches drop more labels
        for compared in (0, 1):
            rough = [
                with_bounds(side, bound, cutoff)._replace(
                    rule=side.rule._replace(compared=compared, custom=0, words=side.opens, state_words=0, plain=False)
                )
                for side, bound in zip(sides, bounds, strict=True)
            ]
            found, finished, made = solve(task, rough[0], rough[1], 1, cutoff)
            labels += made
            if found and found[0][0] < cutoff:
                known, cutoff = found, found[0][0]
            if not finished:
                return known, False, labels
    sizes = [size for size in _SIZES if size < task.neighbourhoods.sum(axis=1).max() and task.requests is None]
    for size, worth in zip([*sizes, None], [*_WORTH, math.inf], strict=False):
        if size is None:
            worth = math.inf
        clock.left = worth
        try:
            narrowed = [with_bounds(side, bound, cutoff) for side, bound in zip(sides, bounds, strict=True)]
            found, finished, made = solve(task, narrowed[0], narrowed[1], wanted, cutoff)
            return found or known, finished, labels + made
        except OutOfEffortError:
            pass
        clock.left = _DEARER * worth
        with contextlib.suppress(OutOfEffortError):
            try:
                bounds = tighten(task, narrowed, size or 1, mirrored)
            except OutOfTimeError:
                return known, False, labels
    raise AssertionError("the last attempt has no effort limit")
