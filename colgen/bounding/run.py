"""The state of one run: clock, incumbent, records of rounds, and stop rules."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from colgen.core.allotment import Turn
from colgen.core.budget import Budget
from colgen.core.duals import DualPoint
from colgen.core.errors import ColgenError, InfeasibleAnswerError, InputError, InvalidBoundError
from colgen.core.numbers import real
from colgen.core.result import Iteration, Termination
from colgen.core.sense import Sense
from colgen.core.solution import Complete, Solution
from colgen.core.stop import AnyOf
from colgen.core.tolerances import COMMON, ROUNDING, SUMMED, TOLERANCES, fractionality, size
from colgen.master.protocol import RestrictedMaster
from colgen.solvers.compiling import working_clock
from colgen.solvers.work import SECOND, add_work

_MOST_KNOWN = 32
"""Number of feasible solutions that are stored to check new rows against."""

_ROUND, _COLUMN = SECOND // 1000, SECOND // 5000
"""Work of a round and of a new column, besides that of solvers."""

_MISSING = 16
"""Multiple of the tolerance: rows hold only to within theirs, and dual values multiply the remaining violation."""


class Run:
    """Clock, incumbent, record of rounds and stop rules of one run.

    Parameters
    ----------
    step
        All objectives are multiples of this; None if no step is known.
    listener
        Called with every round.
    budget
        The run's limits; made from ``stop`` by default.  Time since its start counts as set-up.
    check
        Recomputes the objective of a solution from the problem's data, or raises; None without a check.
    scale
        The scale that tolerances on objectives are relative to; 0 while it is unknown.
    offset
        The part that all objectives have in common.  Differences are not relative to it.
    rounding
        Rounding error of objectives.  Smaller differences do not count.

    Attributes
    ----------
    known
        Feasible solutions found so far, the latest last.  Every row must admit them.
    check_knows_rows
        Whether a solution that passes ``check`` satisfies all separated rows.
    is_checked
        Whether the incumbent was recomputed by the problem's check or by the rows of a linear master.
    notes
        Notes for the result, for example on heuristics that failed and oracles that were cut off.
    """

    def __init__(
        self,
        sense: Sense,
        stop: AnyOf,
        step: float | None = None,
        listener: Callable[[Iteration], None] | None = None,
        budget: Budget | None = None,
        check: Callable[[Solution], float | None] = lambda solution: None,
        scale: float = 0.0,
        offset: float = 0.0,
        rounding: float = 0.0,
    ) -> None:
        self.sense = sense
        self.step = step
        self._stop = stop
        self._listener = listener
        self.budget = Budget(stop.seconds, stop.bytes) if budget is None else budget
        self._check = check
        self.scale = scale
        self._stated = scale > 0.0
        self._offset = offset
        self._least = rounding / TOLERANCES.optimality
        """Least size that differences are relative to.  For a zero optimum it is the size of its terms."""
        self._terms = 0.0
        """Sum of the magnitudes of the terms of the incumbent's objective."""
        self.known: list[Solution] = []
        self.is_checked = True
        self.check_knows_rows = True
        self.notes: list[str] = []
        self.incumbent: Solution | None = None
        self.global_bound = sense.ideal
        self.trusted: Complete | None = None
        """Bound of another solver on the complete model, if one was used."""
        self.root_bound = sense.ideal
        """Bound of the root so far.  If only the relaxation is wanted, it counts once that is solved."""
        self.node_bound = sense.ideal
        """Bound of the present node in its rounds so far."""
        self.best_waiting = sense.hopeless
        """Best bound of the open nodes that are not being evaluated, see :attr:`NodeQueue.best`."""
        self.reason: Termination | None = None
        """The first reason to stop that a rule has returned."""
        self.iterations: list[Iteration] = []
        self.stage_seconds: defaultdict[str, float] = defaultdict(
            float, setup=self.budget.seconds - self.budget.compiling
        )
        self.watch: Callable[[], None] | None = None
        """Called between rounds and nodes.  The checkpoint writer sets it."""
        self.seconds_before = 0.0
        """Duration of the earlier runs that this one resumes."""
        self.processor_before = 0.0
        """Processor seconds of the earlier runs that this one resumes."""
        self.processor_elsewhere = 0.0
        """Processor seconds of other processes that searched subtrees."""
        self.columns_generated = 0
        self.rows_generated = 0
        self.cut_share = 1.0
        """Share of the cuts that change pricing problems to add per round.  It shrinks when pricing with them takes too
        long; at 0 no more of them are added."""
        self.cuts_wait = False
        """Whether such cuts of separations that run after fixing are not added yet."""

    # --- time --------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return self.budget.seconds

    @property
    def processor_seconds(self) -> float:
        """Processor seconds since the run began, of this process and of workers."""
        return self.budget.processor_seconds + self.processor_elsewhere

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline, never negative; zero after an interrupt."""
        return self.budget.seconds_left

    @property
    def deadline(self) -> float:
        """Value of ``time.monotonic()`` at which the run must end."""
        return self.budget.deadline

    @property
    def expired(self) -> bool:
        """Whether the run must end now."""
        return self.budget.expired

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside to a stage."""
        started, counted = working_clock(), sum(self.stage_seconds.values())
        try:
            yield
        finally:  # time that nested stages have counted belongs to them
            inside = sum(self.stage_seconds.values()) - counted
            self.stage_seconds[name] += working_clock() - started - inside

    def has_work_left(self, part: str) -> bool:
        """Return whether a part of the run may work now, see :class:`~colgen.core.allotment.Allotment`."""
        return self.budget.allotment.left(part) > 0.0

    @contextmanager
    def turn(self, stage: str, part: str = "") -> Iterator[Turn]:
        """Add the time inside to a stage, and the work to a part of the run, by default that of the stage's name."""
        with self.stage(stage), self.budget.allotment.turn(part or stage) as turn:
            yield turn

    def state_scale(self, scale: float) -> None:
        """Set the scale of differences between objectives, as if the problem had stated it."""
        self.scale, self._stated = scale, True

    # --- bounds and solutions ----------------------------------------------------------------------------------------

    @property
    def objective(self) -> float:
        """Objective of the incumbent; without one, the worst value."""
        return self.sense.hopeless if self.incumbent is None else self.incumbent.objective

    def round_bound(self, bound: float) -> float:
        """Return a dual bound rounded to the next multiple of the objective step."""
        return self.sense.round_bound(bound, self.step, TOLERANCES.optimality)

    def prove(self, bound: float) -> None:
        """Update the global bound by a bound on all solutions that are better than the incumbent."""
        bound = self.sense.best(self.round_bound(bound), self.objective)
        self.global_bound = self.sense.worst(self.global_bound, bound)

    def trust(self, found: Complete) -> None:
        """Store another solver's bound, unless a verified solution contradicts it."""
        if self.contradicts(found.bound, self.objective):
            self.notes.append(
                f"The bound {found.bound:g} of {found.source} is not used: the solution of objective "
                f"{self.objective:g} contradicts it."
            )
        elif self.trusted is None or self.sense.is_better(self.trusted.bound, found.bound):
            self.trusted = found

    @property
    def is_closed(self) -> bool:
        """Whether another solver's bound excludes a solution better than the incumbent."""
        return self.trusted is not None and self.prunes(self.trusted.bound)

    def prunes(self, bound: float) -> bool:
        """Return whether a dual bound excludes a solution better than the incumbent."""
        tolerance = TOLERANCES.pruning * self._size(self.objective, self._terms)
        return not self.sense.is_better(self.round_bound(bound), self.objective, tolerance)

    def grazes(self, bound: float) -> bool:
        """Return whether a dual bound would prune if it were rounded with a larger tolerance."""
        if self.step is None or math.isinf(self.objective) or self.prunes(bound):
            return False
        return self.prunes(self.sense.round_bound(bound, self.step, TOLERANCES.pruning))

    def meets(self, bound: float, objective: float) -> bool:
        """Return whether a dual bound proves an objective optimal, within tolerances."""
        return not self.sense.is_better(bound, objective, TOLERANCES.optimality * self._size(objective, self._terms))

    def contradicts(self, bound: float, objective: float) -> bool:
        """Return whether an objective is far better than a dual bound, so that one must be wrong."""
        return self.sense.is_better(objective, bound, _MISSING * TOLERANCES.diagnostic * self._size(objective))

    @property
    def target(self) -> float:
        """The worst objective still of interest: a step better than the incumbent's, or equal without a step."""
        return self.objective - self.sense.sign * (self.step or 0.0)

    def offer(self, solution: Solution, fault: str | None, source: str, *, checked: bool = False) -> bool:
        """Make a solution the incumbent if it is better and passes the problem's check.  Return whether it is now.

        Parameters
        ----------
        fault
            Why an earlier check rejects it; None if it does not.
        source
            Name of the part that found it.
        checked
            Whether its objective and all rows have been recomputed already.
        """
        if fault is not None:
            raise InfeasibleAnswerError(f"{source} returned an infeasible solution: {fault}")
        steps = 0.0 if self.step is None else solution.objective / self.step
        steps = steps if math.isfinite(steps) else 0.0  # the number of steps overflows: nothing to check
        # As in rounding bounds: a step below the rounding error of objective or terms cannot be checked.
        rounding = max(
            TOLERANCES.pruning * abs(solution.objective), SUMMED * ROUNDING * (abs(self._offset) + solution.terms)
        )
        if self.step is not None and fractionality(steps) * self.step > rounding:
            raise InputError(
                f"{source} found a solution of objective {solution.objective:g}, which is not a multiple of the "
                f"problem's objective_step {self.step:g}: bounds would be rounded past the optimum"
            )
        if not self.sense.is_better(solution.objective, self.objective, self._difference(solution.objective)):
            return False
        if self.contradicts(self.global_bound, solution.objective):
            raise InvalidBoundError(
                f"{source} found a solution of objective {solution.objective:g}, better than the proved bound "
                f"{self.global_bound:g}: a stated bound or multiplicity is not valid, a separated row cuts off "
                "feasible solutions, or a branching decision loses some"
            )
        stated = self._check_answer(solution, source)
        if stated is not None and stated != solution.objective:
            # The problem's own value has no error of a solver's arithmetic.
            solution = dataclasses.replace(solution, objective=stated)
        self.is_checked = checked or stated is not None
        self.incumbent = solution
        self._terms = solution.terms
        self.known = [*self.known[1 - _MOST_KNOWN :], solution]
        return True

    def _difference(self, objective: float) -> float:
        """Return the largest improvement of the incumbent that counts as a rounding error."""
        return TOLERANCES.pruning * self._size(objective)

    def _size(self, objective: float, terms: float = 0.0) -> float:
        """Return the size that a difference to an objective is relative to.

        ``terms`` is the sum of the magnitudes of the objective's terms, which may cancel out.  An offset and the terms
        count only with their rounding error.  If the problem states its scale, the same holds for the objective, which
        may have an unknown constant part.
        """
        rounding = max(COMMON * max(abs(objective), terms), self._least)
        return size(self.scale, rounding) if self._stated else size(self.scale, rounding, objective - self._offset)

    def accepts(self, solution: Solution) -> bool:
        """Return whether the problem has a check that covers its rows and accepts the solution."""
        if not self.check_knows_rows:
            return False
        try:
            return self._check_answer(solution, "") is not None
        except InfeasibleAnswerError:
            return False

    def _check_answer(self, solution: Solution, source: str) -> float | None:
        """Return the objective that the problem's check computes for a solution; None if it has no check."""
        try:
            stated = self._check(solution)
        except (ColgenError, ValueError, IndexError, KeyError) as error:
            raise InfeasibleAnswerError(f"{source} returned an infeasible solution: {error}") from error
        if stated is None:
            return None
        stated = real(stated, "the objective that the problem's check() returns", low=-math.inf, finite=False)
        difference = abs(stated - solution.objective)
        near = difference <= TOLERANCES.diagnostic * size(self.scale, stated, SUMMED * self._least)
        # Costs may cancel out in a sum, whose rounding error is that of the largest.
        if not near and not difference <= SUMMED * ROUNDING * solution.terms:
            raise InfeasibleAnswerError(
                f"{source} returned a solution of objective {solution.objective:.10g}, but the problem's check() "
                f"computes {stated:.10g} for it"
            )
        return float(stated)

    # --- rounds ------------------------------------------------------------------------------------------------------

    def record(self, iteration: Iteration, *, proves: bool = True) -> Termination | None:
        """Store and announce a round.  Return a reason to stop, if any rule has one.

        ``proves`` states whether the dual bound of a round at the root becomes the global bound.  If only the
        relaxation is to be solved, it does not, because the bound counts once that is solved.
        """
        self.iterations.append(iteration)
        if iteration.phase == 2:
            self.node_bound = self.sense.worst(self.node_bound, iteration.dual_bound)
            if proves and iteration.node == 0 and iteration.depth == 0:
                self.prove(iteration.dual_bound)
        self.columns_generated += iteration.new_columns
        add_work(_ROUND + _COLUMN * iteration.new_columns)
        self.rows_generated += iteration.new_rows
        self.stage_seconds["master"] += iteration.master_seconds
        self.stage_seconds["pricing"] += iteration.pricing_seconds
        self.stage_seconds["separation"] += iteration.separation_seconds
        if self._listener is not None:
            self._listener(iteration)
        reason = self._stop(iteration, self.sense)
        self.reason = self.reason or reason
        self.look()
        return reason

    def look(self) -> None:
        """Call the watcher, such as the checkpoint writer."""
        if self.watch is not None:
            self.watch()


MASTER, PRICING, SEPARATION = range(3)
"""The stages of a round; arguments of :meth:`Recorder.lap`."""


class Recorder:
    """Clock and record of the rounds at a node; for ``proves`` see :meth:`Run.record`.

    The first round began at ``started`` of :func:`working_clock`, by default now.
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
        """Begin a round, now or at an earlier time ``started`` of :func:`working_clock`."""
        self._seconds = [0.0, 0.0, 0.0]
        self._last = working_clock() if started is None else started
        self._columns, self._rows = self._master.num_columns, self._master.num_rows

    def lap(self, stage: int) -> None:
        """Add the time since the last lap to a stage of the round."""
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
        """Record the round with the node's best dual bound.  Return a reason to stop, if any."""
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
                # After a reduction the bound covers only the solutions of interest, all better than the incumbent.
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
