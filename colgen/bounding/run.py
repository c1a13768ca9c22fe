"""The state of one run: clock, incumbent, records of rounds, and stop rules."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

_MOST_KNOWN = 32
"""So many answers are remembered, to hold new rows against them."""

_MISSING = 16
"""Rows of an answer hold to within a tolerance of theirs, and dual values multiply what is missing."""


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
    budget
        What the run may spend; made of ``stop`` if it is not given.  What has passed since its start counts as set-up.
    check
        Recomputes the objective of a solution from the problem's own data, or raises; None if the problem says nothing.
    scale
        What tolerances on objectives are relative to; 0 as long as it is not known.
    offset
        What all objectives have in common: no difference is relative to that.
    rounding
        What rounding may leave of any objective: no smaller difference counts.

    Attributes
    ----------
    known
        Answers found so far, the latest last: every row must admit them.
    check_knows_rows
        Whether an answer that the check accepts satisfies all rows that separations find.
    is_checked
        Whether something has recomputed the incumbent: the problem's own check, or the rows of a linear master.
    notes
        What a reader of the result should know: heuristics that failed, oracles that were cut off.
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
        """No difference is relative to less: where an optimum is zero, its size is that of what cancels out."""
        self._terms = 0.0
        """Magnitudes of what the incumbent's objective is the sum of."""
        self.known: list[Solution] = []
        self.is_checked = True
        self.check_knows_rows = True
        self.notes: list[str] = []
        self.incumbent: Solution | None = None
        self.global_bound = sense.ideal
        self.trusted: Complete | None = None
        """What another solver has proved for the complete model, where it was asked."""
        self.root_bound = sense.ideal
        """Of the root as far as rounds show it; where the relaxation is wanted, it counts once that is solved."""
        self.node_bound = sense.ideal
        """Bound of the node being processed, as far as its rounds have proved it."""
        self.reason: Termination | None = None
        """The first reason to stop that a rule has named."""
        self.iterations: list[Iteration] = []
        self.stage_seconds: defaultdict[str, float] = defaultdict(
            float, setup=self.budget.seconds - self.budget.compiling
        )
        self.watch: Callable[[], None] | None = None
        """Called between rounds and nodes: who writes checkpoints."""
        self.seconds_before = 0.0
        """Of the runs that this one goes on from."""
        self.columns_generated = 0
        self.rows_generated = 0

    # --- time --------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return self.budget.seconds

    @property
    def seconds_left(self) -> float:
        """Until the deadline, never negative; zero after an interrupt."""
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
        """Count the time spent inside towards a stage."""
        started, counted = working_clock(), sum(self.stage_seconds.values())
        try:
            yield
        finally:  # what other stages have counted in the meantime is theirs
            inside = sum(self.stage_seconds.values()) - counted
            self.stage_seconds[name] += working_clock() - started - inside

    def state_scale(self, scale: float) -> None:
        """What differences of objectives are relative to, said by who knows the problem's numbers."""
        self.scale, self._stated = scale, True

    # --- bounds and answers ------------------------------------------------------------------------------------------

    @property
    def objective(self) -> float:
        """Of the incumbent."""
        return self.sense.hopeless if self.incumbent is None else self.incumbent.objective

    def round_bound(self, bound: float) -> float:
        """A dual bound tightened by what is known of every answer's objective."""
        return self.sense.round_bound(bound, self.step, TOLERANCES.optimality)

    def prove(self, bound: float) -> None:
        """Take in a bound on all answers that are better than the incumbent: with it, one on all answers."""
        bound = self.sense.best(self.round_bound(bound), self.objective)
        self.global_bound = self.sense.worst(self.global_bound, bound)

    def trust(self, found: Complete) -> None:
        """Keep what another solver has proved for all answers; not if an answer that has been checked refutes it."""
        if self.contradicts(found.bound, self.objective):
            self.notes.append(
                f"{found.source} states the bound {found.bound:g}, which the answer of {self.objective:g} refutes: it "
                "is not used."
            )
        elif self.trusted is None or self.sense.is_better(self.trusted.bound, found.bound):
            self.trusted = found

    @property
    def is_closed(self) -> bool:
        """Whether another solver's bound leaves no room for an answer better than the incumbent."""
        return self.trusted is not None and self.prunes(self.trusted.bound)

    def prunes(self, bound: float) -> bool:
        """Whether a dual bound leaves no room for an answer better than the incumbent."""
        tolerance = TOLERANCES.pruning * self._size(self.objective, self._terms)
        return not self.sense.is_better(self.round_bound(bound), self.objective, tolerance)

    def grazes(self, bound: float) -> bool:
        """Whether a dual bound leaves no room for a better answer but for the tolerance that it is rounded with."""
        if self.step is None or math.isinf(self.objective) or self.prunes(bound):
            return False
        return self.prunes(self.sense.round_bound(bound, self.step, TOLERANCES.pruning))

    def meets(self, bound: float, objective: float) -> bool:
        """Whether a dual bound proves an objective optimal, as far as tolerances go."""
        return not self.sense.is_better(bound, objective, TOLERANCES.optimality * self._size(objective, self._terms))

    def contradicts(self, bound: float, objective: float) -> bool:
        """Whether an answer is so much better than a dual bound that one of them must be a mistake."""
        return self.sense.is_better(objective, bound, _MISSING * TOLERANCES.diagnostic * self._size(objective))

    @property
    def target(self) -> float:
        """The worst objective still of interest: a step better than the incumbent's, or as good if there is no step."""
        return self.objective - self.sense.sign * (self.step or 0.0)

    def offer(self, solution: Solution, fault: str | None, source: str, *, checked: bool = False) -> bool:
        """Take an answer as the incumbent if it is better, and if the problem's own check has nothing against it.

        Parameters
        ----------
        fault
            What a check found wrong with it, None if nothing.
        source
            Who found it.
        checked
            Whether its objective and all rows have been recomputed already.
        """
        if fault is not None:
            raise InfeasibleAnswerError(f"{source} returned something that is not an answer: {fault}")
        steps = 0.0 if self.step is None else solution.objective / self.step
        steps = steps if math.isfinite(steps) else 0.0  # so many steps are in no float: nothing can be told
        # As bounds are rounded: not where steps drown in an objective, or in terms that cancel out.
        drown = max(
            TOLERANCES.pruning * abs(solution.objective), SUMMED * ROUNDING * (abs(self._offset) + solution.terms)
        )
        if self.step is not None and fractionality(steps) * self.step > drown:
            raise InputError(
                f"{source} found an answer of objective {solution.objective:g}, no multiple of the problem's "
                f"objective_step {self.step:g}: bounds would be rounded past the optimum"
            )
        if not self.sense.is_better(solution.objective, self.objective, self._difference(solution.objective)):
            return False
        if self.contradicts(self.global_bound, solution.objective):
            raise InvalidBoundError(
                f"{source} found an answer of objective {solution.objective:g}, better than the bound "
                f"{self.global_bound:g} that was proved for all answers: a stated bound or multiplicity is not "
                "valid, a separated row cuts off answers, or a branching decision loses some"
            )
        stated = self._check_answer(solution, source)
        if (
            stated is not None and stated != solution.objective
        ):  # the instance's own number, without what a solver's arithmetic has left in it
            solution = dataclasses.replace(solution, objective=stated)
        self.is_checked = checked or stated is not None
        self.incumbent = solution
        self._terms = solution.terms
        self.known = [*self.known[1 - _MOST_KNOWN :], solution]
        return True

    def _difference(self, objective: float) -> float:
        """An answer that is better by no more than this is as good."""
        return TOLERANCES.pruning * self._size(objective)

    def _size(self, objective: float, terms: float = 0.0) -> float:
        """What a difference to an objective is relative to; ``terms``: magnitudes in whose sum much may cancel out.

        The part that all objectives have in common hides nothing: of an offset, and of terms, no more than the rounding
        error counts, and a problem that states its scale says that there may be such a part which nobody else can tell.
        """
        rounding = max(COMMON * max(abs(objective), terms), self._least)
        return size(self.scale, rounding) if self._stated else size(self.scale, rounding, objective - self._offset)

    def accepts(self, solution: Solution) -> bool:
        """Whether the problem has a check of its own, that knows its rows and has nothing against a solution."""
        if not self.check_knows_rows:
            return False
        try:
            return self._check_answer(solution, "") is not None
        except InfeasibleAnswerError:
            return False

    def _check_answer(self, solution: Solution, source: str) -> float | None:
        """The objective that the problem's own check computes for an answer; None if it has no check."""
        try:
            stated = self._check(solution)
        except (ColgenError, ValueError, IndexError, KeyError) as error:
            raise InfeasibleAnswerError(f"{source} returned something that is not an answer: {error}") from error
        if stated is None:
            return None
        stated = real(stated, "the objective that the problem's check() returns", low=-math.inf, finite=False)
        difference = abs(stated - solution.objective)
        near = difference <= TOLERANCES.diagnostic * size(self.scale, stated, SUMMED * self._least)
        # Costs may cancel out in a sum, whose rounding is that of the largest.
        if not near and not difference <= SUMMED * ROUNDING * solution.terms:
            raise InfeasibleAnswerError(
                f"{source} returned an answer of objective {solution.objective:.10g}, but the problem's own check "
                f"computes {stated:.10g} for it"
            )
        return float(stated)

    # --- rounds ------------------------------------------------------------------------------------------------------

    def record(self, iteration: Iteration, *, proves: bool = True) -> Termination | None:
        """Keep and announce a round; the answer is a reason to stop, if any rule names one.

        ``proves``: whether the root's bound is one on what the run looks for.  It holds for answers; where the
        relaxation itself is wanted, it counts once that is solved.
        """
        self.iterations.append(iteration)
        if iteration.phase == 2:
            self.node_bound = self.sense.worst(self.node_bound, iteration.dual_bound)
            if proves and iteration.node == 0 and iteration.depth == 0:
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
        self.look()
        return reason

    def look(self) -> None:
        """Let whoever watches the run have a look at it."""
        if self.watch is not None:
            self.watch()


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
