r"""A pool of dual values of second stages, each of which bounds all stages of the same kind.

Scenarios usually differ only in sides and bounds, so a feasible dual solution of one is feasible for all.
By weak duality each π bounds each stage s from below,

    Q_s(x) ≥ constant_s(π) - f_s πᵀT x,

where f_s is the factor on the costs of the stage (its probability).  A table of constants and one matrix-vector product
give these bounds for all stages at a first stage, without solving linear programs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from scipy import sparse

from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.benders.known_bases import KnownBasis, Mask
from colgen.decomposition.benders.second_stage import SecondStage
from colgen.decomposition.reading.compact_model import Floats, Ints


class KnownDuals:
    """Dual values for stages of equal :func:`kind`: equal matrices, and equal costs up to a factor.

    References
    ----------
    J. L. Higle, S. Sen, *Stochastic decomposition: an algorithm for two-stage linear programs with recourse*,
    Mathematics of Operations Research 16 (1991), on dual values that scenarios share.
    """

    def __init__(self, stages: Sequence[SecondStage]) -> None:
        self._own = sparse.csr_array(stages[0].own.T)
        self._sizes = abs(self._own)
        self._first = sparse.csr_array(stages[0].first.T)
        self.factors = np.array([_factor(stage.costs) for stage in stages])
        self._costs, self._lower, self._upper, self._row_lower, self._row_upper = (
            np.array([getattr(stage, name) for stage in stages])
            for name in ("costs", "lower", "upper", "row_lower", "row_upper")
        )
        self._moved = sparse.csr_array(stages[0].first)
        self._place: dict[bytes, int] = {}
        self._bases: list[list[KnownBasis]] = []
        own = stages[0].own
        self._dense = own.toarray() if own.shape[0] <= _ROWS and own.shape[1] <= _COLUMNS else np.empty((0, 0))
        self._count = 0
        self._constants, self._slopes = np.empty((_FEW, len(stages))), np.empty((_FEW, self._first.shape[0]))

    def __len__(self) -> int:
        return self._count

    def add(self, duals: Floats, number: int, basis: KnownBasis | None = None) -> int:
        """Store dual values of stage ``number``, and their basis; return their index.

        Dual values are stored once, perhaps with several bases.
        """
        unit = duals / self.factors[number]
        key = (unit.astype(np.float32) + np.float32(0.0)).tobytes()
        which = self._place.setdefault(key, self._count)
        if which == self._count:
            self._append(unit)
            self._bases.append([])
        bases = self._bases[which]
        if basis is not None and self._dense.size and not any(map(basis.same, bases)):
            self._bases[which] = [basis, *bases[: _TIED - 1]]
        return which

    def _append(self, unit: Floats) -> None:
        """Store new dual values, scaled to costs of size 1."""
        mine = self.factors[:, None] * unit
        sides = np.where(unit > 0.0, self._row_lower, self._row_upper)
        reduced = self._costs - self.factors[:, None] * (self._own @ unit)
        bounds = np.where(reduced > 0.0, self._lower, self._upper)
        size = np.abs(self._costs) + self.factors[:, None] * (self._sizes @ np.abs(unit))
        has_side, has_bound = np.isfinite(sides) | (mine == 0.0), np.isfinite(bounds)
        told = np.where(np.isfinite(sides), sides, 0.0) * mine
        told_by_bounds = np.where(has_bound, bounds, 0.0) * reduced
        valid = has_side.all(axis=1) & (has_bound | (np.abs(reduced) <= TOLERANCES.reduced_cost * size)).all(axis=1)
        if self._count == len(self._constants):
            self._constants = np.concatenate([self._constants, np.empty_like(self._constants)])
            self._slopes = np.concatenate([self._slopes, np.empty_like(self._slopes)])
        self._constants[self._count] = np.where(valid, told.sum(axis=1) + told_by_bounds.sum(axis=1), -np.inf)
        self._slopes[self._count] = self._first @ unit
        self._count += 1

    def at(self, x: Floats) -> tuple[Floats, Ints]:
        """Return the best bound of each stage at a first stage, or -inf, and the index of its dual values."""
        if not self._count:
            return np.full(len(self.factors), -np.inf), np.zeros(len(self.factors), dtype=np.int64)
        moved = self._slopes[: self._count] @ x
        values = self._constants[: self._count] - moved[:, None] * self.factors
        best = values.argmax(axis=0)
        return values[best, np.arange(len(best))], best

    def settle(self, x: Floats) -> tuple[Mask, Floats]:
        """Return a mask of the stages whose best bound is attained at a first stage, and points of that cost."""
        values, which = self.at(x)
        settled, points = np.zeros(len(values), dtype=np.bool_), np.zeros_like(self._costs)
        for chosen in np.unique(which[np.isfinite(values)]).tolist():
            mine = np.flatnonzero(which == chosen)
            settled[mine], points[mine] = self.settle_by(chosen, x, mine)
        return settled, points

    def settle_by(self, which: int, x: Floats, places: Ints) -> tuple[Mask, Floats]:
        """Return the result of :meth:`settle` for the stages ``places``, by the dual values numbered ``which``."""
        values = self._constants[which, places] - self.factors[places] * float(self._slopes[which] @ x)
        settled, points = np.zeros(len(places), dtype=np.bool_), np.zeros((len(places), self._costs.shape[1]))
        moved = self._moved @ x
        for basis in self._bases[which]:
            left = np.flatnonzero(~settled)
            mine = places[left]
            if not len(mine):
                break
            sides = self._row_lower[mine] - moved, self._row_upper[mine] - moved
            found, feasible = basis.points(self._dense, *sides, self._lower[mine], self._upper[mine])
            paid = self._costs[mine] * found
            room = TOLERANCES.pruning * np.abs(paid).sum(axis=1)
            settled[left] = feasible & (paid.sum(axis=1) - values[left] <= room)
            points[left] = found
        return settled, points

    def tightest(self, number: int, x: Floats, count: int) -> tuple[Floats, Floats]:
        """Return constants and slopes of the best bounds of a stage at a first stage, best first."""
        mine = self.factors[number] * self._slopes[: self._count]
        constants = self._constants[: self._count, number]
        best = np.argsort(mine @ x - constants, kind="stable")[:count]
        best = best[np.isfinite(constants[best])]
        return constants[best], mine[best]

    def row(self, which: int, number: int) -> tuple[float, Floats]:
        """Return constant and slopes of the bound of a stage by given dual values."""
        return float(self._constants[which, number]), self.factors[number] * self._slopes[which]


_ROWS, _COLUMNS = 100, 10_000
"""Size up to which bases are stored; for larger stages linear programs are solved again."""

_TIED = 4
"""Maximum number of bases per dual values; the latest are kept."""

_FEW = 64
"""Initial capacity."""


def kind(stage: SecondStage) -> Hashable:
    """Return a key that is equal for stages with equal matrices and equal costs up to a factor."""
    parts: list[bytes] = []
    for matrix in (stage.own, stage.first):
        matrix.sort_indices()
        parts += [part.tobytes() for part in (matrix.indptr, matrix.indices, matrix.data + 0.0)]
    # Rounded, as factors change the last digits; constants are computed with the costs of each stage.
    costs = (stage.costs / _factor(stage.costs)).astype(np.float32) + np.float32(0.0)
    return (stage.own.shape, *parts, costs.tobytes())


def _factor(costs: Floats) -> float:
    """Return the largest absolute cost, or 1."""
    return float(np.abs(costs).max(initial=0.0)) or 1.0
