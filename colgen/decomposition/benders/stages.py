r"""Second stages of equal matrix: their optima for a given first stage, and bounds for others by shared dual values.

    Q_s(x) = min qᵀy    subject to    rᴸ_s - T_s x ≤ W y ≤ rᵁ_s - T_s x   [π],    l_s ≤ y ≤ u_s.

Scenarios differ in sides, bounds and T, so a dual solution of one is feasible for all.  By weak duality every π gives
a bound for each stage that is linear in x,

    Q_s(x) ≥ Σ_i π_i r_si - πᵀT_s x + Σ_j d_j b_sj,    d = q - Wᵀπ,

where r_i is the lower side if π_i > 0 and the upper side if π_i < 0, and b_j the lower bound if d_j > 0 and the upper
bound if d_j < 0.  If no y is feasible, the bound on the least violation of rows (q = 0) excludes the x for which it is
positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.errors import SolverError
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.reading.compact_model import Floats, Ints, rounding_of
from colgen.solvers.linear.highs import basic_columns, basic_rows
from colgen.solvers.linear.lp import LinearProgram, LPSolution, LPStatus
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.right_hand_sides import FAILED, INFEASIBLE, OPTIMAL, UNCHANGED, invert, reoptimize

Mask = NDArray[np.bool_]


class SecondStage(NamedTuple):
    """The linear program of one block; ``own`` and ``first`` are the matrices W and T, costs are minimised."""

    costs: Floats
    lower: Floats
    upper: Floats
    own: sparse.csc_array
    first: sparse.csr_array
    row_lower: Floats
    row_upper: Floats

    @property
    def factor(self) -> float:
        """The largest absolute cost, or 1."""
        return float(np.abs(self.costs).max(initial=0.0)) or 1.0


class Infeasible(NamedTuple):
    """``0 ≥ constant - slopes·x``, which excludes a first stage for which stage ``number`` is infeasible."""

    number: int
    constant: float
    slopes: Floats


class Optima(NamedTuple):
    """Stages at a first stage: costs, the index of the dual values that prove each, and optimal variables.

    Costs are infinite for infeasible stages, which have an inequality in ``infeasible``, -inf for unbounded ones, and
    NaN for those that were not solved within the time limit.
    """

    costs: Floats
    which: Ints
    points: Floats
    infeasible: list[Infeasible]


class _Basis(NamedTuple):
    """Basic variables by position, variables before rows, and a mask of the nonbasic ones at upper bounds."""

    basic: Ints
    at_upper: Mask


class _Sides(NamedTuple):
    """Finite sides or bounds of stages: of the first stage, and differences of the others where there are any."""

    first: Floats
    places: Ints
    others: Floats

    @classmethod
    def of(cls, sides: Floats) -> _Sides:
        sides = np.where(np.isfinite(sides), sides, 0.0)
        places = np.flatnonzero((sides != sides[0]).any(axis=0))
        return cls(sides[0], places, sides[:, places] - sides[0, places])

    def paid(self, factors: Floats) -> Floats:
        """Return factors times sides, shape (factors, stages), or one column if all stages are equal."""
        return (factors @ self.first)[:, None] + factors[:, self.places] @ self.others.T

    def size(self, factors: Floats) -> Floats:
        """Return a bound on the sum of the absolute terms of :meth:`paid` for all stages, with the factors' sign."""
        largest = np.abs(self.first)
        largest[self.places] += np.abs(self.others).max(axis=0)
        return (factors @ largest)[:, None]


_Bounds = tuple[Floats, Floats, Floats, Floats]
"""Bounds of the variables, with one row per stage or one for all, and sides of the rows, with one row per stage."""


