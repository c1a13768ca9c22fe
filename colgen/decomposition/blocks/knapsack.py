"""Recognition of blocks that are knapsacks, and their pricing by a kernel.

A block is a knapsack if it has a single row over integer variables, with coefficients of any sign.  A variable with a
negative coefficient is counted from its upper bound.  ``Σ w_i x_i ≤ C y`` is a knapsack with an item of size C that is
packed if y is 0.  Further rows ``x_i ≤ y`` are redundant, and dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from colgen.decomposition.reading.compact_model import Floats, Ints
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.solvers.arrays import EXACT
from colgen.solvers.packing.zero_one import best_sets

_LARGEST = 1 << 24
"""Maximum number of cells of a table; HiGHS is better for larger knapsacks."""

_DECIMALS = 4
"""Number of decimal places up to which weights are scaled to integers."""


@dataclass(frozen=True, eq=False)
class Knapsack:
    """``min costs·x`` with ``weights·x ≤ capacity`` and integer x within bounds; weights are integers of any sign."""

    weights: Ints
    capacity: int

    def best(self, costs: Floats, lower: Floats, upper: Floats) -> Floats | None:
        """Return the optimal point, or None if infeasible."""
        weights = self.weights
        turned = weights < 0
        # Count each variable from the bound at which it takes no space.
        x = np.where(turned, upper, lower)
        step = np.where(turned, -1.0, 1.0)
        free = weights == 0
        x[free & (costs < 0.0)] = upper[free & (costs < 0.0)]
        gains = np.where(free, 0.0, -costs * step)
        room = self.capacity - round(float(weights @ x))
        if room < 0 or (lower > upper).any():
            return None
        sizes = np.abs(weights)
        mine = np.flatnonzero((gains > 0.0) & (sizes <= room) & (upper > lower))
        if not len(mine):
            return x
        copies = np.minimum(upper[mine] - lower[mine], room // sizes[mine]).astype(np.int64)
        owners, pieces = _split_copies(mine, copies)
        unit = int(np.gcd.reduce(sizes[mine]))
        volume = pieces * sizes[owners] // unit
        room = min(room // unit, int(volume.sum()))
        _, chosen = best_sets((gains[owners] * pieces)[None, :], volume[None, :], [room])
        taken = np.zeros(len(x))
        np.add.at(taken, owners[chosen[0]], pieces[chosen[0]])
        found: Floats = x + step * taken
        return found


@dataclass(frozen=True, eq=False)
class Knapsacks:
    """Several knapsacks, each with the same number of variables, which are binary or fixed.

    ``weights`` are integers of any sign, shape (knapsacks, variables); those of a knapsack are multiples of its unit.
    """

    weights: Ints
    capacities: Ints
    units: Ints

    @classmethod
    def join(cls, parts: Sequence[Knapsack], starts: Ints) -> Knapsacks | None:
        """Return several knapsacks as one kernel, or None if their numbers of variables differ."""
        if len(set(np.diff(starts).tolist())) > 1:
            return None
        weights = np.array([part.weights for part in parts])
        units = np.maximum(np.gcd.reduce(np.abs(weights), axis=1), 1)
        return cls(weights, np.array([part.capacity for part in parts], dtype=np.int64), units)

    def best(self, costs: Floats, lower: Floats, upper: Floats) -> Floats | None:
        """Return the optimal point of all knapsacks, concatenated; None if one is infeasible."""
        costs, lower, upper = (array.reshape(self.weights.shape) for array in (costs, lower, upper))
        turned = self.weights < 0
        step = np.where(turned, -1.0, 1.0)
        free = (self.weights == 0) & (costs < 0.0)
        x = np.where(turned | free, upper, lower)
        room = self.capacities - np.rint((self.weights * x).sum(axis=1)).astype(np.int64)
        if (room < 0).any() or (lower > upper).any():
            return None
        gains, sizes = -costs * step, np.abs(self.weights)
        mine = (gains > 0.0) & (sizes > 0) & (sizes <= room[:, None]) & (upper > lower)
        volume = np.where(mine, sizes, 0) // self.units[:, None]
        room = np.minimum(room // self.units, volume.sum(axis=1))
        _, chosen = best_sets(np.where(mine, gains, -np.inf), volume, room)
        found: Floats = (x + step * chosen).ravel()
        return found


def _split_copies(items: Ints, copies: Ints) -> tuple[Ints, Ints]:
    """Split copies of items into pieces of 1, 2, 4, ... and a rest, whose sums attain every number of copies."""
    if (copies <= 1).all():
        return items[copies > 0], np.ones(int((copies > 0).sum()), dtype=np.int64)
    owners, pieces = [], []
    for item, left in zip(items.tolist(), copies.tolist(), strict=True):
        piece = 1
        while left > 0:
            owners.append(item)
            pieces.append(min(piece, left))
            left, piece = left - piece, 2 * piece
    return np.array(owners, dtype=np.int64), np.array(pieces, dtype=np.int64)


def knapsack_of(sub: Subproblem) -> Knapsack | None:
    """Return a block as a knapsack problem, or None if it is not one."""
    ends = np.isfinite(sub.lower) & np.isfinite(sub.upper)
    if not (sub.integer & ends).all() or not sub.matrix.shape[0]:
        return None
    rows = _as_upper(sub)
    if rows is None:
        return None
    matrix, sides = rows
    sizes = np.diff(matrix.indptr)
    main = int(np.argmax(sizes))
    weights = matrix[[main], :].toarray()[0]
    if not all(_implied(sub, matrix, sides, weights, main, r) for r in range(len(sides)) if r != main):
        return None
    integers = _scale_to_integers(weights, float(sides[main]))
    if integers is None:
        return None
    found = Knapsack(*integers)
    pieces = np.log2(np.maximum(sub.upper - sub.lower, 1.0)).sum() + len(sub.costs)
    base = np.where(found.weights < 0, sub.upper, sub.lower)
    room = max(found.capacity - float(found.weights @ base), 0.0) / max(int(np.gcd.reduce(np.abs(found.weights))), 1)
    return found if (room + 1.0) * (pieces + 1.0) <= _LARGEST else None


def _as_upper(sub: Subproblem) -> tuple[sparse.csr_array, Floats] | None:
    """Return the rows in the form ``≤``, or None if one has two finite sides."""
    matrix = sparse.csr_array(sub.matrix)
    positive, negative = matrix.maximum(0), matrix.minimum(0)
    most = positive @ sub.upper + negative @ sub.lower
    least = positive @ sub.lower + negative @ sub.upper
    above, below = sub.row_upper < most, sub.row_lower > least
    if (above & below).any():
        return None
    kept = np.flatnonzero(above | below)
    if not len(kept):
        return None
    signs = np.where(above, 1.0, -1.0)[kept]
    turned = sparse.csr_array(sparse.diags_array(signs) @ matrix[kept, :])
    turned.eliminate_zeros()
    return turned, np.where(above, sub.row_upper, -sub.row_lower)[kept]


def _implied(sub: Subproblem, matrix: sparse.csr_array, sides: Floats, weights: Floats, main: int, row: int) -> bool:
    """Return whether a row is ``x_i ≤ u_i y`` with a binary y such that y = 0 leaves no capacity for x_i."""
    columns = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
    entries = matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]]
    if len(columns) != 2 or sides[row] != 0.0 or sides[main] != 0.0 or (sub.lower != 0.0).any():
        return False
    if entries[0] < 0.0:
        columns, entries = columns[::-1], entries[::-1]
    (item, opening), (a, b) = columns, entries
    opens = np.flatnonzero(weights < 0.0).tolist() == [int(opening)] and sub.upper[opening] <= 1.0
    return bool(opens and weights[item] > 0.0 and a > 0.0 and b < 0.0 and -b >= a * sub.upper[item])


def _scale_to_integers(weights: Floats, capacity: float) -> tuple[Ints, int] | None:
    """Return weights and capacity as multiples of a unit in which the weights are integer."""
    for decimals in range(_DECIMALS + 1):
        scaled = weights * 10.0**decimals
        near = np.abs(scaled - np.rint(scaled)) <= 2.0**-40 * np.abs(scaled)
        if np.abs(scaled).sum() >= EXACT:
            return None
        if near.all():
            room = capacity * 10.0**decimals
            integers = np.rint(room) if abs(room - np.rint(room)) <= 2.0**-40 * abs(room) else math.floor(room)
            return np.rint(scaled).astype(np.int64), int(integers)
    return None
