"""Reduced costs of columns, and subgradients of the dual bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colgen.core.columns import Column
from colgen.core.duals import Duals
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_pool import Floats
from colgen.master.column_table import GIVEN, TEMPLATE
from colgen.master.lookup import LookUp
from colgen.master.protocol import Answer, MasterSolution
from colgen.master.tableau import Tableau
from colgen.solvers.columns.compressed import least_reduced_costs, products


class ReducedCosts:
    """Prices columns, in the master or not, by the objective of the present phase."""

    def __init__(self, tableau: Tableau, lookup: LookUp) -> None:
        self._table, self._rows, _, self._objective = tableau
        self._lookup = lookup

    def of(self, columns: Sequence[Column], duals: Duals) -> Floats:
        if not len(columns):
            return np.empty(0)
        real = self._objective.phase == 2
        few = self._lookup.products_of_few(columns, duals.values)
        if few is not None:
            return np.array([column.cost * real - product for column, product in zip(columns, few, strict=True)])
        batch = self._lookup.over(columns)
        earned: Floats = products(batch.starts, batch.rows, batch.values, duals.values)
        if batch.stated is not None:
            owners, rows, values = batch.stated
            earned += np.bincount(owners, values * self._rows.pad(duals.values)[rows], minlength=len(batch))
        return batch.costs - earned if real else -earned

    def best_known(self, duals: Duals, oracles: int) -> Sequence[float]:
        """Return the best reduced cost of the master's columns for each pricing problem."""
        table, objective, s = self._table, self._objective, self._objective.sense.sign
        first = GIVEN if oracles == 1 else 0
        least = least_reduced_costs(
            objective.costs, objective.products(duals), table.upper_now, table.origins, s, first, oracles
        )
        known: list[float] = (s * least).tolist()
        return known

    def subgradient(self, solved: MasterSolution, answers: Sequence[Answer | None], duals: Duals) -> Floats | None:
        """Return the violation of the rows at the oracles' solutions and better bounds.

        Without amounts, an oracle's columns are used as often as the master uses columns of that oracle.
        """
        table, rows, s = self._table, self._rows, self._objective.sense.sign
        values = solved.values
        # Columns that the bound counts by themselves; the others are covered by their oracles' bounds.
        own = (table.origins == TEMPLATE) | np.isfinite(table.upper_now)
        own[table.exchange] = False  # bounds hold without exchanges
        activity = table.activities(np.where(own, self._at_better_bounds(values, duals), 0.0), len(rows))
        used = np.where(own, 0.0, values)
        given = float(used[table.origins == GIVEN].sum()) / max(len(answers), 1)  # their oracle is unknown
        for k, answer in enumerate(answers):
            if answer is None:
                return None
            columns, amounts = answer
            if not len(columns):
                continue
            if amounts is None:
                total = float(used[table.origins == k].sum()) + given
                amounts = np.full(len(columns), total / max(len(columns), 1))
            owners, there, entries = self._lookup.over(columns).entries
            activity += np.bincount(there, entries * amounts[owners], minlength=len(rows))
        pull = s * duals.values
        within = np.clip(activity, rows.lower, rows.upper)
        side = np.where(pull > 0.0, rows.lower, np.where(pull < 0.0, rows.upper, within))
        slope: Floats = s * (np.where(np.isfinite(side), side, within) - activity)
        return slope

    def _at_better_bounds(self, values: Floats, duals: Duals) -> Floats:
        """Return the values of columns at their better bounds."""
        table, objective = self._table, self._objective
        gains = objective.sense.gains(objective.reduced_costs(duals))
        clean = max(TOLERANCES.reduced_cost * objective.scale, objective.rounding)
        best = np.where(gains > clean, table.upper_now, np.where(gains < -clean, table.lower_now, values))
        return np.where(np.isfinite(best), best, values)
