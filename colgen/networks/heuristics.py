"""Ruin and recreate: effort of the searches at the start of a run, and later searches."""

from __future__ import annotations

from typing import Protocol

from colgen.bounding.run import Run
from colgen.core.solution import Solution
from colgen.heuristics import Heuristic, HeuristicContext
from colgen.solvers.stopping import Expired
from colgen.solvers.work import SECOND

_STEPS, _MOST = 8, 30_000
"""Steps of a search at the start: a multiple of the square of the number of rows, and their maximum, which takes a few
tenths of a second.
"""

TEMPERATURES = (0.1, 0.3, 1.0, 0.3)
"""Initial temperatures of the searches at the start, as shares of the mean cost of an arc."""

_FEW = (0.3, 1.0)
"""The same with time windows, and for up to ``_SETTLED`` rows.

Two searches end 0.1% above the best that eight find (the mean of 98 instances with 16 to 75 vertices); one of them ends
0.2 to 0.5% above it.
"""

_SETTLED = 50
"""Rows up to which few searches find good paths.

In larger instances without windows, one search ends 1% above the best in one instance of three.
"""

_FIRST = 3 * SECOND
"""Work of a run before the first search."""

_LONGER = 4
"""Steps of the first search, divided by those of a search at the start."""

_LONGEST = 30
"""Steps of a search, divided by the squared number of rows: several searches find more than a longer one, which ends in
one of few local optima."""


def first_steps(rows: int) -> int:
    """Return the steps of a search at the start over so many rows."""
    return min(_STEPS * rows**2, _MOST)


def first_temperatures(rows: int, *, timed: bool) -> tuple[float, ...]:
    """Return the initial temperatures of the searches at the start for paths of one graph."""
    return _FEW if timed or rows <= _SETTLED else TEMPERATURES


class Improve(Protocol):
    """Return an answer of :func:`colgen.solvers.paths.ruin.improve_partition`, None if none was found.

    It starts from the paths of ``start``, or from paths of its own.
    """

    def __call__(
        self, start: Solution | None, *, steps: int, seed: int, hot: float, expired: Expired
    ) -> Solution | None: ...


class RuinAndRecreate(Heuristic):
    """Look for better paths by searches of ruin and recreate, first four times as long as at the start.

    Half of the searches start from the incumbent.  The others have starts of their own: the incumbent is often a local
    optimum.  The better the incumbent, the more arcs are excluded by reduced costs, and the fewer paths enumeration
    lists.  So long runs have the first call after some seconds of work, and another one of twice the steps whenever
    their work has tripled.

    Parameters
    ----------
    improve
        Return the answer of one search.
    rows
        Number of the rows that the paths partition.
    """

    joins = True

    def __init__(self, improve: Improve, rows: int) -> None:
        self._improve, self._longest = improve, _LONGEST * rows**2
        self._seed, self._due, self._steps = 0, _FIRST, _LONGER * first_steps(rows)

    def applies(self, depth: int) -> bool:
        return False

    def is_due(self, run: Run) -> bool:
        return run.budget.allotment.total >= self._due

    def search(self, context: HeuristicContext) -> Solution | None:
        run = context.run
        starts = [(None, 1.0)] if run.incumbent is None else [(None, 1.0), (run.incumbent, 0.3)]
        found, times = [], -(-self._steps // self._longest)
        for start, hot in starts * times:
            self._seed += 1
            steps = self._steps // times
            answer = self._improve(start, steps=steps, seed=self._seed, hot=hot, expired=lambda: run.expired)
            found += [] if answer is None else [answer]
        self._due, self._steps = 3 * self._due, 2 * self._steps
        return min(found, key=lambda answer: run.sense.sign * answer.objective, default=None)
