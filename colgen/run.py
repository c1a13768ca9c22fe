"""The state of one run that its parts share: clock, incumbent, rounds, and reasons to stop."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from colgen.branching import fractionality
from colgen.errors import InfeasibleAnswerError, InputError
from colgen.result import Iteration, Termination
from colgen.sense import Sense
from colgen.solution import Solution
from colgen.stop import AnyOf

_ROUNDING_TOLERANCE = 1e-6


class Run:
    """Clock, incumbent, record of rounds and stop rules of one run.

    Parameters
    ----------
    sense
        Direction of the objective.
    stop
        When to stop.
    step
        Every answer's objective is a multiple of this; None if nothing of the kind is known.
    listener
        Called with every round.
    started
        Value of ``time.monotonic()`` at which the run began, where that was before now; what has passed since counts as
        set-up.
    """

    def __init__(
        self,
        sense: Sense,
        stop: AnyOf,
        step: float | None = None,
        listener: Callable[[Iteration], None] | None = None,
        started: float | None = None,
    ) -> None:
        self.sense = sense
        self.step = step
        self._stop = stop
        self._listener = listener
        self._started = time.monotonic() if started is None else started
        self.deadline = self._started + stop.seconds
        self.incumbent: Solution | None = None
        self.global_bound = sense.ideal
        self.node_bound = sense.ideal
        """Bound of the node being processed, as far as its rounds have proved it."""
        self.reason: Termination | None = None
        """The first reason to stop that a rule has named."""
        self.iterations: list[Iteration] = []
        self.stage_seconds: defaultdict[str, float] = defaultdict(float, setup=time.monotonic() - self._started)
        self.columns_generated = 0
        self.rows_generated = 0

    # --- time --------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self._started

    @property
    def seconds_left(self) -> float:
        return max(self.deadline - time.monotonic(), 0.0)

    @property
    def expired(self) -> bool:
        return time.monotonic() >= self.deadline

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time spent inside towards a stage."""
        started, counted = time.perf_counter(), sum(self.stage_seconds.values())
        try:
            yield
        finally:  # what other stages have counted in the meantime is theirs
            inside = sum(self.stage_seconds.values()) - counted
            self.stage_seconds[name] += time.perf_counter() - started - inside

    # --- bounds and answers ------------------------------------------------------------------------------------------

    @property
    def objective(self) -> float:
        """Of the incumbent."""
        return self.sense.hopeless if self.incumbent is None else self.incumbent.objective

    def round_bound(self, bound: float) -> float:
        """A dual bound tightened by what is known of every answer's objective."""
        return self.sense.round_bound(bound, self.step, _ROUNDING_TOLERANCE)

    def prove(self, bound: float) -> None:
        """Take in a bound on all answers that are better than the incumbent: with it, one on all answers."""
        bound = self.sense.best(self.round_bound(bound), self.objective)
        self.global_bound = self.sense.worst(self.global_bound, bound)

    def prunes(self, bound: float) -> bool:
        """Whether a dual bound leaves no room for an answer better than the incumbent."""
        tolerance = 1e-9 * max(1.0, abs(self.objective)) if math.isfinite(self.objective) else 0.0
        return not self.sense.is_better(self.round_bound(bound), self.objective, tolerance)

    @property
    def target(self) -> float:
        """The worst objective still of interest: a step better than the incumbent's, or as good if there is no step."""
        return self.objective - self.sense.sign * (self.step or 0.0)

    def offer(self, solution: Solution, fault: str | None, source: str) -> bool:
        """Take an answer as the incumbent if it is better.

        Parameters
        ----------
        fault
            What a check found wrong with it, None if nothing.
        source
            Who found it.
        """
        if fault is not None:
            raise InfeasibleAnswerError(f"{source} returned something that is not an answer: {fault}")
        if self.step is not None and fractionality(solution.objective / self.step):
            raise InputError(
                f"{source} found an answer of objective {solution.objective:g}, no multiple of the problem's "
                f"objective_step {self.step:g}: bounds would be rounded past the optimum"
            )
        if not self.sense.is_better(solution.objective, self.objective, 1e-9):
            return False
        self.incumbent = solution
        return True

    # --- rounds ------------------------------------------------------------------------------------------------------

    def record(self, iteration: Iteration) -> Termination | None:
        """Keep and announce a round; the answer is a reason to stop, if any rule names one."""
        self.iterations.append(iteration)
        if iteration.phase == 2:
            self.node_bound = self.sense.worst(self.node_bound, iteration.dual_bound)
            if iteration.node == 0 and iteration.depth == 0:
                self.prove(iteration.dual_bound)
        self.columns_generated += iteration.new_columns
        self.rows_generated += iteration.new_rows
        self.stage_seconds["master"] += iteration.master_seconds
        self.stage_seconds["pricing"] += iteration.pricing_seconds
        self.stage_seconds["separation"] += iteration.separation_seconds
        if self._listener is not None:
            self._listener(iteration)
        reason = self._stop(iteration, self.sense)
        self.reason = self.reason or reason
        return reason
