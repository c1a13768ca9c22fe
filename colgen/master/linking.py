"""The linking rows of a linear master in a Lagrangian relaxation.

The rows are relaxed: the dual values price their violation.  The remaining problem decomposes: oracles solve the
pricing problems, and columns of no oracle (the template's variables) take the better of their bounds.  Source: A. M.
Geoffrion, *Lagrangean relaxation for integer programming*, Mathematical Programming Study 2 (1974).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.columns import Column, Key
from colgen.core.duals import Duals
from colgen.core.tolerances import TOLERANCES
from colgen.master.column_table import TEMPLATE
from colgen.master.lookup import LookUp
from colgen.master.tableau import Tableau
from colgen.model.rows import Rows

Floats = NDArray[np.float64]

_SWEEPS = 20
"""Maximum number of sweeps that correct dual values column by column."""


class Linking:
    """Rows of a linear master at the present node, with real costs.  Later rows and columns are not included.

    ``lower`` and ``upper`` bound the dual values, shape (rows,), in the problem's own sense: for rows with one side,
    and for variables without bounds that have an entry in one row only.  ``sizes`` are powers of two.  ``own_costs``
    are the costs of the columns that belong to no oracle.
    """

    def __init__(self, tableau: Tableau, formulation: Rows, lookup: LookUp) -> None:
        self._formulation, self._lookup = formulation, lookup
        table, rows = tableau.table, tableau.rows
        self._sense = tableau.objective.sense
        s = self._sense.sign
        self.sizes = rows.sizes
        self.sides = rows.lower.copy(), rows.upper.copy()
        # Columns of oracles without an upper bound are covered by the oracles' bounds.
        own = ((table.origins == TEMPLATE) | np.isfinite(table.upper_now)) & ~table.artificial
        self._own = np.flatnonzero(own)
        self._matrix = sparse.csc_array(table.matrix(self._own, len(rows)))
        self.own_costs = table.costs[self._own]
        self._bounds = table.lower_now[self._own], table.upper_now[self._own]
        # Below as if minimising: the reduced cost c_j - πᵀa_j must not be negative without an upper bound.
        least = np.where(np.isposinf(rows.upper), 0.0, -np.inf)
        most = np.where(np.isneginf(rows.lower), 0.0, np.inf)
        self._unlimited: list[int] = []
        for sign, without in ((1.0, np.isposinf(self._bounds[1])), (-1.0, np.isneginf(self._bounds[0]))):
            for j in np.flatnonzero(without).tolist():
                begin, end = self._matrix.indptr[j], self._matrix.indptr[j + 1]
                if end - begin != 1:
                    self._unlimited.append(j)
                    continue
                row, entry = int(self._matrix.indices[begin]), sign * float(self._matrix.data[begin])
                limit = sign * s * float(self.own_costs[j]) / entry if entry else np.inf
                if entry > 0.0:
                    most[row] = min(most[row], limit)
                elif entry < 0.0:
                    least[row] = max(least[row], limit)
        self.lower, self.upper = (least, most) if s > 0 else (-most, -least)

    def project(self, duals: Floats) -> Floats:
        """Return dual values near these at which no variable improves without limit, if found."""
        duals = np.minimum(np.maximum(duals, self.lower), self.upper)
        s = self._sense.sign
        for _ in range(_SWEEPS if self._unlimited else 0):
            clean = True
            for j in self._unlimited:
                begin, end = self._matrix.indptr[j], self._matrix.indptr[j + 1]
                rows, column, cost = self._matrix.indices[begin:end], self._matrix.data[begin:end], self.own_costs[j]
                terms = duals[rows] * column
                reduced = s * float(cost - terms.sum())
                improves = self._bounds[1][j] == np.inf if reduced < 0.0 else self._bounds[0][j] == -np.inf
                slack = TOLERANCES.pruning * max(abs(float(cost)), float(np.abs(terms).max(initial=0.0)))
                if improves and abs(reduced) > slack:
                    clean = False
                    duals[rows] += s * reduced * column / float(column @ column)
            duals = np.minimum(np.maximum(duals, self.lower), self.upper)
            if clean:
                break
        return duals

    def own_values(self, duals: Duals) -> Floats:
        """Return values of columns of no oracle, each at its better bound."""
        lower, upper = self._bounds
        gains = self._sense.gains(self.own_costs - self._matrix.T @ duals.values)
        best = np.where(gains > 0.0, upper, lower)
        other = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
        values: Floats = np.where(np.isfinite(best), best, other)
        return values

    def own_activity(self, values: Floats) -> Floats:
        """Return Σ_j a_ij x_j for every row, over the columns that belong to no oracle."""
        return np.asarray(self._matrix @ values, dtype=float)

    def named(self, values: Floats) -> tuple[dict[Key, float], frozenset[Key]]:
        """Return the nonzero template variables by name, and the integer ones' names."""
        formulation = self._formulation
        keys, count = formulation.column_keys, len(formulation.column_keys)
        found = {keys[k]: float(x) for k, x in zip(self._own.tolist(), values, strict=True) if x and k < count}
        integer = frozenset(keys[k] for k in self._own.tolist() if k < count and formulation.integer[k])
        return found, integer & found.keys()

    def own_cost(self, values: Floats) -> float:
        """Return the cost of these values, including the objective's constant."""
        return float(self.own_costs @ values) + self._formulation.offset

    def costs_of(self, columns: Sequence[Column]) -> Floats:
        return self._lookup.over(columns).costs

    def activity(self, columns: Sequence[Column], values: Floats) -> Floats:
        """Return Σ_j a_ij x_j for every row, over columns of oracles."""
        owners, rows, entries = self._lookup.over(columns).entries
        sums: Floats = np.bincount(rows, entries * values[owners], minlength=len(self.sizes)).astype(float)
        return sums

    def slope(self, duals: Floats, activity: Floats) -> Floats:
        """Return a subgradient of the dual bound: the violation of the rows.

        Where a dual value is zero, either side counts if the activity violates it.
        """
        s = self._sense.sign
        low, high = self.sides
        pull = s * duals
        side = np.where(pull > 0.0, low, np.where(pull < 0.0, high, np.clip(activity, low, high)))
        return s * (np.where(np.isfinite(side), side, np.clip(activity, low, high)) - activity)

    def holds(self, activity: Floats) -> bool:
        """Return whether an activity satisfies all rows."""
        low, high = self.sides
        tolerance = TOLERANCES.pruning * self.sizes
        return bool(((activity >= low - tolerance) & (activity <= high + tolerance)).all())
