"""What a round asks of columns at dual values: reduced costs, which of them improve, the best that is known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from colgen.core.column_batch import Columns
from colgen.core.columns import Column
from colgen.core.duals import Duals
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_pool import NOWHERE, Floats, Ints
from colgen.master.column_table import GIVEN, TEMPLATE, Generated
from colgen.master.lookup import LookUp, bring_rows
from colgen.master.protocol import Answer, MasterSolution, check_not_repeated
from colgen.master.tableau import Tableau
from colgen.pricing.oracles import Pricing
from colgen.solvers.columns.compressed import least_reduced_costs, products

_THE_ONE: Ints = np.zeros(1, dtype=np.int64)
_THE_ONE.setflags(write=False)


class ReducedCosts:
    """Prices columns, in the master or not, by the objective of the present phase."""

    def __init__(self, tableau: Tableau, lookup: LookUp) -> None:
        self._table, self._rows, _, self._objective = tableau
        self._lookup = lookup
        self._generated = Generated(tableau.table)

    def of(self, columns: Sequence[Column], duals: Duals) -> Floats:
        """Reduced costs of columns."""
        if not len(columns):
            return np.empty(0)
        few = self._lookup.products_of_few(columns, duals.values)
        real = self._objective.phase == 2
        if few is not None:
            weight = 1.0 if real else 0.0
            return np.array([weight * column.cost - product for column, product in zip(columns, few, strict=True)])
        known = self._lookup.of(columns)
        batch, stated = known.batch, known.stated
        earned: Floats = products(batch.starts, batch.rows, batch.values, duals.values)
        if stated is not None:
            owners, rows, values = stated
            earned += np.bincount(owners, values * self._rows.padded(duals.values)[rows], minlength=len(batch))
        return batch.costs - earned if real else -earned

    def improving(
        self, oracle: Pricing, columns: Sequence[Column], reduced_costs: Floats, tolerance: float
    ) -> Sequence[Column] | None:
        """The columns that improve the master and are not in it; None if that takes their rows, which are not there."""
        objective, table = self._objective, self._table
        if len(reduced_costs) == 1:  # of one column a look is sooner done than one at arrays
            if not -objective.sense.sign * float(reduced_costs[0]) > tolerance:
                return ()
            better = _THE_ONE
        else:
            better = np.flatnonzero(objective.sense.gains(reduced_costs) > tolerance)
        if not len(better):
            return ()
        if bring_rows(columns):
            return None
        if isinstance(columns, Columns):
            known = self._lookup.of(columns)
            known = known if len(better) == len(columns) else known.take(better)
        else:
            known = self._lookup.of([columns[k] for k in better.tolist()])
        batch = known.batch
        where = self._generated.positions(batch)
        new = where == NOWHERE
        if not new.all():
            for k in np.flatnonzero(~new).tolist():
                if math.isinf(table.upper_now[where[k]]):
                    found = float(reduced_costs[better[k]])
                    held = table.column(int(where[k]))
                    check_not_repeated(oracle, batch[k], held, found, objective.scale, objective.rounding)
            known = known.take(np.flatnonzero(new))
        return self._lookup.remember(known._replace(new_among=len(table))).batch

    def improving_singles(
        self,
        oracles: Sequence[Pricing],
        found: Sequence[Sequence[Column]],
        reduced_costs: Sequence[Floats],
        tolerance: float,
    ) -> list[list[Column]] | None:
        """The same of each pricing problem, looked up together; None unless all found single columns without rows."""
        objective, table = self._objective, self._table
        each: list[list[Column]] = [[] for _ in found]
        chosen: list[tuple[int, Column, float]] = []
        for number, (columns, mine) in enumerate(zip(found, reduced_costs, strict=True)):
            if isinstance(columns, Columns):
                return None
            for column, reduced in zip(columns, mine.tolist(), strict=True):
                if -objective.sense.sign * reduced > tolerance:
                    chosen.append((number, column, reduced))
        single = [column for _, column, _ in chosen]
        if bring_rows(single):
            return None
        if not single:
            return each
        known = self._lookup.of(single)
        where = self._generated.positions(known.batch).tolist()
        new: list[int] = []
        for k, (position, (number, column, reduced)) in enumerate(zip(where, chosen, strict=True)):
            if position == NOWHERE:
                new.append(k)
                each[number].append(column)
            elif math.isinf(table.upper_now[position]):
                held = table.column(position)
                check_not_repeated(oracles[number], column, held, reduced, objective.scale, objective.rounding)
        known = known if len(new) == len(single) else known.take(np.array(new, dtype=np.int64))
        self._lookup.remember_singles(known._replace(new_among=len(table)))
        return each

    def best_known(self, duals: Duals, oracles: int) -> Sequence[float]:
        """The best reduced cost of the columns in the master that came from each of so many pricing problems."""
        table, objective, s = self._table, self._objective, self._objective.sense.sign
        first = GIVEN if oracles == 1 else 0
        least = least_reduced_costs(
            objective.costs, objective.products(duals), table.upper_now, table.origins, s, first, oracles
        )
        known: list[float] = (s * least).tolist()
        return known

    def subgradient(self, solved: MasterSolution, answers: Sequence[Answer | None], duals: Duals) -> Floats | None:
        """Row activities missing at the oracles' answers, and at the better bounds of what no oracle answers for.

        Where an oracle does not say how often a column is used, it is as often as the master uses its like.
        """
        table, rows, s = self._table, self._rows, self._objective.sense.sign
        values = solved.values
        # Whose values the bound counts by themselves; all other columns are their oracles' to answer for.
        own = (table.origins == TEMPLATE) | np.isfinite(table.upper_now)
        own[table.exchange] = False  # bounds are those of a master without
        activity = table.activities(np.where(own, self._at_better_bounds(values, duals), 0.0), len(rows))
        used = np.where(own, 0.0, values)
        given = float(used[table.origins == GIVEN].sum()) / max(len(answers), 1)  # nobody knows whose like they are
        for k, answer in enumerate(answers):
            if answer is None:
                return None
            columns, amounts = answer
            if amounts is None:
                total = float(used[table.origins == k].sum()) + given
                amounts = np.full(len(columns), total / max(len(columns), 1))
            _, owners, there, entries = self.entries(columns)
            activity += np.bincount(there, entries * amounts[owners], minlength=len(rows))
        pull = s * duals.values
        within = np.clip(activity, rows.lower, rows.upper)
        side = np.where(pull > 0.0, rows.lower, np.where(pull < 0.0, rows.upper, within))
        slope: Floats = s * (np.where(np.isfinite(side), side, within) - activity)
        return slope

    def _at_better_bounds(self, values: Floats, duals: Duals) -> Floats:
        """Values of all columns, each at the bound that its reduced cost asks for, or where it is."""
        table, objective = self._table, self._objective
        gains = objective.sense.gains(objective.reduced_costs(duals))
        clean = max(TOLERANCES.reduced_cost * objective.scale, objective.rounding)
        best = np.where(gains > clean, table.upper_now, np.where(gains < -clean, table.lower_now, values))
        return np.where(np.isfinite(best), best, values)

    def entries(self, columns: Sequence[Column]) -> tuple[Floats, Ints, Ints, Floats]:
        """Costs of columns, and column, row and value of each of their entries."""
        if not len(columns):
            nothing = np.empty(0, dtype=np.int64)
            return np.empty(0), nothing, nothing, np.empty(0)
        known = self._lookup.of(columns)
        batch, stated = known.batch, known.stated
        if stated is None:
            return batch.costs, batch.owners, batch.rows, batch.values
        owners, rows = np.concatenate([batch.owners, stated[0]]), np.concatenate([batch.rows, stated[1]])
        return batch.costs, owners, rows, np.concatenate([batch.values, stated[2]])
