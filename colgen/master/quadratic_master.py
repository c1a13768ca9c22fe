r"""A restricted master that is a quadratic program: the best mean of structures, with a norm penalty.

    max  Σ_j c_j p_j - κ/2 ‖Σ_j p_j a_j‖²        over p ≥ 0, Σ_j p_j = 1

(minimising: a plus between the terms).  Its dual values are π = κ Σ_j p_j a_j, the price of moving the mean, and the
common level σ of the columns in use.  The reduced cost of a column is c_j - πᵀa_j - σ (minimising: c_j + πᵀa_j - σ).
For *any* π, with β the best reduced cost of all columns,

    σ + β + ‖π‖²/(2κ)

bounds all solutions, since -κ/2 ‖m‖² ≤ ‖π‖²/(2κ) - πᵀm for every mean m.  So SparseMAP and margin-based learning are
column generation: structures are columns, decoding is pricing, and the bound ends it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.budget import Budget
from colgen.core.columns import Column, Row
from colgen.core.duals import DualVector
from colgen.core.errors import FormulationError, InputError
from colgen.core.numbers import real
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import ROUNDING, TOLERANCES, size
from colgen.master.column_pool import NOWHERE, Ints, Origins
from colgen.master.column_table import Held
from colgen.master.protocol import LinkingRows, MasterSolution, MasterStatus, Precision, RestrictedMaster
from colgen.pricing.oracles import Pricing, PricingResult
from colgen.solvers.arrays import ArrayError
from colgen.solvers.quadratic.over_simplex import ActiveSet
from colgen.solvers.quadratic.sparse_rows import SparseRows, Vector, check_vector
from colgen.solvers.scaling import power_of_two

Floats = NDArray[np.float64]
_ROUNDINGS = 64
"""Number of rounding errors in a reduced cost."""


class MeanDuals(DualVector):
    """Dual values of a quadratic master.

    Attributes
    ----------
    prices
        π, shape (size,): prices of the mean's entries.
    level
        σ: value of the columns in use at these prices.
    values
        π with σ appended.
    """

    __slots__ = ()

    def __init__(self, values: Floats) -> None:
        self.values = values
        values.setflags(write=False)

    @classmethod
    def of(cls, prices: ArrayLike, level: float) -> MeanDuals:
        """Return dual values with these prices and this level."""
        return cls(np.append(prices, level).astype(np.float64))

    @property
    def prices(self) -> Floats:
        return self.values[:-1]

    @property
    def level(self) -> float:
        return float(self.values[-1])

    def replace(self, values: Floats) -> Self:
        return type(self)(values)


class QuadraticMaster(RestrictedMaster, LinkingRows):
    """A master that maximises the mean cost of columns minus κ/2 times the squared norm of their mean vector.

    When minimising, the norm is added. A column j is a structure with a cost and a vector a_j, which ``vector``
    returns. The value of a column is its weight in the mean, from 0 to 1. There is one oracle. At dual values
    :class:`MeanDuals` the reduced cost is ``cost - prices @ a - level`` when maximising, and
    ``cost + prices @ a - level`` when minimising.

    Parameters
    ----------
    first
        The initial column.
    vector
        Function that returns the entries of a column's vector a.
    size
        Length of a, above 0.
    curvature
        κ, above 0.
    """

    checks_answers = True

    def __init__(
        self,
        first: Column,
        vector: Callable[[Column], Vector],
        *,
        size: int,
        curvature: float = 1.0,
        sense: Sense = Sense.MAXIMIZE,
    ) -> None:
        if size < 1 or not real(curvature, "curvature") > 0.0:
            raise InputError(f"expected a size and a curvature above 0, got size {size} and curvature {curvature}")
        self.sense, self.curvature, self._size, self._vector = sense, float(curvature), size, vector
        self._sign = -sense.sign  # 1 when maximising: the quadratic program maximises
        self._set = ActiveSet()
        self._columns: list[Column] = []
        self._points = SparseRows(size)
        self._number: dict[Hashable, int] = {}
        self._largest = 0.0
        self.add([first])

    # --- columns -----------------------------------------------------------------------------------------------------

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        if rows:
            raise FormulationError("a QuadraticMaster has no rows: pass columns only, without rows")
        before = len(self._columns)
        for column in columns:
            if column.coefficients or column.lower or column.upper < 1.0:
                raise FormulationError(
                    f"the column of {column.structure!r} has rows or bounds: expected only a cost and a structure"
                )
            numbers, values = vector = self._check_vector(column)
            name = _identity(column, vector)
            if name in self._number:
                continue
            dense = np.zeros(self._size)
            dense[numbers] = values
            self._points.append(numbers, values)
            products = self.curvature * self._points.products(dense)
            self._largest = max(self._largest, abs(column.cost), float(products[-1]))
            self._number[name] = len(self._columns)
            self._columns.append(dataclasses.replace(column, integer=False))
            self._set.add(products, self._sign * column.cost)
        return len(self._columns) - before

    def _check_vector(self, column: Column) -> Vector:
        try:
            return check_vector(*self._vector(column), self._size)
        except ArrayError as error:
            raise FormulationError(f"the column of {column.structure!r}: {error}") from None

    def find(self, columns: Sequence[Column]) -> Ints:
        return np.array(
            [self._number.get(_identity(column, self._check_vector(column)), NOWHERE) for column in columns]
        )

    def at(self, position: int) -> Held:
        return Held(self._columns[position])

    @property
    def num_columns(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> LinkingRows:  # type: ignore[override]
        return self

    def __len__(self) -> int:
        return 1

    def __contains__(self, key: object) -> bool:
        return False

    # --- the program -------------------------------------------------------------------------------------------------

    @property
    def precision(self) -> Precision:  # type: ignore[override]
        return Precision(power_of_two(self._largest), rounding=_ROUNDINGS * ROUNDING * self._largest)

    def solve(self, budget: Budget) -> MasterSolution:
        """Enter columns into the active set, the most improving one first, until none improves."""
        held, left, rounding = self._set, True, self.precision.rounding
        while True:
            gains = held.gains
            level, best = float(held.weights @ gains[held.members]), int(np.argmax(gains))
            improves = gains[best] > level + rounding and not (held.members == best).any()
            if not left or not improves or budget.expired:
                break
            left = held.enter(best)
        prices = self.curvature * self._points.combined(held.members, held.weights)
        shares = np.zeros(len(self._columns))
        shares[held.members] = held.weights
        return MasterSolution(
            MasterStatus.OPTIMAL, self._sign * held.value, shares, MeanDuals.of(prices, self._sign * level)
        )

    def price(self, columns: Sequence[Column], duals: MeanDuals) -> Floats:
        found = []
        for column in columns:
            places, values = self._check_vector(column)
            found.append(column.cost - self._sign * float(duals.prices[places] @ values) - duals.level)
        return np.array(found)

    def best_known(self, duals: MeanDuals, oracles: int) -> Sequence[float]:
        known = self._sign * np.array([column.cost for column in self._columns]) - self._points.products(duals.prices)
        return [self._sign * float(known.max()) - duals.level] * oracles

    def bound(self, duals: MeanDuals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        if len(results) != 1:
            raise FormulationError(f"a QuadraticMaster has one pricing problem, not {len(results)}")
        if results[0].bound is None:
            return self.sense.ideal
        square = float(duals.prices @ duals.prices) / (2.0 * self.curvature)
        return duals.level + results[0].bound + self._sign * square

    # --- solutions ---------------------------------------------------------------------------------------------------

    def solution(self, solved: MasterSolution) -> Solution:
        used = np.flatnonzero(solved.values).tolist()
        return Solution(solved.objective, tuple((self._columns[k], float(solved.values[k])) for k in used))

    def violation(self, solution: Solution, *, exact: bool = True) -> str | None:
        shares = np.array([share for _, share in solution.columns])
        if not len(shares) or shares.min() < 0.0 or abs(shares.sum() - 1.0) > TOLERANCES.feasibility:
            return f"expected shares of 0 or more that add up to 1, got the sum {shares.sum():.9g}"
        mean, cost = np.zeros(self._size), 0.0
        for column, share in solution.columns:
            places, values = self._check_vector(column)
            mean[places] += share * values
            cost += share * column.cost
        found = cost - self._sign * self.curvature / 2.0 * float(mean @ mean)
        if abs(found - solution.objective) > TOLERANCES.optimality * size(self.precision.scale, found):
            return f"its stated objective is {solution.objective:.9g}, but its columns give {found:.9g}"
        return None


def _identity(column: Column, vector: Vector) -> Hashable:
    """Return the key of a column, or its cost and vector."""
    return (column.cost, vector[0].tobytes(), vector[1].tobytes()) if column.key is None else column.key
