"""Separation of rows for second stages whose cost is too low in the master, or that are infeasible."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from colgen.core.columns import Column, Row, RowFamily
from colgen.core.solution import Solution
from colgen.core.tolerances import COMMON, TOLERANCES, size
from colgen.cuts.separation import Separation, SeparationContext
from colgen.decomposition.benders.rounding import Roundings
from colgen.decomposition.benders.two_stage import TwoStage
from colgen.decomposition.reading.compact_model import Floats, Ints, without_rounding

_WORTH = 0.1
"""Share of the gap; rows whose violation exceeds it end the separation of a round."""

_SMALL = 0.5
"""Share of the violation above; rows of less violation are not added below the root."""

_INWARDS = 0.3
"""Position of the separation point at the root between the stability centre (0) and the master's solution (1)."""

_ROUNDS = 5
"""Maximum number of rounds at the root in which rows are rounded, once no others are violated."""

_DEPTH = 2
"""Maximum depth for rounding rows; deeper in the tree fewer nodes did not pay for the rows."""

_PIECES = 6
"""Number of tightest rows of a group of which all pairs are rounded."""

_IDLE = 10
"""Rows that are slack for this many consecutive solves leave the linear program until they are violated."""


class StageRows(Separation):
    """Rows of groups of second stages, at most one per group and round, and rows that exclude infeasible ones.

    Known dual values are evaluated first, for all stages at once.  Stages are solved only if these give too little
    violation, at the root or if the master's solution is integer.  At the root the first point is between the master's
    solution and a centre, the best first stage so far.  Rows that are tight in the interior are deeper than rows that
    are tight at a vertex.  If no row is violated at the root, rows are rounded
    (:mod:`colgen.decomposition.benders.rounding`).

    References
    ----------
    T. L. Magnanti, R. T. Wong, *Accelerating Benders decomposition*, Operations Research 29 (1981); N. Papadakos,
    *Practical enhancements to the Magnanti-Wong method*, Operations Research Letters 36 (2008); W. Ben-Ameur, J. Neto,
    *Acceleration of cutting-plane and column generation algorithms*, Networks 49 (2007), on in-out separation.
    """

    def __init__(self, model: TwoStage) -> None:
        self._model = model
        self._numbers = itertools.count()
        self._family = _StageFamily(model.cost_name, idle_after=_IDLE)
        self._centre: Floats | None = None
        self._centre_cost = math.inf
        self._rounds = 0
        f, first = model.compact.formulation, model.first
        self._roundings = Roundings(f.lower[first], f.upper[first], f.integer[first])
        self._pieces: list[list[tuple[float, Floats]]] = [[] for _ in range(model.recourse.count)]

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        model = self._model
        x = model.first_stage(solution)
        count = model.recourse.count
        claimed = np.array([solution.variables.get((model.cost_name, k), 0.0) for k in range(count)])
        claimed = np.maximum(claimed * model.sign * model.units, 0.0)
        worth = self._worth(context)
        values, which = model.recourse.known_bounds(x)
        found, gained = self._violated(model.recourse.by_group(values), which, x, claimed, context)
        if found and gained > worth:
            return list(found.values())
        if context.depth and not context.whole and gained < _SMALL * worth:
            return []
        if context.depth == 0:
            inner = x if self._centre is None else _INWARDS * x + (1.0 - _INWARDS) * self._centre
            gained += self._by_programs(inner, x, claimed, found, context)
            if found and gained > worth:
                return list(found.values())
        if context.depth == 0 or context.whole:
            self._by_programs(x, x, claimed, found, context)
        if not found and not context.whole and self._may_round(context.depth):
            found = self._by_rounding(x, claimed, context)
        return list(found.values())

    def _worth(self, context: SeparationContext) -> float:
        """Return the total violation above which rows end the separation of a round."""
        gap = abs(context.incumbent - context.bound)
        if context.depth == 0:
            gap = min(gap, abs(self._model.sign * self._centre_cost - context.bound))
        return _WORTH * gap if math.isfinite(gap) else 0.0

    def _violated(
        self, bounds: Floats, which: Ints, x: Floats, claimed: Floats, context: SeparationContext
    ) -> tuple[dict[Hashable, Row], float]:
        """Return the violated rows of groups by the given dual values of stages, and their total violation.

        ``bounds`` are -inf for groups without a row.  Here and below ``claimed`` are the costs in the master above the
        least cost.
        """
        model = self._model
        if not np.isfinite(bounds).any():
            return {}, 0.0
        constants, slopes = model.recourse.rows(which)
        constants = np.where(np.isfinite(bounds), constants, -np.inf)
        values = constants - slopes @ x - model.least
        sizes = np.maximum(
            np.maximum(np.abs(np.where(np.isfinite(values), values, 0.0)), claimed),
            np.maximum(np.maximum(context.scale, model.units), COMMON * np.abs(model.least)),
        )
        excess = values - claimed
        violated = np.flatnonzero(excess > TOLERANCES.reduced_cost * sizes).tolist()
        for group in violated:
            self._pieces[group].append((float(constants[group]), slopes[group]))
        found: dict[Hashable, Row] = {k: self._row(k, float(constants[k]), slopes[k]) for k in violated}
        return found, float(excess[violated].sum())

    def _by_programs(
        self, at: Floats, x: Floats, claimed: Floats, found: dict[Hashable, Row], context: SeparationContext
    ) -> float:
        """Add rows by the optima of stages at a point for groups without one; return the total violation."""
        model, recourse, gained = self._model, self._model.recourse, 0.0
        optima = recourse.optima(at, context.seconds_left)
        if np.isnan(optima.costs).any():
            context.budget.require()
        for number, constant, slopes in optima.infeasible:
            group = int(recourse.group_of[number])
            violation = constant - float(slopes @ x)
            if violation > TOLERANCES.reduced_cost * size(0.0, violation, float(np.abs(slopes) @ np.abs(x))):
                found["infeasible", number] = self._row(group, constant, slopes, False)
                gained = math.inf
        total = model.first_cost(at) + float(optima.costs.sum())
        if context.depth == 0 and total < self._centre_cost:
            self._centre, self._centre_cost = at, total
        bounds = recourse.by_group(np.where(np.isfinite(optima.costs), optima.costs, -np.inf))
        bounds[[k for k in found if isinstance(k, int)]] = -np.inf
        rows, violation = self._violated(bounds, optima.which, x, claimed, context)
        found.update(rows)
        return gained + violation

    def _may_round(self, depth: int) -> bool:
        """Return whether to separate rows by rounding: in the first rounds at the root, and at nodes of small depth."""
        self._rounds += depth == 0
        return self._rounds <= _ROUNDS if depth == 0 else depth <= _DEPTH

    def _by_rounding(self, x: Floats, claimed: Floats, context: SeparationContext) -> dict[Hashable, Row]:
        """Return the most violated rounding of two rows for each group."""
        model, found = self._model, dict[Hashable, Row]()
        nothing = np.zeros((1, len(x)))
        for number, cost in enumerate(claimed.tolist()):
            if not self._pieces[number]:
                continue
            constants = np.array([constant for constant, _ in self._pieces[number]])
            slopes = np.array([each for _, each in self._pieces[number]])
            best = np.argsort(slopes @ x - constants, kind="stable")[:_PIECES]
            constants, slopes = constants[best], slopes[best]
            rows = np.append(constants - model.least[number], 0.0), np.concatenate([slopes, nothing])
            excess, constant, steep = self._roundings.most_violated(*rows, cost, x)
            if excess > TOLERANCES.diagnostic * size(context.scale, cost, float(model.units[number])):
                found[number] = self._row(number, constant + float(model.least[number]), steep)
        return found

    def _row(self, number: int, constant: float, slopes: Floats, feasible: bool = True) -> Row:
        model = self._model
        key, keys = (model.cost_name, next(self._numbers)), model.compact.formulation.column_keys
        used = np.flatnonzero(slopes)
        entries = {keys[model.first[k]]: float(slopes[k]) for k in used.tolist()}
        unit = float(model.units[number])
        if feasible:
            least = float(model.least[number])
            constant = without_rounding(constant - least, abs(least))
            entries[model.cost_name, number] = model.sign * unit
        elif not entries:  # no first stage is feasible: add an infeasible row
            entries[model.cost_name, number] = model.sign * unit
            return Row(key, upper=-unit, coefficients=entries)
        return Row(key, lower=constant, coefficients=entries, family=self._family)


class _StageFamily(RowFamily):
    """Rows over template variables only, which may temporarily leave the linear program."""

    def coefficients(self, columns: Sequence[Column], indices: Sequence[Hashable]) -> ArrayLike:
        return np.zeros((len(columns), len(indices)))
