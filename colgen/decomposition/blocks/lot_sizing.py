"""Recognition of blocks that are uncapacitated lot sizing, and their pricing by a kernel.

A block is lot sizing if its equations are balances, ``kept before + made = demand + kept``, along one or several chains
of periods.  Its other rows are set-ups, ``made ≤ M ready`` with an M that covers all later demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.decomposition.reading.compact_model import Floats, Ints
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.solvers.flows.lot_sizing import plan_lots

NONE = -1
"""Number of a variable that does not exist."""

_ENOUGH = 1.0 - 2.0**-40
"""Factor on demand, as an M may meet it up to rounding only."""


@dataclass(frozen=True, eq=False)
class LotSizing:
    """Periods in order, with the variables of each.

    ``made``, ``ready`` and ``kept`` are variable numbers by period, or -1: ``made`` if production is impossible,
    ``ready`` if it needs no set-up, ``kept`` if storage until the next period is impossible.  ``switches`` are all
    binary variables.
    """

    made: Ints
    ready: Ints
    kept: Ints
    demand: Floats
    switches: Ints

    @classmethod
    def join(cls, parts: Sequence[LotSizing], starts: Ints) -> LotSizing:
        """Return several as one with concatenated chains; the variables of each begin at its start."""

        def numbers(each: Sequence[Ints]) -> Ints:
            pairs = zip(each, starts.tolist(), strict=False)
            return np.concatenate([np.where(array == NONE, NONE, array + start) for array, start in pairs])

        return cls(
            numbers([part.made for part in parts]),
            numbers([part.ready for part in parts]),
            numbers([part.kept for part in parts]),
            np.concatenate([part.demand for part in parts]),
            numbers([part.switches for part in parts]),
        )

    def best(self, costs: Floats, lower: Floats, upper: Floats) -> Floats | None:
        """Return the optimal point, or None if infeasible."""
        x = np.zeros(len(costs))
        if (lower[self.switches] > upper[self.switches]).any():
            return None
        # Set-ups that are required, or have negative cost, are on whatever is produced.
        on = (lower[self.switches] > 0.0) | ((costs[self.switches] < 0.0) & (upper[self.switches] > 0.0))
        x[self.switches] = on
        can, pays, keeps = self.made != NONE, self.ready != NONE, self.kept != NONE
        setup = np.where(pays & (x[self.ready] == 0.0), costs[self.ready], 0.0)
        setup[pays & (upper[self.ready] < 1.0)] = np.inf
        unit = np.where(can, costs[self.made], np.inf)
        hold = np.where(keeps, costs[self.kept], np.inf)
        amounts = np.empty(len(self.demand))
        if plan_lots(setup, unit, hold, self.demand, amounts) == np.inf:
            return None
        x[self.made[can]] = amounts[can]
        x[self.ready[pays & (amounts > 0.0)]] = 1.0
        stock = np.cumsum(amounts - self.demand)
        x[self.kept[keeps]] = np.maximum(stock[keeps], 0.0)
        return x


def lot_sizing_of(sub: Subproblem) -> LotSizing | None:
    """Return a block as a lot-sizing problem, or None if it is not one."""
    read = _Rows.of(sub)
    return None if read is None else read.in_order()


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a block, after rows of a single entry have become bounds.

    Attributes
    ----------
    balances
        Columns of each equation, their entries (1 or -1), and its right-hand side.
    switch, most
        The set-up variable of each continuous variable, -1 for none, and its upper bound after set-up.
    """

    sub: Subproblem
    upper: Floats
    balances: Sequence[tuple[Ints, Floats, float]]
    switch: Ints
    most: Floats

    @classmethod
    def of(cls, sub: Subproblem) -> _Rows | None:
        """Return the rows of a block, or None if a row or bound has another form."""
        integral = sub.integer
        if (sub.lower != 0.0).any() or (sub.upper[integral] != 1.0).any() or integral.all() or not integral.any():
            return None
        matrix, upper = sparse.csr_array(sub.matrix), sub.upper.copy()
        switch, most = np.full(len(upper), NONE), np.full(len(upper), np.inf)
        balances, switches = [], []
        for row, (low, high) in enumerate(zip(sub.row_lower.tolist(), sub.row_upper.tolist(), strict=True)):
            columns = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]].astype(np.int64)
            entries = matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]]
            columns, entries = columns[entries != 0.0], entries[entries != 0.0]
            if len(columns) == 1 and not integral[columns[0]]:
                end = _end_of(float(entries[0]), low, high)
                if end is None:
                    return None
                upper[columns[0]] = min(upper[columns[0]], end)
            elif low == high and not integral[columns].any() and len(np.unique(np.abs(entries))) == 1:
                balances.append((columns, np.sign(entries), low / float(abs(entries[0]))))
            elif len(columns) == 2 and integral[columns].sum() == 1:
                switches.append((columns, entries, low, high))
            else:
                return None
        for columns, entries, low, high in switches:
            at = int(integral[columns].argmax())
            (ready, made), (b, a) = (columns[at], columns[1 - at]), (entries[at], entries[1 - at])
            if a < 0.0:
                a, b, low, high = -a, -b, -high, -low
            if b > 0.0 or high != 0.0 or low != -np.inf or switch[made] != NONE:
                return None
            switch[made], most[made] = ready, -b / a
        return cls(sub, upper, balances, switch, most)

    def in_order(self) -> LotSizing | None:
        """Return the periods of all chains, in order, or None."""
        alive = (self.upper > 0.0) & ~self.sub.integer
        used = np.bincount(
            np.concatenate([columns for columns, _, _ in self.balances] or [np.empty(0, dtype=np.int64)]),
            minlength=len(alive),
        )
        needs = self.switch[alive & (self.switch != NONE)]
        if not self.balances or (used[alive] == 0).any() or (used > 2).any() or len(np.unique(needs)) < len(needs):
            return None
        turns = self._turns(alive, used)
        if turns is None:
            return None
        made, into, out = (np.full(len(turns), NONE) for _ in range(3))
        demand = np.zeros(len(turns))
        for row, (columns, signs, side) in enumerate(self.balances):
            signs, columns = turns[row] * signs[alive[columns]], columns[alive[columns]]
            inner = used[columns] == 2
            parts = columns[~inner], columns[inner & (signs > 0.0)], columns[inner & (signs < 0.0)]
            demand[row] = side * turns[row] + 0.0
            if max(map(len, parts)) > 1 or demand[row] < 0.0 or (signs[~inner] < 0.0).any():
                return None
            for found, those in zip((made, into, out), parts, strict=True):
                found[row] = those[0] if len(those) else NONE
        chains = _chains(into, out)
        return None if chains is None else self._check_bounds(chains, made, out, demand)

    def _turns(self, alive: NDArray[np.bool_], used: Ints) -> Floats | None:
        """Return the sign of each equation in the form inflow - outflow = demand; None if signs contradict.

        Production is inflow.  Without production the sign is that of positive demand, or follows from neighbours.
        """
        turns = np.zeros(len(self.balances))
        ends: dict[int, list[tuple[int, float]]] = {}
        for row, (columns, signs, side) in enumerate(self.balances):
            for column, sign in zip(columns.tolist(), signs.tolist(), strict=True):
                if alive[column] and used[column] == 2:
                    ends.setdefault(column, []).append((row, sign))
                elif alive[column]:
                    turns[row] = sign
            turns[row] = turns[row] or np.sign(side)
        if any(len(pair) != 2 for pair in ends.values()):
            return None
        waiting = [*np.flatnonzero(turns).tolist(), *range(len(turns))]  # undetermined equations may have any sign
        while waiting:
            row = waiting.pop(0)
            turns[row] = turns[row] or 1.0
            for pair in ends.values():
                for (here, sign), (there, other) in (pair, pair[::-1]):
                    if here != row:
                        continue
                    if not turns[there]:
                        waiting.insert(0, there)
                    turns[there] = turns[there] or -turns[row] * sign * other
                    if turns[there] * other != -turns[row] * sign:
                        return None
        return turns

    def _check_bounds(self, chains: Sequence[Sequence[int]], made: Ints, out: Ints, demand: Floats) -> LotSizing | None:
        """Return the periods in order, or None if a bound or an M does not cover all demand it may have to meet."""
        for chain in chains:
            left = np.cumsum(demand[chain][::-1])[::-1] * _ENOUGH
            for k, row in enumerate(chain):
                x, s = made[row], out[row]
                if x != NONE and min(self.upper[x], self.most[x]) < left[k] and self.most[x] > 0.0:
                    return None
                if s != NONE and self.upper[s] < left[k + 1]:
                    return None
        order = np.array([row for chain in chains for row in chain], dtype=np.int64)
        made, kept = made[order], out[order]
        made = np.where((made != NONE) & (self.most[made] > 0.0), made, NONE)
        ready = np.where(made != NONE, self.switch[made], NONE)
        return LotSizing(made, ready, kept, demand[order], np.flatnonzero(self.sub.integer))


def _end_of(entry: float, low: float, high: float) -> float | None:
    """Return the upper bound that a row of one entry states, or None if it excludes zero."""
    ends: NDArray[np.float64] = np.sort(np.array([low, high]) / entry)
    return float(ends[1]) if ends[0] <= 0.0 <= ends[1] else None


def _chains(into: Ints, out: Ints) -> Sequence[Sequence[int]] | None:
    """Return the chains of rows linked by storage, or None if there is a cycle."""
    after = {int(variable): row for row, variable in enumerate(into.tolist()) if variable != NONE}
    if len(after) < int((into != NONE).sum()) or sorted(after) != sorted(out[out != NONE].tolist()):
        return None
    found = []
    for first in np.flatnonzero(into == NONE).tolist():
        chain, row = [first], first
        while out[row] != NONE:
            row = after[int(out[row])]
            chain.append(row)
        found.append(chain)
    return found if sum(map(len, found)) == len(into) else None
