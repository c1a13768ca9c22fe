"""Clocks and records: where a node's rounds are timed and written down."""

from __future__ import annotations

from colgen.bounds.run import Run
from colgen.core.duals import DualPoint
from colgen.core.result import Iteration, Termination
from colgen.core.solution import Solution
from colgen.master.protocol import RestrictedMaster
from solvers.compiling import working_clock

MASTER, PRICING, SEPARATION = range(3)
"""The stages of a round, as :meth:`Recorder.lap` names them."""


class Recorder:
    """Clock and record of one round after the other at a node.

    Parameters
    ----------
    number, depth
        Of the node; 0 and 0 are the root's.
    proves
        Whether the root's bound is one on what the run looks for; it holds for answers, and where the relaxation itself
        is wanted it counts once that is solved.
    started
        When the first round began, if that was before now.
    """

    def __init__(
        self,
        run: Run,
        master: RestrictedMaster,
        number: int,
        depth: int,
        *,
        proves: bool,
        started: float | None = None,
    ) -> None:
        self._run, self._master, self._proves = run, master, proves
        self._number, self._depth = number, depth
        self._root = number == depth == 0
        self.begin(started)

    def begin(self, started: float | None = None) -> None:
        """A round begins, or has begun when :func:`working_clock` was at ``started``."""
        self._seconds = [0.0, 0.0, 0.0]
        self._last = working_clock() if started is None else started
        self._columns, self._rows = self._master.num_columns, self._master.num_rows

    def lap(self, stage: int) -> None:
        """Count what has passed since the last lap towards a stage of the round."""
        now = working_clock()
        self._seconds[stage] += now - self._last
        self._last = now

    def write(
        self,
        phase: int,
        objective: float,
        bound: float,
        *,
        new_columns: int = 0,
        misprices: int = 0,
        duals: DualPoint = None,
        values: Solution | None = None,
    ) -> Termination | None:
        """Record the round; the answer is a reason to stop, if any rule names one.

        Parameters
        ----------
        bound
            The node's dual bound so far.
        new_columns
            How many have been added.
        duals, values
            To be kept in the record.
        """
        run, sense = self._run, self._run.sense
        incumbent = run.objective
        live = sense.ideal
        if phase == 2 and self._root:
            live = run.root_bound = sense.worst(run.root_bound, run.round_bound(bound))
        seconds = self._seconds
        return run.record(
            Iteration(
                len(run.iterations),
                self._number,
                self._depth,
                phase,
                objective,
                bound,
                incumbent,
                # After a reduction the bound is one on the answers of interest only, all better than the incumbent.
                sense.best(sense.worst(run.global_bound, live), incumbent),
                self._columns,
                self._rows,
                new_columns,
                self._master.num_rows - self._rows,
                misprices,
                run.seconds,
                seconds[MASTER],
                seconds[PRICING],
                seconds[SEPARATION],
                duals,
                values,
            ),
            proves=self._proves,
        )
