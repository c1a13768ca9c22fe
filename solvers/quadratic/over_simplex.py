r"""A concave quadratic program over the probability simplex with columns generated one at a time.

    max  bᵀp - ½ pᵀK p        over p ≥ 0, Σ_i p_i = 1,        K = AᵀA positive semidefinite

The columns with p_i > 0, the *active set*, are affinely independent (columns of A extended by an entry 1).  So the
factor L of K + s·11ᵀ over them exists for any s > 0.  A new column appends a row to L, and a removed one is rotated
out, O(k²) each.

When a column enters, the point moves towards the optimum over the affine hull of the active columns.  It stops where a
weight becomes zero; that column leaves.  The new column of A may be an affine combination of the active ones.  Then
exchanging them does not move A p, the objective rises linearly, and again a weight becomes zero.  Each pass raises the
objective, so no active set repeats.  The result is the exact optimum over the columns seen.

Sources: P. Wolfe, *Finding the nearest point in a polytope*, Mathematical Programming 11 (1976), for the steps.
V. Niculae, A. F. T. Martins, M. Blondel, C. Cardie, *SparseMAP: differentiable sparse structured inference*, ICML 2018,
for the use of an active set where columns are structures.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DEPENDENT = 2.0**-36
"""A column is in the affine hull of the others if its squared distance from it is below this share of its square."""


class ActiveSet:
    """The columns seen so far with the optimum over them.

    ``members`` has the numbers of the active columns in the order of the factor, and ``weights`` their p, all positive.
    """

    def __init__(self) -> None:
        self._gram = np.zeros((8, 8))
        self._linear = np.zeros(8)
        self._factor = np.zeros((8, 8))
        self._held = np.zeros(8, dtype=np.int64)
        self._weight = np.zeros(8)
        self._active = 0
        self._shift = 1.0
        self.size = 0

    @classmethod
    def from_factor(cls, factor: Floats, weights: Floats, shift: float) -> ActiveSet:
        """Return an active set of columns 0, 1, ... from a run of :func:`enter_active`, for derivatives only."""
        result = cls()
        result._factor, result._weight, result._shift = factor, weights, shift
        result._active = result.size = len(weights)
        result._held = np.arange(len(weights))
        return result

    @property
    def members(self) -> Ints:
        return self._held[: self._active]

    @property
    def weights(self) -> Floats:
        return self._weight[: self._active]

    @property
    def gains(self) -> Floats:
        """Gain b - K p of each column seen.  All active ones have the largest, up to rounding."""
        rows = self._gram[: self.size][:, self.members]
        result: Floats = self._linear[: self.size] - rows @ self.weights
        return result

    @property
    def value(self) -> float:
        """The objective."""
        held = self.members
        b, p = self._linear[held], self.weights
        return float(b @ p - 0.5 * (p @ (self._gram[np.ix_(held, held)] @ p)))

    def add(self, products: Floats, linear: float) -> bool:
        """Add a new column and solve again.  Return whether it is active in the end.

        ``linear`` is its b.  ``products``, shape (size + 1,), is its row of K: products with the columns seen before,
        then with itself.
        """
        new = self.size
        if new == len(self._linear):
            self._grow()
        self._gram[new, : new + 1] = products
        self._gram[: new + 1, new] = products
        self._linear[new] = linear
        self.size += 1
        if new == 0 and products[0] > 0.0:
            self._shift = float(products[0])
        return self.enter(new)

    def enter(self, column: int) -> bool:
        """Let a known column enter the active set and solve again.  Return whether it is active in the end."""
        self._active = enter_active(
            self._gram, self._linear, self._factor, self._held, self._weight, self._active, column, self._shift
        )
        return bool((self.members == column).any())

    def solve(self, right: Floats) -> Floats:
        """Return the derivative of the weights in a direction of b: the d with Σ d = 0 and K d = right + τ·1.

        ``right`` has shape (active, ...), by active column.
        """
        count = self._active
        ones = np.ones(count)
        _solve(self._factor, count, ones)
        solved = np.array(right, dtype=np.float64)
        for column in solved.reshape(count, -1).T:
            rest = np.ascontiguousarray(column)
            _solve(self._factor, count, rest)
            column[:] = rest - ones * (rest.sum() / ones.sum())
        return solved

    def _grow(self) -> None:
        room = 2 * len(self._linear)
        for name in ("_gram", "_factor"):
            larger = np.zeros((room, room))
            larger[: room // 2, : room // 2] = getattr(self, name)
            setattr(self, name, larger)
        for name in ("_linear", "_held", "_weight"):
            old = getattr(self, name)
            larger = np.zeros(room, dtype=old.dtype)
            larger[: room // 2] = old
            setattr(self, name, larger)


@njit(cache=True, nogil=True)
def enter_active(
    gram: Floats, linear: Floats, factor: Floats, held: Ints, weight: Floats, count: int, new: int, shift: float
) -> int:
    """Let a column enter and move to the optimum of the active columns.  Return their number."""
    for i in range(count):
        if held[i] == new:
            return count
    return _move_to_optimum(linear, factor, held, weight, _add_column(gram, factor, held, weight, count, new, shift))


@njit(cache=True, no_cpython_wrapper=True)
def _add_column(gram: Floats, factor: Floats, held: Ints, weight: Floats, count: int, new: int, shift: float) -> int:
    """Add a column, with weight 0 if it is independent of the active ones.  At most one of these leaves first."""
    share = 1.0 if count == 0 else 0.0
    row = np.empty(count + 1)
    while True:
        square = gram[new, new] + shift
        rest = square
        for i in range(count):
            value = gram[held[i], new] + shift
            for j in range(i):
                value -= factor[i, j] * row[j]
            row[i] = value / factor[i, i]
            rest -= row[i] * row[i]
        if count == 0 or rest > _DEPENDENT * square:
            for i in range(count):
                factor[count, i] = row[i]
            factor[count, count] = np.sqrt(rest)
            held[count], weight[count] = new, share
            return count + 1
        for i in range(count - 1, -1, -1):  # the new column is Σ_i row_i times the active ones, Σ_i row_i = 1
            for j in range(i + 1, count):
                row[i] -= factor[j, i] * row[j]
            row[i] /= factor[i, i]
        step, leaving = np.inf, 0
        for i in range(count):
            if row[i] > 0.0 and weight[i] < step * row[i]:
                step, leaving = weight[i] / row[i], i
        for i in range(count):
            weight[i] = max(weight[i] - step * row[i], 0.0)
        share += step
        count = _leave(factor, held, weight, count, leaving)


@njit(cache=True, no_cpython_wrapper=True)
def _move_to_optimum(linear: Floats, factor: Floats, held: Ints, weight: Floats, count: int) -> int:
    """Move to the optimum of the active columns, removing those of weight 0 on the way.  Return their number."""
    ones, best = np.empty(count), np.empty(count)
    while True:
        for i in range(count):
            ones[i] = 1.0
            # a common term changes no weight, but would dominate the differences
            best[i] = linear[held[i]] - linear[held[0]]
        _solve(factor, count, ones)
        _solve(factor, count, best)
        sum_ones = sum_best = 0.0
        for i in range(count):
            sum_ones += ones[i]
            sum_best += best[i]
        level = (1.0 - sum_best) / sum_ones
        step, leaving = 1.0, -1
        for i in range(count):
            best[i] += level * ones[i]
            if best[i] <= 0.0:
                part = weight[i] / (weight[i] - best[i]) if weight[i] > 0.0 else 0.0
                if leaving < 0 or part < step:
                    step, leaving = part, i
        if leaving < 0:
            for i in range(count):
                weight[i] = best[i]
            return count
        for i in range(count):
            weight[i] += step * (best[i] - weight[i])
        count = _leave(factor, held, weight, count, leaving)


@njit(cache=True, nogil=True)
def _solve(factor: Floats, count: int, right: Floats) -> None:
    """Overwrite the right-hand side with the solution of L Lᵀ x = right."""
    for i in range(count):
        value = right[i]
        for j in range(i):
            value -= factor[i, j] * right[j]
        right[i] = value / factor[i, i]
    for i in range(count - 1, -1, -1):
        value = right[i] / factor[i, i]
        right[i] = value
        for j in range(i):  # along rows, which are contiguous
            right[j] -= factor[i, j] * value


@njit(cache=True, no_cpython_wrapper=True)
def _leave(factor: Floats, held: Ints, weight: Floats, count: int, leaving: int) -> int:
    """Remove an active column: delete its row, and make the rest triangular again by rotations."""
    for i in range(leaving, count - 1):
        held[i], weight[i] = held[i + 1], weight[i + 1]
        for j in range(i + 2):
            factor[i, j] = factor[i + 1, j]
    count -= 1
    for i in range(leaving, count):
        a, b = factor[i, i], factor[i, i + 1]
        length = np.hypot(a, b)
        c, s = a / length, b / length
        for k in range(i, count):
            x, y = factor[k, i], factor[k, i + 1]
            factor[k, i] = c * x + s * y
            factor[k, i + 1] = c * y - s * x
    return count
