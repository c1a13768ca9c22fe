"""The rows of a linear master in the engine's interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np

from colgen.core.budget import Budget
from colgen.core.columns import Column, Key, Row
from colgen.core.duals import Duals, OwnDuals, RowNames
from colgen.core.row_batch import RowBatch
from colgen.core.solution import Solution
from colgen.master.answer_check import AnswerCheck, contributions, itemised
from colgen.master.column_pool import Floats
from colgen.master.column_table import Generated
from colgen.master.dual_bound import remaining_gain
from colgen.master.growth import Growth
from colgen.master.linking import Linking
from colgen.master.lookup import LookUp
from colgen.master.phases import Phases
from colgen.master.protocol import Answer, LinkingRows, MasterSolution
from colgen.master.reduced_costs import ReducedCosts
from colgen.master.tableau import Tableau
from colgen.model.rows import Rows
from colgen.pricing.oracles import Pricing, PricingResult


class LinearRows(LinkingRows):
    """Rows of a linear master.  Dual values of a problem's own type are passed through unchanged."""

    checks_answers = True

    def __init__(
        self,
        tableau: Tableau,
        formulation: Rows,
        lookup: LookUp,
        growth: Growth,
        phases: Phases,
        reduced_costs: ReducedCosts,
        generated: Generated,
        check: AnswerCheck,
    ) -> None:
        self._tableau, self._formulation = tableau, formulation
        self._table, self._rows, _, self._objective = tableau
        self._lookup, self._growth, self._phases = lookup, growth, phases
        self._reduced_costs, self._generated, self._check = reduced_costs, generated, check

    # --- names, sides, entries ---------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows.names.position

    @property
    def names(self) -> RowNames:
        """Names of the rows, in order."""
        return self._rows.names

    @property
    def lower(self) -> Floats:
        """Lower sides at the present node."""
        return self._rows.lower

    @property
    def upper(self) -> Floats:
        """Upper sides at the present node."""
        return self._rows.upper

    @property
    def sizes(self) -> Floats:
        """Scales of the rows, powers of two; violations are relative to them."""
        return self._rows.sizes

    @property
    def idle(self) -> tuple[Key, ...]:
        """Names of rows out of the linear program after long slack."""
        return tuple(self.names.keys[position] for position in self._rows.idle.out.tolist())

    @property
    def joined(self) -> Sequence[Row]:
        return self._growth.joined

    def release(self, keys: Sequence[Key]) -> int:
        return self._growth.release(keys)

    def sides(self, block: str) -> Mapping[Key, tuple[float, float]]:
        return self._rows.sides(block)

    def packing_sides(self, block: str) -> Mapping[Key, float | None]:
        return self._rows.packing_sides(block, self._formulation)

    @property
    def has_artificials(self) -> bool:
        return int(self._formulation.artificial.sum()) > len(self._table.exchange)

    def entries(self, column: Column) -> tuple[list[int], list[float]]:
        """Return the positions of the rows in which a column has coefficients, and the coefficients.

        Missing rows are ignored.  The column's own coefficients come first, then those of rows by its key, then those
        by functions.
        """
        _, rows, values = self._lookup.over((column,), strict=False).entries
        return rows.tolist(), values.tolist()

    def add_batch(self, batch: RowBatch) -> None:
        """Append rows as arrays over the columns' positions in the table.  Existing rows are ignored."""
        self._growth.add_batch(batch)

    # --- solutions ---------------------------------------------------------------------------------------------------

    def violation(self, solution: Solution, *, exact: bool = True) -> str | None:
        return self._check.violation(solution, exact)

    def objective_of(self, solution: Solution) -> float:
        return self._check.objective_of(solution)

    def overuses(self, solved: MasterSolution, pricing: Sequence[Pricing]) -> bool:
        return self._generated.overuse(solved.values, pricing)

    # --- dual values -------------------------------------------------------------------------------------------------

    def signed(self, duals: OwnDuals) -> OwnDuals:
        if not isinstance(duals, (Duals, Mapping)):
            return duals
        rows, sense = self._rows, self._objective.sense
        if not (isinstance(duals, Duals) and duals.names is rows.names and len(duals.values) == len(rows)):
            return Duals(rows.guess(duals, sense), rows.names)
        values = rows.signed(duals.values, sense)
        # Rows of decisions have other sides at other nodes, so own dual values may have wrong signs.
        return duals if np.array_equal(values, duals.values) else duals.replace(values)

    def guess(self, duals: OwnDuals) -> OwnDuals:
        guess = self.signed(duals)
        if isinstance(guess, Duals):
            self._objective.rounding = self._rows.rounding_at(guess.values)
        return guess

    def rounding_at(self, duals: OwnDuals) -> float:
        here = self._rows.rounding_at(duals.values) if isinstance(duals, Duals) else self._objective.rounding
        return max(here, self._formulation.cost_rounding)

    def real_costs(self) -> AbstractContextManager[None]:
        return self._objective.real()

    def best_known(self, duals: Duals, oracles: int) -> Sequence[float]:
        return self._reduced_costs.best_known(duals, oracles)

    def itemised(self, stated: float, column: Column, duals: OwnDuals, weight: float) -> str:
        if not isinstance(duals, Duals):
            return ""
        return itemised(stated, contributions(column, self.entries(column), duals, weight))

    def subgradient(self, solved: MasterSolution, answers: Sequence[Answer | None], duals: OwnDuals) -> Floats | None:
        return self._reduced_costs.subgradient(solved, answers, duals)

    def linking(self) -> Linking:
        return Linking(self._tableau, self._formulation, self._lookup)

    def refine(self, duals: OwnDuals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> bool:
        return isinstance(duals, Duals) and self._objective.refine(remaining_gain(self._tableau, duals, results))

    def far_points(self, budget: Budget) -> Iterator[MasterSolution | None]:
        return self._phases.far_points(budget)