class StageFamily:
    """Stages of equal :func:`kind`: equal matrices W, and equal costs up to a factor.

    Dual values of a solved stage, in units of the factor, are kept for all.  Known dual values bound all stages at a
    first stage by one matrix product.  From the basis of its best bound each stage is solved by the dual simplex method
    (:mod:`colgen.solvers.linear.right_hand_sides`); HiGHS solves large stages, and those that fail a check.

    References
    ----------
    J. L. Higle, S. Sen, *Stochastic decomposition: an algorithm for two-stage linear programs with recourse*,
    Mathematics of Operations Research 16 (1991), on dual values that scenarios share.
    """

    def __init__(self, stages: Sequence[SecondStage]) -> None:
        one, count = stages[0], len(stages)
        self.factors = np.array([stage.factor for stage in stages])
        self._costs, self._own = one.costs / one.factor, one.own
        self._by_column = sparse.csr_array(one.own.T)
        self._sizes = abs(self._by_column)
        self._lower, self._upper, low, high = (
            np.array([getattr(stage, name) for stage in stages])
            for name in ("lower", "upper", "row_lower", "row_upper")
        )
        if count > 1 and all((bounds == bounds[0]).all() for bounds in (self._lower, self._upper)):
            self._lower, self._upper = self._lower[:1], self._upper[:1]
        self._row_lower, self._row_upper = low, high
        self._has = [np.isfinite(sides[0]) for sides in (low, high, self._lower, self._upper)]
        self._finite = [_Sides.of(each) for each in (low, high, self._lower, self._upper)]
        same = all(_equal(stage.first, one.first) for stage in stages)
        self._first = one.first if same else sparse.csr_array(sparse.vstack([stage.first for stage in stages]))
        self.shares_first = same
        rows, columns = one.own.shape
        starts, entries = (np.asarray(each, dtype=np.int64) for each in (one.own.indptr, one.own.indices))
        self._matrix = starts, entries, one.own.data
        self._small = 0 < rows <= _ROWS and columns > 0
        self._programs: dict[int, LinearProgram] = {}
        self._violation: LinearProgram | None = None
        self._most = int(max(_FEW, min(_MOST + 2 * count, _TABLE // count)))
        self._count = self._clock = 0
        self._place: dict[bytes, int] = {}
        self._bases: list[_Basis | None] = []
        self._inverses: dict[int, Floats] = {}
        self._duals, self._constants, self._used = np.empty((_FEW, rows)), np.empty((_FEW, count)), np.zeros(_FEW)
        self._slopes = np.empty((_FEW, one.first.shape[1] if same else 0))

    def __len__(self) -> int:
        return len(self.factors)

    @property
    def known(self) -> int:
        """Number of known dual values."""
        return self._count

    # --- bounds by known dual values ---------------------------------------------------------------------------------

    def bounds_at(self, x: Floats) -> tuple[Floats, Ints]:
        """Return the best known bound of each stage at a first stage, or -inf, and the index of its dual values."""
        if not self._count:
            return np.full(len(self), -np.inf), np.zeros(len(self), dtype=np.int64)
        table = self._table(x)
        best = table.argmax(axis=0)
        return table[best, np.arange(len(self))] * self.factors, best

    def _table(self, x: Floats) -> Floats:
        """Return the bounds of all stages by all known dual values, in unit costs, shape (known, stages)."""
        constants = self._constants[: self._count]
        if self.shares_first:
            return constants - (self._slopes[: self._count] @ x)[:, None]
        return constants - self._duals[: self._count] @ self._moved(x).T

    def bounds_over(self, x: Floats, lower: Floats, upper: Floats) -> Floats:
        """Return bounds of all stages over a box of first stages, by the dual values at one of them, or -inf."""
        which = self.optima(x).which
        bounds = np.full(len(self), -np.inf)
        for number in np.flatnonzero(which >= 0).tolist():
            slopes = self._duals[which[number]] @ self._first_of(number)
            ends = np.where(slopes > 0.0, upper, lower)
            if np.isfinite(ends[slopes != 0.0]).all():
                paid = float(slopes[slopes != 0.0] @ ends[slopes != 0.0])
                bounds[number] = self.factors[number] * (self._constants[which[number], number] - paid)
        return bounds

    def rows(self, which: Ints, groups: sparse.csr_array) -> tuple[Floats, Floats]:
        """Return constants and slopes of the bounds ``Q ≥ constant - slopes·x`` of groups of stages.

        ``which`` has the dual values of each stage; ``groups`` has a row per group with ones at its stages.  Groups
        with stages without dual values (-1) have no meaning.
        """
        if not self._count:
            return np.full(groups.shape[0], -np.inf), np.zeros((groups.shape[0], self._first.shape[1]))
        which = np.maximum(which, 0)
        self._clock += 1
        self._used[np.unique(which)] = self._clock
        constants = groups @ (self.factors * self._constants[which, np.arange(len(self))])
        if self.shares_first:
            return constants, np.asarray(groups @ (self.factors[:, None] * self._slopes[which]))
        paid = self.factors[:, None] * self._duals[which]
        height = paid.shape[1]
        places = np.arange(len(self))[:, None] * height + np.arange(height)
        by_stage = sparse.csr_array(
            (paid.ravel(), places.ravel(), np.arange(0, paid.size + 1, height)), shape=(len(self), paid.size)
        )
        return constants, np.asarray((groups @ (by_stage @ self._first)).todense())

    def _learn(self, duals: Floats, basics: Ints, uppers: Mask) -> Ints:
        """Store dual values of unit costs, one per row; return their indices, -1 if they are not dual feasible.

        ``basics`` and ``uppers`` are their bases, without columns if there are none.
        """
        if not len(duals):
            return np.empty(0, dtype=np.int64)
        rounded = np.zeros((len(duals), duals.shape[1] + 1), dtype=np.float32)  # one more: stages may have no rows
        rounded[:, :-1] = duals
        rounded += np.float32(0.0)
        keys = rounded.view(np.dtype((np.void, rounded.itemsize * rounded.shape[1]))).ravel()
        _, chosen, of_each = np.unique(keys, return_index=True, return_inverse=True)
        known = [keys[k].tobytes() for k in chosen.tolist()]
        new = np.flatnonzero([key not in self._place for key in known])
        if len(new):
            cleaned, constants, valid = self._weak_duality(duals[chosen[new]], self._costs)
            slopes = np.asarray((self._first.T @ cleaned.T).T) if self.shares_first else np.empty((len(new), 0))
            indices = np.where(valid, self._count + np.cumsum(valid) - 1, -1)
            self._place.update(zip([known[k] for k in new.tolist()], indices.tolist(), strict=True))
            self._append(cleaned[valid], constants[valid], slopes[valid])
            for k in chosen[new[valid]].tolist():
                self._bases.append(_Basis(basics[k], uppers[k]) if basics.shape[1] else None)
        return np.array([self._place[key] for key in known], dtype=np.int64)[of_each]

    def _append(self, duals: Floats, constants: Floats, slopes: Floats) -> None:
        first, last = self._count, self._count + len(duals)
        used = np.full(len(duals), self._clock + 1.0)
        arrays = {"_duals": duals, "_constants": constants, "_slopes": slopes, "_used": used}
        for name, new in arrays.items():
            array = getattr(self, name)
            if last > len(array):
                array = np.concatenate([array, np.zeros((max(last, len(array)), *array.shape[1:]))])
                setattr(self, name, array)
            array[first:last] = new
        self._count = last

    def _forget(self) -> None:
        """Drop the dual values that were not used for the longest time if there are too many; indices change."""
        if self._count <= self._most:
            return
        kept = np.sort(np.argsort(self._used[: self._count], kind="stable")[-self._most // 2 :])
        for name in ("_duals", "_constants", "_slopes", "_used"):
            array = getattr(self, name)
            array[: len(kept)] = array[kept]
        number = {int(k): new for new, k in enumerate(kept)}
        self._place = {key: number[k] for key, k in self._place.items() if k in number}
        self._bases = [self._bases[k] for k in kept.tolist()]
        self._inverses, self._count = {}, len(kept)

    def _weak_duality(self, duals: Floats, costs: Floats) -> tuple[Floats, Floats, Mask]:
        """Return dual values without those of infinite sides, constants per dual values and stage, and validity."""
        has_low, has_high, has_lower, has_upper = self._has
        duals = np.where(np.where(duals > 0.0, has_low, has_high), duals, 0.0)
        reduced = costs - (self._by_column @ duals.T).T
        sizes = np.abs(costs) + (self._sizes @ np.abs(duals).T).T
        bounded = np.where(reduced > 0.0, has_lower, has_upper)
        room = TOLERANCES.reduced_cost * sizes + TOLERANCES.pruning * sizes.max(axis=1, initial=0.0)[:, None]
        valid = (bounded | (np.abs(reduced) <= room)).all(axis=1)
        reduced = np.where(bounded, reduced, 0.0)
        low, high, lower, upper = self._finite
        total, size = np.zeros((len(duals), len(self))), np.zeros((len(duals), 1))
        for factors, below, above in ((duals, low, high), (reduced, lower, upper)):
            up, down = np.maximum(factors, 0.0), np.minimum(factors, 0.0)
            total = total + (below.paid(up) + above.paid(down))
            size = size + (below.size(up) - above.size(down))
        return duals, np.where(np.abs(total) <= rounding_of(size), 0.0, total), valid

    def _moved(self, x: Floats) -> Floats:
        """Return T x, one row per stage, or one row for all if T is the same."""
        shape = (1 if self.shares_first else len(self), self._own.shape[0])
        moved: Floats = (self._first @ x).reshape(shape)
        return moved

    # --- optima ------------------------------------------------------------------------------------------------------

    def optima(self, x: Floats, seconds_left: Callable[[], float] = lambda: math.inf) -> Optima:
        """Return the optima of all stages at a first stage."""
        self._forget()
        moved, count = self._moved(x), len(self)
        bounds = self._lower, self._upper, self._row_lower - moved, self._row_upper - moved
        found = Optima(
            np.full(count, np.nan), np.full(count, -1, dtype=np.int64), np.zeros((count, len(self._costs))), []
        )
        left = np.arange(count)
        while self._small and not self._count and len(left) and count - len(left) < _TRIED:
            self._solve(int(left[0]), x, bounds, found, seconds_left())
            left = left[1:]
        if self._small and self._count and len(left):
            self._reoptimize(left, x, bounds, found, seconds_left)
            left = left[np.isnan(found.costs[left])]
        for number in left.tolist():
            seconds = seconds_left()
            if seconds <= 0.0:
                break
            self._solve(number, x, bounds, found, seconds)
        return found

    def _reoptimize(
        self, numbers: Ints, x: Floats, bounds: _Bounds, found: Optima, seconds_left: Callable[[], float]
    ) -> None:
        """Solve stages from the bases of their best bounds, as far as the results pass the checks."""
        which = self._choose_starts(self._table(x))
        (rows, columns), count = self._own.shape, len(self)
        size, ints = rows + columns, np.int64
        status, duals, uppers = np.full(count, FAILED), np.zeros((count, rows)), np.zeros((count, size), np.bool_)
        results = status, found.points, duals, np.zeros((count, rows), ints), uppers
        work = np.zeros(size), np.zeros(rows), np.zeros(rows), np.zeros(size)
        state = np.zeros(rows, ints), np.zeros(size, ints), np.zeros(size, np.bool_), np.zeros(size)
        space = np.empty((rows, rows))
        for chosen in np.unique(which[numbers[which[numbers] >= 0]]).tolist():
            start, mine = self._start(chosen), numbers[which[numbers] == chosen]
            inverses = self._inverses[chosen], space
            for first in range(0, len(mine), _AT_ONCE):
                if seconds_left() > 0.0:
                    some = mine[first : first + _AT_ONCE]
                    reoptimize(self._matrix, bounds, some, start, state, inverses, _PIVOTS, work, results)
        self._accept_rays(numbers[status[numbers] == INFEASIBLE], x, duals, found)
        np.clip(found.points, *bounds[:2], out=found.points)
        indices = np.where(status == UNCHANGED, which, -1)
        changed = numbers[status[numbers] == OPTIMAL]
        indices[changed] = self._learn(duals[changed], results[3][changed], uppers[changed])
        solved = numbers[indices[numbers] >= 0]
        solved = solved[self._are_feasible(solved, found.points[solved], bounds)]
        indices = indices[solved]
        paid = self._costs * found.points[solved]
        value = self._values(indices, solved, x)
        near = paid.sum(axis=1) - value <= TOLERANCES.pruning * np.abs(paid).sum(axis=1)
        found.which[solved[near]] = indices[near]
        found.costs[solved[near]] = (self.factors[solved] * paid.sum(axis=1))[near]

    def _choose_starts(self, table: Floats) -> Ints:
        """Return the index of a start for each stage, -1 without any: of those with an inverse, the best bound.

        The inverses of the bases that are the best of most stages are computed first, a few at a time.
        """
        rows = self._own.shape[0]
        best, times = np.unique(table.argmax(axis=0), return_counts=True)
        new = [k for k in best[np.argsort(-times, kind="stable")].tolist() if k not in self._inverses][:_NEW]
        for k in new:
            basis = self._bases[k]
            if basis is None:
                continue
            inverse, order = np.empty((rows, rows)), np.empty(rows, dtype=np.int64)
            if invert(self._matrix, basis.basic, order, inverse, np.empty(rows)) <= TOLERANCES.pruning:
                self._inverses[k] = inverse
                self._bases[k] = basis._replace(basic=order)
            else:
                self._bases[k] = None
        while len(self._inverses) * rows * rows > _NUMBERS:
            self._inverses.pop(next(iter(self._inverses)))
        ready = np.array(list(self._inverses), dtype=np.int64)
        return ready[table[ready].argmax(axis=0)] if len(ready) else np.full(len(self), -1)

    def _start(self, which: int) -> tuple[Ints, Ints, Mask, Floats]:
        """Return a basis as :func:`reoptimize` expects it."""
        basis, (rows, columns) = self._bases[which], self._own.shape
        assert basis is not None
        position = np.full(rows + columns, -1)
        position[basis.basic] = np.arange(rows)
        duals = self._duals[which]
        reduced = np.concatenate([self._costs - self._by_column @ duals, duals])
        reduced[basis.basic] = 0.0
        is_zero = np.abs(reduced) <= TOLERANCES.pruning * np.abs(reduced).max(initial=0.0)
        at_upper = np.where(is_zero, basis.at_upper, reduced < 0.0)
        return basis.basic, position, at_upper, reduced

    def _are_feasible(self, numbers: Ints, points: Floats, bounds: _Bounds) -> Mask:
        """Return whether points satisfy the rows up to rounding."""
        low, high = bounds[2][numbers], bounds[3][numbers]
        activity, sizes = (self._own @ points.T).T, (abs(self._own) @ np.abs(points).T).T
        room = TOLERANCES.pruning * np.maximum(sizes, sizes.max(axis=1, initial=0.0)[:, None])
        return np.asarray(((activity >= low - room) & (activity <= high + room)).all(axis=1))

    def _values(self, which: Ints, numbers: Ints, x: Floats) -> Floats:
        """Return the bounds of stages by given dual values, in unit costs."""
        if self.shares_first:
            paid = self._slopes[which] @ x
        else:
            paid = (self._duals[which] * self._moved(x)[numbers]).sum(axis=1)
        return np.asarray(self._constants[which, numbers] - paid)

    def _accept_rays(self, numbers: Ints, x: Floats, rays: Floats, found: Optima) -> None:
        """Mark the stages as infeasible whose rays exclude the first stage."""
        if not len(numbers):
            return
        rays = rays[numbers] / np.abs(rays[numbers]).max(axis=1, initial=0.0)[:, None]
        rays = np.where(np.abs(rays) > TOLERANCES.pruning, rays, 0.0)
        rays, constants, valid = self._weak_duality(rays, np.zeros_like(self._costs))
        for k, number in enumerate(numbers.tolist()):
            slopes = rays[k] @ self._first_of(number)
            constant = float(constants[k, number])
            violation = constant - float(slopes @ x)
            size = max(abs(constant), float(np.abs(slopes) @ np.abs(x)))
            if valid[k] and violation > TOLERANCES.feasibility * size:
                found.costs[number] = np.inf
                found.infeasible.append(Infeasible(number, constant, slopes))

    def _first_of(self, number: int) -> sparse.csr_array:
        height = self._own.shape[0]
        return self._first if self.shares_first else self._first[number * height : (number + 1) * height]

    # --- by HiGHS ----------------------------------------------------------------------------------------------------

    def _solve(self, number: int, x: Floats, bounds: _Bounds, found: Optima, seconds: float) -> None:
        """Solve one stage, and store its optimum or why there is none."""
        own = number if len(bounds[0]) > 1 else 0
        sides = bounds[0][own], bounds[1][own], bounds[2][number], bounds[3][number]
        program = self._programs.get(number % _PROGRAMS)
        if program is None:
            program = LinearProgram(Program(False, self._own, self._costs, *sides), dual_first=True)
            self._programs[number % _PROGRAMS] = program
        else:
            _change_sides(program, sides)
        solved = program.solve(seconds)
        if solved.status is LPStatus.LIMIT:
            return
        if solved.status is LPStatus.UNBOUNDED:
            found.costs[number] = -np.inf
            return
        if solved.status is LPStatus.OPTIMAL:
            basic, at_upper = self._basis_of(program, solved, sides)
            which = int(self._learn(solved.duals[None, :], basic[None, :], at_upper[None, :])[0])
            if which < 0:
                raise SolverError("the dual values of a second stage violate dual feasibility beyond the tolerance")
            found.points[number] = np.clip(solved.values, sides[0], sides[1])
            found.which[number] = which
            found.costs[number] = self.factors[number] * float(self._costs @ found.points[number])
            return
        solved = self._least_violation(sides, seconds)
        if solved.status is not LPStatus.OPTIMAL:
            return
        found.costs[number] = np.inf
        # Without costs, a dual value near zero is a rounding error with nothing to compare it with.
        duals = np.where(np.abs(solved.duals) > TOLERANCES.reduced_cost, np.clip(solved.duals, -1.0, 1.0), 0.0)
        cleaned, constants, valid = self._weak_duality(duals[None, :], np.zeros_like(self._costs))
        if valid[0]:
            slopes = cleaned[0] @ self._first_of(number)
            found.infeasible.append(Infeasible(number, float(constants[0, number]), slopes))

    def _basis_of(self, program: LinearProgram, solved: LPSolution, sides: Sequence[Floats]) -> tuple[Ints, Mask]:
        """Return the optimal basis of a linear program, without members if it is of no use."""
        basic, at_upper = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_)
        if self._small:
            basis = program.basis()
            basic = np.flatnonzero(np.concatenate([basic_columns(basis), basic_rows(basis)]))
            values = np.concatenate([solved.values, self._own @ solved.values])
            lower, upper = np.concatenate([sides[0], sides[2]]), np.concatenate([sides[1], sides[3]])
            at_upper = np.abs(values - upper) < np.abs(values - lower)
        return (basic if len(basic) == self._own.shape[0] else basic[:0]), at_upper

    def _least_violation(self, sides: Sequence[Floats], seconds: float) -> LPSolution:
        """Return the optimum of the least violation of all rows of a stage."""
        rows, columns = self._own.shape
        nothing, free = np.zeros(2 * rows), np.full(2 * rows, math.inf)
        sides = np.append(sides[0], nothing), np.append(sides[1], free), sides[2], sides[3]
        if self._violation is None:
            either = sparse.eye_array(rows, format="csc")
            matrix = sparse.csc_array(sparse.hstack([self._own, either, -either]))
            costs = np.append(np.zeros(columns), np.ones(2 * rows))
            self._violation = LinearProgram(Program(False, matrix, costs, *sides))
        else:
            _change_sides(self._violation, sides)
        return self._violation.solve(seconds)


_ROWS = 400
"""Maximum number of rows of a stage for dense inverses of bases; HiGHS solves larger ones."""

_PIVOTS, _AT_ONCE = 2_000, 64
"""Maximum number of pivots per stage, and of stages between looks at the clock."""

_TRIED = 8
"""Number of infeasible stages after which HiGHS solves all, as no basis is known."""

_PROGRAMS = 32
"""Maximum number of linear programs in HiGHS; each keeps its basis."""

_FEW, _MOST, _TABLE = 64, 256, 20_000_000
"""Initial and maximum number of known dual values (without 2 per stage), and maximum size of their constants."""

_NEW = 16
"""Maximum number of inverses to compute per first stage."""

_NUMBERS = 16_000_000
"""Maximum number of entries of stored inverses."""


def kind(stage: SecondStage) -> Hashable:
    """Return a key that is equal for stages with equal W, infinite sides, and equal costs up to a factor."""
    stage.own.sort_indices()
    own = stage.own.indptr, stage.own.indices, stage.own.data + 0.0
    has = (np.isfinite(each) for each in (stage.row_lower, stage.row_upper, stage.lower, stage.upper))
    # Rounded, as factors change the last digits.
    costs = (stage.costs / stage.factor).astype(np.float32) + np.float32(0.0)
    return (stage.own.shape, *(part.tobytes() for part in (*own, *has)), costs.tobytes())


def _equal(one: sparse.csr_array, other: sparse.csr_array) -> bool:
    return one is other or bool(
        one.nnz == other.nnz
        and (one.indptr == other.indptr).all()
        and (one.indices == other.indices).all()
        and (one.data == other.data).all()
    )


def _change_sides(program: LinearProgram, sides: Sequence[Floats]) -> None:
    lower, upper, low, high = sides
    program.change_bounds(np.arange(len(lower)), lower, upper)
    program.change_row_bounds(np.arange(len(low)), low, high)
