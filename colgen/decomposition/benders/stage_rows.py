"""Rows of second stages that cost more than the master thinks, or cannot be."""

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
from colgen.decomposition.benders.second_stage import StageBound
from colgen.decomposition.benders.two_stage import TwoStage
from colgen.decomposition.reading.arrays import Floats, without_rounding

_WORTH = 0.1
"""Rows that close this share of the gap are worth a round, and no more linear programs are solved in it."""

_INWARDS = 0.5
"""At the root rows are looked for so far on the way from the stability centre to the master's solution."""

_ROUNDS = 5
"""So often at most rows are rounded at the root, once no others are violated."""

_DEPTH = 2
"""They are down to this depth: further down fewer nodes did not pay for the rows."""

_PIECES = 12
"""Each two of so many rows of a stage, the tightest, and what it costs at least."""

_IDLE = 10
"""Rows that have been slack for so many solves in a row leave the linear program until they are violated."""


class StageRows(Separation):
    """Rows that second stages return, one each a round.

    Dual values that are known already are asked first, of all stages at once; linear programs are solved where these
    say nothing that is worth a round: at the root, and where the master's solution would be an answer; elsewhere the
    tree goes on with what is known.  At the root it is first between the master's solution and a centre, the mean of
    former ones: rows that are tight within the first stages are deeper than rows that are tight at a corner of them.
    Once none is violated at the root, rows are rounded: see :mod:`colgen.decomposition.benders.rounding`.

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
        self._rounds = 0
        f, first = model.reading.formulation, model.first
        self._roundings = Roundings(f.lower[first], f.upper[first], f.integer[first])

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        model = self._model
        x = model.first_stage(solution)
        count = len(model.recourse.stages)
        claimed = np.array([solution.variables.get((model.cost_name, k), 0.0) for k in range(count)])
        claimed = np.maximum(claimed * model.sign * model.units, 0.0)
        worth = self._worth(context)
        found, gained = self._by_known(x, claimed, context)
        if found and gained > worth:
            return list(found.values())
        if context.depth == 0 and not context.whole:
            self._centre = x if self._centre is None else (self._centre + x) / 2.0
            inner = _INWARDS * x + (1.0 - _INWARDS) * self._centre
            gained += self._by_programs(inner, x, claimed, found, context)
            if found and gained > worth:
                return list(found.values())
        if context.depth == 0 or context.whole:
            self._by_programs(x, x, claimed, found, context)
        if not found and not context.whole and self._may_round(context.depth):
            found = self._by_rounding(x, claimed, context)
        return list(found.values())

    def _worth(self, context: SeparationContext) -> float:
        """Rows that are violated by more in all are worth a round of their own."""
        gap = abs(context.incumbent - context.bound)
        return _WORTH * gap if math.isfinite(gap) else 0.0

    def _by_known(self, x: Floats, claimed: Floats, context: SeparationContext) -> tuple[dict[int, Row], float]:
        """Rows by dual values that are known, and by how much the solution violates them in all.

        Costs that are claimed are those above the least, here and below.
        """
        recourse, least = self._model.recourse, self._model.least
        values, which = recourse.known(x)
        values = values - least
        sizes = np.maximum(
            np.maximum(np.abs(np.where(np.isfinite(values), values, 0.0)), claimed),
            np.maximum(np.maximum(context.scale, self._model.units), COMMON * np.abs(least)),
        )
        excess = values - claimed
        violated = np.flatnonzero(excess > TOLERANCES.reduced_cost * sizes).tolist()
        found = {k: self._row(k, *recourse.bound_row(k, int(which[k]))) for k in violated}
        return found, float(excess[violated].sum())

    def _by_programs(
        self, at: Floats, x: Floats, claimed: Floats, found: dict[int, Row], context: SeparationContext
    ) -> float:
        """Rows of stages without one, by their linear programs at a point; by how much the solution violates them."""
        recourse, gained = self._model.recourse, 0.0
        settled = recourse.settled(at)  # known bounds are tight there, and have been asked
        left = [k for k in range(len(recourse.stages)) if k not in found and k not in settled]
        for number, bound in recourse.bounds(at, left, context.seconds_left):
            if bound is None:
                context.budget.require()
                continue
            excess = self._excess(number, bound, x, float(claimed[number]), context.scale)
            if excess > 0.0:
                found[number] = self._row(number, bound.constant, bound.slopes, bound.feasible)
                gained += excess if bound.feasible else math.inf
        return gained

    def _may_round(self, depth: int) -> bool:
        """Whether rows are rounded: a few times at the root, and near it."""
        self._rounds += depth == 0
        return self._rounds <= _ROUNDS if depth == 0 else depth <= _DEPTH

    def _by_rounding(self, x: Floats, claimed: Floats, context: SeparationContext) -> dict[int, Row]:
        """Of each stage the rounding of two of its rows that the solution violates most."""
        model, found = self._model, dict[int, Row]()
        nothing = np.zeros((1, len(x)))
        for number, cost in enumerate(claimed.tolist()):
            constants, slopes = model.recourse.tightest(number, x, _PIECES)
            rows = np.append(constants - model.least[number], 0.0), np.concatenate([slopes, nothing])
            excess, constant, steep = self._roundings.most_violated(*rows, cost, x)
            if excess > TOLERANCES.diagnostic * size(context.scale, cost, float(model.units[number])):
                found[number] = self._row(number, constant + float(model.least[number]), steep)
        return found

    def _excess(self, number: int, bound: StageBound, x: Floats, claimed: float, scale: float) -> float:
        """By how much a bound exceeds what is claimed, or a violation nothing; 0 where that is rounding."""
        here = bound.constant - float(bound.slopes @ x)
        if bound.feasible:
            least = float(self._model.least[number])
            here -= least
            room = size(scale, float(self._model.units[number]), COMMON * least, here, claimed)
        else:
            claimed, room = 0.0, size(0.0, here, float(np.abs(bound.slopes) @ np.abs(x)))
        return here - claimed if here - claimed > TOLERANCES.reduced_cost * room else 0.0

    def _row(self, number: int, constant: float, slopes: Floats, feasible: bool = True) -> Row:
        """A bound as a row of the master."""
        model = self._model
        key, keys = (model.cost_name, next(self._numbers)), model.reading.formulation.column_keys
        used = np.flatnonzero(slopes)
        entries = {keys[model.first[k]]: float(slopes[k]) for k in used.tolist()}
        unit = float(model.units[number])
        if feasible:
            least = float(model.least[number])
            constant = without_rounding(constant - least, abs(least))
            entries[model.cost_name, number] = model.sign * unit
        elif not entries:  # no first stage helps: a row that nothing satisfies
            entries[model.cost_name, number] = model.sign * unit
            return Row(key, upper=-unit, coefficients=entries)
        return Row(key, lower=constant, coefficients=entries, family=self._family)


class _StageFamily(RowFamily):
    """Rows over template variables alone, which may leave the linear program for a while."""

    def coefficients(self, columns: Sequence[Column], indices: Sequence[Hashable]) -> ArrayLike:
        return np.zeros((len(columns), len(indices)))
