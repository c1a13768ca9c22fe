r"""Nearly optimal minimum-cost multicommodity flows by an augmented Lagrangian over paths.

    min Σ_a c_a f_a    with  f_a = Σ_k q_k · (share of commodity k on paths with a),  f_a ≤ u_a.

For multipliers y ≥ 0 and penalties r, the function Σ_a c_a f_a + (max(0, y_a + r (f_a - u_a))² - y_a²) / 2r is reduced
by moving flow, for each commodity, from dearer paths to its cheapest one; each step is Newton's on the arcs that only
one of the two paths has.  Shortest paths at the present arc costs c_a + max(0, y_a + r (f_a - u_a)) are added, and
paths without flow are dropped.  Then y_a becomes max(0, y_a + r (f_a - u_a)).  The dual bound at y steers r: if it is
below the cost of the flow, r falls, otherwise it rises.

Sources: M. R. Hestenes, *Multiplier and gradient methods*, Journal of Optimization Theory and Applications 4 (1969);
R. Jayakrishnan, W. K. Tsai, J. N. Prashker, S. Rajadhyaksha, *A faster path-based algorithm for traffic assignment*,
Transportation Research Record 1443 (1994).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats
from colgen.solvers.flows.many_sinks import PathsFound
from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_STEPS, _SEARCHES, _SWEEPS = 60, 2, 2
"""Steps of the multipliers at most; further searches in each step; sweeps over all commodities after each search."""

_CHANGE = 1.2
"""Factor of the penalties in a step."""

_AGE = 3
"""Paths without flow are dropped after this many steps."""

_ROUNDING = 1e-9
"""Flow beyond a capacity by at most this share of it counts as rounding."""

_GAIN, _LOOK_BACK = 3e-5, 4
"""The method ends when the dual bound has gained less than this share in the last steps."""


@dataclass(frozen=True)
class Equilibrium:
    """A nearly optimal flow.

    Attributes
    ----------
    multipliers
        Nonnegative prices of the capacities at the best dual bound.
    bound
        The dual bound there.
    owners, starts, arcs, amounts
        Commodity, arcs and flow of each path.
    flow
        Total flow of each arc, which may exceed capacities slightly.
    """

    multipliers: Floats
    bound: float
    owners: Ints
    starts: Ints
    arcs: Ints
    amounts: Floats
    flow: Floats


def equilibrium(
    search: Callable[[Floats], PathsFound],
    costs: Floats,
    capacities: Floats,
    demands: Floats,
    extra: Callable[[Ints, Ints, Ints], Floats] | None = None,
    expired: Callable[[], bool] = lambda: False,
) -> Equilibrium:
    """Return a nearly optimal flow.

    Parameters
    ----------
    search
        Returns shortest paths of all commodities at given arc costs, with their distances.
    costs
        One per arc, finite.
    capacities
        One per arc, perhaps infinite.
    demands
        One per commodity, nonnegative.
    extra
        Further costs of paths, by owners, starts and arcs, which ``search`` includes in its distances.
    expired
        Whether to stop now.
    """
    costs = as_floats(costs, "costs", shape=(None,))
    capacities = as_floats(capacities, "capacities", shape=costs.shape, finite=False)
    demands = as_floats(demands, "demands", shape=(None,), low=0.0)
    pool = _Paths(len(demands), len(costs), extra)
    total = float(demands.sum())
    limited = capacities < total
    capacities = np.minimum(capacities, 2.0 * total)  # larger ones have no effect
    mean = capacities[limited].mean() if limited.any() else 1.0
    penalty = float(np.abs(costs).mean() or 1.0) / float(mean or 1.0)
    multipliers, best, best_bound = np.zeros(len(costs)), np.zeros(len(costs)), -np.inf
    bounds: list[float] = []
    amounts = demands
    for _ in range(_STEPS):
        found = search(costs + multipliers)
        bound = float(found.distances @ demands) - float(multipliers @ capacities)
        if bound > best_bound:
            best, best_bound = multipliers.copy(), bound
        bounds.append(best_bound)
        pool.insert(found, amounts)
        amounts = np.zeros(len(demands))
        flow = pool.flow()
        if not multipliers.any() and not (flow - capacities > _ROUNDING * flow).any():
            break
        stalled = len(bounds) > _LOOK_BACK and bounds[-1] - bounds[-1 - _LOOK_BACK] <= _GAIN * abs(bounds[-1])
        if stalled or expired():
            break
        if len(bounds) > 1:
            penalty *= _CHANGE if float(costs @ flow) + pool.extra_cost() < bound else 1.0 / _CHANGE
        for k in range(_SEARCHES):
            if k:
                pool.insert(search(np.maximum(multipliers + penalty * (flow - capacities), 0.0) + costs), amounts)
            flow = pool.balance(costs, multipliers, capacities, penalty, _SWEEPS)
        multipliers = np.maximum(multipliers + penalty * (flow - capacities), 0.0)
        pool.drop_unused()
    return Equilibrium(best, best_bound, pool.owners, pool.starts, pool.arcs, pool.amounts, pool.flow())


class _Paths:
    """The paths of all commodities, with their flows."""

    def __init__(self, commodities: int, arcs: int, extra: Callable[[Ints, Ints, Ints], Floats] | None) -> None:
        self.owners, self.starts, self.arcs = np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.int64)
        self.amounts, self.ages, self.codes = np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
        self.extras = np.empty(0)
        self._extra, self._arcs = extra, arcs
        self._code = np.random.default_rng(0).integers(np.iinfo(np.int64).min, np.iinfo(np.int64).max, arcs)
        self._head = np.full(commodities, -1)
        self._next = np.empty(0, np.int64)

    def insert(self, found: PathsFound, amounts: Floats) -> None:
        """Add the paths that are new, with these flows."""
        sums = np.concatenate([[0], np.cumsum(self._code[found.arcs])])
        codes = sums[found.starts[1:]] - sums[found.starts[:-1]]
        new = _new(codes, self._head, self._next, self.codes) & np.isfinite(found.distances)
        owners = np.flatnonzero(new)
        if not len(owners):
            return
        sizes = np.diff(found.starts)
        arcs = found.arcs[np.repeat(new, sizes)]
        first = len(self.owners)
        starts = np.concatenate([[0], np.cumsum(sizes[new])])
        extras = np.zeros(len(owners)) if self._extra is None else self._extra(owners, starts, arcs)
        self.starts = np.concatenate([self.starts, self.starts[-1] + starts[1:]])
        self.owners, self.arcs = np.concatenate([self.owners, owners]), np.concatenate([self.arcs, arcs])
        self.amounts = np.concatenate([self.amounts, amounts[owners]])
        self.ages = np.concatenate([self.ages, np.zeros(len(owners), np.int64)])
        self.codes = np.concatenate([self.codes, codes[owners]])
        self.extras = np.concatenate([self.extras, extras])
        self._next = np.concatenate([self._next, self._head[owners]])
        self._head[owners] = np.arange(first, len(self.owners))

    def flow(self) -> Floats:
        """Return the total flow of each arc."""
        weights = np.repeat(self.amounts, np.diff(self.starts))
        return np.asarray(np.bincount(self.arcs, weights, minlength=self._arcs), dtype=np.float64)

    def extra_cost(self) -> float:
        return float(self.extras @ self.amounts)

    def balance(self, costs: Floats, multipliers: Floats, capacities: Floats, penalty: float, sweeps: int) -> Floats:
        """Move flow to cheaper paths, and return the total flow of each arc."""
        flow = self.flow()
        state = (self._head, self._next, self.starts, self.arcs, self.extras)
        _balance(state, self.amounts, costs, multipliers, capacities, flow, penalty, sweeps)
        return flow

    def drop_unused(self) -> None:
        """Drop the paths without flow in the last steps."""
        self.ages = np.where(self.amounts > 0.0, 0, self.ages + 1)
        kept = self.ages < _AGE
        if kept.all():
            return
        sizes = np.diff(self.starts)
        self.arcs = self.arcs[np.repeat(kept, sizes)]
        self.starts = np.concatenate([[0], np.cumsum(sizes[kept])])
        self.owners, self.amounts, self.ages = self.owners[kept], self.amounts[kept], self.ages[kept]
        self.codes, self.extras = self.codes[kept], self.extras[kept]
        self._next = np.empty(len(self.owners), np.int64)
        _link(self.owners, self._head, self._next)


@njit(cache=True, nogil=True)
def _link(owners, head, following):  # type: ignore[no-untyped-def]
    head[:] = -1
    for p in range(len(owners)):
        following[p] = head[owners[p]]
        head[owners[p]] = p


@njit(cache=True, nogil=True)
def _new(codes, head, following, known):  # type: ignore[no-untyped-def]
    new = np.ones(len(codes), dtype=np.bool_)
    for k in range(len(codes)):
        p = head[k]
        while p >= 0:
            if known[p] == codes[k]:
                new[k] = False
                break
            p = following[p]
    return new


@njit(cache=True, nogil=True)
def _balance(state, amounts, costs, multipliers, capacities, flow, penalty, sweeps):  # type: ignore[no-untyped-def]
    """Sweep over the commodities with several paths."""
    head, following, starts, arcs, extras = state
    count = len(costs)
    price, marked = np.empty(count), np.zeros(count, np.int64)
    for a in range(count):
        price[a] = costs[a] + max(0.0, multipliers[a] + penalty * (flow[a] - capacities[a]))
    mark = 0
    for _ in range(sweeps):
        for k in range(len(head)):
            if head[k] < 0 or following[head[k]] < 0:
                continue
            best, least = -1, np.inf
            p = head[k]
            while p >= 0:
                value = _sum(price, arcs, starts[p], starts[p + 1], extras[p])
                if value < least:
                    best, least = p, value
                p = following[p]
            p = head[k]
            while p >= 0:
                if p != best and amounts[p] > 0.0:
                    mark += 1
                    least, value, curvature = extras[best], extras[p], 0.0
                    for e in range(starts[best], starts[best + 1]):
                        marked[arcs[e]] = mark
                        least += price[arcs[e]]
                    for e in range(starts[p], starts[p + 1]):
                        a = arcs[e]
                        value += price[a]
                        if marked[a] == mark:
                            marked[a] = -mark
                        elif price[a] > costs[a]:
                            curvature += penalty
                    for e in range(starts[best], starts[best + 1]):
                        if marked[arcs[e]] == mark and price[arcs[e]] > costs[arcs[e]]:
                            curvature += penalty
                    if value > least:
                        moved = amounts[p]
                        if curvature > 0.0:
                            moved = min(moved, (value - least) / curvature)
                        if amounts[p] - moved <= 1e-12 * amounts[best]:
                            moved = amounts[p]
                        amounts[best] += moved
                        amounts[p] -= moved
                        for e in range(starts[p], starts[p + 1]):
                            a = arcs[e]
                            if marked[a] != -mark:
                                flow[a] -= moved
                                price[a] = costs[a] + max(0.0, multipliers[a] + penalty * (flow[a] - capacities[a]))
                        for e in range(starts[best], starts[best + 1]):
                            a = arcs[e]
                            if marked[a] == mark:
                                flow[a] += moved
                                price[a] = costs[a] + max(0.0, multipliers[a] + penalty * (flow[a] - capacities[a]))
                p = following[p]


@njit(cache=True, no_cpython_wrapper=True)
def _sum(price, arcs, begin, end, value):  # type: ignore[no-untyped-def]
    for e in range(begin, end):
        value += price[arcs[e]]
    return value
