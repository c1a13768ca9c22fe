"""Feasible solutions found during the search: checked, then offered as the incumbent (promise 2)."""

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
"""Without an incumbent, restricted masters are rounded from this round on."""


class Incumbents:
    """Checks solutions from all sources before they become the incumbent.

    With ``looking``, the restricted masters of all rounds are checked for integer solutions. With ``rounding``,
    fractional ones are rounded while there is no incumbent.
    """

    def __init__(self, parts: Parts, looking: bool, rounding: bool) -> None:
        self.master, self.pricing, self.separation, self.run = parts.master, parts.oracles, parts.separation, parts.run
        self._looking, self._rounding = looking, rounding
        self._waited = 0
        self._noted: set[str] = set()

    def offer(self, solution: Solution, source: str, *, given: bool = False) -> bool:
        """Check an integer solution and offer it. Return False if a separation rejects it or it is no improvement.

        A solution ``given`` by the user or the problem is never rejected without a note.
        """
        if not isinstance(solution, Solution):
            raise InputError(
                f"{source} returned a {type(solution).__name__}, expected a Solution, or None for no solution"
            )
        solution = solution.round()
        exact = self._objective_of(solution)
        near = exact != solution.objective and self.run.meets(exact, solution.objective)
        if near and self.run.meets(solution.objective, exact):
            solution = dataclasses.replace(solution, objective=exact)
        rejection = objection(self.separation, solution, self._separation_context()) if self.separation else None
        if rejection is not None:
            self._report_rejected(solution, source, rejection, given)
            return False
        fault = self._violation(solution)
        rows = self.master.rows
        try:
            is_new = self.run.offer(solution, fault, source, checked=rows is not None and rows.checks_answers)
        except InvalidBoundError:  # report a visible fault of the solution first
            check_use(self.master, self.pricing, solution, source)
            raise
        if is_new:
            check_use(self.master, self.pricing, solution, source)
        return is_new

    def _report_rejected(self, solution: Solution, source: str, rejection: Objection, given: bool) -> None:
        """Report a rejected solution, unless it was only a trial.

        If the check of the problem accepts the solution, the row is invalid or the check is incomplete. This is a
        ``SeparationError`` for a given solution. For a solution that was found it is a note, because the row may be
        meant to cut it off.
        """
        run, separator = self.run, rejection.separator
        if not given and (separator.name in self._noted or not run.sense.is_better(solution.objective, run.objective)):
            return
        accepted = separator.exhaustive and run.accepts(solution)
        if given and accepted:
            raise SeparationError(
                f"{separator.name} cuts off the answer of objective {solution.objective:g} given by {source}: it "
                f"violates {rejection}, but the check of the problem accepts it; rows must be valid for every answer"
            )
        if accepted:
            self._noted.add(separator.name)
            run.notes.append(
                f"An answer of objective {solution.objective:g} found by {source} was left out: it violates "
                f"{rejection}, but the check of the problem accepts it. The row or the check is wrong."
            )
        elif given:
            run.notes.append(
                f"An answer of objective {solution.objective:g} given by {source} was left out: it violates "
                f"{rejection}. If the answer is feasible, the row is invalid."
            )

    def offer_with_columns(self, solution: Solution, source: str) -> None:
        """Offer a given solution after adding its columns to the master."""
        if self.master.holds_columns:  # solutions may build their columns lazily
            self.master.add([column for column, _ in solution.columns])
        if self.offer(solution, source, given=True) and self.master.node is not None:
            self.master.node.begin_feasible()

    def offer_found(self, solution: Solution, source: str) -> None:
        """Offer a solution. The columns of a new incumbent join the master, for its relaxation and for dives."""
        if self.offer(solution, source) and self.master.holds_columns:
            self.run.columns_generated += self.master.add([column for column, _ in solution.columns])

    def offer_integral(self, solved: MasterSolution) -> bool:
        """Offer the integral solution of a master. Return False if it is infeasible or worse after rounding.

        Values within the integrality tolerance may violate rows once rounded. Rounding also changes the objective,
        considerably for a column of cost 1e7.
        """
        solution = self.master.solution(solved).round()
        if self._violation(solution) is not None and self._violation(solution, exact=False) is None:
            return False
        rounded = self._objective_of(solution)
        if not self.run.meets(solved.objective, rounded):
            if self.run.sense.is_better(rounded, self.run.objective):
                self.offer(solution, "the relaxation")
            return False
        self.offer(solution, "the relaxation")
        return True

    def offer_master(self, solved: MasterSolution) -> None:
        """Offer the solution of a restricted master if it is integral. Otherwise round it now and then."""
        run = self.run
        if not self._looking or not run.sense.is_better(solved.objective, run.objective):
            return
        if is_integral(self.master, solved):
            with contextlib.suppress(InfeasibleAnswerError):  # later columns may add rows and costs
                self.offer_integral(solved)
        elif run.incumbent is None and self._rounding and self.master.integer is not None:
            self._waited += 1
            if self._waited >= _FIRST_ROUNDING and self._waited.bit_count() == 1:  # at powers of two
                rounded = self.master.integer.round(self.master.solution(solved))
                if rounded is not None:
                    self.offer(rounded, "rounding")

    def _objective_of(self, solution: Solution) -> float:
        rows = self.master.rows
        return solution.objective if rows is None else rows.objective_of(solution)

    def _violation(self, solution: Solution, exact: bool = True) -> str | None:
        rows = self.master.rows
        return None if rows is None else rows.violation(solution, exact=exact)

    def _separation_context(self) -> SeparationContext:
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
