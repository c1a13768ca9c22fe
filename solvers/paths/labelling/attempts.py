"""The cheapest routes: heuristics, and attempts that drop ever more labels."""

from __future__ import annotations

import contextlib
import math

from colgen.solvers.paths.labelling.clock import OutOfEffortError, OutOfTimeError
from colgen.solvers.paths.labelling.completions import tighter
from colgen.solvers.paths.labelling.directions import bounded
from colgen.solvers.paths.labelling.layout import Ints
from colgen.solvers.paths.labelling.runs import Found, solved
from colgen.solvers.paths.labelling.task import Task
from colgen.solvers.paths.labelling.walks import walk_bounds

_SMALL = 30_000
"""What a search may take that has no bounds at all: as much as it takes to compute some."""

_SIZES, _WORTH = (4, 8, 12, 16), (2e6, 1e7, 4e7, 2e8)
"""Neighbourhoods of which bounds are computed, and what a search without them may take before."""

_DEARER = 4
"""What bounds may take, relative to the search before."""


def heuristic(task: Task, wanted: int, cutoff: float) -> Found:
    """Routes from a search that keeps few labels."""
    ahead, back = (task.side(direction, relaxed=True) for direction in (task.ahead, task.back))
    return solved(task, ahead, back, wanted, cutoff)


def exact(task: Task, wanted: int, cutoff: float) -> Found:
    """Routes from a search that drops what cannot become cheap enough, by bounds that get tighter while it lasts.

    A small network needs none.  The first bounds are those of walks.  If they do not end the search soon then those
    of smaller neighbourhoods are computed with their help, of larger ones with the help of these, and so on.
    """
    ahead, back = (task.side(direction) for direction in (task.ahead, task.back))
    network, sides, clock = task.network, (ahead, back), task.clock
    clock.left = _SMALL
    with contextlib.suppress(OutOfEffortError):
        return solved(task, ahead, back, wanted, cutoff)
    clock.left = math.inf
    bounds = [walk_bounds(ahead, task.neighbourhoods, network.sink), None]
    if bounds[0] is None or (cutoff == math.inf and wanted > 1):
        return solved(task, ahead, back, wanted, cutoff)
    mirrored = task.both and task.mirror is not None
    if task.both and not mirrored:
        bounds[1] = walk_bounds(back, task.neighbourhoods, network.source)
    known: list[tuple[float, Ints]] = []
    labels = 0
    if wanted == 1:
        # the cheaper a route is known, the more is dropped
        for compared in (0, 1):
            rough = [
                bounded(side, bound, cutoff)._replace(
                    rule=side.rule._replace(compared=compared, custom=0, words=0, state_words=0, plain=False)
                )
                for side, bound in zip(sides, bounds, strict=True)
            ]
            found, finished, made = solved(task, rough[0], rough[1], 1, cutoff)
            labels += made
            if found and found[0][0] < cutoff:
                known, cutoff = found, found[0][0]
            if not finished:
                return known, False, labels
    sizes = [size for size in _SIZES if size < task.neighbourhoods.sum(axis=1).max()]
    for size, worth in zip([*sizes, None], [*_WORTH, math.inf], strict=False):
        if size is None:
            worth = math.inf
        clock.left = worth
        try:
            narrowed = [bounded(side, bound, cutoff) for side, bound in zip(sides, bounds, strict=True)]
            found, finished, made = solved(task, narrowed[0], narrowed[1], wanted, cutoff)
            return found or known, finished, labels + made
        except OutOfEffortError:
            pass
        clock.left = _DEARER * worth
        with contextlib.suppress(OutOfEffortError):
            try:
                bounds = tighter(task, narrowed, size or 1, mirrored)
            except OutOfTimeError:
                return known, False, labels
    raise AssertionError("the last attempt may take whatever it wants")
