"""Whole solutions that turn up in a tree: checked, and offered as the incumbent."""

from __future__ import annotations

import contextlib
import dataclasses

from colgen.bounding.checks import Objection, check_use, objection
from colgen.bounding.protocol import Parts
from colgen.core.errors import InfeasibleAnswerError, InputError, InvalidBoundError, SeparationError
from colgen.core.solution import Solution
from colgen.cuts.separation import SeparationContext
from colgen.master.protocol import MasterSolution, is_integral

_FIRST_ROUNDING = 8
"""A run without an answer rounds a restricted master for the first time after so many rounds."""


class Answers:
    """Takes answers in, wherever they come from: nothing that it has not checked becomes the incumbent.

    Parameters
    ----------
    looking
        Whether restricted masters on the way are looked at for answers.
    rounding
        Whether those that are fractional are rounded while there is none.
    """

    def __init__(self, parts: Parts, looking: bool, rounding: bool) -> None:
        self.master, self.pricing, self.separation, self.run = parts.master, parts.oracles, parts.separation, parts.run
        self._looking, self._rounding = looking, rounding
        self._waited = 0
        self._noted: set[str] = set()

    def take(self, solution: Solution, source: str, *, given: bool = False) -> bool:
        """Check a whole solution and offer it as the incumbent; False if a separation objects or it is no better.

        ``given``: somebody has stated it as an answer, so that it is not left out without a word.
        """
        if not isinstance(solution, Solution):
            raise InputError(
                f"{source} returned a {type(solution).__name__}, expected a Solution, or None for no answer"
            )
        solution = solution.round()
        exact = self._objective_of(solution)
        near = exact != solution.objective and self.run.meets(exact, solution.objective)
        if near and self.run.meets(solution.objective, exact):
            solution = dataclasses.replace(solution, objective=exact)
        against = objection(self.separation, solution, self._looked_at()) if self.separation else None
        if against is not None:
            self._leave_out(solution, source, against, given)
            return False
        fault = self._violation(solution)
        rows = self.master.rows
        try:
            taken = self.run.offer(solution, fault, source, checked=rows is not None and rows.checks_answers)
        except InvalidBoundError:  # of the mistakes that there may be, one may be seen in the answer
            check_use(self.master, self.pricing, solution, source)
            raise
        if taken:
            check_use(self.master, self.pricing, solution, source)
        return taken

    def _leave_out(self, solution: Solution, source: str, against: Objection, given: bool) -> None:
        """Say of an answer that a separation objects to that it is left out, unless it was only a try.

        Where the problem's own check accepts it, the row is not valid or the check is not complete: of an answer that
        was given that is an error, of one that was found a note, for it may have been meant to be cut off.

        Raises
        ------
        SeparationError
            If the answer was given and the check accepts it.
        """
        run, separator = self.run, against.separator
        if not given and (separator.name in self._noted or not run.sense.is_better(solution.objective, run.objective)):
            return
        accepted = separator.exhaustive and run.accepts(solution)
        if given and accepted:
            raise SeparationError(
                f"{separator.name} cuts off the answer of objective {solution.objective:g} given by {source}: it "
                f"violates {against}, and the problem's own check accepts it; rows must be valid for every answer"
            )
        if accepted:
            self._noted.add(separator.name)
            run.notes.append(
                f"An answer of objective {solution.objective:g} found by {source} was left out: it violates {against}, "
                "and the problem's own check accepts it. One of the two is wrong."
            )
        elif given:
            run.notes.append(
                f"An answer of objective {solution.objective:g} given by {source} was left out: it violates {against}. "
                "If it is an answer, the row is not valid."
            )

    def take_with_columns(self, solution: Solution, source: str) -> None:
        """The same for a solution whose columns are to join the master first."""
        if self.master.holds_columns:  # an answer may make each of its columns only when somebody looks at it
            self.master.add([column for column, _ in solution.columns])
        if self.take(solution, source, given=True) and self.master.node is not None:
            self.master.node.begin_feasible()

    def take_whole(self, solved: MasterSolution) -> bool:
        """Take a restricted master's integral solution; False if it is no answer after all, or a worse one.

        Values within the tolerance of integers need not satisfy the rows once they are rounded, and of a column that
        costs 1e7 less than the tolerance may be worth something.
        """
        solution = self.master.solution(solved).round()
        if self._violation(solution) is not None and self._violation(solution, exact=False) is None:
            return False
        rounded = self._objective_of(solution)
        if not self.run.meets(solved.objective, rounded):
            if self.run.sense.is_better(rounded, self.run.objective):
                self.take(solution, "the relaxation")
            return False
        self.take(solution, "the relaxation")
        return True

    def look_at(self, solved: MasterSolution) -> None:
        """A restricted master on the way: if it is whole, it is an answer."""
        run = self.run
        if not self._looking or not run.sense.is_better(solved.objective, run.objective):
            return
        if is_integral(self.master, solved):
            with contextlib.suppress(InfeasibleAnswerError):  # columns that are still to come may bring rows and costs
                self.take_whole(solved)
        elif run.incumbent is None and self._rounding and self.master.integer is not None:
            self._waited += 1
            if self._waited >= _FIRST_ROUNDING and self._waited.bit_count() == 1:  # ever more seldom
                rounded = self.master.integer.round(self.master.solution(solved))
                if rounded is not None:
                    self.take(rounded, "rounding")

    def _objective_of(self, solution: Solution) -> float:
        rows = self.master.rows
        return solution.objective if rows is None else rows.objective_of(solution)

    def _violation(self, solution: Solution, exact: bool = True) -> str | None:
        rows = self.master.rows
        return None if rows is None else rows.violation(solution, exact=exact)

    def _looked_at(self) -> SeparationContext:
        """What separations are told when they look at an answer."""
        run = self.run
        return SeparationContext(
            run.sense,
            round=len(run.iterations),
            whole=True,
            bound=run.global_bound,
            incumbent=run.objective,
            scale=run.scale,
            budget=run.budget,
        )
